"""Live pages without a browser: what a page needs, what it may ask, how its Python answers."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the lowest versions are tested without the book")

from book import live
from book.live import assets, policy, ways
from tools import pyodide_mirror, site

LOCK = {
    name: {
        "file_name": f"{name}.whl",
        "sha256": hashlib.sha256(name.encode()).hexdigest(),
        "imports": [name],
        "depends": more,
    }
    for name, more in {
        "numpy": [],
        "matplotlib": ["numpy", "pytz"],
        "traitlets": [],
        "pytz": [],
        "scipy": ["numpy"],
    }.items()
}


@pytest.fixture
def lock(monkeypatch, tmp_path):
    """A small lock of Pyodide's kind, and a mirror that holds what it names."""
    monkeypatch.setattr(assets, "lock", lambda: LOCK)
    monkeypatch.setattr(assets, "MIRROR", tmp_path)
    for name in LOCK:
        (tmp_path / f"{name}.whl").write_bytes(name.encode())
    return tmp_path


# what a page needs


@pytest.mark.usefixtures("lock")
def test_a_page_gets_what_its_cells_import_however_deep_and_no_more():
    always = {"ipywidgets", "comm", "traitlets"}
    assert assets.packages(["print(1)"]) == always
    assert assets.packages(["import scipy.optimize as o"]) == always | {"scipy", "numpy"}
    assert assets.packages(["from interconnect_lab import links"]) == always | {"numpy"}
    assert assets.packages(["from interconnect_lab import labs"]) == always | {"numpy", "matplotlib"}
    assert "networkx" in assets.packages(["def late():\n    import networkx"])


@pytest.mark.usefixtures("lock")
def test_a_foreign_wheel_carries_the_hash_of_the_lock():
    wheels = {wheel["url"]: wheel.get("integrity") for wheel in assets.wheels(["import numpy"])}
    given = wheels["numpy.whl"].removeprefix("sha256-")
    assert b64decode(given).hex() == LOCK["numpy"]["sha256"]
    assert wheels["wheels/interconnect_lab.whl"] is None, "the site's own come with the page"


def test_a_wheel_that_the_lock_does_not_know_is_refused(lock):
    assert [file.name for file in assets.mirrored(["import numpy"])] == ["numpy.whl", "traitlets.whl"]
    (lock / "numpy.whl").write_bytes(b"another")
    with pytest.raises(ValueError, match=r"numpy\.whl is not the file that Pyodide's lock names"):
        assets.mirrored(["import numpy"])


def test_the_mirror_turns_to_the_carrier_and_says_what_is_missing(lock, monkeypatch, capsys):
    def no_network(*_arguments, **_options):
        raise OSError("no network")

    for name in LOCK:
        (lock / f"{name}.whl").unlink()
    asked = []
    monkeypatch.setattr(pyodide_mirror.urllib.request, "urlopen", no_network)
    monkeypatch.setattr(pyodide_mirror, "from_carrier", asked.append)
    assert pyodide_mirror.main() == 1
    assert "numpy.whl" in asked[0]
    assert "could be had neither from https://cdn.jsdelivr.net" in capsys.readouterr().err
    pyodide_mirror.keep("numpy.whl", LOCK["numpy"]["sha256"], lambda: b"another")
    assert not (lock / "numpy.whl").exists()


def test_a_build_without_npm_says_what_brings_it(monkeypatch):
    monkeypatch.setattr(site.assets, "NPM", Path("/nowhere"))
    monkeypatch.setattr(site.assets, "program", lambda name: None)
    with pytest.raises(site.BuildError, match=r"npm is not here: python -m pip install -r requirements\.txt"):
        site.npm()


def test_kept_outputs_go_when_the_package_has_changed(monkeypatch, tmp_path):
    module = tmp_path / "interconnect_lab" / "units.py"
    cache = tmp_path / "_build" / ".jupyter_cache"
    module.parent.mkdir()
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "BUILD", tmp_path / "_build")
    kept = []
    for text in ("a = 1", "a = 1", "a = 2"):
        module.write_text(text)
        site.forget_old_outputs()
        kept.append(cache.is_dir())
        cache.mkdir(parents=True, exist_ok=True)
    assert kept == [False, True, False]


