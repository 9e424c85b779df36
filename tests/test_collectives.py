import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interconnect_lab import collectives
from interconnect_lab.links import Link, PiecewiseLink

MiB = 2**20
CABLE = Link(5e-6, 50e9, source="chapters.md 06")
# SimGrid 3.32 on a star of 50 GB/s cables with 1 µs each, two on every path (../shared/facts/simgrid.md)
STAR = Link(2e-6, 50e9, source="SimGrid 3.32 star")

TABLES = {
    "send_recv": collectives.SEND_RECV,
    "all_reduce": collectives.ALL_REDUCE,
    "all_gather": collectives.ALL_GATHER,
    "reduce_scatter": collectives.REDUCE_SCATTER,
    "broadcast": collectives.BROADCAST,
    "reduce": collectives.REDUCE,
    "all_to_all": collectives.ALL_TO_ALL,
    "gather": collectives.GATHER,
    "scatter": collectives.SCATTER,
}
COSTS = [
    pytest.param(op, cost, id=f"{op}-{name}") for op, table in TABLES.items() for name, cost in table.items()
]
every_cost = pytest.mark.parametrize(("op", "cost"), COSTS)
powers_of_two = st.integers(0, 12).map(lambda k: 2**k)
sizes = st.floats(min_value=0, max_value=1e12)


@pytest.mark.parametrize(
    ("cost", "ranks", "nbytes", "seconds"),
    [
        (collectives.ring_all_reduce, 8, 64 * MiB, 0.002376825),
        (collectives.ring_all_reduce, 64, 64 * MiB, 0.002894462),
        (collectives.ring_all_reduce, 128, 64 * MiB, 0.003171474),
        (collectives.ring_all_reduce, 256, 64 * MiB, 0.003694042),
        (collectives.recursive_doubling_all_reduce, 64, 1024, 0.000012135),
        (collectives.recursive_doubling_all_reduce, 64, 64 * MiB, 0.008065076),
        (collectives.rabenseifner_all_reduce, 64, 64 * MiB, 0.002666425),
        (collectives.ring_all_gather, 64, 64 * MiB, 0.001447236),
        (collectives.pairwise_all_to_all, 64, 64 * MiB, 0.001447236),
        (collectives.binomial_broadcast, 64, 16 * MiB, 0.002025278),
    ],
)
def test_costs_agree_with_an_independent_simulator(cost, ranks, nbytes, seconds):
    assert cost(nbytes, ranks, STAR) == pytest.approx(seconds, rel=2e-3)


@pytest.mark.parametrize(
    ("cost", "nbytes", "ranks", "seconds"),
    [  # chapters.md 05 and 06
        (collectives.ring_all_reduce, 64 * MiB, 8, 2.42e-3),
        (collectives.ring_all_reduce, 64 * MiB, 1024, 12.9e-3),
        (collectives.rabenseifner_all_reduce, 64 * MiB, 1024, 2.78e-3),
        (collectives.textbook_ring_all_reduce, 64 * MiB, 1024, 7.8e-3),
        (collectives.ring_all_reduce, 65536, 1024, 10.2e-3),
        (collectives.recursive_doubling_all_reduce, 65536, 1024, 63e-6),
    ],
)
def test_costs_agree_with_the_chapters(cost, nbytes, ranks, seconds):
    assert cost(nbytes, ranks, CABLE) == pytest.approx(seconds, rel=6e-3)


@pytest.mark.parametrize(("ranks", "crossover"), [(8, 2.2e6), (64, 7.4e6)])
def test_recursive_doubling_wins_below_the_chapters_crossover(ranks, crossover):
    """chapters.md 06: below which size recursive doubling beats the ring."""
    ring, doubling = collectives.ring_all_reduce, collectives.recursive_doubling_all_reduce
    assert doubling(0.97 * crossover, ranks, CABLE) < ring(0.97 * crossover, ranks, CABLE)
    assert doubling(1.03 * crossover, ranks, CABLE) > ring(1.03 * crossover, ranks, CABLE)


def test_sixteen_gigabytes_of_weights_reach_64_ranks():
    """chapters.md 05: pipelined chain >= 0.32 s, scatter + all-gather 0.63, binomial 1.92 at 50 GB/s."""
    nic = Link(0, 50e9, source="chapters.md 05")
    found = {name: cost(16e9, 64, nic) for name, cost in collectives.BROADCAST.items()}
    assert found == pytest.approx({"binomial": 1.92, "scatter + all-gather": 0.63, "chain": 0.32}, rel=1e-9)


