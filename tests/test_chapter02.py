"""Chapter 02: the numbers of its prose, and what its labs say at given settings."""

from __future__ import annotations

import pytest

from interconnect_lab import labs, specs
from interconnect_lab.collectives import bytes_sent
from interconnect_lab.labs import chapter02, data_sheet
from interconnect_lab.units import GB, GBps, Gbps, GiB, KiB, us

LINKS = specs.LINKS
RUNS = {
    "NVLink 4": ("h100x8_1n", "send_recv", 8),
    "PCIe 4": ("aic_l40s_nccl2.27.3", "all_reduce", 2),
    "InfiniBand NDR": ("h100x10_10n_g1", "all_reduce", 10),
}


def near(value: float, tolerance: float = 5e-3):
    return pytest.approx(value, rel=tolerance)


# ---- prose -------------------------------------------------------------------------------------------------


def test_the_guess_is_nine_and_its_other_options_are_mixtures():  # chapters.md 02, Guess
    nvlink, port = LINKS["NVLink 4"], LINKS["InfiniBand NDR"]
    assert nvlink.bandwidth / port.bandwidth == 9
    assert nvlink.quoted_rate / port.bandwidth == 18
    assert nvlink.bandwidth / (2 * port.bandwidth) == 4.5
    assert nvlink.quoted_rate / GBps / (port.bandwidth / Gbps) == 2.25


def test_pcie_5_shrinks_from_128_to_64_63_and_55():  # chapters.md 02, Misconception; source: 55.4
    slot = LINKS["PCIe 5"]
    assert slot.quoted_rate == 128 * GBps and slot.both_ways
    assert slot.raw_bandwidth == 64 * GBps
    assert slot.bandwidth == near(63.0 * GBps)
    assert slot.achieved == near(55.4 * GBps)
    assert slot.efficiency_source.startswith("55.4 of 63.0 GB/s")
    assert slot.achieved / 2 == near(27.7 * GBps)


def test_a_400_card_fits_the_slot_and_an_800_card_does_not():  # chapters.md 02, Misconception
    achieved = LINKS["PCIe 5"].achieved
    assert LINKS["InfiniBand NDR"].bandwidth < achieved < LINKS["InfiniBand XDR"].bandwidth
    assert [LINKS[f"PCIe {n}"].bandwidth >= 50 * GBps for n in (4, 5)] == [False, True]
    assert [LINKS[f"PCIe {n}"].bandwidth >= 100 * GBps for n in (5, 6)] == [False, True]


def test_nvlink_450_against_pcie_63_is_a_factor_7():  # course.md, Corrections
    assert LINKS["NVLink 4"].bandwidth / LINKS["PCIe 5"].bandwidth == near(7.1, 0.01)


def test_nvlink_4_has_478_on_the_wire_and_sixteen_seventeenths_of_it_for_data():  # chapters.md 02
    link = LINKS["NVLink 4"]
    assert link.raw_bandwidth == 18 * 26.5625 * GBps
    assert link.raw_bandwidth * 16 / 17 == near(link.bandwidth, 1e-9)
    assert link.achieved == near(369 * GBps)


def test_h100_and_h800_differ_in_links_only():  # chapters.md 02, Exercises
    h100, h800 = LINKS["NVLink 4"], LINKS["NVLink 4 (H800)"]
    assert h100.link_bandwidth == h800.link_bandwidth == 25 * GBps
    assert (h100.links, h800.links) == (18, 8)
    assert (h100.bandwidth, h800.bandwidth) == (450 * GBps, 200 * GBps)


def test_infiniband_names_are_the_wire_up_to_fdr_and_data_from_edr():  # specs.md 3
    for name in ("SDR", "DDR", "QDR", "FDR"):
        link = LINKS[f"InfiniBand {name}"]
        assert link.quoted_rate == near(link.raw_bandwidth)
        assert link.bandwidth < link.quoted_rate
    for name in ("EDR", "HDR", "NDR", "XDR"):
        assert LINKS[f"InfiniBand {name}"].quoted_rate == LINKS[f"InfiniBand {name}"].bandwidth
    assert LINKS["InfiniBand QDR"].bandwidth == 4 * GBps


