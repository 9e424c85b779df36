"""Chapter 01: the numbers that it teaches, and what its labs say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from interconnect_lab import exercises, labs, readers, specs
from interconnect_lab.labs import chapter01, log_fit
from interconnect_lab.labs.controls import round_values
from interconnect_lab.links import Fit, Link, fit_link, fit_piecewise
from interconnect_lab.units import GBps, Gbps, KiB, MiB, us

NOTEBOOK = Path(__file__).resolve().parent.parent / "notebooks" / "01_latency_and_bandwidth.ipynb"
H100 = "aic_h100_sxm_nccl2.29.2/all_reduce/8"
FOUR = (
    "v100x8_sxm2_5coll/all_reduce",
    "aic_a100_sxm_nccl2.27.3/all_reduce/8",
    H100,
    "a100x16_dgx_2n_deepops",
)
POLARIS = "a100x4_polaris_n540_nccl2.21_cfg5/all_reduce"
LINK = Link(5 * us, 50 * GBps, source="chapters.md 01")
FASTER = Link(5 * us, 100 * GBps, source="chapters.md 01")

HEAD = log_fit.EXAMPLE_HEAD.format(ranks=8)
ROW = "{0:12d} {1:10d} float sum -1 {2:.2f} 1.00 1.75 0 {2:.2f} 1.00 1.75 0\n"
REPORT = '{{"version": 1, "results": [{}'


def rows(times: dict[int, float]) -> str:
    return "".join(ROW.format(nbytes, nbytes // 4, time) for nbytes, time in times.items())


def said(text: str, **values: object) -> str:
    return labs.your_log().set(text=text, **values).reading


# ---- the numbers of the chapter ----------------------------------------------------------------------------


def test_256_times_the_data_takes_1_23_times_as_long():
    # chapters.md 01, reveal: 15.6 -> 19.15 µs, 1.23 times
    run = specs.sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce", ranks=8)
    assert run.name == H100
    assert run.time(1 * KiB) == pytest.approx(15.6e-6)
    assert run.time(256 * KiB) == pytest.approx(19.15e-6)
    assert run.time(256 * KiB) / run.time(1 * KiB) == pytest.approx(1.23, abs=0.005)


def test_double_the_bandwidth_gains_little_on_small_messages():
    # chapters.md 01, misconception: 64 KiB gains 1.12, 100 MiB 1.995
    assert LINK.time(64 * KiB) / FASTER.time(64 * KiB) == pytest.approx(1.12, abs=0.005)
    assert LINK.time(100 * MiB) / FASTER.time(100 * MiB) == pytest.approx(1.995, abs=0.0005)


def test_the_half_speed_size_and_the_size_for_90_percent():
    # chapters.md 01, exercises: 250 kB; 9 · n½ = 2.25 MB
    assert Link(5 * us, 400 * Gbps, source="test").half_size == pytest.approx(250e3)
    assert LINK.effective_bandwidth(2.25e6) == pytest.approx(0.9 * LINK.bandwidth)


def test_a_thousand_small_messages_against_a_large_one():
    # chapters.md 01, exercises: 5.08 ms against 85 µs, 59.8 times
    assert 1000 * LINK.time(4e3) == pytest.approx(5.08e-3)
    assert LINK.time(4e6) == pytest.approx(85e-6)
    assert 1000 * LINK.time(4e3) / LINK.time(4e6) == pytest.approx(59.8, abs=0.05)


def test_two_points_give_both_numbers():
    # chapters.md 01, exercises: B = 50 GB/s, α = 5 µs
    link = fit_link([1e6, 101e6], [25e-6, 2.025e-3]).link
    assert (link.latency, link.bandwidth) == pytest.approx((5e-6, 50e9))


def test_on_four_machines_two_numbers_are_worst_where_the_software_changes():
    # chapters.md 01: median error about 12 %, worst between 64 KiB and 8 MiB
    curves = [specs.sweep(name) for name in FOUR]
    fits = [fit_link(curve.nbytes, curve.seconds) for curve in curves]
    assert np.mean([fit.median_error for fit in fits]) == pytest.approx(0.12, abs=0.005)
    assert [fit.worst_size for fit in fits] == [512 * KiB, 8 * MiB, 8 * MiB, 512 * KiB]
    three = [fit_piecewise(curve.nbytes, curve.seconds) for curve in curves]
    assert max(fit.median_error for fit in three) < 0.033
    assert max(fit.worst_error for fit in three) < 0.145
    joints = [size for fit in three for size in fit.link.sizes[1:]]
    assert (min(joints), max(joints)) == (4 * KiB, 16 * MiB)


def test_four_machines_swing_alike():
    """Too long at small sizes, too short in the middle, at the largest size right or too long."""
    fits = [fit_of(name) for name in FOUR]
    assert max(fit.residuals[fit.nbytes < 4 * KiB].max() for fit in fits) == pytest.approx(0.22, abs=0.005)
    assert all(fit.residuals[(fit.nbytes >= MiB) & (fit.nbytes <= 8 * MiB)].max() < 0 for fit in fits)
    largest = [fit.residuals[-1] for fit in fits]
    assert (min(largest), max(largest)) == pytest.approx((0, 0.17), abs=0.005)


def test_how_far_off_two_numbers_can_be():
    means = [fit_link(curve.nbytes, curve.seconds).mean_error for curve in specs.sweeps(min_sizes=20)]
    assert (np.median(means), max(means)) == pytest.approx((0.13, 0.42), abs=0.005)
    lab = {name: fit_of(name) for name in chapter01.CURVES.values()}
    assert max(lab, key=lambda name: lab[name].mean_error) == POLARIS
    assert lab[POLARIS].mean_error == pytest.approx(0.33, abs=0.005)
    assert max(times_the_line(fit_of(name)) for name in FOUR) == pytest.approx(2.9, abs=0.05)
    assert times_the_line(lab[POLARIS]) == pytest.approx(6.1, abs=0.05)
    assert lab[POLARIS].worst_size == 4 * MiB


def times_the_line(fit: Fit) -> float:
    """The most that a real time exceeds the line's, from 64 KiB to 8 MiB."""
    return float(1 / (1 + fit.residuals[(fit.nbytes >= 64 * KiB) & (fit.nbytes <= 8 * MiB)].min()))