def test_two_levels_cost_what_chapter_07_says():
    """chapters.md 07: 7.8 + 8.75 = 16.5 ms for 2 GB on 8 × 8 H100; 126 steps become 28."""
    nvlink, nic = Link(0, 450e9, source="H100"), Link(0, 50e9, source="NDR")
    assert collectives.hierarchical_all_reduce(2e9, 8, 8, nvlink, nic) == pytest.approx(16.5e-3, rel=3e-3)
    step = Link(1e-6, 1e30, source="one microsecond a step")
    assert collectives.hierarchical_all_reduce(0, 8, 8, step, step) == pytest.approx(28e-6)
    assert collectives.ring_all_reduce(0, 64, step) == pytest.approx(126e-6)


@every_cost
def test_one_rank_costs_nothing(op, cost):
    assert cost(1e9, 1, CABLE) == 0
    assert cost(np.array([0.0, 1e9]), 1, CABLE).tolist() == [0, 0]


@every_cost
def test_arrays_over_sizes_and_ranks_equal_scalars(op, cost):
    nbytes, ranks = np.array([[0.0], [4096.0], [1e9]]), np.array([1, 2, 8, 64])
    table = cost(nbytes, ranks, CABLE)
    scalars = [[cost(n, p, CABLE) for p in ranks.tolist()] for n in nbytes[:, 0].tolist()]
    np.testing.assert_allclose(table, scalars, rtol=1e-12)


@every_cost
def test_costs_vectorise_over_ranks_that_are_no_power_of_two(op, cost):
    ranks = np.array([3, 6, 7, 12, 72])
    table = cost(1e6, ranks, CABLE)
    np.testing.assert_allclose(table, [cost(1e6, p, CABLE) for p in ranks.tolist()], rtol=1e-12)
    assert cost(1e6, ranks.astype(float), CABLE).tolist() == table.tolist()


@every_cost
@given(nbytes=sizes, ranks=st.integers(1, 3000))
def test_no_algorithm_beats_the_lower_bounds(op, cost, nbytes, ranks):
    """Chan et al. 2007: bytes that a rank must send, and one latency; the switch reduces in one."""
    seconds = cost(nbytes, ranks, CABLE)
    assert seconds >= (ranks > 1) * CABLE.latency
    if cost is not collectives.in_switch_all_reduce:
        assert seconds >= collectives.bytes_sent(op, nbytes, ranks) / CABLE.bandwidth * (1 - 1e-12)


@every_cost
@given(nbytes=sizes, more=sizes, ranks=powers_of_two)
def test_more_bytes_never_take_less_time(op, cost, nbytes, more, ranks):
    assert cost(nbytes + more, ranks, CABLE) >= cost(nbytes, ranks, CABLE) * (1 - 1e-12)


@given(nbytes=sizes, ranks=st.integers(1, 5000))
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(nbytes, ranks):
    parts = collectives.ring_reduce_scatter(nbytes, ranks, CABLE) + collectives.ring_all_gather(
        nbytes, ranks, CABLE
    )
    assert collectives.ring_all_reduce(nbytes, ranks, CABLE) == pytest.approx(parts)


@given(ranks=st.integers(2, 5000))
def test_a_large_ring_all_reduce_runs_at_link_speed(ranks):
    """nccl-tests doc/PERFORMANCE.md: bus bandwidth compares with the hardware, whatever the ranks."""
    seconds = collectives.ring_all_reduce(1e18, ranks, CABLE)
    assert collectives.busbw("all_reduce", 1e18, ranks, seconds) == pytest.approx(50e9, rel=1e-3)


def test_the_textbook_halves_the_latency_and_only_that():
    assert collectives.textbook_ring_all_reduce(0, 64, CABLE) == pytest.approx(63 * 5e-6)
    assert collectives.ring_all_reduce(0, 64, CABLE) == pytest.approx(126 * 5e-6)
    difference = collectives.ring_all_reduce(1e9, 64, CABLE) - collectives.textbook_ring_all_reduce(
        1e9, 64, CABLE
    )
    assert difference == pytest.approx(63 * 5e-6)


