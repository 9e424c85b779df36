// A live page: one button starts Python in a worker, and widgets come alive under the cells that made them.
const setup = JSON.parse(document.getElementById("live-setup").textContent);
const { TEXT } = setup;
const here = (path) => new URL(`${path}?v=${setup.version}`, setup.assets).href;
const article = document.querySelector("article");
const memory = { // private windows may forbid it
  get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
  set: (name, value) => { try { value === null ? localStorage.removeItem(name) : localStorage.setItem(name, value); } catch { /* not kept */ } },
};
setup.assets = new URL(setup.assets, document.baseURI).href;
setup.base = new URL(setup.base, document.baseURI).href;

// the bar under the title

const bar = document.createElement("div");
bar.className = "live-bar";
const button = (name, act) => {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", className: `live-button live-${name}`, textContent: TEXT[name], title: TEXT[`${name} title`] ?? "" });
  made.addEventListener("click", act);
  return made;
};
const go = button("run", () => start()), stop = button("stop", () => end("stopped")), reset = button("reset", restart);
const said = Object.assign(document.createElement("span"), { className: "live-said" });
const more = Object.assign(document.createElement("span"), { className: "live-more" });
said.setAttribute("role", "status");
bar.append(go, stop, reset, said, more);
article.querySelector("h1").after(bar);

function show(state, text, html = "") {
  document.body.dataset.live = state;
  said.textContent = text;
  more.innerHTML = html;
  go.hidden = state === "boot" || state === "ready";
  stop.hidden = !go.hidden;
  reset.hidden = state !== "ready";
}

// start, stop, reset

let worker, locked = false, quiet;
const call = (task, more, transfer = []) => worker.postMessage({ task, ...more }, transfer);

async function start() {
  memory.set("live", "on");
  if (locked) return restart(); // the page that was live may load nothing more: a new one may
  show("boot", TEXT.loading);
  try {
    if (typeof WebAssembly !== "object") throw new Error(TEXT["no WebAssembly"]);
    const [cells] = await Promise.all([fetch(here(setup.cells)).then((answer) => answer.json()), loadWidgets(), boot()]);
    for (const [cell, { source, later }] of cells.entries()) if (!later) await run(cell, source, true);
    await follow();
    addTools(cells);
    await shut();
    show("ready", TEXT.ready);
  } catch (error) {
    fail(error);
  }
}

function restart() {
  const address = new URL(location);
  address.searchParams.set("live", "1");
  location.replace(address);
}

function end(state, text = TEXT[state], html) {
  worker?.terminate();
  clearTimeout(quiet);
  document.querySelectorAll(".live-tools").forEach((tools) => tools.remove());
  if (state === "stopped") memory.set("live", null);
  show(state, text, html);
}

function fail(error) {
  if (document.body.dataset.live !== "boot" && document.body.dataset.live !== "ready") return;
  console.warn(`live page: ${error.message ?? error}`);
  end("failed", `${TEXT.failed} ${reason(String(error.message ?? error))}`, TEXT["go on"]);
}

function reason(message) {
  if (/could not be loaded|Failed to fetch|NetworkError|importing a module/i.test(message)) return TEXT.blocked.replace("{base}", new URL(setup.base).host || location.host) + ` (${message})`;
  if (/out of memory|OOM|allocat/i.test(message)) return TEXT["out of memory"];
  return message;
}

// what a start needs

let manager, npm;
async function loadWidgets() {
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: here("bundle.css") });
  document.head.prepend(style);
  npm = await import(here("bundle.js"));
  manager = new npm.Manager();
}

function boot() {
  // A worker made from a blob keeps the page's Content-Security-Policy; one made from an address would have none.
  const code = new Blob([`import ${JSON.stringify(here("worker.js"))};`], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(code), { type: "module" });
  const wheels = setup.wheels.map(({ url, ...rest }) => ({ url: url.startsWith("wheels/") ? here(url) : setup.base + url, ...rest }));
  let arrived = 0;
  return new Promise((done, failed) => {
    worker.onerror = (event) => failed(new Error(event.message || TEXT.crashed));
    const steps = {
      arrived: () => show("boot", TEXT.arrived.replace("{n}", ++arrived).replace("{all}", wheels.length)),
      step: ({ step }) => show("boot", TEXT[step]),
      started: () => { clearTimeout(quiet); quiet = null; done(); },
      fatal: ({ error }) => failed(new Error(error)),
    };
    worker.onmessage = ({ data }) => {
      if (quiet !== null) waitFor(failed);
      (steps[data.kind] ?? receive[data.kind])(data);
    };
    waitFor(failed);
    call("start", { base: setup.base, library: here("wheels/python_stdlib.zip"), kernel: here("kernel.py"), wheels });
  });
}

function waitFor(failed) {
  clearTimeout(quiet);
  quiet = setTimeout(() => failed(new Error(TEXT.silence)), setup.patience);
}

