"""The course as a reader meets it: JupyterLab in a real browser, a mouse, a key, a screen reader's names."""

import shutil

import pytest

from tools import browser
from tools.browser import ROOT

CHAPTERS = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PICTURES = ROOT / "_build" / "screenshots"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    for name in CHAPTERS:
        shutil.copy(ROOT / "notebooks" / name, folder)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with browser.jupyterlab(folder) as address:
        yield address


@pytest.fixture
def page(chrome):
    page = chrome.new_page(viewport={"width": 1200, "height": 900})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    page.close()


def picture_of(lab):
    return lab.locator("img.lab-picture").evaluate("picture => picture.src")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_slider_dragged_with_the_mouse_changes_the_picture(server, page, dark):
    browser.open_notebook(page, server, CHAPTERS[1], dark=dark)
    lab = browser.lab(page, "size_sweep")
    picture, reading = picture_of(lab), lab.get_by_role("status").first.inner_text()
    assert len(browser.drag_times(page, lab, drags=3)) == 3
    assert picture_of(lab) != picture
    assert lab.get_by_role("status").first.inner_text() != reading
    lab.screenshot(path=PICTURES / f"size_sweep-{'dark' if dark else 'light'}.png")
    assert page.errors == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_lab_of_a_chapter_is_named_for_screen_readers(server, page, name):
    browser.open_notebook(page, server, name)
    shown = page.locator(".lab")
    assert shown.count() >= 2
    for lab in shown.all():
        lab.locator("img.lab-picture").wait_for(state="visible")
        reading = lab.locator(".lab-reading [role=status]")
        reading.wait_for(state="attached")
        assert lab.locator("img.lab-picture").get_attribute("alt") == reading.text_content()
        for control in lab.locator("[role=slider], select, input, textarea").all():
            assert control.evaluate(NAME), control.evaluate("control => control.outerHTML")
    assert (
        page.locator(".jp-OutputArea-output[data-mime-type*=stderr], .jp-RenderedText .ansi-red-fg").count()
        == 0
    )
    assert page.errors == []


# The accessible name, as a browser computes it from the attributes that we and ipywidgets set.
NAME = """control => control.getAttribute('aria-label') || control.labels?.[0]?.textContent
          || control.closest('label')?.textContent"""


def test_a_key_moves_a_slider_and_the_focus_is_seen(server, page):
    browser.open_notebook(page, server, CHAPTERS[1])
    lab = browser.lab(page, "size_sweep")
    handle = lab.locator("[role=slider]").first
    picture, said = picture_of(lab), handle.get_attribute("aria-valuetext")
    handle.focus()
    assert handle.evaluate("handle => getComputedStyle(handle).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    page.wait_for_function("([picture, src]) => picture.src !== src",
                           arg=[lab.locator("img.lab-picture").element_handle(), picture])  # fmt: skip
    assert handle.get_attribute("aria-valuetext") != said


def test_an_exercise_is_answered_with_the_keyboard_and_names_the_trap(server, page):
    browser.open_notebook(page, server, CHAPTERS[1])
    answer = page.locator(".exercise-answer", has_text="half of the time").first
    answer.scroll_into_view_if_needed()
    answer.locator("input[type=text]").fill("2 MB")
    answer.locator("input[type=text]").press("Tab")
    answer.get_by_role("button", name="Check").press("Enter")
    answer.locator("[role=status]").filter(has_text="bits").wait_for(timeout=20_000)
    answer.screenshot(path=PICTURES / "exercise.png")


def test_a_lab_fits_a_phone(server, page):
    page.set_viewport_size({"width": 600, "height": 800})  # JupyterLab's own side bars take 180 of it
    browser.open_notebook(page, server, CHAPTERS[0])
    lab = browser.lab(page, "one_step")
    room = lab.evaluate("lab => lab.parentElement.clientWidth")
    for part in ("img.lab-picture", ".lab-reading", ".lab-controls"):
        assert lab.locator(part).first.bounding_box()["width"] <= room
    lab.screenshot(path=PICTURES / "one_step-narrow.png")


def test_the_same_notebook_lives_in_notebook_7(page, tmp_path):
    shutil.copy(ROOT / "notebooks" / CHAPTERS[1], tmp_path)
    with browser.jupyterlab(tmp_path, "notebook") as address:
        browser.run_all(page, f"{address}/notebooks/{CHAPTERS[1]}")
        lab = browser.lab(page, "size_sweep")
        picture = picture_of(lab)
        assert len(browser.drag_times(page, lab, drags=2)) == 2
        assert picture_of(lab) != picture
        lab.screenshot(path=PICTURES / "size_sweep-notebook7.png")
        assert page.locator(".jp-OutputArea-output[data-mime-type*=stderr]").count() == 0
