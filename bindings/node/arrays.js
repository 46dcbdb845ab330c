'use strict';
/* Tests of front.js and graphs.js for a package `mx`, here and in WebAssembly. */
const assert = require('node:assert/strict');
const {test} = require('node:test');

module.exports = function arrays(mx) {
  const {nd, NDArray, MXNetError} = mx;

  test('an array holds what it is made of', () => {
    const x = mx.array([[1, 2, 3], [4, 5, 6]]);
    assert.deepEqual(x.shape, [2, 3]);
    assert.equal(x.dtype, 'float32');
    assert.deepEqual(x.toArray(), [[1, 2, 3], [4, 5, 6]]);
    assert.deepEqual(mx.array(7).toArray(), [7]);
  });

  for (const [dtype, made] of [['float64', new Float64Array([0.1, -2])], ['int32', new Int32Array([1, -2])],
    ['uint8', new Uint8Array([0, 255])], ['int8', new Int8Array([-128, 127])],
    ['int64', new BigInt64Array([1n << 40n, -1n])]]) {
    test(`typed arrays of ${dtype} go in and out`, () => {
      const x = mx.array(made);
      assert.equal(x.dtype, dtype);
      assert.deepEqual(x.values(), made);
    });
  }

  test('float16 is made and read through float32', () => {
    const x = mx.array([0.5, 1.25], {dtype: 'float16'});
    assert.equal(x.dtype, 'float16');
    assert.deepEqual(x.toArray(), [0.5, 1.25]);
  });

  test('ragged rows, unknown dtypes and wrong sizes are errors', () => {
    assert.throws(() => mx.array([[1], [2, 3]]), /rows differ/);
    assert.throws(() => mx.array([1], {dtype: 'complex'}), /unknown dtype/);
    assert.throws(() => mx.array([1, 2, 3], {shape: [2]}), /3 values for 2 elements/);
    assert.throws(() => mx.array([]), /without elements/);
    assert.throws(() => mx.array([1, 2]).item(), /2 elements/);
  });

  test('operators take arrays, then parameters by name', () => {
    const x = mx.array([[1, 2], [3, 4]]);
    assert.deepEqual(nd.sum(x, {axis: 1}).toArray(), [3, 7]);
    assert.deepEqual(nd.transpose(x).toArray(), [[1, 3], [2, 4]]);
    assert.deepEqual(nd.dot(x, x, {transpose_b: true}).toArray(), [[5, 11], [11, 25]]);
    assert.deepEqual(nd.concat(x, x, {dim: 0}).shape, [4, 2]);
    assert.deepEqual(nd.clip(x, {a_min: 2, a_max: 3}).toArray(), [[2, 2], [3, 3]]);
  });

  test('inputs may stand by name, outputs may be given', () => {
    const x = mx.array([1, 2]), out = mx.array([0, 0]);
    assert.deepEqual(nd.exp({data: x}).values(), nd.exp(x).values());
    assert.equal(nd.broadcast_add(x, x, {out}), out);
    assert.deepEqual(out.toArray(), [2, 4]);
  });

  test('several outputs come as a list', () => {
    const parts = nd.split(mx.array([[1, 2], [3, 4]]), {num_outputs: 2, axis: 0});
    assert.deepEqual(parts.map((part) => part.toArray()), [[[1, 2]], [[3, 4]]]);
  });

  test('arithmetic of arrays and numbers', () => {
    const x = mx.array([1, 2]), y = mx.array([3, 4]);
    assert.deepEqual(x.add(y).toArray(), [4, 6]);
    assert.deepEqual(x.sub(1).toArray(), [0, 1]);
    assert.deepEqual(x.mul(y).toArray(), [3, 8]);
    assert.deepEqual(y.div(2).toArray(), [1.5, 2]);
    assert.deepEqual(x.rsub(5).toArray(), [4, 3]);
    assert.deepEqual(x.rdiv(2).toArray(), [2, 1]);
    assert.deepEqual(x.pow(2).toArray(), [1, 4]);
    assert.throws(() => x.add('1'), TypeError);
  });

  test('views share memory', () => {
    const x = mx.array([[1, 2], [3, 4]]), row = x.slice(1, 2);
    row.set([7, 8]);
    assert.deepEqual(x.toArray(), [[1, 2], [7, 8]]);
    assert.deepEqual(x.reshape(4).toArray(), [1, 2, 7, 8]);
    assert.throws(() => x.slice(1, 5), MXNetError);
    assert.throws(() => x.reshape(3), MXNetError);
  });

  test("errors carry the library's message", () => {
    const x = mx.array([[1, 2]]);
    assert.throws(() => nd.dot(x, x), (error) => error instanceof MXNetError && /^dot: /.test(error.message));
    assert.throws(() => mx.invoke('nosuch', [x]), MXNetError);
    assert.throws(() => nd.sum(x, {axes: 1}), /axes/);
    assert.throws(() => nd.exp(3), /inputs are NDArrays|takes 1 input/);
    assert.deepEqual(x.toArray(), [[1, 2]]);
  });

  test('gradients of a recorded value', () => {
    const x = mx.array([1, 2, 3]).attachGrad();
    mx.record(() => nd.sum(x.mul(x))).backward();
    assert.deepEqual(x.grad.toArray(), [2, 4, 6]);
  });

  test('requests: add adds, null wants nothing', () => {
    const x = mx.array([1]).attachGrad('add');
    for (let i = 0; i < 2; i++) mx.record(() => x.mul(3)).backward();
    assert.deepEqual(x.grad.toArray(), [6]);
    assert.throws(() => x.attachGrad('often'), TypeError);
    x.attachGrad('null');
    assert.throws(() => mx.record(() => x.mul(3)).backward(), MXNetError);
  });

  test('head gradients, kept graphs', () => {
    const x = mx.array([1, 2]).attachGrad(), y = mx.record(() => x.mul(x));
    y.backward(mx.array([1, 10]), {retainGraph: true});
    assert.deepEqual(x.grad.toArray(), [2, 40]);
    y.backward();
    assert.throws(() => y.backward(), /released/);
    assert.throws(() => mx.backward([y], [null, null]), RangeError);
  });

  test('third derivatives', () => {
    const x = mx.array([2]).attachGrad();
    const third = mx.record(() => {
      const [first] = mx.grad(x.pow(4), x, {createGraph: true});
      const [second] = mx.grad(first, x, {createGraph: true});
      return mx.grad(second, x)[0];
    });
    assert.deepEqual(third.toArray(), [48]);
  });

  test('flags are put back, also by an error', () => {
    const x = mx.array([1]).attachGrad();
    assert.throws(() => mx.record(() => { throw new Error('mine'); }), /mine/);
    assert.throws(() => x.mul(2).backward(), MXNetError);
    assert.throws(() => mx.record(() => mx.pause(() => x.mul(2))).backward(), MXNetError);
    assert.throws(() => mx.record(async () => 1), /must not be async/);
  });

  test('dispose frees, once; using a freed array is an error', () => {
    const before = mx.liveHandles(), x = mx.array([1, 2]);
    assert.equal(mx.liveHandles(), before + 1);
    x.dispose();
    x.dispose();
    assert.equal(mx.liveHandles(), before);
    assert.throws(() => x.shape, /disposed/);
    assert.throws(() => nd.exp(x), /disposed/);
  });

  test('the collector frees what is not disposed of', async () => {
    const before = mx.liveHandles();
    (() => { for (let i = 0; i < 2000; i++) mx.array([i]); })();
    for (let i = 0; i < 50 && mx.liveHandles() > before + 100; i++) {
      global.gc();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(mx.liveHandles() <= before + 100, `${mx.liveHandles() - before} arrays are left of 2000`);
  });

  test('a view keeps its memory when the array goes', () => {
    const x = mx.array([[1, 2], [3, 4]]), row = x.slice(0, 1);
    x.dispose();
    assert.deepEqual(row.toArray(), [[1, 2]]);
  });

  test('the same seed gives the same numbers', () => {
    mx.seed(7);
    const first = nd._random_uniform({shape: [4]}).toArray();
    mx.seed(7);
    assert.deepEqual(nd._random_uniform({shape: [4]}).toArray(), first);
  });

  test('introspection says what an operator takes', () => {
    const about = mx.describe('FullyConnected');
    assert.deepEqual(about.inputs.map(({name}) => name), ['data', 'weight', 'bias']);
    assert.ok(about.params.some(({name, type}) => name === 'num_hidden' && /required/.test(type)));
    assert.ok(mx.operatorNames().length > 300);
  });

  test('NDArray refuses what is no handle', () => {
    assert.throws(() => new NDArray(0), MXNetError);
  });

  test('scope frees what a function makes, but not its result', () => {
    const before = mx.liveHandles(), x = mx.array([1, 2]);
    const kept = mx.scope(() => {
      mx.scope(() => x.mul(2).add(1));
      return {sum: x.add(1), list: [x.mul(3).add(x)]};
    });
    assert.equal(mx.liveHandles(), before + 3);
    assert.deepEqual(kept.sum.toArray(), [2, 3]);
    assert.deepEqual(kept.list[0].toArray(), [4, 8]);
    assert.throws(() => mx.scope(() => { x.add(1); throw new Error('mine'); }), /mine/);
    assert.throws(() => mx.scope(async () => 1), /must not be async/);
    assert.equal(mx.liveHandles(), before + 3);
  });

  test('scope keeps what an object in the result holds', () => {
    const before = mx.liveHandles(), holder = {self: null};
    class Layer { constructor() { this.weight = mx.array([1, 2]).add(1); } }
    const [layer, empty] = mx.scope(() => [new Layer(), Object.assign(holder, {self: holder}), null]);
    assert.deepEqual(layer.weight.toArray(), [2, 3]);
    assert.equal(empty, holder);
    layer.weight.dispose();
    assert.equal(mx.liveHandles(), before);
  });

  test('attachGrad leaves no arrays behind', () => {
    const x = mx.array([1, 2]), before = mx.liveHandles();
    x.attachGrad();
    assert.equal(mx.liveHandles(), before);
    assert.deepEqual(x.grad.toArray(), [0, 0]);
  });

  test('the recorded graph', () => {
    const before = mx.liveHandles(), w = mx.array([[1, 2]]).attachGrad(), x = mx.array([[3, 4]]);
    const y = mx.record(() => nd.sum(nd.tanh(w.mul(x)), {axis: 1}).add(w.slice(0, 1)));
    const made = mx.liveHandles(), nodes = mx.graph(y, {w});
    assert.equal(mx.liveHandles(), made);
    const [leaf, product, tanh, sum] = nodes;
    assert.deepEqual([leaf.operator, leaf.variable, leaf.inputs], [null, 'w', []]);
    assert.deepEqual([product.operator, product.inputs], ['broadcast_mul', [{node: 0, output: 0}, null]]);
    assert.deepEqual(tanh.saved, [{of: 'output', index: 0, bytes: 8, shape: [1, 2], dtype: 'float32'}]);
    assert.deepEqual([sum.operator, sum.params.axis, sum.outputs], ['sum', '(1,)', [{shape: [1], dtype: 'float32'}]]);
    assert.equal(nodes.at(-1).released, false);
    y.backward();
    assert.equal(mx.graph(y).at(-1).released, true);
    assert.deepEqual(mx.graph(x), []);
    for (const each of [w, x, y]) each.dispose();
    assert.ok(mx.liveHandles() >= before);
  });

  test('a deep graph', () => {
    const x = mx.array([1]).attachGrad();
    const y = mx.record(() => { let value = x; for (let i = 0; i < 2000; i++) value = value.add(1); return value; });
    assert.equal(mx.graph(y).length, 2001);
  });

  const SYMBOL = JSON.stringify({
    nodes: [
      {op: 'null', name: 'data', inputs: []}, {op: 'null', name: 'fc_weight', inputs: []},
      {op: 'null', name: 'fc_bias', inputs: []},
      {op: 'FullyConnected', name: 'fc', attrs: {num_hidden: '2'}, inputs: [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
      {op: 'null', name: 'softmax_label', inputs: []},
      {op: 'SoftmaxOutput', name: 'softmax', inputs: [[3, 0, 0], [4, 0, 0]]},
    ],
    arg_nodes: [0, 1, 2, 4], node_row_ptr: [0, 1, 2, 3, 4, 5, 6], heads: [[5, 0, 0]],
    attrs: {mxnet_version: ['int', 10901]},
  });
  const parameters = () => ({'arg:fc_weight': mx.array([[1, 0, 0], [0, 1, 0]]), 'arg:fc_bias': mx.array([0, 0])});

  test('a saved network', () => {
    const before = mx.liveHandles(), model = new mx.Model(SYMBOL, parameters()), x = mx.array([[1, 1, 5]]);
    assert.deepEqual(model.inputs, ['data', 'softmax_label']);
    assert.deepEqual(model.outputs, ['softmax_output']);
    const y = model.forward({data: x});
    assert.deepEqual(y.toArray(), [[0.5, 0.5]]);
    const nodes = model.nodes({data: [4, 3]});
    assert.deepEqual(nodes.map(({name, shapes}) => [name, shapes[0]]), [['data', [4, 3]], ['fc_weight', [2, 3]],
      ['fc_bias', [2]], ['fc', [4, 2]], ['softmax_label', [4]], ['softmax', [4, 2]]]);
    assert.deepEqual(nodes[3].inputs, [[0, 0], [1, 0], [2, 0]]);
    assert.equal(JSON.parse(model.toJSON()).nodes.length, 6);
    model.dispose();
    model.dispose();
    assert.throws(() => model.forward({data: x}), /disposed/);
    x.dispose();
    y.dispose();
    assert.equal(mx.liveHandles(), before);
  });

  test('a saved network is recorded', () => {
    const model = new mx.Model(SYMBOL, parameters()), w = model.params.fc_weight.attachGrad();
    mx.record(() => model.forward({data: mx.array([[1, 1, 5]]), softmax_label: mx.array([0])})).backward();
    assert.deepEqual(w.grad.toArray(), [[-0.5, -0.5, -2.5], [0.5, 0.5, 2.5]]);
    model.dispose();
  });

  test('a saved network that a scope returns', () => {
    const before = mx.liveHandles();
    const model = mx.scope(() => new mx.Model(SYMBOL, {...parameters(), other: mx.array([1])}));
    assert.equal(mx.scope(() => model.forward({data: mx.array([[1, 1, 5]])}).shape).length, 2);
    model.dispose();
    assert.equal(mx.liveHandles(), before);
  });

  test('damaged networks and wrong inputs are errors', () => {
    const before = mx.liveHandles();
    const damaged = [
      '{', '{"nodes": 1}', SYMBOL.replace('FullyConnected', 'NoSuch'), SYMBOL.slice(0, 200), 'nosuch.json', '',
    ];
    for (const text of damaged)
      assert.throws(() => new mx.Model(text, {}), MXNetError);
    assert.throws(() => new mx.Model(SYMBOL, new Uint8Array(20)), MXNetError);
    assert.throws(() => new mx.Model(SYMBOL, {other: mx.array([1])}), /none of the parameters/);
    const model = new mx.Model(SYMBOL, parameters());
    assert.throws(() => model.forward({}), /input 'data' is missing/);
    assert.throws(() => model.forward({image: mx.array([1])}), /'image' is no input of/);
    assert.throws(() => model.forward({data: [[1, 2, 3]]}), /'data' is no NDArray/);
    assert.throws(() => model.forward({data: mx.array([[1, 2]])}), MXNetError);
    assert.throws(() => model.nodes({data: [4, 2]}), MXNetError);
    assert.deepEqual(model.nodes()[3].shapes, [null]);
    model.dispose();
    assert.ok(mx.liveHandles() <= before + 4);
  });
};