def test_cells_are_read_from_the_notebook_hidden_ones_too(tmp_path):
    def cell(source, *tags):
        return {"cell_type": "code", "source": [source], "metadata": {"tags": list(tags)}}

    text = {"cell_type": "markdown", "source": ["# A"], "metadata": {}}
    cells = [text, cell("a = 1", "remove-cell"), text, cell("slow()", "live-later")]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    app = type("App", (), {"srcdir": tmp_path})
    assert live.code(app, "a") == [{"source": "a = 1", "later": False}, {"source": "slow()", "later": True}]
    assert live.code(app, "no_notebook") == []
    assert live.code_places(tmp_path / "a.ipynb") == {1: 0, 3: 1}


# what a page may ask

PAGE = """<html><head><script>first()</script><script src="a.js"></script>
<script type="application/json">{"data": 1}</script></head>
<body><button onclick="go(&quot;x&quot;)"></button></body></html>"""


def sha(script):
    return f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def test_a_policy_names_the_scripts_of_its_page_and_one_other_origin():
    page = policy.guarded(PAGE, "https://cdn.example/full/", policy.handlers(PAGE))
    directives = dict(
        part.strip().split(" ", 1) for part in page.split('content="')[1].split('"')[0].split(";")
    )
    assert {sha("first()"), sha('go("x")')} <= set(directives["script-src"].split())
    assert sha('{"data": 1}') not in page
    elsewhere = {name for name, value in directives.items() if "https:" in value}
    assert elsewhere == {"script-src", "connect-src"}
    assert "'unsafe-eval'" not in page
    assert "'unsafe-inline'" not in directives["script-src"]


def test_a_page_is_guarded_once_and_an_offline_page_names_no_other_origin():
    once = policy.guarded(PAGE, "_static/pyodide/", [])
    assert policy.guarded(once, "_static/pyodide/", []) == once
    assert once.count("Content-Security-Policy") == 1
    assert "http" not in once.split('content="')[1].split('"')[0]


def test_a_page_that_is_ready_may_ask_nobody():
    sources = {word for part in policy.locked().split(";") for word in part.split()[1:]}
    assert {word for word in sources if not word.startswith("'sha256-")} == {
        "'none'", "'unsafe-hashes'", "'unsafe-inline'", "data:", "blob:"
    }  # fmt: skip


def test_a_page_links_to_colab_and_binder_only_where_its_repository_is_known(monkeypatch):
    def path_to(name, resource=False):
        return f"../{name}"

    assert "colab" not in ways.line("notebooks/00_start_here", path_to)
    monkeypatch.setattr(ways, "REPOSITORY", "someone/course")
    line = ways.line("notebooks/00_start_here", path_to)
    assert "github/someone/course/blob/gh-pages/latest/_static/live/colab/00_start_here.ipynb" in line
    assert "mybinder.org/v2/gh/someone/course/main?urlpath=lab/tree/notebooks/00_start_here.ipynb" in line


def test_colab_gets_a_notebook_that_installs_the_package_and_newer_widgets(monkeypatch, tmp_path):
    monkeypatch.setattr(ways, "REPOSITORY", "someone/course")
    notebook = assets.ROOT / "notebooks" / "00_start_here.ipynb"
    ways.for_colab(notebook, tmp_path / "colab")
    first, *rest = json.loads((tmp_path / "colab" / notebook.name).read_text(encoding="utf-8"))["cells"]
    assert "ipywidgets>=8" in first["source"]
    assert "git+https://github.com/someone/course@main" in first["source"]
    assert rest == json.loads(notebook.read_text(encoding="utf-8"))["cells"]


# how its Python answers

STAND_INS = """
import ast, asyncio, inspect, json, sys
from types import ModuleType
posted = []
def module(name, **members):
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(members)
async def eval_code_async(source, namespace, filename):
    tree = ast.parse(source, filename)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    for part, mode in ((tree, "exec"), (last and ast.Expression(last.value), "eval")):
        if part is not None:
            result = eval(compile(part, filename, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace)
            result = await result if inspect.iscoroutine(result) else result
    return result if last else None
def live_post(text, buffers):
    posted.append(json.loads(text) | {"parts": [len(part) for part in buffers]})
module("js", live_post=live_post)
module("pyodide", __path__=[])
module("pyodide.code", eval_code_async=eval_code_async)
module("pyodide.ffi", to_js=lambda value: value)
sys.path.insert(0, sys.argv[1])
import kernel
run = lambda cell, source, first=False: asyncio.run(kernel.run_cell(cell, source, first))
out, say = sys.__stdout__, lambda value: out.write(json.dumps(value, default=str) + "\\n")
"""


