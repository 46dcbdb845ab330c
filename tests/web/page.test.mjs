/* The page as a visitor meets it: make test-web. Prints how long training takes. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {
  accessibility,
  draw,
  drop,
  LOADED,
  MODEL,
  noProblems,
  open,
  PAGE,
  ready,
  serve,
  SHOTS,
  tabTo,
  text,
  train,
  untilText,
} from './kit.mjs';

const shot = (page, name) => page.screenshot({path: path.join(SHOTS, name), fullPage: true});

test('it trains to 95 % within 20 seconds, and reads drawn digits', async () => {
  const begin = performance.now(),
    page = await open();
  await ready(page);
  const loaded = (performance.now() - begin) / 1000;
  assert.match(await draw(page, 3), /^Not trained yet/);
  const seconds = await train(page);
  console.log(
    `make test-web: loaded in ${loaded.toFixed(1)} s; 95 % after ${seconds.toFixed(1)} s at the gentle pace: ` +
      (await text(page, 'train-status')),
  );
  assert.ok(seconds < 20);
  await page.waitForFunction(() => parseFloat(document.getElementById('passes').textContent) >= 12, null, {
    timeout: LOADED,
  });
  await page.click('#start');
  await untilText(page, 'train-status', /^Paused/);
  const steps = await text(page, 'passes'),
    said = [];
  for (let digit = 0; digit < 10; digit++) said.push(await draw(page, digit));
  const right = said.filter((each, digit) => new RegExp(`(reads|Probably) an? ${digit}\\.`).test(each)).length;
  console.log(`make test-web: ${right} of 10 drawn digits are read: ${said.join(' ')}`);
  assert.match(said[3], /a 3\.$/);
  assert.ok(right >= 8);
  assert.equal(await text(page, 'passes'), steps);
  await page.click('#mistakes');
  assert.match(await text(page, 'samples-title'), /^Mistakes: \d+ of the 360/);
  assert.equal(await page.locator('#samples li.right:not([hidden])').count(), 0);
  await page.click('#mistakes');
  await page.click('#reset');
  await untilText(page, 'train-status', /not trained yet/);
  assert.equal(await text(page, 'passes'), '0.0');
  noProblems(page);
});

test('each network trains, at any pace; a learning rate too large is reported', async () => {
  const page = await open();
  await ready(page);
  await page.selectOption('#pace', 'fast');
  for (const kind of ['convolution', 'linear', 'dense']) {
    await page.selectOption('#network', kind);
    await untilText(page, 'train-status', /not trained yet/);
    const seconds = await train(page);
    console.log(`make test-web: ${kind}, as fast as it can: 95 % after ${seconds.toFixed(1)} s`);
    await page.click('#reset');
    await untilText(page, 'train-status', /not trained yet/);
  }
  await page.fill('#rate', '8');
  await page.click('#start');
  const spoilt = () =>
    !document.getElementById('train-error').hidden || Number(document.getElementById('passes').textContent) >= 3;
  await page.waitForFunction(spoilt, null, {timeout: LOADED});
  const error = await text(page, 'train-error');
  console.log(`make test-web: a learning rate of 3: ${await text(page, 'accuracy')} right. ${error}`);
  assert.ok(parseFloat(await text(page, 'accuracy')) < 80);
  assert.match(error, /^$|learning rate was too large/);
  await page.fill('#rate', '4');
  await page.click('#reset');
  await untilText(page, 'train-status', /not trained yet/);
  await train(page);
  noProblems(page);
});

test("a visitor's digits are trained on", async () => {
  const page = await open();
  await ready(page);
  await page.click('#teach button[type=submit]');
  assert.equal(await text(page, 'teach-status'), 'Draw a digit first.');
  await draw(page, 7);
  await page.selectOption('#teach-digit', '2'); // taught wrongly, to see that it counts
  await page.click('#teach button[type=submit]');
  await untilText(page, 'teach-status', /^Added as a 2/);
  await train(page);
  await untilText(page, 'verdict', /a 2\.$/);
  await page.click('#forget');
  await untilText(page, 'teach-status', /^Forgotten/);
  await page.click('#lend');
  await untilText(page, 'verdict', /\d/);
  noProblems(page);
});

test('what is drawn and chosen while the library is loaded is not lost', async () => {
  const page = await open({}, (own) =>
    own.route('**/mxlite.wasm.gz', async (route) => {
      await own.waitForFunction(() => document.getElementById('pen').dataset.drawn, null, {timeout: LOADED});
      await route.continue();
    }),
  );
  await page.waitForSelector('#network option', {state: 'attached'});
  await page.selectOption('#network', 'linear');
  await page.locator('#pad').focus();
  for (const key of [' ', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
  await page.click('#teach button[type=submit]');
  assert.ok(await page.locator('#train-error').isHidden());
  assert.equal(await page.getAttribute('#notice', 'class'), 'notice');
  await page.evaluate(() => {
    document.getElementById('pen').dataset.drawn = 'yes';
  });
  await untilText(page, 'verdict', /guesses/);
  await untilText(page, 'train-status', /^One layer: not trained yet/);
  await untilText(page, 'teach-status', /^Added as a 0/);
  assert.ok(await page.locator('#notice').isHidden());
  noProblems(page);
});

