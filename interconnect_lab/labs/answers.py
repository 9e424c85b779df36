"""Exercises and opening guesses as widgets: answer, be told which mistake it was, then open the solution."""

from __future__ import annotations

import ipywidgets as widgets

from interconnect_lab import exercises
from interconnect_lab.exercises.exercise import Exercise, marked

TEXT = {
    "check": "Check",
    "commit": "Commit to my guess",
    "answer": "Your answer",
    "order": "First to last, with commas",
    "right": "Right.",
    "wrong": "Not yet.",
    "guess right": "You guessed right.",
    "guess wrong": "You guessed {answer}.",
    "pick": "Pick one first: a guess is a commitment.",
    "reveal": "It is {answer}.",
    "call": "Write the function in a cell of its own (on a live page press <b>Edit</b> above this question "
    "and write below what stands there), then add: <code>from interconnect_lab import "
    'exercises</code> and <code>exercises.check("{name}", your_function)</code>.',
}


class Answer(widgets.VBox):
    """An exercise with a field for its answer; without a kernel the question, hints and solution remain."""

    def __init__(self, exercise: Exercise, *, guess: bool = False) -> None:
        super().__init__()
        self.exercise, self.guess = exercise, guess
        self.answer = self._field()
        self.button = widgets.Button(
            description=TEXT["commit" if guess else "check"], layout={"width": "auto"}, button_style="primary"
        )
        self.verdict = widgets.HTML(layout={"display": "none"})
        self.verdict.add_class("lab-reading")
        asked = widgets.HTML(f"<p>{marked(exercise.question)}</p>" if guess else self._page())
        row = [self.answer, self.button] if self.answer is not None else [self._call()]
        flow = "column" if exercise.kind == "choice" else "row wrap"
        field = widgets.Box(row, layout={"flex_flow": flow, "align_items": "flex-start"})
        self.children = [asked, field, self.verdict]
        self.button.on_click(lambda _: self.check())
        self.add_class("exercise-answer")

    def check(self) -> exercises.Verdict:
        """Judge what stands in the field and say so below it."""
        verdict = self.exercise.check(self.answer.value)
        self.verdict.layout.display = ""
        self.verdict.value = f"<p role='status'>{self._said(verdict)}</p>"
        return verdict

    def _said(self, verdict: exercises.Verdict) -> str:
        if not self.guess:
            return f"<b>{TEXT['right' if verdict else 'wrong']}</b> {marked(verdict.message)}"
        if self.answer.value is None:
            return TEXT["pick"]
        if verdict:
            return f"<b>{TEXT['guess right']}</b> {marked(verdict.message)}"
        revealed = TEXT["reveal"].format(answer=marked(self.exercise.answer))
        guessed = TEXT["guess wrong"].format(answer=marked(self.answer.value))
        return (
            f"<b>{guessed}</b> {marked(verdict.message)}</p><p><b>{revealed}</b> {marked(self.exercise.why)}"
        )

    def _field(self) -> widgets.Widget | None:
        if self.exercise.kind == "choice":
            options = self.exercise.options
            return widgets.RadioButtons(
                options=options, value=None, layout={"width": "auto"}, description=TEXT["answer"]
            )
        if self.exercise.kind == "function":
            return None
        label = TEXT["order" if self.exercise.kind == "order" else "answer"]
        layout = {"width": "min(100%, 520px)" if self.exercise.kind == "order" else "320px"}
        return widgets.Text(
            description=label,
            continuous_update=False,
            style={"description_width": "initial"},
            layout=layout,
        )

    def _page(self) -> str:
        return self.exercise.page(options=self.exercise.kind != "choice")

    def _call(self) -> widgets.HTML:
        return widgets.HTML(TEXT["call"].format(name=self.exercise.name))

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        bundle = super()._repr_mimebundle_(**kwargs)
        bundle["text/plain"] = repr(self.exercise)
        bundle["text/html"] = self.exercise._repr_html_()
        return bundle


def exercise(name: str) -> Answer:
    """The exercise of that name with a field to answer it."""
    return Answer(exercises.ask(name))


def guess(name: str) -> Answer:
    """An opening guess: choose, commit, and see the answer with the reasoning that led elsewhere."""
    return Answer(exercises.ask(name), guess=True)