def fit_of(name: str) -> Fit:
    curve = specs.sweep(name)
    return fit_link(curve.nbytes, curve.seconds)


def test_eight_l40s_are_slower_than_two():
    # models.md 5.4: collapse through the host path
    two, eight = (fit_of(f"aic_l40s_nccl2.27.3/all_reduce/{ranks}").link.bandwidth for ranks in (2, 8))
    assert (two / GBps, eight / GBps) == pytest.approx((20, 0.83), rel=0.01)


def test_a_thousand_messages_measured_elsewhere_take_3_25_times_as_long():
    # models.md 5.4, "Other points": 8 H200, from ml-engineering network/README.md @744d01e
    [rates] = re.findall(r"ran at ([\d,]+) Gb/s .* at ([\d,]+) Gb/s .*, 3\.25 times", sources("markdown"))
    one, thousand = (float(rate.replace(",", "")) for rate in rates)
    assert one / thousand == pytest.approx(3.25, abs=0.005)


def test_numbers_in_the_prose_that_no_cell_prints():
    assert 25 * MiB / LINK.half_size == pytest.approx(105, abs=0.5)
    fits = [fit_of(name).link for name in ("h100x16_ndr_2n", POLARIS)]
    assert [fit.half_size for fit in fits] == pytest.approx([7.71e6, 3.40e6], rel=0.005)
    assert [fit.latency for fit in fits] == pytest.approx([32.1e-6, 255e-6], rel=0.005)
    assert fits[1].bandwidth == pytest.approx(13.4e9, rel=0.005)


# ---- lab 01.1 ----------------------------------------------------------------------------------------------


