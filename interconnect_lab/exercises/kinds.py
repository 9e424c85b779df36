"""The kinds of exercise: quantity, choice, order, function; each checks an answer and knows its traps."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from interconnect_lab.units import parse_number, parse_rate, parse_size, parse_time

TEXT = {
    "right": "Right.",
    "wrong": "Not yet.",
    "unit": "Not {got!r}: {expected}.",
    "empty": "No answer yet: {expected}.",
    "expected quantity": "write a number and its unit, such as {example}",
    "expected choice": "choose one of: {options}",
    "expected order": "name all of these once, first to last: {items}",
    "expected function": "hand over a function, such as check({name!r}, my_function)",
    "far": "Your answer is {direction} by {factor}.",
    "factor": "a factor of {least:,} or more",
    "less": "less than a factor of 2",
    "near": "Close: within {percent:.0f} %, but not within {tolerance:.0%}.",
    "larger": "too large",
    "smaller": "too small",
    "sign": "The answer is not zero and not negative.",
    "order": "Place {place} is not {item}.",
    "raised": "For {arguments} it raised {error}.",
    "returned": "For {arguments} it returned {got}; expected {expected}.",
    "hint": "Hint {number}",
    "solution": "Solution",
}


@dataclass(frozen=True)
class Verdict:
    """Whether an answer holds, what to say about it, and the name of the trap that it fell into, if any."""

    correct: bool
    message: str
    trap: str | None = None

    def __bool__(self) -> bool:
        return self.correct

    def __str__(self) -> str:
        return f"{TEXT['right' if self.correct else 'wrong']} {self.message}"

    __repr__ = __str__


@dataclass(frozen=True)
class Trap:
    """A known mistake: its ``name`` (bits for bytes), the ``answer`` that it leads to, what to ``say``."""

    name: str
    answer: object
    say: str


@dataclass(frozen=True)
class Exercise:
    """What every kind has: ``solution`` is Python that leaves the right answer in ``answer``.

    ``why`` says in a sentence or two why it is so. There are two hints, the second stronger.
    """

    name: str
    question: str
    hints: tuple[str, str]
    solution: str
    why: str
    traps: tuple[Trap, ...] = ()
    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if len(self.hints) != 2 or not all(self.hints):
            raise ValueError(f"exercise {self.name!r} needs two hints; got {self.hints!r}")

    @property
    def expected(self) -> str:
        """What an answer looks like, in a few words."""
        raise NotImplementedError

    def check(self, answer: object) -> Verdict:
        """Judge an answer; nothing that a reader can type raises."""
        if answer is None or (isinstance(answer, (str, list, tuple)) and not len(answer)):
            return self._refused()
        if isinstance(answer, str) and not answer.strip():
            return self._refused()
        return self._judge(answer)

    def _judge(self, answer: object) -> Verdict:
        raise NotImplementedError

    def _refused(self) -> Verdict:
        return Verdict(False, TEXT["empty"].format(expected=self.expected))

    def _repr_html_(self) -> str:
        return self.page()

    def page(self, *, options: bool = True) -> str:
        """Question, hints and solution as HTML; without ``options`` where a field offers them."""
        folded = [
            (TEXT["hint"].format(number=i), f"<p>{marked(hint)}</p>")
            for i, hint in enumerate(self.hints, start=1)
        ]
        code = f"<pre><code>{html.escape(self.solution)}</code></pre>"
        folded.append((TEXT["solution"], f"{code}<p>{marked(self.why)}</p>"))
        details = "".join(f"<details><summary>{name}</summary>{body}</details>" for name, body in folded)
        asked = self._asked_html() if options else marked(self.question)
        return f'<div class="exercise" id="exercise-{self.name}"><p>{asked}</p>{details}</div>'

    def _asked_html(self) -> str:
        return f"{marked(self.question)}"

    def __repr__(self) -> str:
        return f"{self.question} ({self.expected})"


@dataclass(frozen=True, repr=False)
class Quantity(Exercise):
    """A number with a unit: ``answer`` is written as a reader would, ``tolerance`` is relative."""

    answer: str = ""
    tolerance: float = 0.02
    kind: ClassVar[str] = "quantity"

    def __post_init__(self) -> None:
        super().__post_init__()
        quantity(self.answer)

    @property
    def expected(self) -> str:
        units = {"size": "3 MB", "rate": "3 GB/s", "time": "3 ms", "share": "3 %", "number": "3"}
        return TEXT["expected quantity"].format(example=units[quantity(self.answer)[1]])

    def _judge(self, answer: object) -> Verdict:
        truth, kind = quantity(self.answer)
        try:
            value, said = quantity(str(answer))
            if {said, kind} == {"share", "number"}:  # 0.769 and 76.9 % are one answer
                said = kind
            if said != kind:
                return Verdict(False, TEXT["unit"].format(got=str(answer)[:40], expected=self.expected))
        except ValueError as error:
            return Verdict(False, f"{error}.")
        if math.isclose(value, truth, rel_tol=self.tolerance):
            return Verdict(True, self.why)
        for trap in self.traps:
            if math.isclose(value, quantity(str(trap.answer))[0], rel_tol=self.tolerance):
                return Verdict(False, trap.say, trap.name)
        return Verdict(False, self._distance(value, truth))

    def _distance(self, value: float, truth: float) -> str:
        if value <= 0 or truth <= 0:
            return TEXT["sign"] if truth > 0 else self.expected
        factor = max(value / truth, truth / value)
        if factor < 1.1:
            return TEXT["near"].format(percent=10, tolerance=self.tolerance)
        direction = TEXT["larger" if value > truth else "smaller"]
        least = max((step for step in (2, 10, 100, 1000) if factor >= step), default=None)
        size = TEXT["factor"].format(least=least) if least else TEXT["less"]
        return TEXT["far"].format(direction=direction, factor=size)


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
        said = " ".join(str(answer).split()).casefold()
        if said == self.answer.casefold():
            return Verdict(True, self.why)
        for trap in self.traps:
            if said == str(trap.answer).casefold():
                return Verdict(False, trap.say, trap.name)
        return self._refused()


@dataclass(frozen=True, repr=False)
class Order(Exercise):
    """All of ``answer``'s items, first to last; an answer is a sequence or text with commas or '<'."""

    answer: tuple[str, ...] = ()
    kind: ClassVar[str] = "order"

    @property
    def expected(self) -> str:
        return TEXT["expected order"].format(items=", ".join(sorted(self.answer)))

    def _judge(self, answer: object) -> Verdict:
        said = [item.strip().casefold() for item in self._items(answer)]
        right = [item.casefold() for item in self.answer]
        if said == right:
            return Verdict(True, self.why)
        if sorted(said) != sorted(right):
            return self._refused()
        for trap in self.traps:
            if said == [item.casefold() for item in trap.answer]:
                return Verdict(False, trap.say, trap.name)
        place = next(i for i, item in enumerate(said) if item != right[i])
        return Verdict(False, TEXT["order"].format(place=place + 1, item=self._items(answer)[place].strip()))

    @staticmethod
    def _items(answer: object) -> list[str]:
        return re.split(r"[,;<>\n]", answer) if isinstance(answer, str) else [str(item) for item in answer]


