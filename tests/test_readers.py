"""Readers on small outputs made for this repository; each shows one oddity of real outputs."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from small_outputs import DATA, GATHER, HEADER, ROOTED, ROW, UNITS, read, read_text, table

from interconnect_lab import readers
from interconnect_lab.readers import nccl_tests
from interconnect_lab.units import GBps, MiB, us

# ---- what a reading holds ------------------------------------------------------------------------


def test_a_reading_tells_who_ran_which_test_and_what_came_out():
    reading = read("nccl_tests_all_reduce.txt")
    assert (reading.kind, reading.version) == ("nccl-tests", "2.17.6")
    assert (reading.ranks, reading.ranks_from_ratio, reading.nodes) == (8, 8, 1)
    assert reading.gpu_names == ("Example GPU 80GB",)
    assert (reading.failure, reading.notes) == (None, ())
    [test] = reading.tests
    assert (test.collective, test.ranks, test.out_of_bounds, test.line) == ("all_reduce", 8, 0, 2)
    assert test.avg_busbw == pytest.approx(240.31 * GBps)
    assert test.max_busbw == pytest.approx(462.05 * GBps)  # in place


def test_a_row_is_in_si_units_and_keeps_its_line():
    row = read("nccl_tests_all_reduce.txt").tests[0].rows[2]
    assert (row.nbytes, row.count, row.dtype, row.redop, row.root) == (
        64 * MiB,
        2**24,
        "float",
        "sum",
        -1,
    )
    assert row.line == 21
    out, into = row.out_of_place, row.in_place
    assert (out.seconds, out.algbw, out.busbw) == pytest.approx((278.11 * us, 241.3e9, 422.28e9))
    assert (into.seconds, into.algbw, into.busbw) == pytest.approx((272.55 * us, 246.23e9, 430.9e9))
    assert out.wrong == into.wrong == 0


def test_columns_are_arrays_of_the_out_of_place_halves():
    [test] = read("nccl_tests_all_reduce.txt").tests
    assert test.nbytes.tolist() == [2**10, 2**20, 2**26, 2**30]
    assert test.seconds == pytest.approx(np.array([20.0, 24.03, 278.11, 4149.78]) * us)
    assert test.algbw == pytest.approx(np.array([0.05, 43.63, 241.3, 258.75]) * GBps)
    assert test.busbw == pytest.approx(np.array([0.09, 76.35, 422.28, 452.81]) * GBps)


def test_readings_are_values():
    reading = read("nccl_tests_all_reduce.txt")
    assert reading == read("nccl_tests_all_reduce.txt")
    assert pickle.loads(pickle.dumps(reading)) == reading
    with pytest.raises(AttributeError):
        reading.ranks = 16


@pytest.mark.parametrize(
    ("build", "value"),
    [
        (lambda: nccl_tests.Timing(-1.0, 1.0, 1.0, None), "-1.0"),
        (lambda: nccl_tests.Timing(1.0, float("inf"), 1.0, None), "inf"),
        (lambda: nccl_tests.Row(-8, 2, "float", "sum", -1, None, None, 1), "-8"),
        (lambda: nccl_tests.NcclTest("all_reduce", (), None, None, 1, ranks=0), "0"),
        (lambda: nccl_tests.NcclTests((), failure="tired"), "tired"),
    ],
)
def test_an_impossible_value_is_refused_and_shown(build, value):
    with pytest.raises(ValueError, match=re.escape(value)):
        build()


# ---- the same output in other clothes ------------------------------------------------------------


def lines(change):
    return lambda text: "".join(f"{change(line)}\n" for line in text.splitlines())


def tag_chunks(text: str) -> str:
    """Open MPI's --tag-output marks each chunk, also where a row is written in three."""
    cut = re.sub(r"(?<=-1)(?=  )|(?<= 0)(?=  )", "[1,0]<stdout>:", text)
    return lines(lambda line: f"[1,0]<stdout>:{line}")(cut)


