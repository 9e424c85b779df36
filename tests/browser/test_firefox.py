"""Live pages in Firefox, which playwright cannot drive as a system installs it: one walk, many questions."""

from __future__ import annotations

import json
import subprocess

import pytest

from book.live import assets
from interconnect_lab import labs
from tools import browser
from tools.browser import ROOT

CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PAGES = [f"notebooks/{name}.html" for name in CHAPTERS]


@pytest.fixture(scope="module")
def walk(address, seen):
    """What happened on a walk through all chapters, as ``firefox.mjs`` reports it."""
    command = [assets.program("node"), "tests/browser/firefox.mjs", address, browser.firefox(), *PAGES]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in report, report["error"]
    return report["pages"] | {"seen": list(seen)}


@pytest.mark.parametrize("page", PAGES)
def test_firefox_brings_each_chapter_to_life_without_complaint_or_other_origin(walk, page):
    assert walk[page]["state"] == "ready", walk[page]["said"]
    assert walk[page]["complaintsBefore"] == []
    assert [url for url in walk[page]["foreign"] if "leak" not in url] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_lab_moves_by_key_in_firefox_and_its_picture_is_described(walk, page):
    names = labs.LABS[f"chapter{page.split('/')[1][:2]}"]
    assert walk[page]["moved"] == dict.fromkeys(names, True)


def test_a_cell_is_broken_and_mended_in_firefox(walk):
    assert "division by zero" in walk[PAGES[0]]["broken"]
    assert "mended 42" in walk[PAGES[0]]["mended"]


def test_firefox_asks_nothing_of_any_server_once_the_page_is_ready(walk):
    assert [path for path in walk["seen"] if "leak" in path] == []


def test_stop_ends_an_endless_cell_in_firefox_and_the_page_lives_again(walk):
    assert walk[PAGES[0]]["stopped"] == "stopped"
    assert walk[PAGES[0]]["again"] == "ready"