test('the graph is walked by the keyboard', async () => {
  const page = await open();
  await ready(page);
  await tabTo(page, 'graph-picture');
  const here = () => text(page, 'graph-panel').then((all) => all.split(/operator|weights|input/)[0].trim());
  const walk = ['negative'];
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowDown', 'Home', 'ArrowDown', 'End']) {
    await page.keyboard.press(key);
    walk.push(await here());
  }
  assert.deepEqual(walk.slice(0, 6), ['negative', 'mean', 'pick', 'log_softmax', 'right digits', 'pick']);
  assert.deepEqual(walk.slice(7), ['FullyConnected', 'negative']);
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowUp');
  const panel = await text(page, 'graph-panel');
  assert.match(panel, /FullyConnected/);
  assert.match(panel, /32 × 10, float32/);
  assert.match(panel, /Bytes kept8\.19 kB|Bytes kept[\d.]+ kB/);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-current')), 'true');
  await page.selectOption('#network', 'convolution');
  await page.waitForSelector('#graph-picture [aria-label^="Convolution "]');
  await page.locator('#graph-picture [aria-label^="Convolution "]').click();
  assert.match(await text(page, 'graph-panel'), /32 × 16 × 8 × 8, float32/);
  noProblems(page);
});

test('a model is dropped, shown and run', async () => {
  const page = await open();
  await ready(page);
  await drop(page, {'digits-0000.params': MODEL['digits-0000.params']});
  assert.match(await text(page, 'model-status'), /drop its …-symbol.json too/);
  await drop(page, {'digits-symbol.json': MODEL['digits-symbol.json']});
  assert.match(await text(page, 'model-status'), /^digits is open: 4 operations, 4 arrays/);
  assert.equal(await page.inputValue('#input-0-shape'), '1, 64');
  await draw(page, 3);
  await page.selectOption('#input-0-kind', 'drawing');
  await page.click('#run button');
  await untilText(page, 'run-results', /softmax_output/);
  assert.equal(await page.locator('#run-results tbody td').first().textContent(), '3');
  await page.fill('#input-0-shape', '5, 64');
  await page.selectOption('#input-0-kind', 'random');
  await page.click('#run button');
  await untilText(page, 'run-results', /5 × 10\), first row/);
  await page.waitForSelector('#model-picture [aria-label*="5 × 10"]');
  await page.locator('#input-0-kind').selectOption('picture');
  await page.setInputFiles('#input-0-file', {
    name: 'drawn.png',
    mimeType: 'image/png',
    buffer: await page.locator('#pad').screenshot(),
  });
  await page.click('#run button');
  await untilText(page, 'model-status', /^Ran in/);
  await page.click('#model-params summary');
  assert.match(await text(page, 'model-params'), /hidden_weight64 × 64float32/);
  await page.click('#model-weights');
  assert.equal(await page.locator('#model-picture .node.weight').count(), 0);
  await drop(page, {'other-symbol.json': MODEL['digits-symbol.json']});
  assert.match(await text(page, 'model-status'), /To run it, drop its .params file too/);
  assert.ok(await page.locator('#run').isHidden());
  await drop(page, {'digits-0000.params': MODEL['digits-0000.params']});
  assert.ok(await page.locator('#run').isVisible());
  noProblems(page);
});

