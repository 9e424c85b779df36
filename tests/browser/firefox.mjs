// Walks through live pages in Firefox and prints what happened as JSON: node firefox.mjs <address> <firefox> <page>...
// The page's policy forbids eval, so waiting is done by asking again, not by puppeteer's waitForFunction.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../book/live/package.json", import.meta.url));
const puppeteer = require("puppeteer-core");
const [address, executablePath, first, ...others] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true });
const report = { pages: {} };

async function until(page, what, test, ...given) {
  for (let left = 600; left; left--) {
    const found = await page.evaluate(test, ...given).catch(() => false); // a page may be on its way to another
    if (found) return found;
    await new Promise((next) => setTimeout(next, 100));
  }
  throw new Error(`${what} did not come within a minute`);
}

async function alive(name) {
  const page = await browser.newPage(), noted = { complaints: [], foreign: [], requests: [] };
  await page.setViewport({ width: 1200, height: 900 });
  page.on("console", (said) => said.type() === "error" && noted.complaints.push(said.text()));
  page.on("pageerror", (error) => noted.complaints.push(String(error)));
  page.on("requestfailed", (request) => noted.complaints.push(request.url()));
  page.on("request", (request) => {
    noted.requests.push(request.url());
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(address)) noted.foreign.push(request.url());
  });
  await page.goto(`${address}${name}?live=0`);
  await page.click(".live-run");
  noted.state = await until(page, "ready", () => ["ready", "failed"].find((state) => state === document.body.dataset.live));
  noted.said = await page.$eval(".live-said", (said) => said.textContent);
  report.pages[name] = noted;
  return [page, noted];
}

// Each lab moves by its first control, with a key.
async function moveLabs(page) {
  const moved = {};
  for (const name of await page.$$eval(".live-output .lab", (labs) => labs.map((lab) => lab.dataset.lab))) {
    const state = (lab) => [document.querySelector(`.live-output .lab-${lab} img.lab-picture`).src, document.querySelector(`.live-output .lab-${lab} .lab-reading`).textContent];
    const before = await page.evaluate(state, name);
    const control = await page.evaluateHandle((lab) => {
      const all = [...document.querySelectorAll(`.live-output .lab-${lab} :is([role=slider], select)`)];
      return all.find((one) => one.offsetParent);
    }, name);
    await control.evaluate((one) => one.scrollIntoView({ block: "center" }));
    if (await control.evaluate((one) => one.tagName === "SELECT")) {
      await control.evaluate((one) => { one.selectedIndex += one.selectedIndex + 1 < one.options.length ? 1 : -1; one.dispatchEvent(new Event("change", { bubbles: true })); });
    } else {
      await control.focus();
      await page.keyboard.press("ArrowRight");
    }
    await until(page, `${name}'s picture`, (lab, [picture, reading]) => {
      const root = document.querySelector(`.live-output .lab-${lab}`), image = root.querySelector("img.lab-picture");
      return image.src !== picture && root.querySelector(".lab-reading").textContent !== reading;
    }, name, before);
    moved[name] = await page.evaluate((lab) => {
      const root = document.querySelector(`.live-output .lab-${lab}`);
      return root.querySelector("img.lab-picture").alt === root.querySelector(".lab-reading [role=status]").textContent;
    }, name);
  }
  return moved;
}

// The first cell that shows no widget is edited; what it printed then.
async function runEdited(page, source, expected) {
  const cell = "#cell-3";
  if (!(await page.$(`${cell} .cm-content`))) await page.click(`${cell} .live-edit`);
  await page.click(`${cell} .cm-content`);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type(source, { delay: 0 });
  await page.click(`${cell} .live-again`);
  if (!expected) return "";
  return until(page, expected, (place, text) => {
    const shown = document.querySelector(`${place} .live-output`)?.textContent ?? "";
    return shown.includes(text) && shown;
  }, cell, expected);
}

try {
  const [page, noted] = await alive(first);
  noted.moved = await moveLabs(page);
  noted.broken = await runEdited(page, "print(1 / 0)", "ZeroDivisionError");
  noted.mended = await runEdited(page, "print('mended', 6 * 7)", "mended 42");
  noted.complaintsBefore = [...noted.complaints];
  noted.requests.length = 0;
  noted.hostile = await runEdited(page, "import js; from IPython.display import HTML; display(HTML(\"<img src='/leak.png'><img src='https://example.com/leak.png'>\")); print(js.fetch, 'tried')", "tried");
  await new Promise((next) => setTimeout(next, 500));
  await runEdited(page, "while True: pass");
  await until(page, "running", () => document.querySelector(".live-said").textContent.startsWith("Running"));
  await page.click(".live-stop");
  noted.stopped = await page.$eval("body", (body) => body.dataset.live);
  await page.click(".live-run");
  await until(page, "boot", () => document.body.dataset.live === "boot");
  noted.again = await until(page, "ready again", () => document.body.dataset.live === "ready" && "ready");
  for (const name of others) {
    const [page, noted] = await alive(name);
    noted.moved = await moveLabs(page);
    noted.complaintsBefore = [...noted.complaints];
    await page.close();
  }
} catch (error) {
  report.error = String(error.stack ?? error);
} finally {
  console.log(JSON.stringify(report));
  await browser.close();
}
