/* The layout of graphs, and the data's reader: no browser. */
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {readDigits} from '../../examples/web/digits.js';
import {layout} from '../../examples/web/layout.js';

const box = (inputs, width = 60) => ({width, height: 40, inputs});

/** No two boxes of a layer touch; edges go down, from their box to their box. */
function check(nodes) {
  const made = layout(nodes);
  assert.equal(made.places.length, nodes.length);
  for (const row of made.layers) {
    for (let i = 1; i < row.length; i++) {
      const [a, b] = [row[i - 1], row[i]],
        gap = made.places[b].x - made.places[a].x - (nodes[a].width + nodes[b].width) / 2;
      assert.ok(gap > 0, `${a} and ${b} overlap`);
    }
  }
  for (const {from, to, points} of made.edges) {
    assert.deepEqual(points[0], [made.places[from].x, made.places[from].y + nodes[from].height / 2]);
    assert.deepEqual(points.at(-1), [made.places[to].x, made.places[to].y - nodes[to].height / 2]);
    for (let i = 1; i < points.length; i++) assert.ok(points[i][1] > points[i - 1][1]);
  }
  made.places.forEach(({x, y}, i) => {
    assert.ok(x >= nodes[i].width / 2 - 1e-6 && x <= made.width - nodes[i].width / 2 + 1e-6);
    assert.ok(y >= 20 && y <= made.height - 20);
  });
  assert.deepEqual(layout(nodes), made);
  return made;
}

test('nothing, one box, a chain, an input twice', () => {
  assert.deepEqual(check([]).places, []);
  assert.deepEqual(check([box([])]).places, [{x: 30, y: 20, layer: 0}]);
  const chain = check([box([]), box([0]), box([1]), box([2], 200)]);
  assert.equal(new Set(chain.places.map(({x}) => Math.round(x))).size, 1);
  assert.equal(check([box([]), box([0, 0])]).edges.length, 1);
});

test('what reads nothing stands just above its first reader; the steps make a straight line', () => {
  // data, w0, layer, w1, layer, w2, layer
  const {places} = check([box([]), box([]), box([0, 1]), box([]), box([2, 3]), box([]), box([4, 5])]);
  assert.deepEqual(
    places.map(({layer}) => layer),
    [0, 0, 1, 1, 2, 2, 3],
  );
  assert.ok(Math.abs(places[2].x - places[4].x) < 3 && Math.abs(places[4].x - places[6].x) < 3);
});

test('edges over several layers keep clear of the boxes between', () => {
  const nodes = [box([]), box([0]), box([1]), box([2]), box([3, 0])],
    made = check(nodes);
  const long = made.edges.find(({from, to}) => from === 0 && to === 4);
  assert.equal(long.points.length, 5);
  for (const [x] of long.points.slice(1, -1)) assert.ok(Math.abs(x - made.places[2].x) > 30);
});

test('random graphs', () => {
  let seed = 7;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (const size of [2, 5, 65, 300]) {
    const nodes = Array.from({length: size}, (_, i) =>
      box(i === 0 ? [] : Array.from({length: random(4)}, () => Math.max(0, i - 1 - random(12))), 40 + random(100)),
    );
    check(nodes);
  }
});

test('data that is damaged', () => {
  for (const size of [0, 1, 64, 66]) assert.throws(() => readDigits(new Uint8Array(size)), /digits\.u8 is damaged/);
  const data = readDigits(Uint8Array.from({length: 130}, (_, i) => i % 65));
  assert.equal(data.count, 2);
  assert.equal(data.digit(1), 64);
  assert.deepEqual(data.pixels(1).subarray(0, 3), Uint8Array.of(0, 1, 2));
});
