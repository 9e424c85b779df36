"""What every exercise has: a question, two hints, a solution that runs, traps, and a verdict on an answer."""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

TEXT = {
    "right": "Right.",
    "wrong": "Not yet.",
    "empty": "No answer yet: {expected}.",
    "other": "Not {got!r}: {expected}.",
    "hint": "Hint {number}",
    "solution": "Solution",
}
MOST_SHOWN = 60  # letters of an answer that a verdict repeats


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
class Exercise(ABC):
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
    @abstractmethod
    def expected(self) -> str:
        """What an answer looks like, in a few words."""

    def check(self, answer: object) -> Verdict:
        """Judge an answer; nothing that a reader can type raises."""
        if answer is None or (isinstance(answer, (str, list, tuple)) and not len(answer)):
            return self._refused()
        if isinstance(answer, str) and not answer.strip():
            return self._refused()
        return self._judge(answer)

    @abstractmethod
    def _judge(self, answer: object) -> Verdict:
        """The verdict on an answer that is not empty."""

    def _refused(self, got: object = None) -> Verdict:
        if got is None:
            return Verdict(False, TEXT["empty"].format(expected=self.expected))
        return Verdict(False, TEXT["other"].format(got=str(got)[:MOST_SHOWN], expected=self.expected))

    def _repr_html_(self) -> str:
        return self.page()

    def page(self, *, options: bool = True) -> str:
        """Question, hints and solution as HTML; without ``options`` where a field offers them."""
        folded = [
            (TEXT["hint"].format(number=i), f"<p>{marked(hint)}</p>")
            for i, hint in enumerate(self.hints, start=1)
        ]
        code = f"<pre><code>{html.escape(self._printed())}</code></pre>"
        folded.append((TEXT["solution"], f"{code}<p>{marked(self.why)}</p>"))
        details = "".join(f"<details><summary>{name}</summary>{body}</details>" for name, body in folded)
        asked = self._asked_html() if options else marked(self.question)
        return f'<div class="exercise" id="exercise-{self.name}"><p>{asked}</p>{details}</div>'

    def _printed(self) -> str:
        return f"{self.solution}\nprint(answer)"

    def _asked_html(self) -> str:
        return f"{marked(self.question)}"

    def __repr__(self) -> str:
        return f"{self.question} ({self.expected})"


def marked(text: str) -> str:
    """Plain text as HTML, with ``code`` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
