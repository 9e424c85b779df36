"""What holds for every lab: each control at both ends and every option, names, state, downloads, errors."""

import base64
import csv
import html
import io
import re

import ipywidgets as widgets
import pytest

from interconnect_lab import labs, plots
from interconnect_lab.labs import controls
from interconnect_lab.labs.lab import Lab, options

NAMES = [name for names in labs.LABS.values() for name in names]
every_lab = pytest.mark.parametrize("name", NAMES)
HOSTILE = ("", "no table here", "\x00\x1b[31m", "#  size\n" + "8 " * 20_000, "<script>alert(1)</script>")

# Where a control at an end, or an option, changes not both the reading and the table: why that is right.
REASONS: dict[tuple[str, str, object], str] = {
    ("data_sheet_trap", "preset", "own"): "it keeps the numbers of the data sheet and drops only its name",
    ("data_sheet_trap", "counted", "a GPU"): "the sheet at first is of one port for one GPU: the same rate",
    ("data_sheet_trap", "counted", "a node"): "a node of one GPU has what the GPU has",
}


def new(name: str) -> Lab:
    return getattr(labs, name)()


def ends(control: widgets.Widget) -> tuple:
    """Both ends of a range, every option of a choice, hostile text for a text field."""
    if isinstance(control, widgets.SelectionSlider):
        return options(control)[0], options(control)[-1]
    if options(control):
        return options(control)
    if isinstance(control, widgets.Checkbox):
        return True, False
    if isinstance(control, (widgets.Text, widgets.Textarea)):
        return HOSTILE
    return control.min, control.max


CONTROLS = [
    pytest.param(name, control, id=f"{name}-{control}") for name in NAMES for control in new(name).controls
]


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_every_control_moves_the_lab_at_every_end(name, control):
    lab = new(name)
    first = lab.values[control]
    for end in ends(lab.controls[control]):
        lab.reset()
        before = lab.reading, lab.table
        lab.set(**{control: end})
        assert lab.reading
        if (name, control, end) in REASONS:
            assert lab.reading != before[0] or lab.table != before[1]
        elif end != first:
            assert lab.reading != before[0], f"the reading stays at {control}={end!r}"
            assert lab.table != before[1], f"the table stays at {control}={end!r}"


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_every_control_works_at_its_ends_whatever_the_others_say(name, control):
    """All other controls at their first end, then at their last."""
    lab = new(name)
    for corner in (0, -1):
        for other, widget in lab.controls.items():
            if other != control:
                lab.set(**{other: ends(widget)[corner]})
        for end in ends(lab.controls[control]):
            lab.set(**{control: end})
            assert lab.reading


def test_reasons_name_controls_that_exist():
    known = {tuple(param.values) for param in CONTROLS}
    assert {(name, control) for name, control, _ in REASONS} <= known
    assert all(len(reason) > 20 for reason in REASONS.values())


@every_lab
def test_a_lab_is_named_for_its_function_and_its_chapter(name):
    lab = new(name)
    assert lab.name == name
    assert {"lab", f"lab-{name}"} <= set(lab._dom_classes)
    assert re.match(r"Lab \d\d\.\d: ", getattr(labs, name).__doc__)


@every_lab
def test_a_lab_has_at_most_four_main_controls_and_each_has_a_name(name):
    lab = new(name)
    assert 1 <= len(lab.controls) - len(lab._more) <= 4
    assert set(lab._more) <= set(lab.controls)
    descriptions = [control.description for control in lab.controls.values()]
    assert all(descriptions)
    assert len(set(descriptions)) == len(descriptions)


@every_lab
def test_a_lab_says_what_it_shows_as_plain_text_too(name):
    lab = new(name)
    assert lab._repr_mimebundle_()["text/plain"] == f"Lab {name}: {lab.reading}"
    assert re.search(r"\d", lab.reading)
    assert len(lab.table) > 0
    assert all(point.panel and point.series for point in lab.table)


