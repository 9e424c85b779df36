"""What the numbers of a run prove: its collective and its world size.

A collective shows in four things: whether the table names a reduction, whether it names a root,
whether count × element size is the printed size or a rank's share of it, and busbw/algbw
(nccl-tests, doc/PERFORMANCE.md). Where several collectives fit, none is named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from interconnect_lab.readers.nccl_tests.rows import ELEMENT_BYTES, Row
from interconnect_lab.readers.nccl_tests.runs import Ratio, Run

Worlds = tuple[int, float]  # the smallest and the largest world size

ANY: Worlds = (1, math.inf)
_ROUNDING = 1e-9

# Names of the test programs, without _perf, and the words of this package
PROGRAMS = {
    "all_reduce": "all_reduce",
    "all_gather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "alltoall": "all_to_all",
    "sendrecv": "send_recv",
    "gather": "gather",
    "scatter": "scatter",
    "hypercube": "hypercube",
}


@dataclass(frozen=True)
class Signature:
    """How a collective shows in a table.

    ``factor`` is busbw/algbw: "two-way" 2(n-1)/n, "share" (n-1)/n, or "one". ``split``: the count
    is a rank's share of the size. ``checked``: in-place results are verified where others are.
    """

    reduces: bool
    rooted: bool
    split: bool
    factor: str
    checked: bool = True


SIGNATURES = {
    "all_reduce": Signature(True, False, False, "two-way"),
    "reduce": Signature(True, True, False, "one"),
    "reduce_scatter": Signature(True, False, True, "share"),
    "send_recv": Signature(True, False, False, "one", checked=False),
    "broadcast": Signature(False, True, False, "one"),
    "all_gather": Signature(False, False, True, "share"),
    "all_to_all": Signature(False, False, True, "share", checked=False),
    "gather": Signature(False, True, True, "share"),
    "scatter": Signature(False, True, True, "share"),
    "hypercube": Signature(False, False, True, "one"),
}


@dataclass(frozen=True)
class Evidence:
    """What a run proves: None where it leaves several answers.

    ``collective`` is a word of this package, or the printed name of a program that has none here.
    ``worlds`` are the world sizes that busbw/algbw allows, None where the ratios contradict each
    other. ``ranks`` is the one that is left, else a rank's share of the size, else the list's.
    """

    collective: str | None
    worlds: Worlds | None
    ranks: int | None


@dataclass(frozen=True)
class _Facts:
    """What a table shows of its collective; None where it shows nothing."""

    reduces: bool | None
    rooted: bool | None
    checked: bool | None
    share: int | None


def evidence_of(run: Run) -> Evidence:
    """Weigh what the run printed, the commands around it and its numbers, in this order."""
    listed = run.listed_ranks()
    if not run.rows:
        return Evidence(PROGRAMS.get(run.program or "", run.program), ANY, listed)
    facts = _facts(run)
    fitting = _fitting(facts, run.ratio, listed)
    collective = _named(run, fitting)
    signature = SIGNATURES.get(collective or "")
    factors = {signature.factor} if signature else {SIGNATURES[name].factor for name in fitting}
    worlds = by_ratio(factors.pop(), run.ratio) if len(factors) == 1 else ANY
    share = facts.share if signature and signature.split else None
    return Evidence(collective, worlds, only(worlds) or share or listed)


def by_ratio(factor: str, ratio: Ratio) -> Worlds | None:
    """The world sizes n whose factor lies in the interval of ``ratio``; None where there is none.

    >>> by_ratio("two-way", Ratio(1.7499, 1.7504)), by_ratio("share", Ratio(0.93, 0.94))
    ((8, 8), (15, 16))
    """
    low, high = ratio.low - _ROUNDING, ratio.high + _ROUNDING
    if factor == "one":
        return ANY if low <= 1 <= high else None
    limit = 2.0 if factor == "two-way" else 1.0
    if low >= limit or high < 0:
        return None
    smallest = max(1, math.ceil(limit / (limit - low) - _ROUNDING))
    largest = math.floor(limit / (limit - high) + _ROUNDING) if high < limit else math.inf
    return (smallest, largest) if smallest <= largest else None


def only(worlds: Worlds | None) -> int | None:
    """The one world size of ``worlds``, None where it is not one."""
    return worlds[0] if worlds and worlds[0] == worlds[1] else None


def _named(run: Run, fitting: list[str]) -> str | None:
    if run.program is not None:
        return PROGRAMS.get(run.program, run.program)
    commanded = [name for name in fitting if name in {PROGRAMS[c] for c in run.commands}]
    left = commanded or fitting
    return left[0] if len(left) == 1 else None


def _fitting(facts: _Facts, ratio: Ratio, listed: int | None) -> list[str]:
    """The collectives that fit; the list of ranks decides if it leaves any, for it may be cut."""
    worlds = {name: _worlds(s, ratio, facts.share) for name, s in SIGNATURES.items()}
    fitting = [name for name in SIGNATURES if worlds[name] and _looks_like(SIGNATURES[name], facts)]
    told = [name for name in fitting if listed and _holds(worlds[name], listed)]
    return told or fitting


def _looks_like(signature: Signature, facts: _Facts) -> bool:
    shown = ((facts.reduces, signature.reduces), (facts.rooted, signature.rooted))
    return all(a in (None, b) for a, b in (*shown, (facts.checked, signature.checked)))


def _worlds(signature: Signature, ratio: Ratio, share: int | None) -> Worlds | None:
    """The world sizes at which the collective would give this table."""
    worlds = by_ratio(signature.factor, ratio)
    if share is None:
        return worlds
    if not signature.split:
        return worlds if share == 1 else None
    return (share, share) if _holds(worlds, share) else None


def _holds(worlds: Worlds | None, ranks: int) -> bool:
    return worlds is not None and worlds[0] <= ranks <= worlds[1]


def _facts(run: Run) -> _Facts:
    redops, roots = {row.redop for row in run.rows}, {row.root for row in run.rows}
    has_root = run.columns is not None and "root" in run.columns.identity
    rooted = None if roots == {None} else any(root is not None and root >= 0 for root in roots)
    reduces = {redop not in (None, "none") for redop in redops}
    return _Facts(
        reduces=reduces.pop() if len(reduces) == 1 else None,
        rooted=rooted if has_root else False,
        checked=_in_place_checked(run.rows),
        share=_share(run.rows),
    )


def _in_place_checked(rows: list[Row]) -> bool | None:
    """Whether in-place results were verified; None where none was verified at all."""
    both = [(row.out_of_place, row.in_place) for row in rows if row.out_of_place and row.in_place]
    if any(in_place.wrong is not None for _, in_place in both):
        return True
    return False if any(out.wrong is not None for out, _ in both) else None


def _share(rows: list[Row]) -> int | None:
    """Size over count × element size, if it is one whole number in all rows that move anything."""
    shares = {
        row.nbytes / (row.count * ELEMENT_BYTES[row.dtype])
        for row in rows
        if row.nbytes and row.count and row.dtype in ELEMENT_BYTES
    }
    share = shares.pop() if len(shares) == 1 else 0.0
    return int(share) if share >= 1 and share.is_integer() else None
