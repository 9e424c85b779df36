"""What a live page takes: bytes, seconds to come alive, milliseconds from slider to picture."""

from __future__ import annotations

import ast
import gzip
import io
import statistics
import tempfile
import time
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Page

from tools import browser
from tools import site as book
from tools.browser import ROOT

CHAPTERS = [f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
LIVE = ROOT / "book" / "live"
GLUE = [LIVE / "__init__.py", *(LIVE / "page" / name for name in ("live.js", "worker.js", "kernel.py"))]
BESIDE = [LIVE / "policy.py", LIVE / "page" / "bundle.js"]
VISITS = 3


def rows() -> Iterator[tuple[str, float, str, str, str]]:
    """What was measured, its value, unit, target and how: for each row of the table."""
    with book.served(book.build(offline=True)) as address:
        yield from weights(address)
        yield from starts(address)
        yield from drags(address)
    lines, beside = (sum(code_lines(file) for file in files) for files in (GLUE, BESIDE))
    how = f"of code, no comments: extension, page, worker, kernel; {beside} more in policy.py and bundle.js"
    yield "glue of our own", lines, "lines", "≤ 500", how


def weights(address: str) -> Iterator[tuple]:
    """Bytes as a server with gzip would send them, before and after the click, of the heaviest chapter."""
    before, after, names = [], [], []
    for chapter in CHAPTERS:
        with profile() as context:
            page = context.pages[0]
            sizes = counted(context)
            page.goto(address + chapter)
            page.wait_for_load_state("networkidle")
            before.append(sum(sizes.values()))
            page.get_by_role("button", name="Run this page live").click()
            page.wait_for_selector("body[data-live=ready]", timeout=90_000)
            after.append(sum(sizes.values()) - before[-1])
            names.append(chapter)
    yield "first view of a chapter", max(before) / 1e6, "MB gzip", "≤ 1.5", heaviest(before, names)
    yield "after the click", max(after) / 1e6, "MB gzip", "≤ 23", heaviest(after, names)


def heaviest(sizes: list[int], names: list[str]) -> str:
    name = names[sizes.index(max(sizes))].split("/")[-1].removesuffix(".html")
    return f"heaviest of {len(names)}: {name}"


def counted(context: BrowserContext) -> dict[str, int]:
    """Fills, as answers come, with each file's size as gzip sends it."""
    sizes: dict[str, int] = {}

    def count(answer) -> None:
        if answer.url.startswith("http") and answer.url not in sizes:
            sizes[answer.url] = 0
            path = book.SITE / answer.url.split("/", 3)[3].split("?")[0]
            sizes[answer.url] = len(gzip.compress(path.read_bytes(), 6)) if path.is_file() else 0

    context.on("response", count)
    return sizes


def starts(address: str) -> Iterator[tuple]:
    """Seconds from click to ready, in a new profile, and when the same page is opened again."""
    first, again = {}, {}
    for chapter in CHAPTERS:
        runs = [both_starts(address + chapter) for _ in range(VISITS)]
        name = chapter.split("/")[-1].removesuffix(".html")
        first[name], again[name] = (statistics.median(times) for times in zip(*runs, strict=True))
    how = f"local files, median of {VISITS}, slowest of {len(CHAPTERS)}: "
    for what, times, target in (
        ("click to ready, first visit", first, "≤ 7"),
        ("second visit", again, "≤ 5"),
    ):
        slowest = max(times, key=times.get)
        yield what, times[slowest], "s", target, how + slowest


def both_starts(url: str) -> tuple[float, float]:
    with profile() as context:
        return seconds_to_ready(context.new_page(), url), seconds_to_ready(context.new_page(), url)


def seconds_to_ready(page: Page, url: str) -> float:
    page.goto(url + "?live=0")
    page.wait_for_load_state("networkidle")
    start = time.perf_counter()
    page.get_by_role("button", name="Run this page live").click()
    page.wait_for_selector("body[data-live=ready]", timeout=90_000)
    took = time.perf_counter() - start
    page.close()
    return took


def drags(address: str) -> Iterator[tuple]:
    """Real drags of each lab's first slider; then one fast drag with its end and its blank frames."""
    for chapter in CHAPTERS:
        with profile() as context:
            page = context.pages[0]
            browser.come_alive(page, address + chapter)
            for lab in page.locator(".live-output .lab:has([role=slider])").all():
                name, times = lab.get_attribute("data-lab"), browser.drag_times(page, lab)
                yield f"{name}, slider to picture", statistics.median(times), "ms", "≤ 90", "live, 20 drags"
                late, blank = browser.fast_drag(page, lab)
                how = f"after 60 moves in a second; {blank} blank frames"
                yield f"{name}, end of a fast drag", late, "ms", "≤ 250", how


@contextmanager
def profile() -> Iterator[BrowserContext]:
    """A Chromium with a profile of its own on disk, as a reader has one: with caches, empty at first."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        settings = {"executable_path": browser.executable(), "args": browser.QUIET}
        context = playwright.chromium.launch_persistent_context(
            folder, viewport={"width": 1200, "height": 900}, **settings
        )
        try:
            yield context
        finally:
            context.close()


def code_lines(file: Path) -> int:
    """Lines that hold code: no blanks, comments or docstrings."""
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        skipped.add(tokenize.ENDMARKER)
        kept = [token for token in tokens if token.type not in skipped]
        lines = {line for token in kept for line in range(token.start[0], token.end[0] + 1)}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                lines -= set(range(node.lineno, node.end_lineno + 1))
        return len(lines)
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in source.splitlines())


if __name__ == "__main__":
    for what, value, unit, target, how in rows():
        print(f"{what:40} {value:8.3g} {unit:8} target {target:6} {how}", flush=True)
