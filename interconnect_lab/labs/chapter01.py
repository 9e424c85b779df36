"""Labs of chapter 01: a message's time against its size, a fit by hand, and a reader's own log."""

from __future__ import annotations

from functools import cache

import ipywidgets as widgets
import numpy as np

from interconnect_lab import plots, specs
from interconnect_lab.labs.controls import choice, round_values, slider, switch
from interconnect_lab.labs.lab import Lab
from interconnect_lab.labs.log_fit import MOST_TABLES, FittedLog, example_log, fitted_log, nearest, shortened
from interconnect_lab.links import Fit, Link, PiecewiseLink, fit_link, fit_piecewise
from interconnect_lab.units import GBps, KiB, fmt_bytes, fmt_rate, fmt_time, us

TEXT = {
    "latency": "latency α",
    "bandwidth": "bandwidth B, one way",
    "size": "message size",
    "compare": "compare with",
    "alone": "no other link",
    "double": "double the bandwidth",
    "halve": "half the latency",
    "this link": "this link",
    "half size": "n½",
    "both": "{half}, {size}",
    "line double": "2 × bandwidth",
    "line halve": "½ × latency",
    "sweep reading": "{size} takes {time}, of which {share} is latency; it moves at {rate}. "
    "At n½ = α · B = {half}, latency is half of the time.",
    "compared": "With {other} it takes {time}: {gain} times faster, of 2 at most.",
    "machine": "measured machine",
    "your latency": "your α",
    "your bandwidth": "your B",
    "show best": "show the best two numbers",
    "show lines": "show up to three joined lines",
    "measured": "measured",
    "your line": "your line",
    "best fit": "best α and B",
    "lines": "joined lines",
    "fit reading": "Your line, {latency} and {bandwidth}, is off by {mean} on average, by {worst} at worst, "
    "at {size}. The best two numbers are off by {best_mean} and {best_worst}, at {best_size}.",
    "best numbers": "They are {latency} and {bandwidth}: n½ = {half}.",
    "line numbers": "Joined lines with {count} numbers are off by {mean} and {worst}, at {size}.",
    "from": "Measured: {source}.",
    "log": "your log",
    "table": "table in the log",
    "model": "model",
    "two": "two numbers, α and B",
    "three": "up to three joined lines",
    "nearest": "show the nearest published machine",
    "your log": "your log",
    "the fit": "fit",
    "nearest machine": "nearest published",
    "log reading": "Table {table} of {tables:,}, {what}: α = {latency}, B = {bandwidth}, n½ = {half}. "
    "The median error is {median}, the worst {worst} at {size}.",
    "what": "{collective} of {ranks} ranks",
    "what, one rank": "{collective} of 1 rank",
    "what, ranks unknown": "{collective}",
    "unnamed": "unnamed collective",
    "nearest reading": "Nearest published: {machine} ({source}). "
    "At the median of {overlap} shared sizes yours is {speed}.",
    "slower": "{factor} times slower",
    "faster": "{factor} times faster",
    "as fast": "as fast",
    "no nearest": "No published curve of this collective shares three sizes with it.",
}

LATENCIES_US = round_values(1, 1000, (1, 1.5, 2, 3, 4, 5, 7))
BANDWIDTHS_GBPS = round_values(0.1, 1000, (1, 1.5, 2, 3, 4, 5, 7))
E24 = (1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.4, 2.7, 3)  # steps of about a tenth: any fit is near one
E24 += (3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1)
NEAR = 3  # two marks whose sizes are within this factor share one name
SIZES = 2.0 ** np.arange(6, 33.5, 0.5)  # 64 B to 8 GiB: three steps beyond the largest message
MARGINS = {"left": 0.115, "right": 0.97, "bottom": 0.145, "top": 0.84, "wspace": 0.42}

