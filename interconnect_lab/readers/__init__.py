"""Readers of the field's tools: ``read(text)`` tells the format and returns readings in SI units.

A text may hold several readings, of several kinds; the ``kind`` of each is the name of its format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interconnect_lab.readers import nccl_tests
from interconnect_lab.readers.reading import Document, ParseError

__all__ = ["FORMATS", "Document", "ParseError", "read"]

# One line a format: what returns the readings of a document, none where it is of another format
FORMATS: dict[str, Callable[[Document], list[Any]]] = {
    "nccl-tests": nccl_tests.read,
}


def read(text: str | bytes) -> list[Any]:
    """Return the readings that ``text`` holds, at least one, in the order of ``FORMATS``.

    Raises ParseError where no format recognises the text, or where one does and cannot read on.

    >>> table = '''# size count type redop root time algbw busbw #wrong time algbw busbw #wrong
    ... # (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)
    ... 1048576 262144 float sum -1 40.00 26.21 45.87 0 41.00 25.58 44.76 0'''
    >>> [reading] = read(table)
    >>> reading.kind, reading.ranks_from_ratio, reading.tests[0].collective
    ('nccl-tests', 8, 'all_reduce')
    """
    document = Document.of(text)
    readings = [reading for form in FORMATS.values() for reading in form(document)]
    if not readings:
        line, found = document.first()
        raise ParseError(line, found, f"the output of a tool that is known here ({', '.join(FORMATS)})")
    return readings
