"""Notebooks are stored in one form, and their stored text guards every number that they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools import notebooks

PATHS = sorted(notebooks.NOTEBOOKS.glob("*.ipynb"))
EACH_NOTEBOOK = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)

LINK = re.compile(r"\]\(<?([^)>\s]+)|(?:src|href)=[\"']([^\"']+)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|//")

LIKE_A_LAB = """
class Lab:
    def _repr_mimebundle_(self, **_):
        picture = "iVBORw0KGgo="
        return {"text/plain": "Lab demo: 64 KiB takes 5.31 µs", "image/png": picture}

Lab()
"""


@EACH_NOTEBOOK
def test_a_notebook_is_stored_in_the_house_form(path):
    assert notebooks.check(path) == []


@EACH_NOTEBOOK
def test_links_to_files_lead_somewhere(path):
    dead = [link for link in local_links(path) if not (path.parent / link).exists()]
    assert dead == []


@pytest.mark.slow
@EACH_NOTEBOOK
def test_strict_nbval_sees_one_changed_digit_in_a_notebook(path, tmp_path):
    """A digit of the last stored text is changed: that cell fails, and no other."""
    notebook = nbformat.read(path, as_version=4)
    changed = change_last_digit(notebook)
    copy = tmp_path / path.name
    nbformat.write(notebook, copy)
    assert cells_that_fail(copy) == [changed]


@pytest.mark.slow
def test_strict_nbval_guards_the_text_of_a_lab_whose_picture_is_not_stored(tmp_path):
    path = tmp_path / "like_a_lab.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(LIKE_A_LAB), new_code_cell("2 + 2")]), path)
    notebooks.execute(path)
    assert notebooks.check(path) == []
    [output] = nbformat.read(path, as_version=4).cells[0].outputs
    assert output.data == {"text/plain": "Lab demo: 64 KiB takes 5.31 µs"}
    assert cells_that_fail(path) == []

    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('5.31 µs"\n', '5.32 µs"\n'), encoding="utf-8")
    assert cells_that_fail(path) == [0]


def local_links(path: Path) -> Iterator[str]:
    """The files that the prose of a notebook links to, relative to the notebook."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            for markdown, html in LINK.findall(cell.source):
                link = unquote(markdown or html)
                if not ELSEWHERE.match(link):
                    yield link.partition("#")[0].partition("?")[0]


def change_last_digit(notebook: nbformat.NotebookNode) -> int:
    """Change the last digit of the last text that nbval compares; return the code cell's number."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in reversed(list(enumerate(cells))):
        compared = "nbval-ignore-output" not in cell.metadata.get("tags", [])
        for output in reversed(cell.outputs) if compared else ():
            held = output if output.output_type == "stream" else output.get("data", {})
            key = "text" if output.output_type == "stream" else "text/plain"
            digits = list(re.finditer(r"\d", held.get(key, "")))
            if digits:
                at = digits[-1].start()
                digit = str((int(held[key][at]) + 1) % 10)
                held[key] = held[key][:at] + digit + held[key][at + 1 :]
                return number
    raise ValueError("the notebook stores no digit")


def cells_that_fail(path: Path) -> list[int]:
    """Run strict nbval in a process of its own; return the numbers of the cells that fail."""
    command = ["pytest", "--nbval", "--nbval-current-env", "-rA", "-c", os.devnull, path.name]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert " passed" in done.stdout
    return [int(cell) for cell in re.findall(r"^FAILED .*::Cell (\d+)", done.stdout, re.M)]
