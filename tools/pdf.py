"""Print the whole book into one PDF: ``make pdf``. Labs are stills with their reading; figures stay sharp.

``python -m tools.pdf [--solutions]``. Exercises stand without hints and solutions unless these are asked for.
"""

from __future__ import annotations

import argparse
import html
import sys
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import yaml
from playwright.sync_api import Browser, Page
from pypdf import PdfReader, PdfWriter

from interconnect_lab import __version__
from tools import browser, site

PDF = site.BUILD / "interconnect-lab.pdf"
LAYOUT = {
    "format": "A4",
    "scale": 0.8,
    "print_background": True,
    "tagged": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": '<p style="font-size:8px;width:100%;text-align:center" class="pageNumber"></p>',
    "margin": {"top": "16mm", "bottom": "18mm", "left": "20mm", "right": "20mm"},
}
STYLE = """
html, body { font-size: 16px; background: #fff }
body > * { max-width: none; padding: 0 }
.bd-article { break-before: page }
h1, h2, h3, h4 { break-after: avoid }
.cell_input, .exercise, figure, img, pre, tr, .admonition { break-inside: avoid }
.cell:has(.lab-still), .cell:has(.exercise) { break-inside: avoid }
.cell:has(.exercise) .cell_input { display: none !important }
button, .live-bar, .live-ways, .live-tools { display: none !important }
.book-contents p { display: flex; margin: .2rem 0; break-inside: avoid }
.book-contents .book-section { padding-left: 1.5rem; font-size: .9rem }
.book-contents a { color: inherit; text-decoration: none } .book-contents span { margin-left: auto }
"""
NOTE = f"Version {__version__}. Code under MIT, text under CC BY 4.0. Its pages are alive: there, labs move."


class Head(NamedTuple):
    """A head of the book: ``chapter`` or ``section``, where it stands, its words."""

    level: str
    place: str
    text: str


# What a page gives to the book: its article, with names that are its own and links that stay inside.
ARTICLE = """async ({name, names, solutions}) => {
  await window.MathJax?.startup?.promise;
  const slug = (path) => path.split("/").pop(), own = (id) => id ? `${slug(name)}--${id}` : slug(name);
  const article = document.querySelector("article");
  for (const link of article.querySelectorAll("a[href]")) {
    const to = new URL(link.href), page = to.pathname.slice(1).replace(/[.]html$/, "");
    if (to.origin !== location.origin) continue;
    if (!names.includes(page)) link.removeAttribute("href");
    else link.setAttribute("href", `#${slug(page)}${to.hash && "--" + decodeURIComponent(to.hash.slice(1))}`);
  }
  for (const one of article.querySelectorAll("[id]")) one.id = own(one.id);
  const loaded = (image) => Object.assign(image, { src: image.src, loading: "eager" });
  article.querySelectorAll("img").forEach(loaded);
  for (const folded of article.querySelectorAll("details")) {
    folded.open = true;
    if (!solutions && folded.closest(".exercise")) folded.remove();
  }
  for (const link of article.querySelectorAll(".headerlink")) link.remove();
  article.querySelector("h1").id = own("");
  const rules = [...document.styleSheets].filter((sheet) => sheet.ownerNode.id === "MJX-CHTML-styles");
  return {
    content: article.innerHTML,
    style: rules.flatMap((sheet) => [...sheet.cssRules]).map((rule) => rule.cssText).join(""),
    heads: [...article.querySelectorAll("h1, section > h2")].map((head) => head.tagName === "H1" ?
      ["chapter", head.id, head.textContent] : ["section", head.parentElement.id, head.textContent]),
  };
}"""
FILL = """async ({content, style}) => {
  document.body.innerHTML = content;
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  await Promise.all([...document.images].map((image) => image.decode()));
  await document.fonts.ready;
}"""


def pages() -> list[str]:
    """The book's pages in the order of its table of contents, without endings."""
    contents = yaml.safe_load((site.ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [contents["root"], *(entry["file"] for part in contents["parts"] for entry in part["chapters"])]


def write(folder: Path, target: Path, chrome: Browser, *, solutions: bool = False) -> None:
    """Join the pages of the site in ``folder`` and print them, after a table of contents, into ``target``."""
    with site.served(folder) as address:
        page = chrome.new_page(color_scheme="light", reduced_motion="reduce")
        parts = [article(page, address, name, solutions=solutions) for name in pages()]
        heads = [Head(*head) for part in parts for head in part["heads"]]
        whole = f'<div class="book-contents">{contents(heads, {})}</div>'
        whole += "".join(f'<div class="bd-article">{part["content"]}</div>' for part in parts)
        page.evaluate(FILL, {"content": whole, "style": STYLE + "".join(part["style"] for part in parts)})
        numbers = page_numbers(page.pdf(**LAYOUT))  # the first print tells where each head comes to stand
        fill = "(all, text) => { all.innerHTML = text }"
        page.locator(".book-contents").evaluate(fill, contents(heads, numbers))
        bookmarked(page.pdf(**LAYOUT), heads, numbers).write(target)
        page.close()


def article(page: Page, address: str, name: str, *, solutions: bool) -> dict:
    """A page's content as it stands when formulas are set, its styles for them, and its heads."""
    page.goto(f"{address}{name}.html?live=0")
    page.wait_for_load_state("networkidle")
    return page.evaluate(ARTICLE, {"name": name, "names": pages(), "solutions": solutions})


def contents(heads: list[Head], numbers: dict[str, int]) -> str:
    """The title and the table of contents as HTML; a number that is not known yet is left out."""
    entries = [
        f'<p class="book-{head.level}"><a href="#{head.place}">{html.escape(head.text)}</a>'
        f"<span>{numbers.get(head.place, '')}</span></p>"
        for head in heads
    ]
    return f'<h1>Interconnect Lab: contents</h1><p class="book-note">{NOTE}</p>{"".join(entries)}'


def page_numbers(printed: bytes) -> dict[str, int]:
    """The number of the page on which each place that is linked to stands."""
    read = PdfReader(BytesIO(printed))
    places = read.named_destinations.items()
    return {unquote(name.lstrip("/")): read.get_destination_page_number(place) + 1 for name, place in places}


def bookmarked(printed: bytes, heads: list[Head], numbers: dict[str, int]) -> PdfWriter:
    """The printed book with its title and bookmarks; Chromium's own would run words together."""
    book = PdfWriter(clone_from=BytesIO(printed))
    book.add_metadata({"/Title": "Interconnect Lab"})
    chapter = None
    for head in heads:
        above = None if head.level == "chapter" else chapter
        entry = book.add_outline_item(title=head.text, page_number=numbers[head.place] - 1, parent=above)
        chapter = chapter if above else entry
    return book


def main() -> int:
    """Build the site, print it, say how large it is."""
    parser = argparse.ArgumentParser(prog="python -m tools.pdf", description=__doc__)
    parser.add_argument("--solutions", action="store_true", help="with the exercises' hints and solutions")
    options = parser.parse_args()
    with browser.chromium() as chrome:
        write(site.build(), PDF, chrome, solutions=options.solutions)
    print(f"{PDF.relative_to(site.ROOT)}: {PDF.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