def test_size_sweep_says_what_course_md_promises():
    # course.md: for a link of 4 µs and 50 GB/s "64 KiB takes 5.3 µs, of which 75 % is latency"
    assert labs.size_sweep().reading == (
        "64 KiB takes 5.31 µs, of which 75 % is latency; it moves at 12.3 GB/s. At n½ = α · B = 200 kB, "
        "latency is half of the time. With double the bandwidth it takes 4.66 µs: 1.14 times faster, "
        "of 2 at most."
    )


def test_size_sweep_compares_and_answers_the_prompts_of_the_notebook():
    lab = labs.size_sweep().set(latency_us=5, bandwidth_GBps=50)
    assert "n½ = α · B = 250 kB" in lab.reading
    assert "5.66 µs: 1.12 times" in lab.reading
    assert "3.81 µs: 1.66 times" in lab.set(compare="halve").reading
    assert "1.32 times" in lab.set(nbytes=256.0 * KiB).reading
    assert "1.34 times" in lab.set(compare="double").reading
    assert lab.set(compare="alone").reading.endswith("latency is half of the time.")
    assert "500 kB" in lab.set(bandwidth_GBps=100).reading


@pytest.mark.parametrize("latency_us", [1, 1000])
@pytest.mark.parametrize("bandwidth_GBps", [0.1, 1000])
def test_size_sweep_marks_the_half_speed_size_inside_its_axes(latency_us, bandwidth_GBps):
    lab = labs.size_sweep().set(latency_us=latency_us, bandwidth_GBps=bandwidth_GBps)
    link = Link(latency_us * us, bandwidth_GBps * GBps, source="test")
    marks = [p for p in lab.table if p.panel == "time" and p.series.startswith("n½")]
    [mark] = [p for p in marks if p.x == pytest.approx(link.half_size)]
    assert mark.y == pytest.approx(2 * link.latency)
    assert chapter01.SIZES[0] <= mark.x <= chapter01.SIZES[-1]


def test_size_sweep_names_two_marks_that_are_near_as_one():
    lab = labs.size_sweep().set(latency_us=1, bandwidth_GBps=0.1, nbytes=64.0)
    assert [(p.series, p.x) for p in lab.table if p.panel == "time" and "n½" in p.series] == [
        ("n½, 64 B", pytest.approx(100)),
        ("n½, 64 B", 64),
    ]
    lab.set(nbytes=1024.0)
    assert {"n½", "1 KiB"} <= {point.series for point in lab.table}


# ---- lab 01.2 ----------------------------------------------------------------------------------------------


def test_fit_by_hand_offers_curves_with_20_sizes_from_v100_to_gb200_on_one_node_and_several():
    curves = {label: specs.sweep(name) for label, name in chapter01.CURVES.items()}
    assert len(curves) >= 12
    assert all(curve.nbytes.size >= 20 and curve.op == "all_reduce" for curve in curves.values())
    assert all(label.startswith(f"{curve.ranks:,} × ") for label, curve in curves.items())
    assert all(("nodes" in label or "racks" in label) == (curve.nodes > 1) for label, curve in curves.items())
    for gpu in ("V100", "A100", "H100", "B200", "GB200"):
        assert any(gpu in label and gpu in curve.gpu for label, curve in curves.items())


@pytest.mark.parametrize("name", chapter01.CURVES.values())
def test_the_sliders_reach_the_best_fit_of_every_machine(name):
    """Within one percentage point of the least mean error."""
    curve = specs.sweep(name)
    best = fit_link(curve.nbytes, curve.seconds)
    near = [
        Fit(Link(latency * us, rate * GBps, source="test"), curve.nbytes, curve.seconds).mean_error
        for latency in round_values(1, 1000, chapter01.E24)
        for rate in round_values(0.1, 1000, chapter01.E24)
        if 0.8 < latency * us / best.link.latency < 1.25 and 0.8 < rate * GBps / best.link.bandwidth < 1.25
    ]
    assert best.mean_error <= min(near) <= best.mean_error + 0.01


