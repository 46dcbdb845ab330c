/* What the tests of the page share: a plain server and Chromium, which run while a file's tests do, drawing, files.
 * Folders come from make test-web. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import path from 'node:path';
import {after, before} from 'node:test';

export const {MXLITE_PAGE: PAGE, MXLITE_PACKAGE: PACKAGE, MXLITE_SHOTS: SHOTS, MXLITE_MODULES: MODULES} = process.env;
const require = createRequire(path.join(MODULES, 'node_modules', 'here.js'));
const {chromium} = require('playwright-core');
const AXE = require.resolve('axe-core/axe.min.js');
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};
/** The files of the model that the page has as an example, by name. */
export const MODEL = Object.fromEntries(
  ['digits-symbol.json', 'digits-0000.params'].map((name) => [name, fs.readFileSync(`bindings/predict/${name}`)]),
);
export const LOADED = 60_000; // milliseconds; the machine may be busy

/** A plain file server: a folder under /some/path/. */
export async function serve(folder = PAGE) {
  const server = http.createServer((request, answer) => {
    const name =
      decodeURIComponent(new URL(request.url, 'http://x').pathname).replace('/some/path/', '') || 'index.html';
    const file = path.join(folder, path.normalize(`/${name}`));
    if (!request.url.startsWith('/some/path/') || !fs.existsSync(file)) return answer.writeHead(404).end();
    return answer
      .writeHead(200, {'Content-Type': TYPES[path.extname(file)] || 'application/octet-stream'})
      .end(fs.readFileSync(file));
  });
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve).closeAllConnections();
    });
  return {url: `http://localhost:${server.address().port}/some/path/`, close};
}

let server = null,
  browser = null;
before(async () => {
  server = await serve();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
});
after(async () => {
  await browser.close();
  await server.close();
});

/** A page whose console errors and failures are collected in `page.problems`. @param {Object} options those of a
 * context of Playwright, and the page's `url` @param {function} prepare is called with the page before it is loaded */
export async function open({url = server.url, ...options} = {}, prepare = async () => {}) {
  const context = await browser.newContext({viewport: {width: 1100, height: 800}, serviceWorkers: 'block', ...options});
  const page = await context.newPage();
  page.problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error') page.problems.push(message.text());
  });
  page.on('pageerror', (problem) => page.problems.push(String(problem)));
  await prepare(page);
  await page.goto(url);
  return page;
}

export const ready = (page) => page.waitForSelector('#start:not([disabled])', {timeout: LOADED});
export const text = async (page, id) => (await page.textContent(`#${id}`)).trim();
export const untilText = (page, id, pattern) =>
  page.waitForFunction(
    ([name, source]) => new RegExp(source).test(document.getElementById(name).textContent),
    [id, pattern.source],
    {timeout: LOADED},
  );

/** Trains until the page says that 95 % are right. @returns {Promise<number>} seconds */
export async function train(page) {
  const begin = performance.now();
  await page.click('#start');
  await untilText(page, 'train-status', /^95 %/);
  return (performance.now() - begin) / 1000;
}

