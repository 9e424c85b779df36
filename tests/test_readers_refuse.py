"""Readers on what is broken: runs that failed, text that is refused, and input made to hurt."""

from __future__ import annotations

import json
import pickle
import random
import time

import numpy as np
import pytest
from small_outputs import DATA, FILES, HEADER, ROW, UNITS, read, read_text, table

from interconnect_lab import readers
from interconnect_lab.readers import ParseError
from interconnect_lab.units import GBps

# ---- runs that failed ----------------------------------------------------------------------------


def test_a_run_that_died_is_a_failure_beside_a_run_that_worked():
    reading = read("nccl_tests_two_programs.txt")
    assert reading.failure == "launch-failed-remote-exit"
    dead, alive = reading.tests
    assert (dead.collective, dead.rows, dead.avg_busbw, dead.max_busbw) == (
        "all_to_all",
        (),
        None,
        None,
    )
    assert (alive.collective, len(alive.rows), reading.nodes) == ("send_recv", 4, 2)
    assert dead.nbytes.shape == dead.busbw.shape == (0,)


def test_the_version_is_that_of_the_tests_and_not_of_the_library():
    text = "rccl-tests: Version develop:3f7f785\nNCCL version 2.22.3\n" + HEADER + UNITS + ROW
    assert read_text(text).version == "develop:3f7f785"


def test_a_footer_is_read_in_front_of_debug_output():
    reading = table(ROW, "# Avg bus bandwidth : 45.3 host:1:1 [0] NCCL INFO comm 0x5 rank 0\n")
    assert reading.tests[0].avg_busbw == pytest.approx(45.3 * GBps)


def test_a_form_gives_no_measurements():
    reading = read("nccl_tests_form.txt")
    assert reading.failure == "no-measurements"
    assert (reading.tests[0].rows, reading.tests[0].avg_busbw) == ((), None)
    assert reading.notes == ("line 5: 2 rows have X where numbers belong",)


def test_arguments_that_were_refused_are_a_failure():
    reading = read("nccl_tests_usage.txt")
    assert reading.failure == "launch-failed-usage"
    assert [(test.collective, test.rows) for test in reading.tests] == [("all_reduce", ())]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("Invalid number of GPUs: 16 requested but only 8 were found.", "launch-failed-usage"),
        (
            "misc/socket.cc:502 NCCL WARN socketFinalizeAccept: wrong type 4 != 3",
            "launch-failed-network",
        ),
        ("NCCL WARN NET/IB : mlx5_0:1 async fatal event on QP", "launch-failed-network"),
        ("alpha: Test CUDA failure common.cu:99 'out of memory'", "launch-failed-cuda"),
        ("alpha: Test NCCL failure common.cu:99 'unhandled cuda error / '", "launch-failed-cuda"),
        (
            "alpha: Test NCCL failure common.cu:99 'unhandled system error / '",
            None,
        ),  # no code for it
        ("", "no-measurements"),
    ],
)
def test_the_error_below_a_header_without_rows_gives_the_code(error, code):
    assert read_text(f"{HEADER}{UNITS}{error}\n").failure == code


def test_of_several_errors_the_code_that_comes_first_in_precedence_counts():
    errors = "Cuda failure 2\nNCCL WARN NET/IB : async fatal event on QP\n"
    assert read_text(HEADER + UNITS + errors).failure == "launch-failed-network"


def test_an_error_beside_rows_is_a_note_and_no_failure():
    reading = table(ROW, "alpha: Test CUDA failure common.cu:99 'out of memory'\n")
    assert (reading.failure, len(reading.tests[0].rows)) == (None, 1)
    assert reading.notes[0].startswith("line 4: an error beside a table with numbers")


def test_a_launch_that_was_refused_before_any_output_has_no_tests():
    text = "There are not enough slots available in the system\n  ./build/all_reduce_perf\n"
    reading = read_text(text)
    assert (reading.failure, reading.tests) == ("launch-failed-usage", ())


def test_processes_that_print_into_one_table_are_told():
    banner = "# nThread 1 nGpus 1 minBytes 8 maxBytes 8 step: 2(factor)\n"
    alone = "# Rank 0 Group 0 Pid {} on alpha device {} [0x1b] Example GPU\n"
    text = "".join(banner + alone.format(n, n) for n in range(4)) + 4 * (HEADER + UNITS) + 4 * ROW
    reading = read_text(text)
    assert [len(test.rows) for test in reading.tests] == [4]
    assert "sizes repeat" in reading.notes[-1]


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "\n\n", "no tool prints this\n", b"\xff\xfe", "{}", "[1, 2]", "\x00"])
def test_a_text_of_no_known_format_is_refused_with_the_formats_that_are_known(text):
    with pytest.raises(ParseError, match=r"nccl-tests") as caught:
        readers.read(text)
    assert caught.value.line == 1
    assert isinstance(caught.value, ValueError)