def test_fit_by_hand_sets_your_error_beside_the_best_one():
    lab = labs.fit_by_hand()
    assert lab.reading == (
        "Your line, 5.6 µs and 470 GB/s, is off by 64 % on average, by −74 % at worst, at 2 MiB. "
        "The best two numbers are off by 12 % and −29 %, at 8 MiB. "
        "Measured: https://github.com/ai-dynamo/aiconfigurator."
    )
    assert "off by 12 % on average, by −29 % at worst" in lab.set(latency_us=18, bandwidth_GBps=220).reading


def test_fit_by_hand_shows_the_best_fits_when_asked():
    lab = labs.fit_by_hand().set(best=True, lines=True)
    assert "They are 17.9 µs and 219 GB/s: n½ = 3.92 MB." in lab.reading
    assert "Joined lines with 6 numbers are off by 2.9 % and −14 %, at 2 MiB." in lab.reading
    assert {"your line", "best α and B", "joined lines", "measured"} == {point.series for point in lab.table}


def test_fit_by_hand_speaks_plainly_where_a_line_is_far_off():
    lab = labs.fit_by_hand().set(latency_us=1000, bandwidth_GBps=0.1, machine="v100x8_sxm2_5coll/all_reduce")
    assert "Your line, 1 ms and 100 MB/s, is off by 29,261 % on average" in lab.reading


# ---- lab 01.3 ----------------------------------------------------------------------------------------------


def test_the_example_log_reads_as_two_tables_of_8_and_16_ranks():
    [reading] = readers.read(log_fit.example_log())
    assert [test.ranks for test in reading.tests] == list(log_fit.EXAMPLE_TIMES)
    assert {test.collective for test in reading.tests} == {"all_reduce"}
    assert reading.notes == ()
    for test, times in zip(reading.tests, log_fit.EXAMPLE_TIMES.values(), strict=True):
        assert test.seconds == pytest.approx(np.array(times) * us)
        assert list(test.nbytes) == log_fit.EXAMPLE_SIZES


def test_your_log_gives_both_numbers_their_errors_and_the_nearest_machine():
    lab = labs.your_log()
    assert lab.reading == (
        "Table 1 of 2, all-reduce of 8 ranks: α = 16 µs, B = 133 GB/s, n½ = 2.13 MB. "
        "The median error is 14 %, the worst −31 % at 4 MiB. "
        "Nearest published: 8 × MI300X, all-reduce (https://github.com/hisohara/ai-scripts). "
        "At the median of 11 shared sizes yours is 1.18 times slower."
    )
    assert {"your log", "nearest published", "fit"} == {point.series for point in lab.table}
    lab.set(beside=False)
    assert "Nearest" not in lab.reading
    assert {"your log", "fit"} == {point.series for point in lab.table}


def test_your_log_answers_the_prompts_of_the_notebook():
    lab = labs.your_log()
    assert "median error is 0.4 %, the worst −11 % at 16 MiB" in lab.set(model="three").reading
    assert "α = 38 µs, B = 45.9 GB/s, n½ = 1.75 MB" in lab.set(model="two", table=2).reading
    lines = log_fit.example_log().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.split()[0] == "1048576")
    last = next(i for i, line in enumerate(lines) if line.split()[0] == "1073741824")
    lab.set(table=1, text="".join(lines[:first] + lines[last + 1 :]))
    assert "Table 1 of 2, all-reduce of 8 ranks: α = 14.3 µs, B = 25.5 GB/s" in lab.reading
    assert "It ends below n½, so B is a guess" in lab.reading


