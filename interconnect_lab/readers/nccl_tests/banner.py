"""The lines around a table: options, versions, the list of ranks, the command, the footer."""

from __future__ import annotations

import re

from interconnect_lab.readers.nccl_tests.evidence import PROGRAMS
from interconnect_lab.readers.nccl_tests.rows import number
from interconnect_lab.readers.nccl_tests.runs import Device

_COMMAND = re.compile(rf"(?<![A-Za-z0-9_])({'|'.join(PROGRAMS)})_(?:perf|test)(?:_mpi)?(?![A-Za-z0-9_])")
_NAMED = re.compile(r"Collective test (?:starting|concluded): *([A-Za-z]\w{0,60})")
_VERSION = re.compile(r"(?:nccl-tests version|rc{1,4}l-tests: Version) +([\w.:+-]{1,40})")
_DEVICES = "Using devices"
_STAGES = ("nccl-tests version", "Collective test starting", "minBytes", _DEVICES)
AVERAGE, ERRORS = "vg bus bandwidth", "ut of bounds values"  # footers, whatever their first letter
_PREFIX_TOKENS = 12  # a launcher's words before the line, at most


def stage_of(line: str) -> int | None:
    """Where in a banner a line stands, from 0; None where it belongs to none."""
    for stage, words in enumerate(_STAGES):
        if words in line:
            if words == _DEVICES:
                return stage if line.strip(" #>*").endswith(words) else None
            return stage if words != "minBytes" or "maxBytes" in line else None
    return None


def version_in(line: str) -> str | None:
    """The version of nccl-tests or rccl-tests that a line prints."""
    match = _VERSION.search(line) if "ersion" in line else None
    return match[1] if match and match[1] != "Unknown" else None


def program_in(line: str) -> str | None:
    """The program that a line says to start or to conclude."""
    match = _NAMED.search(line) if "Collective test" in line else None
    return program_of(match[1]) if match else None


def commands_in(line: str) -> set[str]:
    """The programs of nccl-tests whose command stands in a line."""
    if ("_perf" not in line and "_test" not in line) or "Collective test" in line:
        return set()
    return {match[1] for match in _COMMAND.finditer(line)}


def program_of(path: str) -> str:
    """The name of a test program without its folder and its ending.

    >>> program_of("/opt/nccl-tests/build/all_reduce_perf")
    'all_reduce'
    """
    name = path.replace("\\", "/").rpartition("/")[2].strip()[:60]
    for end in (".exe", "_mpi", "_perf", "_test"):
        name = name.removesuffix(end)
    return name


def device_in(line: str) -> Device | None:
    """Read ``Rank 3 Group 0 Pid 7 on host device 3 [0000:61:00] GPU name`` and its older forms."""
    if "Rank" not in line and "Device" not in line:
        return None
    tokens = line.split(None, 60)
    start = next((i for i, t in enumerate(tokens[:_PREFIX_TOKENS]) if t in ("Rank", "Device")), 60)
    rest = tokens[start + 1 :]
    bus = next((i for i, t in enumerate(rest) if i > 1 and t[0] + t[-1] == "[]"), None)
    if bus is None or not _is_small(rest[0]):
        return None
    words, gpu = rest[1:bus], " ".join(rest[bus + 1 : bus + 12])
    host = words[words.index("on") + 1] if "on" in words[:-1] else None
    after = words[words.index("device") + 1 :] if "device" in words else []
    if not after and "->" not in words:  # as NCCL 1 wrote: Device 0 -> 0 [0x0a] name
        return None
    index = int(after[0]) if after and _is_small(after[0]) else None
    return Device(int(rest[0]), host, index, gpu)


def footer_in(line: str) -> tuple[str, float | None] | None:
    """Which footer a line is, AVERAGE or ERRORS, and its number, None where it is not 0 or more."""
    for words in (AVERAGE, ERRORS):
        if words in line:
            return words, _value(line.partition(words)[2])
    return None


def _value(text: str) -> float | None:
    tokens = text.lstrip(" :").split(None, 1)
    value = number(tokens[0]) if tokens else None
    return value if value is not None and 0 <= value < 1e30 else None


def _is_small(token: str) -> bool:
    return token.isascii() and token.isdecimal() and len(token) < 8
