"""The built book for tests that read it in a browser: Pyodide is inside, so nothing is asked outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools import browser
from tools import site as book


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, built anew; or the one that ``LIVE_SITE=`` names, for those at work on it."""
    return Path(os.environ["LIVE_SITE"]) if "LIVE_SITE" in os.environ else book.build(offline=True)


@pytest.fixture(scope="session")
def seen() -> list[str]:
    """What the server of the site was asked, in order."""
    return []


@pytest.fixture(scope="session")
def address(site: Path, seen: list[str]):
    """Where the site is served, with its closing slash."""
    with book.served(site, seen=seen) as address:
        yield address


@pytest.fixture(scope="session")
def chrome():
    """One Chromium for all tests."""
    with browser.chromium() as running:
        yield running
