"""Chapter 00 in numbers: what its notebook, labs and exercises say, against the package."""

from __future__ import annotations

import csv

import pytest

from interconnect_lab import collectives, labs, specs
from interconnect_lab.labs import chapter00
from interconnect_lab.labs.chapter00 import (
    all_reduce_time,
    gradient_bytes,
    model_beside_measured,
    network_rate,
    step,
)
from interconnect_lab.units import GB, GBps, Gbps, GiB, MiB, ms

RICH = step(100 * ms, all_reduce_time(2 * GB, 64, nics=8))
POOR = step(100 * ms, all_reduce_time(2 * GB, 64, nics=1))


def test_the_running_example_waits_for_eight_nics_or_for_one():
    # chapters.md, the running example: 11.6 ms at 340 GB/s, 78.75 ms through one NIC a node
    assert gradient_bytes(1e9) == 2 * GB
    assert network_rate(64, 8) == pytest.approx(340 * GBps)
    assert RICH.waiting == pytest.approx(11.6 * ms, rel=0.002)
    assert POOR.waiting == pytest.approx(78.75 * ms)


def test_waiting_becomes_efficiency_and_idle_gpus():
    # chapters.md 00: 89.6 % against 55.9 %, that is 6.6 or 28.2 of 64 GPUs
    assert [round(cluster.efficiency, 3) for cluster in (RICH, POOR)] == [0.896, 0.559]
    assert [round(cluster.idle(64), 1) for cluster in (RICH, POOR)] == [6.6, 28.2]
    # chapters.md 00: 30 ms exposed, 100 ms of compute
    assert step(100 * ms, 30 * ms).efficiency == pytest.approx(0.769, abs=5e-4)


def test_gpus_twice_as_fast_do_not_halve_the_step():
    # chapters.md 00: 111.6 -> 61.6 ms = 1.81 times; 178.75 -> 128.75 = 1.39 times
    gains = [cluster.time / step(50 * ms, cluster.waiting).time for cluster in (RICH, POOR)]
    assert [round(gain, 2) for gain in gains] == [1.81, 1.39]
    assert step(50 * ms, POOR.waiting).time == pytest.approx(128.75 * ms)
    assert step(50 * ms, POOR.waiting).time / step(50 * ms, RICH.waiting).time > 2  # the chapter's title


def test_only_the_backward_pass_hides_the_network():
    # chapters.md 00: 78.75 ms behind 66.7 leave 12.1 ms, efficiency 89.2 %
    hidden = step(100 * ms, POOR.waiting, overlap=1)
    assert hidden.hidden == pytest.approx(66.7 * ms, rel=1e-3)
    assert hidden.waiting == pytest.approx(12.1 * ms, rel=2e-3)
    assert hidden.efficiency == pytest.approx(0.892, abs=5e-4)
    assert step(1, 1e-3, overlap=1).waiting == 0


@pytest.mark.parametrize("overlap", [0, 0.3, 1])
@pytest.mark.parametrize("network", [0, 1 * ms, 10 * ms, 1])
def test_the_parts_of_a_bar_add_up_to_the_step(network, overlap):
    one = step(20 * ms, network, overlap)
    assert one.hidden + one.waiting == pytest.approx(network)
    assert sum(one.parts.values()) * ms == pytest.approx(one.time)
    assert min(one.parts.values()) >= 0


def test_weak_and_strong_scaling_from_one_node_to_eight():
    # chapters.md 12: one node 7.3 ms, weak efficiency 93.2 -> 89.6 %, strong 4.46 times of 8
    network = all_reduce_time(2 * GB, 8, nics=1)
    one_node = step(100 * ms, network)
    assert network == pytest.approx(7.3 * ms, rel=0.005)
    assert round(one_node.efficiency, 3) == 0.932
    assert one_node.time / step(12.5 * ms, RICH.waiting).time == pytest.approx(4.46, abs=0.005)


def test_the_ceiling_is_the_measured_rate_to_two_digits():
    # chapters.md: 10 nodes measure 337 GB/s at 2 GiB, one node 476
    for name, measured in {"h100x80_10n_g8": 337, "h100x8_1n": 476}.items():
        curve = specs.sweep(name, op="all_reduce")
        rate = collectives.busbw("all_reduce", 2 * GiB, curve.ranks, curve.time(2 * GiB))
        assert rate == pytest.approx(measured * GBps, rel=0.002)
    assert chapter00.measured_rate("h100x80_10n_g8") == pytest.approx(340 * GBps)
    assert chapter00.measured_rate("h100x8_1n") == pytest.approx(480 * GBps)
    assert network_rate(64, 8, 800 * Gbps) == network_rate(64, 8)
    assert network_rate(64, 8, 200 * Gbps) == 200 * GBps
    assert network_rate(8, 1) == network_rate(8, 8)  # one node needs no NIC


