"""Every page of the book as it stands before a click, and as it lives: on three widths, light and dark."""

from __future__ import annotations

import json

import pytest

from book.live import assets
from interconnect_lab import labs
from tools import browser
from tools.browser import ROOT

PICTURES = ROOT / "_build" / "screenshots"
CHAPTERS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
PAGES = [f"notebooks/{name}.html" for name in CHAPTERS]
PAGES += [f"{page.relative_to(ROOT).with_suffix('')}.html" for page in sorted((ROOT / "book").glob("*.md"))]
WIDTHS = (390, 820, 1440)


@pytest.fixture(params=["light", "dark"])
def theme(request):
    return request.param


def opened(chrome, address, theme="light", width=1200):
    """A page that keeps what it complains of and whom it asks."""
    viewport = {"width": width, "height": 900}
    settings = {"viewport": viewport, "color_scheme": theme, "reduced_motion": "reduce"}
    page = chrome.new_context(base_url=address, **settings).new_page()
    page.complaints, page.foreign = [], []
    page.on("console", lambda said: said.type == "error" and page.complaints.append(said.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda request: page.complaints.append(f"{request.url}: {request.failure}"))
    page.on("response", lambda answer: answer.status >= 400 and page.complaints.append(answer.url))
    own = (address, "data:", "blob:")
    page.on("request", lambda request: request.url.startswith(own) or page.foreign.append(request.url))
    return page


@pytest.mark.parametrize("name", PAGES)
def test_a_page_complains_of_nothing_and_asks_no_other_origin(chrome, address, name):
    page = opened(chrome, address)
    page.goto(name)
    page.wait_for_load_state("networkidle")
    assert page.locator("article h1").inner_text()
    assert (page.complaints, page.foreign) == ([], [])
    page.context.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_everything_is_there_before_any_click(chrome, address, name):
    page = opened(chrome, address)
    page.context.route("**/live/live.js*", lambda route: route.abort())  # not even our script is needed
    page.goto(f"notebooks/{name}.html")
    stills = page.locator("figure.lab-still")
    chapter = f"chapter{name[:2]}"
    assert [still.get_attribute("data-lab") for still in stills.all()] == list(labs.LABS[chapter])
    for still in stills.all():
        reading = still.locator("[role=status]").inner_text()
        assert len(reading) > 40
        assert still.locator("img").get_attribute("alt") == reading
        assert still.locator("img").evaluate("image => image.naturalWidth") > 300
    assert page.locator(".exercise").count() >= 10
    assert page.locator("script[src*='bundle']").count() == 0, "the widgets' runtime waits for a click"
    page.context.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_figure_is_described(chrome, address, name):
    page = opened(chrome, address)
    page.goto(f"notebooks/{name}.html")
    described = [image.get_attribute("alt") for image in page.locator(".cell_output img").all()]
    assert len(described) >= 3
    assert [alt for alt in described if len(alt or "") < 20 or alt.endswith(".png")] == []
    page.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_every_width(chrome, address, theme, name):
    page = opened(chrome, address, theme)
    page.goto(name)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert too_wide(page) == [], width
        picture(page, f"static-{theme}-{width}", name)
    page.context.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_live_page_fits_every_width_and_anyone_can_use_it(chrome, address, theme, name):
    page = opened(chrome, address, theme)
    browser.come_alive(page, f"{address}notebooks/{name}.html")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert too_wide(page) == [], width
        assert cut_labels(page) == [], width
        picture(page, f"live-{theme}-{width}", f"notebooks/{name}.html")
    assert violations(page) == []
    assert (page.complaints, page.foreign) == ([], [])
    page.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_anyone_can_use_a_page(chrome, address, theme, name):
    page = opened(chrome, address, theme)
    page.goto(name)
    page.wait_for_load_state("networkidle")
    assert violations(page) == []
    page.context.close()


def test_a_reader_who_wants_less_motion_gets_none(chrome, address):
    page = chrome.new_context(base_url=address, reduced_motion="reduce").new_page()
    browser.come_alive(page, f"{address}{PAGES[0]}")
    moving = "all => all.filter(one => parseFloat(getComputedStyle(one).transitionDuration) > 0).length"
    assert page.locator("body *").evaluate_all(moving) == 0
    page.context.close()


def too_wide(page):
    """What makes a page scroll sideways, if it does."""
    return page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll('article *')]
        .filter(one => one.getBoundingClientRect().right > innerWidth)
        .slice(0, 3).map(one => one.outerHTML.slice(0, 200))"""
    )


def cut_labels(page):
    """Labels, buttons and values of controls that have less room than they need."""
    written = page.locator(".live-output :is(.widget-label, .widget-readout, button, .lab-reading)")
    cut = "one => one.offsetWidth && one.scrollWidth > one.offsetWidth + 1"
    return written.evaluate_all(f"all => all.filter({cut}).map(one => one.textContent)")


def picture(page, what, name):
    """Keep a picture of the first lab, or of the top, to be looked at."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    lab = page.locator(".lab").first
    if lab.count():
        lab.scroll_into_view_if_needed()
    page.screenshot(path=PICTURES / f"{name.split('/')[-1].removesuffix('.html')}-{what}.png")


def violations(page):
    """What axe-core finds serious or critical, with its places."""
    page.evaluate((assets.NPM / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("async () => JSON.stringify((await axe.run({preload: false})).violations)")
    return [
        f"{one['id']}: {one['help']}: {node['html'][:160]}: {node['failureSummary'][-200:]}"
        for one in json.loads(found)
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