@dataclass(frozen=True, repr=False)
class Function(Exercise):
    """A small function to write: ``solution`` defines it, ``cases`` are arguments kept from the reader.

    A trap's ``answer`` is the wrong function; it is recognised when the reader's agrees everywhere.
    """

    signature: str = ""
    cases: tuple[tuple, ...] = ()
    answer: Callable | None = None
    kind: ClassVar[str] = "function"

    @property
    def expected(self) -> str:
        return TEXT["expected function"].format(name=self.name)

    def _asked_html(self) -> str:
        return f"{marked(self.question)}</p><pre><code>{html.escape(self.signature)}</code></pre><p>"

    def _judge(self, answer: object) -> Verdict:
        if not callable(answer):
            return self._refused()
        for arguments in self.cases:
            expected, got = self.answer(*arguments), _outcome(answer, arguments)
            if isinstance(got, Exception):
                said = f"{type(got).__name__}: {got}"
                return Verdict(False, TEXT["raised"].format(arguments=arguments, error=said))
            if not _agree(got, expected):
                return self._caught(answer, arguments, got, expected)
        return Verdict(True, self.why)

    def _caught(self, answer: Callable, arguments: tuple, got: object, expected: object) -> Verdict:
        for trap in self.traps:
            if all(_agree(_outcome(answer, case), trap.answer(*case)) for case in self.cases):
                return Verdict(False, trap.say, trap.name)
        message = TEXT["returned"].format(arguments=arguments, got=got, expected=expected)
        return Verdict(False, message)


def quantity(text: str) -> tuple[float, str]:
    """The SI value of ``text`` and what it is: size, rate, time, share (%) or number; else ValueError."""
    value, unit = parse_number(text)
    if unit == "%":
        return value / 100, "share"
    if unit in {"", "x", "×", "times"}:
        return value, "number"
    for kind, parse in (("time", parse_time), ("rate", parse_rate), ("size", parse_size)):
        try:
            return parse(text), kind
        except ValueError as error:
            last = error
    raise last


def marked(text: str) -> str:
    """Plain text as HTML, with ``code`` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def _outcome(function: Callable, arguments: tuple) -> object:
    try:
        return function(*arguments)
    except Exception as error:  # a reader's own code may raise anything; it is told what
        return error


def _agree(got: object, expected: object) -> bool:
    try:
        return bool(np.allclose(np.asarray(got, float), np.asarray(expected, float), rtol=1e-6, atol=0))
    except (TypeError, ValueError):
        return got == expected


Exercises = Sequence[Exercise] | Mapping[str, Exercise]