def answers(script, tmp_path):
    """What a script says that drives the page's Python in a process of its own."""
    file = tmp_path / "drive.py"
    file.write_text(STAND_INS + script)
    command = [sys.executable, str(file), str(assets.HERE / "page")]
    done = subprocess.run(command, cwd=assets.ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_cell_shows_what_it_prints_and_its_last_value(tmp_path):
    script = """
run(0, "print(1)\\nprint(2)\\n{'a': [1]}")
say(kernel.areas[0].outputs)
say(kernel.namespace["_"])
"""
    [shown, kept] = answers(script, tmp_path)
    assert shown[0] == {"output_type": "stream", "name": "stdout", "text": "1\n2\n"}
    assert shown[1]["data"]["text/plain"] == "{'a': [1]}"
    assert kept == {"a": [1]}


def test_the_first_run_leaves_stills_alone_and_places_what_moves(tmp_path):
    script = """
run(0, "print(1)", True); run(1, "import ipywidgets; ipywidgets.IntSlider()", True); run(2, "1 / 0", True)
say([message["cell"] for message in posted if message["kind"] == "show"])
run(0, "print(1)")
say([message["cell"] for message in posted if message["kind"] == "show"])
"""
    assert answers(script, tmp_path) == [[1, 2], [1, 2, 0]]


def test_a_cell_that_runs_again_replaces_what_it_showed(tmp_path):
    script = """
for source in ("print(1)", "print(2)", "x = 1"):
    run(0, source); say([output["text"] for output in kernel.areas[0].outputs])
"""
    assert answers(script, tmp_path) == [["1\n"], ["2\n"], []]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("a b", "SyntaxError"),
        ("raise SystemExit", "SystemExit"),
        ("await 3", "TypeError"),
    ],
)
def test_an_error_is_shown_without_our_own_lines(tmp_path, source, name):
    [shown] = answers(f"run(4, {source!r})\nsay(kernel.areas[4].outputs)", tmp_path)
    text = "".join(shown[-1]["traceback"])
    assert shown[-1]["ename"] == name
    assert "kernel.py" not in text
    assert "cell 5" in text


def test_an_output_that_is_cleared_to_wait_keeps_its_content_until_the_next(tmp_path):
    script = """
run(0, '''
import ipywidgets
out = ipywidgets.Output()
with out: print("old")
''')
out_ = kernel.namespace["out"]
seen = []
out_.observe(lambda change: seen.append(len(change["new"])), "outputs")
run(1, "with out:\\n    out.clear_output(wait=True)\\n    print('new')")
say(0 in seen); say(out_.outputs[0]["text"])
"""
    assert answers(script, tmp_path) == [False, "new\n"]


def test_a_message_moves_a_lab_and_its_picture_is_sent(tmp_path):
    script = """
run(0, "from interconnect_lab import labs\\nlab = labs.size_sweep()\\nlab", True)
lab = kernel.namespace["lab"]
before, n = lab.reading, len(posted)
data = {"method": "update", "state": {"index": 3}, "buffer_paths": []}
kernel.take_message(json.dumps({"comm_id": lab.controls["latency_us"].model_id, "data": data}), [])
say(lab.reading != before)
say(max(size for message in posted[n:] for size in message["parts"] or [0]) > 5000)
say(kernel.follow("?size_sweep.latency_us=20")); say(lab.values["latency_us"])
say(kernel.follow("?size_sweep.latency_us=-3"))
"""
    moved, sent, refused, value, said = answers(script, tmp_path)
    assert (moved, sent, refused, value) == (True, True, "", 20)
    assert "latency_us of size_sweep cannot be -3.0" in said


def test_figures_of_pyplot_and_html_are_shown(tmp_path):
    script = """
run(0, "import matplotlib; matplotlib.use('agg')\\nimport matplotlib.pyplot as plt\\nplt.plot([1, 2]);")
say(sorted(kernel.areas[0].outputs[-1]["data"])); say(len(kernel.namespace["plt"].get_fignums()))
run(1, "from IPython.display import HTML, display\\ndisplay(HTML('<b>b</b>'))")
say(kernel.areas[1].outputs[0]["data"]["text/html"])
"""
    assert answers(script, tmp_path) == [["image/png", "text/plain"], 0, "<b>b</b>"]
