import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interconnect_lab.units import (
    GB,
    GBps,
    Gbps,
    GiB,
    KiB,
    MiB,
    fmt_bytes,
    fmt_rate,
    fmt_time,
    parse_number,
    parse_rate,
    parse_size,
    parse_time,
)


def test_400_gigabits_are_50_gigabytes_are_46_57_gibibytes_a_second():
    assert 400 * Gbps == 50 * GBps == parse_rate("400 Gb/s") == parse_rate("50 GB/s")
    assert 50 * GBps / GiB == pytest.approx(46.57, abs=0.005)
    assert parse_rate("46.57 GiB/s") == pytest.approx(50 * GBps, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("250 kB", 250_000),
        ("250KB", 250_000),
        ("25 MiB", 25 * 2**20),
        ("1,024 MiB", 2**30),
        ("2 GB", 2 * GB),
        ("16 Mbit", 2_000_000),
        ("2e9", 2e9),
        ("8 bytes", 8),
        ("-1 kB", -1000),
    ],
)
def test_sizes_are_read_as_people_write_them(text, nbytes):
    assert parse_size(text) == nbytes


@pytest.mark.parametrize(
    "text",
    [
        "400 Gb/s",
        "400 gbps",
        "400 gb/s",
        "400 Gb / s",
        "400 Gb/second",
        "400Gbps",
        "400 Gbit/s",
        "50 GB/s",
        "50GBps",
        "0.4 Tb/s",
        "50000 MB/sec",
    ],
)
def test_one_rate_has_many_spellings(text):
    assert parse_rate(text) == pytest.approx(50e9)


@pytest.mark.parametrize(
    ("text", "seconds"), [("5 us", 5e-6), ("5 µs", 5e-6), ("11.6ms", 0.0116), ("2 min", 120)]
)
def test_times_are_read_as_people_write_them(text, seconds):
    assert parse_time(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (parse_size, "", "expected a number"),
        (parse_size, "fast", "expected a number"),
        (parse_size, "5 Gb", "bits or bytes"),
        (parse_size, "1,0 MB", "'1,0 MB'"),
        (parse_size, "5 GB/s", "size unit"),
        (parse_rate, "50 GB", "expected a rate"),
        (parse_rate, "50", "expected a rate"),
        (parse_time, "5", "expected a time"),
        (parse_time, "5 GB", "expected a time"),
        (parse_number, "1e999", "finite"),
        (parse_number, "x" * 10_000, "..."),
    ],
)
def test_what_is_no_quantity_is_refused_and_shown(parse, text, said):
    with pytest.raises(ValueError, match=said):
        parse(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (fmt_bytes(64 * KiB), "64 KiB"),
        (fmt_bytes(1008 * MiB), "1,008 MiB"),
        (fmt_bytes(2 * GB), "2 GB"),
        (fmt_bytes(0), "0 B"),
        (fmt_rate(450 * GBps), "450 GB/s"),
        (fmt_rate(50 * GBps, bits=True), "400 Gb/s"),
        (fmt_rate(48.9 * GBps), "48.9 GB/s"),
        (fmt_time(5.31e-6), "5.31 µs"),
        (fmt_time(0.1786), "179 ms"),
        (fmt_time(0.99996), "1 s"),
        (fmt_time(3e-9), "3 ns"),
        (fmt_time(0), "0 s"),
        (fmt_time(math.inf), "inf s"),
    ],
)
def test_numbers_are_written_with_three_digits_and_a_unit(value, text):
    assert value == text


@given(st.floats(min_value=1, max_value=1e15))
def test_a_written_number_reads_back_within_its_digits(value):
    assert parse_size(fmt_bytes(value)) == pytest.approx(value, rel=0.006)
    assert parse_rate(fmt_rate(value)) == pytest.approx(value, rel=0.006)
    assert parse_rate(fmt_rate(value, bits=True)) == pytest.approx(value, rel=0.006)
    assert parse_time(fmt_time(value / 1e9)) == pytest.approx(value / 1e9, rel=0.006)
