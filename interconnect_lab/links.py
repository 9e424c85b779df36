"""A link is two numbers: time = latency + size / bandwidth, one way (Hockney 1994, the alpha-beta model)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from interconnect_lab.units import Bytes, BytesPerSecond, Seconds, fmt_bytes

MOST_CHOICES = 5000  # of inner points, in a piecewise fit: a fraction of a second
LEAST_GROWTH = 1e-3  # of the longest time; a fit whose bytes cost less says nothing about bandwidth


@dataclass(frozen=True)
class Link:
    """A one-way channel: ``latency`` in seconds, ``bandwidth`` in bytes per second, and who says so.

    Raises ValueError for a negative or infinite latency and for a zero, negative or infinite bandwidth.

    >>> cable = Link(4e-6, 50e9, source="chapter 01")
    >>> round(cable.time(65536) * 1e6, 2), cable.half_size
    (5.31, 200000.0)
    """

    latency: float
    bandwidth: float
    source: str

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.source.strip():
            raise ValueError(f"source must say who says so; got {self.source!r}")
        if not _is_finite(self.latency) or self.latency < 0:
            raise ValueError(f"latency must be a finite number of seconds, 0 or more; got {self.latency!r}")
        if not _is_finite(self.bandwidth) or self.bandwidth <= 0:
            raise ValueError(f"bandwidth must be finite, in bytes/s, above 0; got {self.bandwidth!r}")

    def time(self, nbytes: Bytes) -> Seconds:
        """Seconds for one message of ``nbytes`` (scalar or array, 0 or more)."""
        return self.latency + checked_nbytes(nbytes) / self.bandwidth

    @property
    def half_size(self) -> float:
        """The size n½ = latency × bandwidth at which half of the time is latency."""
        return self.latency * self.bandwidth

    def effective_bandwidth(self, nbytes: Bytes) -> BytesPerSecond:
        """Size over time: half of ``bandwidth`` at ``half_size``, 90 % of it at nine times that."""
        return _rate(nbytes, self.time(nbytes), self.bandwidth)


def checked_nbytes(nbytes: Bytes) -> Bytes:
    """Return ``nbytes`` as a number or array; ValueError where any is negative, infinite or no number."""
    if isinstance(nbytes, (int, float)):
        if 0 <= nbytes < math.inf:
            return nbytes
        raise ValueError(f"nbytes must be finite, 0 or more; got {nbytes!r}")
    sizes = np.asarray(nbytes)
    if sizes.dtype.kind not in "iuf":
        raise ValueError(f"nbytes must be numbers, in bytes; got {nbytes!r}")
    if sizes.size and not (sizes.min() >= 0 and sizes.max() < math.inf):
        wrong = sizes.min() if not sizes.min() >= 0 else sizes.max()
        raise ValueError(f"nbytes must be finite, 0 or more; got {wrong!s}")
    return sizes


def _rate(nbytes: Bytes, seconds: Seconds, at_no_time: float) -> BytesPerSecond:
    """Size over time; where neither is above 0, the limit ``at_no_time``."""
    if np.ndim(seconds) == 0:
        return nbytes / seconds if seconds > 0 else at_no_time
    limit = np.full(np.shape(seconds), float(at_no_time))
    return np.divide(np.asarray(nbytes, float), seconds, out=limit, where=seconds > 0)


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and math.isfinite(value)


@dataclass(frozen=True)
class PiecewiseLink:
    """A link whose protocols change with size: straight lines between points, then a last bandwidth.

    ``seconds[i]`` is the time at ``sizes[i]`` bytes; ``sizes`` rise from 0, ``seconds`` never fall.

    >>> switch = PiecewiseLink((0, 64e3), (10e-6, 20e-6), 100e9, source="made up")
    >>> [f"{switch.time(nbytes) * 1e6:.0f} µs" for nbytes in (32e3, 1.064e6)]
    ['15 µs', '30 µs']
    """

    sizes: tuple[float, ...]
    seconds: tuple[float, ...]
    bandwidth: BytesPerSecond
    source: str

    def __post_init__(self) -> None:
        sizes, seconds = np.asarray(self.sizes, float), np.asarray(self.seconds, float)
        if sizes.ndim != 1 or not sizes.size or sizes[0] != 0 or not (np.diff(sizes) > 0).all():
            raise ValueError(f"sizes must begin at 0 and rise; got {self.sizes!r}")
        if seconds.shape != sizes.shape or not seconds[0] >= 0 or not (np.diff(seconds) >= 0).all():
            raise ValueError(f"seconds must be one for each size and never fall; got {self.seconds!r}")
        Link(self.latency, self.bandwidth, self.source)

    @property
    def latency(self) -> Seconds:
        """Seconds for a message without bytes."""
        return self.seconds[0]

    @property
    def parameters(self) -> int:
        """How many numbers were free: latency and bandwidth, and two for each inner point."""
        return 2 * len(self.sizes)

    def time(self, nbytes: Bytes) -> Seconds:
        """Seconds for one message of ``nbytes`` (scalar or array, 0 or more)."""
        nbytes = checked_nbytes(nbytes)
        beyond = np.maximum(nbytes - self.sizes[-1], 0) / self.bandwidth
        return np.interp(nbytes, self.sizes, self.seconds) + beyond

    @property
    def half_size(self) -> Bytes:
        """The smallest size that is sent at half of the last bandwidth."""
        ends = (*self.sizes[1:], math.inf)
        slopes = (*(np.diff(self.seconds) / np.diff(self.sizes)), 1 / self.bandwidth)
        for size, seconds, slope, end in zip(self.sizes, self.seconds, slopes, ends, strict=True):
            rest = 2 / self.bandwidth - slope  # size / time = bandwidth / 2 somewhere on this line?
            if rest > 0 and (seconds - slope * size) / rest <= end:
                break
        return float(max((seconds - slope * size) / rest, size))

    def effective_bandwidth(self, nbytes: Bytes) -> BytesPerSecond:
        """Size over time, in bytes per second."""
        return _rate(nbytes, self.time(nbytes), self.bandwidth)


@dataclass(frozen=True)
class Fit:
    """A fitted ``link`` with what it leaves over: ``residuals`` = model / measured - 1, one for each size."""

    link: Link | PiecewiseLink
    nbytes: np.ndarray
    seconds: np.ndarray

    @property
    def residuals(self) -> np.ndarray:
        """Relative errors: +0.10 where the model is 10 % slower than the measurement."""
        return self.link.time(self.nbytes) / self.seconds - 1

    @property
    def median_error(self) -> float:
        """Median of the absolute relative errors."""
        return float(np.median(np.abs(self.residuals)))

    @property
    def mean_error(self) -> float:
        """Mean of the absolute relative errors."""
        return float(np.mean(np.abs(self.residuals)))

    @property
    def worst_error(self) -> float:
        """Largest absolute relative error; it stands at ``worst_size``."""
        return float(np.max(np.abs(self.residuals)))

    @property
    def worst_size(self) -> float:
        """The size of the largest error."""
        return float(self.nbytes[np.argmax(np.abs(self.residuals))])


def fit_link(nbytes: Bytes, seconds: Seconds, source: str = "fit") -> Fit:
    """Fit latency and bandwidth for the least mean absolute relative error (to within a few percent).

    Relative, since times span six decades; absolute, since one outlier must not bend the line.
    ``nbytes`` and ``seconds`` are arrays of one length. Raises ValueError for fewer than two different
    sizes, for times that are not positive, and where times do not grow with size.

    >>> fit = fit_link([1e6, 101e6], [25e-6, 2.025e-3])  # chapter 01
    >>> round(fit.link.latency * 1e6, 3), round(fit.link.bandwidth / 1e9, 3)
    (5.0, 50.0)
    """
    nbytes, seconds = _checked_points(nbytes, seconds)
    latency, slope = _least_relative(_rising(nbytes, np.empty((1, 0))) / seconds[:, None])[0]
    if not slope * nbytes.max() > LEAST_GROWTH * seconds.max():
        raise ValueError(_flat(nbytes))
    return Fit(Link(float(latency), float(1 / slope), source=source), nbytes, seconds)


def fit_piecewise(nbytes: Bytes, seconds: Seconds, max_parameters: int = 6, source: str = "fit") -> Fit:
    """Fit straight lines that join, with at most ``max_parameters`` free numbers: 2, 4 or 6 or more.

    Each inner point costs two: where it lies and its time. Points are tried at the measured sizes and
    the combination with the least mean absolute relative error is kept. Errors as for ``fit_link``.
    """
    if not isinstance(max_parameters, int) or max_parameters < 2:
        raise ValueError(f"max_parameters must be 2 or more; got {max_parameters!r}")
    nbytes, seconds = _checked_points(nbytes, seconds)
    inner = min((max_parameters - 2) // 2, max(0, (len(np.unique(nbytes)) - 2) // 2))
    knots = _candidate_knots(nbytes, inner)
    steps = _least_relative(_rising(nbytes, knots) / seconds[:, None])
    errors = np.abs(np.einsum("kmp,kp->km", _rising(nbytes, knots) / seconds[:, None], steps) - 1)
    grows = steps[:, -1] * nbytes.max() > LEAST_GROWTH * seconds.max()
    if not grows.any():
        raise ValueError(_flat(nbytes))
    best = int(np.argmin(np.where(grows, errors.mean(axis=1), np.inf)))
    return Fit(_joined(knots[best], steps[best], source), nbytes, seconds)


def _joined(knots: np.ndarray, steps: np.ndarray, source: str) -> PiecewiseLink:
    """From latency and slopes to the points of a PiecewiseLink."""
    sizes = np.concatenate([[0.0], knots])
    seconds = np.cumsum(np.concatenate([steps[:1], steps[1:-1] * np.diff(sizes)]))
    return PiecewiseLink(tuple(sizes.tolist()), tuple(seconds.tolist()), float(1 / steps[-1]), source)


def _rising(nbytes: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Columns 1 and "bytes within this piece", shape (combinations, sizes, pieces + 1): slopes stay >= 0."""
    lower = np.concatenate([np.zeros((len(knots), 1)), knots], axis=1)
    length = np.diff(np.concatenate([lower, np.full((len(knots), 1), np.inf)], axis=1), axis=1)
    within = np.clip(nbytes[None, :, None] - lower[:, None, :], 0, length[:, None, :])
    return np.concatenate([np.ones_like(within[..., :1]), within], axis=2)


