"""Checked exercises: ``ask`` shows one with hints and solution, ``check`` judges and names the trap.

>>> check("half-size", "2 MB").trap
'bits for bytes'
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from interconnect_lab.exercises.exercise import Exercise, Verdict

__all__ = ["Exercise", "Verdict", "ask", "chapter", "chapters", "check", "exercises"]

TEXT = {
    "chapter": "chapter {number} has no exercises; {known} chapters have",
    "unknown": "there is no exercise {name!r}; {near}",
    "near": "near it: {names}",
    "all": "see exercises()",
}


@cache
def exercises() -> MappingProxyType[str, Exercise]:
    """Every exercise by name, in the order of the course."""
    found = [exercise for module in chapters() for exercise in import_module(module).EXERCISES]
    named = {exercise.name: exercise for exercise in found}
    if len(named) != len(found):
        raise ValueError(f"two exercises share a name among {[exercise.name for exercise in found]}")
    return MappingProxyType(named)


def chapter(number: int) -> tuple[Exercise, ...]:
    """The exercises of one chapter, its opening guess first."""
    module = f"{__name__}.chapter{number:02d}"
    if module not in chapters():
        raise ValueError(TEXT["chapter"].format(number=number, known=len(chapters())))
    return import_module(module).EXERCISES


def ask(name: str) -> Exercise:
    """The exercise of that name; a notebook shows its question, with hints and solution folded.

    Raises KeyError with near names where there is none.
    """
    if name not in exercises():
        names = get_close_matches(str(name), exercises(), n=3)
        near = TEXT["near"].format(names=", ".join(names)) if names else TEXT["all"]
        raise KeyError(TEXT["unknown"].format(name=name, near=near))
    return exercises()[name]


def check(name: str, answer: object) -> Verdict:
    """Judge an answer, written as a person would ("250 kB"), and say which mistake a wrong one is."""
    return ask(name).check(answer)


def chapters() -> list[str]:
    """The modules that hold exercises, one a chapter, in order."""
    names = sorted(module.name for module in iter_modules(__path__) if module.name.startswith("chapter"))
    return [f"{__name__}.{name}" for name in names]