@pytest.mark.parametrize(
    ("name", "nics", "nbytes", "error"),
    [  # what the notebook says in words
        ("h100x10_10n_g1", 1, 32 * MiB, "-14.0 %"),
        ("h100x10_10n_g1", 1, 2 * GiB, "-2.5 %"),
        ("h100x10_10n_g1", 1, 16 * GiB, "-2.2 %"),
        ("h100x80_10n_g8", 8, 32 * MiB, "-75.6 %"),
        ("h100x80_10n_g8", 8, 2 * GiB, "-0.9 %"),
        ("h100x80_10n_g8", 8, 16 * GiB, "-5.7 %"),
        ("h100x16_ndr_2n", 8, 2 * GiB, "+35.7 %"),
        ("h100x32_ndr_4n", 8, 2 * GiB, "+6.3 %"),
    ],
)
def test_the_model_misses_published_curves_by(name, nics, nbytes, error):
    assert model_beside_measured(name, nics, nbytes).endswith(f", {error}")


# ---- labs: readings at given settings ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "says"),
    [  # the answers folded below the lab
        ({"nics": 8}, ["11.6 ms through eight NICs", "111.6 ms, efficiency 89.6 %", "6.6 of 64 GPUs"]),
        ({"nics": 1}, ["78.8 ms through one NIC", "178.8 ms, efficiency 55.9 %", "28.2 of 64 GPUs"]),
        ({"nics": 1, "compute_ms": 50}, ["takes 128.8 ms, efficiency 38.8 %", "61.58 ms with eight"]),
        ({"nics": 1, "overlap": 100}, ["66.7 ms hide", "for 12.1 ms the GPUs wait", "takes 112.1 ms"]),
        ({"nics": 2, "bytes_per_element": 4}, ["4 GB of gradients take 78.8 ms through two NICs"]),
        ({"gpus": 512, "nic_Gbps": 100, "billions": 70}, ["140 GB", "of 512 GPUs"]),
        ({}, ["None of it hides behind the backward pass: the GPUs wait 19.7 ms."]),
        ({"overlap": 100}, ["All of it hides", "the GPUs do not wait", "takes 100 ms, efficiency 100.0 %"]),
    ],
)
def test_one_step_reads(values, says):
    reading = labs.one_step().set(**values).reading
    assert [words for words in says if words not in reading] == []


def test_one_step_tells_the_three_bars_and_the_idle_gpus():
    lab = labs.one_step().set(nics=1, overlap=50)
    bars = {(point.series, point.x): point.y for point in lab.table}
    assert bars["compute", "your cluster"] == pytest.approx(66.7, abs=0.05)
    assert bars["both at once", "your cluster"] == pytest.approx(33.3, abs=0.05)
    assert bars["waiting", "your cluster"] == pytest.approx(45.4, abs=0.05)
    assert bars["waiting", "with one NIC a node"] == bars["waiting", "your cluster"]
    assert bars["waiting", "with eight NICs a node"] == 0
    assert bars["waiting", 64] == pytest.approx(64 * 45.4 / 145.4, rel=1e-3)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, ["from 107.3 ms to 111.8 ms", "keeps 96.0 %", "Llama 3.1 70B 98.3 % (64 to 2,048 GPUs)"]),
        ({"nics": 1}, ["from 107.3 ms to 179.9 ms", "one NIC a node", "MPT 1B 90.3 % (128 to 512 GPUs)"]),
        ({"scaling": "strong"}, ["8.6 times", "keeps 6.7 %", "ZeRO-3 30.6 % (384 to 1,536 GPUs)"]),
        (
            {"scaling": "strong", "compute_ms": 10_000},
            ["cut the step from 10.01 s to 89.88 ms", "keeps 87.0 %"],
        ),
        ({"compute_ms": 50_000}, ["1,024 GPUs the step stays at 50.01 s; each"]),
        (
            {"scaling": "strong", "compute_ms": 20, "nics": 1, "billions": 70},
            ["128 times as many GPUs make the step longer, 530.4 ms → 5.595 s; each"],
        ),
    ],
)
def test_adding_gpus_reads(values, says):
    reading = labs.adding_gpus().set(**values).reading
    assert [words for words in says if words not in reading] == []