def test_the_nodes_of_the_chapter():  # course.md, Corrections
    dgx, p4d = specs.SYSTEMS["DGX H100"], specs.SYSTEMS["AWS p4d"]
    assert (dgx.nics, dgx.node_bandwidth, dgx.inside_over_outside) == (8, 400 * GBps, 9)
    assert (p4d.gpu_network_bandwidth, p4d.inside_over_outside) == (6.25 * GBps, 48)


def test_ten_gib_over_ndr_take_214_7_ms():  # chapters.md 02, Exercises
    assert 10 * GiB / LINKS["InfiniBand NDR"].bandwidth == near(214.7e-3, 5e-4)
    assert GiB / GB - 1 == near(0.074, 0.01)


def test_latency_depends_on_the_layer():  # course.md, Corrections
    rows = specs.LATENCIES
    adapters = [row.latency for row in rows.values() if row.latency_layer == "adapter"]
    assert (min(adapters), max(adapters)) == (near(0.5 * us), near(0.6 * us))
    assert rows["Quantum HDR switch"].latency == near(0.13 * us)
    hosts = [row.latency for row in rows.values() if row.latency_layer == "RDMA-1B"]
    assert (min(hosts), max(hosts)) == (near(1.2 * us), near(2 * us))
    cpu, step = rows["InfiniBand NDR, CPU to CPU, 64 B"], rows["NCCL ring step over a network"]
    assert (cpu.latency, cpu.latency_high) == (near(2.8 * us), near(3.7 * us))
    assert (step.latency, step.latency_high) == (near(2.7 * us), near(14 * us))
    assert "below" in rows["InfiniBand NDR, host to host, 1 B"].note
    run = specs.sweep("h100x16_ndr_2n", op="all_reduce")
    assert (run.nbytes[1], run.seconds[1]) == (16, near(25 * us))  # course.md: a 16-GPU all-reduce


@pytest.mark.parametrize(
    ("family", "low", "high"), [("NVLink", 0.80, 0.90), ("PCIe", 0.76, 0.879), ("InfiniBand", 0.95, 0.95)]
)
def test_the_achieved_shares_of_the_three_families(family, low, high):
    shares = [link.efficiency for link in LINKS.values() if link.family == family and link.efficiency]
    assert (min(shares), max(shares)) == (low, high)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [("NVLink 4", -0.82, -0.184), ("PCIe 4", None, -0.362), ("InfiniBand NDR", -0.14, -0.022)],
)
def test_the_specified_rate_is_too_fast_for_every_published_run(name, first, last):
    run_name, op, ranks = RUNS[name]
    run = specs.sweep(run_name, op=op, ranks=ranks)
    errors = bytes_sent(op, run.nbytes, ranks) / LINKS[name].bandwidth / run.seconds - 1
    assert (errors < 0).all()
    assert errors[-1] == pytest.approx(last, abs=5e-4)
    assert name != "NVLink 4" or errors[3] == pytest.approx(-0.33, abs=5e-3)  # at 256 MiB
    assert first is None or errors[0] == pytest.approx(first, abs=5e-3)


def test_the_measured_ends_are_7_5_to_1():
    ends = {}
    for name, (run_name, op, ranks) in RUNS.items():
        run = specs.sweep(run_name, op=op, ranks=ranks)
        ends[name] = bytes_sent(op, run.nbytes[-1], ranks) / run.seconds[-1]
    assert ends["NVLink 4"] == near(367 * GBps)
    assert ends["InfiniBand NDR"] == near(48.9 * GBps)  # chapters.md 02, Reveal
    assert ends["NVLink 4"] / ends["InfiniBand NDR"] == near(7.5, 0.01)
    assert LINKS["NVLink 4"].achieved / LINKS["InfiniBand NDR"].achieved == near(7.8, 0.01)
    assert 396.4 * GBps / ends["InfiniBand NDR"] == near(8.1)  # chapters.md 02, Reveal; models.md 5.4


def test_what_the_folded_part_says_of_other_families():
    mi300x = LINKS["Infinity Fabric (MI300X)"]
    assert (mi300x.links, mi300x.bandwidth, mi300x.link_bandwidth) == (7, 448 * GBps, 64 * GBps)
    assert (LINKS["TPU v4 ICI"].both_ways, LINKS["TPU v5p ICI"].both_ways) == (False, True)
    assert len({link.family for link in LINKS.values()} - set(chapter02.CORE)) == 12


# ---- link_explorer -----------------------------------------------------------------------------------------


