"""Closed-form costs of collectives, ``<algorithm>_<op>(nbytes, ranks, link)``: seconds on idle links.

``nbytes`` follows nccl-tests: the input of one rank for all-reduce, broadcast and reduce; the total over all
ranks (ranks × block) for all-gather (output), reduce-scatter (input) and all-to-all (send buffer).
``nbytes`` and ``ranks`` may be arrays that broadcast. The arithmetic of the reduction itself is left out.
The dictionaries hold what may be chosen; the textbook's ring, which is wrong, is not among it.

Sources: Thakur, Rabenseifner, Gropp 2005 and MPICH's comments (MPI's algorithms); Bruck et al. 1997;
Patarasuk, Yuan 2009 (ring); Sanders, Speck, Träff 2009 (two trees); Chan et al. 2007 (lower bounds);
NVIDIA/nccl-tests doc/PERFORMANCE.md (bus bandwidth).
"""

from __future__ import annotations

import numpy as np

from interconnect_lab.links import Link, PiecewiseLink, checked_nbytes
from interconnect_lab.units import Bytes, BytesPerSecond, Ranks, Seconds

AnyLink = Link | PiecewiseLink


def send_recv(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """One message from one rank to the next (with one rank there is nothing to send: 0)."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(_many(ranks), nbytes, link)


# ---- all-reduce ----------------------------------------------------------------------------------


def ring_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Reduce-scatter, then all-gather, round a ring: 2(p - 1) steps of nbytes/p. Bandwidth-optimal.

    >>> cable = Link(5e-6, 50e9, source="chapter 06")
    >>> [round(ring_all_reduce(64 * 2**20, p, cable) * 1e3, 2) for p in (8, 1024)]  # ms
    [2.42, 12.91]
    """
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(2 * (ranks - 1), nbytes / ranks, link)


def textbook_ring_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """The ring as many texts print it, with (p - 1) latencies: half of the true 2(p - 1) steps."""
    nbytes, ranks = _checked(nbytes, ranks)
    latency, bandwidth = _two_numbers(link)
    return (ranks - 1) * latency + 2 * _all_but_one(ranks) * nbytes / bandwidth


def recursive_doubling_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Exchange the whole buffer with a partner log2(p) times; other p fold in and out, as in MPICH."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(_floor_log2(ranks) + 2 * _is_folded(ranks), nbytes, link)


def rabenseifner_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Recursive halving, then doubling: 2 log2(p) steps, 2(p - 1)/p of nbytes; other p fold in and out.

    After folding only the largest power of two below p takes part, so p stands for it in (p - 1)/p.
    MPICH's comment prints the full p there, a bound that is at most 1/3 of nbytes too high.
    """
    nbytes, ranks = _checked(nbytes, ranks)
    folded, halvings = _is_folded(ranks), _floor_log2(ranks)
    latency, bandwidth = _two_numbers(link)
    moved = 2 * (1 - 0.5**halvings) + 2 * folded
    return 2 * (halvings + folded) * latency + moved * nbytes / bandwidth


def tree_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Binomial reduce, then binomial broadcast, not pipelined: the tree of most slides."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(2 * _ceil_log2(ranks), nbytes, link)


def double_tree_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Two complementary binary trees, half of the buffer in each, cut into the best number of chunks.

    A rank is inner in one tree and a leaf in the other, so it sends twice the buffer in all: with c chunks a
    tree, 2·log2(p) rounds for the first and 4 for each further one, of nbytes/2c each; c >= 1 is real.
    """
    nbytes, ranks = _checked(nbytes, ranks)
    return _pipelined(nbytes / 2, 2 * _ceil_log2(ranks) - 4, 4, link)


def direct_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Each rank sends its whole buffer to every other, one after another, and adds up what it gets."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(ranks - 1, nbytes, link)


def in_switch_all_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """The switch reduces and multicasts (NVLS): each rank sends and receives nbytes·(1 + 1/p)."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(_many(ranks), nbytes * (1 + 1 / ranks), link)


def hierarchical_all_reduce(
    nbytes: Bytes, gpus_per_node: Ranks, nodes: Ranks, inner: AnyLink, outer: AnyLink
) -> Seconds:
    """Reduce-scatter in each node, all-reduce across nodes by rail (one NIC a GPU), all-gather in each node.

    >>> nvlink, nic = Link(0, 450e9, source="H100"), Link(0, 50e9, source="NDR")
    >>> round(hierarchical_all_reduce(2e9, 8, 8, nvlink, nic) * 1e3, 1)  # ms, chapter 07
    16.5
    """
    nbytes, gpus_per_node = _checked(nbytes, gpus_per_node, "gpus_per_node")
    _, nodes = _checked(nbytes, nodes, "nodes")
    inside = ring_reduce_scatter(nbytes, gpus_per_node, inner) * 2  # the all-gather costs the same
    return inside + ring_all_reduce(nbytes / gpus_per_node, nodes, outer)


# ---- all-gather and reduce-scatter: nbytes is the total ------------------------------------------


def ring_all_gather(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Pass blocks on round a ring: p - 1 steps of nbytes/p."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(ranks - 1, nbytes / ranks, link)


def bruck_all_gather(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Double what each rank holds in every step: ceil(log2 p) steps, (p - 1)/p of nbytes, for any p."""
    nbytes, ranks = _checked(nbytes, ranks)
    latency, bandwidth = _two_numbers(link)
    return _ceil_log2(ranks) * latency + _all_but_one(ranks) * nbytes / bandwidth


def ring_reduce_scatter(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Pass partial sums on round a ring: p - 1 steps of nbytes/p (pairwise exchange costs the same)."""
    return ring_all_gather(nbytes, ranks, link)


def recursive_halving_reduce_scatter(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Exchange half, a quarter, an eighth …: log2(p) steps, (p - 1)/p of nbytes.

    Where p is no power of two, some ranks first hand all to a partner and last get their block (MPICH).
    """
    nbytes, ranks = _checked(nbytes, ranks)
    folded, halvings = _is_folded(ranks), _floor_log2(ranks)
    latency, bandwidth = _two_numbers(link)
    moved = 1 - 0.5**halvings + folded * (1 + 1 / ranks)
    return (halvings + 2 * folded) * latency + moved * nbytes / bandwidth


# ---- broadcast and reduce ------------------------------------------------------------------------


def binomial_broadcast(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Everyone who has the buffer sends it on: ceil(log2 p) steps of nbytes."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(_ceil_log2(ranks), nbytes, link)


def scatter_all_gather_broadcast(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Scatter by a binomial tree, then all-gather round a ring (van de Geijn): 2(p - 1)/p of nbytes."""
    return binomial_scatter(nbytes, ranks, link) + ring_all_gather(nbytes, ranks, link)


def chain_broadcast(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """A chain of ranks, cut into the best number c of chunks: (p - 2 + c) steps of nbytes/c; c >= 1 is real.

    >>> nic = Link(0, 50e9, source="chapter 05")
    >>> round(chain_broadcast(16e9, 64, nic), 2)  # s
    0.32
    """
    nbytes, ranks = _checked(nbytes, ranks)
    return _pipelined(nbytes, ranks - 2, 1, link)


def binomial_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """A binomial broadcast run backwards: ceil(log2 p) steps of nbytes."""
    return binomial_broadcast(nbytes, ranks, link)


def reduce_scatter_gather_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Recursive halving, then a binomial gather: 2 log2(p) steps, 2(p - 1)/p of nbytes; other p fold in."""
    nbytes, ranks = _checked(nbytes, ranks)
    folded, halvings = _is_folded(ranks), _floor_log2(ranks)
    latency, bandwidth = _two_numbers(link)
    moved = 2 * (1 - 0.5**halvings) + folded
    return (2 * halvings + folded) * latency + moved * nbytes / bandwidth


def chain_reduce(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """A pipelined chain towards the root; costs what ``chain_broadcast`` does."""
    return chain_broadcast(nbytes, ranks, link)


# ---- all-to-all, gather, scatter: nbytes is the total --------------------------------------------


def pairwise_all_to_all(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """One partner after another: p - 1 steps of nbytes/p, as NCCL's grouped send and receive."""
    return ring_all_gather(nbytes, ranks, link)


def bruck_all_to_all(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Few large steps for small buffers: ceil(log2 p) steps of nbytes/2 (at most, for other p)."""
    nbytes, ranks = _checked(nbytes, ranks)
    return _steps(_ceil_log2(ranks), nbytes / 2, link)


def binomial_scatter(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """Halve what is passed on at each level of a binomial tree: ceil(log2 p) steps, (p - 1)/p of nbytes."""
    return bruck_all_gather(nbytes, ranks, link)


def binomial_gather(nbytes: Bytes, ranks: Ranks, link: AnyLink) -> Seconds:
    """A binomial scatter run backwards."""
    return binomial_scatter(nbytes, ranks, link)


SEND_RECV = {"direct": send_recv}
ALL_REDUCE = {
    "ring": ring_all_reduce,
    "recursive doubling": recursive_doubling_all_reduce,
    "Rabenseifner": rabenseifner_all_reduce,
    "tree": tree_all_reduce,
    "double binary tree": double_tree_all_reduce,
    "direct": direct_all_reduce,
    "in-switch": in_switch_all_reduce,
}
ALL_GATHER = {"ring": ring_all_gather, "Bruck": bruck_all_gather}
REDUCE_SCATTER = {
    "ring": ring_reduce_scatter,
    "recursive halving": recursive_halving_reduce_scatter,
}
BROADCAST = {
    "binomial": binomial_broadcast,
    "scatter + all-gather": scatter_all_gather_broadcast,
    "chain": chain_broadcast,
}
REDUCE = {
    "binomial": binomial_reduce,
    "reduce-scatter + gather": reduce_scatter_gather_reduce,
    "chain": chain_reduce,
}
ALL_TO_ALL = {"pairwise": pairwise_all_to_all, "Bruck": bruck_all_to_all}
GATHER, SCATTER = {"binomial": binomial_gather}, {"binomial": binomial_scatter}


# ---- what an operation moves, and how nccl-tests turns its time into a bandwidth -----------------


def bus_factor(op: str, ranks: Ranks) -> float | np.ndarray:
    """busbw over algbw, as nccl-tests defines it: 2(p - 1)/p for all-reduce; ValueError for an unknown op.

    >>> bus_factor("all_reduce", 8), bus_factor("broadcast", 8)
    (1.75, 1.0)
    """
    _, ranks = _checked(0, ranks)
    if op not in _BUS_FACTOR:
        raise ValueError(f"op must be one of {', '.join(_BUS_FACTOR)}; got {op!r}")
    return _BUS_FACTOR[op](ranks)


def bytes_sent(op: str, nbytes: Bytes, ranks: Ranks) -> Bytes:
    """Bytes that each rank must send at least, without reduction in the switch: bus_factor × nbytes.

    For broadcast and reduce it is what a rank inside the chain sends; with one rank nothing is sent.
    """
    nbytes, ranks = _checked(nbytes, ranks)
    return bus_factor(op, ranks) * nbytes * _many(ranks)


def algbw(nbytes: Bytes, seconds: Seconds) -> BytesPerSecond:
    """Size over time; what the application feels."""
    return checked_nbytes(nbytes) / _positive(seconds)


def busbw(op: str, nbytes: Bytes, ranks: Ranks, seconds: Seconds) -> BytesPerSecond:
    """The one-way rate at which a ring would have to drive each link to be this fast (nccl-tests).

    >>> round(busbw("all_reduce", 2**30, 8, 4000.82e-6) / 1e9, 2)  # GB/s; the log prints 469.67
    469.67
    """
    return algbw(nbytes, seconds) * bus_factor(op, ranks)


def _all_but_one(ranks: Ranks) -> float | np.ndarray:
    return (ranks - 1) / ranks


def _one(ranks: Ranks) -> float | np.ndarray:
    return 0 * ranks + 1.0


_BUS_FACTOR = {
    "all_reduce": lambda ranks: 2 * _all_but_one(ranks),
    "all_gather": _all_but_one,
    "reduce_scatter": _all_but_one,
    "all_to_all": _all_but_one,
    "gather": _all_but_one,
    "scatter": _all_but_one,
    "broadcast": _one,
    "reduce": _one,
    "send_recv": _one,
}


# ---- arithmetic shared by the costs above --------------------------------------------------------


def _steps(count: Ranks, nbytes: Bytes, link: AnyLink) -> Seconds:
    """``count`` messages of ``nbytes``, one after another."""
    return count * link.time(nbytes)


def _pipelined(nbytes: Bytes, fill: Ranks, rounds: int, link: AnyLink) -> Seconds:
    """(fill + rounds·c) messages of nbytes/c, with the c >= 1 that makes it least."""
    latency, bandwidth = _two_numbers(link)
    transfer = nbytes / bandwidth
    waiting = (fill > 0) * fill
    one_chunk = (fill + rounds) * (latency + transfer)
    best = fill * latency + rounds * transfer + 2 * (waiting * rounds * latency * transfer) ** 0.5
    worth_cutting = waiting * transfer > rounds * latency
    if isinstance(worth_cutting, (bool, np.bool_)):
        return best if worth_cutting else one_chunk
    return np.where(worth_cutting, best, one_chunk)


def _two_numbers(link: AnyLink) -> tuple[float, float]:
    """Latency and bandwidth; ValueError for a link that takes more numbers to describe."""
    if isinstance(link, PiecewiseLink):
        raise ValueError(f"this cost needs one latency and one bandwidth: fit_link gives them; got {link!r}")
    return link.time(0), link.bandwidth


def _many(ranks: Ranks) -> float | np.ndarray:
    """0 for one rank, which has nobody to send to, else 1."""
    return (ranks > 1) * 1.0


def _ceil_log2(ranks: Ranks) -> Ranks:
    return (ranks - 1).bit_length() if isinstance(ranks, int) else np.frexp(ranks - 1)[1]


def _floor_log2(ranks: Ranks) -> Ranks:
    return ranks.bit_length() - 1 if isinstance(ranks, int) else np.frexp(ranks)[1] - 1


def _is_folded(ranks: Ranks) -> Ranks:
    """1 where ranks is no power of two, so that some ranks fold into a partner first."""
    return _ceil_log2(ranks) - _floor_log2(ranks)


def _checked(nbytes: Bytes, ranks: Ranks, what: str = "ranks") -> tuple[Bytes, Ranks]:
    """Both as numbers or arrays; ValueError shows what is negative, below one, or no whole number."""
    nbytes = checked_nbytes(nbytes)
    if isinstance(ranks, int):
        if ranks >= 1:
            return nbytes, ranks
        raise ValueError(f"{what} must be 1 or more; got {ranks!r}")
    counts = np.asarray(ranks)
    if counts.dtype.kind not in "iuf" or not (counts == np.rint(counts)).all():
        raise ValueError(f"{what} must be whole numbers; got {ranks!r}")
    if counts.size and not (counts.min() >= 1 and counts.max() < 2**53):
        wrong = counts.min() if counts.min() < 1 else counts.max()
        raise ValueError(f"{what} must be 1 or more, and finite; got {wrong!s}")
    return nbytes, counts.astype(np.int64)


def _positive(seconds: Seconds) -> Seconds:
    times = np.asarray(seconds)
    if times.dtype.kind not in "iuf" or not ((times > 0) & (times < np.inf)).all():
        raise ValueError(f"seconds must be finite and above 0; got {seconds!r}")
    return times if times.ndim else seconds