DISGUISES = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "CR alone": lambda text: text.replace("\n", "\r"),
    "byte order mark": lambda text: "\ufeff" + text,
    "UTF-8 bytes": lambda text: text.encode("utf-8-sig"),
    "UTF-16 bytes": lambda text: text.encode("utf-16"),
    "UTF-16 bytes, big endian": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "NUL bytes": lambda text: text.replace(" ", " \x00"),
    "colours": lines(lambda line: f"\x1b[1;32m{line}\x1b[0m"),
    "Markdown indentation": lines(lambda line: f"    {line}"),
    "quoted mail": lines(lambda line: f"> {line}"),
    "srun labels": lines(lambda line: f"0: {line}"),
    "host and label": lines(lambda line: f"alpha 0: {line}"),
    "mpirun tags, also inside rows": tag_chunks,
    "escaped mpirun tags": lines(lambda line: f"[1,0]&lt;stdout&gt;:{line}"),
    "docker compose": lines(lambda line: f"worker-0  | {line}"),
    "a time in front": lines(lambda line: f"2026-03-01T10:00:00.123456789Z {line}"),
    "collapsed blanks": lines(lambda line: re.sub(" +", " ", line).strip()),
    "tabs": lambda text: text.replace("  ", "\t"),
    "hard blanks": lambda text: text.replace(" ", "\xa0"),
    "lost #": lambda text: text.replace("# ", "").replace("#wrong", "wrong"),
    "Markdown escapes": lambda text: text.replace("#", "\\#").replace("_", "\\_"),
    "old names": lambda text: text.replace("#wrong", " error"),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_what_launchers_and_pages_add_changes_nothing(disguise):
    text = (DATA / "nccl_tests_all_reduce.txt").read_text(encoding="utf-8")
    assert read_text(disguise(text)) == read("nccl_tests_all_reduce.txt")


def test_numbered_lines_are_read_as_what_is_numbered():
    text = (DATA / "nccl_tests_all_reduce.txt").read_text(encoding="utf-8")
    numbered = "".join(f"{n}:{line}\n" for n, line in enumerate(text.splitlines(), start=1))
    assert read_text(numbered) == read("nccl_tests_all_reduce.txt")


# ---- layouts -------------------------------------------------------------------------------------


def test_the_layout_before_2_11_has_no_root_and_prints_errors_instead_of_counts():
    blank, no_column, reduced = read("nccl_tests_old.txt").tests
    assert [test.collective for test in (blank, no_column, reduced)] == [
        None,
        "all_gather",
        "all_reduce",
    ]
    assert [test.ranks for test in (blank, no_column, reduced)] == [4, 4, 4]
    first = blank.rows[0]
    assert (first.nbytes, first.count, first.redop, first.root) == (0, 0, None, None)
    assert first.out_of_place.wrong is None  # N/A
    assert blank.rows[3].in_place.busbw == pytest.approx(90.75 * GBps)
    assert no_column.rows[1].out_of_place.seconds == pytest.approx(1245.16 * us)
    assert (reduced.rows[0].out_of_place.wrong, reduced.rows[0].in_place.wrong) == (2e-07, 1e-07)


def test_nccl_1_printed_milliseconds_under_other_names():
    reading = read("nccl_tests_nccl1.txt")
    [test] = reading.tests
    assert (test.collective, reading.ranks, reading.nodes) == ("reduce", 2, None)
    assert [row.root for row in test.rows] == [0, 1]
    assert test.seconds == pytest.approx([11.5e-3, 11.6e-3])
    assert reading.notes == ("line 2: no row of units: sizes and algbw say that the times are in ms",)


def test_columns_of_single_iterations_and_time_stamps_are_passed_over():
    [test] = read("nccl_tests_per_iteration.txt").tests
    assert test.rows[1].out_of_place.seconds == pytest.approx(462.39 * us)
    assert test.rows[1].in_place.seconds == pytest.approx(453.14 * us)
    assert test.max_busbw == pytest.approx(111.07 * GBps)


def test_the_row_of_units_is_obeyed():
    units = UNITS.replace("(us)", "(ms)").replace("GB/s", "MB/s")
    [test] = read_text(HEADER + units + ROW).tests
    assert test.seconds == pytest.approx([40e-3])
    assert test.algbw == pytest.approx([26.21e6])


def test_without_a_row_of_units_times_are_in_microseconds():
    reading = read_text(HEADER + ROW)
    assert reading.tests[0].seconds == pytest.approx([40 * us])
    assert reading.notes == ()


def test_rows_may_follow_without_any_header():
    reading = read_text("tail of a log\n" + ROW)
    assert reading.tests[0].collective == "all_reduce"
    assert reading.notes == ("line 2: rows without a header: read as nccl-tests prints today",)


def test_a_prompt_before_and_after_a_json_report_is_passed_over():
    report = (DATA / "nccl_tests_report.json").read_text("utf-8")
    alone = read("nccl_tests_report.json")
    [reading] = readers.read(f"user@node:~$ cat report.json\n{report}\nuser@node:~$ exit\n")
    assert [test.rows[0].nbytes for test in reading.tests] == [test.rows[0].nbytes for test in alone.tests]
    assert reading.tests[0].line == alone.tests[0].line + 1


