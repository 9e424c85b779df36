# What a clone can do. All that must be there is make and Python 3.11 or newer: each target makes
# .venv when it is missing and fills it again when a requirement changed. Without make: README.md.

VENV ?= .venv
CANDIDATES := python3 python python3.14 python3.13 python3.12 python3.11

PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet install
COURSE := $(PY) -m interconnect_lab
READY := $(VENV)/.ready

.PHONY: help lab test check unit test-lowest bench notebooks book serve pdf links requirements clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:  ## say what there is
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*##/ /' | while read -r name what; do \
	  printf '  make %-14s%s\n' "$$name" "$$what"; done

lab: $(READY)  ## open JupyterLab on the first chapter (PORT=8888, BROWSER=no)
	@$(COURSE) lab $(if $(PORT),--port $(PORT)) $(if $(filter no,$(BROWSER)),--no-browser)

test: $(READY)  ## check everything: style, tests, notebooks, browser (FAST=1: no browser)
	@$(COURSE) test $(if $(filter 1 yes,$(FAST)),--fast)

check: $(READY)  ## the quick loop: style and unit tests
	@$(COURSE) check

unit: $(READY)  ## unit and property tests, say on PYTHON=python3.13 VENV=.venv-3.13
	@$(PY) -m pytest --ignore=tests/browser

# An old library under new neighbours warns: that is its age, not our use of it.
test-lowest:  ## unit and property tests on the lowest versions allowed, those of the live page
	@$(MAKE) --no-print-directory VENV=.venv-lowest PYTHON=$(or $(PYTHON),python3.12) .venv-lowest/.lowest
	@.venv-lowest/bin/python -m pytest -W ignore::DeprecationWarning --ignore=tests/browser \
	  --ignore=tests/test_notebooks.py --ignore=tests/test_tools.py

bench: $(READY)  ## measure what the project promises (JSON=file keeps the numbers)
	@$(PY) -m tools.bench $(if $(JSON),--json $(JSON)) $(BENCH)

notebooks: $(READY)  ## run every notebook and store it in the house's form
	@$(PY) -m tools.notebooks execute

book: $(READY)  ## build the book into _build/html (OFFLINE=1: with Python inside, and zipped)
	@$(PY) -m tools.site $(if $(filter 1 yes,$(OFFLINE)),--offline)

serve: $(READY)  ## build the book and serve it to this machine (PORT=8000, OFFLINE=1)
	@$(PY) -m tools.site $(if $(filter 1 yes,$(OFFLINE)),--offline) --serve $(or $(PORT),8000)

pdf: $(READY)  ## print the whole book into _build/interconnect-lab.pdf
	@$(PY) -m tools.pdf

links: $(READY)  ## ask whether every address that the book names still answers (needs the internet)
	@$(PY) -m tools.site --links

requirements: .venv-uv/bin/uv  ## resolve requirements.txt anew from pyproject.toml
	@.venv-uv/bin/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
	  --upgrade --quiet --custom-compile-command \
	  'make requirements  (reads pyproject.toml; one file for Python 3.11 to 3.14, every system)' --output-file requirements.txt

clean:  ## remove all that make made
	rm -rf .venv .venv-* .cache book/live/node_modules _build build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements.txt pyproject.toml | $(PY)
	@echo "Installing requirements.txt into $(VENV); the first time takes a minute or two."
	@$(PIP) --requirement requirements.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.lowest: requirements.txt pyproject.toml | $(PY)
	@echo "Installing the lowest versions that pyproject.toml allows into $(VENV)."
	@$(PIP) --only-binary :all: $$(grep -oE '^(pytest|hypothesis)==[^ ]+' requirements.txt) $$($(PY) -c \
	  "import tomllib; print(tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'])" \
	  | tr -d "[],'" | sed 's/>=/==/g')
	@touch $@

%/bin/python:
	@for python in $(or $(PYTHON),$(CANDIDATES)); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    "$$python" -m venv --clear $* && exit 0; \
	    rm -rf $*; \
	    echo "$$python cannot make a virtual environment (Debian, Ubuntu: apt install python3-venv)." >&2; exit 1; \
	  fi; \
	done; \
	echo "Python 3.11 or newer is needed; none among: $(or $(PYTHON),$(CANDIDATES))." >&2; \
	echo "Install it, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1

.venv-uv/bin/uv: | .venv-uv/bin/python
	@.venv-uv/bin/python -m pip --disable-pip-version-check --quiet install uv
