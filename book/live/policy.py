"""The Content-Security-Policies of a live page: what it may ask of whom, before and after it is ready."""

from __future__ import annotations

import hashlib
import html
import re
from base64 import b64encode

# Everything from the site itself; Pyodide's address for scripts and data; styles that widgets set.
POLICY = (
    "default-src 'self'; script-src 'self' {base} 'wasm-unsafe-eval' 'unsafe-hashes' {hashes}; "
    "connect-src 'self' {base}; worker-src blob: 'self'; img-src 'self' data: blob:; font-src 'self' data:; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; form-action 'self'"
)
# From "ready" on: nothing from anywhere.
LOCKED = (
    "default-src 'none'; script-src 'unsafe-hashes' {hashes}; img-src data: blob:; "
    "style-src 'unsafe-inline'; font-src data:; form-action 'none'"
)
SCRIPT = re.compile(
    r"<script(?![^>]*(?:\bsrc=|type=\"(?:application|text/x)))[^>]*>(.*?)</script>", re.DOTALL
)
HANDLER = re.compile(r'\son[a-z]+="([^"]*)"')
GIVEN = re.compile(r'\n<meta http-equiv="Content-Security-Policy"[^>]*>')


def guarded(page, base, handlers):
    """The page under a policy: its own scripts, these handlers, those of its origin and ``base`` may run."""
    page = GIVEN.sub("", page)
    hashes = sorted({hashed(script) for script in [*SCRIPT.findall(page), *handlers]} | {lab_names()})
    text = POLICY.format(base=base if base.startswith("http") else "", hashes=" ".join(hashes))
    return page.replace("<head>", f'<head>\n<meta http-equiv="Content-Security-Policy" content="{text}">', 1)


def handlers(page):
    """The scripts that stand in attributes of a page."""
    return [html.unescape(handler) for handler in HANDLER.findall(page)]


def locked():
    """The policy that a page takes when it is ready."""
    return LOCKED.format(hashes=lab_names())


def lab_names():
    """The hash of the lines by which a lab names its controls for screen readers."""
    from interconnect_lab.labs.lab import NAMES

    return hashed(NAMES)


def hashed(script):
    """A script as a policy names it."""
    return f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
