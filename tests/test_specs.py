"""Tables of links, accelerators, systems, fabrics: golden figures, arithmetic over every row."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

import interconnect_lab
from interconnect_lab import specs
from interconnect_lab.links import Link
from interconnect_lab.specs import ACCELERATORS, FABRICS, LATENCIES, LINKS, SYSTEMS
from interconnect_lab.units import GBps, Gbps, MiB, us

CLONE = Path(__file__).resolve().parent.parent
LINKS_TOML = Path(interconnect_lab.__file__).parent / "data" / "links.toml"
TABLES = {"links": LINKS, "accelerators": ACCELERATORS, "systems": SYSTEMS, "fabrics": FABRICS}
TABLES["latencies"] = LATENCIES
NAMED = {f"{name}: {key}": row for name, table in TABLES.items() for key, row in table.items()}
ROWS = [pytest.param(row, id=name) for name, row in NAMED.items()]
LINK_ROWS = [pytest.param(row, id=row.name) for row in LINKS.values()]

# What is left of the raw rate: 8b/10b and 64b/66b by their names; RS(544,514) adds 33/34 to 64/66;
# a PCIe flit of 256 bytes holds 236 of packets and 6 of link layer; Slingshot keeps 50 of 56.
CODING = {
    "raw": 1,
    "8b/10b": 8 / 10,
    "64b/66b": 64 / 66,
    "64b/66b + RS(544,514)": 64 / 66 * 33 / 34,
    "PAM4, 16/17": 16 / 17,
    "128b/130b": 128 / 130,
    "FLIT 242/256": 242 / 256,
    "PAM4, 50/56": 50 / 56,
}


# Golden figures


@pytest.mark.parametrize(
    ("name", "one_way"),
    [
        ("NVLink 1", 80),  # Pascal whitepaper: 4 links of 20 GB/s
        ("NVLink 2", 150),  # 6 of 25
        ("NVLink 3", 300),  # H100 whitepaper 4.7: 12 of 25
        ("NVLink 4", 450),  # H100 whitepaper: 900 GB/s both ways
        ("NVLink 4 (H200)", 450),
        ("NVLink 4 (H800)", 200),  # arXiv 2505.09343: 400 GB/s both ways
        ("NVLink 5", 900),  # nvidia.com: 1.8 TB/s both ways
        ("NVLink 6", 1800),
        ("NVLink-C2C", 450),
        ("NVSwitch 3", 1600),  # 64 ports of 25
        ("PCIe 1", 4.0),  # Linux PCIE_SPEED2MBS_ENC: 2.5 GT/s x 16 lanes x 8/10 / 8
        ("PCIe 4", 31.5),
        ("PCIe 5", 63.0),  # 32 GT/s x 16 lanes x 128/130 / 8
        ("PCIe 6", 121),
        ("InfiniBand SDR", 1),
        ("InfiniBand FDR", 6.818),
        ("InfiniBand HDR", 25),
        ("InfiniBand NDR", 50),  # Azure ND H100 v5: 400 Gb/s
        ("InfiniBand XDR", 100),
        ("InfiniBand GDR", 200),
        ("100GbE", 12.5),
        ("400GbE", 50),
        ("800GbE", 100),
        ("1.6TbE", 200),
        ("EFA v1 (p4d)", 50),  # AWS: 4 x 100 Gb/s an instance
        ("EFA v2 (p5)", 400),  # AWS: 3200 Gb/s an instance
        ("TPU v5p ICI", 600),  # Google: 1200 GB/s both ways
        ("Infinity Fabric (MI300X)", 448),  # 7 links of 64
        ("Gaudi 3 scale-up", 525),  # 21 ports of 200 Gb/s
        ("UALink 200G", 100),
        ("Slingshot-11", 25),
        ("NeuronLink v3", 512),
    ],
)
def test_the_bandwidth_is_one_way_for_the_scope(name, one_way):
    assert LINKS[name].bandwidth == pytest.approx(one_way * GBps, rel=1e-3)


SPEEDS = ("SDR", "DDR", "QDR", "FDR", "EDR", "HDR", "NDR", "XDR", "GDR")


def test_every_generation_that_readers_type_is_there():
    expected = [f"NVLink {n}" for n in range(1, 7)] + [f"PCIe {n}" for n in range(1, 8)]
    expected += [f"InfiniBand {g}" for g in SPEEDS]
    assert [name for name in expected if name not in LINKS] == []


def test_900_gigabytes_against_400_gigabits_is_a_factor_of_nine():
    # design.md's factor-16 trap: bits for bytes (8) times both ways for one (2)
    nvlink, ndr = LINKS["NVLink 4"], LINKS["InfiniBand NDR"]
    assert (nvlink.quoted_rate, nvlink.both_ways) == (900 * GBps, True)
    assert (ndr.quoted_rate, ndr.both_ways) == (400 * Gbps, False)
    assert nvlink.bandwidth / ndr.bandwidth == 9


def test_raw_coded_and_achieved_are_three_figures():
    pcie = LINKS["PCIe 5"]
    # raw 64 of the data sheet, 63.0 after coding, 55.4 copied on an H200 (ml-engineering)
    assert pcie.raw_bandwidth == 64 * GBps
    assert pcie.bandwidth == pytest.approx(63.0 * GBps, rel=1e-3)
    assert pcie.achieved == pytest.approx(55.4 * GBps, rel=2e-3)
    # nvidia-smi sums an H100's links to 478 GB/s
    assert LINKS["NVLink 4"].raw_bandwidth == pytest.approx(478.125 * GBps)
    assert LINKS["NVLink 6"].raw_bandwidth is None
    assert LINKS["NVLink 6"].achieved is None


@pytest.mark.parametrize(
    ("name", "per_hbm", "per_link", "per_nic"),
    [
        # facts/specs.md, section 6: dense FLOP per byte
        ("A100 SXM", 153, 1040, 12.5e3),
        ("H100 SXM", 295, 2198, 19.8e3),
        ("H200", 206, 2198, 19.8e3),
        ("B200", 281, 2500, 45e3),
        ("MI300X", 247, 2917, 26e3),
        ("TPU v5p", 166, 765, 73.4e3),  # 50 Gb/s of data-centre network a chip
    ],
)
def test_flop_per_byte(name, per_hbm, per_link, per_nic):
    chip = ACCELERATORS[name]
    assert chip.flop_per_hbm_byte == pytest.approx(per_hbm, rel=5e-3)
    assert chip.flop_per_link_byte == pytest.approx(per_link, rel=1e-3)
    assert chip.flop_per_nic_byte == pytest.approx(per_nic, rel=6e-3)


def test_old_gpus_count_fp16_and_have_no_sourced_share_of_the_network():
    v100 = ACCELERATORS["V100"]
    assert v100.half_format == "fp16"
    assert v100.nic_bandwidth is None
    assert v100.flop_per_nic_byte is None
    assert v100.flop_per_link_byte == pytest.approx(833, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        # facts/specs.md, section 7, verdict 4: per GPU and direction
        ("DGX H100", 9),
        ("DGX A100", 12),
        ("DGX B200", 18),
        ("DGX-1 V100", 24),
        ("AWS p4d", 48),
        ("H800 node", 4),
    ],
)
def test_inside_is_faster_than_outside_by(name, ratio):
    assert SYSTEMS[name].inside_over_outside == ratio


def test_a_dgx_h100():
    node = SYSTEMS["DGX H100"]
    assert (node.gpus, node.gpus_per_node, node.nodes, node.switches, node.nics) == (8, 8, 1, 4, 8)
    assert node.link is LINKS["NVLink 4"]
    assert node.network.bandwidth == node.nic_bandwidth == 50 * GBps
    assert node.node_bandwidth == 400 * GBps


def test_an_nvl72_is_one_domain_on_18_hosts():
    rack = SYSTEMS["GB200 NVL72"]
    assert (rack.gpus, rack.nodes, rack.gpus_per_node, rack.domain, rack.switches) == (
        72,
        18,
        4,
        72,
        18,
    )
    # 130 TB/s both ways in the brochure is 64.8 one way
    assert rack.domain * rack.link.bandwidth == pytest.approx(64.8e12)
    assert rack.gpu_network_bandwidth == 50 * GBps
    assert SYSTEMS["DGX H100"].domain == 8


def test_an_efa_instance_has_many_cards():
    p5 = SYSTEMS["AWS p5"]
    assert (p5.nics, p5.network.bandwidth, p5.network.scope) == (32, 12.5 * GBps, "link")
    assert p5.gpu_network_bandwidth == 50 * GBps


def test_a_system_without_published_nics_says_so():
    box = SYSTEMS["L40S box"]
    assert box.node_bandwidth is None
    assert box.inside_over_outside is None
    with pytest.raises(ValueError, match="no NIC is published for L40S box"):
        _ = box.network


def test_switches_add_up_their_ports():
    # H100 whitepaper 4.7.1: 64 ports; a two-level tree of 64 ports has 64²/2 = 2048 hosts
    assert FABRICS["NVSwitch 3"].switch_bandwidth == LINKS["NVSwitch 3"].bandwidth
    chip, tray = FABRICS["NVLink 5 switch chip"], LINKS["NVSwitch 4 (tray)"]
    assert 2 * chip.switch_bandwidth == tray.bandwidth
    planes = FABRICS["DeepSeek multi-plane"]
    assert planes.endpoints / planes.planes == planes.radix**2 / 2
    assert FABRICS["Meta 24K"].oversubscription == 7
    assert (
        FABRICS["Meta 24K"].endpoints
        == 8 * FABRICS["Meta 24K pod"].endpoints
        == SYSTEMS["Meta 24K RoCE"].gpus
    )


# A row computes like a link


def test_a_row_is_a_link():
    ndr = LINKS["InfiniBand NDR"]
    assert isinstance(ndr, Link)
    assert ndr.time(50e6) == pytest.approx(2 * us + 1e-3)
    assert ndr.half_size == pytest.approx(100e3)
    assert ndr.effective_bandwidth(100e3) == pytest.approx(25 * GBps)
    assert ndr.time([0, 50e6]) == pytest.approx([2 * us, 1.002e-3])


def test_without_a_published_latency_there_is_no_time_but_advice():
    xdr = LINKS["InfiniBand XDR"]
    assert xdr.latency is None
    for ask in (lambda: xdr.time(MiB), lambda: xdr.half_size, lambda: xdr.effective_bandwidth(MiB)):
        with pytest.raises(ValueError, match=r"no latency is published .* XDR.*with_latency"):
            ask()
    own = xdr.with_latency(2 * us, source="as NDR")
    assert type(own) is Link
    assert own.time(0) == 2 * us
    assert own.bandwidth == xdr.bandwidth
    assert own.source.startswith("InfiniBand XDR: ") and own.source.endswith("latency as NDR")


def test_one_link_of_a_gpu():
    one = LINKS["NVLink 4"].per_link()
    assert (one.bandwidth, one.links, one.scope) == (25 * GBps, 1, "link")
    assert LINKS["PCIe 5"].per_link().scope == "x16 slot"
    with pytest.raises(ValueError, match=r"how NVLink-C2C \(Vera\) splits into links"):
        LINKS["NVLink-C2C (Vera)"].per_link()


# Arithmetic over all rows


@pytest.mark.parametrize("row", LINK_ROWS)
def test_links_times_the_bandwidth_of_one_is_the_bandwidth(row):
    if row.links is None or row.link_bandwidth is None:
        assert row.raw_bandwidth is None
    else:
        assert row.links * row.link_bandwidth == pytest.approx(row.bandwidth, rel=1e-6)


@pytest.mark.parametrize("row", LINK_ROWS)
def test_lanes_times_their_rate_times_the_coding_is_the_bandwidth(row):
    if row.raw_bandwidth is not None:
        assert row.raw_bandwidth * CODING[row.coding] == pytest.approx(row.bandwidth, rel=1e-3)


@pytest.mark.parametrize("row", LINK_ROWS)
def test_the_quoted_figure_is_the_bandwidth_with_its_directions_coded_or_raw(row):
    own = row.link_bandwidth if row.quoted.endswith("per link") else row.bandwidth
    one_way = row.quoted_rate / (2 if row.both_ways else 1)
    # PCIe from 3 on and InfiniBand to FDR (rounded) are quoted before coding, all others after it
    rounded = pytest.approx(row.raw_bandwidth or own, rel=5e-3)
    assert one_way in (pytest.approx(own, rel=1e-3), rounded)


@pytest.mark.parametrize("row", LINK_ROWS)
def test_no_latency_without_its_layer_and_source(row):
    given = [row.latency is not None, bool(row.latency_layer), bool(row.latency_source)]
    assert all(given) or not any(given)
    assert row.latency_high is None or row.latency is not None
    assert row.efficiency is None or row.efficiency_source


@pytest.mark.parametrize("row", ROWS)
def test_every_row_says_who_says_so_of_which_kind_and_when(row):
    assert row.source.strip()
    assert row.kind in specs.KINDS
    assert row.confidence in specs.CONFIDENCE
    assert datetime.date(2026, 1, 1) <= row.as_of <= datetime.date(2026, 12, 31)


@pytest.mark.parametrize("row", ROWS)
def test_nothing_unverified_is_presented_as_a_fact(row):
    assert row.confidence != "C" or (row.kind == "assumed" and row.note)


@pytest.mark.parametrize("row", ROWS)
def test_what_is_only_announced_says_so(row):
    announced = (
        "NVLink 6",
        "NVLink-C2C (Vera)",
        "NVSwitch 5 (tray)",
        "InfiniBand GDR",
        "PCIe 7",
        "1.6TbE",
    )
    assert row.name not in announced or row.kind == "claimed"


def test_names_point_to_rows():
    assert {row.scale_up for row in ACCELERATORS.values()} <= set(LINKS)
    assert {row.accelerator for row in SYSTEMS.values()} <= set(ACCELERATORS)
    assert {row.intra_link for row in SYSTEMS.values()} <= set(LINKS)
    links = [row.nic_link for row in SYSTEMS.values()] + [row.port_link for row in FABRICS.values()]
    links += [row.link for row in LATENCIES.values()]
    assert {name for name in links if name} <= set(LINKS)


@pytest.mark.parametrize("row", [pytest.param(r, id=r.name) for r in SYSTEMS.values() if r.nics])
def test_a_system_and_its_links_agree(row):
    assert row.network.bandwidth == row.nic_bandwidth
    assert row.link.bandwidth == row.link.per_link().bandwidth * row.link.links
    assert row.link is ACCELERATORS[row.accelerator].link


@pytest.mark.parametrize("row", [pytest.param(r, id=r.name) for r in ACCELERATORS.values()])
def test_fp8_is_dense_too(row):
    # a figure with sparsity would be four times the 16-bit one
    assert row.flops_fp8 is None or row.flops_bf16 <= row.flops_fp8 <= 2.1 * row.flops_bf16
    assert row.memory >= 16e9


def test_a_latency_below_a_figure_is_marked_as_a_bound():
    """Azure HBv4 documentation: NDR below 2 us; the other rows are figures, not bounds."""
    assert [row.name for row in LINKS.values() if row.latency_is_bound] == ["InfiniBand NDR"]
    for row in LATENCIES.values():
        assert row.latency_is_bound == ("below" in f"{row.source} {row.note}"), row.name


def test_ports_of_a_fabric_run_at_the_rate_of_their_link():
    for row in FABRICS.values():
        if row.port_link and row.port_bandwidth:
            assert LINKS[row.port_link].per_link().bandwidth == row.port_bandwidth, row.name


def test_latencies_by_layer_agree_with_the_links():
    for row in LATENCIES.values():
        if row.link and LINKS[row.link].latency_layer == row.latency_layer:
            assert LINKS[row.link].latency == row.latency, row.name
