/* What goes wrong in the page is one line, and nothing is lost: the training goes on, the shown model stays. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {gunzipSync, gzipSync} from 'node:zlib';
import {draw, drop, LOADED, MODEL, noProblems, open, PACKAGE, PAGE, ready, text, train, untilText} from './kit.mjs';

const {load} = await import(path.resolve(PACKAGE, 'index.js'));
const mx = await load(),
  symbol = MODEL['digits-symbol.json'].toString(),
  params = MODEL['digits-0000.params'];

/** The bytes of a .params file of arrays. */
function saved(arrays) {
  mx.save('x.params', arrays);
  return Buffer.from(mx.files.read('x.params'));
}
function without(name) {
  const {[name]: gone, ...rest} = Object.fromEntries(
    Object.entries(mx.load(params)).map(([key, value]) => [key.replace('arg:', ''), value]),
  );
  assert.ok(gone);
  return rest;
}

/** One line in the place for errors of models, which matches. */
async function complains(page, pattern) {
  await page.waitForSelector('#model-error:not([hidden])', {timeout: LOADED});
  const line = await text(page, 'model-error');
  assert.match(line, pattern);
  assert.ok(!line.includes('\n') && line.length < 260, line);
}

test('files that are no model, damaged or do not fit', async () => {
  const page = await open();
  await ready(page);
  await page.click('#start');
  await drop(page, MODEL);
  assert.match(await text(page, 'model-status'), /^digits is open/);
  const passes = () => text(page, 'passes').then(Number);
  const cases = {
    'a picture': [{'cat.png': Buffer.from([137, 80, 78, 71])}, /cat\.png is not a file of a model/],
    'JSON cut short': [{'a-symbol.json': symbol.slice(0, 300)}, /a-symbol\.json is damaged: it is not JSON/],
    'other JSON': [{'package.json': '{"name": "x"}'}, /package\.json is not a network/],
    'an empty file': [{'a-symbol.json': ''}, /a-symbol\.json is empty/],
    'two networks': [{'a-symbol.json': symbol, 'b-symbol.json': symbol}, /two \.json files/],
    'params cut short': [
      {'digits-symbol.json': symbol, 'digits-0000.params': params.subarray(0, 5000)},
      /cannot be used: \S/,
    ],
    'params of zeros': [
      {'digits-0000.params': Buffer.alloc(100)},
      /digits-0000\.params cannot be used: .*not a file of arrays/,
    ],
    'params without names': [{'digits-0000.params': saved(Object.values(mx.load(params)))}, /have no names/],
    'params that lack a name': [
      {'digits-0000.params': saved(without('digit_bias'))},
      /the parameters lack 'digit_bias'/,
    ],
    'params of another network': [
      {'digits-0000.params': saved({other: mx.array([1])})},
      /none of the parameters is an argument/,
    ],
    'an operator that is not there': [
      {'a-symbol.json': symbol.replace('"FullyConnected"', '"FlyingCarpet"')},
      /operator FlyingCarpet is not registered/,
    ],
    'an edge to nowhere': [{'a-symbol.json': symbol.replace('[[3, 0, 0]]', '[[99, 0, 0]]')}, /cannot be used: \S/],
    'params that do not fit': [
      {'digits-0000.params': saved({...without('hidden_weight'), hidden_weight: mx.nd._zeros({shape: [3, 64]})})},
      /hidden.*cannot be used|cannot be used: .*hidden/,
    ],
  };
  for (const [name, [files, pattern]] of Object.entries(cases)) {
    const before = await passes();
    await drop(page, files);
    await complains(page, pattern).catch((problem) => {
      throw new Error(`${name}: ${problem.message}`, {cause: problem});
    });
    assert.match(await text(page, 'model-status'), /^Still shown: digits\./, name);
    assert.equal(await text(page, 'model-name'), 'digits', name);
    if ((await text(page, 'start')) === 'Go on training') await page.click('#start');
    await page.waitForFunction((least) => Number(document.getElementById('passes').textContent) > least, before, {
      timeout: LOADED,
    });
  }
  await page.click('#run button');
  await untilText(page, 'model-status', /^Ran in/); // the model before still runs
  for (const [shape, pattern] of [
    ['1, 63', /axis 1 of weight/],
    ['1, y', /a shape is a list of whole numbers/],
    ['', /a shape is a list/],
    ['1, -64', /a shape is a list/],
    ['900000000, 64', /too many elements|out of memory/],
  ]) {
    await page.fill('#input-0-shape', shape);
    await page.click('#run button');
    await complains(page, pattern);
  }
  await page.fill('#input-0-shape', '1, 64');
  await page.selectOption('#input-0-kind', 'picture');
  await page.click('#run button');
  await complains(page, /choose a picture first/);
  await page.setInputFiles('#input-0-file', {
    name: 'broken.png',
    mimeType: 'image/png',
    buffer: Buffer.from('no picture'),
  });
  await page.click('#run button');
  await complains(page, /broken\.png is not a picture/);
  await page.selectOption('#input-0-kind', 'random');
  await page.click('#run button');
  await untilText(page, 'model-status', /^Ran in/);
  assert.ok(await page.locator('#model-error').isHidden());
  noProblems(page);
});

