"""The kinds of exercise: quantity, choice, order, function; each checks an answer and knows its traps."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from interconnect_lab.exercises.exercise import Exercise, Trap, Verdict, marked
from interconnect_lab.exercises.quantity import Quantity

__all__ = ["Choice", "Exercise", "Function", "Order", "Quantity", "Trap", "Verdict", "marked"]

TEXT = {
    "expected choice": "choose one of: {options}",
    "expected order": "name all of these once, first to last: {items}",
    "expected function": "hand over a function, as in exercises.check({name!r}, my_function)",
    "order": "Place {place} is not {item}.",
    "raised": "For {arguments} it raised {error}.",
    "returned": "For {arguments} it returned {got}; expected {expected}.",
}


@dataclass(frozen=True, repr=False)
class Choice(Exercise):
    """One of ``options``; each wrong option is a trap that says which reasoning leads to it."""

    options: tuple[str, ...] = ()
    answer: str = ""
    kind: ClassVar[str] = "choice"

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = set(self.options) - {self.answer}
        if self.answer not in self.options or {trap.answer for trap in self.traps} != wrong:
            raise ValueError(f"{self.name!r}: one trap for each wrong option of {self.options!r}")

    @property
    def expected(self) -> str:
        return TEXT["expected choice"].format(options=" · ".join(self.options))

    def _asked_html(self) -> str:
        items = "".join(f"<li>{marked(option)}</li>" for option in self.options)
        return f"{marked(self.question)}</p><ul>{items}</ul><p>"

    def _judge(self, answer: object) -> Verdict:
        said = _bare(answer)
        if said == _bare(self.answer):
            return Verdict(True, self.why)
        for trap in self.traps:
            if said == _bare(trap.answer):
                return Verdict(False, trap.say, trap.name)
        return self._refused(answer)


@dataclass(frozen=True, repr=False)
class Order(Exercise):
    """All of ``answer``'s items, first to last: a sequence, or text with commas, '<' or '→' between them.

    Text with '>' between the items is read backwards.
    """

    answer: tuple[str, ...] = ()
    kind: ClassVar[str] = "order"

    @property
    def expected(self) -> str:
        return TEXT["expected order"].format(items=", ".join(sorted(self.answer)))

    def _judge(self, answer: object) -> Verdict:
        items = self._items(answer)
        said, right = [_bare(item) for item in items], [_bare(item) for item in self.answer]
        if said == right:
            return Verdict(True, self.why)
        if sorted(said) != sorted(right):
            return self._refused(answer)
        for trap in self.traps:
            if said == [_bare(item) for item in trap.answer]:
                return Verdict(False, trap.say, trap.name)
        place = next(i for i, item in enumerate(said) if item != right[i])
        return Verdict(False, TEXT["order"].format(place=place + 1, item=items[place].strip()))

    @staticmethod
    def _items(answer: object) -> list[str]:
        if isinstance(answer, str):
            items = re.split(r"[,;<>→\n]", answer)
            return items[::-1] if ">" in answer else items
        return [str(item) for item in answer] if isinstance(answer, (list, tuple)) else [str(answer)]


@dataclass(frozen=True, repr=False)
class Function(Exercise):
    """A small function to write: ``solution`` defines it as ``answer``, ``cases`` are the arguments to try.

    The reader sees a case only when it fails. A trap's ``answer`` is a wrong function; it is recognised
    when the reader's function agrees with it on all cases.
    """

    signature: str = ""
    cases: tuple[tuple, ...] = ()
    answer: Callable | None = None
    kind: ClassVar[str] = "function"

    @property
    def expected(self) -> str:
        return TEXT["expected function"].format(name=self.name)

    def _printed(self) -> str:
        return self.solution

    def _asked_html(self) -> str:
        return f"{marked(self.question)}</p><pre><code>{html.escape(self.signature)}</code></pre><p>"

    def _judge(self, answer: object) -> Verdict:
        if not callable(answer):
            return self._refused(answer)
        for arguments in self.cases:
            expected, got = self.answer(*arguments), _outcome(answer, arguments)
            if isinstance(got, BaseException):
                error = f"{type(got).__name__}: {got}"
                return Verdict(False, TEXT["raised"].format(arguments=arguments, error=error))
            if not _agree(got, expected):
                return self._caught(answer, arguments, got, expected)
        return Verdict(True, self.why)

    def _caught(self, answer: Callable, arguments: tuple, got: object, expected: object) -> Verdict:
        for trap in self.traps:
            if all(_agree(_outcome(answer, case), trap.answer(*case)) for case in self.cases):
                return Verdict(False, trap.say, trap.name)
        shown = {"arguments": arguments, "got": _shown(got), "expected": _shown(expected)}
        return Verdict(False, TEXT["returned"].format(**shown))


def _bare(text: object) -> str:
    """What is left to compare of a choice: no blanks, backticks, case, or full stop at the end."""
    return re.sub(r"[\s`]+", "", str(text)).casefold().rstrip(".")


def _outcome(function: Callable, arguments: tuple) -> object:
    try:
        return function(*arguments)
    except (Exception, SystemExit) as error:  # a reader's own code may raise anything; it is told what
        return error


def _agree(got: object, expected: object) -> bool:
    if isinstance(got, (str, bytes, complex, BaseException)) or np.shape(expected) != _shape(got):
        return False
    try:
        return bool(np.allclose(np.asarray(got, float), np.asarray(expected, float), rtol=1e-6, atol=0))
    except (TypeError, ValueError):
        return False


def _shape(value: object) -> tuple | None:
    try:
        return np.shape(value)
    except ValueError:  # rows of unequal length
        return None


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, (int, float)) else str(value)
    return text if len(text) <= 80 else text[:77] + "..."
