"""What is drawn on one Axes, kept by key, so that a second call updates artists instead of making them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from interconnect_lab.units import fmt_bytes, fmt_time

TEXT = {"size": "message size", "time": "time"}

# Okabe and Ito's palette, told apart by people who are colour-blind; dash or marker is the second cue.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#8A6D00", "#333333")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xx", "--")
GREY = "#6A6A6A"
SIDE = 80  # of a grid of squares, in points


class Point(NamedTuple):
    panel: str
    series: str
    x: object
    y: float


XY = tuple[Sequence[float], Sequence[float]]


def drawing_on(ax: Axes | None) -> Drawing:
    """What was drawn on ``ax``, or on the axes of a new figure."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 3.6), dpi=100)
        ax.figure.subplots_adjust(left=0.13, right=0.97, bottom=0.16, top=0.86)
    return drawn(ax)


def drawn(ax: Axes) -> Drawing:
    """What was drawn on these axes; it is kept on them, and goes when they go."""
    if not hasattr(ax, "interconnect_lab_drawing"):
        ax.interconnect_lab_drawing = Drawing(ax)
    return ax.interconnect_lab_drawing


class Drawing:
    """The artists of one Axes by key: drawn once, updated after; what a call does not touch is removed."""

    def __init__(self, ax: Axes) -> None:
        self.ax, self.artists, self.points = ax, {}, []
        self._touched, self._handles, self._labels, self._ticks = set(), [], [], {}
        ax.tick_params(length=3, colors="#333333", labelsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(True, color="#E2E2E2", linewidth=0.8)
        ax.set_axisbelow(True)

    def __enter__(self) -> Drawing:
        self.points, self._touched, self._handles = [], set(), []
        return self

    def __exit__(self, *failure: object) -> None:
        for key in set(self.artists) - self._touched:
            self.artists.pop(key).remove()
        self._place_notes()
        self._legend()
        panel = self.ax.get_ylabel() or self.ax.get_xlabel()
        self.points = [point if point.panel else point._replace(panel=panel) for point in self.points]

    def frame(self) -> tuple:
        ax, labels = self.ax, tuple(label for _, label in self._handles)
        ticks = tuple((name, str(value)) for name, value in self._ticks.items())
        return ticks, labels, ax.get_xlim(), ax.get_ylim(), ax.get_xlabel(), ax.get_ylabel()

    def lines(self, series: Mapping[str, XY]) -> None:
        for i, (label, (x, y)) in enumerate(series.items()):
            style = {"color": COLOURS[i % 7], "linestyle": DASHES[(i + i // 7) % 7], "linewidth": 2}
            self._xy(f"line {i}", label, (x, y), style)

    def scatter(self, series: Mapping[str, XY], *, joined: bool = False, after: int = 0) -> None:
        first = after + sum(key.startswith("points") for key in self._touched)
        for i, (label, (x, y)) in enumerate(series.items(), start=first):
            style = {"marker": MARKERS[i % 7], "color": COLOURS[i % 7], "markersize": 5.5}
            style |= {"linestyle": ":" if joined else "none", "markeredgecolor": "white"}
            self._xy(f"points {i}", label, (x, y), style | {"linewidth": 1})

    def marks(self, series: Mapping[str, XY]) -> None:
        for i, (label, (x, y)) in enumerate(series.items()):
            style = {"marker": "o", "color": "black", "markersize": 8, "linestyle": "none"}
            self._xy(f"mark {i}", label, (x, y), style | {"markerfacecolor": "white"}, named=False)
            place = {"xytext": (8, 7), "textcoords": "offset points", "fontsize": 9}
            note = self._keep(f"note {i}", lambda place=place: self.ax.annotate("", (1, 1), **place))
            note.set_text(label)
            note.xy = (float(np.ravel(x)[0]), float(np.ravel(y)[0]))

    def rule(self, y: float) -> None:
        self._keep("rule", lambda: self.ax.axhline(y, color=GREY, linewidth=1))

    def bars(self, rows: Mapping[str, Mapping[str, float]]) -> None:
        parts = list(dict.fromkeys(part for row in rows.values() for part in row))
        left = np.zeros(len(rows))
        for i, part in enumerate(parts):
            width = np.array([row.get(part, 0.0) for row in rows.values()])
            style = {"color": COLOURS[i % 7], "hatch": HATCHES[i % 5], "edgecolor": "white", "linewidth": 0}
            patches = self._keep(
                f"bars {i} of {len(rows)}",
                lambda style=style: self.ax.barh(np.arange(len(rows)), 1, height=0.6, **style),
            )
            for patch, x, w in zip(patches, left, width, strict=True):
                patch.set_x(x)
                patch.set_width(w)
            left = left + width
            if width.any():
                self._handles.append((patches, part))
            self.points += [Point("", part, row, float(w)) for row, w in zip(rows, width, strict=True)]

    def squares(self, series: Mapping[str, XY], columns: int) -> None:
        for i, (label, (x, y)) in enumerate(series.items()):
            style = {"marker": "s", "linestyle": "none", "markersize": SIDE / columns}
            style |= {"color": COLOURS[0]} if i == 0 else {"color": "#D9D9D9", "markeredgecolor": GREY}
            self._xy(f"squares {i}", label, (x, y), style, told=False)
        if self._ticks.get("grid") != columns:
            self._ticks["grid"] = columns
            for i in range(len(series)):
                self.artists[f"squares {i}"].set_markersize(SIDE / columns)
            self.ax.set_axis_off()
            self.ax.set(xlim=(-0.8, columns - 0.2), ylim=(-columns + 0.2, 0.8), aspect="equal")

    def tell(self, points: list[Point]) -> None:
        """Replace what the table says by ``points``."""
        self.points = points

    # axes

    def size_axis(self) -> None:
        low, high = self._range(0)
        doublings = math.log2(1.7 * high / low)
        step = next(step for step in (5, 3, 2, 1) if doublings >= 4 * step or step == 1)
        ticks = [2.0**k for k in range(0, 46, step)]
        self._log(self.ax.xaxis, (low / 1.3, high * 1.3), ticks, fmt_bytes)
        self.ax.set_xlabel(TEXT["size"])

    def time_axis(self) -> None:
        low, high = self._range(1)
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        step = 1 if last - first <= 7 else 2
        ticks = [10.0**k for k in range(first, last + 1, step)]
        self._log(self.ax.yaxis, (10.0**first, 10.0 ** max(last, first + 1)), ticks, fmt_time)
        self.ax.set_ylabel(TEXT["time"])

    def rate_axis(self, label: str) -> None:
        low, high = self._range(1)
        wider = max(1.0, 4 * low / high) ** 0.5  # at least a factor of four, for links of one speed
        low, high = low / wider, high * wider
        steps = (1,) if high / low > 300 else (1, 2, 5)
        decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        ticks = [step * 10.0**k for k in decades for step in steps]
        self._log(self.ax.xaxis, (low / 1.6, high * 1.6), ticks, lambda tick: f"{tick:,.6g}")
        self.ax.set_xlabel(label)

    def count_axis(self, axis: Axis, label: str) -> None:
        low, high = self._range(0)
        ticks = [2.0**k for k in range(0, 21, 1 if high / low < 300 else 2)]
        self._log(axis, (low / 1.15, high * 1.15), ticks, lambda tick: f"{tick:,.0f}")
        axis.set_label_text(label)

    def linear_axis(self, axis: Axis, label: str, limits: tuple[float | None, float | None]) -> None:
        low, high = limits
        values = [point.y for point in self.points if math.isfinite(point.y)]
        self._scale(axis, "linear")
        high = round_up(max(values, default=1)) if high is None else high
        self._fixed(axis, (low, high or 1), round_ticks(low, high or 1), lambda tick: f"{tick:,.6g}")
        axis.set_label_text(label)

    def linear_time_axis(self) -> None:
        self._scale(self.ax.xaxis, "linear")
        last = round_up(max((float(point.x) for point in self.points if math.isfinite(point.x)), default=1))
        self._fixed(self.ax.xaxis, (0, last), round_ticks(0, last), fmt_time)
        self.ax.set_xlabel(TEXT["time"])

    def row_axis(self, names: list[str]) -> None:
        self._fixed(self.ax.yaxis, (len(names) - 0.4, -0.6), range(len(names)), names.__getitem__)
        self.ax.grid(False, axis="y")

    # shared

    def _xy(self, key: str, label: str, xy: XY, style: dict, **but: bool) -> None:
        """Draw or update; ``named=False`` keeps it out of the legend, ``told=False`` out of the table."""
        x, y = np.atleast_1d(np.asarray(xy[0], float)), np.atleast_1d(np.asarray(xy[1], float))
        line = self._keep(key, lambda: self.ax.plot([], [], **style)[0])
        line.set_data(x, y)
        if but.get("named", True):
            self._handles.append((line, label))
        if but.get("told", True):
            self.points += [Point("", label, *pair) for pair in zip(x.tolist(), y.tolist(), strict=True)]

    def _keep(self, key: str, make) -> Artist:
        self._touched.add(key)
        if key not in self.artists:
            self.artists[key] = make()
        return self.artists[key]

    def _place_notes(self) -> None:
        """Put the names of marks above and below in turn, inside the axes; above-left where times rise."""
        notes = [artist for key, artist in self.artists.items() if key.startswith("note")]
        to_axes = self.ax.transData - self.ax.transAxes
        places = [to_axes.transform(note.xy) for note in notes]
        low = len(places) > 1 and all(up < 0.15 for _, up in places)  # none can go below: side by side
        for i, (note, (across, up)) in enumerate(zip(notes, places, strict=True)):
            above = i % 2 == 0 or up < 0.1
            left = across > 0.8 or (i % 2 == 0 and across > 0.2 and self.ax.get_yscale() == "log")
            if low:
                left = across == min(x for x, _ in places)
            note.set_position((-8 if left else 8, 7 if above else -13))
            note.set_horizontalalignment("right" if left else "left")

    def _range(self, which: int) -> tuple[float, float]:
        values = [(point.x, point.y)[which] for point in self.points]
        values = [value for value in values if value > 0 and math.isfinite(value)]
        return (min(values), max(values)) if values else (1.0, 10.0)

    def _log(self, axis: Axis, limits: tuple[float, float], ticks, text) -> None:
        self._scale(axis, "log")
        self._fixed(axis, limits, [tick for tick in ticks if limits[0] <= tick <= limits[1]], text)

    def _scale(self, axis: Axis, scale: str) -> None:
        if axis.get_scale() != scale:
            getattr(self.ax, f"set_{axis.axis_name}scale")(scale)
            axis.set_minor_locator(NullLocator())
            self._ticks.pop(axis.axis_name, None)

    def _fixed(self, axis: Axis, limits: tuple[float, float], ticks, text) -> None:
        ticks = list(ticks)
        labels = [text(tick) for tick in ticks]
        if self._ticks.get(axis.axis_name) != (ticks, labels):
            self._ticks[axis.axis_name] = (ticks, labels)
            axis.set_major_locator(FixedLocator(ticks))
            axis.set_major_formatter(FixedFormatter(labels))
        getattr(self.ax, f"set_{axis.axis_name}lim")(*limits)

    def _legend(self) -> None:
        """Above the axes, where it covers no data; only its words change while its handles stay."""
        keys, labels = [id(handle) for handle, _ in self._handles], [label for _, label in self._handles]
        if self._labels and self._labels[0] == keys:
            for text, label in zip(self.ax.get_legend().get_texts(), labels, strict=True):
                text.set_text(label)
        elif legend := self.ax.get_legend():
            legend.remove()
        if labels and (not self._labels or self._labels[0] != keys):
            self.ax.legend(
                [handle for handle, _ in self._handles], labels, loc="lower left",
                bbox_to_anchor=(0, 1.0), ncols=2 if len(labels) > 1 else 1, frameon=False, fontsize=9,
                borderaxespad=0.2, columnspacing=1.2, handletextpad=0.5,
                handlelength=1.0 if "squares 0" in self._touched else 2.6,
            )  # fmt: skip
        self._labels = [keys] if labels else []


def round_up(highest: float) -> float:
    """A little beyond ``highest``, at half a tick, so that small moves leave the axis where it is."""
    step = round_ticks(0, highest or 1)[1] / 2
    return step * math.ceil(1.02 * highest / step) or 1.0


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """At most ``most`` ticks at 1, 2 or 5 times a power of ten."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [k * step for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
