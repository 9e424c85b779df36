"""What is published besides the pages: links that lead somewhere, a search, a zip for a class, a PDF."""

from __future__ import annotations

import zipfile
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from pypdf import PdfReader

from tools import browser, pdf, publish
from tools import site as book


class Page(HTMLParser):
    """What a page points to and what can be pointed to in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places |= {given[key] for key in ("id", "name") if given.get(key)}
        self.links += [given[key] for key in ("href", "src") if given.get(key)]


def test_every_internal_link_leads_to_a_file_and_a_place_that_are_there(site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if (
                parts.scheme
                or parts.netloc
                or path.name in ("webpack-macros.html", "sbt-webpack-macros.html")
            ):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file() or (place and place not in pages[target].places):
                broken.append(f"{path.relative_to(site)} -> {link}")
    assert len(pages) >= 8
    assert broken == []


def test_the_search_finds_without_the_internet(chrome, address):
    page = chrome.new_context(base_url=address).new_page()
    complaints = []
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto("search.html?q=NVLink")
    page.locator("#search-results li a", has_text="data sheet").first.wait_for()
    assert complaints == []
    page.context.close()


def test_the_zip_is_alive_where_only_its_own_server_can_be_reached(site, chrome, tmp_path, monkeypatch):
    monkeypatch.setattr(book, "SITE", site)
    monkeypatch.setattr(book, "ZIP", tmp_path / "offline.zip")
    zipfile.ZipFile(book.pack()).extractall(tmp_path)
    with book.served(tmp_path / "interconnect-lab") as address:
        context = chrome.new_context()
        outside = []
        context.route(
            lambda url: not url.startswith(address),
            lambda route: (outside.append(route.request.url), route.abort()),
        )
        page = context.new_page()
        browser.come_alive(page, f"{address}notebooks/00_start_here.html")
        lab = page.locator(".live-output .lab-one_step")
        assert browser.drag_times(page, lab, drags=2)
        context.close()
    assert [url for url in outside if not url.startswith(("blob:", "data:"))] == []
    assert "http.server" in (tmp_path / "interconnect-lab" / "README.txt").read_text()


def test_the_pdf_holds_every_page_its_readings_and_sharp_figures(site, chrome, tmp_path):
    target = tmp_path / "book.pdf"
    pdf.write(site, target, chrome)
    assert target.stat().st_size < 20e6
    read = PdfReader(target)
    assert len(read.outline) == len(pdf.pages())
    text = "\n".join(page.extract_text() for page in read.pages)
    for words in ("64 KiB takes 5.31", "Exercises", "Further reading"):
        assert words in " ".join(text.split()), words
    assert "Until then its labs are pictures" not in text
    pictures = [image for page in read.pages for image in page.images if image.image.width > 300]
    assert pictures == [], "figures are drawings, not pixels"


def test_versions_lie_beside_each_other_and_a_lost_reader_is_led_back(site, tmp_path, monkeypatch):
    monkeypatch.setattr(book, "SITE", site)
    for version in ("v0.1", "latest"):
        publish.publish(tmp_path, version, "/course/")
    assert (tmp_path / "latest" / "index.html").is_file()
    assert (tmp_path / "v0.1" / "notebooks" / "00_start_here.html").is_file()
    assert 'href="v0.1/index.html"' in (tmp_path / "index.html").read_text()
    assert 'href="/course/latest/index.html"' in (tmp_path / "404.html").read_text()
    with pytest.raises(ValueError, match=r"latest or like v1\.2, not '\.\./x'"):
        publish.publish(tmp_path, "../x", "/")
