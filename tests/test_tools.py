"""What stands around the package: its commands, its wheel, its requirements, its notebook tool."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
import zipfile
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import interconnect_lab
from interconnect_lab import __main__ as commands
from tools import notebooks

CLONE = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((CLONE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = (CLONE / "requirements.txt").read_text(encoding="utf-8")
MEGABYTE = 1_000_000


def a_notebook(**code_cell) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell(**code_cell)])


def a_picture(text: str = "Lab demo: 5 µs") -> nbformat.NotebookNode:
    data = {"text/plain": text, "image/png": "iVBORw0KGgo=", notebooks.VIEW: {"model_id": "1"}}
    return new_output("display_data", data, metadata={"image/png": {"width": 600}})


# Notebooks


def test_pictures_and_views_go_and_every_entry_with_its_text_stays():
    stored = nbformat.reads(
        notebooks.stored_text(a_notebook(outputs=[a_picture(), a_picture("second")])), as_version=4
    )
    assert [dict(out.data) for out in stored.cells[1].outputs] == [
        {"text/plain": "Lab demo: 5 µs"},
        {"text/plain": "second"},
    ]
    assert [dict(out.metadata) for out in stored.cells[1].outputs] == [{}, {}]


def test_what_changes_from_run_to_run_is_not_stored():
    timed = {"execution": {"iopub.execute_input": "2026-01-01T00:00:00Z"}, "tags": ["kept"]}
    notebook = a_notebook(metadata=timed)
    notebook.metadata |= {"widgets": {"state": {}}, "language_info": {"version": "3.11.7"}}
    stored = nbformat.reads(notebooks.stored_text(notebook), as_version=4)
    assert stored.cells[1].metadata == {"tags": ["kept"]}
    assert stored.metadata == {"kernelspec": notebooks.KERNEL, "language_info": notebooks.LANGUAGE}


def test_executed_cells_are_counted_from_one():
    result = new_output("execute_result", {"text/plain": "4"}, execution_count=7)
    notebook = a_notebook(source="2 + 2", execution_count=7, outputs=[result])
    notebook.cells.append(new_code_cell("unexecuted"))
    first, second = nbformat.reads(notebooks.stored_text(notebook), as_version=4).cells[1:]
    assert (first.execution_count, first.outputs[0].execution_count) == (1, 1)
    assert second.execution_count is None


def test_cells_keep_their_ids_and_a_missing_or_repeated_one_is_made_from_the_source():
    notebook = a_notebook(source="1", id="mine")
    notebook.cells += [new_code_cell("2", id="mine"), new_code_cell("2")]
    del notebook.cells[-1]["id"]
    first, second = (nbformat.reads(notebooks.stored_text(notebook), 4) for _ in range(2))
    ids = [cell.id for cell in first.cells]
    assert ids == [cell.id for cell in second.cells]
    assert ids[1] == "mine"
    assert len(set(ids)) == 4
    assert all(ids)


def test_storing_twice_changes_nothing(tmp_path):
    path = tmp_path / "demo.ipynb"
    nbformat.write(a_notebook(source="x", execution_count=3, outputs=[a_picture()]), path)
    assert notebooks.check(path) == [notebooks.NOT_STORED]
    assert notebooks.main(["store", str(path)]) == 0
    once = path.read_bytes()
    assert notebooks.main(["store", str(path)]) == 0
    assert path.read_bytes() == once
    assert notebooks.check(path) == []


@pytest.mark.parametrize(
    "cell, flaw",
    [
        ({"source": "x\n" * 16, "execution_count": 1}, "16 lines, at most 15"),
        ({"source": "x"}, "not executed"),
        ({"source": " \n"}, "empty"),
        (
            {
                "source": "x",
                "execution_count": 1,
                "outputs": [new_output("error", ename="NameError", evalue="", traceback=[])],
            },
            "ends in NameError",
        ),
    ],
)
def test_check_names_the_cell_and_what_is_wrong_with_it(cell, flaw, tmp_path, capsys):
    path = tmp_path / "demo.ipynb"
    path.write_text(notebooks.stored_text(a_notebook(**cell)), encoding="utf-8")
    assert notebooks.main(["check", str(path)]) == 1
    assert f"code cell 1: {flaw}" in capsys.readouterr().out


def test_fifteen_lines_are_not_too_many(tmp_path):
    path = tmp_path / "demo.ipynb"
    notebook = a_notebook(source="x\n" * 15, execution_count=1)
    path.write_text(notebooks.stored_text(notebook), encoding="utf-8")
    assert notebooks.check(path) == []


# Commands


def test_lab_starts_jupyterlab_on_the_first_chapter_and_prints_where(monkeypatch, tmp_path, capsys):
    jupyterlab = pytest.importorskip("jupyterlab.labapp")
    started = []
    monkeypatch.setattr(jupyterlab.LabApp, "launch_instance", started.append)
    monkeypatch.setattr(commands, "CLONE", tmp_path)
    first = tmp_path / commands.FIRST_CHAPTER
    first.parent.mkdir()
    first.touch()
    port = free_port()
    assert commands.main(["lab", "--port", str(port), "--no-browser"]) == 0
    url = f"http://localhost:{port}/lab/tree/{commands.FIRST_CHAPTER}?token="
    assert url in capsys.readouterr().out
    expected = {str(first), f"--ServerApp.port={port}", "--ServerApp.open_browser=False"}
    assert expected <= set(*started)


def test_lab_says_when_jupyterlab_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(commands, "find_spec", lambda module: None)
    assert commands.main(["lab"]) == 1
    assert "JupyterLab is not installed" in capsys.readouterr().err


def test_lab_says_when_there_is_no_course_beside_the_package(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(commands, "find_spec", lambda module: "there")
    monkeypatch.setattr(commands, "CLONE", tmp_path)
    assert commands.main(["lab"]) == 1
    assert "run this in a clone" in capsys.readouterr().err


def test_lab_says_when_the_port_is_taken():
    taken = pytest.raises(commands.CommandError, match="is taken")
    with socket.create_server(("127.0.0.1", 0)) as server, taken:
        commands._free_port(server.getsockname()[1])


def test_without_a_port_the_first_free_one_is_taken(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(commands, "FIRST_PORT", taken.getsockname()[1])
        assert commands._free_port(None) > taken.getsockname()[1]


def test_a_check_that_fails_ends_the_run_with_its_status(monkeypatch):
    ran = []

    def run(command, **_):
        ran.append(command[2])
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(commands.subprocess, "run", run)
    assert commands.main(["check"]) == 3
    assert ran == ["ruff"]


@pytest.mark.parametrize("fast", [True, False])
def test_only_the_fast_run_leaves_the_browser_out(fast, monkeypatch):
    ran = []

    def run(command, **_):
        ran.append(command[2:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(commands.subprocess, "run", run)
    assert commands.main(["test", "--fast"] if fast else ["test"]) == 0
    assert [command[0] for command in ran] == ["ruff", "ruff", "pytest"]
    assert ("--ignore=tests/browser" in ran[-1]) == fast
    assert "--nbval" in ran[-1]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to end it gently")
def test_jupyterlab_answers_at_the_printed_url():
    command = [sys.executable, "-m", "interconnect_lab", "lab", "--no-browser", "--port"]
    with subprocess.Popen(
        [*command, str(free_port())],
        cwd=CLONE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            url = re.search(r"http\S+", server.stdout.readline())[0]
            assert answer(url) == 200
        finally:
            server.send_signal(signal.SIGTERM)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def answer(url: str, patience: float = 60) -> int:
    """The HTTP status that a server gives as soon as it listens."""
    address, deadline = urlsplit(url), time.monotonic() + patience
    while True:
        connection = HTTPConnection(address.hostname, address.port, timeout=patience)
        try:
            connection.request("GET", f"{address.path}?{address.query}")
            return connection.getresponse().status
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        finally:
            connection.close()


# What is installed


@pytest.mark.slow
def test_the_wheel_is_small_and_holds_the_data(tmp_path):
    """Built as pip builds it, from a copy, so that no older build is in the way."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CLONE / name, tmp_path)
    shutil.copytree(CLONE / "interconnect_lab", tmp_path / "interconnect_lab")
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, "dist"], cwd=tmp_path, check=True, capture_output=True)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    package = CLONE / "interconnect_lab"
    files = {p for p in package.rglob("*") if p.is_file() and p.suffix != ".pyc"}
    assert wheel.stat().st_size <= MEGABYTE
    assert wheel.name.startswith(f"interconnect_lab-{interconnect_lab.__version__}-py3-none-any")
    assert {p.relative_to(CLONE).as_posix() for p in files} <= names
    assert not any(name.startswith(("tests/", "tools/", "book/")) for name in names)


