// A live page: one button starts Python in a worker, and widgets come alive under the cells that made them.
const setup = JSON.parse(document.getElementById("live-setup").textContent), { TEXT } = setup;
const base = new URL(setup.base, document.baseURI).href, assets = new URL(setup.assets, document.baseURI);
const here = (path) => new URL(`${path}?v=${setup.version}`, assets).href;
const make = (tag, className, more = {}) => Object.assign(document.createElement(tag), { className, ...more });
const state = () => document.body.dataset.live;

// the bar under the title

const button = (name, act) => {
  const made = make("button", `live-button live-${name}`, { type: "button", textContent: TEXT[name], title: TEXT[`${name} title`] });
  made.addEventListener("click", act);
  return made;
};
const go = button("run", start), stop = button("stop", () => end("stopped")), reset = button("reset", restart);
const said = make("span", "live-said", { role: "status" }), more = make("span", "live-more"), bar = make("div", "live-bar");
bar.append(go, stop, reset, said, more);
document.querySelector("article h1").after(bar);

function show(now, text = TEXT[now], further = "") {
  document.body.dataset.live = now;
  said.textContent = text;
  more.innerHTML = further;
  go.hidden = now === "boot" || now === "ready";
  stop.hidden = !go.hidden;
  reset.hidden = now !== "ready";
}

// start, stop, reset

let worker, cells, patience, asked = 0, sent = 0, locked = false;
const waiting = new Map(); // what is asked of the worker, until it answers
const call = (task, more = {}) => worker.postMessage({ task, ...more });
const ask = (task, more) => new Promise((done) => {
  waiting.set(++asked, done);
  call(task, { ...more, number: asked });
});

async function start() {
  if (locked) return restart(); // a page that was live may load nothing more: a new one may
  memory("on");
  show("boot");
  try {
    if (typeof WebAssembly !== "object") throw new Error(TEXT["no WebAssembly"]);
    [cells] = await Promise.all([fetch(here(setup.cells)).then((answer) => answer.json()), loadWidgets(), boot()]);
    show("boot", TEXT.cells);
    for (const [cell, { source, later }] of cells.entries()) if (!later) await ask("run", { cell, source, first: true });
    const refused = await ask("follow", { link: location.search });
    addTools();
    await lock();
    if (state() === "boot") show("ready", refused || TEXT.ready); // not where it was stopped meanwhile
  } catch (error) {
    fail(error);
  }
}

function restart() {
  const address = new URL(location);
  address.searchParams.set("live", "1");
  locked = false; // the one way to leave without the reader's click
  location.replace(address);
}

function end(now, text, further) {
  worker?.terminate();
  clearTimeout(patience);
  waiting.clear();
  for (const tools of document.querySelectorAll(".live-tools")) tools.remove();
  if (now === "stopped") memory("off");
  show(now, text, further);
}

function fail(error) {
  if (state() !== "boot" && state() !== "ready") return;
  const message = String(error?.message ?? error);
  console.info(`live page: ${message}`);
  end("failed", `${TEXT.failed} ${reason(message)}`, TEXT["go on"].replace("{offline}", setup.offline));
}

function reason(message) {
  if (/could not be loaded|Failed to fetch|NetworkError|module script/i.test(message)) return TEXT.blocked.replace("{base}", new URL(base).host);
  return /out of memory|OOM|allocation/i.test(message) ? TEXT["out of memory"] : message;
}

function memory(choice) { // a private window has none
  try { return choice ? localStorage.setItem("live", choice) : localStorage.getItem("live"); } catch { return null; }
}

// what a start needs

let manager, npm;
async function loadWidgets() {
  document.head.prepend(make("link", "", { rel: "stylesheet", href: here("bundle.css") }));
  npm = await import(here("bundle.js"));
  manager = new npm.Manager();
}

function boot() {
  // A worker made from a blob is under the page's Content-Security-Policy; one made from an address would be under none.
  const code = new Blob([`import ${JSON.stringify(here("worker.js"))};`], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(code), { type: "module" });
  worker.onerror = (event) => fail(event.message || TEXT.crashed);
  worker.onmessage = ({ data }) => { wait(); receive[data.kind]?.(inert(data)); };
  wait();
  const wheels = setup.wheels.map(({ url, ...rest }) => ({ url: url.startsWith("wheels/") ? here(url) : base + url, ...rest }));
  return ask("start", { base, wheels, library: here("wheels/python_stdlib.zip"), kernel: here("kernel.py") });
}

function wait() { // a network that swallows requests must not leave the reader waiting for ever
  clearTimeout(patience);
  if (state() === "boot") patience = setTimeout(() => fail(TEXT.silence), setup.patience);
}

// Nothing may leave this page any more, to any origin: what it can need is here, all the rest is forbidden.
async function lock() {
  await Promise.all([...document.fonts].map((font) => font.load().catch(() => {})));
  document.head.append(make("meta", "", { httpEquiv: "Content-Security-Policy", content: setup.locked }));
  locked = true;
}

