"""Figure functions on data: ``*, ax=None`` in, Axes out; a second call with the same axes updates it.

Nothing here computes a model. Axis labels carry units. Log axes have fixed ticks with labels of our own
and no minor ticks: laying out matplotlib's default ones takes most of a redraw.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container

from interconnect_lab.plots.drawing import COLOURS, DASHES, MARKERS, XY, Point, drawing_on, drawn, round_up
from interconnect_lab.units import Bytes, Seconds

__all__ = [
    "COLOURS",
    "DASHES",
    "MARKERS",
    "XY",
    "Point",
    "bandwidth_vs_size",
    "frame",
    "gpu_grid",
    "moving",
    "race",
    "rate_bars",
    "residuals_vs_size",
    "shares_vs_ranks",
    "stacked_bars",
    "table",
    "time_vs_size",
]

TEXT = {
    "bandwidth": "bandwidth (GB/s, one way)",
    "residual": "model over measured − 1 (%)",
    "arrived": "arrived (share of the message, %)",
    "busy": "working",
    "idle": "waiting",
    "gpus": "GPUs",
}

MOST_RESIDUAL = 200  # percent; a model cannot be more than 100 % too fast, but any amount too slow


def time_vs_size(
    nbytes: Bytes,
    curves: Mapping[str, Seconds],
    *,
    points: Mapping[str, XY] | None = None,
    marks: Mapping[str, XY] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Log-log lines of time against message size; ``points`` are measured, ``marks`` are named in place."""
    with drawing_on(ax) as drawing:
        drawing.lines({label: (nbytes, seconds) for label, seconds in curves.items()})
        drawing.scatter(points or {})
        drawing.marks(marks or {})
        drawing.size_axis()
        drawing.time_axis()
    return drawing.ax


