"""Measure what the course promises of its speed; ``make bench``, with ``JSON=file`` to keep the numbers.

Each row says under which conditions it was taken. These are measurements, not tests: machines are noisy.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from interconnect_lab import collectives, labs
from interconnect_lab.labs.lab import options
from interconnect_lab.links import Link
from tools.browser import ROOT


class Row(NamedTuple):
    what: str
    value: float
    unit: str
    target: str
    how: str


TABLE = ROOT / "book" / "benchmarks.md"
CABLE = Link(5e-6, 50e9, source="benchmark")


def import_time() -> Iterator[Row]:
    """Importing the models in a new process, less a process that imports numpy."""
    models = "import interconnect_lab.units, interconnect_lab.links, interconnect_lab.collectives"
    models += ", interconnect_lab.specs"

    def seconds(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        return time.perf_counter() - start

    pairs = [seconds(f"import numpy; {models}") - seconds("import numpy") for _ in range(15)]
    yield Row("import of the models", 1e3 * statistics.median(pairs), "ms", "≤ 50", "median of 15 pairs")


def costs() -> Iterator[Row]:
    """One public cost with its checks, the slowest of all-reduce; then many sizes at once."""
    slowest = max(
        min(timeit.repeat(lambda cost=cost: cost(2**26, 64, CABLE), number=2000, repeat=5)) / 2000
        for cost in collectives.ALL_REDUCE.values()
    )
    yield Row("one scalar cost", 1e6 * slowest, "µs", "≤ 5", "slowest all-reduce, best of 5 × 2,000 calls")
    sizes = np.geomspace(8, 2**34, 1_000_000)
    slowest = max(
        min(timeit.repeat(lambda cost=cost: cost(sizes, 64, CABLE), number=1, repeat=5))
        for cost in collectives.ALL_REDUCE.values()
    )
    yield Row("vectorised costs", sizes.size / slowest / 1e6, "M points/s", "≥ 10", "slowest all-reduce")


def redraws(count: int = 20) -> Iterator[Row]:
    """A control moved in the kernel until the new picture is encoded, for each lab."""
    for name in (name for names in labs.LABS.values() for name in names):
        lab = getattr(labs, name)()
        panels = len(np.ravel(lab._axes))
        choices = {key: options(widget) for key, widget in lab.controls.items() if len(options(widget)) > 1}
        medians = {key: redraw(lab, key, values, count) for key, values in choices.items()}
        slowest = max(medians, key=medians.get)
        how = f"{panels} axes, median of {count}, slowest control: {slowest}"
        yield Row(f"redraw of {name}", medians[slowest], "ms", "≤ 45" if panels == 1 else "≤ 70", how)


def redraw(lab: labs.Lab, control: str, values: tuple, count: int) -> float:
    """Median milliseconds of ``count`` moves of one control through its values, from its first state."""
    lab.reset()
    there_and_back = [*values, *values[-2:0:-1]]
    times = []
    for value in itertools.islice(itertools.cycle(there_and_back), count + 2):
        before, start = lab.controls[control].value, time.perf_counter()
        lab.controls[control].value = value
        if value != before:
            times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def drags() -> Iterator[Row]:
    """A mouse on a slider in JupyterLab until the new picture is decoded and in a frame."""
    from tools import browser

    folder = Path(tempfile.mkdtemp())
    shutil.copy(ROOT / "notebooks" / "01_latency_and_bandwidth.ipynb", folder)
    with browser.jupyterlab(folder) as address, browser.chromium() as chromium:
        page = chromium.new_page(viewport={"width": 1200, "height": 900})
        browser.open_notebook(page, address, "01_latency_and_bandwidth.ipynb")
        times = browser.drag_times(page, browser.lab(page, "size_sweep"))
    shutil.rmtree(folder, ignore_errors=True)
    yield Row("slider to picture in JupyterLab", statistics.median(times), "ms", "≤ 90", "20 drags, 2 axes")


def live_pages() -> Iterator[Row]:
    """What a published page takes to come alive, and once it lives."""
    from tools import bench_live

    for row in bench_live.rows():
        yield Row(*row)


def fresh_clone() -> Iterator[Row]:
    """``make test`` in a new clone: set-up with downloads, then every check."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        start = time.perf_counter()
        environment = os.environ | {"PIP_NO_CACHE_DIR": "1"}
        subprocess.run(["make", "test"], check=True, cwd=clone, env=environment, stdout=subprocess.DEVNULL)
        minutes = (time.perf_counter() - start) / 60
    yield Row("make test from a fresh clone", minutes, "min", "≤ 18", "downloads and browser included")


def machine() -> str:
    """What the numbers were taken on, without names of hosts."""
    python = f"Python {platform.python_version()}, numpy {np.__version__}"
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {python}"


def page(rows: list[Row]) -> str:
    """The table as kept in the book."""
    lines = [
        "# How fast it is", "",
        f"Printed by `make bench` on {time.strftime('%Y-%m-%d')}: {machine()}. Machines are noisy:",
        "run it on yours before you compare.", "",
        "| what | measured | target | how |", "|---|---|---|---|",
    ]  # fmt: skip
    lines += [f"| {row.what} | {row.value:.3g} {row.unit} | {row.target} | {row.how} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run all, print each row as it comes, keep the table where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    parser.add_argument("--book", action="store_true", help=f"rewrite {TABLE.relative_to(ROOT)}")
    parser.add_argument("--fresh-clone", action="store_true", help="time make test, too (minutes)")
    parser.add_argument("--no-browser", action="store_true", help="leave out what needs a browser")
    arguments = parser.parse_args()
    parts = [import_time, costs, redraws] + ([] if arguments.no_browser else [drags, live_pages])
    parts += [fresh_clone] if arguments.fresh_clone else []
    rows = []
    for row in (row for part in parts for row in part()):
        rows.append(row)
        print(f"{row.what:34} {row.value:9.3g} {row.unit:12} target {row.target:8} {row.how}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([row._asdict() for row in rows], indent=1))
    if arguments.book:
        TABLE.write_text(page(rows))


if __name__ == "__main__":
    main()
