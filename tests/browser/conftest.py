"""The built book, for tests that read it in a browser: with Pyodide inside, so that nothing is asked outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import browser
from tools import site as book


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the site, built anew."""
    return book.build(offline=True)


@pytest.fixture(scope="session")
def address(site: Path):
    """Where the site is served, with its closing slash."""
    with book.served(site) as address:
        yield address


@pytest.fixture(scope="session")
def chrome():
    """One Chromium for all tests."""
    with browser.chromium() as running:
        yield running
