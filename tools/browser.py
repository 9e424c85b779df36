"""JupyterLab in a real browser: for the browser tests and for the benchmark of slider to picture."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
MISSING = (
    "The browser tests need Chromium or Chrome: apt install chromium, or CHROME=/path/to/it, or "
    "python -m playwright install chromium. FAST=1 leaves them out."
)
NO_FIREFOX = "The live page is tested in Firefox, too: apt install firefox-esr, or FIREFOX=/path/to/it."
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
QUIET += ["--disable-sync", "--no-first-run", "--disable-quic"]


def executable() -> str | None:
    """Chromium: ``CHROME=``, else one that is here or can be installed; None stands for playwright's own.

    RuntimeError says what to install where none can be had.
    """
    found = os.environ.get("CHROME") or first_here(NAMES) or from_system("chromium", NAMES)
    if found or from_playwright():
        return found or None
    raise RuntimeError(MISSING)


def firefox() -> str:
    """Firefox: ``FIREFOX=``, else one that is here or can be installed; RuntimeError says what to install."""
    names = ("firefox-esr", "firefox")
    found = os.environ.get("FIREFOX") or first_here(names) or from_system("firefox-esr", names)
    if found:
        return found
    raise RuntimeError(NO_FIREFOX)


def first_here(names: tuple[str, ...]) -> str | None:
    """The first of these programs that is on the PATH."""
    return next(filter(None, map(shutil.which, names)), None)


def from_system(package: str, names: tuple[str, ...]) -> str | None:
    """The program out of Debian's package, where this user may install one."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return None
    print(f"installing {package}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", package]):
        subprocess.run(["apt-get", "--quiet", *command], env=environment, check=False, capture_output=True)
    return first_here(names)