@pytest.mark.parametrize(
    ("cost", "fill", "rounds", "share"),
    [
        (collectives.chain_broadcast, lambda p: p - 2, 1, 1.0),
        (collectives.double_tree_all_reduce, lambda p: 2 * (p - 1).bit_length() - 4, 4, 0.5),
    ],
)
@pytest.mark.parametrize("ranks", [2, 4, 8, 64, 1000])
@pytest.mark.parametrize("nbytes", [8.0, 1e6, 1e9])
def test_no_whole_number_of_chunks_beats_the_pipelined_cost(cost, fill, rounds, share, ranks, nbytes):
    best = min((fill(ranks) + rounds * c) * CABLE.time(share * nbytes / c) for c in range(1, 3000))
    assert cost(nbytes, ranks, CABLE) == pytest.approx(best, rel=0.02)
    assert cost(nbytes, ranks, CABLE) <= best * (1 + 1e-12)


def test_a_step_on_a_piecewise_link_uses_its_own_size():
    switch = PiecewiseLink((0, 65536), (1e-6, 9e-6), 100e9, source="made up")
    assert collectives.ring_all_reduce(8 * 65536, 8, switch) == pytest.approx(14 * 9e-6)


@pytest.mark.parametrize(
    "cost",
    [
        collectives.rabenseifner_all_reduce,
        collectives.double_tree_all_reduce,
        collectives.bruck_all_gather,
        collectives.chain_broadcast,
        collectives.recursive_halving_reduce_scatter,
    ],
)
def test_a_cost_of_two_numbers_refuses_a_link_of_more(cost):
    switch = PiecewiseLink((0, 65536), (1e-6, 9e-6), 100e9, source="made up")
    with pytest.raises(ValueError, match="one latency and one bandwidth"):
        cost(1e6, 8, switch)


def test_two_levels_name_the_count_that_is_wrong():
    with pytest.raises(ValueError, match="nodes must be 1 or more; got 0"):
        collectives.hierarchical_all_reduce(1e6, 8, 0, CABLE, CABLE)
    with pytest.raises(ValueError, match="gpus_per_node must be 1 or more; got 0"):
        collectives.hierarchical_all_reduce(1e6, 0, 8, CABLE, CABLE)


def test_busbw_is_what_nccl_tests_printed():
    """nccl-tests log of 8 H100: 1 GiB all-reduce in 4000.82 µs prints algbw 268.38, busbw 469.67."""
    assert collectives.algbw(2**30, 4000.82e-6) == pytest.approx(268.38e9, rel=1e-4)
    assert collectives.busbw("all_reduce", 2**30, 8, 4000.82e-6) == pytest.approx(469.67e9, rel=1e-4)


@pytest.mark.parametrize(
    ("op", "factor"),
    [
        ("all_reduce", 1.75),
        ("all_gather", 0.875),
        ("reduce_scatter", 0.875),
        ("all_to_all", 0.875),
        ("gather", 0.875),
        ("scatter", 0.875),
        ("broadcast", 1),
        ("reduce", 1),
        ("send_recv", 1),
    ],
)
def test_bus_factors_are_those_of_nccl_tests(op, factor):
    """nccl-tests doc/PERFORMANCE.md, 8 ranks."""
    assert collectives.bus_factor(op, 8) == factor
    assert collectives.bus_factor(op, np.array([8, 8])).tolist() == [factor, factor]


def test_an_all_to_all_sends_1008_of_1024_mebibytes():
    """chapters.md 05: 1 GiB buffer, 64 ranks."""
    assert collectives.bytes_sent("all_to_all", 2**30, 64) == 1008 * MiB


@every_cost
@pytest.mark.parametrize(
    ("nbytes", "ranks", "shown"),
    [
        (-1, 8, "-1"),
        (1e6, 0, "got 0"),
        (1e6, -3, "got -3"),
        (1e6, 2.5, "2.5"),
        (np.array([1.0, -2.0]), 8, "-2.0"),
        (1e6, np.array([8, 0]), "got 0"),
        (1e6, "8", "'8'"),
    ],
)
def test_impossible_arguments_are_refused_and_shown(op, cost, nbytes, ranks, shown):
    with pytest.raises(ValueError, match=shown):
        cost(nbytes, ranks, CABLE)


def test_an_unknown_operation_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"all_reduce.*got 'allreduce'"):
        collectives.bus_factor("allreduce", 8)
    with pytest.raises(ValueError, match="seconds must be finite and above 0; got 0"):
        collectives.busbw("all_reduce", 1e6, 8, 0)
