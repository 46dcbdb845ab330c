/* What is WebAssembly's alone, and the tests of arrays and graphs that Node's package has too. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import {createRequire} from 'node:module';
import {test} from 'node:test';
import {fileURLToPath} from 'node:url';
import zlib from 'node:zlib';
import {packageFile} from './package.mjs';

const {load} = await import(packageFile('index.js'));
const mx = await load(), {nd, MXNetError} = mx, file = fileURLToPath(packageFile('mxlite.wasm'));
createRequire(import.meta.url)('../../node/arrays.js')(mx);

test('a module is loaded from bytes, compressed bytes, a compiled module', async () => {
  const bytes = fs.readFileSync(file);
  for (const source of [bytes, zlib.gzipSync(bytes), new WebAssembly.Module(bytes)]) {
    const other = await load(source);
    assert.equal(other.nd.sum(other.array([1, 2])).item(), 3);
    assert.notEqual(other.NDArray, mx.NDArray);
  }
});

test('what is no module is an error of one line', async () => {
  for (const source of [new Uint8Array(10), fs.readFileSync(file).subarray(0, 1000), zlib.gzipSync('x')])
    await assert.rejects(load(source), /^Error: mxlite: this is not the module mxlite.wasm: [^\n]*$/);
  await assert.rejects(load(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)), /^Error: mxlite: the module has no MXGetLastError$/);
  await assert.rejects(load('file:///nosuch.wasm'), /nosuch/);
  await assert.rejects(load(zlib.gzipSync(fs.readFileSync(file)).subarray(0, 1000)), /mxlite.*compressed/);
});

test('without vectors the error says so', async () => {
  const {validate} = WebAssembly;
  WebAssembly.validate = () => false;
  try {
    await assert.rejects(load(), /no WebAssembly with vectors/);
  } finally {
    WebAssembly.validate = validate;
  }
});

test('files are in memory', () => {
  const weight = mx.array([[1, 2]]), bias = mx.array(new Int32Array([3]));
  mx.save('a.params', {weight, bias});
  const bytes = mx.files.read('a.params'), read = mx.load(bytes);
  assert.deepEqual(Object.keys(read), ['weight', 'bias']);
  assert.deepEqual(read.bias.values(), new Int32Array([3]));
  mx.files.write('/b.params', bytes);
  assert.deepEqual(mx.load('b.params').weight.toArray(), [[1, 2]]);
  assert.deepEqual(mx.files.list(), ['a.params', 'b.params']);
  mx.save('b.params', [bias]);
  assert.deepEqual(mx.load('b.params')[0].values(), new Int32Array([3]));
  assert.ok(mx.files.remove('a.params') && mx.files.remove('b.params') && !mx.files.remove('b.params'));
  assert.throws(() => mx.load('a.params'), /a.params: cannot be opened/);
  assert.throws(() => mx.files.read('a.params'), /no file/);
  for (const size of [0, 1, 9, 40, bytes.length - 1]) assert.throws(() => mx.load(bytes.subarray(0, size)), MXNetError);
});

test('memory that runs out is an error, and comes back', async () => {
  const own = await load(), before = own.liveHandles();
  const fill = () => Array.from({length: 20}, () => own.nd._zeros({shape: [100, 1000, 1000]}));
  assert.throws(() => own.scope(fill), /out of memory/);
  assert.equal(own.liveHandles(), before);
  assert.equal(own.nd.sum(own.nd._ones({shape: [1000]})).item(), 1000);
  assert.throws(() => own.nd._zeros({shape: [100000, 100000]}), /too many elements/);
});

test('long runs need no more memory', () => {
  const w = mx.array([[0.1, 0.2], [0.3, 0.4]]).attachGrad();
  const step = () => mx.scope(() => {
    mx.record(() => nd.sum(nd.tanh(nd.dot(w, w)))).backward();
    nd.sgd_update(w, w.grad, {lr: 0.01, out: w});
  });
  for (let i = 0; i < 100; i++) step();
  const before = mx.memoryBytes(), handles = mx.liveHandles();
  for (let i = 0; i < 3000; i++) step();
  assert.equal(mx.memoryBytes(), before);
  assert.equal(mx.liveHandles(), handles);
});

test('arguments larger than the stack', () => {
  const many = Array.from({length: 5000}, (_, i) => mx.array([i]));
  assert.equal(nd.add_n(many).item(), 5000 * 4999 / 2);
  assert.throws(() => nd.sum(many[0], {axis: 'x'.repeat(100000)}), MXNetError);
  mx.save('many.params', Object.fromEntries(Array.from({length: 70000}, (_, i) => [`a${i}`, many[i % 5000]])));
  assert.equal(mx.load('many.params').a69999.item(), 4999);
  mx.files.remove('many.params');
});
