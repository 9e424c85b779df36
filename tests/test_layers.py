"""The table of book/design.md, enforced: which module may import which."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import interconnect_lab

PACKAGE = Path(interconnect_lab.__file__).parent
NAME = "interconnect_lab"

PAGE = PACKAGE.parent / "book" / "design.md"
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.M)


def table() -> dict[str, set[str]]:
    """What each module may import, by the page's table; Python's own library and numpy are open to all."""
    rows = {module: cell.replace(",", " ").split() for module, cell in ROW.findall(PAGE.read_text("utf-8"))}
    models = set(list(rows)[: list(rows).index("parallelism") + 1])
    above = (set(rows) | {name for cell in rows.values() for name in cell}) - {"labs", "torch"}
    words = {"every": models, "model": models, "everything": above, "above": above}
    may = {module: set().union(*(words.get(name, {name}) for name in cell)) for module, cell in rows.items()}
    return {module: names - set(words) for module, names in may.items()} | EXTRA


EXTRA = {"__init__": set(), "__main__": {"jupyterlab"}}
MAY_IMPORT = table()
ONLY_IN_FUNCTIONS = {"torch", "jupyterlab"}
VAGUE = {"util", "utils", "core", "base", "helper", "helpers", "config", "manager", "common", "misc"}

FILES = sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str:
    """The module of the table that a file belongs to: a subpackage is one module."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(tree: ast.AST, path: Path) -> Iterator[str]:
    """The dotted names that code imports, relative ones resolved; ``from a import b`` is ``a.b``."""
    package = [NAME, *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def needed(names: Iterator[str]) -> set[str]:
    """Of dotted names, what the table speaks of: modules of ours and packages of others."""
    parts = [name.split(".") for name in names]
    own = {path[1] for path in parts if path[0] == NAME and len(path) > 1}
    whole = {NAME for path in parts if path == [NAME]}  # it would load any module, unseen
    others = {path[0] for path in parts} - {NAME, "numpy", "__future__"}
    return own | whole | (others - sys.stdlib_module_names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_the_table_allows(path):
    layer = layer_of(path)
    assert layer in MAY_IMPORT, f"{layer} is not in the table of layers: say what it may import"
    found = needed(imported(ast.parse(path.read_text(encoding="utf-8")), path))
    assert found - {layer} <= MAY_IMPORT[layer]


def test_the_table_on_the_page_is_read():
    assert MAY_IMPORT["units"] == set()
    assert MAY_IMPORT["collectives"] == {"links", "units"}
    assert MAY_IMPORT["exercises"] >= {"units", "specs", "parallelism"}
    assert not MAY_IMPORT["exercises"] & {"plots", "readers", "matplotlib", "ipywidgets"}
    assert MAY_IMPORT["labs"] >= {"plots", "readers", "exercises", "ipywidgets", "matplotlib"}
    assert [module for module, may in MAY_IMPORT.items() if "ipywidgets" in may] == ["labs"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_not_everyone_has_is_imported_inside_functions(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        function.body = [ast.Pass()]
    assert not needed(imported(tree, path)) & ONLY_IN_FUNCTIONS


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_has_a_name_that_says_nothing(path):
    assert not VAGUE & set(path.relative_to(PACKAGE).with_suffix("").parts)


def test_only_an_init_imports_by_a_computed_name():
    """There it loads the package's own parts; elsewhere the table could not see what is imported."""
    computed = {"import_module", "__import__"}
    dynamic = {
        path.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if computed & {getattr(node, field, None) for field in ("id", "attr", "name")}
    }
    assert dynamic == {"__init__.py"}


def test_the_table_has_no_cycle():
    waiting = {module: may & set(MAY_IMPORT) for module, may in MAY_IMPORT.items()}
    while ready := {module for module, may in waiting.items() if not may & set(waiting)}:
        waiting = {module: may for module, may in waiting.items() if module not in ready}
    assert waiting == {}


def test_every_name_that_the_package_offers_is_a_module():
    there = {layer_of(path) for path in FILES}
    assert set(interconnect_lab.__all__) <= there - {"__init__", "__main__"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'colectives'"):
        _ = interconnect_lab.colectives


@pytest.mark.parametrize(
    "code, names",
    [
        ("import interconnect_lab", {NAME}),
        ("import interconnect_lab.plots as p", {"plots"}),
        ("from interconnect_lab import links, units", {"links", "units"}),
        ("from .. import plots", {"plots"}),
        ("from ..units import ms", {"units"}),
        ("from . import nccl_tests", {"readers"}),
        ("def f():\n    import torch.distributed", {"torch"}),
        ("import json, numpy as np, pandas", {"pandas"}),
    ],
)
def test_the_reader_of_imports_sees_each_way_to_write_one(code, names):
    path = PACKAGE / "readers" / "example.py"
    assert needed(imported(ast.parse(code), path)) == names
