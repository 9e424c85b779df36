"""Published sweeps: times that others measured, with their machine, source and licence."""

from __future__ import annotations

import csv
import difflib
import gzip
import re
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from interconnect_lab.specs.tables import DATA
from interconnect_lab.units import Bytes, Seconds

MEASUREMENTS = DATA / "measurements"
OPS = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "broadcast",
    "reduce",
    "send_recv",
)
NEAREST = 5  # how many curves nearest_sweep returns at most
OVERLAP = 3  # sizes that two curves must share to be compared

_DETAIL = re.compile(r"\s*\(.*\)|[ -]\d+ ?GB\b")


@dataclass(frozen=True)
class Source:
    """Where curves come from: address, date, licence and the terms on which they are passed on."""

    source_id: str
    url: str
    hardware: str
    software: str
    date: str
    licence: str
    terms: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """One published curve: ``seconds`` (out of place) over ``nbytes``, as the tool printed them.

    Both are read-only arrays, sizes ascending. nccl-tests prints the whole buffer; OSU's latency
    is one way. Raises ValueError where they are empty, differ in length, or are not positive and
    ascending.
    """

    name: str
    op: str
    ranks: int
    nodes: int
    gpu: str
    intra_link: str
    inter_link: str
    software: str
    note: str
    source_id: str
    nbytes: np.ndarray = field(repr=False)
    seconds: np.ndarray = field(repr=False)

    def __post_init__(self) -> None:
        _check_op(self.op)
        sizes, times = _points(self.nbytes, self.seconds)
        if np.any(np.diff(sizes) <= 0):
            raise ValueError(f"the sizes of {self.name} must ascend; got {self.nbytes!r}")
        for name, array in (("nbytes", sizes), ("seconds", times)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def gpus_per_node(self) -> int:
        """Ranks on one host."""
        return self.ranks // self.nodes

    @property
    def source(self) -> Source:
        """The row of ``sources()`` that says where the curve comes from and under which licence."""
        return sources()[self.source_id]

    @property
    def url(self) -> str:
        """The address of its source."""
        return self.source.url

    @property
    def licence(self) -> str:
        """The licence of its source."""
        return self.source.licence

    @property
    def label(self) -> str:
        """A short name for a legend.

        >>> sweep("h100x16_ndr_2n").label
        '16 × H100 SXM on 2 nodes, all-reduce'
        """
        nodes = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        return f"{self.ranks} × {_DETAIL.sub('', self.gpu)}{nodes}, {self.op.replace('_', '-')}"

    def time(self, nbytes: Bytes) -> Seconds:
        """Seconds at ``nbytes`` by straight lines on log axes; ValueError beyond its ends."""
        sizes = np.asarray(nbytes, dtype=float)
        first, last = self.nbytes[0], self.nbytes[-1]
        if not np.all((sizes >= first) & (sizes <= last)):
            span = f"from {first} to {last} bytes"
            raise ValueError(f"{self.name} was measured {span}; got {nbytes!r}")
        times = np.exp(np.interp(np.log(sizes), np.log(self.nbytes), np.log(self.seconds)))
        return float(times) if times.ndim == 0 else times


@dataclass(frozen=True)
class Nearest:
    """A published curve beside a reader's own: ``ratio`` ≥ 1 is the typical factor between them.

    It is exp(median |log(own / published)|) over the reader's sizes that the curve spans, of which
    there are ``overlap``.
    """

    sweep: Sweep
    ratio: float
    overlap: int


def sweeps(
    *,
    gpu: str | None = None,
    op: str | None = None,
    ranks: int | None = None,
    nodes: int | None = None,
    min_sizes: int = 1,
) -> tuple[Sweep, ...]:
    """Return the published curves that match: ``gpu`` is in its name, from a word's beginning on.

    >>> len(sweeps(gpu="h100", op="all_reduce", ranks=16, nodes=2, min_sizes=30))
    2
    """
    if op is not None:
        _check_op(op)
    wanted = {"op": op, "ranks": ranks, "nodes": nodes}
    asked = {name: value for name, value in wanted.items() if value is not None}
    return tuple(
        curve
        for curve in _all_sweeps()
        if all(getattr(curve, name) == value for name, value in asked.items())
        and (gpu is None or re.search(rf"\b{re.escape(gpu)}", curve.gpu, re.IGNORECASE))
        and curve.nbytes.size >= min_sizes
    )


def sweep(
    name: str,
    *,
    op: str | None = None,
    ranks: int | None = None,
    nodes: int | None = None,
) -> Sweep:
    """Return the one curve of that name, or of that run with that operation and size of job.

    Raises ValueError that lists the candidates where several match, or near names where none does.

    >>> curve = sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce", ranks=8)
    >>> round(curve.time(1024) * 1e6, 1), curve.source.licence
    (15.6, 'Apache-2.0')
    """
    run = [curve for curve in _all_sweeps() if f"{curve.name}/".startswith(f"{name}/")]
    matching = sweeps(op=op, ranks=ranks, nodes=nodes)
    found = [curve for curve in run if curve in matching]
    if len(found) == 1:
        return found[0]
    if not run:
        raise ValueError(f"no published sweep is named {name!r}; {_near(name)}")
    problem = "several match" if found else "none matches"
    choices = ", ".join(f"{c.name} (ranks {c.ranks}, nodes {c.nodes})" for c in found or run)
    asked = f"{name!r}, op={op}, ranks={ranks}, nodes={nodes}"
    raise ValueError(f"{asked}: {problem}; there are {choices}")


def nearest_sweep(
    nbytes: Bytes,
    seconds: Seconds,
    op: str | None = None,
    ranks: int | None = None,
    nodes: int | None = None,
) -> tuple[Nearest, ...]:
    """Return the published curves nearest to your own times, best first, five at most, or none.

    Only curves of ``op`` that span three or more of your sizes count; those of as many ``ranks``
    and ``nodes`` go first, however near the others are. Raises ValueError for arrays that do not
    pair up or are not positive.
    """
    sizes, times = _points(nbytes, seconds)
    compared = (_compare(curve, sizes, times) for curve in sweeps(op=op))

    def order(near: Nearest) -> tuple[int, float]:
        pairs = ((near.sweep.ranks, ranks), (near.sweep.nodes, nodes))
        return sum(asked is not None and asked != own for own, asked in pairs), near.ratio

    return tuple(sorted((near for near in compared if near), key=order)[:NEAREST])


@cache
def sources() -> dict[str, Source]:
    """Return every source of a published curve, by its id."""
    rows = _read_csv((MEASUREMENTS / "sources.csv").read_text("utf-8"))
    return {row["source_id"]: Source(**row) for row in rows}


def _compare(curve: Sweep, sizes: np.ndarray, times: np.ndarray) -> Nearest | None:
    inside = (sizes >= curve.nbytes[0]) & (sizes <= curve.nbytes[-1])
    overlap = int(inside.sum())
    if overlap < OVERLAP:
        return None
    factors = np.log(times[inside] / curve.time(sizes[inside]))
    return Nearest(curve, float(np.exp(np.median(np.abs(factors)))), overlap)


@cache
def _all_sweeps() -> tuple[Sweep, ...]:
    text = gzip.decompress((MEASUREMENTS / "sweeps.csv.gz").read_bytes()).decode()
    return tuple(_sweep(row) for row in _read_csv(text))


def _sweep(row: dict[str, str]) -> Sweep:
    times = np.array(row.pop("microseconds").split(), dtype=float) / 1e6
    row |= {"ranks": int(row["ranks"]), "nodes": int(row["nodes"])}
    row |= {"nbytes": np.array(row["nbytes"].split(), dtype=np.int64), "seconds": times}
    return Sweep(**row)


def _read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def _points(nbytes: Bytes, seconds: Seconds) -> tuple[np.ndarray, np.ndarray]:
    sizes, times = np.array(nbytes), np.array(seconds, dtype=float)
    if sizes.ndim != 1 or sizes.shape != times.shape or not sizes.size:
        raise ValueError(
            f"nbytes and seconds must pair up in one row; got shapes {sizes.shape}, {times.shape}"
        )
    for name, array in (("nbytes", sizes), ("seconds", times)):
        if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)) or not np.all(array > 0):
            raise ValueError(f"{name} must be finite numbers above 0; got {array!r}")
    return sizes, times


def _check_op(op: str) -> None:
    if op not in OPS:
        raise ValueError(f"op must be one of {', '.join(OPS)}; got {op!r}")


def _near(name: str) -> str:
    runs = list(dict.fromkeys(curve.name.partition("/")[0] for curve in _all_sweeps()))
    near = difflib.get_close_matches(name, runs, n=5, cutoff=0.5)
    return f"near it: {', '.join(near)}" if near else f"there are {', '.join(runs)}"
