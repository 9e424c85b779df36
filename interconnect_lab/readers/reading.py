"""What all readers share: lines free of terminal and launcher noise, and the error they raise."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"\xef\xbb\xbf": "utf-8"}
_UNSEEN = {ord(c): None for c in "\x00\ufeff\u200b"}
_BLANKS = {ord(c): " " for c in "\r\t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029"}
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;:?<=>]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}\x07|[@-Z\\^_])")
# Open MPI's --tag-output, which marks every chunk that a rank writes, also in the middle of a line
_RANK_TAG = re.compile(r"\[[^\[\]<>\s]{1,80}\](?:<|&lt;)std(?:out|err|diag)(?:>|&gt;):")
_MARKDOWN_ESCAPED = "_#*[]"


class ParseError(ValueError):
    """A text that a reader cannot read: ``line`` (from 1) and what was ``expected`` there.

    >>> str(ParseError(3, "hello", "a table"))
    "line 3: expected a table; found 'hello'"
    """

    def __init__(self, line: int, found: str, expected: str) -> None:
        super().__init__(line, found, expected)
        self.line, self.found, self.expected = line, shortened(found), expected

    def __str__(self) -> str:
        return f"line {self.line}: expected {self.expected}; found {self.found!r}"


@dataclass(frozen=True)
class Document:
    """A text as it came, and as ``lines`` without escape codes, NUL bytes and mpirun's tags.

    Line ``n`` of the text is ``lines[n - 1]``; CRLF, LF and (where there is no LF) CR end a line.
    """

    text: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str | bytes) -> Document:
        """Decode and clean ``text``; TypeError where it is neither str nor bytes."""
        text = decoded(text)
        return cls(text, tuple(_cleaned(text).split("\n")))

    def first(self) -> tuple[int, str]:
        """Number and text of the first line that is not blank; ``(1, "")`` in an empty document."""
        numbered = enumerate(self.lines, start=1)
        return next(((number, line.strip()) for number, line in numbered if line.strip()), (1, ""))


def decoded(text: str | bytes) -> str:
    """Return ``text`` as str: bytes are UTF-8, or UTF-16 with a byte order mark.

    What is neither becomes U+FFFD; TypeError where ``text`` is no text.
    """
    if isinstance(text, str):
        return text
    if not isinstance(text, (bytes, bytearray)):
        raise TypeError(f"expected a text (str or bytes); got {type(text).__name__}")
    data = bytes(text)
    encoding = next((name for mark, name in _BOMS.items() if data.startswith(mark)), "utf-8")
    return data.decode(encoding, errors="replace")


def shortened(text: str, length: int = 60) -> str:
    """Return ``text``, trimmed, with ``...`` for what is beyond ``length`` characters."""
    text = text[: 10 * length].strip()
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _cleaned(text: str) -> str:
    """Take out what terminals, launchers and Markdown add; the number of line feeds stays."""
    text = text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    text = text.translate(_UNSEEN | _BLANKS)
    if "std" in text:
        text = _RANK_TAG.sub("", text)
    if "\\" in text:
        for character in _MARKDOWN_ESCAPED:
            text = text.replace(f"\\{character}", character)
    return text
