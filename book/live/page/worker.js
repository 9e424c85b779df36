// The worker of a live page: starts Python, shuts the network, then carries messages between page and kernel.py.
const SITE = "/lib/python3.12/site-packages";
let kernel, arrived = 0;
const say = (kind, more) => self.postMessage({ kind, ...more });
self.live_post = (text, buffers) => {
  const parts = [...buffers];
  self.postMessage({ ...JSON.parse(text), buffers: parts }, parts.map((part) => part.buffer));
};

async function download({ url, integrity }) {
  const answer = await fetch(url, integrity ? { integrity } : {}).catch((error) => {
    throw new Error(`${url} could not be loaded: ${error.message}`);
  });
  if (!answer.ok) throw new Error(`${url} could not be loaded: status ${answer.status}`);
  say("step", { step: "arrived", n: ++arrived });
  return answer.arrayBuffer();
}

// Python as it is once started, kept by the browser from the first visit on.
async function boot(loadPyodide, options) {
  const snapshot = `${options.stdLibURL}&snapshot`;
  const store = await self.caches?.open("live-page").catch(() => null);
  const kept = await store?.match(snapshot);
  if (kept) return loadPyodide({ ...options, _loadSnapshot: await kept.arrayBuffer() });
  const python = await loadPyodide({ ...options, _makeSnapshot: Boolean(store) });
  for (const old of (await store?.keys()) ?? []) await store.delete(old);
  if (store) await store.put(snapshot, new Response(python.makeMemorySnapshot())).catch(() => {});
  return python;
}

async function start({ base, library, wheels, kernel: source }) {
  const arriving = wheels.map(download); // while Python itself starts
  const text = fetch(source).then((answer) => answer.text());
  arriving.forEach((wheel) => wheel.catch(() => {})); // reported below
  const { loadPyodide } = await import(`${base}pyodide.mjs`).catch((error) => {
    throw new Error(`${base}pyodide.mjs could not be loaded: ${error.message}`);
  });
  const env = { MPLBACKEND: "agg", HOME: "/home/pyodide" };
  const python = await boot(loadPyodide, { indexURL: base, stdLibURL: library, env });
  say("step", { step: "packages" });
  for (const wheel of arriving) python.unpackArchive(await wheel, "zip", { extractDir: SITE });
  say("step", { step: "imports" });
  python.FS.writeFile(`${SITE}/kernel.py`, await text);
  kernel = python.pyimport("kernel");
  shutNetwork();
}

// From here on no code of a page, typed or pasted, can ask anything of any server.
function shutNetwork() {
  const ways = ["fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "WebTransport", "EventSource", "Worker",
    "SharedWorker", "importScripts", "FontFace", "fonts", "caches", "BroadcastChannel", "RTCPeerConnection"];
  for (let holder = self; holder; holder = Object.getPrototypeOf(holder)) {
    for (const way of ways) if (holder === self || Object.hasOwn(holder, way)) Object.defineProperty(holder, way, { value: undefined });
  }
}

const tasks = {
  start,
  run: ({ cell, source, first }) => kernel.run_cell(cell, source, Boolean(first)),
  follow: ({ link }) => kernel.follow(link),
  comm: ({ text, buffers, sent }) => (kernel.take_message(text, buffers), say("taken", { sent })),
};
self.onmessage = async ({ data }) => {
  try {
    say("done", { number: data.number, result: await tasks[data.task](data) });
  } catch (error) {
    say("fatal", { error: String(error.message || error).slice(-2000) });
  }
};
