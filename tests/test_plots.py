import gc
import weakref

import numpy as np
import pytest
from matplotlib.figure import Figure

from interconnect_lab import plots

SIZES = 2.0 ** np.arange(3, 31)
RATE = plots.TEXT["bandwidth"]


@pytest.fixture
def ax():
    return Figure(figsize=(6, 3.5)).subplots()


CALLS = {
    "time_vs_size": lambda ax: plots.time_vs_size(
        SIZES, {"a": SIZES / 1e9 + 1e-6}, points={"b": ([64.0], [2e-6])}, marks={"c": (64, 2e-6)}, ax=ax
    ),
    "bandwidth_vs_size": lambda ax: plots.bandwidth_vs_size(SIZES, {"a": SIZES * 10}, ax=ax),
    "residuals_vs_size": lambda ax: plots.residuals_vs_size({"a": (SIZES, SIZES * 0 + 0.1)}, ax=ax),
    "stacked_bars": lambda ax: plots.stacked_bars(
        {"x": {"a": 1.0, "b": 2.0}, "y": {"a": 3.0}}, label="time (ms)", ax=ax
    ),
    "rate_bars": lambda ax: plots.rate_bars({"x": {"a": 1e9, "b": 2e9}, "y": {"a": 5e9}}, ax=ax),
    "race": lambda ax: plots.race({"a": ([0, 1e-3], [0, 1])}, ax=ax),
    "shares_vs_ranks": lambda ax: plots.shares_vs_ranks(
        [8, 64, 512], {"a": [1, 0.9, 0.8]}, label="efficiency (%)", points={"b": ([8], [1])}, ax=ax
    ),
    "gpu_grid": lambda ax: plots.gpu_grid(28.2, 64, ax=ax),
}
every_figure = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@every_figure
def test_a_second_call_updates_the_same_artists(call, ax):
    assert call(ax) is ax
    before = ax.get_children()
    call(ax)
    assert ax.get_children() == before


@every_figure
def test_axes_are_labelled_with_units_and_the_legend_names_what_is_drawn(call, ax):
    call(ax)
    table = plots.table(ax)
    assert table
    assert all(point.panel for point in table)
    if ax.axison:
        assert ax.get_xlabel() or ax.get_ylabel()
    legend = {text.get_text() for text in ax.get_legend().get_texts()}
    assert legend <= {point.series for point in table} | {plots.TEXT["busy"], plots.TEXT["idle"]}


@every_figure
def test_without_axes_a_figure_of_its_own_is_made(call):
    own = call(None)
    assert own.figure.get_size_inches().tolist() == [6.4, 3.6]


def test_what_is_no_longer_drawn_is_removed(ax):
    plots.time_vs_size(SIZES, {"a": SIZES / 1e9, "b": SIZES / 2e9}, ax=ax)
    plots.time_vs_size(SIZES, {"b": SIZES / 2e9}, ax=ax)
    assert len(ax.lines) == 1
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["b"]


def test_sizes_and_times_are_read_off_the_axes_as_people_say_them(ax):
    plots.time_vs_size(SIZES, {"a": SIZES / 1e9 + 1e-6}, ax=ax)
    ax.figure.canvas.draw()
    sizes = [label.get_text() for label in ax.get_xticklabels()]
    times = [label.get_text() for label in ax.get_yticklabels()]
    assert sizes == ["32 B", "1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"]
    assert times == ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]
    assert not ax.xaxis.get_minorticklocs().size
    assert not ax.yaxis.get_minorticklocs().size


def test_the_table_holds_the_plotted_numbers_in_the_units_of_the_axes(ax):
    plots.bandwidth_vs_size([64.0], {"cable": [50e9]}, ax=ax)
    assert plots.table(ax) == [plots.Point(RATE, "cable", 64.0, 50.0)]
    plots.rate_bars({"NVLink 4": {"one way": 450e9}}, ax=Figure().subplots())
    figure = Figure()
    panels = figure.subplots(1, 2)
    plots.race({"a": ([0, 1], [0, 1])}, ax=panels[0])
    plots.gpu_grid(3, 8, ax=panels[1])
    assert [point.series for point in plots.table(panels)] == ["a", "a", plots.TEXT["idle"]]