# Published all-reduce curves, from V100 to GB200, on one node and on several.
CURVES = {
    "8 × V100 · NVLink 2": "v100x8_sxm2_5coll/all_reduce",
    "8 × A100 · NVLink 3": "aic_a100_sxm_nccl2.27.3/all_reduce/8",
    "8 × H100 · NVLink 4": "aic_h100_sxm_nccl2.29.2/all_reduce/8",
    "8 × B200 · NVLink 5": "aic_b200_sxm_nccl2.29.2/all_reduce/8",
    "4 × GB200 · NVLink 5": "aic_gb200_nccl2.29.2/all_reduce/4",
    "8 × MI300X · Infinity Fabric": "mi300x_x8",
    "8 × L40S · PCIe 4": "aic_l40s_nccl2.27.3/all_reduce/8",
    "8 × RTX 4090 · PCIe": "rtx4090x8_epyc_5coll/all_reduce",
    "16 × V100, 2 nodes · RoCE": "v100x16_dgx1_2n_deepops",
    "16 × A100, 2 nodes · InfiniBand HDR": "a100x16_dgx_2n_deepops",
    "8 × A100, 2 nodes · TCP": "a100x4_polaris_n2_nccl2.18_cfg1/all_reduce",
    "2,160 × A100, 540 nodes · Slingshot": "a100x4_polaris_n540_nccl2.21_cfg5/all_reduce",
    "2 × H200, 2 nodes · one NIC each": "h200x2_1nic_2n",
    "16 × H100, 2 nodes · InfiniBand NDR": "h100x16_ndr_2n",
    "16 × H100, 2 nodes · EFA": "h100x16_efa_2n",
    "32 × H100, 4 nodes · InfiniBand NDR": "h100x32_ndr_4n",
    "16 × MI300X, 2 nodes · RoCE": "mi300x_x16_roce_2n",
    "128 × GB200, 2 racks · RoCE": "gb200x128_oci_2racks",
}


def size_sweep() -> Lab:
    """Lab 01.1: how does a message's time grow with its size, and where does bandwidth begin to count?"""

    def draw(axes, latency_us: float, bandwidth_GBps: float, nbytes: float, compare: str) -> str:
        link = Link(latency_us * us, bandwidth_GBps * GBps, source="sliders")
        links = {TEXT["this link"]: link} | _other(link, compare)
        _draw_sizes(axes, links, nbytes)
        return " ".join([_sweep_reading(link, nbytes), *_gain(links, nbytes, compare)])

    return Lab(
        draw,
        columns=(1, 1),
        margins=MARGINS,
        latency_us=slider(TEXT["latency"], LATENCIES_US, 4, lambda value: fmt_time(value * us)),
        bandwidth_GBps=slider(TEXT["bandwidth"], BANDWIDTHS_GBPS, 50, lambda value: fmt_rate(value * GBps)),
        nbytes=slider(TEXT["size"], [2.0**k for k in range(6, 31)], 64.0 * KiB, fmt_bytes),
        compare=choice(TEXT["compare"], [(TEXT[name], name) for name in ("double", "halve", "alone")]),
    )


def _other(link: Link, compare: str) -> dict[str, Link]:
    latency, bandwidth = {"double": (1, 2), "halve": (0.5, 1)}.get(compare, (0, 0))
    if not bandwidth:
        return {}
    other = Link(latency * link.latency, bandwidth * link.bandwidth, source=link.source)
    return {TEXT[f"line {compare}"]: other}


def _draw_sizes(axes, links: dict[str, Link], nbytes: float) -> None:
    link = links[TEXT["this link"]]
    named = _marked_sizes(nbytes, link.half_size)
    for ax, plot, quantity in (
        (axes[0], plots.time_vs_size, Link.time),
        (axes[1], plots.bandwidth_vs_size, Link.effective_bandwidth),
    ):
        curves = {label: quantity(other, SIZES) for label, other in links.items()}
        marks = {label: (sizes, quantity(link, sizes)) for label, sizes in named.items()}
        plot(SIZES, curves, marks=marks, ax=ax)