def _candidate_knots(nbytes: np.ndarray, inner: int, most: int = 30) -> np.ndarray:
    """All choices of ``inner`` sizes among (at most ``most``) measured ones, shape (choices, inner).

    Fewer sizes are tried where there would be more than ``MOST_CHOICES``.
    """
    while math.comb(most, inner) > MOST_CHOICES:
        most -= 1
    sizes = np.unique(nbytes[nbytes > 0])[1:-1]
    if len(sizes) > most:
        sizes = sizes[np.linspace(0, len(sizes) - 1, most).round().astype(int)]
    chosen = list(combinations(sizes, inner))
    return np.array(chosen, float).reshape(len(chosen), inner)


def _least_relative(columns: np.ndarray, rounds: int = 30) -> np.ndarray:
    """Non-negative x with least mean |columns @ x - 1|, for a stack (k, sizes, unknowns) at once.

    Iteratively reweighted least squares turns the absolute value into squares; an unknown that turns
    negative is held at zero from then on.
    """
    scale = np.abs(columns).max(axis=1, keepdims=True)
    scale[scale == 0] = 1
    scaled = columns / scale
    weights = np.ones(scaled.shape[:2])
    free = np.ones((len(scaled), scaled.shape[2]))
    for _ in range(rounds):
        held = scaled * free[:, None, :]
        weighted = held * weights[..., None]
        gram = np.einsum("kmi,kmj->kij", weighted, held)
        ridge = 1e-12 * np.trace(gram, axis1=1, axis2=2) + 1e-300
        gram += np.eye(gram.shape[1]) * ridge[:, None, None]
        found = np.linalg.solve(gram, weighted.sum(axis=1)[..., None])[..., 0]
        free *= found >= 0
        weights = 1 / np.maximum(np.abs(np.einsum("kmi,ki->km", held, found) - 1), 1e-3)
    return np.maximum(found * free, 0) / scale[:, 0, :]


def _checked_points(nbytes: Bytes, seconds: Seconds) -> tuple[np.ndarray, np.ndarray]:
    sizes = np.atleast_1d(np.asarray(checked_nbytes(nbytes), float))
    times = np.atleast_1d(np.asarray(seconds, float))
    if sizes.shape != times.shape or sizes.ndim != 1:
        raise ValueError(f"one time for each size; got {sizes.size} sizes and {times.size} times")
    if len(np.unique(sizes)) < 2:
        raise ValueError(f"at least two different sizes are needed; got {np.unique(sizes).tolist()}")
    wrong = ~(np.isfinite(times) & (times > 0) & np.isfinite(sizes))
    if wrong.any():
        raise ValueError(
            f"times must be finite and above 0 s; got {times[wrong][0]} at {sizes[wrong][0]} bytes"
        )
    return sizes, times


def _flat(nbytes: np.ndarray) -> str:
    sizes = f"{fmt_bytes(nbytes.min())} to {fmt_bytes(nbytes.max())}"
    return f"times do not grow from {sizes}, so the bandwidth cannot be told: add larger sizes"
