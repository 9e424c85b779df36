// Walks through live pages in Firefox and prints what happened as JSON: node firefox.mjs <task as JSON>.
// The page's policy forbids eval, so waiting is done by asking again, not by puppeteer's waitForFunction.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../book/live/package.json", import.meta.url));
const puppeteer = require("puppeteer-core");
const { address, firefox, pages, hostile, escapes } = JSON.parse(process.argv[2]);
const browser = await puppeteer.launch({ browser: "firefox", executablePath: firefox, headless: true });
const report = { pages: {} };

async function until(page, what, test, ...given) {
  for (let left = 600; left; left--) {
    const found = await page.evaluate(test, ...given).catch(() => false); // a page may be on its way to another
    if (found) return found;
    await new Promise((next) => setTimeout(next, 100));
  }
  throw new Error(`${what} did not come within a minute on ${page.url()}`);
}

async function ready(page, name) {
  const state = await until(page, "ready", () => ["ready", "failed"].find((state) => state === document.body.dataset.live));
  const said = await page.$eval(".live-said", (said) => said.textContent);
  if (state === "failed") throw new Error(`${name} failed: ${said}`);
  return said;
}

async function alive(name) {
  const page = await browser.newPage(), noted = (report.pages[name] = { complaints: [], requests: [] });
  await page.setViewport({ width: 1200, height: 900 });
  page.on("console", (said) => said.type() === "error" && noted.complaints.push(said.text()));
  page.on("pageerror", (error) => noted.complaints.push(String(error)));
  page.on("requestfailed", (request) => noted.complaints.push(request.url()));
  page.on("request", (request) => /^(blob|data):/.test(request.url()) || noted.requests.push(request.url()));
  await page.goto(`${address}${name}?live=0`);
  await page.click(".live-run");
  noted.said = await ready(page, name);
  noted.start = noted.requests.splice(0); // what is asked from here on, is asked of a page that is ready
  return [page, noted];
}

// Each lab moves by its first control, with a key; whether picture and reading followed, and still say the same.
async function moveLabs(page) {
  const moved = {};
  for (const name of await page.$$eval(".live-output .lab", (labs) => labs.map((lab) => lab.dataset.lab))) {
    const root = `.live-output .lab-${name}`;
    const picture = await page.$eval(`${root} img.lab-picture`, (image) => image.src);
    const reading = await page.$eval(`${root} .lab-reading [role=status]`, (said) => said.textContent);
    const control = await page.evaluateHandle((root) => {
      const all = [...document.querySelectorAll(`${root} :is([role=slider], select)`)];
      return all.find((one) => one.offsetParent);
    }, root);
    await control.evaluate((one) => one.scrollIntoView({ block: "center" }));
    await control.focus();
    await page.keyboard.press(await control.evaluate((one) => (one.tagName === "SELECT" ? "ArrowDown" : "ArrowRight")));
    moved[name] = await until(page, `another picture and reading of ${name}`, (root, picture, reading) => {
      const image = document.querySelector(`${root} img.lab-picture`), said = document.querySelector(`${root} .lab-reading [role=status]`);
      if (image.src !== picture && said.textContent !== reading) return image.alt === said.textContent ? "described" : "another text";
    }, root, picture, reading);
  }
  return moved;
}

// An exercise is answered by key and click; its verdicts, in order.
async function answer(page, exercise, answers) {
  const root = `.exercise-answer:has(#exercise-${exercise})`, verdicts = [];
  for (const text of answers) {
    await page.click(`${root} input[type=text]`, { count: 3 });
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
    await page.click(`${root} button`);
    verdicts.push(await until(page, `a verdict on ${text}`, (root, before) => {
      const now = document.querySelector(`${root} .lab-reading [role=status]`)?.textContent;
      return now !== before && now;
    }, root, verdicts.at(-1)));
  }
  return verdicts;
}

// The first cell that shows no widget, as a reader finds it.
const plainCell = (page) => page.$eval(".cell:has(.live-edit):not(:has(.live-output))", (cell) => `#${cell.id}`);

async function write(page, cell, put) {
  if (!(await page.$(`${cell} .cm-content`))) await page.click(`${cell} .live-edit`);
  await page.click(`${cell} .cm-content`);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await put();
  await page.click(`${cell} .live-again`);
}

const typed = (page, cell, source) => write(page, cell, () => page.keyboard.type(source));
const pasted = (page, cell, source) => write(page, cell, () => page.evaluate((text) => document.execCommand("insertText", false, text), source));
const shown = (page, cell, expected) => until(page, expected, (cell, expected) => {
  const output = document.querySelector(`${cell} .live-output`)?.textContent ?? "";
  return output.includes(expected) && output;
}, cell, expected);

async function editCell(page, cell, noted) {
  await typed(page, cell, "print(1 / 0)");
  noted.broken = await shown(page, cell, "ZeroDivisionError");
  await typed(page, cell, "print('mended', 6 * 7)");
  noted.mended = await shown(page, cell, "mended 42");
}

async function attack(page, cell, noted) {
  noted.complaintsBefore = noted.complaints.splice(0);
  await pasted(page, cell, hostile);
  noted.hostile = await shown(page, cell, "attempts");
  await typed(page, cell, "print('after', 'wards')"); // by then the page has met what the attempts made it show
  await shown(page, cell, "after wards");
  noted.refused = noted.complaints.splice(0);
}

async function stopAndStart(page, cell, noted) {
  await typed(page, cell, "while True: pass");
  await until(page, "Running", () => document.querySelector(".live-said").textContent.startsWith("Running"));
  noted.requestsAfter = [...noted.requests];
  await page.click(".live-stop");
  noted.stopped = await page.$eval("body", (body) => body.dataset.live);
  await page.click(".live-run");
  await until(page, "boot", () => document.body.dataset.live === "boot");
  noted.again = await ready(page, "the page, started again,");
  noted.movedAgain = await moveLabs(page);
  noted.complaintsAgain = noted.complaints.splice(0);
}

// What a page does not hold leads it away: so this comes last, and the page may be gone at any step.
async function breakOut(page, cell) {
  const gone = (cell, text) => !document.body.dataset.live || document.querySelector(`${cell} .live-output`)?.textContent.includes(text);
  await pasted(page, cell, escapes);
  await until(page, "the end of the escapes", gone, cell, "tried");
  await typed(page, cell, "print('still', 'here')").catch(() => {});
  await until(page, "this page, or another", gone, cell, "still here");
}

try {
  for (const [name, { exercise, answers }] of Object.entries(pages)) {
    const [page, noted] = await alive(name);
    noted.moved = await moveLabs(page);
    noted.verdicts = await answer(page, exercise, answers);
    if (name === Object.keys(pages)[0]) {
      const cell = await plainCell(page);
      await editCell(page, cell, noted);
      await attack(page, cell, noted);
      await stopAndStart(page, cell, noted);
      await breakOut(page, cell);
    }
    noted.requestsAfter ??= [...noted.requests];
    noted.complaintsBefore ??= noted.complaints;
    await page.close();
  }
} catch (error) {
  report.error = [error.stack ?? error, ...Object.values(report.pages).flatMap((noted) => noted.complaints)].join("\n");
} finally {
  console.log(JSON.stringify(report));
  await browser.close();
}