def _marked_sizes(nbytes: float, half: float) -> dict[str, np.ndarray]:
    """The sizes that are marked, by name; the upper one first, since its name stands above it."""
    name, both = fmt_bytes(nbytes), np.array(sorted((nbytes, half), reverse=True))
    if both[0] <= NEAR * both[1]:
        return {TEXT["both"].format(half=TEXT["half size"], size=name): both}
    named = {name: np.array([nbytes]), TEXT["half size"]: np.array([half])}
    return dict(sorted(named.items(), key=lambda item: -item[1][0]))


def _sweep_reading(link: Link, nbytes: float) -> str:
    time = link.time(nbytes)
    return TEXT["sweep reading"].format(
        size=fmt_bytes(nbytes),
        time=fmt_time(time),
        share=_percent(link.latency / time),
        rate=fmt_rate(link.effective_bandwidth(nbytes)),
        half=fmt_bytes(link.half_size),
    )


def _gain(links: dict[str, Link], nbytes: float, compare: str) -> list[str]:
    """How much the compared link gains, as a list of one sentence, or of none without a compared link."""
    if len(links) == 1:
        return []
    before, after = (link.time(nbytes) for link in links.values())
    gain = f"{before / after:.3g}"
    return [TEXT["compared"].format(other=TEXT[compare], time=fmt_time(after), gain=gain)]


def fit_by_hand() -> Lab:
    """Lab 01.2: which two numbers describe a real machine, and at which sizes do two not suffice?"""

    def draw(axes, machine: str, latency_us: float, bandwidth_GBps: float, **show: bool) -> str:
        curve, (two, three) = specs.sweep(machine), _fits(machine)
        link = Link(latency_us * us, bandwidth_GBps * GBps, source="sliders")
        hand = Fit(link, curve.nbytes, curve.seconds)
        fits, said = {TEXT["your line"]: hand}, [_hand_reading(hand, two)]
        if show["best"]:
            fits[TEXT["best fit"]] = two
            said.append(TEXT["best numbers"].format(**_link(two.link)))
        if show["lines"]:
            fits[TEXT["lines"]] = three
            said.append(TEXT["line numbers"].format(count=three.link.parameters, **_errors(three)))
        _draw_fits(axes, {TEXT["measured"]: (curve.nbytes, curve.seconds)}, fits)
        return " ".join([*said, TEXT["from"].format(source=_address(curve))])

    return Lab(
        draw,
        columns=(1, 1),
        margins=MARGINS,
        size=(7.4, 3.7),
        more=("best", "lines"),
        machine=choice(TEXT["machine"], CURVES.items(), CURVES["8 × H100 · NVLink 4"]),
        latency_us=slider(
            TEXT["your latency"], round_values(1, 1000, E24), 5.6, lambda value: fmt_time(value * us)
        ),
        bandwidth_GBps=slider(
            TEXT["your bandwidth"], round_values(0.1, 1000, E24), 470, lambda value: fmt_rate(value * GBps)
        ),
        best=switch(TEXT["show best"]),
        lines=switch(TEXT["show lines"]),
    )


@cache
def _fits(machine: str) -> tuple[Fit, Fit]:
    """The best two numbers and the best joined lines of a published curve."""
    curve = specs.sweep(machine)
    return fit_link(curve.nbytes, curve.seconds), fit_piecewise(curve.nbytes, curve.seconds)


def _draw_fits(axes, points: dict[str, plots.XY], fits: dict[str, Fit]) -> None:
    sizes = _dense(np.concatenate([fit.nbytes for fit in fits.values()])) if fits else np.array([])
    lines = {label: fit.link.time(sizes) for label, fit in fits.items()}
    plots.time_vs_size(sizes, lines, points=points, ax=axes[0])
    plots.residuals_vs_size({label: (fit.nbytes, fit.residuals) for label, fit in fits.items()}, ax=axes[1])


def _dense(nbytes: np.ndarray) -> np.ndarray:
    """Sizes for a smooth line, from the smallest measured one to the largest."""
    return np.geomspace(nbytes.min(), nbytes.max(), 60)


def _hand_reading(hand: Fit, two: Fit) -> str:
    best = {f"best_{name}": text for name, text in _errors(two).items()}
    return TEXT["fit reading"].format(**_link(hand.link), **_errors(hand), **best)


