"""Models cost numpy only: what draws loads when something is drawn."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CLONE = Path(__file__).resolve().parent.parent
HEAVY = {"matplotlib", "ipywidgets", "IPython", "networkx", "pandas", "scipy", "torch"}
LIGHT = ["units", "links", "specs", "collectives", "schedules", "nccl", "parallelism", "readers"]
THERE = [name for name in LIGHT if find_spec(f"interconnect_lab.{name}")]


def loaded_after(code: str) -> set[str]:
    """The top-level packages that a new process holds once it has run ``code``."""
    report = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=CLONE,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_the_package_alone_loads_not_even_numpy():
    loaded = loaded_after("import interconnect_lab")
    assert "interconnect_lab" in loaded
    assert not loaded & (HEAVY | {"numpy"})


@pytest.mark.parametrize("name", THERE)
def test_a_model_loads_numpy_only(name):
    loaded = loaded_after(f"import interconnect_lab.{name}")
    assert "interconnect_lab" in loaded
    assert not loaded & HEAVY


def test_a_submodule_loads_when_it_is_first_used():
    code = "import sys, interconnect_lab as il; assert 'interconnect_lab.links' not in sys.modules"
    assert "numpy" in loaded_after(f"{code}; il.links.Link")
