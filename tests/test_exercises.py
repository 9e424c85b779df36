"""What holds for every exercise, and what the kinds do with every kind of answer."""

import re
import sys

import pytest

from interconnect_lab import exercises, labs
from interconnect_lab.exercises.kinds import Choice, Function, Order, Quantity, Trap
from interconnect_lab.exercises.quantity import quantity

ALL = list(exercises.exercises().values())
every_exercise = pytest.mark.parametrize("exercise", ALL, ids=[exercise.name for exercise in ALL])
CHAPTERS = sorted({int(name[-2:]) for name in exercises.chapters()})


def solved(exercise):
    """What the printed solution leaves in ``answer``."""
    scope = {}
    exec(exercise.solution, scope)
    return scope["answer"]


@every_exercise
def test_the_solution_runs_and_is_accepted(exercise):
    answer = solved(exercise)
    if isinstance(exercise, Quantity):
        assert answer == pytest.approx(quantity(exercise.answer)[0], rel=exercise.tolerance / 2)
        answer = exercise.answer
    verdict = exercises.check(exercise.name, answer)
    assert verdict.correct, verdict
    assert verdict.message == exercise.why


@every_exercise
@pytest.mark.parametrize("answer", ["", "   ", None, [], "?", "\x00", "1e999 GB", "x" * 10_000])
def test_nothing_and_nonsense_are_refused_with_what_is_expected(exercise, answer):
    verdict = exercises.check(exercise.name, answer)
    assert not verdict
    assert verdict.message
    assert verdict.trap is None


@every_exercise
def test_each_trap_is_recognised_and_says_what_went_wrong(exercise):
    for trap in exercise.traps:
        verdict = exercises.check(exercise.name, trap.answer)
        assert not verdict, f"the trap {trap.name!r} passes as right"
        assert (verdict.trap, verdict.message) == (trap.name, trap.say)
        assert len(trap.say) > 15
    assert exercise.traps or isinstance(exercise, Order)


@every_exercise
def test_question_hints_and_solution_are_readable_without_a_kernel(exercise):
    page = exercise._repr_html_()
    assert page.count("<details>") == 3
    assert page.count("<details") == page.count("</details>")
    bundle = labs.exercise(exercise.name)._repr_mimebundle_()
    assert bundle["text/html"] == page
    assert exercise.question in bundle["text/plain"]
    assert exercise.hints[0] != exercise.hints[1]


@every_exercise
def test_the_widget_checks_what_stands_in_its_field(exercise):
    answer = labs.exercise(exercise.name)
    if isinstance(exercise, Function):
        assert answer.answer is None
        return
    for trap in exercise.traps:
        answer.answer.value = trap.answer if isinstance(trap.answer, str) else ", ".join(trap.answer)
        answer.button.click()
        assert "Not yet" in answer.verdict.value
    right = exercise.answer if isinstance(exercise.answer, str) else ", ".join(exercise.answer)
    answer.answer.value = right
    answer.button.click()
    assert "Right" in answer.verdict.value


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_opens_with_a_guess_and_has_eight_exercises_or_more(chapter):
    first, *rest = exercises.chapter(chapter)
    assert isinstance(first, Choice)
    assert first.name.startswith("guess-")
    assert len(rest) >= 8
    assert any(isinstance(exercise, Function) for exercise in rest)


@pytest.mark.parametrize("name", [e.name for e in ALL if e.name.startswith("guess-")])
def test_a_guess_reveals_only_once_it_is_made(name):
    guess = labs.guess(name)
    answer = guess.exercise.answer
    guess.button.click()
    assert "Pick one first" in guess.verdict.value
    wrong = next(option for option in guess.exercise.options if option != answer)
    guess.answer.value = wrong
    guess.button.click()
    assert f"You guessed {wrong}" in guess.verdict.value
    assert f"It is {answer}" in guess.verdict.value
    guess.answer.value = answer
    guess.button.click()
    assert "You guessed right" in guess.verdict.value


# ---- the kinds ---------------------------------------------------------------------------------------------

COMMON = {"name": "made-up", "question": "How much?", "hints": ("Think.", "Think twice."), "why": "So."}


@pytest.mark.parametrize(
    ("answer", "correct", "said"),
    [
        ("250 kB", True, "So."),
        ("0.25 MB", True, "So."),
        ("254 kB", True, "So."),
        ("270 kB", False, "Close"),
        ("400 kB", False, "too large by less than a factor of 2"),
        ("25 MB", False, "too large by a factor of 100 or more"),
        ("1 B", False, "too small by a factor of 1,000 or more"),
        ("-250 kB", False, "above zero"),
        ("250,000 B", True, "So."),
        ("250000", False, "write a number and its unit"),
        ("250 ms", False, "write a number and its unit"),
        ("250 kb", False, "bits or bytes"),
        ("fast", False, "write a number and its unit"),
        ("250 KiB", False, "between kB and KiB"),
        ("250 kilobytes.", True, "So."),
        ("≈ 0.25·10⁶ bytes", True, "So."),
        ("0,25 MB", True, "So."),
        ("250,000 kB", False, "A comma groups thousands"),
        ("25 MB", False, "too large by a factor of 100 or more"),
        ("<b>", False, "Not '<b>'"),
    ],
)
def test_a_quantity_is_judged_by_value_and_unit(answer, correct, said):
    verdict = Quantity(**COMMON, solution="answer = 250e3", answer="250 kB").check(answer)
    assert verdict.correct is correct
    assert said in str(verdict)