def test_the_explorer_says_direction_scope_and_grade_of_the_newest_row():
    assert labs.link_explorer().set(family="InfiniBand").reading == (
        "The newest here is InfiniBand XDR (2025), per port: 100 GB/s one way; vendors print 800 Gb/s one "
        "way; 106 GB/s on the wire before coding; no achieved rate known. Source: specified, grade B "
        "(secondary source)."
    )


def test_the_explorer_divides_by_links():
    lab = labs.link_explorer().set(show="one way", scope="link")
    rates = {point.x.partition(":")[0]: point.y for point in lab.table}
    assert rates["NVLink 4"] == rates["NVLink 4 (H800)"] == 25
    assert "per link: 50 GB/s one way." in lab.reading


def test_the_explorer_tells_quotes_per_link_from_quotes_per_device():
    lab = labs.link_explorer().set(family="TPU ICI", show="quoted")
    quotes = {point.x.partition(":")[0]: point.y for point in lab.table}
    assert quotes["TPU v2 ICI"] == 4 * 62  # 496 Gb/s one way a link, four links
    assert quotes["TPU v5p ICI"] == 1200  # GB/s, both ways


def test_the_explorer_shows_the_usable_rate_where_a_family_lacks_the_one_asked_for():
    lab = labs.link_explorer().set(family="EFA", show="raw")
    assert lab.reading.endswith("No row of this family has that rate: the picture shows the usable one.")
    assert {point.y for point in lab.table} == {50, 400, 800}


def test_the_explorer_counts_rows_without_a_marker():
    lab = labs.link_explorer().set(family="NVSwitch", scope="link")
    assert "how it splits into links is not published" in lab.reading
    assert lab.reading.endswith("1 of 5 rows have no marker: that rate is not published.")


@pytest.mark.parametrize("show", ["every", "quoted"])
def test_no_name_in_the_explorer_is_cut_off_at_the_left(show):
    lab = labs.link_explorer()
    for family in {link.family for link in LINKS.values()}:
        lab.set(family=family, show=show)
        assert all(name.get_window_extent().x0 > 0 for name in lab.figure.axes[0].get_yticklabels()), family


# ---- link_race ---------------------------------------------------------------------------------------------


def test_bandwidth_decides_a_mebibyte():
    assert labs.link_race().reading == (
        "1 MiB: NVLink 4 (450 GB/s per GPU) has it after 2.93 µs, PCIe 5 (63 GB/s per x16 slot) after "
        "17.6 µs, 6.02 times as long. Of the 14.7 µs between them bandwidth makes 14.3 µs, latency 400 ns: "
        "bandwidth decides."
    )


@pytest.mark.parametrize(("nbytes", "who"), [(64, "latency"), (16 * KiB, "latency"), (64 * KiB, "bandwidth")])
def test_latency_decides_small_messages(nbytes, who):
    lab = labs.link_race().set(nbytes=nbytes)
    assert f"{who} decides" in lab.reading
    if nbytes == 64:
        assert "after 600 ns" in lab.reading and "after 1 µs, 1.67 times as long" in lab.reading


def test_more_bandwidth_at_the_same_layer_wins_from_64_kib_on():
    lab = labs.link_race().set(first="InfiniBand HDR", second="InfiniBand NDR", nbytes=64 * KiB)
    assert lab.reading.startswith("64 KiB: InfiniBand NDR (50 GB/s per port) has it after 3.31 µs")
    assert "InfiniBand HDR (25 GB/s per port) after 3.82 µs" in lab.reading
    assert lab.reading.endswith("latency −800 ns: bandwidth decides.")


def test_a_link_that_loses_by_a_bound_may_be_first():
    lab = labs.link_race().set(first="InfiniBand HDR", second="InfiniBand NDR", nbytes=64)
    assert lab.reading.endswith("The latency of InfiniBand NDR is an upper bound: it may be first.")


def test_latencies_of_two_layers_do_not_race():
    lab = labs.link_race().set(first="PCIe 5", second="InfiniBand NDR", nbytes=GiB, rate="achieved")
    assert lab.reading == (
        "1 GiB: the bytes alone take 19.4 ms over PCIe 5 (55.4 GB/s per x16 slot) and 22.6 ms over "
        "InfiniBand NDR (47.5 GB/s per port), 1.17 times as long. The latencies are of two layers, "
        "“NCCL step” and “host to host, 1 byte”, which do not compare: bandwidth alone makes 3.22 ms of "
        "difference."
    )
    arrivals = [point.x for point in lab.table if point.y == 100]
    assert min(arrivals) == near(19.4e-3)  # the picture leaves latency out, too


