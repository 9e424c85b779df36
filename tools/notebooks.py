"""Keep the notebooks as they are committed: with text outputs, without pictures and widget state.

``python -m tools.notebooks execute|store|check [notebook ...]``; without a notebook, all of them.
Every output entry stays, since strict nbval counts them; what it holds as picture or view goes.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}  # a Python version would change daily
VIEW = "application/vnd.jupyter.widget-view+json"
VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled")
MAX_LINES = 15
NOT_STORED = "not in the stored form: run `python -m tools.notebooks store`"
CELL_TIMEOUT = 300  # seconds


def execute(path: Path) -> None:
    """Run the notebook in a new kernel, in its own folder, and store it; an error is raised."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name=KERNEL["name"],
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    ).execute()
    path.write_text(stored_text(notebook), encoding="utf-8", newline="\n")


def store(path: Path) -> None:
    """Write the notebook in the stored form, with the outputs it has."""
    notebook = nbformat.read(path, as_version=4)
    path.write_text(stored_text(notebook), encoding="utf-8", newline="\n")


def check(path: Path) -> list[str]:
    """Return what is wrong with a notebook, one sentence each; an empty list where nothing is."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    wrong = [f"code cell {n}: {what}" for n, cell in enumerate(cells, 1) for what in _flaws(cell)]
    if text != stored_text(notebook):
        wrong.append(NOT_STORED)
    return wrong


def stored_text(notebook: NotebookNode) -> str:
    """Return the notebook's text in the stored form: equal for equal sources and text outputs."""
    notebook = nbformat.from_dict(notebook)
    metadata = {key: value for key, value in notebook.metadata.items() if key != "widgets"}
    metadata |= {"kernelspec": KERNEL, "language_info": LANGUAGE}
    cells = [_stored_cell(cell) for cell in notebook.cells]
    _number([cell for cell in cells if cell["cell_type"] == "code"])
    _identify(cells)
    whole = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return nbformat.writes(nbformat.from_dict(whole)).rstrip("\n") + "\n"


def _flaws(cell: NotebookNode) -> list[str]:
    lines = len(cell.source.splitlines())
    flaws = [f"{lines} lines, at most {MAX_LINES} are read at a glance"] * (lines > MAX_LINES)
    if not cell.source.strip():
        flaws.append("empty")
    elif cell.execution_count is None:
        flaws.append("not executed")
    if "raises-exception" not in cell.metadata.get("tags", []):
        flaws += [f"ends in {out.ename}" for out in cell.outputs if out.output_type == "error"]
    return flaws


def _stored_cell(cell: NotebookNode) -> dict:
    kept = {key: value for key, value in cell.metadata.items() if key not in VOLATILE}
    stored = {**cell, "metadata": kept}
    if "outputs" in cell:
        stored["outputs"] = [_stored_output(output) for output in cell.outputs]
    return stored


def _stored_output(output: NotebookNode) -> dict:
    """The same entry without pictures and views, in its data and in what describes them."""
    return {
        key: {mime: held for mime, held in value.items() if not _is_picture(mime)}
        if key in ("data", "metadata")
        else value
        for key, value in output.items()
    }


def _is_picture(mime: str) -> bool:
    return mime.startswith("image/") or mime == VIEW


def _number(cells: list[dict]) -> None:
    """Count the executed cells 1, 2, 3 …, whatever the session that ran them had run before."""
    executed = [cell for cell in cells if cell["execution_count"] is not None]
    for count, cell in enumerate(executed, 1):
        cell["execution_count"] = count
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = count


def _identify(cells: list[dict]) -> None:
    """Keep the ids that cells have; a missing or repeated one comes from the cell's source."""
    taken: set[str] = set()
    for cell in cells:
        source, tries = cell["source"], 0
        while not cell.get("id") or cell["id"] in taken:
            cell["id"] = hashlib.sha256(f"{tries}{source}".encode()).hexdigest()[:8]
            tries += 1
        taken.add(cell["id"])


def main(arguments: list[str] | None = None) -> int:
    """Run one command over the notebooks; return 1 where ``check`` found something."""
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    found = 0
    for path in options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        print(f"{options.command}: {path.name}", flush=True)
        for flaw in COMMANDS[options.command](path) or ():
            print(f"  {flaw}")
            found += 1
    return 1 if found else 0


COMMANDS = {"execute": execute, "store": store, "check": check}

if __name__ == "__main__":
    sys.exit(main())
