"""Put a built site into the branch that is published: ``python -m tools.publish FOLDER --version latest``.

FOLDER is a checkout of that branch. Each version has a folder of its own; the root leads to the
newest, and says so where a page is not found, at whatever depth.
"""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

from tools import site

VERSION = re.compile(r"latest|v\d+(\.\d+)*")
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Interconnect Lab</title>{head}
<meta name="viewport" content="width=device-width"></head>
<body style="font:18px/1.5 system-ui;max-width:36em;margin:3em auto;padding:0 1em">{body}</body></html>
"""
NOT_FOUND = """<h1>There is no such page</h1>
<p>It may have moved. <a href="{root}latest/index.html">The course begins here</a>, and
<a href="{root}latest/search.html">this searches it</a>.</p>"""


def publish(folder: Path, version: str, root: str) -> None:
    """Replace one version's folder by the built site; write the root's first page and its 404 page.

    ``root`` is the address of the whole on its host, such as ``/interconnect-lab/``.
    """
    if not VERSION.fullmatch(version):
        raise ValueError(f"a version is latest or like v1.2, not {version!r}")
    shutil.rmtree(folder / version, ignore_errors=True)
    shutil.copytree(site.SITE, folder / version)
    (folder / ".nojekyll").touch()  # GitHub would leave out what begins with _
    head = '<meta http-equiv="refresh" content="0; url=latest/index.html">'
    versions = sorted(path.name for path in folder.iterdir() if VERSION.fullmatch(path.name))
    links = " · ".join(f'<a href="{name}/index.html">{name}</a>' for name in versions)
    (folder / "index.html").write_text(PAGE.format(head=head, body=f"<p>Interconnect Lab: {links}</p>"))
    (folder / "404.html").write_text(PAGE.format(head="", body=NOT_FOUND.format(root=root)))


def main() -> None:
    """Publish what ``make book`` built last."""
    parser = argparse.ArgumentParser(prog="python -m tools.publish", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", default="latest")
    parser.add_argument("--root", default="/", help="where the whole is on its host: /repository/")
    options = parser.parse_args()
    publish(options.folder, options.version, options.root)


if __name__ == "__main__":
    main()
