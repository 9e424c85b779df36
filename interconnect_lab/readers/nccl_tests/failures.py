"""Why a run gave no table: the words of its errors, and the code that each proves."""

from __future__ import annotations

from interconnect_lab.readers.nccl_tests.runs import Run

USAGE = "launch-failed-usage"
NO_MEASUREMENTS = "no-measurements"
_OTHER = "other"  # an error that no code stands for

# In order of precedence: the code, and what a line that proves it holds, in lower case
_NEEDLES = (
    (USAGE, "invalid number of gpus"),
    (USAGE, "not enough slots"),
    (USAGE, "requested more processes than"),
    (USAGE, "more processors requested than permitted"),
    ("launch-failed-network", "socketfinalizeaccept: wrong type"),
    ("launch-failed-network", "async fatal event on qp"),
    ("launch-failed-remote-exit", "remote process exited or there was a network error"),
    ("launch-failed-remote-exit", "connection closed by remote peer"),
    ("launch-failed-cuda", "unhandled cuda error"),
    ("launch-failed-cuda", "cuda failure"),  # also "Test CUDA failure", of nccl-tests itself
    ("launch-failed-cuda", "unhandled hip error"),
    ("launch-failed-cuda", "hip failure"),
    (_OTHER, "test nccl failure"),
    (_OTHER, "test failure"),
)
CODES = (*dict.fromkeys(code for code, _ in _NEEDLES if code != _OTHER), NO_MEASUREMENTS)

Needles = tuple[tuple[str, str], ...]


def needles_in(text: str) -> Needles:
    """Those codes and words that a whole text holds: what its lines need to be searched for."""
    text = text.lower()
    return tuple((code, words) for code, words in _NEEDLES if words in text)


def code_of(line: str, needles: Needles = _NEEDLES) -> str | None:
    """The code of the error that a line tells of, the first in order of precedence.

    >>> code_of("Test NCCL failure common.cu:401 'unhandled cuda error / '")
    'launch-failed-cuda'
    """
    line = line.lower()
    for code, words in needles:
        if words in line:
            return code
    return None


def failure_of(run: Run) -> str | None:
    """Why the run gave no rows: its error, or "no-measurements" for a header with nothing below."""
    if run.rows:
        return None
    if run.failures:
        return first(run.failures)
    return NO_MEASUREMENTS if run.columns else None


def first(codes: list[str]) -> str | None:
    """Of several codes the one that stands first in the order of precedence."""
    return next((code for code in CODES if code in codes), None)
