"""Print the whole book into one PDF: ``make pdf``. Labs are stills with their reading; figures stay sharp."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import yaml
from playwright.sync_api import Browser, Page
from pypdf import PdfWriter

from tools import browser, site

PDF = site.BUILD / "interconnect-lab.pdf"
FOOT = (
    '<div style="font-size:8px;width:100%;text-align:center">{title} · <span class="pageNumber"></span></div>'
)
LAYOUT = {
    "format": "A4",
    "print_background": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
}
MARGIN = {"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"}


def pages() -> list[str]:
    """The book's pages in the order of its table of contents, without endings."""
    contents = yaml.safe_load((site.ROOT / "_toc.yml").read_text())
    return [contents["root"], *(entry["file"] for part in contents["parts"] for entry in part["chapters"])]


def printed(page: Page, url: str) -> tuple[str, bytes]:
    """A page's title and its PDF, with formulas set and solutions closed."""
    page.goto(url + "?live=0")
    page.wait_for_load_state("networkidle")
    page.emulate_media(media="print", color_scheme="light")
    title = page.locator("article h1").inner_text().removesuffix("#").strip()
    return title, page.pdf(footer_template=FOOT.format(title=title), margin=MARGIN, **LAYOUT)


def write(folder: Path, target: Path, chrome: Browser) -> None:
    """Print each page of the site in ``folder``, one bookmark each, into ``target``."""
    book = PdfWriter()
    with site.served(folder) as address:
        page = chrome.new_page()
        for name in pages():
            title, content = printed(page, f"{address}{name}.html")
            book.append(BytesIO(content), outline_item=title)
    book.compress_identical_objects()
    book.add_metadata({"/Title": "Interconnect Lab"})
    book.write(target)


def main() -> int:
    """Build the site, print it, say how large it is."""
    with browser.chromium() as chrome:
        write(site.build(), PDF, chrome)
    print(f"{PDF.relative_to(site.ROOT)}: {PDF.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
