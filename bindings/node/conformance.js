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
module.exports = function conformance(mx) {
  const made = ({dtype, shape, values}) => mx.array(numbers(values), {dtype, shape});

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

  function gradients(each, inputs) {
    const train = each.train === 1;
    for (const {input} of each.gradients) inputs[input].attachGrad();
    const outputs = mx.record(() => [mx.invoke(each.op, inputs, each.params)].flat(), {train});
    mx.backward(outputs, each.heads.map(made), {train});
    for (const gradient of each.gradients) compare(`gradient ${gradient.input}`, inputs[gradient.input].grad, gradient);
  }

  test('there are cases', () => assert.ok(cases.length > 100));
  for (const each of cases) {
    test(each.id, () => {
      const inputs = each.inputs.map(made);
      const run = () => mx.pause(() => [mx.invoke(each.op, inputs, each.params)].flat(), {train: each.train === 1});
      if (each.error) {
        assert.throws(run, (problem) => problem instanceof mx.MXNetError && problem.message === each.error);
        return;
      }
      const outputs = run();
      assert.equal(outputs.length, each.outputs.length);
      each.outputs.forEach((expected, i) => compare(`output ${i}`, outputs[i], expected));
      if (each.gradients) gradients(each, inputs);
    });
  }
};