def _link(link: Link | PiecewiseLink) -> dict[str, str]:
    return {
        "latency": fmt_time(link.latency),
        "bandwidth": fmt_rate(link.bandwidth),
        "half": fmt_bytes(link.half_size),
    }


def _errors(fit: Fit) -> dict[str, str]:
    worst = fit.residuals[np.argmax(np.abs(fit.residuals))]
    return {
        "mean": _percent(fit.mean_error),
        "median": _percent(fit.median_error),
        "worst": _percent(worst, "+"),
        "size": fmt_bytes(fit.worst_size),
    }


def _percent(share: float, sign: str = "") -> str:
    """Whole percents from 10 % on, one decimal below."""
    return f"{100 * share:{sign},.{0 if abs(share) >= 0.0995 else 1}f} %".replace("-", "−")


def _address(curve: specs.Sweep) -> str:
    return curve.source.url.split()[0].rstrip(",")


def your_log() -> Lab:
    """Lab 01.3: what are α, B and n½ of your own machine, and which published one is it like?"""

    def draw(axes, text: str, table: int, model: str, beside: bool) -> str:
        text, cut = shortened(text)
        try:
            found = fitted_log(text, table, model)
        except ValueError as problem:
            _show(axes, False)
            _draw_fits(axes, {}, {})
            return " ".join([str(problem), *cut])
        _show(axes, True)
        points = {TEXT["your log"]: (found.fit.nbytes, found.fit.seconds)}
        said = [_log_reading(found, table)]
        if beside:
            near = nearest(found)
            points |= _nearest_points(found, near)
            said.append(_nearest_reading(found, near))
        _draw_fits(axes, points, {TEXT["the fit"]: found.fit})
        return " ".join([*said, *found.remarks, *cut])

    return Lab(
        draw,
        columns=(1, 1),
        margins=MARGINS,
        size=(7.4, 3.7),
        text=widgets.Textarea(
            value=example_log(), description=TEXT["log"], layout={"width": "100%", "height": "150px"}
        ),
        table=choice(TEXT["table"], range(1, MOST_TABLES + 1)),
        model=choice(TEXT["model"], [(TEXT[name], name) for name in ("two", "three")]),
        beside=switch(TEXT["nearest"], True),
    )


def _show(axes, shown: bool) -> None:
    """Leave the picture white where there is nothing to show."""
    for ax in axes:
        ax.set_visible(shown)


def _nearest_points(found: FittedLog, near: specs.Nearest | None) -> dict[str, plots.XY]:
    """The published curve over the sizes of the log."""
    if near is None:
        return {}
    nbytes, seconds = near.sweep.nbytes, near.sweep.seconds
    inside = (nbytes >= found.fit.nbytes.min()) & (nbytes <= found.fit.nbytes.max())
    return {TEXT["nearest machine"]: (nbytes[inside], seconds[inside])}


def _log_reading(found: FittedLog, table: int) -> str:
    collective = (found.collective or TEXT["unnamed"]).replace("_", "-")
    what = TEXT[{None: "what, ranks unknown", 1: "what, one rank"}.get(found.ranks, "what")]
    return TEXT["log reading"].format(
        table=table,
        tables=found.tables,
        what=what.format(collective=collective, ranks=found.ranks),
        **_link(found.fit.link),
        **_errors(found.fit),
    )


def _nearest_reading(found: FittedLog, near: specs.Nearest | None) -> str:
    if near is None:
        return TEXT["no nearest"]
    nbytes, curve = found.fit.nbytes, near.sweep
    inside = (nbytes >= curve.nbytes[0]) & (nbytes <= curve.nbytes[-1])
    ratio = float(np.exp(np.median(np.log(found.fit.seconds[inside] / curve.time(nbytes[inside])))))
    factor = f"{max(ratio, 1 / ratio):,.3g}"
    speed = TEXT["as fast" if factor == "1" else "slower" if ratio > 1 else "faster"].format(factor=factor)
    return TEXT["nearest reading"].format(
        machine=curve.label, source=_address(curve), speed=speed, overlap=near.overlap
    )