def from_playwright() -> bool:
    """Whether playwright's own Chromium is here, or could be downloaded."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return subprocess.run(command, check=False, timeout=300).returncode == 0


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium: ``CHROME=``, else one on the PATH, else playwright's own download."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


def come_alive(page: Page, address: str) -> None:
    """Open a page of the book and wait until Python runs in it; RuntimeError says why it does not."""
    page.goto(address + ("&" if "?" in address else "?") + "live=1")
    ended = page.wait_for_selector("body[data-live=ready], body[data-live=failed]", timeout=90_000)
    if ended.get_attribute("data-live") == "failed":
        raise RuntimeError(page.locator(".live-said").inner_text())


@contextmanager
def jupyterlab(folder: Path, module: str = "jupyterlab") -> Iterator[str]:
    """A JupyterLab server of this Python on ``folder``; yields its address and stops it at the end.

    With ``module="notebook"`` it is Notebook 7.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = _settings(folder / ".jupyterlab")
    command = [sys.executable, "-m", module, "--no-browser", f"--port={port}", "--ip=127.0.0.1"]
    command += ["--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}"]
    command += ["--allow-root", "--expose-app-in-browser"]
    address = f"http://127.0.0.1:{port}"
    with (folder / "jupyterlab.log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=os.environ | settings, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(address + "/api", server)
        yield address
    finally:
        server.terminate()
        server.wait(20)


def open_notebook(page: Page, address: str, name: str, *, dark: bool = False) -> None:
    """Open a notebook, wait for its kernel, run all of its cells and wait until they are done."""
    workspace = secrets.token_hex(4)  # a new one restores no other notebook
    run_all(page, f"{address}/lab/workspaces/{workspace}/tree/{name}", dark=dark)


def run_all(page: Page, url: str, *, dark: bool = False) -> None:
    """Open a notebook in JupyterLab or Notebook 7, run all of its cells and wait until they are done."""
    page.goto(url)
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext", timeout=60_000)
    page.evaluate(
        """async theme => { const {commands, shell} = window.jupyterapp;
        await shell.currentWidget.sessionContext.ready;
        await commands.execute('apputils:change-theme', {theme});
        await commands.execute('runmenu:run-all') }""",
        "JupyterLab Dark" if dark else "JupyterLab Light",
    )
    page.wait_for_function(RAN, timeout=120_000)


RAN = """() => { const cells = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
  return cells.length && cells.every(cell => /\\d/.test(cell.textContent)) }"""


def lab(page: Page, name: str) -> Locator:
    """The lab of that name, shown and with its picture loaded."""
    found = page.locator(f".lab-{name}").first
    found.wait_for(state="visible", timeout=20_000)
    found.scroll_into_view_if_needed()
    found.locator("img.lab-picture").wait_for(state="visible", timeout=30_000)
    return found


def drag_times(page: Page, found: Locator, drags: int = 20) -> list[float]:
    """Milliseconds from a mouse move on the lab's first slider to the new picture, decoded and in a frame."""
    handle = found.locator("[role=slider]").first
    handle.scroll_into_view_if_needed()
    box, track = handle.bounding_box(), found.locator(".noUi-base").first.bounding_box()
    page.evaluate(WATCH, found.locator("img.lab-picture").element_handle())
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    last = int(float(handle.get_attribute("aria-valuemax")))  # a slider over values stops at 0, 1, … last
    at = int(float(handle.get_attribute("aria-valuenow")))
    stops = [*range(at + 1, last + 1), *range(last - 1, 0, -1), *range(last + 1)]
    page.mouse.move(x, y)
    page.mouse.down()
    times = []
    for stop in stops[:drags]:
        target = track["x"] + track["width"] * stop / last
        page.evaluate("() => { window.expected = window.labPicture() }")
        page.mouse.move(target, y)
        times.append(page.evaluate("window.expected"))
    page.mouse.up()
    return times


def fast_drag(page: Page, found: Locator) -> tuple[float, int]:
    """Milliseconds from the last of 60 moves in a second to the last picture, and frames without one."""
    handle = found.locator("[role=slider]").first
    handle.scroll_into_view_if_needed()
    box, track = handle.bounding_box(), found.locator(".noUi-base").first.bounding_box()
    page.evaluate(COUNT, found.locator("img.lab-picture").element_handle())
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(track["x"] + track["width"] * (0.1 + 0.8 * step / 59), y)
        page.wait_for_timeout(16)
    page.mouse.up()
    page.wait_for_timeout(1500)  # whatever still comes
    late, blank = page.evaluate("window.labFrames()")
    return late, blank


COUNT = """picture => { let moved = 0, loaded = 0, blank = 0, on = true;
  addEventListener('mousemove', () => { moved = performance.now() }, {capture: true});
  picture.addEventListener('load', () => { loaded = performance.now() });
  const frame = () => { if (!picture.naturalWidth) blank++; if (on) requestAnimationFrame(frame) };
  frame();
  window.labFrames = () => { on = false; return [Math.max(0, loaded - moved), blank] } }"""

WATCH = """picture => { window.labPicture = () => new Promise((done, fail) => {
  let start = null;
  addEventListener('mousemove', () => { start = performance.now() }, {once: true, capture: true});
  picture.addEventListener('load', () => requestAnimationFrame(() => done(performance.now() - start)),
                           {once: true});
  setTimeout(() => fail(new Error('no new picture within 10 s')), 10000) }) }"""


def _settings(folder: Path) -> dict[str, str]:
    """An environment in which JupyterLab asks no question and keeps all cells in the page."""
    for extension, text in {
        "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
        "notebook-extension/tracker": '{"windowingMode": "none"}',
    }.items():
        file = folder / "@jupyterlab" / f"{extension}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return {"JUPYTER_CONFIG_DIR": str(folder), "JUPYTERLAB_SETTINGS_DIR": str(folder)}


def _wait_for(address: str, server: subprocess.Popen, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab ended at once, with exit status {server.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"JupyterLab did not answer at {address} within {seconds:.0f} s")