def test_a_refusal_names_the_first_line_that_says_anything_and_shows_it_shortened():
    with pytest.raises(ParseError) as caught:
        readers.read("\n\n" + "blah " * 100)
    assert caught.value.line == 3
    assert str(caught.value).startswith("line 3: expected the output of a tool")
    assert "blah" in str(caught.value)
    assert len(str(caught.value)) < 250


def test_a_report_that_ends_early_is_refused_where_it_ends():
    text = (DATA / "nccl_tests_report.json").read_text(encoding="utf-8")
    cut = text[: text.index('"bus_bw"')]
    with pytest.raises(ParseError) as caught:
        readers.read(cut)
    assert caught.value.line == pytest.approx(cut.count("\n"), abs=1)


@pytest.mark.parametrize("result", [1, None, {"size": "big"}, {"size": 8, "in_place": []}])
def test_a_report_with_a_result_that_is_none_is_refused(result):
    report = json.dumps({"results": [result], "average_bus_bandwidth": {}})
    with pytest.raises(ParseError, match="expected a"):
        readers.read(report)


def test_what_is_no_text_is_a_type_error():
    with pytest.raises(TypeError, match="NoneType"):
        readers.read(None)


def test_an_error_survives_a_process_boundary():
    error = pickle.loads(pickle.dumps(ParseError(3, "x" * 100, "a table")))
    assert (error.line, error.expected, str(error)[:24]) == (
        3,
        "a table",
        "line 3: expected a table",
    )


# ---- hostile input -------------------------------------------------------------------------------

JUNK = [
    *(
        "\x00",
        "\x1b[",
        "\ufeff",
        "\u2028",
        "\udcff",
        "½",
        "²",
        "\r",
        "\n",
        "\t",
        "-",
        "1e999",
        "9" * 50,
    ),
    *(
        "#",
        "[1,0]<stdout>:",
        "NCCL INFO ",
        "0host:1:1 [0] NCCL INFO ",
        "...",
        "XXX",
        "N/A",
        "nan",
        "inf",
    ),
    *(
        HEADER,
        UNITS,
        ROW,
        '"',
        "{",
        "]",
        ":",
        "Rank ",
        "device",
        "Avg bus bandwidth :",
        "\\",
        "_perf",
    ),
]


def mutated(text: str, chance: random.Random) -> str:
    """Change ``text`` in one to twelve places: cut, doubled, swapped, or junk put in."""
    for _ in range(chance.randint(1, 12)):
        a, b = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        b = min(b, a + chance.choice([1, 3, 40, 4000]))
        piece, junk = text[a:b], chance.choice(JUNK)
        text = text[:a] + chance.choice(["", junk, 2 * piece, piece[::-1], junk + piece]) + text[b:]
    return text


@pytest.mark.parametrize("seed", range(300))
def test_a_mutilated_output_is_read_or_refused_and_never_worse(seed):
    chance = random.Random(seed)
    text = (DATA / chance.choice(FILES)).read_text(encoding="utf-8")
    text = mutated(text, chance)
    last = max(text.count("\n"), text.count("\r")) + 1
    try:
        found = readers.read(text)
    except ParseError as error:
        assert 1 <= error.line <= last
        return
    for reading in found:
        assert all(1 <= row.line <= last for test in reading.tests for row in test.rows)
        assert all(1 <= test.line <= last for test in reading.tests)
        assert all(np.all(test.busbw[~np.isnan(test.busbw)] >= 0) for test in reading.tests)


LONG = {
    "rows": (HEADER + UNITS, ROW, ""),
    "debug output": (
        HEADER,
        "host:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n",
        ROW,
    ),
    "ends of rows": (HEADER, "  40.00  26.21  45.88  0\n", ROW),
    "columns": ("# size count type redop root ", "time algbw busbw #wrong ", "\n" + ROW),
    "one long line": (HEADER, "8 ", "\n" + ROW),
    "brackets": (HEADER + ROW, "[", ""),
    "tags that do not end": (HEADER + ROW, "[" + "a" * 79, "<stdout>:"),
    "escape codes": (HEADER + ROW, "\x1b[", ""),
    "names of programs": (HEADER + ROW, "all_reduce_", "perf"),
    "results of a report": ('{"alg_bw": 1, "results": [', '{"size": 8},\n', '{"size": 8}]}'),
    "results without a size": ('{"alg_bw": 1, "results": [', "1,\n", "1]}"),
    "brackets of a report": ('{"alg_bw": ', "[", ""),
}


@pytest.mark.parametrize(("head", "piece", "tail"), LONG.values(), ids=LONG)
def test_time_grows_with_the_length_and_not_with_its_square(head, piece, tail):
    def seconds(nbytes: int) -> float:
        text = head + piece * (nbytes // len(piece)) + tail
        start = time.process_time()
        try:
            readers.read(text)
        except ParseError:
            assert tail in ("", "1]}")  # brackets without end, results that are none
        return time.process_time() - start

    short = min(seconds(40_000) for _ in range(3))
    long = min(seconds(640_000) for _ in range(2))
    assert long < 64 * max(short, 1e-4)  # 16 times the text; its square would be 256 times the time
