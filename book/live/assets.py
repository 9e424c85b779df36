"""What a live site is served with: scripts from npm, wheels, and where wanted Pyodide itself."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from base64 import b64encode
from functools import cache
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NPM = HERE / "node_modules"
CDN = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"
MIRROR = ROOT / ".cache" / "pyodide"
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
WIDGETS = {"ipywidgets", "comm", "traitlets"}  # every page has them
OWN = {"ipywidgets", "comm", "networkx"}  # pure Python, carried by the site as installed here
PACKAGE = "interconnect_lab"
UNUSED = {"fonttools", "pytz", "matplotlib-pyodide", "setuptools"}  # asked for by others, never imported


def lock():
    return json.loads((NPM / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]


def wheels(sources):
    """What a page with these cells needs, as ``live.js`` loads it: addresses, and hashes where foreign."""
    names = packages(sources)
    own = [
        {"url": f"wheels/{name}"}
        for name in (*(f"{name}.whl" for name in sorted(OWN & names)), "interconnect_lab.whl", "bytecode.zip")
    ]
    foreign = [lock()[name] for name in sorted(names - OWN)]
    return own + [
        {"url": package["file_name"], "integrity": integrity(package["sha256"])} for package in foreign
    ]


def integrity(sha256):
    return "sha256-" + b64encode(bytes.fromhex(sha256)).decode()


def packages(sources):
    """Names in Pyodide's lock, or in ``OWN``, of all that these cells can import, however deep."""
    known = lock()
    provided = {name: package for package, entry in known.items() for name in entry["imports"]}
    found, todo = set(), set(WIDGETS) | {provided.get(name, name) for name in external(sources)}
    while todo:
        name = todo.pop()
        if name in found or name in UNUSED or (name not in known and name not in OWN):
            continue
        found.add(name)
        if name not in OWN:
            todo |= set(known[name]["depends"])
    return found


def external(sources):
    """Top-level names that the cells import, and that the package's modules they reach import."""
    todo = {name for source in sources for name in imported(source)}
    seen, outside = set(), set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name.partition(".")[0] != PACKAGE:
            outside.add(name.partition(".")[0])
            continue
        for file in files_of(name):
            todo |= imported(file.read_text(encoding="utf-8"))
    return outside - set(sys.stdlib_module_names)


def files_of(name):
    """The files of a module of the package: a package's is all that it holds, since it loads them late."""
    path = ROOT.joinpath(*name.split("."))
    return [*path.rglob("*.py")] if path.is_dir() else [*path.parent.glob(f"{path.name}.py")]


def imported(source):
    """Names of the modules that a source imports, wherever in it; ``from a import b`` gives a and a.b."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)} - {PACKAGE}
    return names


# files


def collect(folder, foreign):
    """Put scripts, the site's own wheels and the bytecode of all wheels into the site."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (HERE / "page").glob("*.*"):
        if file.name != "bundle.js":
            shutil.copy(file, folder)
    mathjax = NPM / "mathjax" / "es5"
    (folder / "mathjax").mkdir(exist_ok=True)
    shutil.copy(mathjax / "tex-chtml.js", folder / "mathjax")
    shutil.copytree(
        mathjax / "output" / "chtml" / "fonts",
        folder / "mathjax" / "output" / "chtml" / "fonts",
        dirs_exist_ok=True,
    )
    bundle(folder / "bundle.js")
    (folder / "wheels").mkdir(exist_ok=True)
    for name in OWN:
        pack(name, folder / "wheels" / f"{name}.whl")
    shutil.copy(own_wheel(), folder / "wheels" / "interconnect_lab.whl")
    compile_wheels(folder, foreign)


@cache
def version(folder):
    """A short name for the state of all that was collected, by which browsers renew their copies."""
    hashes = (
        hashlib.sha256(file.read_bytes()).digest()
        for file in sorted(folder.rglob("*.*"))
        if file.suffix != ".json"
    )
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:12]


def bundle(target):
    """Bundle what ``page/bundle.js`` imports from npm; ipywidgets 7 stays out."""
    old = [f"--external:@jupyter-widgets/{name}7" for name in ("base", "controls")]
    options = ["--bundle", "--minify", "--format=esm", "--loader:.svg=text", "--log-level=warning", *old]
    command = [
        program("node"),
        NPM / "esbuild" / "bin" / "esbuild",
        "page/bundle.js",
        f"--outfile={target}",
        *options,
    ]
    subprocess.run(command, check=True, cwd=HERE)


def program(name):
    """Where a program is: beside this Python, where the requirements put it, else on the PATH."""
    return shutil.which(name, path=Path(sys.executable).parent) or shutil.which(name)


def pack(distribution, target):
    """A wheel of what is installed here, without its tests."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file in sorted(metadata.files(distribution)):
            if file.suffix != ".pyc" and "tests" not in file.parts and ".." not in file.parts:
                wheel.writestr(zipfile.ZipInfo(file.as_posix()), file.read_binary(), zipfile.ZIP_DEFLATED)


def compile_wheels(folder, foreign):
    """Put the bytecode of what pages import beside the site's own wheels."""
    own = [file for file in sorted((folder / "wheels").glob("*.whl")) if file.stem != "networkx"]
    with tempfile.TemporaryDirectory() as temporary:
        settings = Path(temporary, "settings.json")
        paths = {
            "kernel": HERE / "page" / "kernel.py",
            "program": HERE / "compile_all.py",
            "folder": folder / "wheels",
        }
        paths["wheels"] = [*own, *foreign]
        settings.write_text(json.dumps(paths, default=str), encoding="utf-8")
        subprocess.run([program("node"), HERE / "compile.mjs", settings], check=True, cwd=HERE)


@cache
def own_wheel():
    """The project's own wheel, built from a copy: a build folder may hold modules that are gone."""
    folder = Path(tempfile.mkdtemp())
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(
        ROOT / "interconnect_lab", folder / "interconnect_lab", ignore=shutil.ignore_patterns("__pycache__")
    )
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        folder,
        folder,
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("interconnect_lab*.whl"))


def mirrored(sources):
    """Files of the wheels that pages with these cells need, each checked against the official lock."""
    files = []
    for name in sorted(packages(sources) - OWN):
        package = lock()[name]
        files.append(MIRROR / package["file_name"])
        if hashlib.sha256(files[-1].read_bytes()).hexdigest() != package["sha256"]:
            raise ValueError(f"{files[-1]} is not the file that Pyodide's lock names")
    return files


def pyodide(folder, files):
    """Put Pyodide into the site: its core, and these wheels."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in [NPM / "pyodide" / name for name in CORE] + files:
        shutil.copy(file, folder)
