"""Exercises with a number and a unit, and the ways in which people write these."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

from interconnect_lab.exercises.exercise import Exercise, Verdict
from interconnect_lab.units import parse_number, parse_rate, parse_size, parse_time

TEXT = {
    "expected": "write a number and its unit, such as {example}",
    "expected share": "write a percentage, such as 3 %",
    "expected number": "write a number without a unit, such as 3",
    "far": "Your answer is {direction} by {factor}.",
    "factor": "a factor of {least:,} or more",
    "less": "less than a factor of 2",
    "near": "Close: within 10 %, but not within {percent:g} %.",
    "larger": "too large",
    "smaller": "too small",
    "sign": "The answer is above zero.",
    "whole": "{got} without % is {got} times the whole; write {got} %.",
    "comma": "A comma groups thousands here, so yours is 1,000 times too large; write a point for decimals.",
    "binary": "Off by the factor between {decimal} and {binary}: one is a power of 10, the other of 2.",
}
EXAMPLES = {"size": "3 MB", "rate": "3 GB/s", "time": "3 ms"}
BINARY = {1024**k / 1000**k: pair for k, pair in enumerate(("kB KiB", "MB MiB", "GB GiB", "TB TiB"), start=1)}

_SUPERSCRIPT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_SPELLED = (
    (r"^\s*(?:≈|~|=|about|ca\.)\s*", ""),
    (r"\s*\.\s*$", ""),
    (r"^\s*[×x]\s*(?=\d)", ""),
    (r"(?<=\d)\s*[·*×x]\s*10\s*\^?\s*(?=-?\d)", "e"),
    (r"^([-+]?(?:0|\d+(?=,\d{1,2}\b)|\d+(?=,\d{4,}\b))),(?=\d)", r"\1."),  # 0,025 and 1,39 have decimals
    (r"\s*/\s*s(?:ec(?:ond)?)?\b|\s+per\s+sec(?:ond)?\b", "/s"),
    (r"(?<=[\d\s])per\s?cent\b", "%"),
    (r"(?<=[\d\s])(?:sec|seconds?)\b", "s"),
    (r"(?<=[\d\s])(?:msec|milliseconds?)\b", "ms"),
    (r"(?<=[\d\s])(?:usec|µsec|microseconds?)\b", "us"),
    (r"(?<=[\d\s])nanoseconds?\b", "ns"),
    (r"(?<=[\d\s])kilo(?=b(?:yte|it))", "k"),
    (r"(?<=[\d\s])mega(?=b(?:yte|it))", "M"),
    (r"(?<=[\d\s])giga(?=b(?:yte|it))", "G"),
    (r"(?<=[\d\s])tera(?=b(?:yte|it))", "T"),
)
_FRACTION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True, repr=False)
class Quantity(Exercise):
    """A number with a unit, written as a reader would; ``tolerance`` is relative, for answer and traps.

    A share may be a percentage or a fraction; behind a pure number, words (steps, GPUs) are passed over.
    """

    answer: str = ""
    tolerance: float = 0.02
    kind: ClassVar[str] = "quantity"

    def __post_init__(self) -> None:
        super().__post_init__()
        quantity(self.answer)

    @property
    def expected(self) -> str:
        kind = quantity(self.answer)[1]
        return TEXT.get(f"expected {kind}") or TEXT["expected"].format(example=EXAMPLES[kind])

    def _judge(self, answer: object) -> Verdict:
        truth, kind = quantity(self.answer)
        try:
            value, said = quantity(str(answer), words=kind == "number")
        except ValueError as error:
            ambiguous = "bits or bytes" in str(error)
            return Verdict(False, f"{error}.") if ambiguous else self._refused(answer)
        if said != kind and {said, kind} != {"share", "number"}:  # 0.769 and 76.9 % are one answer
            return self._refused(answer)
        if self._is(value, truth):
            return Verdict(True, self.why)
        for trap in self.traps:
            if self._is(value, quantity(str(trap.answer))[0]):
                return Verdict(False, trap.say, trap.name)
        return self._distance(str(answer), value, truth)

    def _is(self, value: float, other: float) -> bool:
        return math.isclose(value, other, rel_tol=self.tolerance)

    def _distance(self, answer: str, value: float, truth: float) -> Verdict:
        if value <= 0 < truth:
            return Verdict(False, TEXT["sign"])
        if answer.count(",") == 1 and self._is(value, 1000 * truth):
            return Verdict(False, TEXT["comma"])
        if quantity(self.answer)[1] == "share" and self._is(value, 100 * truth) and "%" not in answer:
            return Verdict(False, TEXT["whole"].format(got=answer.strip()))
        factor = max(value / truth, truth / value)
        for ratio, pair in BINARY.items():
            if math.isclose(factor, ratio, rel_tol=0.002):
                decimal, binary = pair.split()
                return Verdict(False, TEXT["binary"].format(decimal=decimal, binary=binary), "GiB for GB")
        if factor < 1.1:
            return Verdict(False, TEXT["near"].format(percent=100 * self.tolerance))
        direction = TEXT["larger" if value > truth else "smaller"]
        least = max((step for step in (2, 10, 100, 1000) if factor >= 0.999 * step), default=None)
        size = TEXT["factor"].format(least=least) if least else TEXT["less"]
        return Verdict(False, TEXT["far"].format(direction=direction, factor=size))


def quantity(text: str, *, words: bool = False) -> tuple[float, str]:
    """The SI value of ``text`` and what it is: size, rate, time, share (%) or number; else ValueError.

    With ``words``, a unit that is none of these is passed over: "12.7 steps/s" is the number 12.7.

    >>> quantity("≈ 0,25 milliseconds"), quantity("10/16"), quantity("2·10⁹ bytes")
    ((0.00025, 'time'), (0.625, 'number'), (2000000000.0, 'size'))
    """
    text = text[:200].translate(_SUPERSCRIPT)
    for pattern, instead in _SPELLED:
        text = re.sub(pattern, instead, text)
    if fraction := _FRACTION.fullmatch(text):
        over, under = float(fraction[1]), float(fraction[2])
        return over / under if under else math.inf, "number"
    value, unit = parse_number(text)
    if unit == "%":
        return value / 100, "share"
    if unit.casefold() in {"", "x", "×", "times", "fold", "-fold"}:
        return value, "number"
    for kind, parse in (("time", parse_time), ("rate", parse_rate), ("size", parse_size)):
        try:
            return parse(text), kind
        except ValueError as error:
            last = error
    if words:
        return value, "number"
    raise last
