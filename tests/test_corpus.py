"""Outputs of the field's tools as practitioners posted them, each with its right reading.

They lie beside some clones and stay there: they are read in place, and scored as their schema says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interconnect_lab import readers
from interconnect_lab.units import GBps, us

BESIDE = Path(__file__).resolve().parents[2] / "shared"
CORPUS = Path(os.environ.get("INTERCONNECT_LAB_SHARED", BESIDE)) / "corpus"
COUNTS = {"nccl-tests": 32}  # cases of the kinds that have a scorer
PROGRAMS = {"all_to_all": "alltoall", "send_recv": "sendrecv"}  # nccl-tests' own names

Case = dict[str, Any]
Mismatches = Iterator[str]


def cases() -> list[Case]:
    """The cases of the kinds that have a scorer, in the order of their numbers."""
    files = sorted(CORPUS.glob("*/case.json"))
    found = [json.loads(file.read_text(encoding="utf-8")) | {"folder": file.parent} for file in files]
    return [case for case in found if case["kind"] in SCORERS]


def exact(what: str, expected: Any, found: Any) -> Mismatches:
    """Null in the expectation means that the input leaves the value open."""
    if expected is not None and expected != found:
        yield f"{what}: {found!r}, expected {expected!r}"


def tol(what: str, expected: float | None, found: float | None) -> Mismatches:
    """Within 0.5 % or one unit of the last printed digit."""
    if expected is None:
        return
    mantissa, _, exponent = repr(float(expected)).partition("e")
    digit = 10.0 ** (int(exponent or 0) - max(2, len(mantissa.partition(".")[2])))
    if found is None or abs(found - expected) > max(0.005 * abs(expected), 1.0001 * digit):
        yield f"{what}: {found!r}, expected {expected!r}"


def score_nccl_tests(expected: dict[str, Any], reading: readers.nccl_tests.NcclTests) -> Mismatches:
    for key in ("ranks", "ranks_from_ratio", "nodes"):
        yield from exact(key, expected[key], getattr(reading, key))
    if expected["gpu_names"] is not None:
        yield from exact("gpu_names", set(expected["gpu_names"]), set(reading.gpu_names))
    if expected["failure"] != reading.failure:  # here null is exact
        yield f"failure: {reading.failure!r}, expected {expected['failure']!r}"
    yield from exact("number of tests", len(expected["tests"]), len(reading.tests))
    for number, (one, test) in enumerate(zip(expected["tests"], reading.tests, strict=False)):
        yield from (f"test {number}: {mismatch}" for mismatch in score_table(one, test))


def score_table(expected: dict[str, Any], test: readers.nccl_tests.NcclTest) -> Mismatches:
    name = PROGRAMS.get(test.collective, test.collective)
    yield from exact("collective", expected["collective"], name)
    yield from exact("row_count", expected["row_count"], len(test.rows))
    for key, found in (("max_busbw", test.max_busbw), ("avg_busbw", test.avg_busbw)):
        yield from tol(key, expected[key], None if found is None else found / GBps)
    yield from exact("out_of_bounds", expected["out_of_bounds"], test.out_of_bounds)
    for row in expected["rows"]:
        if row["row"] < len(test.rows):
            where, found = f"row {row['row']}", test.rows[row["row"]]
            yield from (f"{where}: {mismatch}" for mismatch in score_row(row, found))
        else:
            yield f"row {row['row']} is missing"


def score_row(expected: dict[str, Any], row: readers.nccl_tests.Row) -> Mismatches:
    cells = {"size": row.nbytes, "count": row.count, "type": row.dtype}
    for key, found in (cells | {"redop": row.redop, "root": row.root}).items():
        if expected[key] != found:
            yield f"{key}: {found!r}, expected {expected[key]!r}"
    for key, half in (("oop", row.out_of_place), ("ip", row.in_place)):
        if (expected[key] is None) != (half is None):
            yield f"{key}: {half!r}, expected {expected[key]!r}"
        elif half is not None:
            yield from (f"{key} {mismatch}" for mismatch in score_half(expected[key], half))


def score_half(expected: dict[str, Any], half: readers.nccl_tests.Timing) -> Mismatches:
    yield from tol("time_us", expected["time_us"], half.seconds / us)
    yield from tol("algbw", expected["algbw"], half.algbw / GBps)
    yield from tol("busbw", expected["busbw"], half.busbw / GBps)
    if (expected["wrong"] is None) != (half.wrong is None):
        yield f"wrong: {half.wrong!r}, expected {expected['wrong']!r}"
    yield from tol("wrong", expected["wrong"], half.wrong)


SCORERS: dict[str, Callable[[dict[str, Any], Any], Mismatches]] = {
    "nccl-tests": score_nccl_tests,
}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_posted_output_is_read_as_its_case_says(case):
    kind, text = case["kind"], (case["folder"] / case["input"]).read_bytes()
    found = [reading for reading in readers.read(text) if reading.kind == kind]
    assert len(found) == 1
    assert list(SCORERS[kind](case["expected"], found[0])) == []


@pytest.mark.parametrize("kind", SCORERS)
def test_all_cases_of_a_kind_are_scored(kind):
    if not CORPUS.is_dir():
        pytest.skip(f"needs ../shared: {COUNTS[kind]} cases of kind {kind} are not scored here")
    assert sum(case["kind"] == kind for case in cases()) == COUNTS[kind]


@pytest.mark.parametrize(
    "change",
    [{"time_us": 40.3}, {"algbw": 26.0}, {"busbw": 46.2}, {"wrong": None}, {"wrong": 1}],
    ids=str,
)
def test_the_score_sees_each_wrong_number(change):
    half = {"time_us": 40.0, "algbw": 26.21, "busbw": 45.88, "wrong": 0}
    timing = readers.nccl_tests.Timing(40 * us, 26.21 * GBps, 45.88 * GBps, 0)
    assert list(score_half(half, timing)) == []
    assert len(list(score_half(half | change, timing))) == 1


@pytest.mark.parametrize(
    ("expected", "found", "fits"),
    [(100.0, 100.5, True), (100.0, 100.6, False), (0.01, 0.02, True), (0.01, 0.021, False)],
)
def test_a_number_fits_within_half_a_percent_or_one_unit_of_its_last_digit(expected, found, fits):
    assert (list(tol("busbw", expected, found)) == []) is fits