@every_lab
def test_a_lab_redraws_its_own_artists(name):
    lab = new(name)
    slider = next(key for key in lab.controls if len(ends(lab.controls[key])) > 1)
    figure, picture = lab.figure, lab._picture
    before = picture.value
    for end in ends(lab.controls[slider]):
        lab.set(**{slider: end})
    assert lab.figure is figure
    assert lab._picture is picture
    assert picture.value != before
    assert bytes(picture.value).startswith(b"\x89PNG")


@every_lab
def test_a_lab_goes_back_to_its_first_state(name):
    lab = new(name)
    before = lab.values, lab.reading, lab.table
    for control, widget in lab.controls.items():
        lab.set(**{control: ends(widget)[-1]})
    lab.reset()
    assert (lab.values, lab.reading, lab.table) == before
    assert lab.link == "?"


@every_lab
def test_a_link_carries_the_state_to_another_reader(name):
    lab, other = new(name), new(name)
    for control, widget in lab.controls.items():
        if not isinstance(widget, widgets.Textarea):
            lab.set(**{control: ends(widget)[-1]})
    assert lab.link.startswith(f"?{name}.")
    other.follow("https://example.org/page.html" + lab.link + "&another.lab=3")
    assert other.values == lab.values
    assert other.reading == lab.reading
    assert bytes(other._picture.value) == bytes(lab._picture.value), "what changed was not all drawn again"


@every_lab
def test_the_table_and_the_figure_can_be_saved(name):
    lab = new(name)
    rows = list(csv.reader(io.StringIO(lab.csv())))
    assert rows[0] == ["panel", "series", "x", "y"]
    assert len(rows) == len(lab.table) + 1
    assert "<svg" in lab.svg()
    lab._show("save", True)
    saved = re.findall(r'href="data:text/csv;base64,([^"]+)"', lab._panel.value)
    assert base64.b64decode(saved[0]).decode() == lab.csv()
    lab._show("table", True)
    assert "<table>" in lab._panel.value
    lab._show("save", False)
    lab._show("table", False)
    assert lab._panel.value == ""


@every_lab
def test_pasted_markup_is_shown_as_text(name):
    lab = new(name)
    for control, widget in lab.controls.items():
        if isinstance(widget, (widgets.Text, widgets.Textarea)):
            lab.set(**{control: "<img src=x onerror=alert(1)>"})
            assert "<img" not in lab._reading.value


# ---- the class itself ------------------------------------------------------------------------


def fails_at_three() -> Lab:
    def draw(ax, number: int) -> str:
        if number == 3:
            raise RuntimeError("three")
        plots.time_vs_size([1.0, 2.0], {"made up": [1.0, number]}, ax=ax)
        return f"The number is {number}."

    return Lab(draw, number=widgets.IntSlider(value=1, min=1, max=5, description="number"))


def test_a_failure_is_raised_in_tests():
    lab = fails_at_three()
    with pytest.raises(RuntimeError, match="three"):
        lab.set(number=3)


def test_a_failure_is_shown_in_red_to_a_reader_and_goes_away(monkeypatch):
    monkeypatch.setattr(Lab, "raise_errors", False)
    lab = fails_at_three()
    lab.controls["number"].value = 3
    assert "RuntimeError: three" in lab._reading.value
    assert "lab-failed" in lab._reading._dom_classes
    lab.controls["number"].value = 4
    assert lab._reading.value == "The number is 4."
    assert "lab-failed" not in lab._reading._dom_classes


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"ranks": 2}, "no control 'ranks'; it has number"),
        ({"number": 99}, "the nearest is 5"),
        ({"number": "two"}, "number of fails_at_three cannot be 'two'"),
    ],
)
def test_a_value_that_is_not_offered_is_refused_and_nothing_moves(values, said):
    lab = fails_at_three()
    with pytest.raises(ValueError, match=said):
        lab.set(**values)
    assert lab.values == {"number": 1}
    assert lab.reading == "The number is 1."
    with pytest.raises(ValueError, match="expected int"):
        lab.follow("?fails_at_three.number=two")