def test_a_residual_beyond_the_panel_is_drawn_at_its_edge_and_told_as_it_is(ax):
    plots.residuals_vs_size({"absurd": ([8, 64], [25.0, -0.9])}, ax=ax)
    assert ax.lines[0].get_ydata().tolist() == [plots.MOST_RESIDUAL, -90]
    assert [point.y for point in plots.table(ax)] == [2500, -90]
    assert ax.get_ylim() == (-104, 1.04 * plots.MOST_RESIDUAL)


def test_an_axis_of_sizes_has_four_ticks_or_more(ax):
    for first, last in ((32 * 2**20, 2**34), (8, 2**34), (2**20, 2**24)):
        plots.time_vs_size([first, last], {"a": [1e-6, 1e-3]}, ax=ax)
        assert 4 <= len(ax.get_xticks()) <= 9


def test_links_of_one_speed_still_have_an_axis_to_read(ax):
    plots.rate_bars({"only": {"one way": 25e9}}, ax=ax)
    assert len(ax.get_xticks()) >= 2


def test_a_part_that_is_nowhere_is_not_in_the_legend(ax):
    plots.stacked_bars({"x": {"a": 1.0, "none": 0.0}}, label="time (ms)", ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a"]


def test_bars_stand_end_to_end(ax):
    CALLS["stacked_bars"](ax)
    ends = [(patch.get_x(), patch.get_width()) for patch in ax.patches]
    assert ends == [(0, 1), (0, 3), (1, 2), (3, 0)]


def test_as_many_squares_are_grey_as_gpus_are_idle(ax):
    plots.gpu_grid(28.2, 64, ax=ax)
    assert [line.get_xdata().size for line in ax.lines] == [36, 28]


def test_a_figure_that_is_dropped_is_freed():
    figure = Figure()
    plots.time_vs_size(SIZES, {"a": SIZES / 1e9}, ax=figure.subplots())
    gone = weakref.ref(figure)
    del figure
    gc.collect()
    assert gone() is None


def test_one_axes_may_go_from_a_log_to_a_linear_figure(ax):
    plots.time_vs_size(SIZES, {"a": SIZES / 1e9}, ax=ax)
    plots.race({"a": ([0, 1e-3], [0, 1])}, ax=ax)
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    plots.time_vs_size(SIZES, {"a": SIZES / 1e9}, ax=ax)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


@pytest.mark.parametrize(
    "call",
    [
        lambda ax: plots.rate_bars({}, ax=ax),
        lambda ax: plots.race({}, ax=ax),
        lambda ax: plots.stacked_bars({}, label="time (ms)", ax=ax),
        lambda ax: plots.bandwidth_vs_size(SIZES, {"a": SIZES * np.nan}, ax=ax),
        lambda ax: plots.residuals_vs_size({"a": (SIZES, SIZES * np.inf)}, ax=ax),
        lambda ax: plots.gpu_grid(0, 0, ax=ax),
        lambda ax: plots.shares_vs_ranks([], {"a": []}, label="efficiency (%)", ax=ax),
    ],
)
def test_a_figure_of_nothing_is_an_empty_figure(call, ax):
    call(ax).figure.canvas.draw()
    assert all(np.isfinite(ax.get_xlim())) and all(np.isfinite(ax.get_ylim()))


def test_every_series_has_a_second_cue_beside_its_colour(ax):
    plots.time_vs_size(SIZES, {name: SIZES for name in "abcdefghijkl"}, ax=ax)
    assert len({str(line._dash_pattern) for line in ax.lines}) == 7
    assert len({line.get_color() + str(line._dash_pattern) for line in ax.lines}) == 12
    assert len(set(plots.COLOURS)) == len(set(plots.MARKERS)) == 7


@pytest.mark.parametrize("curve", [{}, {"a": SIZES * np.nan}, {"a": SIZES * 0}])
def test_nothing_to_draw_draws_nothing(curve, ax):
    plots.time_vs_size(SIZES, curve, ax=ax)
    ax.figure.canvas.draw()
    assert len(ax.lines) == len(curve)
