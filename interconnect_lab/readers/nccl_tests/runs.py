"""One run of a test program as its output tells it, before any conclusion is drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from interconnect_lab.readers.nccl_tests.rows import Columns, PartialRow, Row, Timing, printed_error

Note = tuple[int, str]


@dataclass(frozen=True)
class Device:
    """One line of the list of ranks; ``host`` and ``index`` are None where they are not named."""

    rank: int
    host: str | None
    index: int | None
    gpu: str


@dataclass
class Ratio:
    """The interval in which busbw/algbw lies, given how many digits were printed."""

    low: float = 0.0
    high: float = math.inf

    def narrow(self, algbw: str, busbw: str) -> None:
        """Take one printed pair in; what is no finite number tells nothing."""
        try:
            alg, alg_error = float(algbw), printed_error(algbw)
            bus, bus_error = float(busbw), printed_error(busbw)
        except (ValueError, OverflowError):
            return
        if not 0 <= alg < math.inf or not 0 <= bus < math.inf:
            return
        self.low = max(self.low, (bus - bus_error) / (alg + alg_error))
        if alg > alg_error:
            self.high = min(self.high, (bus + bus_error) / (alg - alg_error))


@dataclass
class Run:
    """What one run printed: ``program`` (its name without _perf), devices, table, footer, errors.

    ``columns`` is None before a header stood; ``commands`` are programs named near the run, not by
    it; ``failures`` are codes of errors.
    """

    line: int
    program: str | None = None
    commands: set[str] = field(default_factory=set)
    devices: list[Device] = field(default_factory=list)
    columns: Columns | None = None
    rows: list[Row] = field(default_factory=list)
    ratio: Ratio = field(default_factory=Ratio)
    placeholders: int = 0
    avg_busbw: float | None = None
    out_of_bounds: int | None = None
    closed: bool = False
    failures: list[str] = field(default_factory=list)
    partial: PartialRow | None = None
    seen: dict[int, str] = field(default_factory=dict)

    def listed_ranks(self) -> int | None:
        """The highest rank that the run lists, plus one."""
        return max((device.rank for device in self.devices), default=-1) + 1 or None

    def has_begun(self) -> bool:
        """Whether anything stands below the header, so that another header is another table's."""
        below_header = self.failures if self.columns else []
        return bool(self.rows or self.partial or self.placeholders or self.closed or below_header)

    def finish_row(self) -> list[Note]:
        """Put the row that was being read into the table, if it has a half; say so if not."""
        partial, self.partial = self.partial, None
        if partial is None:
            return []
        if partial.cut or not partial.halves:
            return [(partial.line, "the row is cut")]
        for algbw, busbw in partial.printed:
            self.ratio.narrow(algbw, busbw)
        self.rows.append(partial.finished())
        return []

    def finish_table(self) -> list[Note]:
        """Leave out rows that lack a half which the others have, and settle the unit of time."""
        notes = self.finish_row()
        if any(row.in_place and row.out_of_place for row in self.rows):
            for row in self.rows:
                if not (row.in_place and row.out_of_place):
                    half = "out-of-place" if row.in_place else "in-place"
                    notes.append((row.line, f"row has no {half} half, unlike the others: left out"))
            self.rows = [row for row in self.rows if row.in_place and row.out_of_place]
        return notes + self._settle_time_unit()

    def _settle_time_unit(self) -> list[Note]:
        """Without a row of units times are in us, or what size/algbw says: NCCL 1 had ms."""
        if self.columns is None or self.columns.time_unit is not None:
            return []
        row = max(self.rows, key=_rate, default=None)
        if row is None or not _rate(row):
            return []
        timing = row.out_of_place or row.in_place
        if timing is None or not timing.seconds or not timing.algbw:
            return []
        times = row.nbytes / timing.algbw / timing.seconds
        steps = round(math.log10(times) / 3) if 0 < times < math.inf else 0
        if steps not in (1, 2):
            return []
        self.rows = [_in_unit(row, 1000.0**steps) for row in self.rows]
        unit = {1: "ms", 2: "s"}[steps]
        return [(self.line, f"no row of units: sizes and algbw say that the times are in {unit}")]


def _rate(row: Row) -> float:
    timing = row.out_of_place or row.in_place
    return (timing.algbw or 0.0) if timing else 0.0


def _in_unit(row: Row, unit: float) -> Row:
    return replace(
        row,
        out_of_place=_slower(row.out_of_place, unit),
        in_place=_slower(row.in_place, unit),
    )


def _slower(timing: Timing | None, times: float) -> Timing | None:
    if timing is None or timing.seconds is None or timing.seconds * times == math.inf:
        return timing
    return replace(timing, seconds=timing.seconds * times)