const waiting = new Map();
const answer = (key) => new Promise((done) => waiting.set(key, done));
function run(cell, source, first = false) {
  show(document.body.dataset.live, document.body.dataset.live === "boot" ? TEXT.cells : TEXT.running);
  call("run", { cell, source, first });
  return answer(`cell ${cell}`);
}

async function follow() {
  call("follow", { link: location.search });
  const refused = await answer("follow");
  if (refused) console.info(`live page: ${refused}`);
}

// Nothing may leave this page any more, to any origin: what it can need is here, all the rest is forbidden.
async function shut() {
  await Promise.all([...document.fonts].map((font) => font.load().catch(() => {})));
  document.head.append(Object.assign(document.createElement("meta"), { httpEquiv: "Content-Security-Policy", content: setup.locked }));
  locked = true;
}

// messages of Python

const comms = new Map(), acknowledged = new Map();
let number = 0;
class Comm {
  constructor(id, target) { Object.assign(this, { comm_id: id, target_name: target, early: [] }); }
  on_msg(take) { this.take = take; this.early.splice(0).forEach(take); }
  on_close(closed) { this.closed = closed; }
  open() {}
  close() {}
  deliver(message) { this.take ? this.take(message) : this.early.push(message); }
  send(data, callbacks, metadata, buffers = []) {
    acknowledged.set(++number, callbacks);
    call("comm", { text: JSON.stringify({ comm_id: this.comm_id, data }), buffers, number });
    return String(number);
  }
}
const jupyter = ({ comm_id, target_name, data, metadata, buffers }) => ({
  content: { comm_id, target_name, data }, metadata, buffers: buffers.map((part) => new DataView(part.buffer, part.byteOffset, part.byteLength)),
});
const receive = {
  comm_open(message) {
    const made = new Comm(message.comm_id, message.target_name);
    comms.set(message.comm_id, made);
    manager.handle_comm_open(made, jupyter(message)).catch((error) => console.error(error));
  },
  comm_msg: (message) => comms.get(message.comm_id)?.deliver(jupyter(message)),
  comm_close(message) { comms.get(message.comm_id)?.closed?.(jupyter(message)); comms.delete(message.comm_id); },
  // ipywidgets sends a control's next value only when told that Python took the last one
  taken({ number: taken }) {
    acknowledged.get(taken)?.iopub?.status?.({ content: { execution_state: "idle" } });
    acknowledged.delete(taken);
  },
  show: ({ cell, model_id }) => place(cell, model_id).catch((error) => console.error(error)),
  ran({ cell, ok }) { waiting.get(`cell ${cell}`)?.(ok); if (document.body.dataset.live === "ready") show("ready", TEXT.ready); },
  followed: ({ refused }) => waiting.get("follow")?.(refused),
  log: ({ output }) => console.info("python:", output.text ?? output.traceback?.join("") ?? output.data?.["text/plain"]),
  fatal: ({ error }) => fail(new Error(error)),
  arrived() {}, step() {},
};

async function place(cell, id) {
  const view = await manager.create_view(await manager.get_model(id));
  const home = document.getElementById(`cell-${cell}`);
  if (!home) return; // a cell that the page does not show
  let output = home.querySelector(":scope > .cell_output");
  if (!output) home.append(output = Object.assign(document.createElement("div"), { className: "cell_output" }));
  const live = Object.assign(document.createElement("div"), { className: "live-output" });
  output.replaceChildren(live);
  await manager.display_view(view, live);
}

// cells to edit and run again

function addTools(cells) {
  for (const [cell, { source, later }] of cells.entries()) {
    const input = document.querySelector(`#cell-${cell} .cell_input`);
    if (!input) continue;
    const code = input.querySelector("pre"), tools = Object.assign(document.createElement("div"), { className: "live-tools" });
    let editor = null;
    const again = () => run(cell, editor ? editor.text() : source);
    const open = () => {
      editor = npm.editor(source, again, `${TEXT.cell} ${cell + 1}`);
      code.parentElement.hidden = true;
      code.parentElement.after(editor.dom);
      edit.hidden = true; undo.hidden = false;
      editor.focus();
    };
    const close = () => {
      editor.dom.remove(); editor = null;
      code.parentElement.hidden = false;
      edit.hidden = false; undo.hidden = true;
      again();
    };
    const edit = button("edit", open), undo = button("undo", close);
    undo.hidden = true;
    tools.append(button("again", again), edit, undo, later ? TEXT.later : "");
    input.append(tools);
  }
}

// what is there before any click

show("static", TEXT.static);
const heavy = () => [here("bundle.js"), `${setup.base}pyodide.asm.wasm`, here("wheels/python_stdlib.zip")].forEach((url) => fetch(url).catch(() => {}));
for (const hint of ["pointerenter", "focus"]) go.addEventListener(hint, heavy, { once: true });
const asked = new URLSearchParams(location.search).get("live");
if (asked === "1" || (asked !== "0" && memory.get("live") === "on")) start();
