"""What all tests share: figures without a window, reproducible examples, and the data beside the clone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import matplotlib
import pytest

CLONE = Path(__file__).resolve().parent.parent
SHARED = CLONE.parent / "shared"
NO_SHARED = "needs ../shared"

# Not the MPLBACKEND variable: the notebooks' kernels would inherit it and draw no figure.
matplotlib.use("Agg")

# In CI the same examples each time; at a desk new ones, so that what they find is found early.
hypothesis.settings.register_profile(
    "house", deadline=None, derandomize=bool(os.environ.get("CI")), print_blob=True
)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data that lies beside some clones; a test that asks for it is skipped elsewhere."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


@pytest.fixture(scope="session")
def site() -> Path:
    """The book, built anew with Pyodide inside; or the folder ``LIVE_SITE=``, for those at work on it."""
    from tools import site

    return Path(os.environ["LIVE_SITE"]) if "LIVE_SITE" in os.environ else site.build(offline=True)


@pytest.fixture(scope="session")
def seen() -> list[str]:
    """What the server of the book was asked, in order."""
    return []


@pytest.fixture(scope="session")
def address(site: Path, seen: list[str]) -> Iterator[str]:
    """Where the book is served, with its closing slash."""
    from tools.site import served

    with served(site, seen=seen) as address:
        yield address


@pytest.fixture(scope="session")
def chrome() -> Iterator[object]:
    """One Chromium for all tests."""
    from tools import browser

    with browser.chromium() as running:
        yield running


@pytest.fixture(autouse=True)
def _a_failing_lab_fails_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interconnect_lab.labs.lab.Lab.raise_errors", True)


@pytest.fixture(autouse=True)
def _no_figure_outlives_its_test():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser comes last: its event loop would stand in the way of the notebooks' kernels."""
    items.sort(key=lambda item: Path(__file__).parent / "browser" in item.path.parents)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests had no data to run on."""
    reports = terminalreporter.stats.get("skipped", [])
    missing = sum("../shared" in str(report.longrepr) for report in reports)
    if missing:
        terminalreporter.write_line(f"skipped because there is no ../shared here: {missing}")
