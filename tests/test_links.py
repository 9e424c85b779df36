import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interconnect_lab.links import Link, PiecewiseLink, fit_link, fit_piecewise

SIZES = 2.0 ** np.arange(3, 31)
latencies = st.floats(min_value=1e-7, max_value=1e-3)
bandwidths = st.floats(min_value=1e8, max_value=1e12)


@given(latencies, bandwidths)
def test_half_of_the_time_is_latency_at_half_size(latency, bandwidth):
    link = Link(latency, bandwidth, source="made up")
    assert link.time(link.half_size) == pytest.approx(2 * latency)
    assert link.effective_bandwidth(link.half_size) == pytest.approx(bandwidth / 2)
    assert link.effective_bandwidth(9 * link.half_size) == pytest.approx(0.9 * bandwidth)


def test_a_design_page_example_reads_as_printed():
    """design.md: for 4 µs and 50 GB/s, 64 KiB takes 5.3 µs, of which 75 % is latency."""
    link = Link(4e-6, 50e9, source="design.md")
    assert link.time(65536) == pytest.approx(5.3e-6, rel=0.01)
    assert link.latency / link.time(65536) == pytest.approx(0.75, abs=0.005)


@given(latencies, bandwidths)
def test_arrays_and_scalars_agree(latency, bandwidth):
    link = Link(latency, bandwidth, source="made up")
    assert link.time(SIZES).tolist() == [link.time(size) for size in SIZES.tolist()]


@pytest.mark.parametrize(
    ("latency", "bandwidth", "shown"),
    [
        (-1e-6, 1e9, "-1e-06"),
        (float("nan"), 1e9, "nan"),
        (float("inf"), 1e9, "inf"),
        (None, 1e9, "None"),
        (1e-6, 0, "0"),
        (1e-6, float("inf"), "inf"),
        (1e-6, -5e9, "-5"),
        (1e-6, "50 GB/s", "50 GB/s"),
    ],
)
def test_an_impossible_link_is_refused_and_shown(latency, bandwidth, shown):
    with pytest.raises(ValueError, match=shown):
        Link(latency, bandwidth, source="made up")


def test_a_link_names_its_source():
    with pytest.raises(TypeError, match="source"):
        Link(1e-6, 1e9)


@pytest.mark.parametrize("source", ["", "  ", None, 5])
def test_a_source_is_text(source):
    with pytest.raises(ValueError, match="source must say"):
        Link(1e-6, 1e9, source=source)


@pytest.mark.parametrize("link", [Link(0, 1e9, source="x"), PiecewiseLink((0,), (0,), 1e9, source="x")])
def test_nothing_in_no_time_runs_at_the_full_rate(link):
    assert link.effective_bandwidth(0) == 1e9
    assert link.effective_bandwidth(np.array([0.0, 5.0])).tolist() == [1e9, 1e9]


@pytest.mark.parametrize(
    "nbytes", [-1, float("inf"), np.array([1, np.inf]), float("nan"), [1, -1], "64 KiB", np.array([np.nan])]
)
def test_an_impossible_size_is_refused(nbytes):
    with pytest.raises(ValueError, match="nbytes must be"):
        Link(1e-6, 1e9, source="made up").time(nbytes)


@given(latencies, bandwidths)
def test_a_fit_finds_the_link_that_made_the_points(latency, bandwidth):
    link = Link(latency, bandwidth, source="made up")
    sizes = link.half_size * np.geomspace(1e-3, 1e3, 20)
    fit = fit_link(sizes, link.time(sizes))
    assert fit.link.latency == pytest.approx(latency, rel=1e-4)
    assert fit.link.bandwidth == pytest.approx(bandwidth, rel=1e-4)
    assert fit.worst_error < 1e-4


def test_one_wild_point_does_not_bend_the_fit():
    link = Link(10e-6, 100e9, source="made up")
    seconds = link.time(SIZES)
    seconds[12] *= 18  # corpora show repeats up to 18.6 times slower (models.md §5.5)
    fit = fit_link(SIZES, seconds)
    assert fit.link.latency == pytest.approx(10e-6, rel=0.01)
    assert fit.link.bandwidth == pytest.approx(100e9, rel=0.01)
    assert fit.worst_size == SIZES[12]
    assert fit.worst_error == pytest.approx(17 / 18, rel=0.01)
    assert fit.median_error < 0.01 < fit.mean_error


def test_no_other_line_has_a_smaller_error():
    rng = np.random.default_rng(7)
    seconds = Link(20e-6, 40e9, source="made up").time(SIZES) * np.exp(rng.normal(0, 0.2, SIZES.size))
    fit = fit_link(SIZES, seconds)
    for latency, bandwidth in rng.uniform(0.7, 1.4, (500, 2)):
        other = Link(latency * fit.link.latency, bandwidth * fit.link.bandwidth, source="near")
        assert np.mean(np.abs(other.time(SIZES) / seconds - 1)) >= fit.mean_error * 0.999