def bandwidth_vs_size(
    nbytes: Bytes,
    curves: Mapping[str, Sequence[float]],
    *,
    points: Mapping[str, XY] | None = None,
    marks: Mapping[str, XY] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Lines of bandwidth (bytes/s) against message size, the size on a log axis."""

    def scaled(series: Mapping[str, XY]) -> dict[str, XY]:
        return {label: (x, np.asarray(y) / 1e9) for label, (x, y) in series.items()}

    with drawing_on(ax) as drawing:
        drawing.lines(scaled({label: (nbytes, rate) for label, rate in curves.items()}))
        drawing.scatter(scaled(points or {}))
        drawing.marks(scaled(marks or {}))
        drawing.size_axis()
        drawing.linear_axis(drawing.ax.yaxis, TEXT["bandwidth"], (0, None))
    return drawing.ax


def residuals_vs_size(residuals: Mapping[str, XY], *, ax: Axes | None = None) -> Axes:
    """Relative errors (0.1 = the model is 10 % slow) against message size, around a zero line.

    What is above +200 % is drawn there; the table keeps its number.
    """
    percent = {label: (np.ravel(x), 100 * np.ravel(y)) for label, (x, y) in residuals.items()}
    with drawing_on(ax) as drawing:
        shown = {label: (x, np.minimum(y, MOST_RESIDUAL)) for label, (x, y) in percent.items()}
        drawing.scatter(shown, joined=True)
        drawing.rule(0)
        drawing.size_axis()
        worst = max((abs(point.y) for point in drawing.points if math.isfinite(point.y)), default=0)
        limit = next((step for step in (25, 50, 100) if worst <= 0.95 * step), 1.04 * MOST_RESIDUAL)
        drawing.linear_axis(drawing.ax.yaxis, TEXT["residual"], (-min(limit, 104), limit))
        real = [(label, *pair) for label, (x, y) in percent.items() for pair in zip(x, y, strict=True)]
        drawing.tell([Point(TEXT["residual"], label, float(x), float(y)) for label, x, y in real])
    return drawing.ax


def stacked_bars(rows: Mapping[str, Mapping[str, float]], *, label: str, ax: Axes | None = None) -> Axes:
    """Horizontal bars, one a row from the top, each of parts with one colour and hatch throughout."""
    with drawing_on(ax) as drawing:
        drawing.bars(rows)
        drawing.row_axis(list(rows))
        longest = max((sum(parts.values()) for parts in rows.values()), default=1)
        drawing.linear_axis(drawing.ax.xaxis, label, (0, round_up(longest)))
    return drawing.ax


def rate_bars(
    rates: Mapping[str, Mapping[str, float]],
    *,
    label: str | None = None,
    apart: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """Rates (bytes/s) on a log axis: a row a link, a marker a kind of rate, ``apart`` rows below the last."""
    label = label or TEXT["bandwidth"]
    with drawing_on(ax) as drawing:
        kinds = list(dict.fromkeys(kind for row in rates.values() for kind in row))
        for k, kind in enumerate(kinds):
            shift = apart * (k - (len(kinds) - 1) / 2)
            rows = [(i + shift, row[kind]) for i, row in enumerate(rates.values()) if kind in row]
            drawing.scatter({kind: ([rate / 1e9 for _, rate in rows], [i for i, _ in rows])})
        drawing.tell(
            [
                Point(label, kind, name, rate / 1e9)
                for name, row in rates.items()
                for kind, rate in row.items()
            ]
        )
        drawing.row_axis(list(rates))
        drawing.rate_axis(label)
    return drawing.ax


def race(progress: Mapping[str, XY], *, ax: Axes | None = None) -> Axes:
    """How much of a message has arrived (share, 0 to 1) against time in seconds, a line for each link."""
    with drawing_on(ax) as drawing:
        drawing.lines({label: (t, 100 * np.asarray(share)) for label, (t, share) in progress.items()})
        drawing.linear_time_axis()
        drawing.linear_axis(drawing.ax.yaxis, TEXT["arrived"], (0, 104))
    return drawing.ax


def shares_vs_ranks(
    ranks: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    label: str,
    points: Mapping[str, XY] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Lines of a share (0 to 1, shown in %) against GPUs on a log axis; ``points`` are other systems."""
    with drawing_on(ax) as drawing:
        drawing.lines({name: (ranks, 100 * np.asarray(y)) for name, y in curves.items()})
        shares = {name: (x, 100 * np.asarray(y)) for name, (x, y) in (points or {}).items()}
        drawing.scatter(shares, joined=True, after=len(curves))
        drawing.count_axis(drawing.ax.xaxis, TEXT["gpus"])
        drawing.linear_axis(drawing.ax.yaxis, label, (0, 104))
    return drawing.ax


def gpu_grid(idle: float, gpus: int, *, ax: Axes | None = None) -> Axes:
    """One square a GPU, as many grey as the time that all of them wait would keep idle."""
    with drawing_on(ax) as drawing:
        columns = max(1, math.ceil(math.sqrt(gpus)))
        spot = np.arange(gpus)
        x, y = spot % columns, -(spot // columns)
        busy = spot < round(gpus - idle)
        drawing.squares({TEXT["busy"]: (x[busy], y[busy]), TEXT["idle"]: (x[~busy], y[~busy])}, columns)
        drawing.tell([Point(TEXT["gpus"], TEXT["idle"], gpus, float(idle))])
    return drawing.ax


def table(axes: Axes | Iterable[Axes]) -> list[Point]:
    """The numbers last drawn: (panel, series, x, y), in the units of the axis labels."""
    panels = [axes] if isinstance(axes, Axes) else list(axes)
    return [point for ax in panels for point in drawn(ax).points]


def moving(axes: Axes | Iterable[Axes]) -> list[Artist]:
    """What a next call may move, from back to front: lines, points, bars and the names of marks."""
    panels = [axes] if isinstance(axes, Axes) else list(axes)
    kept = [artist for ax in panels for _, artist in sorted(drawn(ax).artists.items())]
    flat = [part for artist in kept for part in (artist if isinstance(artist, Container) else [artist])]
    return sorted(flat, key=lambda artist: artist.get_zorder())


def frame(ax: Axes) -> tuple:
    """What the rest looks like: two equal frames differ in nothing but what ``moving`` draws."""
    return drawn(ax).frame()