def test_requirements_hold_every_direct_requirement_and_no_address():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    direct = {re.match(r"[\w-]+", line)[0] for group in groups for line in group}
    pinned = set(re.findall(r"^([\w.-]+)==", REQUIREMENTS, re.M))
    assert direct <= pinned
    assert "torch" not in pinned
    assert not re.search(r"^-|://", REQUIREMENTS, re.M)


def test_requirements_are_resolved_for_every_python_and_say_how():
    assert "make requirements" in REQUIREMENTS.splitlines()[1]
    assert re.search(r"^numpy==\S+ ; python_full_version < '3\.12'", REQUIREMENTS, re.M)
    assert "sys_platform == 'win32'" in REQUIREMENTS


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_says_which_python_it_needs(tmp_path):
    done = subprocess.run(
        ["make", "check", "PYTHON=no-such-python", f"VENV={tmp_path}/venv"],
        cwd=CLONE,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MAKEFLAGS": ""},
    )
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed; none among: no-such-python." in done.stderr


def test_without_any_browser_the_tests_say_what_to_install(monkeypatch):
    from tools import browser

    for name in ("CHROME", "FIREFOX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(browser, "first_here", lambda names: None)
    monkeypatch.setattr(browser, "from_system", lambda package, names: None)
    monkeypatch.setattr(browser, "from_playwright", lambda: False)
    with pytest.raises(RuntimeError, match="apt install chromium, or CHROME="):
        browser.executable()
    with pytest.raises(RuntimeError, match="apt install firefox-esr, or FIREFOX="):
        browser.firefox()
    monkeypatch.setattr(browser, "from_system", lambda package, names: f"/usr/bin/{package}")
    assert (browser.executable(), browser.firefox()) == ("/usr/bin/chromium", "/usr/bin/firefox-esr")
