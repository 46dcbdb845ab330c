/* make test-wasm-bits: compares the bits of results in WebAssembly with those that Node's package gets from this
 * processor's library at its baseline level. It runs each row of cases.json, forward and backward, and functions,
 * products and convolutions of more elements than a vector, a tile or a block has. */
import {createRequire} from 'node:module';
import {packageFile} from './test/package.mjs';

const require = createRequire(import.meta.url);
const {load} = await import(packageFile('index.js')), packages = [require('../node'), await load()];
const {cases, inputsOf, outputsOf, gradientsOf} = require('../node/conformance.js');

/* These functions of float64 are the C library's, and C libraries differ in the last bits. */
const OWN = new Set(['gamma float64', 'gammaln float64']);

const random = (mx, low, high, shape, dtype = 'float32') => mx.nd._random_uniform({low, high, shape}).astype(dtype);

function runCase(mx, each) {
  const inputs = inputsOf(mx, each), outputs = outputsOf(mx, each, inputs);
  return each.gradients ? [...outputs, ...gradientsOf(mx, each, inputs)] : outputs;
}

const programs = cases.filter((each) => !each.error).map((each) => [each.id, (mx) => runCase(mx, each)]);
const OPERATORS = `exp log log2 log10 log1p expm1 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh
  sigmoid softsign erf erfinv gamma gammaln sqrt rsqrt cbrt rcbrt softmax log_softmax sum mean prod norm cumsum sort
  argsort`.split(/\s+/);
for (const op of OPERATORS) {
  for (const dtype of ['float32', 'float64']) {
    for (const [low, high] of [[-3, 3], [0.01, 0.99], [1, 100]])
      programs.push([`${op} ${dtype}`, (mx) => [mx.nd[op](random(mx, low, high, [10001], dtype))]]);
  }
}
for (const dtype of ['float32', 'float64']) {
  for (const [m, k, n] of [[7, 9, 11], [64, 64, 64], [33, 500, 129]]) {
    programs.push([`dot ${dtype}`, (mx) => [mx.nd.dot(random(mx, -1, 1, [m, k], dtype),
      random(mx, -1, 1, [k, n], dtype))]]);
  }
  for (const kernel of [[1, 1], [3, 3], [5, 5]]) {
    programs.push([`Convolution ${dtype}`, (mx) => [mx.nd.Convolution(random(mx, -1, 1, [2, 8, 30, 30], dtype),
      random(mx, -1, 1, [16, 8, ...kernel], dtype), {kernel, num_filter: 16, no_bias: true})]]);
  }
}

const same = (a, b) => {
  const [x, y] = [a, b].map((array) => array.values());
  const [one, two] = [x, y].map(({buffer, byteOffset, byteLength}) => Buffer.from(buffer, byteOffset, byteLength));
  return one.equals(two);
};
const differ = new Set();
for (const [name, program] of programs) {
  const [here, there] = packages.map((mx) => {
    mx.seed(7);
    return program(mx);
  });
  if (!here.every((array, i) => same(array, there[i]))) differ.add(name);
}
const wrong = [...differ].filter((name) => !OWN.has(name));
console.log(`bits: ${programs.length} programs, ${differ.size} names differ: ${[...differ].join(', ')}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