def test_adding_gpus_jumps_where_the_job_leaves_the_node():
    """The answers folded below the lab."""
    lab = labs.adding_gpus().set(nics=1)
    waiting = {point.x: point.y for point in lab.table if point.series == "waiting"}
    assert waiting["8 GPUs"] == pytest.approx(7.3, abs=0.05)
    assert waiting["16 GPUs"] == pytest.approx(75)
    assert waiting["1,024 GPUs"] < 1.07 * waiting["16 GPUs"]
    lab.set(scaling="strong", nics=8)
    at_64 = {point.series: point.y for point in lab.table if point.x == "64 GPUs"}
    assert (round(at_64["compute"], 1), round(at_64["waiting"], 1)) == (12.5, 11.6)


def test_adding_gpus_from_64_on_brings_less_than_twice_the_speed():
    """The second answer folded below the lab."""

    def time(gpus: int) -> float:
        return step(100 * ms * 8 / gpus, all_reduce_time(2 * GB, gpus, nics=8)).time

    assert time(8) / time(1024) == pytest.approx(8.6, abs=0.05)
    assert 1024 / 64 == 16
    assert 1 < time(64) / time(1024) < 2


@pytest.mark.parametrize(("compute_ms", "unit", "scale"), [(5000, "ms", ms), (10_000, "s", 1)])
def test_bars_are_in_seconds_from_ten_seconds_on(compute_ms, unit, scale):
    lab = labs.adding_gpus().set(compute_ms=compute_ms)
    assert lab.figure.axes[0].get_xlabel() == f"time of one step ({unit})"
    compute = next(point.y for point in lab.table if (point.series, point.x) == ("compute", "8 GPUs"))
    assert compute * scale == pytest.approx(compute_ms * ms)


# ---- published training runs -------------------------------------------------------------------------------


def test_published_families_lose_what_the_notebook_says():
    families = specs.training_runs()
    kept = {family: round(100 * specs.relative_speed(runs)[-1], 1) for family, runs in families.items()}
    assert kept == {
        "Llama 3.1 70B": 98.3,  # step 14.72 -> 14.98 s
        "MPT 1B": 90.3,
        "GPT 175B, batch 768": 84.0,
        "GPT 175B, batch 6,144": 84.7,
        "GPT 175B, ZeRO-3": 30.6,
    }
    assert all(runs[0].gpus < runs[-1].gpus for runs in families.values())
    assert {run.confidence for runs in families.values() for run in runs} == {"A"}


def test_scaling_leaves_families_of_one_kind():
    weak, strong = specs.training_runs("weak"), specs.training_runs("strong")
    assert not set(weak) & set(strong)
    assert set(weak) | set(strong) == set(specs.training_runs())
    for runs in strong.values():
        assert len({run.global_batch for run in runs}) == 1
    for runs in weak.values():
        assert len({run.global_batch / run.gpus for run in runs}) == 1
    with pytest.raises(ValueError, match="must be one of weak, strong; got 'both'"):
        specs.training_runs("both")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scaling": "linear"}, "scaling"),
        ({"gpus": 0}, "must be 1 or more; got 0, 8"),
        ({"step_seconds": None}, "one figure is wanted"),
        ({"tokens_per_second_per_gpu": 7.0}, "one figure is wanted"),
    ],
)
def test_a_training_run_refuses_what_makes_no_sense(wrong, message):
    row = specs.training_runs()["Llama 3.1 70B"][0]
    good = {name: getattr(row, name) for name in row.__dataclass_fields__} | {"global_batch": 8}
    with pytest.raises(ValueError, match=message):
        specs.TrainingRun(**(good | wrong))


def test_training_runs_are_those_of_the_fact_sheet(shared):
    """Each figure stands in a row of that many GPUs and that batch."""
    with (shared / "facts" / "training-runs.csv").open(encoding="utf-8") as file:
        facts = list(csv.DictReader(file))
    columns = {"step_time_s": "step_seconds", "tokens_per_s_per_gpu": "tokens_per_second_per_gpu"}
    known = {
        (int(row["gpus"]), int(row["global_batch"]), float(row[column]))
        for row in facts
        for column in (*columns, "hw_TFLOPs_per_gpu")
        if row["gpus"] and row["global_batch"] and row[column]
    }
    for runs in specs.training_runs().values():
        for run in runs:
            figure = run.step_seconds or run.tokens_per_second_per_gpu or run.hardware_per_gpu / 1e12
            assert (run.gpus, run.global_batch, figure) in known