def test_the_json_report_tells_the_same_as_the_text():
    reading = read("nccl_tests_report.json")
    assert (reading.ranks, reading.ranks_from_ratio, reading.nodes) == (4, 4, 2)
    [test] = reading.tests
    assert (test.collective, test.out_of_bounds) == ("reduce_scatter", 0)
    assert test.avg_busbw == pytest.approx(23.456789 * GBps)
    row = test.rows[0]
    assert (row.nbytes, row.count, row.root, row.line) == (2**20, 65536, -1, 64)
    assert row.out_of_place.seconds == pytest.approx(46.2144 * us)
    assert (row.out_of_place.wrong, row.in_place.wrong) == (0, None)


def test_several_json_reports_are_several_readings():
    text = (DATA / "nccl_tests_report.json").read_text(encoding="utf-8")
    first, second = readers.read(f"{text}\n{text}")
    assert first.tests[0].rows[0].line == 64
    assert second.tests[0].rows[0].line == 64 + text.count("\n") + 1
    assert replace(second, tests=()) == replace(first, tests=())


# ---- rows that are not whole ---------------------------------------------------------------------


def test_rows_that_debug_output_cut_are_put_together():
    reading = read("nccl_tests_split_rows.txt")
    [test] = reading.tests
    assert [row.line for row in test.rows] == [13, 17, 21]
    assert test.seconds == pytest.approx(np.array([91.94, 133.89, 217.77]) * us)
    assert [row.in_place.busbw for row in test.rows] == pytest.approx([93.10e9, 127.87e9, 157.22e9])
    assert (test.collective, reading.ranks_from_ratio, reading.notes) == ("all_reduce", 2, ())


def test_half_a_row_without_its_beginning_does_not_count():
    reading = table("  40.00  26.21  45.88  0  41.00  25.58  44.76  0\n", ROW)
    assert len(reading.tests[0].rows) == 1
    assert reading.notes[0].startswith("line 3: the beginning of the row '40.00 26.21")


@pytest.mark.parametrize("cells", [7, 8, 9, 10, 11, 12])
def test_a_last_line_that_is_cut_is_left_out_and_told(cells):
    reading = table(ROW, "  ".join(ROW.split()[:cells]))
    assert len(reading.tests[0].rows) == 1
    assert reading.notes[0].startswith("line 4: ")


def test_a_loop_of_runs_that_did_not_run_in_place_gives_tests_of_one_half():
    reading = read("nccl_tests_loop.txt")
    assert [test.collective for test in reading.tests] == ["reduce_scatter"] * 2
    assert [test.nbytes.tolist() for test in reading.tests] == [[65536], [131072]]
    assert [test.line for test in reading.tests] == [2, 17]
    assert all(row.in_place is None for test in reading.tests for row in test.rows)
    assert [test.avg_busbw for test in reading.tests] == pytest.approx([1.59e9, 3.11e9])


def test_blanks_in_the_first_half_mean_that_only_in_place_was_run():
    row = f"1048576  262144  float  sum  -1{' ' * 32}  41.00  25.58  44.76  0\n"
    reading = table(row)
    [only] = reading.tests[0].rows
    assert only.out_of_place is None
    assert only.in_place.seconds == pytest.approx(41 * us)
    assert reading.tests[0].seconds == pytest.approx([41 * us])


def test_times_in_scientific_notation_are_numbers():
    reading = read("nccl_tests_two_programs.txt")
    assert reading.tests[1].seconds[-1] == pytest.approx(19.0)


@pytest.mark.parametrize("cell", ["inf", "nan", "-nan", "1e999"])
def test_a_cell_that_is_no_finite_number_is_unknown(cell):
    [row] = table(ROW.replace("26.21", cell)).tests[0].rows
    assert row.out_of_place.algbw is None
    assert row.out_of_place.busbw == pytest.approx(45.88 * GBps)
    assert np.isnan(table(ROW.replace("26.21", cell)).tests[0].algbw).tolist() == [True]


def test_an_asterisk_of_rccl_tests_does_not_hide_a_number():
    assert table(ROW.replace("40.00", "40.00*")).tests[0].seconds == pytest.approx([40 * us])


