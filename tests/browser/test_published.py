"""What is published besides the pages: links that lead somewhere, a search, a zip for a class, a PDF."""

from __future__ import annotations

import zipfile
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from pypdf import PdfReader

from book.live import ways
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


@pytest.fixture(scope="module")
def printed(site, chrome, tmp_path_factory):
    target = tmp_path_factory.mktemp("pdf") / "book.pdf"
    pdf.write(site, target, chrome)
    assert target.stat().st_size < 20e6
    return PdfReader(target)


def test_the_pdf_holds_every_page_its_readings_and_sharp_figures(printed):
    chapters = [entry.title for entry in printed.outline if not isinstance(entry, list)]
    assert len(chapters) == len(pdf.pages())
    text = " ".join(" ".join(page.extract_text() for page in printed.pages).split())
    for words in ("64 KiB takes 5.31", "Exercises", "Further reading"):
        assert words in text, words
    for words in ("Until then its labs are pictures", "Download the notebook", "Hint 1"):
        assert words not in text, words
    pictures = [image for page in printed.pages for image in page.images if image.image.width > 300]
    assert pictures == [], "figures are drawings, not pixels"


def test_the_pdf_says_on_which_page_a_chapter_begins_and_points_to_no_server(printed):
    [entry] = [entry for entry in printed.outline if getattr(entry, "title", "").startswith("01")]
    number = printed.get_destination_page_number(entry) + 1
    assert f"{entry.title} {number}" in " ".join(printed.pages[0].extract_text().split())
    assert entry.title[:15] in printed.pages[number - 1].extract_text()
    links = [link.get_object() for page in printed.pages for link in page.get("/Annots", [])]
    addresses = [link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})]
    assert addresses
    assert [address for address in addresses if "127.0.0.1" in address] == []
    inside = {link["/Dest"] for link in links if "/Dest" in link}
    assert len(inside) > 20
    assert inside <= set(printed.named_destinations)


def test_a_site_whose_repository_is_not_known_has_no_dead_link_to_it(monkeypatch):
    monkeypatch.setattr(ways, "REPOSITORY", "")
    line = ways.line("notebooks/00_start_here", lambda path, **_: path)
    assert "http" not in line
    assert "Download the notebook" in line and "Cite" in line


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