def test_a_published_curve_finds_itself():
    curve = specs.sweep(H100)
    text = HEAD + rows({int(n): 1e6 * t for n, t in zip(curve.nbytes, curve.seconds, strict=True)})
    assert "8 × H100 SXM, all-reduce (https://github.com/ai-dynamo/aiconfigurator)" in said(text)
    assert "At the median of 21 shared sizes yours is as fast." in said(text)
    faster = HEAD + rows({int(n): 5e5 * t for n, t in zip(curve.nbytes, curve.seconds, strict=True)})
    assert re.search(r"yours is [\d.]+ times faster\.", said(faster))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Line 1 is empty: paste what nccl-tests printed, or its JSON report."),
        ("\n\n  ls -l\nmore", "Not read: line 3: expected the output of a tool that is known here"),
        (REPORT.format(""), "Not read: line 1: expected"),
        (HEAD, "To its last line, 7, the text holds no complete row: no size was measured."),
        (
            HEAD + rows({1024: 10}),
            "The table at line 1 gives no fit: at least two different sizes are needed",
        ),
        (HEAD + rows({1024: 10, 2048: 10}), "gives no fit: times do not grow from 1 KiB to 2 KiB"),
        ("x" * 10_000_000, "Only the first 2 MB of the text were read, to line 1."),
    ],
)
def test_a_wrong_paste_is_told_what_is_wrong_and_where(text, sentence):
    lab = labs.your_log().set(text=text)
    assert sentence in lab.reading
    assert lab.table == []
    assert lab.reset().table


def test_a_cut_log_is_read_as_far_as_it_goes():
    reading = said(log_fit.example_log()[:1000])
    assert reading.startswith("Table 1 of 1, all-reduce of 8 ranks: α = 15.7 µs")
    assert reading.endswith("Odd: line 13: the row is cut.")


def test_a_table_that_is_not_there_says_how_many_are():
    assert said(log_fit.example_log(), table=3) == (
        "There is no table 3: to its last line, 40, the text holds 2 tables."
    )


def test_ten_megabytes_are_read_to_a_whole_line():
    text = log_fit.example_log() * 4000
    assert len(text) > 10_000_000
    reading = said(text)
    assert reading.startswith("Table 1 of 1,433, all-reduce of 8 ranks: α = 16 µs, B = 133 GB/s")
    assert "Only the first 8 tables can be chosen: paste a later one by itself." in reading
    assert reading.endswith("Only the first 2 MB of the text were read, to line 27,948.")


def test_thousands_of_sizes_are_thinned_and_repeated_ones_count_once():
    many = HEAD + rows({1024 * n: 10 + n / 10 for n in range(1, 2001)})
    assert "Of its 2,000 sizes, 100 are used." in said(many)
    times = {1024 * 4**n: 10 + 4.0**n / 100 for n in range(8)}
    slow = {nbytes: 3 * time for nbytes, time in times.items()}
    fit = log_fit.fitted_log(HEAD + rows(times) + rows(slow) + rows(times), 1, "two").fit
    assert fit.seconds == pytest.approx(np.array(list(times.values())) * us)


def test_a_log_of_large_sizes_only_cannot_tell_the_latency():
    assert "It begins above n½, so α is a guess" in said(
        HEAD + rows({MiB * 2**n: 1 + 100 * 2.0**n for n in range(6)})
    )


# ---- exercises and notebook --------------------------------------------------------------------------------


def test_the_notebook_asks_every_exercise_of_the_chapter_once():
    asked = re.findall(r'labs\.(?:exercise|guess)\("([^"]+)"\)', sources("code"))
    assert sorted(asked) == sorted(exercise.name for exercise in exercises.chapter(1))


def test_the_notebook_shows_every_lab_after_the_guess():
    code = sources("code")
    places = [code.index(f"labs.{name}()") for name in labs.LABS["chapter01"]]
    assert [code.index("labs.guess("), *places] == sorted([code.index("labs.guess("), *places])
    assert code.index("labs.guess(") < code.index("plots.time_vs_size")


def test_the_notebook_plots_times_and_no_bus_bandwidth():
    assert "busbw" not in sources("code") + sources("markdown")
    assert sources("markdown").count("every GPU ends with the sum") == 1


def sources(kind: str) -> str:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == kind)
