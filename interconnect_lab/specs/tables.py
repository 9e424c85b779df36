"""Tables whose every row names its source: read from TOML when asked for, checked, read-only."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date
from pathlib import Path
from typing import TypeVar

DATA = Path(__file__).resolve().parent.parent / "data"
KINDS = ("measured", "specified", "derived", "claimed", "assumed")
CONFIDENCE = ("A", "B", "C")
LAYERS = ("NCCL-step", "RDMA-1B", "CPU-e2e-64B", "GPU-p2p", "adapter", "switch", "hop")

# A unit in a column's name, as in bandwidth_GBps: what to multiply by, or to divide by, for SI.
_TIMES = {"GBps": 1e9, "TBps": 1e12, "Gbps": 1e9 / 8, "TFLOPs": 1e12, "GB": 1e9, "GiB": 2**30}
_OVER = {"us": 1e6}
_TYPES = {"str": str, "int": int, "date": date, "bool": bool}
_NUMBERS = (int, float)

T = TypeVar("T", bound="Row")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of a table: its name, who says so, what kind of figure, and how far it was checked.

    ``kind`` is measured, specified, derived, claimed (announced, or no product seen) or assumed.
    ``confidence`` is A (vendor or standards owner), B (secondary source) or C (not verified, which
    makes the row assumed). ``as_of`` is the day of the last check. Raises ValueError that names
    the field.
    """

    name: str
    source: str
    kind: str
    confidence: str
    as_of: date
    note: str = ""

    @property
    def date(self) -> date:
        """The day of the last check, ``as_of``."""
        return self.as_of

    def __post_init__(self) -> None:
        check_types(self)
        check_token("kind", self.kind, KINDS)
        check_token("confidence", self.confidence, CONFIDENCE)
        for field in ("name", "source"):
            if not getattr(self, field).strip():
                raise ValueError(f"field '{field}' must not be empty")
        if self.confidence == "C" and self.kind != "assumed":
            raise ValueError(f"field 'kind' must be 'assumed' with confidence C; got {self.kind!r}")


class Table(Mapping[str, T]):
    """A read-only mapping from name to row, in the order of the file, read when first used.

    Raises KeyError with the near names for a name that is not there.
    """

    def __init__(self, what: str, read: Callable[[], dict[str, T]]) -> None:
        self._what, self._read = what, read
        self._rows: dict[str, T] | None = None

    def _loaded(self) -> dict[str, T]:
        if self._rows is None:
            self._rows = self._read()
        return self._rows

    def __getitem__(self, name: str) -> T:
        rows = self._loaded()
        if name in rows:
            return rows[name]
        raise KeyError(f"no {self._what} is named {name!r}; {_near(name, list(rows))}")

    def __contains__(self, name: object) -> bool:
        return name in self._loaded()

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def __repr__(self) -> str:
        return f"<{self._what} table, {len(self)} rows: {', '.join(self)}>"


def read_table(toml: Path | str, what: str, row_class: type[T]) -> dict[str, T]:
    """Return the rows of the ``[[what]]`` tables in a TOML file (a Path) or text (a str), by name.

    Columns may carry a unit (``bandwidth_GBps``, ``latency_us``); rows hold SI. Raises ValueError
    that names the row and the field for anything missing, unknown, repeated or out of range.
    """
    rows: dict[str, T] = {}
    for number, columns in enumerate(_parse(toml, what), start=1):
        name = columns.get("name", f"number {number}")
        try:
            row = row_class(**_in_si(columns, row_class))
            if name in rows:
                raise ValueError("field 'name' is taken by an earlier row")
        except ValueError as problem:
            raise ValueError(f"[[{what}]] {name!r}: {problem}") from problem
        rows[row.name] = row
    return rows


def check_types(row: Row) -> None:
    """Raise ValueError where a field is not of its type, or a number is negative or not finite."""
    for field in fields(row):
        declared, _, optional = field.type.partition(" | ")
        value = getattr(row, field.name)
        if value is None and optional:
            continue
        wanted = _TYPES.get(declared, _NUMBERS)
        if not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool):
            raise ValueError(f"field {field.name!r} must be {_words(wanted)}; got {value!r}")
        if wanted is not bool and isinstance(value, _NUMBERS) and not (0 <= value < math.inf):
            raise ValueError(f"field {field.name!r} must be finite, 0 or more; got {value!r}")


def check_token(field: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise ValueError where ``value`` is not one of ``allowed``."""
    if value not in allowed:
        raise ValueError(f"field {field!r} must be one of {', '.join(allowed)}; got {value!r}")


def check_latency(row: Row) -> None:
    """Raise ValueError where a latency lacks its layer, or the reverse, or its high is too low."""
    if (row.latency is None) != (not row.latency_layer):
        raise ValueError("field 'latency_layer' must be given where a latency is, and only there")
    if row.latency is None:
        return
    check_token("latency_layer", row.latency_layer, LAYERS)
    if row.latency_high is not None and row.latency_high < row.latency:
        low, high = row.latency, row.latency_high
        raise ValueError(f"field 'latency_high' must not be below {low!r}; got {high!r}")


def _parse(toml: Path | str, what: str) -> list[dict]:
    import tomllib

    try:
        parsed = tomllib.loads(toml.read_text("utf-8") if isinstance(toml, Path) else toml)
    except tomllib.TOMLDecodeError as problem:
        raise ValueError(f"this is no TOML: {problem}") from problem
    tables = parsed.get(what)
    if not (tables and isinstance(tables, list) and all(isinstance(t, dict) for t in tables)):
        raise ValueError(f"there is no [[{what}]] table in the TOML given")
    return tables


def _in_si(columns: dict, row_class: type[Row]) -> dict:
    """Rename columns to fields, in SI; ValueError for what is unknown or missing."""
    known = {field.name: field for field in fields(row_class)}
    values: dict = {}
    for column, value in columns.items():
        field, converted = _convert(column, value)
        if field not in known or field in values:
            raise ValueError(f"field {column!r} is not known here; known are {', '.join(known)}")
        values[field] = converted
    required = {name for name, field in known.items() if field.default is MISSING}
    if missing := sorted(required - set(values)):
        raise ValueError(f"field '{missing[0]}' is missing")
    return values


def _convert(column: str, value: object) -> tuple[str, object]:
    words = column.split("_")
    units = [word for word in words if word in _TIMES or word in _OVER]
    if not units:
        return column, value
    if not isinstance(value, _NUMBERS) or isinstance(value, bool):
        raise ValueError(f"field {column!r} must be a number; got {value!r}")
    unit = units[0]
    si = value / _OVER[unit] if unit in _OVER else value * _TIMES[unit]
    return "_".join(word for word in words if word != unit), si


def _words(wanted: type | tuple[type, ...]) -> str:
    return {str: "text", int: "a whole number", date: "a date", bool: "true or false"}.get(wanted, "a number")


def _near(name: object, names: list[str]) -> str:
    asked = str(name).casefold()
    inside = [n for n in names if asked in n.casefold()] if asked.strip() else []
    alike = difflib.get_close_matches(str(name), names, n=4, cutoff=0.5)
    near = list(dict.fromkeys([*inside, *alike]))[:5]
    return f"near it: {', '.join(near)}" if near else f"there are {', '.join(names)}"
