"""A link is two numbers: time = latency + size / bandwidth, one way (Hockney 1994, the alpha-beta model)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interconnect_lab.units import Bytes, BytesPerSecond, Seconds


@dataclass(frozen=True)
class Link:
    """A one-way channel: ``latency`` in seconds, ``bandwidth`` in bytes per second, and who says so.

    Raises ValueError for a negative or infinite latency and for a zero, negative or infinite bandwidth.

    >>> cable = Link(4e-6, 50e9, source="chapter 01")
    >>> round(cable.time(65536) * 1e6, 2), cable.half_size
    (5.31, 200000.0)
    """

    latency: Seconds
    bandwidth: BytesPerSecond
    source: str

    def __post_init__(self) -> None:
        if not _is_finite(self.latency) or self.latency < 0:
            raise ValueError(f"latency must be a finite number of seconds, 0 or more; got {self.latency!r}")
        if not _is_finite(self.bandwidth) or self.bandwidth <= 0:
            raise ValueError(f"bandwidth must be finite, in bytes/s, above 0; got {self.bandwidth!r}")

    def time(self, nbytes: Bytes) -> Seconds:
        """Seconds for one message of ``nbytes`` (scalar or array, 0 or more)."""
        return self.latency + checked_nbytes(nbytes) / self.bandwidth

    @property
    def half_size(self) -> Bytes:
        """The size n½ = latency × bandwidth at which half of the time is latency."""
        return self.latency * self.bandwidth

    def effective_bandwidth(self, nbytes: Bytes) -> BytesPerSecond:
        """Size over time: half of ``bandwidth`` at ``half_size``, 90 % of it at nine times that."""
        return checked_nbytes(nbytes) / self.time(nbytes)


def checked_nbytes(nbytes: Bytes) -> Bytes:
    """Return ``nbytes`` as a number or array; ValueError where any of it is negative or not a number."""
    if isinstance(nbytes, (int, float)):
        if nbytes >= 0:
            return nbytes
        raise ValueError(f"nbytes must be 0 or more; got {nbytes!r}")
    sizes = np.asarray(nbytes)
    if sizes.dtype.kind not in "iuf":
        raise ValueError(f"nbytes must be numbers, in bytes; got {nbytes!r}")
    if sizes.size and not sizes.min() >= 0:
        raise ValueError(f"nbytes must be 0 or more; got {sizes.min()!s}")
    return sizes


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and math.isfinite(value)