/** The module with a memory of at most 64 MB. */
function smallModule() {
  const bytes = gunzipSync(fs.readFileSync(path.join(PAGE, 'mxlite/mxlite.wasm.gz'))),
    number = (at) => {
      let value = 0,
        shift = 0,
        byte = 0;
      do {
        byte = bytes[at++];
        value += (byte & 127) * 2 ** shift;
        shift += 7;
      } while (byte & 128);
      return [value, at];
    };
  const written = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...written(value >> 7)]);
  for (let at = 8; at < bytes.length;) {
    const kind = bytes[at],
      [size, begin] = number(at + 1);
    if (kind === 5) {
      const [least] = number(begin + 2),
        body = Buffer.from([1, 1, ...written(least), ...written(1024)]);
      return gzipSync(
        Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from([5, ...written(body.length)]),
          body,
          bytes.subarray(begin + size),
        ]),
        {level: 1},
      );
    }
    at = begin + size;
  }
  throw new Error('the module has no memory');
}

test('memory that runs out', async () => {
  const body = smallModule(),
    page = await open({}, (own) =>
      own.route('**/mxlite.wasm.gz', (route) => route.fulfill({body})),
    );
  await ready(page);
  await drop(page, MODEL);
  await page.fill('#input-0-shape', '1000000, 64');
  await page.click('#run button');
  await complains(page, /out of memory/);
  await page.fill('#input-0-shape', '1, 64');
  await page.click('#run button');
  await untilText(page, 'model-status', /^Ran in/);
  await train(page);
  noProblems(page);
});

/** The notice at the top of the page. */
async function says(page, pattern) {
  await page.waitForFunction(
    (source) => new RegExp(source).test(document.getElementById('notice').textContent),
    pattern.source,
    {timeout: LOADED},
  );
  const line = await text(page, 'notice');
  assert.ok(!line.includes('\n'), line);
  await page.locator('#notice').isVisible();
}

test('browsers without vectors, without workers', async () => {
  const blind = await open({}, (page) =>
    page.route(/_worker\.js$/, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({response: answer, body: `WebAssembly.validate = () => false;\n${await answer.text()}`});
    }),
  );
  await says(blind, /^[Tt]his browser has no WebAssembly with vectors \(SIMD\)/);
  noProblems(blind);
  const alone = await open({}, (page) =>
    page.addInitScript(() => {
      delete globalThis.Worker;
    }),
  );
  await says(alone, /no background workers/);
  await alone.click('#example');
  await complains(alone, /no background workers/);
  noProblems(alone);
});

test('files of the page that are missing or damaged', async () => {
  const lost = [
    [/train_worker\.js$/, (route) => route.abort(), /could not be started/],
    [/digits\.u8$/, (route) => route.fulfill({body: 'short'}), /digits\.u8 is damaged/],
    [/digits\.u8$/, (route) => route.fulfill({status: 404}), /digits\.u8 cannot be had: 404/],
    [/wasm\.gz$/, (route) => route.fulfill({body: 'no module'}), /not the module/],
    [
      /wasm\.gz$/,
      (route) => route.fulfill({body: fs.readFileSync(path.join(PAGE, 'mxlite/mxlite.wasm.gz')).subarray(0, 90000)}),
      /compressed module is damaged/,
    ],
  ];
  for (const [which, answer, pattern] of lost) {
    const page = await open({}, (own) => own.route(which, answer));
    await says(page, pattern);
    await page.context().close();
  }
});

test('a worker that fails is started again', async () => {
  const page = await open({}, (own) =>
    own.route(/_worker\.js$/, async (route) => {
      const answer = await route.fetch();
      const fails = `addEventListener('message', ({data}) => {
          if (data.name === 'run' && data.given[0].data.shape[0] === 13) throw new Error('hard luck');
          if (data.name === 'add') throw new Error('bad luck');
        });`;
      await route.fulfill({response: answer, body: `${fails}\n${await answer.text()}`});
    }),
  );
  await ready(page);
  await drop(page, MODEL);
  await page.fill('#input-0-shape', '13, 64');
  await page.click('#run button');
  await complains(page, /hard luck/);
  await page.fill('#input-0-shape', '1, 64');
  await page.click('#run button');
  await untilText(page, 'model-status', /^Ran in/);
  await draw(page, 1);
  await page.click('#teach button[type=submit]');
  await untilText(page, 'train-error', /begins anew: .*bad luck/);
  assert.match(await text(page, 'teach-status'), /^Not added: .*bad luck/);
  await train(page);
  await page.click('#teach button[type=submit]');
  await untilText(page, 'train-error', /begins anew: .*bad luck/);
  await page.click('#teach button[type=submit]'); // it is not started a fourth time
  await untilText(page, 'train-error', /^The training stopped: .*bad luck/);
  assert.equal(await text(page, 'train-status'), 'Stopped.');
  await page.click('#start');
  await untilText(page, 'train-error', /^There is no network: load the page again\.$/);
  noProblems(page);
});

test('a loss that is no number stops the training, which can begin anew', async () => {
  const page = await open({}, (own) =>
    own.route(/train_worker\.js$/, async (route) => {
      const answer = await route.fetch(),
        fails = 'const {isFinite} = Number; let steps = 0; Number.isFinite = (x) => ++steps !== 20 && isFinite(x);';
      await route.fulfill({response: answer, body: `${fails}\n${await answer.text()}`});
    }),
  );
  await ready(page);
  await page.click('#start');
  await untilText(page, 'train-error', /learning rate was too large\. Choose a smaller one, then Reset\./);
  assert.equal(await text(page, 'train-status'), 'Stopped.');
  assert.equal(await text(page, 'start'), 'Go on training');
  await page.click('#reset');
  await untilText(page, 'train-status', /not trained yet/);
  assert.ok(await page.locator('#train-error').isHidden());
  await train(page);
  noProblems(page);
});
