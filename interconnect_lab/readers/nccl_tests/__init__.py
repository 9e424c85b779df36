"""Reader of nccl-tests and rccl-tests: their text, of any version, and the JSON report of ``-J``.

The text may carry what launchers and pages add: mpirun's tags (also inside a row), srun's labels,
debug output between and inside rows, indentation, lost ``#``, a shortened list of ranks. Columns
are found by the names in the header, units by the row below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from interconnect_lab.readers.nccl_tests import failures, report
from interconnect_lab.readers.nccl_tests.evidence import Evidence, Worlds, evidence_of, only
from interconnect_lab.readers.nccl_tests.rows import Row, Timing
from interconnect_lab.readers.nccl_tests.runs import Device, Note, Run
from interconnect_lab.readers.nccl_tests.text import TextReader
from interconnect_lab.readers.reading import Document

__all__ = ["NcclTest", "NcclTests", "Row", "Timing", "read"]

_MOST_NOTES = 50


@dataclass(frozen=True)
class NcclTest:
    """One table: its ``collective``, complete ``rows``, footer, and the ``ranks`` that ran it.

    ``collective`` is printed, named by the command, or derived from the numbers; None where these
    leave several. ``ranks`` is the world size that busbw/algbw allows, else what a rank's share of
    the size says, else the list of ranks. ``avg_busbw`` (bytes/s) and ``out_of_bounds`` are as
    printed, None where they were not. ``line`` is where the run begins.
    """

    collective: str | None
    rows: tuple[Row, ...]
    avg_busbw: float | None
    out_of_bounds: int | None
    line: int
    ranks: int | None = None

    def __post_init__(self) -> None:
        if self.ranks is not None and self.ranks < 1:
            raise ValueError(f"a test has 1 rank or more, or None; got {self.ranks!r}")

    @property
    def nbytes(self) -> np.ndarray:
        """Sizes in bytes, as nccl-tests counts them, shape (rows,), int64."""
        return np.array([row.nbytes for row in self.rows], dtype=np.int64)

    @property
    def seconds(self) -> np.ndarray:
        """Times, out of place where that was run, else in place; NaN where none was printed."""
        return self._column("seconds")

    @property
    def algbw(self) -> np.ndarray:
        """Size over time in bytes/s, of the same halves as ``seconds``."""
        return self._column("algbw")

    @property
    def busbw(self) -> np.ndarray:
        """Bus bandwidth in bytes/s, one way, of the same halves as ``seconds``."""
        return self._column("busbw")

    @property
    def max_busbw(self) -> float | None:
        """The best bus bandwidth of either half, in bytes/s; None without rows."""
        halves = (half for row in self.rows for half in (row.out_of_place, row.in_place) if half)
        return max((half.busbw for half in halves if half.busbw is not None), default=None)

    def _column(self, name: str) -> np.ndarray:
        values = (getattr(row.out_of_place or row.in_place, name, None) for row in self.rows)
        return np.array([math.nan if value is None else value for value in values], dtype=float)


@dataclass(frozen=True)
class NcclTests:
    """What one text says: its ``tests`` in order, who ran them, and why a run gave no rows.

    ``ranks`` is the highest listed rank plus one, ``ranks_from_ratio`` the only world size that all
    busbw/algbw ratios allow, ``nodes`` the number of hosts; None where the text leaves them open.
    ``version`` is that of nccl-tests. ``failure`` is a code such as "launch-failed-usage", None
    where all runs gave rows. ``notes`` tell, line by line, what was odd.
    """

    kind: ClassVar[str] = "nccl-tests"

    tests: tuple[NcclTest, ...]
    ranks: int | None = None
    ranks_from_ratio: int | None = None
    nodes: int | None = None
    gpu_names: tuple[str, ...] = ()
    version: str | None = None
    failure: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.failure is not None and self.failure not in failures.CODES:
            raise ValueError(f"failure is one of {failures.CODES} or None; got {self.failure!r}")


def read(document: Document) -> list[NcclTests]:
    """Return the readings of ``document``: one a JSON report, one for a text, none for neither.

    Raises ParseError where a report ends early.
    """
    reports = report.runs_of(document)
    if reports:
        return [_reading([run], _tell(run), None, []) for run in reports]
    text = TextReader(document)
    runs = [run for run in text.runs if _says_something(run)]
    if not runs and not (failures.first(text.failures) and text.programs):
        return []
    return [_reading(runs, text.notes, text.version, text.failures)]


def _says_something(run: Run) -> bool:
    return bool(run.devices or run.columns or run.rows or run.closed or set(run.seen) & {0, 1, 2})


def _tell(run: Run) -> list[Note]:
    """What is odd in a report."""
    return [] if run.columns else [(run.line, "the report has no results")]


def _reading(
    runs: list[Run], notes: list[Note], version: str | None, launch_failures: list[str]
) -> NcclTests:
    proofs = [evidence_of(run) for run in runs]
    odd = [note for run, proof in zip(runs, proofs, strict=True) for note in _odd(run, proof)]
    codes = [*launch_failures, *filter(None, map(failures.failure_of, runs))]
    return NcclTests(
        tests=tuple(_test(run, proof) for run, proof in zip(runs, proofs, strict=True)),
        ranks=max(filter(None, (run.listed_ranks() for run in runs)), default=None),
        ranks_from_ratio=_common([p.worlds for r, p in zip(runs, proofs, strict=True) if r.rows]),
        nodes=max(filter(None, (_nodes(run.devices) for run in runs)), default=None),
        gpu_names=tuple(dict.fromkeys(name for run in runs for name in _gpu_names(run))),
        version=version,
        failure=failures.first(codes),
        notes=_written([*notes, *odd]),
    )


def _test(run: Run, proof: Evidence) -> NcclTest:
    rows, footer = tuple(run.rows), (run.avg_busbw, run.out_of_bounds)
    return NcclTest(proof.collective, rows, *footer, run.line, proof.ranks)


def _common(worlds: list[Worlds | None]) -> int | None:
    """The only world size that lies in all the ranges."""
    ranges = [world for world in worlds if world]
    if not ranges or len(ranges) < len(worlds):
        return None
    return only((max(low for low, _ in ranges), min(high for _, high in ranges)))


def _nodes(devices: list[Device]) -> int | None:
    """How many hosts the list of ranks names; None where a shortened list may have lost some.

    A shortened list counts where its ranks fill equal nodes in order: rank 7 is device 7 of the
    first of two nodes, rank 15 device 7 of the second.
    """
    hosts = list(dict.fromkeys(d.host for d in sorted(devices, key=lambda d: d.rank)))
    if not hosts or None in hosts:
        return None
    ranks = 1 + max(d.rank for d in devices)
    if len({d.rank for d in devices}) == ranks:
        return len(hosts)
    each = ranks / len(hosts)
    fits = all(d.host == hosts[int(d.rank // each)] and d.index == d.rank % each for d in devices)
    return len(hosts) if fits else None


def _gpu_names(run: Run) -> list[str]:
    return [d.gpu for d in run.devices if d.gpu and not d.gpu.endswith("...")]


def _odd(run: Run, proof: Evidence) -> list[Note]:
    """What is odd in a run as a whole."""
    listed, proven = run.listed_ranks(), only(proof.worlds)
    odd = []
    if proof.worlds is None:
        odd.append("busbw/algbw fits no number of ranks")
    elif listed and proven and listed != proven:
        odd.append(f"{listed} ranks are listed, busbw/algbw says {proven}")
    if run.placeholders:
        odd.append(f"{run.placeholders} rows have X where numbers belong")
    if _repeats(run.rows):
        odd.append("sizes repeat: several processes seem to print into one table")
    return [(run.line, text) for text in odd]


def _repeats(rows: list[Row]) -> bool:
    """Whether rows that move anything stand, but for their times, more than twice on average."""
    moving = [(row.nbytes, row.count, row.dtype, row.redop, row.root) for row in rows if row.nbytes]
    return len(moving) > 2 * len(set(moving)) > 0


def _written(notes: list[Note]) -> tuple[str, ...]:
    told = [f"line {line}: {text}" for line, text in sorted(notes)]
    if len(told) > _MOST_NOTES:
        told = [*told[:_MOST_NOTES], f"and {len(told) - _MOST_NOTES} more"]
    return tuple(told)
