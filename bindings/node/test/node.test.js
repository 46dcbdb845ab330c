'use strict';
const assert = require('node:assert/strict');
const fs = require('fs');
const os = require('os');
const path = require('path');
const {test} = require('node:test');
const {Worker} = require('node:worker_threads');
const mx = require('..');
const {MXNetError} = mx;

require('../arrays.js')(mx);

test('files', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'mxlite-')), file = path.join(folder, 'a.params');
  const weight = mx.array([[1, 2]]), bias = mx.array(new Int32Array([3]));
  mx.save(file, {weight, bias});
  const read = mx.load(file);
  assert.deepEqual(Object.keys(read), ['weight', 'bias']);
  assert.deepEqual(read.bias.values(), new Int32Array([3]));
  mx.save(file, [weight]);
  assert.deepEqual(mx.load(file)[0].toArray(), [[1, 2]]);
  assert.throws(() => mx.load(path.join(folder, 'nosuch')), MXNetError);
  fs.rmSync(folder, {recursive: true});
});

test('a worker has flags of its own', async () => {
  const source = `
    const {parentPort} = require('worker_threads');
    const mx = require(${JSON.stringify(path.join(__dirname, '..'))});
    const x = mx.array([3]).attachGrad();
    mx.record(() => x.mul(x)).backward();
    parentPort.postMessage(x.grad.item());`;
  const answers = await mx.record(() => [1, 2].map(() => new Promise((resolve, reject) => {
    new Worker(source, {eval: true}).on('message', resolve).on('error', reject);
  }))).reduce(async (all, one) => [...await all, await one], Promise.resolve([]));
  assert.deepEqual(answers, [6, 6]);
});

test('operators.d.ts is what make_types.js writes', () => {
  require('node:child_process').execFileSync(process.execPath, [path.join(__dirname, '..', 'make_types.js'), '--check']);
});