def test_a_set_that_is_refused_moves_nothing_at_all():
    lab = new("size_sweep")
    before = lab.values, lab.reading
    slider = lab.controls["latency_us"]
    other = next(value for value in options(slider) if value != slider.value)
    for wrong in ({"latency_us": other, "bandwidth_GBps": -5}, {"latency_us": None}):
        with pytest.raises(ValueError, match="cannot be"):
            lab.set(**wrong)
        assert (lab.values, lab.reading) == before


def test_the_state_to_copy_is_a_call_that_brings_it_back():
    lab = new("size_sweep")
    lab.set(latency_us=options(lab.controls["latency_us"])[-1])
    lab._show("save", True)
    call = html.unescape(re.search(r"<code>(.*?)</code>", lab._panel.value)[1])
    assert eval(call, {"labs": labs}).values == lab.values
    assert eval(f"labs.{lab.name}()", {"labs": labs}).values != lab.values


def test_moving_a_control_redraws_once_and_set_redraws_once_for_all():
    drawn = []

    def draw(ax, a: int, b: int) -> str:
        drawn.append((a, b))
        return "drawn 1"

    lab = Lab(draw, a=widgets.IntSlider(description="a"), b=widgets.IntSlider(description="b"))
    lab.controls["a"].value = 5
    lab.set(a=7, b=9)
    assert drawn == [(0, 0), (5, 0), (7, 9)]


def test_a_tied_control_follows_the_one_that_was_moved_in_one_redraw():
    drawn = []

    def draw(ax, a: int, b: int) -> str:
        drawn.append((a, b))
        return "drawn 1"

    sliders = {name: widgets.IntSlider(description=name) for name in "ab"}
    lab = Lab(draw, tie=lambda moved, values: {"b": 2 * values["a"]} if moved == "a" else {}, **sliders)
    lab.controls["a"].value = 5
    lab.set(a=7)
    lab.set(a=9, b=1)
    lab.controls["b"].value = 3
    lab.reset()
    assert drawn == [(0, 0), (5, 10), (7, 14), (9, 1), (9, 3), (0, 0)]


@every_lab
def test_a_picture_does_not_remember_how_it_came_about(name):
    """Panels keep copies of their frames: each control's ends leave no trace once it is set back."""
    lab = new(name)
    first = bytes(lab._picture.value)
    for control, widget in lab.controls.items():
        for end in ends(widget):
            lab.set(**{control: end})
        lab.reset()
        assert bytes(lab._picture.value) == first, control


def test_the_reset_button_and_the_fold_work():
    lab = next(lab for lab in map(new, NAMES) if lab._more)
    fold = next(child for child in lab.children if isinstance(child, widgets.ToggleButton))
    box = lab.children[lab.children.index(fold) + 1]
    assert box.layout.display == "none"
    fold.value = True
    assert not box.layout.display
    control, widget = next(iter(lab.controls.items()))
    lab.set(**{control: ends(widget)[-1]})
    reset = next(
        button for row in lab.children if isinstance(row, widgets.Box) for button in row.children
        if isinstance(button, widgets.Button)
    )  # fmt: skip
    reset.click()
    assert lab.link == "?"


def test_round_values_are_those_that_people_say():
    assert controls.round_values(0.5, 20) == [0.5, 1, 2, 5, 10, 20]
    slider = controls.slider("latency", controls.round_values(1, 10), 5, "{:g} µs".format)
    assert slider.options == (("1 µs", 1), ("2 µs", 2), ("5 µs", 5), ("10 µs", 10))


def test_a_lab_gives_a_drawing_only_where_a_still_is_wanted(monkeypatch):
    lab = labs.size_sweep()
    assert "image/svg+xml" not in lab._repr_mimebundle_()
    monkeypatch.setattr(labs.Lab, "still", True)
    assert lab._repr_mimebundle_()["image/svg+xml"].count("<svg") == 1