/** Lines of the ten digits, as people draw them; points within a square of 1. */
export const STROKES = [
  [
    [
      [0.5, 0.15],
      [0.34, 0.25],
      [0.3, 0.5],
      [0.36, 0.76],
      [0.5, 0.85],
      [0.65, 0.74],
      [0.7, 0.5],
      [0.65, 0.25],
      [0.5, 0.15],
    ],
  ],
  [
    [
      [0.36, 0.3],
      [0.52, 0.15],
      [0.52, 0.85],
    ],
  ],
  [
    [
      [0.32, 0.3],
      [0.4, 0.17],
      [0.58, 0.15],
      [0.67, 0.28],
      [0.62, 0.45],
      [0.32, 0.83],
      [0.7, 0.83],
    ],
  ],
  [
    [
      [0.32, 0.22],
      [0.48, 0.15],
      [0.65, 0.22],
      [0.64, 0.38],
      [0.48, 0.48],
      [0.66, 0.58],
      [0.68, 0.74],
      [0.52, 0.85],
      [0.3, 0.78],
    ],
  ],
  [
    [
      [0.45, 0.15],
      [0.3, 0.58],
      [0.72, 0.58],
    ],
    [
      [0.6, 0.38],
      [0.58, 0.87],
    ],
  ],
  [
    [
      [0.68, 0.16],
      [0.38, 0.16],
      [0.34, 0.46],
      [0.55, 0.42],
      [0.69, 0.55],
      [0.66, 0.75],
      [0.5, 0.85],
      [0.32, 0.8],
    ],
  ],
  [
    [
      [0.6, 0.14],
      [0.42, 0.3],
      [0.33, 0.58],
      [0.38, 0.78],
      [0.52, 0.86],
      [0.66, 0.74],
      [0.62, 0.57],
      [0.46, 0.54],
      [0.35, 0.66],
    ],
  ],
  [
    [
      [0.3, 0.17],
      [0.7, 0.17],
      [0.52, 0.5],
      [0.44, 0.86],
    ],
    [
      [0.36, 0.5],
      [0.66, 0.5],
    ],
  ],
  [
    [
      [0.62, 0.22],
      [0.48, 0.15],
      [0.36, 0.25],
      [0.42, 0.42],
      [0.62, 0.58],
      [0.65, 0.76],
      [0.5, 0.86],
      [0.36, 0.76],
      [0.4, 0.58],
      [0.6, 0.42],
      [0.64, 0.26],
    ],
  ],
  [
    [
      [0.65, 0.28],
      [0.5, 0.15],
      [0.36, 0.26],
      [0.4, 0.43],
      [0.55, 0.46],
      [0.65, 0.3],
      [0.65, 0.6],
      [0.56, 0.85],
      [0.36, 0.82],
    ],
  ],
];

/** Draws a digit with the mouse, and waits for the answer. @returns {Promise<string>} what the page says */
export async function draw(page, digit) {
  await page.click('#clear');
  await untilText(page, 'verdict', /^Nothing/);
  await page.locator('#pad').scrollIntoViewIfNeeded();
  const box = await page.locator('#pad').boundingBox(),
    at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  for (const stroke of STROKES[digit]) {
    await page.mouse.move(...at(stroke[0]));
    await page.mouse.down();
    for (const point of stroke.slice(1)) await page.mouse.move(...at(point), {steps: 3});
    await page.mouse.up();
  }
  await page.waitForTimeout(150);
  await untilText(page, 'verdict', /\d/);
  return text(page, 'verdict');
}

/** Drops files on the page. @param {Object<string, Buffer|string>} files content by name */
export async function drop(page, files) {
  const plain = Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64')]);
  await page.evaluate((all) => {
    const dataTransfer = new DataTransfer();
    for (const [name, base64] of all)
      dataTransfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
    for (const type of ['dragenter', 'dragover', 'drop'])
      document.body.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true}));
  }, plain);
  await page.waitForFunction(
    () => !/^(Opening|Running|Fetching)/.test(document.getElementById('model-status').textContent),
    null,
    {timeout: LOADED},
  );
}

/** The faults that axe-core finds, one line for each. */
export async function accessibility(page) {
  await page.addScriptTag({path: AXE});
  const {violations} = await page.evaluate(() =>
    globalThis.axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}),
  );
  return violations.flatMap(({id, nodes}) =>
    nodes.map(({target, failureSummary}) => `${id}: ${target}: ${failureSummary.replace(/\s+/g, ' ')}`),
  );
}

/** Presses Tab until an element has the keyboard. */
export async function tabTo(page, id) {
  for (let i = 0; i < 60; i++) {
    if (
      await page.evaluate((name) => document.activeElement && document.activeElement.closest(`#${name}`) !== null, id)
    )
      return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not reach #${id}`);
}

export const noProblems = (page) => assert.deepEqual(page.problems, []);
