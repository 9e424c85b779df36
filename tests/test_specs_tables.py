"""A table is read-only, lazy, checked row by row, and grows by a row."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

import interconnect_lab
from interconnect_lab import specs
from interconnect_lab.specs import ACCELERATORS, FABRICS, LATENCIES, LINKS, SYSTEMS
from interconnect_lab.units import GBps, GiB, us

CLONE = Path(__file__).resolve().parent.parent
LINKS_TOML = Path(interconnect_lab.__file__).parent / "data" / "links.toml"
TABLES = {"links": LINKS, "accelerators": ACCELERATORS, "systems": SYSTEMS, "fabrics": FABRICS}
TABLES["latencies"] = LATENCIES

NEW_ROW = """
[[link]]
name = "NVLink 7"
family = "NVLink"
generation = "7"
device = "a GPU to come"
scope = "GPU"
links = 36
link_bandwidth_GBps = 100
bandwidth_GBps = 3600
quoted = "7.2 TB/s both ways"
kind = "claimed"
source = "a press release"
confidence = "B"
as_of = 2026-11-30
"""


def test_adding_a_generation_is_adding_a_row(tmp_path):
    grown = tmp_path / "links.toml"
    grown.write_text(LINKS_TOML.read_text("utf-8") + NEW_ROW, "utf-8")
    links = specs.load_links(grown)
    assert list(links) == [*LINKS, "NVLink 7"]
    assert links["NVLink 7"].with_latency(1 * us, source="a guess").time(3.6e9) == pytest.approx(
        1e-3 + 1 * us
    )
    assert list(specs.load_links(NEW_ROW)) == ["NVLink 7"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('source = "a press release"\n', "", "'NVLink 7': field 'source' is missing"),
        ('source = "a press release"', 'source = " "', "field 'source' must not be empty"),
        ("links = 36", "linkz = 36", "field 'linkz' is not known"),
        ("links = 36", "links = 3.6", "field 'links' must be a whole number; got 3.6"),
        ("links = 36", "links = true", "field 'links' must be a whole number; got True"),
        ("links = 36", "links = 18", "field 'bandwidth' must be links × link_bandwidth"),
        (
            "bandwidth_GBps = 3600",
            'bandwidth_GBps = "3600"',
            "field 'bandwidth_GBps' must be a number",
        ),
        (
            "bandwidth_GBps = 3600",
            "bandwidth_GBps = -3600",
            "field 'bandwidth' must be finite, 0 or more",
        ),
        (
            "bandwidth_GBps = 3600",
            "bandwidth_GBps = inf",
            "field 'bandwidth' must be finite, 0 or more",
        ),
        ("bandwidth_GBps = 3600", "bandwidth_GBps = 0", "field 'bandwidth' must be above 0"),
        (
            "bandwidth_GBps = 3600",
            "bandwidth_GBps = 3600\nbandwidth_TBps = 3.6",
            "'bandwidth_TBps' is not known",
        ),
        (
            "bandwidth_GBps = 3600",
            "bandwidth_GBps = 3600\nlanes = 2\nlane_rate_Gbps = 8",
            "field 'lane_rate'",
        ),
        ("7.2 TB/s both ways", "7.2 TB/s", "field 'quoted' must read like"),
        ("7.2 TB/s both ways", "7.2 apples both ways", "expected a rate"),
        ('scope = "GPU"', 'scope = "gpu"', "field 'scope' must be one of GPU"),
        ('"claimed"', '"certain"', "field 'kind' must be one of measured, specified"),
        ('confidence = "B"', 'confidence = "D"', "field 'confidence' must be one of A, B, C"),
        (
            'confidence = "B"',
            'confidence = "C"',
            "field 'kind' must be 'assumed' with confidence C",
        ),
        ("as_of = 2026-11-30", 'as_of = "2026-11-30"', "field 'as_of' must be a date"),
        ("links = 36", "links = 36\nlatency_us = 1", "field 'latency_layer' must be given"),
        (
            "links = 36",
            'links = 36\nlatency_us = 1\nlatency_layer = "wire"',
            "field 'latency_layer' must be one of",
        ),
        (
            "links = 36",
            'links = 36\nlatency_us = 2\nlatency_us_high = 1\nlatency_layer = "hop"',
            "field 'latency_high' must not be below",
        ),
        ("links = 36", "links = 36\nlatency_is_bound = 1", "must be true or false; got 1"),
        ("links = 36", "links = 36\nefficiency = 0.8", "field 'efficiency_source' must say"),
        (
            "links = 36",
            'links = 36\nefficiency = 80\nefficiency_source = "x"',
            "field 'efficiency' must be a share",
        ),
        ("[[link]]", "[[lnik]]", "there is no [[link]] table"),
        ("[[link]]", "[link]", "there is no [[link]] table"),
        ("[[link]]", "[[link]", "this is no TOML"),
    ],
)
def test_a_bad_row_is_named_with_its_field(old, new, problem):
    text = NEW_ROW.replace(old, new)
    assert text != NEW_ROW
    with pytest.raises(ValueError) as raised:
        specs.load_links(text)
    assert problem in str(raised.value)


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="'NVLink 7': field 'name' is taken"):
        specs.load_links(NEW_ROW + NEW_ROW)


def test_an_unknown_name_gets_the_near_ones():
    for asked, near in (("NVLink4", "NVLink 4"), ("ndr", "InfiniBand NDR")):
        with pytest.raises(KeyError, match=near):
            _ = LINKS[asked]
    with pytest.raises(KeyError, match="near it: H100 SXM"):
        _ = ACCELERATORS["H100"]
    assert LINKS.get("no such link") is None
    assert "NVLink 4" in LINKS and "NVLink4" not in LINKS


def test_tables_and_rows_cannot_be_written():
    with pytest.raises(TypeError):
        LINKS["NVLink 4"] = None
    with pytest.raises(dataclasses.FrozenInstanceError):
        LINKS["NVLink 4"].bandwidth = 900 * GBps


def test_a_table_shows_its_size_and_names():
    assert repr(SYSTEMS).startswith(f"<system table, {len(SYSTEMS)} rows: DGX-1 P100, ")


def test_importing_reads_no_file():
    code = "import sys, interconnect_lab.specs as s; print(s.LINKS._rows, 'tomllib' in sys.modules)"
    shown = subprocess.check_output([sys.executable, "-c", code], cwd=CLONE, text=True)
    assert shown.split() == ["None", "False"]


@pytest.mark.parametrize(
    ("table", "name", "change", "problem"),
    [
        ("accelerator", "H100 SXM", {"flops_bf16": 0.0}, "field 'flops_bf16' must be above 0"),
        (
            "accelerator",
            "H100 SXM",
            {"half_format": "fp32"},
            "field 'half_format' must be one of bf16, fp16",
        ),
        ("accelerator", "H100 SXM", {"nic_source": ""}, "field 'nic_source' must be given"),
        (
            "system",
            "GB200 NVL72",
            {"nodes": 17},
            "field 'gpus' must divide over the nodes; got 72 on 17",
        ),
        (
            "system",
            "DGX H100",
            {"nics": None},
            "'nics', 'nic_link' and 'nic_bandwidth' go together",
        ),
        (
            "fabric",
            "NVSwitch 3",
            {"radix": None},
            "'radix' and 'port_bandwidth' must be given for a switch",
        ),
        ("fabric", "NVSwitch 3", {"role": "router"}, "field 'role' must be one of switch, network"),
        (
            "fabric",
            "Frontier",
            {"oversubscription": 0.57},
            "field 'oversubscription' must be 1 or more",
        ),
        ("latency", "TPU ICI hop", {"latency_layer": ""}, "field 'latency_layer' must be given"),
    ],
)
def test_the_other_tables_check_their_rows_too(table, name, change, problem):
    tables = {
        "accelerator": ACCELERATORS,
        "system": SYSTEMS,
        "fabric": FABRICS,
        "latency": LATENCIES,
    }
    with pytest.raises(ValueError) as raised:
        dataclasses.replace(tables[table][name], **change)
    assert problem in str(raised.value)


def test_memory_is_counted_as_the_vendor_counts():
    assert ACCELERATORS["H100 SXM"].memory == 80e9
    assert ACCELERATORS["TPU v5e"].memory == 16 * GiB