test('everything can be done by the keyboard', async () => {
  const page = await open();
  await ready(page);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the drawing');
  await page.keyboard.press('Enter');
  await tabTo(page, 'pad');
  await page.keyboard.press(' ');
  assert.match(await text(page, 'pen'), /^Pen down/);
  for (let i = 0; i < 14; i++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press(' ');
  await untilText(page, 'verdict', /guesses/);
  await tabTo(page, 'quick');
  await page.keyboard.press('Enter');
  await untilText(page, 'train-status', /^95 %/);
  await untilText(page, 'verdict', /a 1\.$/);
  await tabTo(page, 'rate');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await text(page, 'rate-value'), '0.05');
  await tabTo(page, 'graph-picture');
  await page.keyboard.press('ArrowUp');
  await tabTo(page, 'example');
  await page.keyboard.press('Enter');
  await untilText(page, 'model-status', /^digits is open/);
  await tabTo(page, 'model-picture');
  await page.keyboard.press('ArrowUp');
  await tabTo(page, 'input-0-kind');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await untilText(page, 'model-status', /^Ran in/);
  noProblems(page);
});

test('it is accessible, light and dark, and fits a small screen', async () => {
  for (const [name, options] of Object.entries({
    light: {},
    dark: {colorScheme: 'dark'},
    small: {viewport: {width: 360, height: 740}, hasTouch: true, deviceScaleFactor: 2, reducedMotion: 'reduce'},
  })) {
    const page = await open({...options, bypassCSP: true});
    await ready(page);
    await train(page);
    await page.click('#start');
    if (name === 'small') {
      await page.locator('#pad').scrollIntoViewIfNeeded();
      const box = await page.locator('#pad').boundingBox();
      await page.touchscreen.tap(box.x + 100, box.y + 100);
      await untilText(page, 'verdict', /\d/);
    }
    await draw(page, 3);
    await page.click('#example');
    await untilText(page, 'model-status', /is open/);
    await page.click('#run button');
    await untilText(page, 'run-results', /softmax/);
    const [wide, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= inner, `${name}: ${wide} pixels on a screen of ${inner}`);
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, `${name}.png`);
    assert.deepEqual(await accessibility(page), [], name);
    noProblems(page);
    await page.context().close();
  }
});

test('it works without a network afterwards', async () => {
  const own = await serve(),
    page = await open({url: own.url, serviceWorkers: 'allow'});
  await ready(page);
  await untilText(page, 'offline', /works without a network/);
  await page.reload();
  await ready(page);
  await own.close();
  await page.reload();
  await ready(page);
  await train(page);
  await page.click('#example');
  await untilText(page, 'model-status', /^digits is open/);
  noProblems(page);
});

/** Waits until an async function of the page returns true. */
async function until(page, fn) {
  for (let i = 0; i < 300 && !(await page.evaluate(fn)); i++) await page.waitForTimeout(100);
}

test('a new version is fetched by the next visit and shown by the one after', async () => {
  const folder = path.join(SHOTS, '..', 'web-changed');
  fs.cpSync(PAGE, folder, {recursive: true});
  const own = await serve(folder),
    page = await open({url: own.url, serviceWorkers: 'allow'});
  await ready(page);
  await untilText(page, 'offline', /works without a network/);
  for (const [name, from, to] of [
    ['index.html', '>Draw a digit<', '>Draw a number<'],
    ['sw.js', /VERSION = '\w+'/, "VERSION = 'changed'"],
  ]) {
    const file = path.join(folder, name);
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(from, to));
  }
  await page.reload();
  assert.equal(await text(page, 'draw-title'), 'Draw a digit');
  await until(page, async () => Boolean((await navigator.serviceWorker.getRegistration()).waiting));
  const context = page.context(),
    next = await context.newPage();
  await page.close();
  await next.goto('about:blank');
  await next.waitForTimeout(500);
  await next.goto(own.url);
  await until(next, async () => (await caches.keys()).length === 1);
  await next.reload(); // the new worker may have taken over while this page was being read
  assert.equal(await text(next, 'draw-title'), 'Draw a number');
  await own.close();
  fs.rmSync(folder, {recursive: true});
});
