// What a live page takes from npm, bundled at build time (see assets.py): ipywidgets' own front end, and an editor.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import * as base from "@jupyter-widgets/base";
import * as controls from "@jupyter-widgets/controls";
import { HTMLManager } from "@jupyter-widgets/html-manager/lib/htmlmanager";
import * as output from "@jupyter-widgets/html-manager/lib/output";
import "@lumino/widgets/style/index.css";
import "@jupyter-widgets/controls/css/labvariables.css";
import "@jupyter-widgets/controls/css/widgets-base.css";

// A picture that stays until the next one is decoded: ipywidgets' own is blank for a frame at each change.
class ImageView extends controls.ImageView {
  update() {
    if (this.model.get("format") === "url") return super.update();
    for (const side of ["width", "height"]) this.model.get(side) ? this.el.setAttribute(side, this.model.get(side)) : this.el.removeAttribute(side);
    const picture = new Blob([this.model.get("value")], { type: `image/${this.model.get("format")}` });
    const next = new Image(), url = (this.latest = next.src = URL.createObjectURL(picture));
    const turn = () => {
      const old = this.latest === url ? this.el.src : url;
      if (this.latest === url) this.el.src = url;
      URL.revokeObjectURL(old);
    };
    next.decode().then(turn, turn);
  }
}

const modules = { "@jupyter-widgets/base": base, "@jupyter-widgets/controls": { ...controls, ImageView }, "@jupyter-widgets/output": output };

// Only ipywidgets' own: another module would have to be asked of some other origin.
export class Manager extends HTMLManager {
  async loadClass(name, module) {
    const found = modules[module]?.[name];
    if (!found) throw new Error(`This page has no widget ${name} of ${module}.`);
    return found;
  }
}

export function editor(text, run, label) {
  const now = () => (run(), true), leave = (view) => (view.contentDOM.blur(), true);
  const keys = [{ key: "Shift-Enter", run: now }, { key: "Mod-Enter", run: now }, { key: "Escape", run: leave }];
  const view = new EditorView({
    doc: text,
    extensions: [
      keymap.of([...keys, indentWithTab, ...defaultKeymap, ...historyKeymap]),
      lineNumbers(), history(), highlightSpecialChars(), indentOnInput(), indentUnit.of("    "), bracketMatching(),
      python(), syntaxHighlighting(classHighlighter), EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label }),
    ],
  });
  view.dom.addEventListener("keydown", (event) => event.stopPropagation()); // the theme's "/" would go to the search
  return { dom: view.dom, text: () => view.state.doc.toString(), focus: () => view.focus() };
}
