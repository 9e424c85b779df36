"""Runs in Pyodide at build time: imports what live pages import and packs its bytecode."""

import io
import marshal
import pkgutil
import sys
import zipfile
from importlib import import_module
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

LIBRARY = "/lib/python312.zip"
SITE = Path(__file__).parent
FONTS = SITE / "matplotlib" / "fontlist.json"  # else matplotlib looks for its fonts at each start


def archive():
    """A zip of the bytecode of every module that is imported, and of matplotlib's list of fonts."""
    out, sys_out = io.BytesIO(), (sys.stdout, sys.stderr)
    import_all()
    sys.stdout, sys.stderr = sys_out
    files = [
        Path(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)
    ]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(FONTS, FONTS.relative_to(SITE))
        for file in sorted(set(files)):
            if file.suffix == ".py" and SITE in file.parents and file.stem != "compile_all":
                packed.writestr(str(Path(cache_from_source(file)).relative_to(SITE)), compiled(file))
    return out.getvalue()


def standard_library():
    """The standard library that Python starts from, as bytecode, so that no start compiles it."""
    out = io.BytesIO()
    with zipfile.ZipFile(LIBRARY) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry in given.infolist():
            name, content = entry.filename, given.read(entry)
            if name.endswith(".py"):
                name, content = (
                    f"{name}c",
                    bytecode(content, f"{LIBRARY}/{name}", 0 if "pyodide" in name else 2),
                )
            packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def bytecode(source, name, optimize):
    """A module's bytecode that is taken without a look at its source."""
    code = compile(source, name, "exec", dont_inherit=True, optimize=optimize)
    return MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


def compiled(file):
    """Its bytecode; without docstrings where nobody reads them: matplotlib works on its own for long."""
    bare = file.relative_to(SITE).parts[0] in (
        "matplotlib",
        "mpl_toolkits",
        "PIL",
        "ipywidgets",
        "pyparsing",
        "dateutil",
    )
    return bytecode(file.read_bytes(), str(file), 2 if bare else 0)


def import_all():
    for name in (
        "kernel",
        "matplotlib.pyplot",
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
    ):
        import_module(name)
    package = import_module("interconnect_lab")
    for module in pkgutil.walk_packages(package.__path__, "interconnect_lab."):
        if "__main__" not in module.name:
            import_module(module.name)
