"""Published sweeps: what ships, under which terms, and how a curve is found and compared."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import interconnect_lab
from interconnect_lab import specs
from interconnect_lab.units import GB, GiB, KiB, MiB, ms, us
from tools import pack_measurements as packer

DATA = Path(interconnect_lab.__file__).parent / "data"
MEASUREMENTS = DATA / "measurements"
TERMS = {"yes", "yes, with attribution", "yes, as facts"}
CURVES = specs.sweeps()
H100 = specs.sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce", ranks=8)


def busbw(curve: specs.Sweep) -> np.ndarray:
    """An all-reduce's bus bandwidth by nccl-tests' factor, GB/s."""
    return curve.nbytes / curve.seconds * 2 * (curve.ranks - 1) / curve.ranks / GB


@pytest.fixture(scope="module")
def raw(shared) -> list[dict[str, str]]:
    """All lines of ../shared/measurements, each with its file and its terms."""
    folder, lines = shared / "measurements", []
    with (folder / "sources.csv").open(encoding="utf-8", newline="") as file:
        terms = {line["source_id"]: line["publishable"] for line in csv.DictReader(file)}
    for path in sorted(set(folder.glob("*.csv")) - {folder / "sources.csv"}):
        with path.open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                lines.append(line | {"file": path.stem, "terms": terms[line["source_id"]]})
    return lines


# Golden points


@pytest.mark.parametrize(
    ("name", "ranks", "nbytes", "seconds"),
    [
        # chapters.md, 01: 256 times the data in 1.23 times the time
        ("aic_h100_sxm_nccl2.29.2", 8, 1 * KiB, 15.6 * us),
        ("aic_h100_sxm_nccl2.29.2", 8, 256 * KiB, 19.15 * us),
        # chapters.md, 03: a PCIe box; four and eight L40S collapse
        ("aic_l40s_nccl2.27.3", 2, 512 * MiB, 26.7 * ms),
        ("aic_l40s_nccl2.27.3", 4, 512 * MiB, 156 * ms),
        ("aic_l40s_nccl2.27.3", 8, 512 * MiB, 649 * ms),
        # chapters.md, 05: 8 H100, 16 GiB
        ("h100x8_1n", 8, 16 * GiB, 62.3 * ms),
    ],
)
def test_golden_points(name, ranks, nbytes, seconds):
    curve = specs.sweep(name, op="all_reduce", ranks=ranks)
    assert nbytes in curve.nbytes
    assert curve.time(nbytes) == pytest.approx(seconds, rel=3e-3)


@pytest.mark.parametrize(
    ("name", "plateau"),
    [
        # facts/models.md, section 5.2: best bus bandwidth of the all-reduce, GB/s
        ("h100x16_ndr_2n", 469.2),
        ("h100x32_ndr_4n", 365.8),
        ("h100x10_10n_g1", 48.9),
        ("h100x80_10n_g8", 344.9),
        ("a100x8_superbench_6coll", 235.3),
        ("mi300x_x8", 315.7),
        ("rtx4090x8_epyc_5coll", 16.2),
        ("b200x8_mleng", 845.7),
    ],
)
def test_golden_plateaus(name, plateau):
    curve = specs.sweep(name, op="all_reduce")
    assert busbw(curve).max() == pytest.approx(plateau, rel=2e-3)


def test_two_nodes_start_at_25_microseconds():
    curve = specs.sweep("h100x16_ndr_2n")
    assert (curve.ranks, curve.nodes, curve.gpus_per_node) == (16, 2, 8)
    assert curve.nbytes[[0, -1]].tolist() == [8, 16 * GiB]
    assert curve.time(16) == pytest.approx(24.96 * us)  # the log's second line
    assert "warm-up outlier" in curve.note  # which is why the first is not the one to quote


# What ships


def test_there_are_many_curves_with_names_of_their_own():
    assert len(CURVES) >= 150
    assert len({curve.name for curve in CURVES}) == len(CURVES)
    assert {curve.op for curve in CURVES} == set(specs.OPS)


def test_every_curve_is_sound_and_cannot_be_written():
    for curve in CURVES:
        assert curve.nbytes.dtype.kind == "i" and curve.seconds.dtype == float, curve.name
        assert np.all(np.diff(curve.nbytes) > 0) and np.all(curve.nbytes > 0), curve.name
        assert np.all(curve.seconds > 0) and np.all(curve.seconds < 60), curve.name
        assert curve.ranks % curve.nodes == 0 and curve.ranks >= 2, curve.name
        with pytest.raises(ValueError, match="read-only"):
            curve.seconds[0] = 0


def test_no_bandwidth_is_beyond_what_switches_can_add():
    # an all-reduce in the switch may pass the link's rate, but not twice it (NVLink 5: 900 GB/s)
    for curve in specs.sweeps(op="all_reduce"):
        assert busbw(curve).max() < 2 * 900, curve.name


def test_every_source_can_be_followed_and_says_its_terms():
    assert {curve.source_id for curve in CURVES} == set(specs.sources())
    for source in specs.sources().values():
        assert source.url.startswith("https://"), source
        assert source.licence and source.date and source.terms in TERMS, source
        assert "stored-file" not in source.url, source


def test_nothing_kept_for_checks_only_is_shipped():
    files = [path for path in MEASUREMENTS.iterdir() if path.suffix != ".gz"]
    texts = [path.read_text("utf-8") for path in files]
    texts.append(gzip.decompress((MEASUREMENTS / "sweeps.csv.gz").read_bytes()).decode())
    assert not any("facts only" in text for text in texts)


def test_the_share_alike_curves_travel_with_their_licence():
    licence = (MEASUREMENTS / "LICENSE-CC-BY-SA-4.0.md").read_text("utf-8")
    assert "Stas Bekman" in licence
    assert "https://creativecommons.org/licenses/by-sa/4.0/" in licence
    listed = {line.strip("- `") for line in licence.splitlines() if line.startswith("- ")}
    assert listed == {curve.name for curve in CURVES if curve.source.licence == "CC-BY-SA-4.0"}
    terms = {curve.source.terms for curve in CURVES if curve.name in listed}
    assert terms == {"yes, with attribution"}


def test_the_data_is_small():
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 250e3


# Against the files that it was packed from


def test_packing_again_gives_the_same_files(shared, tmp_path):
    packer.pack(shared / "measurements", tmp_path)
    for name in ("sources.csv", "LICENSE-CC-BY-SA-4.0.md"):
        assert (tmp_path / name).read_bytes() == (MEASUREMENTS / name).read_bytes()
    packed = (tmp_path / "sweeps.csv.gz").read_bytes()
    shipped = (MEASUREMENTS / "sweeps.csv.gz").read_bytes()
    assert gzip.decompress(packed) == gzip.decompress(shipped)
    assert shipped[4:8] == bytes(4)  # no time stamp in the gzip header


def test_only_publishable_sources_ship(raw):
    terms = {line["source_id"]: line["terms"] for line in raw}
    assert {terms[source] for source in specs.sources()} <= TERMS
    assert {source: terms[source] for source in specs.sources()} == {
        source.source_id: source.terms for source in specs.sources().values()
    }


def test_every_publishable_point_ships_or_is_left_out_for_a_reason(raw):
    kept = [line for line in raw if line["terms"] in TERMS and line["out_of_place"] != "no"]
    guessed = [line for line in kept if "size not stated" in line["notes"]]
    unreliable = 2  # b200x32_efa_4n_mleng at 32 and 64 KiB
    runs = [line for line in kept if "three separate runs" in line["notes"]]
    repeated = len(runs) - len({line["size_bytes"] for line in runs})
    shipped = sum(curve.nbytes.size for curve in CURVES)
    assert shipped == len(kept) - len(guessed) - repeated - unreliable


@pytest.mark.parametrize(
    "name",
    [
        "aic_h100_sxm_nccl2.29.2/reduce_scatter/4",
        "a100x4_polaris_n8_nccl2.21_cfg4/all_to_all",
        "v100x8_sxm2_5coll/broadcast",
        "h100x16_efa_2n",
        "h100x10_10n_g1/send_recv",
    ],
)
def test_a_curve_is_what_its_file_says(raw, name):
    curve = specs.sweep(name)
    file = name.partition("/")[0]
    op = {"all_to_all": "alltoall", "send_recv": "sendrecv"}.get(curve.op, curve.op)
    lines = [line for line in raw if (line["file"], line["collective"]) == (file, op)]
    lines = [line for line in lines if int(line["ngpus"]) == curve.ranks]
    lines.sort(key=lambda line: int(line["size_bytes"]))
    assert curve.nbytes.tolist() == [int(line["size_bytes"]) for line in lines]
    assert curve.seconds == pytest.approx([float(line["time_us"]) * us for line in lines], rel=1e-6)
    assert curve.gpu == lines[0]["gpu"] and curve.nodes == int(lines[0]["nnodes"])


def test_repeated_measurements_become_their_median(raw):
    runs = [line for line in raw if "three separate runs" in line["notes"]]
    curve = next(c for c in specs.sweeps(op="send_recv") if "three separate runs" in c.note)
    assert len(runs) == 3
    assert curve.nbytes.tolist() == [int(runs[0]["size_bytes"])]
    assert curve.seconds[0] == pytest.approx(median(float(line["time_us"]) for line in runs) * us)
    assert curve.note.endswith("median of 3 runs")


def test_notes_that_differ_from_size_to_size_do_not_split_a_curve():
    note = "one process 8 threads; median of 6 runs, min 46.88 max 48.74 us"
    assert packer.plain_note(note) == "one process 8 threads; median of 6 runs"
    assert packer.plain_note("8 GiB; algo Ring; NCCL 2.27.7") == "algo Ring; NCCL 2.27.7"
    assert len(specs.sweeps(gpu="V100", op="reduce", min_sizes=27)) == 1


def test_a_source_for_checks_only_is_dropped():
    row = dict.fromkeys(("url", "hardware", "software_version", "date"), "x")
    unknown = "unknown (facts only)"
    rows = [
        row | {"source_id": "open", "licence": "MIT", "publishable": "yes"},
        row | {"source_id": "page", "licence": unknown, "publishable": "yes, as facts"},
        row | {"source_id": "closed", "licence": unknown, "publishable": "facts only"},
    ]
    kept = packer.publishable(rows)
    assert {source: kept[source]["licence"] for source in kept} == {
        "open": "MIT",
        "page": packer.AS_FACTS,
    }


def test_the_packer_says_when_there_is_nothing_to_pack(tmp_path, capsys):
    assert packer.main(["--source", str(tmp_path), "--target", str(tmp_path)]) == 1
    assert "there is no sources.csv" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# Finding one


def test_a_filter_reads_like_a_question():
    found = specs.sweeps(gpu="h100", op="all_reduce", nodes=2, min_sizes=20)
    assert {curve.name for curve in found} == {"h100x16_efa_2n", "h100x16_ndr_2n"}
    assert {curve.ranks for curve in specs.sweeps(gpu="L40S", ranks=8)} == {8}
    assert specs.sweeps(gpu="abacus") == ()
    with pytest.raises(ValueError, match=r"op must be one of all_reduce.*got 'alltoall'"):
        specs.sweeps(op="alltoall")


def test_one_curve_or_the_candidates():
    assert specs.sweep("h100x16_ndr_2n", op="all_reduce").name == "h100x16_ndr_2n"
    assert specs.sweep(H100.name) is H100
    with pytest.raises(ValueError, match=r"several match.*_reduce/2 .*_reduce/4 .*_reduce/8 "):
        specs.sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce")
    with pytest.raises(ValueError, match=r"none matches; there are h100x8_1n/all_gather"):
        specs.sweep("h100x8_1n", op="broadcast")
    with pytest.raises(
        ValueError, match="no published sweep is named 'h100x16_ndr'; near it: h100x16_ndr_2n"
    ):
        specs.sweep("h100x16_ndr")


def test_a_label_fits_a_legend():
    assert H100.label == "8 × H100 SXM, all-reduce"
    assert specs.sweep("gb200x1440_cw").label == "1440 × GB200 on 360 nodes, all-reduce"
    assert max(len(curve.label) for curve in CURVES) <= 50


def test_time_between_two_sizes_is_a_straight_line_on_log_axes():
    low, high = H100.time(np.array([MiB, 2 * MiB]))
    assert H100.time(2**0.5 * MiB) == pytest.approx((low * high) ** 0.5)
    assert isinstance(H100.time(MiB), float)
    assert H100.time(H100.nbytes) == pytest.approx(H100.seconds)
    for outside in (8, GiB, [MiB, GiB]):
        with pytest.raises(ValueError, match="was measured from 512 to 536870912 bytes"):
            H100.time(outside)


@pytest.mark.parametrize(
    ("nbytes", "seconds", "problem"),
    [
        ([1, 2], [1.0], "must pair up"),
        ([], [], "must pair up"),
        ([2, 1], [1.0, 2.0], "must ascend"),
        ([1, 1], [1.0, 2.0], "must ascend"),
        ([0, 1], [1.0, 2.0], "nbytes must be finite numbers above 0"),
        ([1, 2], [1.0, float("nan")], "seconds must be finite numbers above 0"),
    ],
)
def test_a_curve_must_be_sound(nbytes, seconds, problem):
    row = {
        "name": "x",
        "op": "all_reduce",
        "ranks": 8,
        "nodes": 1,
        "gpu": "G",
        "intra_link": "",
        "inter_link": "",
    }
    with pytest.raises(ValueError, match=problem):
        specs.Sweep(**row, software="", note="", source_id="s", nbytes=nbytes, seconds=seconds)


# The nearest


@given(st.floats(0.25, 4))
def test_a_copy_that_is_so_many_times_slower_is_that_far_from_its_original(factor):
    copy = H100.seconds * factor
    found = specs.nearest_sweep(H100.nbytes, copy, "all_reduce", ranks=8, nodes=1)
    ratios = [near.ratio for near in found if near.sweep is H100]
    nearer = [near.ratio for near in found if near.ratio <= max(factor, 1 / factor)]
    assert ratios == pytest.approx([max(factor, 1 / factor)]) or len(nearer) == len(found) == 5


def test_the_nearest_to_a_curve_is_itself():
    best, *others = specs.nearest_sweep(H100.nbytes, H100.seconds, "all_reduce", ranks=8, nodes=1)
    assert best.sweep is H100
    assert best.ratio == pytest.approx(1)
    assert best.overlap == H100.nbytes.size
    assert len(others) == 4
    assert [near.ratio for near in others] == sorted(near.ratio for near in others)


def test_a_machine_of_the_same_size_goes_first():
    l40s = specs.sweep("aic_l40s_nccl2.27.3", op="all_reduce", ranks=2)
    found = specs.nearest_sweep(l40s.nbytes, l40s.seconds, "all_reduce", ranks=8, nodes=1)
    assert {near.sweep.ranks for near in found} == {8}
    anywhere = specs.nearest_sweep(l40s.nbytes, l40s.seconds, "all_reduce")
    assert anywhere[0].sweep is l40s


def test_sizes_that_lie_between_the_published_ones_count():
    sizes = np.array([3, 5, 7, 11]) * MiB
    best = specs.nearest_sweep(sizes, H100.time(sizes), "all_reduce", ranks=8, nodes=1)[0]
    assert (best.sweep, best.overlap) == (H100, 4)


def test_two_shared_sizes_are_too_few():
    tiny = np.array([1, 2, 3])  # no curve of an all-gather starts below 32 bytes
    assert specs.nearest_sweep(tiny, tiny * us, "all_gather") == ()
    beyond = np.array([512 * MiB, 10_000 * GiB, 20_000 * GiB])
    assert specs.nearest_sweep(beyond, np.ones(3), "all_reduce") == ()


def test_arrays_that_do_not_pair_up_are_refused():
    with pytest.raises(ValueError, match=r"must pair up in one row; got shapes \(3,\), \(2,\)"):
        specs.nearest_sweep([1, 2, 3], [1.0, 2.0])
    with pytest.raises(ValueError, match="seconds must be finite numbers above 0"):
        specs.nearest_sweep([1, 2, 3], [1.0, 0.0, 2.0])
    with pytest.raises(ValueError, match="op must be one of"):
        specs.nearest_sweep([1, 2, 3], [1.0, 2.0, 3.0], "gossip")
