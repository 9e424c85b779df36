// Compiles what live pages import, with the Python that they run: node compile.mjs <settings.json>
// A reader's browser would do it anew at each start.
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

const { wheels, kernel, program, folder } = JSON.parse(readFileSync(process.argv[2], "utf8"));
globalThis.live_post = () => {}; // kernel.py asks for it
const python = await loadPyodide({ env: { MPLBACKEND: "agg", HOME: "/home/pyodide" } });
const site = python.runPython("import site; site.getsitepackages()[0]");
for (const wheel of wheels) {
  python.unpackArchive(new Uint8Array(readFileSync(wheel)).buffer, "wheel", { extractDir: site });
}
python.FS.writeFile(`${site}/kernel.py`, readFileSync(kernel));
python.FS.writeFile(`${site}/compile_all.py`, readFileSync(program));
const made = python.pyimport("compile_all");
writeFileSync(`${folder}/python_stdlib.zip`, made.standard_library().toJs());
writeFileSync(`${folder}/bytecode.zip`, made.archive().toJs());
