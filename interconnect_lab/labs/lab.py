"""``Lab``: controls, one picture that is updated and never rebuilt, and a reading of what it shows."""

from __future__ import annotations

import base64
import csv
import html
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, quote

import ipywidgets as widgets
from matplotlib.figure import Figure
from traitlets import TraitError

from interconnect_lab import plots
from interconnect_lab.labs.picture import Picture

TEXT = {
    "more": "More controls",
    "less": "Fewer controls",
    "reset": "Reset",
    "table": "Table",
    "save": "Save or share",
    "csv": "Numbers (CSV)",
    "svg": "Picture (SVG)",
    "link": "This state again:",
    "page link": "Link to this state",
    "caption": "The numbers in the picture",
    "rows_left_out": "{count} more rows: save the CSV",
    "error": "This lab failed: {error}. Please report it with {link}.",
    "unknown": "{lab} has no control {name!r}; it has {known}",
    "not_offered": "{name} of {lab} cannot be {value!r}: {why}",
}
STYLE = """<style>
.lab{max-width:760px}
.lab-controls{flex-flow:row wrap;gap:2px 14px;overflow:visible}
.lab-reading{border-left:4px solid #0072B2;padding:2px 0 2px 10px;margin:4px 2px}
.lab-reading .widget-html-content{line-height:1.45}
.lab-picture{background:#fff;border-radius:4px;max-width:100%;height:auto;object-fit:contain}
.lab-failed{border-left-color:#B00020;color:#B00020}
.lab-points{max-height:300px;overflow:auto}
.lab-points table{border-collapse:collapse;font-size:.9em}
.lab-points td,.lab-points th{padding:1px 10px 1px 0;text-align:left}
@media (max-width:640px){.lab .widget-inline-hbox{flex-wrap:wrap;height:auto}
.lab .widget-inline-hbox>.widget-label{flex:1 0 100%;text-align:left}}
.lab select{background-color:#fff;color:#111}
.lab-link:not([href]){display:none}
.lab textarea{white-space:pre;overflow:auto;font-family:monospace}
.lab .noUi-handle{background:#0072B2;border-color:#0072B2}
.lab :focus-visible,.lab .noUi-handle:focus{outline:3px solid #D55E00;outline-offset:1px}
</style>"""
# ipywidgets gives a slider's handle no name, its HTML no role, its picture no alternative text, and Python
# cannot set them. This runs once when the lab is shown; a page that forbids inline script names them itself.
NAMES = """
const hook=this;let left=50;(function name(){const lab=hook.closest('.lab');
const reading=lab&&lab.querySelector('.lab-reading .widget-html-content'),
picture=lab&&lab.querySelector('img.lab-picture');
if(!reading||!picture){if(left--)setTimeout(name,100);return}
reading.setAttribute('role','status');
lab.dataset.lab=[...lab.classList].find(name=>name.startsWith('lab-')).slice(4);
const describe=()=>{picture.alt=reading.textContent};describe();
new MutationObserver(describe).observe(reading,{childList:true,subtree:true,characterData:true});
lab.querySelectorAll('.widget-inline-hbox').forEach(row=>{
const label=row.querySelector('.widget-label'),shown=row.querySelector('.widget-readout');
row.querySelectorAll('[role=slider],.widget-readout,select,input,textarea').forEach(control=>{
control.setAttribute('aria-label',label?label.textContent:'')});
const handle=row.querySelector('[role=slider]');
if(handle&&shown){const say=()=>handle.setAttribute('aria-valuetext',shown.textContent);say();
new MutationObserver(say).observe(shown,{childList:true,subtree:true,characterData:true})}})})()
"""
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
MOST_ROWS = 200


