"""A figure as PNG that draws only what changed: axes with their labels cost most of a redraw."""

from __future__ import annotations

import io
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave
from matplotlib.transforms import Bbox

from interconnect_lab import plots

LEFT_LABEL = 26  # pixels by which a left panel's last tick label may reach into the gap between two


class Picture:
    """The panels of ``figure``, side by side, drawn by ``plots`` and by nothing else.

    Each panel keeps a copy of its frame (ticks, labels, legend), which is drawn again only when
    ``plots.frame`` says that it changed; lines and points are drawn over the copies each time.
    """

    def __init__(self, figure: Figure, panels: list[Axes]) -> None:
        self.figure, self.panels = figure, panels
        self._canvas = FigureCanvasAgg(figure)
        self._regions = _regions(figure, panels)
        self._frames: list[tuple | None] = [None] * len(panels)
        renderer = self._canvas.get_renderer()
        renderer.clear()
        figure.patch.draw(renderer)
        self._blank = [self._canvas.copy_from_bbox(region) for region in self._regions]
        self._copies = list(self._blank)

    def png(self) -> bytes:
        """The picture as it is now."""
        moving = plots.moving([ax for ax in self.panels if ax.get_visible()])
        for artist in moving:
            artist.set_animated(True)  # so that drawing a panel leaves it out
        for i, ax in enumerate(self.panels):
            self._draw_frame(i, plots.frame(ax))
        for copy in self._copies:
            self._canvas.restore_region(copy)
        for artist in moving:
            artist.axes.draw_artist(artist)
        out = io.BytesIO()
        imsave(out, np.asarray(self._canvas.buffer_rgba()), format="png", pil_kwargs={"compress_level": 1})
        return out.getvalue()

    def svg(self) -> str:
        """The picture as SVG text."""
        out = io.StringIO()
        self.figure.savefig(out, format="svg", metadata={"Date": None})
        return out.getvalue()

    def _draw_frame(self, i: int, frame: tuple) -> None:
        if frame != self._frames[i]:
            self._canvas.restore_region(self._blank[i])
            self.panels[i].draw(self._canvas.get_renderer())
            self._frames[i], self._copies[i] = frame, self._canvas.copy_from_bbox(self._regions[i])


def _regions(figure: Figure, panels: list[Axes]) -> list[Bbox]:
    """Full-height strips, one a panel, in pixels."""
    width, height = figure.bbox.size
    places = [ax.get_position(original=True) for ax in panels]
    gaps = [(width * left.x1, width * (right.x0 - left.x1)) for left, right in pairwise(places)]
    edges = [0, *(round(start + min(LEFT_LABEL, gap / 2)) for start, gap in gaps), width]
    return [Bbox.from_extents(a, 0, b, height) for a, b in pairwise(edges)]
