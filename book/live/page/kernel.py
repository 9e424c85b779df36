"""Python of a live page: runs its cells and carries ipywidgets' messages. Runs in Pyodide, in a worker.

It stands where IPython stands in JupyterLab, which would load much that no page needs:
``IPython.display`` has what cells and ipywidgets use of it, and there are no ``%`` commands.
"""

import io
import json
import logging
import pprint
import sys
import traceback
import warnings
from base64 import b64encode
from types import ModuleType, SimpleNamespace

import comm
from comm.base_comm import BaseComm
from js import live_post
from pyodide.code import eval_code_async
from pyodide.ffi import to_js

namespace = {"__name__": "__main__", "__builtins__": __builtins__}
areas = {}  # by cell: the Output widget that shows what it gives
stack, emptied = [], set()  # the Output widgets that take what is shown; those to empty before it


def post(kind, buffers=(), **message):
    """Send a message to the page."""
    live_post(json.dumps({"kind": kind, **message}, default=str), to_js([bytes(part) for part in buffers]))


class PageComm(BaseComm):
    """What a widget says, sent to the page."""

    def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **_keys):
        post(msg_type, buffers or (), comm_id=self.comm_id, target_name=self.target_name,
             data=data or {}, metadata=metadata or {})  # fmt: skip


def emit(output):
    """Show one output, in nbformat's form, in the innermost Output widget."""
    if not stack:
        post("log", output=output)
        return
    area = stack[-1]
    shown = () if area.model_id in emptied else area.outputs
    emptied.discard(area.model_id)
    last = shown[-1] if shown else {}
    if output["output_type"] == "stream" and last.get("name") == output["name"]:
        shown, output = shown[:-1], {**output, "text": last["text"] + output["text"]}
    area.outputs = (*shown, output)


def display(*objects, **_options):
    """Show objects as the notebook does."""
    for shown in objects:
        emit({"output_type": "display_data", "data": bundle(shown), "metadata": {}})


def bundle(shown):
    """An object's forms by MIME type."""
    if isinstance(shown, type | ModuleType):  # a class has the methods that show its objects
        return {"text/plain": repr(shown)}
    if hasattr(shown, "_repr_mimebundle_"):
        return shown._repr_mimebundle_()
    long = isinstance(shown, dict | list | tuple | set)
    data = {"text/plain": pprint.pformat(shown, sort_dicts=False) if long else repr(shown)}
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(shown, method):
            data[kind] = getattr(shown, method)()
    if hasattr(shown, "savefig"):
        file = io.BytesIO()
        shown.savefig(file, format="png", bbox_inches="tight")
        data["image/png"] = b64encode(file.getvalue()).decode()
    return {kind: form for kind, form in data.items() if form is not None}


def clear_output(wait=False):
    """Empty the output that is being written; with ``wait``, when the next one comes."""
    if stack:
        emptied.add(stack[-1].model_id)
        if not wait:
            stack[-1].outputs = ()


class Stream(io.TextIOBase):
    """Standard output or error, shown where outputs go."""

    def __init__(self, name):
        self.name = name

    def write(self, text):
        if text:
            emit({"output_type": "stream", "name": self.name, "text": text})
        return len(text)


def show_error(kind, error, trace):
    """Show an exception with the lines of cells and packages, without those of this file."""
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.endswith(OWN)]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(frames)] if frames else []
    lines += traceback.format_exception_only(kind, error)
    emit({"output_type": "error", "ename": kind.__name__, "evalue": lines[-1], "traceback": lines})


OWN = ("kernel.py", "_pyodide/_base.py", "pyodide/code.py")


def leave(area, kind, error, trace):
    if kind:
        show_error(kind, error, trace)
    stack.remove(area)
    return kind is not None


class Shown:
    """Text that is shown as one ``kind``, as ``IPython.display.HTML`` is."""

    def __init__(self, data="", **_options):
        self.data = data

    def _repr_mimebundle_(self):
        return {self.kind: self.data, "text/plain": self.data}


def stand_in(name, **members):
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(members)


kinds = {"HTML": "text/html", "Markdown": "text/markdown", "Latex": "text/latex", "SVG": "image/svg+xml"}
shell = SimpleNamespace(display_formatter=SimpleNamespace(format=lambda shown: (bundle(shown), {})))
stand_in("IPython", get_ipython=lambda: None, version_info=(8, 23, 0), __path__=[])
stand_in("IPython.display", display=display, clear_output=clear_output,
         **{name: type(name, (Shown,), {"kind": kind}) for name, kind in kinds.items()})  # fmt: skip
stand_in("IPython.core", __path__=[])
stand_in("IPython.core.interactiveshell", InteractiveShell=SimpleNamespace(instance=lambda: shell))
comm.create_comm = PageComm  # before ipywidgets asks for one
sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")
logging.basicConfig(format="%(message)s")  # else nobody is told what a widget's callback raises
warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")  # pyplot.show: a cell's end shows
namespace["display"] = display

# ipywidgets asks for what stands above
from ipywidgets import Output  # noqa: E402
from ipywidgets.widgets.widget import _instances  # noqa: E402

Output.__enter__, Output.__exit__ = lambda area: stack.append(area) or area, leave


async def run_cell(cell, source, first=False):
    """Run one cell; what it shows goes below it.

    The first time, a cell that gives no widget keeps what the page shows already: the same, made earlier.
    """
    area = areas.get(cell) or Draft()
    stack.append(area)
    emptied.add(area.model_id)
    try:
        result = await eval_code_async(source, namespace, filename=f"cell {cell + 1}")
        if result is not None:
            namespace["_"] = result
            display(result)
    except BaseException as error:  # whatever a reader's cell raises is shown below it
        show_error(type(error), error, error.__traceback__)
    finally:
        show_figures(hidden=first and area.is_still())
        stack.remove(area)
        if area.model_id in emptied and area.outputs:  # it shows nothing any more
            area.outputs = ()
        if cell not in areas and not (first and area.is_still()):
            areas[cell] = Output(outputs=area.outputs)
            post("show", cell=cell, model_id=areas[cell].model_id)


class Draft:
    """What a cell gives before it is known whether the page must show it."""

    def __init__(self):
        self.outputs, self.model_id = (), id(self)

    def is_still(self):
        moving = ("application/vnd.jupyter.widget-view+json", "error")
        return not any(
            kind in output.get("data", output["output_type"]) for output in self.outputs for kind in moving
        )


def show_figures(hidden):
    """Show the figures that pyplot opened, unless they are to stay hidden, and close them."""
    if "matplotlib.pyplot" in sys.modules:
        pyplot = sys.modules["matplotlib.pyplot"]
        try:
            for number in [] if hidden else pyplot.get_fignums():
                display(pyplot.figure(number))
        except Exception as error:  # a label that matplotlib cannot set
            show_error(type(error), error, error.__traceback__)
        pyplot.close("all")


def take_message(text, buffers):
    """Hand a message of the page to the widget that it is for."""
    given = {"content": json.loads(text), "metadata": {}, "buffers": [part.to_py() for part in buffers]}
    comm.get_comm_manager().comm_msg(None, None, given)


def follow(link):
    """Bring each lab that the link names into its state; returns what could not be followed."""
    refused = []
    for lab in [widget for widget in _instances.values() if hasattr(widget, "follow")]:
        try:
            lab.follow(link)
        except ValueError as error:
            refused.append(str(error))
    return "; ".join(refused)