class Lab(widgets.VBox):
    """A lab: ``draw(axes, **values) -> reading`` behind one control for each keyword.

    ``draw`` is called with the Axes (or a tuple of them, with ``columns`` widths) and the controls' values by
    name; it calls ``plots`` and returns the sentence to read. Controls named in ``more`` start folded.
    ``tie(moved, values)``, where given, returns what a moved control moves besides, by name.
    The lab's name is that of the function around ``draw``.
    """

    still = False  # the book sets this: give a drawing besides, for where no widget is shown
    raise_errors = False  # tests set this: a failing ``draw`` is shown in red, and raised there

    def __init__(
        self,
        draw: Callable[..., str],
        *,
        size: tuple[float, float] = (7.0, 3.5),
        columns: Iterable[float] = (1,),
        margins: dict[str, float] | None = None,
        more: Iterable[str] = (),
        tie: Callable[[str, dict[str, object]], dict[str, object]] | None = None,
        **controls: widgets.Widget,
    ) -> None:
        super().__init__()
        self.name = draw.__qualname__.split(".")[0]
        self.controls = controls
        self._draw, self._more = draw, tuple(more)
        self._tie = tie or (lambda moved, values: {})
        self._first = {name: control.value for name, control in controls.items()}
        self.figure = Figure(figsize=size, dpi=100, facecolor="white")
        columns = list(columns)
        axes = self.figure.subplots(1, len(columns), width_ratios=columns, squeeze=False)[0]
        self._axes = tuple(axes) if len(columns) > 1 else axes[0]
        self.figure.subplots_adjust(
            **({"left": 0.11, "right": 0.98, "bottom": 0.15, "top": 0.85} | (margins or {}))
        )
        self._drawn = Picture(self.figure, list(axes))
        self.reading = ""
        self._build()
        self._update()
        for control in controls.values():
            control.observe(self._on_change, "value")

    # what a program uses

    @property
    def values(self) -> dict[str, object]:
        """The controls' values by name."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def table(self) -> list[plots.Point]:
        """The plotted numbers: (panel, series, x, y)."""
        return plots.table(self._axes)

    def set(self, **values: object) -> Lab:
        """Set controls by name and redraw once; ValueError says what a control does not offer."""
        for name in values:
            if name not in self.controls:
                known = ", ".join(self.controls)
                raise ValueError(TEXT["unknown"].format(lab=self.name, name=name, known=known))
        before = self.values
        with self._one_redraw():
            try:
                for name, value in values.items():
                    self._assign(name, value)
            except ValueError:
                for name, value in before.items():
                    self.controls[name].value = value
                raise
            self._move_tied(values)
        return self

    def reset(self) -> Lab:
        """Put every control back to where it was at first."""
        return self.set(**self._first)

    @property
    def link(self) -> str:
        """The state as the end of an address, ``?ring_size.ranks=64``: the controls that were moved.

        What was typed or pasted into a large text field stays out: it may be long, and private.
        """
        moved = {
            name: value
            for name, value in self.values.items()
            if value != self._first[name] and not isinstance(self.controls[name], widgets.Textarea)
        }
        pairs = [f"{self.name}.{name}={quote(str(value), safe='')}" for name, value in moved.items()]
        return "?" + "&".join(pairs)

    def follow(self, link: str) -> Lab:
        """Take the state from an address made by ``link``; other labs' parts of it are passed over."""
        state = {}
        for key, text in parse_qsl(link.partition("?")[2], keep_blank_values=True):
            lab, _, name = key.partition(".")
            if lab == self.name:
                state[name] = self._parsed(name, text)
        return self.set(**state)

    def csv(self) -> str:
        """The table as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(plots.Point._fields)
        writer.writerows(self.table)
        return out.getvalue()

    def svg(self) -> str:
        """The picture as SVG."""
        return self._drawn.svg()

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        bundle = super()._repr_mimebundle_(**kwargs)
        bundle["text/plain"] = f"Lab {self.name}: {self.reading}"
        return bundle | ({"image/svg+xml": self.svg()} if self.still else {})

    # how it is built and kept up to date

    def _build(self) -> None:
        self._held, self._shown = False, {"table": False, "save": False}
        for control in self.controls.values():
            control.style = {"description_width": "initial"}
            control.layout.width = control.layout.width or "340px"
            control.layout.max_width = "100%"
        self._picture = widgets.Image(format="png")
        self._picture.add_class("lab-picture")
        self._reading = widgets.HTML()
        self._reading.add_class("lab-reading")
        self._panel = widgets.HTML()
        self._panel.add_class("lab-points")
        hook = f'<img alt="" src="{PIXEL}" style="display:none" onload="{html.escape(NAMES)}">'
        main = [control for name, control in self.controls.items() if name not in self._more]
        children = [self._row(main), *self._folded(), self._picture, self._reading]
        self.children = [*children, self._buttons(), self._panel, widgets.HTML(STYLE + hook)]
        self.add_class("lab")
        self.add_class(f"lab-{self.name}")

    def _row(self, children: list[widgets.Widget]) -> widgets.Box:
        row = widgets.Box(children)
        row.add_class("lab-controls")
        return row

    def _folded(self) -> list[widgets.Widget]:
        if not self._more:
            return []
        box = self._row([self.controls[name] for name in self._more])
        box.layout.display = "none"
        button = widgets.ToggleButton(description=TEXT["more"], icon="caret-right")

        def fold(change: dict) -> None:
            box.layout.display = "" if change["new"] else "none"
            button.description = TEXT["less" if change["new"] else "more"]
            button.icon = "caret-down" if change["new"] else "caret-right"

        button.observe(fold, "value")
        return [button, box]

    def _buttons(self) -> widgets.Box:
        reset = widgets.Button(description=TEXT["reset"], icon="undo", layout={"width": "auto"})
        reset.on_click(lambda _: self.reset())
        toggles = {name: widgets.ToggleButton(description=TEXT[name]) for name in self._shown}
        for name, toggle in toggles.items():
            toggle.layout.width = "auto"
            toggle.observe(lambda change, name=name: self._show(name, change["new"]), "value")
        return self._row([reset, *toggles.values()])

    @contextmanager
    def _one_redraw(self) -> Iterator[None]:
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._update()

    def _on_change(self, change: dict) -> None:
        if not self._held:
            moved = [name for name, control in self.controls.items() if control is change["owner"]]
            with self._one_redraw():
                self._move_tied(moved)

    def _move_tied(self, moved: Iterable[str]) -> None:
        for name in moved:
            for other, value in self._tie(name, self.values).items():
                if other not in moved:
                    self._assign(other, value)

    def _update(self) -> None:
        try:
            self.reading = self._draw(self._axes, **self.values)
        except Exception as error:  # whatever a lab does wrong is shown in it
            if self.raise_errors:
                raise
            self.reading = TEXT["error"].format(error=f"{type(error).__name__}: {error}", link=self.link)
            self._reading.add_class("lab-failed")
        else:
            self._reading.remove_class("lab-failed")
        self._picture.value = self._drawn.png()
        self._reading.value = html.escape(self.reading, quote=False).replace("\n", "<br>")
        self._refresh()

    def _show(self, name: str, shown: bool) -> None:
        self._shown[name] = shown
        self._refresh()

    def _refresh(self) -> None:
        parts = {"save": self._save_html, "table": self._table_html}
        self._panel.value = "".join(parts[name]() for name in parts if self._shown[name])

    def _save_html(self) -> str:
        def anchor(kind: str, mime: str, content: str) -> str:
            data = base64.b64encode(content.encode()).decode()
            return f'<a download="{self.name}.{kind}" href="data:{mime};base64,{data}">{TEXT[kind]}</a>'

        files = anchor("csv", "text/csv", self.csv()), anchor("svg", "image/svg+xml", self.svg())
        again = f"labs.{self.name}()" + (f".follow({self.link!r})" if self.link != "?" else "")
        page = f'<a class="lab-link" data-link="{html.escape(self.link)}">{TEXT["page link"]}</a>'
        return f"<p>{' · '.join(files)} · {TEXT['link']} <code>{html.escape(again)}</code> {page}</p>"

    def _table_html(self) -> str:
        def row(cells: Iterable[object], tag: str = "td") -> str:
            shown = (f"{cell:.6g}" if isinstance(cell, float) else html.escape(str(cell)) for cell in cells)
            return f"<tr>{''.join(f'<{tag}>{text}</{tag}>' for text in shown)}</tr>"

        points = self.table
        body = "".join(row(point) for point in points[:MOST_ROWS])
        rest = len(points) - MOST_ROWS
        note = f"<p>{TEXT['rows_left_out'].format(count=rest)}</p>" if rest > 0 else ""
        head = f"<caption>{TEXT['caption']}</caption>{row(plots.Point._fields, 'th')}"
        return f"<table>{head}{body}</table>{note}"

    def _assign(self, name: str, value: object) -> None:
        control = self.controls[name]
        if options(control) and value not in options(control):  # ipywidgets would take None
            raise ValueError(self._refusal(name, value, f"choose among {options(control)}"))
        try:
            control.value = value
        except TraitError as error:
            raise ValueError(self._refusal(name, value, str(error))) from None
        if control.value != value:  # a slider stops at its end without a word
            raise ValueError(self._refusal(name, value, f"the nearest is {control.value!r}"))

    def _refusal(self, name: str, value: object, why: str) -> str:
        return TEXT["not_offered"].format(lab=self.name, name=name, value=value, why=why)

    def _parsed(self, name: str, text: str) -> object:
        """What ``text`` stands for: an option of a choice, else a value of the control's type."""
        if name not in self.controls:
            return text
        for option in options(self.controls[name]):
            if str(option) == text:
                return option
        kind = type(self._first[name])
        if kind is bool:
            return text == "True"
        try:
            return kind(text)
        except ValueError:
            raise ValueError(self._refusal(name, text, f"expected {kind.__name__}")) from None


def options(control: widgets.Widget) -> tuple[object, ...]:
    """The values that a choice offers; () for other controls."""
    return tuple(getattr(control, "_options_values", ()))