@pytest.mark.parametrize("answer", ["76.9 %", "76.9%", "0.769", "76.9 percent", "10/13", "76,9 %"])
def test_a_share_may_be_written_either_way(answer):
    assert Quantity(**COMMON, solution="", answer="76.9 %").check(answer)


@pytest.mark.parametrize(
    "answer", ["12.7", "12.7 steps/s", "12.7 /s", "12.7 Hz", "×12.7", "12.7 fold", "12,7"]
)
def test_a_pure_number_may_have_words_behind_it(answer):
    number = Quantity(**COMMON, solution="", answer="12.7")
    assert number.check(answer)
    assert "without a unit" in str(number.check("12.7 GB/s"))


def test_a_percentage_without_its_sign_is_told_so():
    assert "write 76.9 %" in str(Quantity(**COMMON, solution="", answer="76.9 %").check("76.9"))


@pytest.mark.parametrize("answer", ["12ms", " 12 MS. ", "`12 ms`"])
def test_a_choice_is_known_however_it_is_typed(answer):
    trap = Trap("twice", "24 ms", "That is twice as much.")
    choice = Choice(**COMMON, solution="", options=("12 ms", "24 ms"), answer="12 ms", traps=(trap,))
    assert choice.check(answer)
    assert "choose one of" in str(choice.check("13 ms"))


def test_an_order_says_which_place_is_wrong():
    order = Order(
        **COMMON, solution="", answer=("PCIe 5", "NVLink 4", "NVLink 5"),
        traps=(Trap("backwards", ("NVLink 5", "NVLink 4", "PCIe 5"), "That is fastest first."),),
    )  # fmt: skip
    assert order.check("pcie 5 < nvlink 4 < nvlink 5")
    assert order.check(["PCIe 5", "NVLink 4", "NVLink 5"])
    assert order.check("NVLink 5, NVLink 4, PCIe 5").trap == "backwards"
    assert "Place 1 is not NVLink 4" in str(order.check("NVLink 4, PCIe 5, NVLink 5"))
    assert "all of these once" in str(order.check("PCIe 5"))
    assert order.check("NVLink 5 > NVLink 4 > PCIe 5")
    assert order.check("`PCIe 5` → NVLink 4 → NVLink 5.")
    for nonsense in (5, True, 5.0, len):
        assert "all of these once" in str(order.check(nonsense))


def test_a_function_is_checked_on_cases_that_the_reader_does_not_see():
    function = Function(
        **COMMON, solution="", signature="def double(x): ...", cases=((1,), (2.5,)), answer=lambda x: 2 * x,
        traps=(Trap("squared", lambda x: x * x, "That squares."),),
    )  # fmt: skip
    assert function.check(lambda x: x + x)
    assert function.check(lambda x: x * x).trap == "squared"
    assert "expected 2" in str(function.check(lambda x: 7))
    assert "ZeroDivisionError" in str(function.check(lambda x: 1 / 0))
    assert "hand over a function" in str(function.check("double"))
    assert "expected 2" in str(function.check(lambda x: None))
    assert "expected 2" in str(function.check(lambda x: {1: "no"}[1]))
    for wrong in ([2.0], (2.0, 2.0), "2", 2 + 0j, [[1], [1, 2]], ["a"] * 9999):
        assert len(str(function.check(lambda x, wrong=wrong: wrong))) < 200
        assert not function.check(lambda x, wrong=wrong: wrong)
    assert "SystemExit" in str(function.check(lambda x: sys.exit()))


def test_badly_made_exercises_are_refused():
    with pytest.raises(ValueError, match="two hints"):
        Quantity(**{**COMMON, "hints": ("only one",)}, solution="", answer="3 ms")
    with pytest.raises(ValueError, match="one trap for each wrong option"):
        Choice(**COMMON, solution="", options=("a", "b"), answer="a")
    with pytest.raises(ValueError, match="size unit"):
        Quantity(**COMMON, solution="", answer="3 furlongs")


def test_options_stand_once_where_a_field_offers_them():
    for name in ("guess-256-times-more-data", "half-size"):
        shown = labs.exercise(name).children[0].value
        assert "<li>" not in shown
        assert "<details>" in shown
    assert "<li>" in exercises.ask("guess-256-times-more-data")._repr_html_()
    assert "<li>" not in labs.guess("guess-256-times-more-data").children[0].value


def test_an_unknown_name_brings_near_ones():
    with pytest.raises(KeyError, match="half-size"):
        exercises.ask("halfsize")
    with pytest.raises(ValueError, match="chapter 99 has no exercises"):
        exercises.chapter(99)
    with pytest.raises(KeyError, match=re.escape("see exercises()")):
        exercises.check("zzzzzz", "3")


def test_markup_in_an_answer_stays_text():
    answer = labs.exercise("half-size")
    answer.answer.value = "<img src=x onerror=alert(1)>"
    answer.button.click()
    assert "<img" not in answer.verdict.value
