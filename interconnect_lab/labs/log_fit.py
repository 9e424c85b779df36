"""A log of nccl-tests, read and fitted, with the nearest published curve; and an example to start from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from interconnect_lab import readers, specs
from interconnect_lab.links import Fit, fit_link, fit_piecewise
from interconnect_lab.units import KiB, fmt_bytes

TEXT = {
    "cut": "Only the first {size} of the text were read, to line {line:,}.",
    "thinned": "Of its {all:,} sizes, {shown} are used.",
    "odd": "Odd: {note}.",
    "empty": "Line 1 is empty: paste what nccl-tests printed, or its JSON report.",
    "unread": "Not read: {error}.",
    "no table": "There is no table {table}: to its last line, {line:,}, the text holds {tables}.",
    "one table": "1 table",
    "tables": "{count} tables",
    "more tables": "Only the first {most} tables can be chosen: paste a later one by itself.",
    "no rows": "To its last line, {line:,}, the text holds no complete row: {why}.",
    "unfit": "The table at line {line:,} gives no fit: {error}.",
    "late": "It begins above n½, so α is a guess: add smaller sizes.",
    "short": "It ends below n½, so B is a guess: add larger sizes.",
    "no-measurements": "no size was measured",
    "launch-failed-usage": "the run asked for more GPUs or slots than there are",
    "launch-failed-network": "the network failed",
    "launch-failed-remote-exit": "a process on another node ended",
    "launch-failed-cuda": "CUDA or HIP reported an error",
}

LONGEST = 2_000_000  # characters of a log that are read; the rest would keep a browser busy for seconds
MOST_SIZES = 100
MOST_TABLES = 8  # a log of one run each for the collectives of nccl-tests
MODELS = {"two": fit_link, "three": fit_piecewise}

# A made-up machine with 8 GPUs a node: sizes in bytes, then µs on one node and on two.
EXAMPLE_SIZES = [KiB * 4**k for k in range(11)]
EXAMPLE_TIMES = {
    8: (14.2, 14.5, 16.1, 19.8, 24.6, 33.0, 68.4, 171.0, 520.0, 1822.0, 7060.0),
    16: (31.0, 32.6, 38.4, 52.1, 71.0, 104.0, 190.0, 480.0, 1500.0, 5400.0, 21000.0),
}
EXAMPLE_HEAD = """# nThread 1 nGpus {ranks} minBytes 1024 maxBytes 1073741824 step: 4(factor)
#
# A made-up machine: {ranks} GPUs
#                                           out-of-place              in-place
#     size     count  type redop root      time  algbw  busbw #wrong      time  algbw  busbw #wrong
#      (B)  (elements)                     (us) (GB/s) (GB/s)             (us) (GB/s) (GB/s)
"""


@dataclass(frozen=True, eq=False)
class FittedLog:
    """One table of a log: its ``fit``, of how many ``tables`` it is one, who ran it, ``remarks`` to add."""

    fit: Fit
    tables: int
    collective: str | None
    ranks: int | None
    nodes: int | None
    remarks: tuple[str, ...]


def shortened(text: str) -> tuple[str, list[str]]:
    """The part of a text that is read, to a whole line, and what to say where that is not all of it."""
    if len(text) <= LONGEST:
        return text, []
    kept = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    return kept, [TEXT["cut"].format(size=fmt_bytes(LONGEST), line=kept.count("\n") + 1)]


@lru_cache(maxsize=4)
def fitted_log(text: str, table: int, model: str) -> FittedLog:
    """Read a text and fit one of its tables, counted from 1, with a model of ``MODELS``.

    Raises ValueError with a sentence that names the line where there is nothing to fit.
    """
    tests = _tests(text)
    if table > len(tests):
        held = TEXT["one table" if len(tests) == 1 else "tables"].format(count=len(tests))
        raise ValueError(TEXT["no table"].format(table=table, line=text.count("\n") + 1, tables=held))
    reading, test = tests[table - 1]
    nbytes, seconds, remarks = _points(test)
    try:
        fit = MODELS[model](nbytes, seconds, source="log")
    except ValueError as problem:
        raise ValueError(TEXT["unfit"].format(line=test.line, error=problem)) from problem
    remarks += [TEXT["late"]] if fit.link.half_size < nbytes.min() else []
    remarks += [TEXT["short"]] if fit.link.half_size > nbytes.max() else []
    remarks += [TEXT["odd"].format(note=note) for note in reading.notes[:1]]
    remarks += [TEXT["more tables"].format(most=MOST_TABLES)] if len(tests) > MOST_TABLES else []
    ranks = test.ranks or reading.ranks
    return FittedLog(fit, len(tests), test.collective, ranks, reading.nodes, tuple(remarks))


@lru_cache(maxsize=2)
def _tests(text: str) -> list[tuple]:
    """Every table of a text, with the reading that it belongs to."""
    if not text.strip():
        raise ValueError(TEXT["empty"])
    try:
        readings = [reading for reading in readers.read(text) if reading.kind == "nccl-tests"]
    except readers.ParseError as problem:
        raise ValueError(TEXT["unread"].format(error=problem)) from problem
    tests = [(reading, test) for reading in readings for test in reading.tests if test.rows]
    if not tests:
        code = next((reading.failure for reading in readings if reading.failure), "no-measurements")
        raise ValueError(TEXT["no rows"].format(line=text.count("\n") + 1, why=TEXT.get(code, code)))
    return tests


def _points(test: readers.nccl_tests.NcclTest) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Sizes and times above 0, at most ``MOST_SIZES``; the median where a size repeats."""
    good = (test.nbytes > 0) & np.isfinite(test.seconds) & (test.seconds > 0)
    nbytes, seconds = test.nbytes[good], test.seconds[good]
    sizes = np.unique(nbytes)
    spread = np.linspace(0, len(sizes) - 1, MOST_SIZES).round().astype(int)
    kept = sizes[spread] if len(sizes) > MOST_SIZES else sizes
    thinned = TEXT["thinned"].format(all=len(sizes), shown=len(kept))
    times = np.array([np.median(seconds[nbytes == size]) for size in kept])
    return kept.astype(float), times, [thinned] if len(kept) < len(sizes) else []


@lru_cache(maxsize=4)
def nearest(found: FittedLog) -> specs.Nearest | None:
    """The published curve that is nearest, None where none shares three sizes with the log."""
    if found.collective is not None and found.collective not in specs.OPS:
        return None
    sizes, times = found.fit.nbytes, found.fit.seconds
    near = specs.nearest_sweep(sizes, times, op=found.collective, ranks=found.ranks, nodes=found.nodes)
    return near[0] if near else None


def example_log() -> str:
    """A log as nccl-tests prints it, two tables long, with the times of a machine that does not exist."""
    return "\n".join(_example_table(ranks, times) for ranks, times in EXAMPLE_TIMES.items())


def _example_table(ranks: int, times: tuple[float, ...]) -> str:
    rows = []
    for nbytes, time in zip(EXAMPLE_SIZES, times, strict=True):
        algbw = nbytes / time / 1e3
        half = f"{time:9.2f} {algbw:6.2f} {algbw * 2 * (ranks - 1) / ranks:6.2f} 0"
        rows.append(f"{nbytes:10d} {nbytes // 4:9d} float   sum   -1 {half} {half}")
    return EXAMPLE_HEAD.format(ranks=ranks) + "\n".join(rows) + "\n# Out of bounds values : 0 OK\n#\n"
