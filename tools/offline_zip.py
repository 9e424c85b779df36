"""Zip the built book for a class without internet: ``make book OFFLINE=1`` calls it.

Unzip it anywhere, run ``python -m http.server`` in its folder, and every page is alive.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from tools.browser import ROOT

SITE = ROOT / "_build" / "html"
ZIP = ROOT / "_build" / "interconnect-lab-offline.zip"
README = """Interconnect Lab, complete, for a class without internet.

In this folder:   python -m http.server
then open         http://localhost:8000

For a class, on a machine that others reach:   python -m http.server --bind 0.0.0.0
then others open  http://<its address>:8000

The pages run Python in each reader's browser; this server only hands out files.
Opening the files without a server does not work: browsers then forbid what a live page needs.
"""


def main() -> None:
    """Write the zip and say how large it is."""
    with zipfile.ZipFile(ZIP, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("interconnect-lab/README.txt", README)
        for file in sorted(path for path in SITE.rglob("*") if path.is_file()):
            packed.write(file, Path("interconnect-lab") / file.relative_to(SITE))
    print(f"{ZIP.relative_to(ROOT)}: {ZIP.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
