'use strict';
/* Every case of bindings/cases.json, each a test of its own, for a package `mx`. The format: bindings/README.md. */
const assert = require('node:assert/strict');
const fs = require('fs');
const path = require('path');
const {test} = require('node:test');

const file = process.env.MXLITE_CASES || path.join(__dirname, '..', 'cases.json');
const {cases} = JSON.parse(fs.readFileSync(file, 'utf8'));
const SPECIAL = {nan: NaN, inf: Infinity, '-inf': -Infinity};

const numbers = (values) => values.map((value) => (typeof value === 'string' ? SPECIAL[value] : value));
const made = (mx, {dtype, shape, values}) => mx.array(numbers(values), {dtype, shape});
const inputsOf = (mx, each) => each.inputs.map((input) => made(mx, input));

/** The outputs of a case. */
function outputsOf(mx, each, inputs) {
  return mx.pause(() => [mx.invoke(each.op, inputs, each.params)].flat(), {train: each.train === 1});
}

/** The gradients of a case, in the order of its list `gradients`. */
function gradientsOf(mx, each, inputs) {
  const train = each.train === 1, wanted = each.gradients.map(({input}) => inputs[input].attachGrad());
  const outputs = mx.record(() => [mx.invoke(each.op, inputs, each.params)].flat(), {train});
  mx.backward(outputs, each.heads.map((head) => made(mx, head)), {train});
  return wanted.map((input) => input.grad);
}

function compare(what, array, {dtype, shape, values, rtol, atol}) {
  assert.equal(array.dtype, dtype, `${what}: dtype`);
  assert.deepEqual(array.shape, shape, `${what}: shape`);
  const got = array.values();
  numbers(values).forEach((expected, i) => {
    const value = Number(got[i]);
    const same = Number.isFinite(expected) ? Math.abs(value - expected) <= atol + rtol * Math.abs(expected)
      : Object.is(value, expected);
    assert.ok(same, `${what}: element ${i} is ${value}, expected ${expected}`);
  });
}

function conformance(mx) {
  test('there are cases', () => assert.ok(cases.length > 100));
  for (const each of cases) {
    test(each.id, () => {
      const inputs = inputsOf(mx, each);
      if (each.error) {
        assert.throws(() => outputsOf(mx, each, inputs),
          (problem) => problem instanceof mx.MXNetError && problem.message === each.error);
        return;
      }
      const outputs = outputsOf(mx, each, inputs);
      assert.equal(outputs.length, each.outputs.length);
      each.outputs.forEach((expected, i) => compare(`output ${i}`, outputs[i], expected));
      if (!each.gradients) return;
      const gradients = gradientsOf(mx, each, inputs);
      each.gradients.forEach((expected, i) => compare(`gradient ${expected.input}`, gradients[i], expected));
    });
  }
}

module.exports = {cases, inputsOf, outputsOf, gradientsOf, conformance};
