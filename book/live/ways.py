"""The line under a chapter's title: other ways to run it, to keep it, to cite it."""

from __future__ import annotations

import json
import os

REPOSITORY = os.environ.get("GITHUB_REPOSITORY", "")  # owner/name, as GitHub's own workflows set it
REF = os.environ.get("LIVE_REF", "main")
BRANCH = "gh-pages"  # where Colab finds the notebooks that install what they need
INSTALL = (
    '%pip install --quiet "ipywidgets>=8.1.5" "interconnect-lab @ git+https://github.com/{repository}@{ref}"'
)
TEXT = {
    "colab": "Open in Colab",
    "binder": "Open in Binder",
    "download": "Download the notebook",
    "cite": "Cite",
}


def line(pagename, pathto):
    """The links of one page as HTML; Colab and Binder only where the repository is known."""
    name = pagename.rsplit("/", 1)[-1]
    links = {}
    if REPOSITORY:
        place = f"{REPOSITORY}/blob/{BRANCH}/{version()}/_static/live/colab/{name}.ipynb"
        links["colab"] = f"https://colab.research.google.com/github/{place}"
        links["binder"] = f"https://mybinder.org/v2/gh/{REPOSITORY}/{REF}?urlpath=lab/tree/{pagename}.ipynb"
    links["download"] = pathto(f"_sources/{pagename}.ipynb", resource=True)
    links["cite"] = pathto("book/cite")
    shown = [
        f'<a href="{url}"{" download" * (key == "download")}>{TEXT[key]}</a>' for key, url in links.items()
    ]
    return f'<p class="live-ways">{" · ".join(shown)}</p>'


def version():
    """The folder of the site that this build becomes: ``latest``, or a tag."""
    return "latest" if REF == "main" else REF


def for_colab(source, folder):
    """Write a notebook that installs the package first: Colab opens it alone, with an older ipywidgets."""
    if not REPOSITORY:
        return
    notebook = json.loads(source.read_text(encoding="utf-8"))
    text = INSTALL.format(repository=REPOSITORY, ref=REF)
    cell = {
        "cell_type": "code",
        "id": "install",
        "metadata": {},
        "source": text,
        "outputs": [],
        "execution_count": None,
    }
    notebook["cells"].insert(0, cell)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / source.name).write_text(json.dumps(notebook, ensure_ascii=False, indent=1), encoding="utf-8")