def test_without_both_latencies_the_race_is_open():
    lab = labs.link_race().set(first="InfiniBand NDR", second="InfiniBand XDR", nbytes=64 * KiB)
    assert lab.reading == (
        "64 KiB: the bytes alone take 655 ns over InfiniBand XDR (100 GB/s per port) and 1.31 µs over "
        "InfiniBand NDR (50 GB/s per port), 2 times as long. No latency is published for InfiniBand XDR. "
        "Bandwidth alone makes 655 ns of difference; without both latencies the race is open."
    )


def test_a_large_factor_is_said_in_whole_numbers():
    lab = labs.link_race().set(first="NVLink 6", second="InfiniBand SDR", nbytes=GiB)
    assert "1,800 times as long" in lab.reading


def test_every_layer_has_a_name_in_words():
    assert {link.latency_layer for link in LINKS.values() if link.latency} <= set(chapter02.TEXT)


def test_the_race_says_where_no_achieved_rate_is_known():
    lab = labs.link_race().set(first="PCIe 4", rate="achieved")
    assert lab.reading.endswith("No achieved rate is known for PCIe 4: the specified one is taken.")


def test_a_link_against_itself_is_a_tie():
    lab = labs.link_race().set(second="NVLink 4")
    assert "both have it after 2.93 µs" in lab.reading
    assert {point.series for point in lab.table} == {"NVLink 4", "NVLink 4, again"}


# ---- data_sheet_trap ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sheet", "link"),
    [
        ("NDR: 400 Gb/s a port", LINKS["InfiniBand NDR"]),
        ("NVLink 4: 900 GB/s", LINKS["NVLink 4"]),
        ("PCIe 5 x16: 128 GB/s", LINKS["PCIe 5"]),
        ("nvlink -s: 478 GB/s", LINKS["NVLink 4"]),
        ("H800: 8 links of 50 GB/s", LINKS["NVLink 4 (H800)"]),
    ],
)
def test_each_data_sheet_gives_the_bandwidth_of_the_tables(sheet, link):
    assert data_sheet.PRESETS[sheet].bandwidth == near(link.bandwidth, 1e-6)


def test_the_node_of_eight_gives_each_gpu_an_eighth():
    sheet = data_sheet.PRESETS["AWS p5: 3200 Gb/s a node"]
    assert sheet.bandwidth == specs.SYSTEMS["AWS p5"].gpu_network_bandwidth == 50 * GBps
    lab = labs.data_sheet_trap().set(preset="AWS p5: 3200 Gb/s a node")
    assert lab.reading.endswith(
        "All together make 6.4 TB/s; highest and lowest reading lie a factor 128 apart."
    )
    assert "400 GB/s one way per GPU" in lab.set(counted="a GPU").reading


def test_bits_and_directions_make_sixteen():
    assert labs.data_sheet_trap().reading == (
        "“NDR: 400 Gb/s a port”: 400 Gb/s, one way, per link (1 to a GPU) means 50 GB/s one way per GPU. "
        "Mistakes multiply: bits for bytes × 8, one direction doubled × 2. All together make 800 GB/s; "
        "highest and lowest reading lie a factor 16 apart."
    )


def test_a_data_sheet_fills_in_the_controls_and_a_moved_control_makes_it_ones_own():
    lab = labs.data_sheet_trap().set(preset="NVLink 4: 900 GB/s")
    assert (lab.values["number"], lab.values["unit"], lab.values["direction"]) == (900, "GB/s", "both ways")
    lab.set(unit="GiB/s")
    assert lab.values["preset"] == "own"
    assert lab.reading.startswith("Your own sentence: 900 GiB/s, both ways, per GPU means 483 GB/s one way")
    assert lab.set(unit="GB/s").values["preset"] == "NVLink 4: 900 GB/s"


def test_the_trap_comes_back_from_its_link():
    lab = labs.data_sheet_trap().set(preset="nvlink -s: 478 GB/s").set(count=8)
    assert labs.data_sheet_trap().follow(lab.link).values == lab.values
