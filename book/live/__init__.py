"""Sphinx extension: pages of notebooks that come alive in the reader's browser.

Before a click a page shows each lab's first picture and reading; ``page/live.js`` does the rest. Two
settings come from the environment: ``LIVE_BASE`` is where Pyodide is, an address or a folder of the site.
"""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path

from docutils import nodes

from . import assets, policy, ways
from .text import TEXT

BASE = os.environ.get("LIVE_BASE", assets.CDN)
LATER = "live-later"  # the tag of a cell that takes seconds: it waits for its button
PATIENCE = 300_000  # milliseconds without any progress after which a start has failed
UNUSED = re.compile(
    r"<script[^>]*(?:thebe|require\.min\.js|html-manager|widget-state)[^>]*>.*?</script>"
    r"|<script>(?:const THEBE|kernelName = ).*?</script>",
    re.DOTALL,
)
VIEW = "application/vnd.jupyter.widget-view+json"


def setup(app):
    """Connect to Sphinx."""
    app.add_css_file("live/live.css")
    app.add_js_file("live/icons.js", priority=1)
    app.connect("env-before-read-docs", make)
    app.connect("doctree-read", prepare)
    app.connect("html-page-context", add_to_page, priority=900)
    app.connect("build-finished", guard)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def make(app, env, _changed):
    """Put what pages load into the site."""
    sources = [cell["source"] for page in sorted(env.found_docs) for cell in code(app, page)]
    foreign = assets.mirrored(sources)
    assets.collect(Path(app.outdir, "_static", "live"), foreign)
    if not BASE.startswith("http"):
        assets.pyodide(Path(app.outdir, BASE), foreign)


def prepare(_app, doctree):
    """Number the code cells, show each lab as a still, and say in words what each figure shows."""
    cells = [node for node in doctree.findall(nodes.container) if node.get("nb_element") == "cell_code"]
    places = code_places(doctree["source"]) if cells else {}
    for cell in cells:
        cell["ids"].append(f"cell-{places[cell['cell_index']]}")
        blocks = [block for block in cell.findall(nodes.literal_block) if "stream" in block["classes"]]
        for image in cell.findall(nodes.image):
            image["alt"] = "\n".join(block.astext() for block in blocks).strip() or image.get("alt", "")
        for bundle in list(cell.findall(nodes.container)):
            if bundle.get("nb_element") == "mime_bundle":
                show_still(bundle)


def show_still(bundle):
    """A lab becomes its picture with its reading, an exercise its text."""
    forms = {form["mime_type"]: form for form in bundle.children}
    lab = re.match(r"Lab (\w+): (.*)", forms["text/plain"].astext(), re.DOTALL) if VIEW in forms else None
    if lab:
        name, reading = lab[1], lab[2].strip()
        [picture] = forms["image/svg+xml"].findall(nodes.image)
        picture["alt"], picture["classes"] = reading, ["lab-picture"]
        shown = html.escape(reading, quote=False).replace("\n", "<br>")
        before = f'<figure class="lab-still lab lab-{name}" data-lab="{name}">'
        after = f'<figcaption class="lab-reading" role="status">{shown}</figcaption></figure>'
        before, after = (nodes.raw("", text, format="html") for text in (before, after))
        bundle.parent.replace(bundle, [before, picture, after])
    elif VIEW in forms and "text/html" in forms:
        bundle.parent.replace(bundle, forms["text/html"].children)


def code_places(path):
    """The number of each code cell by its place among all cells."""
    kinds = [cell["cell_type"] for cell in json.loads(Path(path).read_text(encoding="utf-8"))["cells"]]
    places = [place for place, kind in enumerate(kinds) if kind == "code"]
    return {place: number for number, place in enumerate(places)}


def code(app, pagename):
    """The code cells of a notebook's page, hidden ones too."""
    path = Path(app.srcdir, f"{pagename}.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"] if path.is_file() else []
    return [
        {"source": "".join(cell["source"]), "later": LATER in cell["metadata"].get("tags", [])}
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def add_to_page(app, pagename, _template, context, doctree):
    """Give a page its cells, where its parts are, and the script that brings it to life."""
    cells = code(app, pagename)
    if doctree is None or not cells:
        return
    kept = Path(app.outdir, "_static", "live", f"{pagename}.json")
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(cells), encoding="utf-8")
    version = assets.version(kept.parents[1])
    static = context["pathto"]("_static/live/", resource=True)
    settings = {
        "assets": static,
        "version": version,
        "base": BASE if BASE.startswith("http") else context["pathto"](BASE, resource=True),
        "cells": f"{pagename}.json",
        "wheels": assets.wheels([cell["source"] for cell in cells]),
        "locked": policy.locked(),
        "patience": PATIENCE,
        "offline": context["pathto"]("book/offline"),
        "TEXT": TEXT,
    }
    ways.for_colab(Path(app.srcdir, f"{pagename}.ipynb"), kept.parents[1] / "colab")
    context["body"] = context["body"].replace("</h1>", "</h1>" + ways.line(pagename, context["pathto"]), 1)
    text = json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c")
    context["body"] += f'<script type="application/json" id="live-setup">{text}</script>'
    context["body"] += f'<script type="module" src="{static}live.js?v={version}"></script>'


def guard(app, failure):
    """Put every page under its policy."""
    if failure is None and app.builder.name == "html":
        pages = {path: mended(path.read_text(encoding="utf-8")) for path in Path(app.outdir).rglob("*.html")}
        handlers = {handler for text in pages.values() for handler in policy.handlers(text)}
        for path, text in pages.items():  # the search reads other pages, with their handlers
            path.write_text(policy.guarded(text, BASE, handlers), encoding="utf-8")


def mended(page):
    """The page without Thebe, which fails, the widgets' runtime, which a click loads, and wrong names."""
    page = UNUSED.sub("", page)
    page = re.sub(r'(<button class="btn search-button-field[^>]*?)\s+aria-label="[^"]*"', r"\1", page)
    return re.sub(r'(<i class="theme-switch [^>]*?)\s+title="[^"]*"', r"\1", page)
