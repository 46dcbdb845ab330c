'use strict';
/* What `x.add(y)` of two 4 x 4 arrays costs, the sum disposed of. Answers each line, a number of calls, with the
 * nanoseconds of one: how benchmarks/bindings.py asks. */
const readline = require('readline');
const mx = require('..');

const [x, y] = [1, 2].map((value) => mx.array(new Float32Array(16).fill(value), {shape: [4, 4]}));
console.log(`Node.js ${process.version}`);
readline.createInterface({input: process.stdin}).on('line', (line) => {
  const count = Number(line), begin = process.hrtime.bigint();
  for (let i = 0; i < count; i++) x.add(y).dispose();
  console.log(Number(process.hrtime.bigint() - begin) / count);
});
