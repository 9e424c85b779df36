"""The tables against the fact sheet that they came from, where it lies beside the clone."""

from __future__ import annotations

import csv

import pytest

from interconnect_lab import specs
from interconnect_lab.specs import LINKS
from interconnect_lab.units import GBps, Gbps, us

# Where a check of the sheet found another figure, or one more: row -> column of the sheet -> here.
CORRECTED = {
    "NVSwitch 3": {"lanes_per_link": 2, "gtps_per_lane": 106.25},  # as the NVLink 4 that it joins
    "InfiniBand EDR": {"latency_us_low": None, "latency_us_high": None},  # 0.5 us is the adapter's
    "InfiniBand HDR": {"latency_us_low": 1.2},  # host to host as NDR; 0.6 us is the adapter's
    "InfiniBand NDR": {"latency_us_high": None},  # 3.7 us is CPU to CPU: see LATENCIES
    "100GbE": {"confidence": "B", "year": 2014},
    "TPU v7x ICI": {"confidence": "A"},
    "PCIe 5": {"efficiency_typical": 0.879},  # 55.4 of 63.0, with one more digit
    "Infinity Fabric (MI250X)": {"links_per_device": 1},  # a row for one link; a GPU's are disputed
    "Infinity Fabric (MI355X)": {
        "total_unidirectional_GBps": 537.6,  # 1075.2 both ways; 1071 is 7 times a rounded 153
        "gbps_per_link_per_direction_GBps": 76.8,
        "lanes_per_link": 16,
        "gtps_per_lane": 38.4,
    },
    "UALink 200G": {
        "gtps_per_lane": 212.5,  # the white paper's signalling rate; 200 is data
        "efficiency_typical": None,  # a target that nothing has reached yet
    },
    "SUE (Tomahawk Ultra)": {"gtps_per_lane": 106.25},  # a 100G Ethernet lane, raw
}
COLUMNS = {
    "year": ("year", 1),
    "lanes_per_link": ("lanes", 1),
    "gbps_per_link_per_direction_GBps": ("link_bandwidth", GBps),
    "links_per_device": ("links", 1),
    "total_unidirectional_GBps": ("bandwidth", GBps),
    "gtps_per_lane": ("lane_rate", Gbps),
    "latency_us_low": ("latency", us),
    "latency_us_high": ("latency_high", us),
    "efficiency_typical": ("efficiency", 1),
}
FAMILIES = {"InfinityFabric": "Infinity Fabric", "TPU-ICI": "TPU ICI"}


def as_named_here(line: dict[str, str]) -> tuple[str, str]:
    generation = line["generation"]
    for word in (" announced", " roadmap", " Ironwood"):
        generation = generation.replace(word, "")
    return FAMILIES.get(line["family"], line["family"]), generation


def test_every_row_of_the_fact_sheet_with_a_bandwidth_is_here_in_its_order(shared):
    with (shared / "facts" / "specs.csv").open(encoding="utf-8", newline="") as file:
        sheet = list(csv.DictReader(file))
    figures = ("total_unidirectional_GBps", "gbps_per_link_per_direction_GBps")
    sheet = [line for line in sheet if any(line[column] for column in figures)]
    here = list(LINKS.values())
    assert [as_named_here(line) for line in sheet] == [(row.family, row.generation) for row in here]
    for line, row in zip(sheet, here, strict=True):
        expected = line | CORRECTED.get(row.name, {})
        assert row.confidence == expected["confidence"], row.name
        for column, (field, unit) in COLUMNS.items():
            check_figure(row, field, unit, expected[column] or None)


def check_figure(row: specs.LinkSpec, field: str, unit: float, expected: str | None) -> None:
    value = getattr(row, field)
    if field == "latency_high" and value is None:
        assert expected is None or float(expected) * unit == pytest.approx(row.latency), row.name
    elif field == "bandwidth" and expected is None:
        assert value == row.link_bandwidth, row.name
    elif expected is None:
        assert value is None, (row.name, field)
    else:
        assert value == pytest.approx(float(expected) * unit, rel=1e-6), (row.name, field)