window.navigation?.addEventListener("navigate", (event) => { // only the reader's click may lead away
  if (locked && !event.userInitiated && !event.destination.sameDocument) event.preventDefault();
});

// messages of Python, and to it

const comms = new Map(), unanswered = new Map();
class Comm { // as ipywidgets' manager wants it
  constructor({ comm_id, target_name }) { Object.assign(this, { comm_id, target_name, early: [] }); }
  on_msg(take) { this.take = take; this.early.splice(0).forEach(take); }
  on_close() {} close() {}
  deliver(message) { this.take ? this.take(message) : this.early.push(message); }
  send(data, callbacks, metadata, buffers = []) {
    unanswered.set(++sent, callbacks);
    call("comm", { text: JSON.stringify({ comm_id: this.comm_id, data }), buffers, sent });
    return String(sent);
  }
}
const jupyter = ({ comm_id, target_name, data, metadata, buffers }) => ({
  content: { comm_id, target_name, data }, metadata,
  buffers: buffers.map((part) => new DataView(part.buffer, part.byteOffset, part.byteLength)),
});
// No policy forbids a <meta> to lead the page away, or a <link> to call on a server: neither comes in with an output.
const inert = (given) => {
  if (typeof given === "string") return given.replace(/<(?=meta|link|base)/gi, "<\u200b");
  if (Array.isArray(given)) return given.map(inert);
  if (Object(given) !== given || ArrayBuffer.isView(given)) return given;
  if (given.constructor !== Object) return inert(String(given));
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, inert(value)]));
};
const receive = {
  step: ({ step, n }) => state() === "boot" && show("boot", TEXT[step].replace("{n}", n).replace("{all}", setup.wheels.length)),
  done: ({ number, result }) => (waiting.get(number)?.(result), waiting.delete(number)),
  fatal: ({ error }) => fail(error),
  comm_open(message) {
    comms.set(message.comm_id, new Comm(message));
    manager.handle_comm_open(comms.get(message.comm_id), jupyter(message)).catch((error) => console.error(error));
  },
  comm_msg: (message) => comms.get(message.comm_id)?.deliver(jupyter(message)),
  comm_close: ({ comm_id }) => comms.delete(comm_id),
  taken({ sent: taken }) { // ipywidgets sends a control's next value only when told that Python took the last one
    unanswered.get(taken)?.iopub?.status?.({ content: { execution_state: "idle" } });
    unanswered.delete(taken);
  },
  show: ({ cell, model_id }) => place(cell, model_id).catch((error) => console.error(error)),
  log: ({ output }) => console.info("python:", output.text ?? output.traceback?.join("") ?? output.data["text/plain"]),
};

async function place(cell, id) {
  const view = await manager.create_view(await manager.get_model(id));
  const home = document.getElementById(`cell-${cell}`);
  if (!home) return; // a cell that the page does not show
  let output = home.querySelector(":scope > .cell_output");
  if (!output) home.append((output = make("div", "cell_output")));
  const live = make("div", "live-output");
  output.replaceChildren(live);
  await manager.display_view(view, live);
}

// cells to edit and run again

function addTools() {
  for (const [cell, { source, later }] of cells.entries()) {
    const input = document.querySelector(`#cell-${cell} .cell_input`);
    if (input) input.append(toolsOf(cell, source, later, input.querySelector(".highlight").parentElement));
  }
}

function toolsOf(cell, source, later, code) {
  let editor;
  const run = async () => {
    show("ready", TEXT.running);
    await ask("run", { cell, source: editor?.text() ?? source });
    if (state() === "ready" && !waiting.size) show("ready");
  };
  const turn = (editing) => { [code.hidden, edit.hidden, undo.hidden] = [editing, editing, !editing]; };
  const edit = button("edit", () => {
    editor = npm.editor(source, run, `${TEXT.cell} ${cell + 1}`);
    code.after(editor.dom);
    turn(true);
    editor.focus();
  });
  const undo = button("undo", () => {
    editor.dom.remove();
    editor = undefined;
    turn(false);
    run();
  });
  turn(false);
  const tools = make("div", "live-tools");
  tools.append(button("again", run), edit, undo, later ? TEXT.later : "");
  return tools;
}

// what is there before any click

show("static");
const hint = () => [here("bundle.js"), here("wheels/python_stdlib.zip"), `${base}pyodide.asm.wasm`].forEach((url) => locked || fetch(url).catch(() => {}));
for (const sign of ["pointerenter", "focus"]) go.addEventListener(sign, hint, { once: true });
new MutationObserver(() => { // a lab's state is in its link
  for (const link of document.querySelectorAll(".lab-link")) link.href = new URL(`${link.dataset.link}&live=1`, location).href;
}).observe(document.querySelector("article"), { childList: true, subtree: true });
const wanted = new URLSearchParams(location.search).get("live");
if (wanted === "1" || (wanted === null && memory() === "on")) start();