# ---- which collective ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "collective"),
    [
        (ROW, "all_reduce"),
        (
            ROW.replace("262144", "32768").replace("45.88", "22.94").replace("44.76", "22.38"),
            "reduce_scatter",
        ),
        (ROOTED.format("sum"), "reduce"),
        (ROOTED.format("none"), "broadcast"),
        (ROOTED.format("sum").replace(" 3 ", "-1").replace("25.58  0", "25.58  N/A"), "send_recv"),
        (GATHER.format(0, 0), "all_gather"),
        (GATHER.format(0, "N/A"), "all_to_all"),
        (GATHER.format("N/A", "N/A"), None),  # nothing checked: all_gather or all_to_all
        (GATHER.format(0, 0).replace("-1", "3"), None),  # gather or scatter
        (ROOTED.format("none").replace(" 3 ", "-1").replace("262144", "32768"), "hypercube"),
    ],
)
def test_a_collective_without_a_name_is_derived_only_where_one_fits(row, collective):
    assert table(row).tests[0].collective == collective


def test_a_command_decides_between_the_collectives_that_fit():
    text = HEADER + UNITS + GATHER.format("N/A", "N/A")
    assert read_text("$ ./build/alltoall_perf -g 8\n" + text).tests[0].collective == "all_to_all"
    assert read_text("$ ./build/all_reduce_perf -g 8\n" + text).tests[0].collective is None


def test_a_command_belongs_to_the_next_table():
    unchecked = HEADER + UNITS + GATHER.format("N/A", "N/A") + "# Avg bus bandwidth : 22.66\n"
    text = f"./alltoall_perf\n{unchecked}./all_gather_perf\n{unchecked}"
    assert [test.collective for test in read_text(text).tests] == ["all_to_all", "all_gather"]


def test_a_program_that_has_no_word_here_keeps_its_name():
    text = "# Collective test starting: alltoallv_perf\n" + HEADER + UNITS + GATHER.format(0, 0)
    assert read_text(text).tests[0].collective == "alltoallv"


# ---- how many ranks ------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 3, 8, 72, 96])
def test_the_ratio_of_the_bandwidths_gives_the_world_size(ranks):
    busbw = [round(algbw * 2 * (ranks - 1) / ranks, 2) for algbw in (262.14, 255.75)]
    row = f"1048576 262144 float sum -1 4.00 262.14 {busbw[0]:.2f} 0 4.10 255.75 {busbw[1]:.2f} 0\n"
    assert table(row).ranks_from_ratio == ranks


def test_a_ratio_that_is_too_coarse_gives_no_world_size():
    reading = table("1048576 262144 float sum -1 953.0 1.10 2.17 N/A 953.0 1.10 2.17 N/A\n")
    assert (reading.tests[0].collective, reading.ranks_from_ratio) == ("all_reduce", None)


def test_bus_bandwidth_of_zero_is_that_of_one_rank():
    text = "./all_reduce_perf\n" + HEADER + UNITS
    row = "67108864 16777216 float sum -1 105.2 637.72 0.00 0 0.16 419823.98 0.00 0\n"
    reading = read_text(text + row)
    assert (reading.tests[0].collective, reading.ranks_from_ratio) == ("all_reduce", 1)


def test_the_numbers_are_held_against_the_list_of_ranks():
    listed = "# Rank 3 Group 0 Pid 7 on alpha device 3 [0x1b] Example GPU\n"
    reading = read_text(listed + HEADER + UNITS + ROW)
    assert (reading.ranks, reading.ranks_from_ratio, reading.tests[0].ranks) == (4, 8, 8)
    assert reading.notes == ("line 1: 4 ranks are listed, busbw/algbw says 8",)


def test_ratios_that_fit_no_world_size_are_told():
    text = "# Collective test starting: all_reduce_perf\n" + HEADER + UNITS
    reading = read_text(text + ROW + ROW.replace("45.88", "39.32"))  # 8 ranks, then 4
    assert (reading.ranks_from_ratio, reading.tests[0].ranks) == (None, None)
    assert reading.notes == ("line 1: busbw/algbw fits no number of ranks",)


def test_a_shortened_list_of_ranks_still_tells_ranks_and_nodes():
    reading = read("nccl_tests_shortened_ranks.txt")
    [test] = reading.tests
    assert (reading.ranks, reading.nodes, reading.ranks_from_ratio) == (16, 2, None)
    assert (test.collective, test.avg_busbw, test.out_of_bounds) == ("broadcast", None, 0)


def test_a_list_of_ranks_that_lost_hosts_leaves_the_nodes_open():
    listed = "# Rank 71 Group 0 Pid 7 on omega device 3 [0x01] Example GPU\n"
    reading = read_text(listed + HEADER + UNITS + ROW)
    assert (reading.ranks, reading.nodes) == (72, None)
