"""Small outputs of nccl-tests, made for this repository, and how the reader's tests read them."""

from __future__ import annotations

from pathlib import Path

from interconnect_lab import readers
from interconnect_lab.readers import nccl_tests

DATA = Path(__file__).parent / "data"
HEADER = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
UNITS = "#   (B)  (elements)  (us)  (GB/s)  (GB/s)  (us)  (GB/s)  (GB/s)\n"
# 8 ranks, 1 MiB in 40 and 41 us: algbw = 26.21 and 25.58, busbw = 7/4 of it
ROW = "1048576  262144  float  sum  -1  40.00  26.21  45.88  0  41.00  25.58  44.76  0\n"
GATHER = "1048576  32768  float  none  -1  40.00  26.21  22.94  {}  41.00  25.58  22.38  {}\n"
ROOTED = "1048576  262144  float  {}  3  40.00  26.21  26.21  0  41.00  25.58  25.58  0\n"
FILES = sorted(path.name for path in DATA.glob("nccl_tests_*"))


def read(name: str) -> nccl_tests.NcclTests:
    [reading] = readers.read((DATA / name).read_text(encoding="utf-8"))
    return reading


def read_text(text: str | bytes) -> nccl_tests.NcclTests:
    [reading] = readers.read(text)
    return reading


def table(*rows: str) -> nccl_tests.NcclTests:
    return read_text(HEADER + UNITS + "".join(rows))
