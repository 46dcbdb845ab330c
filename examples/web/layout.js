/* A layered layout of a directed graph (Sugiyama's method): layers by the longest path, long edges over points in
 * between, an order with few crossings, and places near the neighbours. Pure: sizes in, places out. */

const GAP = {x: 18, y: 30};
const SWEEPS = 8;

/** @param {{width: number, height: number, inputs: number[]}[]} nodes inputs come before what reads them
 * @returns {{width: number, height: number, places: {x: number, y: number, layer: number}[],
 *   edges: {from: number, to: number, points: [number, number][]}[], layers: number[][]}}
 *   x, y: the middle of a node; layers: nodes from left to right, from the top */
export function layout(nodes) {
  const cells = nodes.map(({width, height}, node) => ({node, width, height, layer: 0, up: [], down: [], x: 0, y: 0}));
  assignLayers(nodes, cells);
  const edges = [];
  nodes.forEach(({inputs}, to) => {
    for (const from of new Set(inputs)) edges.push({from, to, chain: chain(cells, from, to)});
  });
  const layers = [];
  for (const cell of cells) (layers[cell.layer] = layers[cell.layer] || []).push(cell);
  for (let sweep = 0; sweep < SWEEPS; sweep++) order(layers, sweep % 2 === 0);
  place(layers);
  return result(cells.slice(0, nodes.length), layers, edges);
}

/** What computes: below all that it reads. What reads nothing: just above the first that reads it. */
function assignLayers(nodes, cells) {
  const first = new Array(nodes.length).fill(Infinity);
  nodes.forEach(({inputs}, i) => {
    if (inputs.length > 0) cells[i].layer = 1 + Math.max(...inputs.map((from) => cells[from].layer));
    for (const from of inputs) first[from] = Math.min(first[from], cells[i].layer);
  });
  nodes.forEach(({inputs}, i) => {
    if (inputs.length === 0 && first[i] < Infinity) cells[i].layer = first[i] - 1;
  });
}

/** The cells of an edge from layer to layer, with new ones in between. */
function chain(cells, from, to) {
  const path = [cells[from]];
  for (let layer = cells[from].layer + 1; layer < cells[to].layer; layer++) {
    const between = {node: -1, width: 6, height: 0, layer, up: [], down: [], x: 0, y: 0};
    cells.push(between);
    path.push(between);
  }
  path.push(cells[to]);
  for (let i = 1; i < path.length; i++) {
    path[i - 1].down.push(path[i]);
    path[i].up.push(path[i - 1]);
  }
  return path;
}

/** Sorts each layer by the mean place of its neighbours in the layer before (or after). */
function order(layers, downwards) {
  const rows = downwards ? layers : [...layers].reverse();
  for (const row of rows)
    row.forEach((cell, i) => {
      cell.at = i;
    });
  for (const row of rows.slice(1)) {
    row.forEach((cell, i) => {
      const near = downwards ? cell.up : cell.down;
      cell.key = near.length > 0 ? near.reduce((sum, each) => sum + each.at, 0) / near.length : i;
    });
    row.sort((a, b) => a.key - b.key || a.at - b.at);
    row.forEach((cell, i) => {
      cell.at = i;
    });
  }
}

/** Moves each cell to the middle of its neighbours, as far as the order and the gaps allow. */
function place(layers) {
  for (const row of layers) settle(row, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const downwards = sweep % 2 === 0,
      rows = downwards ? layers : [...layers].reverse();
    for (const row of rows) {
      settle(row, (cell) => {
        const near = pulling(cell, downwards);
        return near.length > 0 ? near.reduce((sum, each) => sum + each.x, 0) / near.length : cell.x;
      });
    }
  }
}

/** The neighbours that a cell follows: those of the layer before, and of these rather the ones that read something, so
 * that what is computed step by step makes a straight line. */
function pulling({up, down}, downwards) {
  const near = (downwards ? up : down).length > 0 ? (downwards ? up : down) : [...up, ...down];
  const inner = near.filter((each) => each.up.length > 0);
  return inner.length > 0 ? inner : near;
}

/** Places of a row nearest to the wanted ones by weighted least squares (pool adjacent violators). */
function settle(row, wanted) {
  const blocks = [];
  let offset = 0;
  row.forEach((cell, i) => {
    if (i > 0) offset += (row[i - 1].width + cell.width) / 2 + GAP.x;
    cell.offset = offset;
    const weight = cell.up.length > 0 ? 1 : 0.02; // what reads nothing makes room for the others
    blocks.push({sum: weight * (wanted(cell) - offset), weight, cells: [cell]});
    while (blocks.length > 1) {
      const last = blocks[blocks.length - 1],
        before = blocks[blocks.length - 2];
      if (before.sum / before.weight <= last.sum / last.weight) break;
      blocks.pop();
      before.sum += last.sum;
      before.weight += last.weight;
      before.cells.push(...last.cells);
    }
  });
  for (const {sum, weight, cells} of blocks)
    cells.forEach((cell) => {
      cell.x = cell.offset + sum / weight;
    });
}

function result(cells, layers, edges) {
  let y = 0,
    left = Infinity,
    right = -Infinity;
  for (const row of layers) {
    const height = Math.max(...row.map((cell) => cell.height));
    for (const cell of row) {
      cell.y = y + height / 2;
      left = Math.min(left, cell.x - cell.width / 2);
      right = Math.max(right, cell.x + cell.width / 2);
    }
    y += height + GAP.y;
  }
  const shift = (cell) => [cell.x - left, cell.y];
  return {
    width: Math.max(0, right - left),
    height: Math.max(0, y - GAP.y),
    places: cells.map((cell) => ({x: cell.x - left, y: cell.y, layer: cell.layer})),
    edges: edges.map(({from, to, chain: path}) => {
      const points = path.map(shift);
      points[0][1] += path[0].height / 2;
      points[points.length - 1][1] -= path[path.length - 1].height / 2;
      return {from, to, points};
    }),
    layers: layers.map((row) => row.filter(({node}) => node >= 0).map(({node}) => node)),
  };
}
