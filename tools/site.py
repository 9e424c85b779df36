"""Build the book as it is published, or for a class without internet: ``make book [OFFLINE=1]``.

``python -m tools.site [--offline] [--serve PORT]``. An offline site holds Pyodide itself, and is zipped, too.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from book.live import assets
from tools import pyodide_mirror

ROOT = assets.ROOT
BUILD = ROOT / "_build"
SITE = BUILD / "html"
ZIP = BUILD / "interconnect-lab-offline.zip"
INSIDE = "_static/pyodide/"
README = """Interconnect Lab, complete, for a class without internet.

In this folder:   python -m http.server
then open         http://localhost:8000

For a class, on a machine that others reach, the same; they open http://<its address>:8000

The pages run Python in each reader's browser; this server only hands out files. Without a server,
opened as files, they stay still: browsers forbid such files what a live page needs.
"""


class BuildError(RuntimeError):
    """Why the book could not be built."""


def build(*, offline: bool = False, builder: str = "html") -> Path:
    """Build the book into ``_build/html``, where a warning is an error, and return that folder.

    With ``builder="linkcheck"`` the addresses that it names are asked instead.
    """
    npm()
    if pyodide_mirror.main():
        raise BuildError("without Pyodide's wheels the pages cannot be compiled")
    forget_old_outputs()
    for stale in (SITE, BUILD / ".doctrees"):  # Sphinx would keep pages that another setting made
        shutil.rmtree(stale, ignore_errors=True)
    command = [assets.program("jupyter-book"), "build", str(ROOT), "--builder", builder]
    command += ["-W", "-n", "--keep-going"] if builder == "html" else []
    environment = os.environ | {"IPYTHONDIR": str(drawings())} | ({"LIVE_BASE": INSIDE} if offline else {})
    if subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode:
        raise BuildError("jupyter-book failed: see above")
    return SITE


def npm() -> None:
    """Install what pages take from npm, where it is not there; npm itself comes with the requirements."""
    ready, wanted = assets.NPM / ".ready", assets.HERE / "package-lock.json"
    if ready.is_file() and ready.stat().st_mtime > wanted.stat().st_mtime:
        return
    program = assets.program("npm")
    if program is None:
        raise BuildError("npm is not here: python -m pip install -r requirements.txt brings it")
    path = os.pathsep.join([str(Path(program).parent), os.environ["PATH"]])
    subprocess.run([program, "ci"], cwd=assets.HERE, check=True, env=os.environ | {"PATH": path})
    ready.touch()


def drawings() -> Path:
    """Settings for the book's kernels: figures and labs as SVG, sharp on any screen and in print."""
    folder = BUILD / "ipython"
    (folder / "profile_default").mkdir(parents=True, exist_ok=True)
    settings = (
        'c.InlineBackend.figure_formats = {"svg"}\n'
        'c.InteractiveShellApp.exec_lines = ["from interconnect_lab.labs import Lab", "Lab.still = True"]\n'
    )
    (folder / "profile_default" / "ipython_kernel_config.py").write_text(settings)
    return folder


def forget_old_outputs() -> None:
    """Drop the kept outputs of notebooks where the package that computes them has changed."""
    files = sorted(path for path in (ROOT / "interconnect_lab").rglob("*") if path.is_file())
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in files:
        if file.suffix != ".pyc":
            digest.update(file.read_bytes())
    stamp = BUILD / ".package"
    if not stamp.is_file() or stamp.read_text() != digest.hexdigest():
        shutil.rmtree(BUILD / ".jupyter_cache", ignore_errors=True)
        BUILD.mkdir(exist_ok=True)
        stamp.write_text(digest.hexdigest())


def pack() -> Path:
    """Zip the site with a note on how a class uses it."""
    with zipfile.ZipFile(ZIP, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("interconnect-lab/README.txt", README)
        for file in sorted(path for path in SITE.rglob("*") if path.is_file()):
            packed.write(file, Path("interconnect-lab") / file.relative_to(SITE))
    return ZIP


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Hands out files without a word; what was asked is kept in ``seen``."""

    def __init__(self, *arguments: object, seen: list[str], **options: object) -> None:
        self.seen = seen
        super().__init__(*arguments, **options)

    def log_message(self, *_arguments: object) -> None:
        self.seen.append(self.path)

    def handle(self) -> None:
        with suppress(ConnectionError):  # browsers hang up as they like
            super().handle()


@contextmanager
def served(folder: Path, port: int = 0, seen: list[str] | None = None) -> Iterator[str]:
    """Serve a folder as ``python -m http.server`` does; yields its address; ``seen`` takes what is asked."""
    handler = functools.partial(Quiet, directory=str(folder), seen=[] if seen is None else seen)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def main() -> int:
    """Build, and zip or serve where asked."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("--offline", action="store_true", help="put Pyodide into the site, and zip it")
    parser.add_argument("--links", action="store_true", help="ask whether the addresses it names answer")
    parser.add_argument("--serve", type=int, metavar="PORT", help="serve the site to this machine")
    options = parser.parse_args()
    try:
        build(offline=options.offline, builder="linkcheck" if options.links else "html")
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    if options.offline:
        print(f"{pack().relative_to(ROOT)}: {ZIP.stat().st_size / 1e6:.1f} MB")
    if options.serve is not None:
        with served(SITE, options.serve) as address:
            print(f"The book is at {address}\nCtrl-C stops it.", flush=True)
            try:
                threading.Event().wait()
            except KeyboardInterrupt:
                return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
