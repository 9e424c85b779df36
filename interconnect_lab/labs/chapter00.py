"""Labs of chapter 00: what a training step is made of, and what becomes of it as GPUs are added.

Their model is the smallest that works: each GPU holds the whole model and computes on its own part of the
batch; then one all-reduce sums the gradients. Latency is left out (chapter 01), so it holds for large models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from interconnect_lab import collectives, plots, specs
from interconnect_lab.labs.controls import choice, slider
from interconnect_lab.labs.lab import Lab
from interconnect_lab.links import Link
from interconnect_lab.units import (
    Bytes,
    BytesPerSecond,
    GBps,
    Gbps,
    GiB,
    Seconds,
    fmt_bytes,
    fmt_time,
    ms,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT = {
    "compute": "Compute",
    "compute on a node": "Compute on 8 GPUs",
    "parameters": "Parameters",
    "nics": "NICs a node",
    "overlap": "Overlap with backward",
    "bytes": "Bytes per gradient element",
    "gpus": "GPUs, 8 a node",
    "nic rate": "Rate of one NIC",
    "scaling": "Scaling",
    "weak": "weak: the batch grows with the GPUs",
    "strong": "strong: the batch stays",
    "billions": "{0:,g}·10⁹",
    "milliseconds": "{0:,g} ms",
    "percent": "{0:g} %",
    "Gb/s": "{0:g} Gb/s",
    "kinds of number": {1: "1 (fp8)", 2: "2 (bf16)", 4: "4 (fp32)"},
    "step": "time of one step ({unit})",
    "parts": ("compute", "both at once", "waiting"),
    "yours": "your cluster",
    "rich": "with eight NICs a node",
    "poor": "with one NIC a node",
    "through": {
        1: "one NIC a node",
        2: "two NICs a node",
        4: "four NICs a node",
        8: "eight NICs a node",
    },
    "one step": "{gradients} of gradients take {network} through {through}. {hiding} The step takes {step}, "
    "efficiency {efficiency:.1f} %: as if {idle:.1f} of {gpus:,} GPUs stood idle. The same job takes {rich} "
    "with eight NICs a node and {poor} with one.",
    "none hidden": "None of it hides behind the backward pass: the GPUs wait {waiting}.",
    "part hidden": "Of that {hidden} hide behind the backward pass, and for {waiting} the GPUs wait.",
    "all hidden": "All of it hides behind the backward pass: the GPUs do not wait.",
    "row": "{gpus:,} GPUs",
    "speed": "speed of each GPU (% of the first)",
    "model": "model",
    "adding weak": "Weak scaling, {through}: from {first:,} to {last:,} GPUs the step {change}; each GPU "
    "keeps {kept:.1f} % of its speed. {published}",
    "adding strong": "Strong scaling, {through}: {times:,.0f} times as many GPUs {change}; each GPU keeps "
    "{kept:.1f} % of its speed. The all-reduce alone takes {network}. {published}",
    "weak longer": "grows from {before} to {after}",
    "weak same": "stays at {after}",
    "strong longer": "make the step longer, {before} → {after}",
    "strong same": "leave the step at {after}",
    "strong shorter": "cut the step from {before} to {after}, {gain:.1f} times",
    "published": "Published: {kept}.",
    "kept": "{family} {share:.1f} % ({first:,} to {last:,} GPUs)",
    "measured": "{ranks} GPUs, {nodes} nodes, {size}: measured {seconds}, model {model}, {error:+.1f} %",
}

GPUS_PER_NODE = 8
NIC_RATE = 400 * Gbps  # one way
BACKWARD = 2 / 3  # of compute: two matrix products a layer, where the forward pass has one
LONG_STEP = 10.0  # seconds
LARGE = 2 * GiB  # the size of the running example's gradients, as published runs measured it
MANY_GPUS = tuple(2**k for k in range(3, 15))
SHOWN_GPUS = (8, 16, 64, 256, 1024)


@dataclass(frozen=True)
class Step:
    """One training step, in seconds: ``compute``, and network time ``hidden`` behind it or ``waiting``."""

    compute: Seconds
    hidden: Seconds
    waiting: Seconds

    @property
    def time(self) -> Seconds:
        """Seconds from the start of one step to the start of the next."""
        return self.compute + self.waiting

    @property
    def efficiency(self) -> float:
        """The share of the step in which the GPUs compute.

        >>> round(Step(compute=0.1, hidden=0, waiting=0.03).efficiency, 3)
        0.769
        """
        return self.compute / self.time

    def idle(self, gpus: int) -> float:
        """How many of ``gpus`` would stand idle if the waiting of all were gathered on a few."""
        return gpus * (1 - self.efficiency)

    @property
    def parts(self) -> dict[str, float]:
        """The step in milliseconds, as a bar shows it: first to last these add up to ``time``."""
        alone, both, waiting = TEXT["parts"]
        compute = self.compute - self.hidden
        return {alone: compute / ms, both: self.hidden / ms, waiting: self.waiting / ms}


def gradient_bytes(parameters: float, bytes_per_element: float = 2) -> Bytes:
    """Bytes of gradients on each GPU: one number a parameter, of 2 bytes in bf16 and 4 in fp32."""
    return parameters * bytes_per_element


def network_rate(gpus: int, nics: int, nic_rate: BytesPerSecond = NIC_RATE) -> BytesPerSecond:
    """The rate, one way, at which gradients leave a node: its NICs share the work, up to what was measured.

    ``nics`` are those of one node, ``nic_rate`` is that of one. No published run with 400 Gb/s NICs does
    better at ten nodes than the ceiling, so faster NICs do not raise it here. GPUs of one node need no NIC.

    >>> network_rate(64, 1) / 1e9, network_rate(64, 8) / 1e9
    (50.0, 340.0)
    """
    if gpus <= GPUS_PER_NODE:
        return measured_rate("h100x8_1n")
    return min(nics * nic_rate, measured_rate("h100x80_10n_g8"))


@cache
def measured_rate(name: str) -> BytesPerSecond:
    """The rate of the published all-reduce ``name`` at 2 GiB, to two digits: sites differ by more.

    Rate is what a ring has to drive through its slowest place: 2(p - 1)/p of the bytes over the time.
    """
    curve = specs.sweep(name, op="all_reduce")
    rate = collectives.busbw("all_reduce", LARGE, curve.ranks, curve.time(LARGE))
    return round(rate / GBps, -1) * GBps


def all_reduce_time(nbytes: Bytes, gpus: int, nics: int, nic_rate: BytesPerSecond = NIC_RATE) -> Seconds:
    """Seconds until each of ``gpus`` holds the sum of all gradients: 2(p - 1)/p of ``nbytes`` over the rate.

    >>> [round(all_reduce_time(2e9, 64, nics) * 1e3, 2) for nics in (8, 1)]  # ms
    [11.58, 78.75]
    """
    network = Link(0, network_rate(gpus, nics, nic_rate), source="NICs of a node, published ceiling")
    return collectives.ring_all_reduce(nbytes, gpus, network)


def step(compute: Seconds, network: Seconds, overlap: float = 0) -> Step:
    """The step of ``compute`` and ``network`` seconds; ``overlap`` is the share of backward that can hide.

    Only the backward pass, two thirds of ``compute``, can hide: before it there are no gradients.

    >>> round(step(0.1, 0.07875, overlap=1).waiting * 1e3, 1)  # ms
    12.1
    """
    hidden = min(network, overlap * BACKWARD * compute)
    return Step(compute, hidden, network - hidden)


def one_step() -> Lab:
    """Lab 00.1: how much of a step do GPUs compute, and how much do they wait?"""

    def draw(axes, *, compute_ms, billions, nics, overlap, bytes_per_element, gpus, nic_Gbps) -> str:
        gradients = gradient_bytes(billions * 1e9, bytes_per_element)

        def with_nics(count: int) -> Step:
            network = all_reduce_time(gradients, gpus, count, nic_Gbps * Gbps)
            return step(compute_ms * ms, network, overlap / 100)

        mine, rich, poor = with_nics(nics), with_nics(8), with_nics(1)
        _bars({TEXT["yours"]: mine, TEXT["rich"]: rich, TEXT["poor"]: poor}, axes[0])
        plots.gpu_grid(mine.idle(gpus), gpus, ax=axes[1])
        return TEXT["one step"].format(
            gradients=fmt_bytes(gradients), through=TEXT["through"][nics], gpus=gpus, idle=mine.idle(gpus),
            network=fmt_time(mine.hidden + mine.waiting), hiding=_hiding(mine), step=fmt_time(mine.time, 4),
            efficiency=100 * mine.efficiency, rich=fmt_time(rich.time, 4), poor=fmt_time(poor.time, 4),
        )  # fmt: skip

    return Lab(
        draw,
        size=(7.6, 3.4),
        columns=(2.5, 1),
        margins={"left": 0.215, "wspace": 0.2},
        more=("bytes_per_element", "gpus", "nic_Gbps"),
        compute_ms=_milliseconds("compute", (10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000)),
        billions=_billions(),
        nics=choice(TEXT["nics"], (1, 2, 4, 8), 4),
        overlap=_overlap(),
        bytes_per_element=choice(
            TEXT["bytes"], [(name, size) for size, name in TEXT["kinds of number"].items()], 2
        ),
        gpus=slider(TEXT["gpus"], (16, 32, 64, 128, 256, 512), 64),
        nic_Gbps=slider(TEXT["nic rate"], (100, 200, 400, 800), 400, TEXT["Gb/s"].format),
    )


def adding_gpus() -> Lab:
    """Lab 00.2: where does the step's time go as GPUs are added?"""

    def draw(axes, *, scaling, compute_ms, nics, overlap, billions) -> str:
        gradients = gradient_bytes(billions * 1e9)

        def on(gpus: int) -> Step:
            share = GPUS_PER_NODE / gpus if scaling == "strong" else 1
            return step(compute_ms * ms * share, all_reduce_time(gradients, gpus, nics), overlap / 100)

        steps = {gpus: on(gpus) for gpus in MANY_GPUS}
        _bars({TEXT["row"].format(gpus=gpus): steps[gpus] for gpus in SHOWN_GPUS}, axes[0])
        kept = [steps[gpus].efficiency / steps[GPUS_PER_NODE].efficiency for gpus in MANY_GPUS]
        points = published_speeds(scaling)
        short = {family.removeprefix("GPT "): xy for family, xy in points.items()}  # legends are narrow
        plots.shares_vs_ranks(MANY_GPUS, {TEXT["model"]: kept}, label=TEXT["speed"], points=short, ax=axes[1])
        first, last = (steps[gpus] for gpus in (SHOWN_GPUS[0], SHOWN_GPUS[-1]))
        return TEXT[f"adding {scaling}"].format(
            through=TEXT["through"][nics], first=SHOWN_GPUS[0], last=SHOWN_GPUS[-1],
            times=SHOWN_GPUS[-1] / SHOWN_GPUS[0], change=_change(scaling, first.time, last.time),
            kept=100 * last.efficiency / first.efficiency, network=fmt_time(last.hidden + last.waiting),
            published=_published(points),
        )  # fmt: skip

    return Lab(
        draw,
        size=(7.6, 3.5),
        columns=(1, 1.25),
        margins={"left": 0.125, "right": 0.955, "wspace": 0.3, "bottom": 0.14, "top": 0.84},
        more=("overlap", "billions"),
        scaling=choice(TEXT["scaling"], [(TEXT[name], name) for name in ("weak", "strong")], "weak"),
        compute_ms=_milliseconds(
            "compute on a node", (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
        ),
        nics=choice(TEXT["nics"], (1, 2, 4, 8), 8),
        overlap=_overlap(),
        billions=_billions(),
    )


@cache
def published_speeds(scaling: str) -> dict[str, plots.XY]:
    """GPUs and speed of one GPU, as a share of the smallest run's, for each published family."""
    families = specs.training_runs(scaling)
    return {
        family: ([run.gpus for run in runs], specs.relative_speed(runs)) for family, runs in families.items()
    }


def model_beside_measured(name: str, nics: int, nbytes: Bytes = LARGE) -> str:
    """One line: the published all-reduce ``name`` beside the model with ``nics`` NICs a node."""
    curve = specs.sweep(name, op="all_reduce")
    seconds, model = curve.time(nbytes), all_reduce_time(nbytes, curve.ranks, nics)
    return TEXT["measured"].format(
        ranks=curve.ranks, nodes=curve.nodes, size=fmt_bytes(nbytes),
        seconds=fmt_time(seconds), model=fmt_time(model), error=100 * (model / seconds - 1),
    )  # fmt: skip


def _bars(steps: dict[str, Step], ax: Axes) -> None:
    """Draw a bar for each step, in seconds from 10 s on: longer tick labels would run together."""
    long = max(one.time for one in steps.values()) >= LONG_STEP
    unit, scale = ("s", ms) if long else ("ms", 1)
    bars = {name: {part: scale * y for part, y in one.parts.items()} for name, one in steps.items()}
    plots.stacked_bars(bars, label=TEXT["step"].format(unit=unit), ax=ax)


def _hiding(one: Step) -> str:
    share = "none" if not one.hidden else "part" if one.waiting else "all"
    return TEXT[f"{share} hidden"].format(hidden=fmt_time(one.hidden), waiting=fmt_time(one.waiting))


def _change(scaling: str, first: Seconds, last: Seconds) -> str:
    """What becomes of the step, in words: times that print alike count as the same."""
    before, after = fmt_time(first, 4), fmt_time(last, 4)
    change = "same" if before == after else "longer" if last > first else "shorter"
    return TEXT[f"{scaling} {change}"].format(before=before, after=after, gain=first / last)


def _published(points: dict[str, plots.XY]) -> str:
    kept = [
        TEXT["kept"].format(family=family, share=100 * speed[-1], first=gpus[0], last=gpus[-1])
        for family, (gpus, speed) in points.items()
    ]
    return TEXT["published"].format(kept="; ".join(kept))


def _milliseconds(name: str, values: tuple[float, ...]):
    return slider(TEXT[name], values, 100, TEXT["milliseconds"].format)


def _billions():
    values = (0.1, 0.2, 0.5, 1, 2, 3, 7, 8, 13, 34, 70)
    return slider(TEXT["parameters"], values, 1, TEXT["billions"].format)


def _overlap():
    return slider(TEXT["overlap"], range(0, 101, 10), 0, TEXT["percent"].format)
