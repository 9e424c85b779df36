"""Rows of nccl-tests: what they hold, and how a line becomes one, by the names in the header."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any

from interconnect_lab.readers.reading import shortened
from interconnect_lab.units import GBps, GiB, us

Half = tuple[str, ...]

_ORDER = ("size", "count", "type", "redop", "root")
_NAMES = {
    **{name: name for name in (*_ORDER, "time", "algbw", "busbw")},
    **{
        "bytes": "size",
        "nbytes": "size",
        "n": "count",
        "op": "redop",
        "cputime": "time",
        "timestamp": "timestamp",
    },
    **dict.fromkeys(("wrong", "error", "errors", "res", "delta"), "wrong"),
}
_MEASURED = ("time", "algbw", "busbw")
_TIME_UNITS = {"(ns)": 1e-9, "(us)": us, "(ms)": 1e-3, "(s)": 1.0}
_RATE_UNITS = {"(MB/s)": 1e6, "(GB/s)": GBps, "(TB/s)": 1e12, "(GiB/s)": GiB}
ELEMENT_BYTES = {
    **dict.fromkeys(("int8", "uint8", "char", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), 1),
    **dict.fromkeys(("half", "float16", "bfloat16"), 2),
    **dict.fromkeys(("float", "int", "int32", "uint32"), 4),
    **dict.fromkeys(("double", "int64", "uint64"), 8),
}
_NUMBER_WORDS = {"inf", "nan"}
_NOT_CHECKED = {"N/A", "n/a", "NA"}
_UNIT_BEHIND = re.compile(r"[\\(].*")  # "time(us)", or what follows an escaped line feed
_WORD = re.compile(r"[A-Za-z][\w.]{0,31}")
# What is left of a cell that debug output was written onto: "-1" of "-1host:7:7 [0] NCCL INFO"
_CELL_BEFORE_TEXT = re.compile(r"(-?\d{1,18}(?:\.\d{1,9})?(?:e[+-]\d{1,3})?|N/A)(?=[^\d.])")
_LONGEST_LINE = 4000  # characters; no row is longer
_HALF_WIDTH = 28  # blanks: the narrowest half; before a half that was run stand 12 at most
_PREFIX_TOKENS = 8  # a launcher's or a pager's words before the row, at most
_LONGEST_NUMBER = 32
_LARGEST_DIGITS = 18  # of a size in bytes, so that it fits an int64


@dataclass(frozen=True, slots=True)
class Timing:
    """One half of a row: ``seconds``, ``algbw`` and ``busbw`` in bytes/s, ``wrong`` elements.

    Bandwidth is one way. None stands where the tool printed no number (for ``wrong``: where it did
    not check). In old tables ``wrong`` is the largest error. ValueError for a negative or infinite
    value.
    """

    seconds: float | None
    algbw: float | None
    busbw: float | None
    wrong: float | None

    def __post_init__(self) -> None:
        for value in (self.seconds, self.algbw, self.busbw, self.wrong):
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(f"a timing holds finite numbers, 0 or more, or None; got {self!r}")


@dataclass(frozen=True, slots=True)
class Row:
    """One size of a table: ``nbytes``, ``count`` elements of ``dtype``, and the halves that ran.

    ``redop`` and ``root`` are None where the table has no such column or leaves it blank; a
    ``root`` of -1 is what nccl-tests prints for collectives without one. ``line`` is from 1.
    """

    nbytes: int
    count: int | None
    dtype: str | None
    redop: str | None
    root: int | None
    out_of_place: Timing | None
    in_place: Timing | None
    line: int

    def __post_init__(self) -> None:
        if self.nbytes < 0 or (self.count is not None and self.count < 0):
            raise ValueError(f"a row has sizes and counts of 0 or more; got {self.nbytes}, {self.count}")


@dataclass(frozen=True)
class Columns:
    """A table's header: the columns that identify a row, those of each half, and the units.

    ``time_unit`` (seconds) is None until a row of units names it.
    """

    identity: tuple[str, ...]
    halves: tuple[Half, ...]
    time_unit: float | None = None
    rate_unit: float = GBps

    def with_units(self, line: str) -> Columns:
        """Return these columns with the units that ``line``, such as ``(us) (GB/s)``, names."""
        tokens = line.split()
        time = next((_TIME_UNITS[t] for t in tokens if t in _TIME_UNITS), self.time_unit)
        rate = next((_RATE_UNITS[t] for t in tokens if t in _RATE_UNITS), self.rate_unit)
        return replace(self, time_unit=time, rate_unit=rate)


# The layout of nccl-tests since 2.11, for rows that were posted without their header
MODERN = Columns(_ORDER, ((*_MEASURED, "wrong"),) * 2)


@dataclass(slots=True)
class PartialRow:
    """A row as far as it was read: debug output may put its halves on later lines.

    ``printed`` keeps algbw and busbw as they were printed, which tells how exact they are.
    """

    line: int
    identity: dict[str, Any]
    halves: list[Timing] = field(default_factory=list)
    printed: list[tuple[str, str]] = field(default_factory=list)
    cut: bool = False  # a half begins and does not end
    only_in_place: bool = False

    def has_known_type(self) -> bool:
        """Whether the type is one of nccl-tests: other lines begin with two numbers and a word."""
        return self.identity.get("type") in ELEMENT_BYTES

    def finished(self) -> Row:
        """The row, once it has at least one half."""
        first, second = (*self.halves, None, None)[:2]
        if self.only_in_place and second is None:
            first, second = None, first
        size, count, dtype, redop, root = map(self.identity.get, _ORDER)
        return Row(size, count, dtype, redop, root, first, second, self.line)


def header(line: str) -> Columns | None:
    """Return the columns that ``line`` names, None where it is no header."""
    words = [_UNIT_BEHIND.sub("", word.strip("#*:")).lower() for word in line.split()]
    names = [_NAMES.get(word, word) for word in words if word]
    names = names[names.index("size") :] if "size" in names else []
    starts = [i for i in range(len(names)) if tuple(names[i : i + 3]) == _MEASURED]
    if not starts or set(names[: starts[0]]) - set(_ORDER):
        return None
    ends = [*starts[1:], len(names)]
    halves = tuple(tuple(names[a:b]) for a, b in zip(starts[:2], ends, strict=False))
    return Columns(tuple(names[: starts[0]]), tuple(_timestamped(half) for half in halves))


def tokens_of(line: str) -> list[str]:
    """The cells of a line that may be a row: no row is longer than 4000 characters."""
    return line[:_LONGEST_LINE].split()


def row(tokens: list[str], number: int, columns: Columns) -> PartialRow | None:
    """Return the row that a line begins, whole or in part; None where it begins none."""
    for start, token in enumerate(tokens[:_PREFIX_TOKENS]):
        identity = _identity(tokens, start, columns) if token.isdecimal() else None
        if identity:
            partial = PartialRow(number, identity)
            position = start + len(identity)
            if "root" not in columns.identity or _read_root(partial, tokens, position, columns):
                _read_halves(partial, tokens, start + len(identity), columns)
            return partial
    return None


def go_on(partial: PartialRow, tokens: list[str], columns: Columns) -> bool:
    """Read the halves that a line adds to a partial row; False where it adds none."""
    before, cut = len(partial.halves), partial.cut
    _read_halves(partial, tokens, 0, columns)
    added = len(partial.halves) > before
    partial.cut = partial.cut if added else cut
    return added


def is_orphan(tokens: list[str], columns: Columns) -> bool:
    """Whether a line is the end of a row whose beginning is lost: a half or more, nothing else."""
    if not tokens or not tokens[0][0].isdecimal():
        return False
    orphan = PartialRow(0, {})
    _read_halves(orphan, tokens, 0, columns)
    return bool(orphan.halves) and not orphan.cut


def is_placeholder(tokens: list[str]) -> bool:
    """Whether a row of a form stands here, with X where numbers belong."""
    return any(len(token) > 2 and set(token) <= set("X.") for token in tokens)


def has_blank_half(line: str) -> bool:
    """Whether blanks stand in a row for a half that was not run, as wide as the half would be."""
    return " " * _HALF_WIDTH in line.strip()


def printed_error(token: str) -> float:
    """Half a unit of the last digit of a printed number.

    >>> printed_error("45.87"), printed_error("1.6e+07")
    (0.005, 500000.0)
    """
    if token[-3:-2] == ".":  # two decimals, as nearly always
        return 0.005
    mantissa, _, exponent = token.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or "0") - decimals)


def number(token: str) -> float | None:
    """The number that a cell prints, also ``nan`` and ``inf``; None where it is no number."""
    if len(token) > _LONGEST_NUMBER or "_" in token:
        return None
    try:
        return float(token)
    except ValueError:  # rccl-tests marks with a * what is beyond its threshold
        return number(token[:-1]) if token.endswith("*") else None


def shown(tokens: list[str]) -> str:
    """A line as a note quotes it."""
    return repr(shortened(" ".join(tokens[:20]), 50))


def _timestamped(half: Half) -> Half:
    """A time stamp is two cells, the date and the time of day."""
    return tuple(cell for name in half for cell in ((name, name) if name == "timestamp" else (name,)))


def _identity(tokens: list[str], start: int, columns: Columns) -> dict[str, Any] | None:
    """Read the cells before the root, one token each; None where they are of another kind."""
    values: dict[str, Any] = {}
    for name in columns.identity:
        position = start + len(values)
        token = tokens[position] if position < len(tokens) else ""
        value = _size(token) if name in ("size", "count") else _word(token)
        if value is not None and name != "root":
            values[name] = value
        elif name not in ("redop", "root"):  # which may be blank
            return None
    known = not start or values.get("type", "float") in ELEMENT_BYTES
    return values if known else None


def _read_root(partial: PartialRow, tokens: list[str], position: int, columns: Columns) -> bool:
    """Read the root, unless it is blank; False where debug output was written right behind it."""
    token = tokens[position] if position < len(tokens) else ""
    if _is_integer(token):
        if not _is_blank_root(tokens, position, columns):
            partial.identity["root"] = int(token)
        return True
    glued = _CELL_BEFORE_TEXT.match(token)
    if glued and _is_integer(glued[1]):
        partial.identity["root"] = int(glued[1])
        return False
    return True


def _read_halves(partial: PartialRow, tokens: list[str], position: int, columns: Columns) -> None:
    """Append the halves that stand from ``position`` on; ``cut`` says that one is incomplete."""
    halves = columns.halves
    while len(partial.halves) < len(halves) and position < len(tokens):
        names = halves[len(partial.halves)]
        cells = tokens[position : position + len(names)]
        half = _half(cells, names, columns)
        is_last = half is None
        if half is None:
            half = _half(_without_text(cells), names, columns)
        if half is None:
            partial.cut = number(cells[0]) is not None
            return
        partial.halves.append(half)
        partial.printed.append((cells[1], cells[2]))
        position = len(tokens) if is_last else position + len(names)


def _without_text(cells: list[str]) -> list[str]:
    """The cells of a half without the debug output that was written right behind the last one."""
    glued = _CELL_BEFORE_TEXT.match(cells[-1])
    return [*cells[:-1], glued[1]] if glued else []


def _half(cells: list[str], names: Half, columns: Columns) -> Timing | None:
    if len(cells) < len(names):
        return None
    seconds, algbw, busbw = number(cells[0]), number(cells[1]), number(cells[2])
    if seconds is None or seconds < 0 or algbw is None or busbw is None:
        return None
    wrong = None
    if "wrong" in names[3:4] and cells[3] not in _NOT_CHECKED:
        wrong = number(cells[3])
        if wrong is None:
            return None
    time_unit, rate_unit = columns.time_unit or us, columns.rate_unit
    rates = _known(algbw * rate_unit), _known(busbw * rate_unit)
    return Timing(_known(seconds * time_unit), *rates, _known(wrong))


def _known(value: float | None) -> float | None:
    return value if value is not None and 0 <= value < math.inf else None


def _size(token: str) -> int | None:
    fits = token.isascii() and token.isdecimal() and len(token) <= _LARGEST_DIGITS
    return int(token) if fits else None


def _word(token: str) -> str | None:
    """A name such as ``bfloat16`` or ``sum``; None for ``nan``, and for the X of a form."""
    if token in ELEMENT_BYTES or token == "sum":  # nearly always
        return token
    is_word = _WORD.fullmatch(token) and token not in _NUMBER_WORDS and not set(token) <= set("X.")
    return token if is_word else None


def _is_integer(token: str) -> bool:
    digits = token[1:] if token[:1] == "-" else token
    return digits.isascii() and digits.isdecimal() and len(digits) <= _LARGEST_DIGITS


def _is_blank_root(tokens: list[str], position: int, columns: Columns) -> bool:
    """A blank root shows in the number of cells that are left: those of the halves exactly.

    A whole number of few digits is a root all the same, in a cut row: so short a time has decimals.
    """
    if len(tokens[position]) < 5:
        return False
    return len(tokens) - position in (len(columns.halves[0]), sum(map(len, columns.halves)))
