"""Units of the field: constants to multiply by on the way in, ``fmt_*`` and ``parse_*`` at the edge.

Inside the package every number is SI: seconds, bytes, bytes per second, FLOP. Bandwidth is one way.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias

import numpy as np

Seconds: TypeAlias = "float | np.ndarray"
Bytes: TypeAlias = "float | np.ndarray"
BytesPerSecond: TypeAlias = "float | np.ndarray"
Flops: TypeAlias = "float | np.ndarray"
Ranks: TypeAlias = "int | np.ndarray"

ns, us, ms = 1e-9, 1e-6, 1e-3
KB, MB, GB, TB = 1e3, 1e6, 1e9, 1e12
KiB, MiB, GiB, TiB = 2**10, 2**20, 2**30, 2**40
GiBps = 2**30
MBps, GBps, TBps = 1e6, 1e9, 1e12
Mbps, Gbps, Tbps = 1e6 / 8, 1e9 / 8, 1e12 / 8

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_PREFIX = _DECIMAL | _BINARY
_TIME = {
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
}

_NUMBER = re.compile(r"\s*([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(\S.*)?", re.S)
_SIZE_UNIT = re.compile(r"(Ki|Mi|Gi|Ti|Pi|[kKMGTP])?(B|bytes?|bits?|b)")
_PER_SECOND = re.compile(r"(.*?)(?:\s*/\s*s(?:ec|econd)?|ps)")


def parse_number(text: str) -> tuple[float, str]:
    """Split ``text`` into a number and the unit behind it; ``1,024`` is a thousand and twenty-four.

    Raises ValueError where the text does not begin with a number.

    >>> parse_number("1.5e3 MiB")
    (1500.0, 'MiB')
    """
    match = _NUMBER.fullmatch(str(text)[:200])
    if not match or not any(c.isdigit() for c in match[1]):
        raise ValueError(f"expected a number, then a unit, such as '25 MiB'; got {_shown(text)}")
    value = float(match[1].replace(",", ""))
    if math.isinf(value):
        raise ValueError(f"expected a finite number; got {_shown(text)}")
    return value, (match[2] or "").strip()


def parse_size(text: str) -> float:
    """Return the bytes that ``text`` names; ``MB`` is 10⁶ bytes, ``MiB`` 2²⁰, ``Mbit`` 10⁶/8.

    A bare number is bytes. Raises ValueError on anything else, and on ``Mb``, which people write for both.

    >>> parse_size("25 MiB")
    26214400.0
    """
    value, unit = parse_number(text)
    return value * _size_unit(unit or "B", text)


def parse_rate(text: str) -> float:
    """Return the bytes per second that ``text`` names: ``400 Gb/s``, ``400 Gbps``, ``50 GB/s`` are one.

    Raises ValueError where the unit is missing or is not a size per second.

    >>> parse_rate("400 Gb/s") == parse_rate("50 GB/s") == 50 * GBps
    True
    """
    value, unit = parse_number(text)
    match = _PER_SECOND.fullmatch(unit)
    if not match:
        raise ValueError(f"expected a rate such as '50 GB/s' or '400 Gb/s'; got {_shown(text)}")
    size = match[1].strip()
    if re.fullmatch(r"([kKMGTPmgtp]i?)?b", size):  # in a rate, lower-case b is always bits
        size = size[:-1].replace("k", "K").upper().replace("I", "i") + "bit"
    return value * _size_unit(size, text)


def parse_time(text: str) -> float:
    """Return the seconds that ``text`` names, in h, min, s, ms, us (or µs) or ns.

    >>> parse_time("11.6 ms")
    0.0116
    """
    value, unit = parse_number(text)
    if unit not in _TIME:
        raise ValueError(f"expected a time such as '5 us' or '11.6 ms'; got {_shown(text)}")
    return value * _TIME[unit]


def fmt_bytes(nbytes: float, digits: int = 3) -> str:
    """Write a size for people: in binary units where that is a whole number, else in decimal ones.

    >>> fmt_bytes(64 * KiB), fmt_bytes(250_000)
    ('64 KiB', '250 kB')
    """
    nbytes = float(nbytes)
    for prefix, scale in reversed(_BINARY.items()):
        if abs(nbytes) >= scale and nbytes % scale == 0 and abs(nbytes) < 1024 * scale:
            return f"{nbytes / scale:,.0f} {prefix}B"
    return _fmt(nbytes, "B", digits)


def fmt_rate(bandwidth: float, digits: int = 3, *, bits: bool = False) -> str:
    """Write a bandwidth (one way) for people, in bytes or, with ``bits``, in bits per second.

    >>> fmt_rate(50 * GBps), fmt_rate(50 * GBps, bits=True)
    ('50 GB/s', '400 Gb/s')
    """
    return _fmt(float(bandwidth) * (8 if bits else 1), "b/s" if bits else "B/s", digits)


def fmt_time(seconds: float, digits: int = 3) -> str:
    """Write a time for people.

    >>> fmt_time(5.31e-6), fmt_time(78.75e-3)
    ('5.31 µs', '78.8 ms')
    """
    seconds = float(seconds)
    if not math.isfinite(seconds) or seconds == 0:
        return f"{seconds:g} s"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= scale * (1 - 0.5 * 10.0**-digits):
            return f"{_digits(seconds / scale, digits)} {unit}"
    return f"{_digits(seconds / 1e-9, digits)} ns"


def _fmt(value: float, unit: str, digits: int) -> str:
    if not math.isfinite(value):
        return f"{value:g} {unit}"
    for prefix, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= scale * (1 - 0.5 * 10.0**-digits):
            return f"{_digits(value / scale, digits)} {prefix}{unit}"
    return f"{_digits(value, digits)} {unit}"


def _digits(value: float, digits: int) -> str:
    """Round to significant digits without an exponent and without trailing zeros."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _size_unit(unit: str, text: str) -> float:
    match = _SIZE_UNIT.fullmatch(unit)
    if not match:
        raise ValueError(f"expected a size unit such as kB, MiB or Gbit; got {_shown(text)}")
    if match[2] == "b":
        raise ValueError(f"'{unit}' may mean bits or bytes: write Gbit or GB; got {_shown(text)}")
    return _PREFIX[match[1] or ""] / (8 if match[2].startswith("bit") else 1)


def _shown(text: object) -> str:
    text = str(text)
    return repr(text if len(text) <= 60 else text[:57] + "...")
