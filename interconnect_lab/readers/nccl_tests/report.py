"""The JSON report of nccl-tests (``-J``): us and GB/s, booleans and the root as strings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from interconnect_lab.readers.nccl_tests import failures, rows
from interconnect_lab.readers.nccl_tests.banner import program_of
from interconnect_lab.readers.nccl_tests.runs import Device, Run
from interconnect_lab.readers.reading import Document, ParseError, shortened
from interconnect_lab.units import GBps, us

# Keys of which any tells the report, and that no other tool writes
_OURS = ("average_bus_bandwidth", "minimum_bytes", "alg_bw", "bus_bw")
_BEGINS = re.compile(r"^[\ufeff \t\x00]*\{", re.MULTILINE)
_COLUMNS = rows.MODERN.with_units("(us) (GB/s)")


def runs_of(document: Document) -> list[Run]:
    """Return one run a report, in order; none where the text is not JSON or another tool's.

    Raises ParseError where a report ends early or a result is none.
    """
    begins = _BEGINS.search(document.text)  # a prompt may stand before it, and another after
    if not begins or not any(f'"{key}"' in document.text for key in _OURS):
        return []
    start = begins.end() - 1
    text = document.text[start:]
    lines = _Lines(document.text, start)
    reports = [found for found in _values(text, lines) if _is_report(found[0])]
    return [_run(report, lines.of(start, end, report)) for report, start, end in reports]


class _Lines:
    """Line numbers of places in a text, cheap for places that come in order."""

    def __init__(self, text: str, offset: int) -> None:
        self._text, self._offset, self._place, self._line = text, offset, 0, 1

    def at(self, place: int) -> int:
        place += self._offset
        if place < self._place:
            self._place, self._line = 0, 1
        self._line += self._text.count("\n", self._place, place)
        self._place = place
        return self._line

    def of(self, start: int, end: int, report: dict[str, Any]) -> list[int]:
        """The lines on which the report from ``start`` to ``end`` and each of its results begin."""
        lines = [self.at(start)] * (1 + len(_list(report, "results")))
        place = self._text.find('"results"', start + self._offset, end + self._offset)
        for result in range(1, len(lines)):
            if place >= 0:  # results without a size: the first of them will be refused
                place = self._text.find('"size"', place + 1, end + self._offset)
                lines[result] = self.at(place - self._offset) if place >= 0 else lines[0]
        return lines


def _values(text: str, lines: _Lines) -> Iterator[tuple[Any, int, int]]:
    """The JSON values of a text, one after the other, each with its beginning and its end."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            at = min(getattr(error, "pos", place), len(text) - 1)
            what = getattr(error, "msg", "a number too long, or nesting too deep")
            expected = f"the JSON of nccl-tests to go on ({what})"
            raise ParseError(lines.at(at), text[at : at + 60], expected) from None
        yield value, place, end
        place = end
        while place < len(text) and text[place] in " \t\r\n\x00":
            place += 1
        if place < len(text) and text[place] not in "{[":
            return  # what the shell wrote after the report


def _is_report(value: Any) -> bool:
    return isinstance(value, dict) and bool({"results", "config", *_OURS} & set(value))


def _run(report: dict[str, Any], lines: list[int]) -> Run:
    args = _list(report, "args")
    run = Run(lines[0], program=program_of(args[0]) if args and isinstance(args[0], str) else None)
    run.devices = [d for d in map(_device, _list(_dict(report, "config"), "devices")) if d]
    results = _list(report, "results")
    run.columns = _COLUMNS if "results" in report else None
    run.rows = [_row(result, line, run) for result, line in zip(results, lines[1:], strict=True)]
    run.out_of_bounds = _whole(_dict(report, "out_of_bounds").get("count"))
    average = _measured(_dict(report, "average_bus_bandwidth").get("bandwidth"))
    run.avg_busbw = None if average is None else average * GBps
    errors = (failures.code_of(e) for e in _list(report, "errors") if isinstance(e, str))
    run.failures = [code for code in errors if code]
    return run


def _row(result: Any, line: int, run: Run) -> rows.Row:
    nbytes = _whole(result.get("size")) if isinstance(result, dict) else None
    if nbytes is None:
        raise ParseError(line, shortened(repr(result)), 'a result with a "size" in bytes')
    halves = [_timing(result.get(key), line, run) for key in ("out_of_place", "in_place")]
    count, root = _whole(result.get("count")), _whole(result.get("root"), least=-1)
    return rows.Row(nbytes, count, _word(result.get("type")), _word(result.get("redop")), root, *halves, line)


def _timing(half: Any, line: int, run: Run) -> rows.Timing | None:
    if half is None:
        return None
    if not isinstance(half, dict):
        raise ParseError(line, shortened(repr(half)), 'a half with "time", "alg_bw" and "bus_bw"')
    seconds = _measured(half.get("time", half.get("cpu_time")))
    algbw, busbw = _measured(half.get("alg_bw")), _measured(half.get("bus_bw"))
    if algbw is not None and busbw is not None:
        run.ratio.narrow(f"{algbw:.6f}", f"{busbw:.6f}")
    return rows.Timing(
        None if seconds is None else seconds * us,
        None if algbw is None else algbw * GBps,
        None if busbw is None else busbw * GBps,
        _measured(half.get("nwrong")),
    )


def _device(entry: Any) -> Device | None:
    if not isinstance(entry, dict):
        return None
    rank, gpu = _whole(entry.get("rank")), entry.get("device_info")
    host, name = _word(entry.get("hostname")), gpu.strip() if isinstance(gpu, str) else ""
    return None if rank is None else Device(rank, host, _whole(entry.get("device")), name)


def _dict(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _word(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _whole(value: Any, least: int = 0) -> int | None:
    """A whole number, also where it is a padded string or a float; None for anything else."""
    if isinstance(value, str) and len(value) <= 32:
        text = value.strip()
        value = int(text) if text.isascii() and text.removeprefix("-").isdecimal() else None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value < 10**18
    return value if fits else None


def _measured(value: Any) -> float | None:
    """A finite number, 0 or more; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e30:
        return None
    return float(value)