def test_latency_never_comes_out_negative():
    sizes = np.array([1e6, 2e6, 4e6])
    fit = fit_link(sizes, np.array([1e-5, 3e-5, 8e-5]))
    assert fit.link.latency == 0


@pytest.mark.parametrize(
    ("sizes", "seconds", "said"),
    [
        ([1e6], [1e-3], "two different sizes"),
        ([1e6, 1e6], [1e-3, 2e-3], "two different sizes"),
        ([1e3, 1e6], [1e-3], "one time for each size"),
        ([1e3, 1e6], [1e-3, 0], "above 0 s; got 0.0 at 1000000.0 bytes"),
        ([1e3, 1e6], [1e-3, np.nan], "above 0 s"),
        ([-1e3, 1e6], [1e-3, 1e-2], "0 or more"),
        ([1e3, 1e6, 1e7], [2e-3, 1e-3, 1e-3], "add larger sizes"),
        ([8, 64, 512, 4096, 32768], [1e-5, 1e-5, 1e-5, 1e-5, 1e-5], "add larger sizes"),
    ],
)
@pytest.mark.parametrize("fit", [fit_link, fit_piecewise])
def test_points_that_say_nothing_are_refused(fit, sizes, seconds, said):
    with pytest.raises(ValueError, match=said):
        fit(sizes, seconds)


def test_a_piecewise_fit_finds_where_the_protocol_changed():
    true = PiecewiseLink((0, 2.0**15, 2.0**21), (6e-6, 9e-6, 60e-6), 200e9, source="made up")
    fit = fit_piecewise(SIZES, true.time(SIZES))
    assert fit.link.sizes == true.sizes
    assert fit.link.seconds == pytest.approx(true.seconds, rel=1e-3)
    assert fit.link.parameters == 6
    assert fit.worst_error < 1e-3 < fit_link(SIZES, true.time(SIZES)).worst_error


@pytest.mark.parametrize(("most", "used"), [(2, 2), (3, 2), (4, 4), (6, 6)])
def test_no_more_parameters_are_spent_than_allowed(most, used):
    rng = np.random.default_rng(3)
    seconds = Link(1e-5, 1e11, source="made up").time(SIZES) * np.exp(rng.normal(0, 0.1, SIZES.size))
    assert fit_piecewise(SIZES, seconds, max_parameters=most).link.parameters == used
    for wrong in (1, "6", None, 2.5):
        with pytest.raises(ValueError, match="max_parameters"):
            fit_piecewise(SIZES, seconds, max_parameters=wrong)


def test_many_parameters_are_tried_at_fewer_places_and_still_fit_well():
    rng = np.random.default_rng(3)
    seconds = Link(1e-5, 1e11, source="made up").time(SIZES) * np.exp(rng.normal(0, 0.1, SIZES.size))
    many = fit_piecewise(SIZES, seconds, max_parameters=100)
    assert many.link.parameters == 28
    assert many.mean_error < fit_piecewise(SIZES, seconds).mean_error


def test_more_parameters_never_fit_worse_on_noisy_points():
    rng = np.random.default_rng(5)
    seconds = Link(1e-5, 1e11, source="made up").time(SIZES) * np.exp(rng.normal(0, 0.1, SIZES.size))
    errors = [fit_piecewise(SIZES, seconds, most).mean_error for most in (2, 4, 6)]
    assert errors[2] <= errors[1] * 1.001 <= errors[0] * 1.002


@given(
    st.lists(st.floats(1e-6, 1e-3), min_size=1, max_size=4),
    st.floats(1e9, 1e12),
)
def test_a_piecewise_link_never_gets_faster_with_size_and_reaches_half_its_rate(steps, bandwidth):
    sizes = (0.0, *(2.0 ** (10 + 4 * i) for i in range(len(steps) - 1)))
    link = PiecewiseLink(sizes, tuple(np.cumsum(steps).tolist()), bandwidth, source="made up")
    assert (np.diff(link.time(SIZES)) >= 0).all()
    half = link.half_size
    assert link.effective_bandwidth(half) >= bandwidth / 2 * (1 - 1e-9)
    assert link.effective_bandwidth(half * 0.999) < bandwidth / 2
    assert link.latency == steps[0]


@pytest.mark.parametrize(
    ("sizes", "seconds", "said"),
    [
        ((1.0,), (1e-6,), "begin at 0"),
        ((0, 5, 5), (1e-6,) * 3, "rise"),
        ((0, 5), (2e-6, 1e-6), "never fall"),
        ((0, 5), (1e-6,), "one for each size"),
        ((0,), (-1e-6,), "never fall"),
    ],
)
def test_a_piecewise_link_that_cannot_be_is_refused(sizes, seconds, said):
    with pytest.raises(ValueError, match=said):
        PiecewiseLink(sizes, seconds, 1e9, source="made up")
