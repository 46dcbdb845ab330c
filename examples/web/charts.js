/* The two curves, in SVG, and the bars of ten probabilities. */
import {html, svg} from './dom.js';

const WIDTH = 300,
  HEIGHT = 150,
  LEFT = 34,
  BOTTOM = 20,
  TOP = 6,
  MOST = 400;

/** A curve over passes, which grows. */
export class Curve {
  #box;
  #options;
  #points = [];

  /** @param {HTMLElement} box
   * @param {{label: string, top: number, write: function(number): string, goal?: number}} options
   *   top: the highest value shown; goal: a dashed line; write: a value as text */
  constructor(box, options) {
    [this.#box, this.#options] = [box, options];
    this.#draw();
  }

  clear() {
    this.#points = [];
    this.#draw();
  }

  add(pass, value) {
    this.#points.push([pass, value]);
    if (this.#points.length > MOST)
      this.#points = this.#points.filter((_, i, {length}) => i % 2 === 1 || i === length - 1);
    this.#draw();
  }

  #draw() {
    const {label, write, goal} = this.#options,
      points = this.#points,
      last = points[points.length - 1];
    const top = this.#options.top,
      end = Math.max(5, Math.ceil((last ? last[0] : 0) / 5) * 5);
    const x = (pass) => LEFT + (pass / end) * (WIDTH - LEFT - 8),
      y = (value) => TOP + (1 - Math.min(1, value / top)) * (HEIGHT - TOP - BOTTOM);
    const drawn = svg('svg', {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'img',
      'aria-label': last
        ? `${label}: ${write(last[1])} after ${last[0].toFixed(1)} passes; ${write(points[0][1])} at first`
        : `${label}: nothing yet`,
    });
    for (const share of [0, 0.5, 1]) {
      drawn.append(
        svg('line', {x1: LEFT, x2: WIDTH, y1: y(share * top), y2: y(share * top), class: 'grid'}),
        svg('text', {x: LEFT - 6, y: y(share * top) + 4, 'text-anchor': 'end'}, write(share * top)),
      );
    }
    for (const pass of [0, end / 2, end])
      drawn.append(
        svg(
          'text',
          {x: x(pass), y: HEIGHT - 4, 'text-anchor': pass === 0 ? 'start' : pass === end ? 'end' : 'middle'},
          pass === end ? `${end} passes` : String(pass),
        ),
      );
    if (goal) {
      drawn.append(
        svg('line', {x1: LEFT, x2: WIDTH, y1: y(goal), y2: y(goal), class: 'goal'}),
        svg('text', {x: WIDTH, y: y(goal) + 13, 'text-anchor': 'end'}, write(goal)),
      );
    }
    if (last) {
      drawn.append(
        svg('path', {
          class: 'line',
          d: points.map(([pass, value], i) => `${i ? 'L' : 'M'}${x(pass).toFixed(1)} ${y(value).toFixed(1)}`).join(''),
        }),
        svg('circle', {class: 'end', cx: x(last[0]), cy: y(last[1]), r: 3.5}),
      );
    }
    this.#box.replaceChildren(drawn);
  }
}

/** Ten bars. */
export class Bars {
  #rows;

  /** @param {HTMLElement} list an ol */
  constructor(list) {
    this.#rows = Array.from({length: 10}, (_, digit) => {
      const row = html(
        'li',
        {},
        html('span', {}, String(digit)),
        html('span', {class: 'track', 'aria-hidden': 'true'}, html('span', {class: 'fill'})),
        html('span', {class: 'percent'}, '–'),
      );
      list.append(row);
      return row;
    });
  }

  /** @param {?ArrayLike<number>} probabilities null: none */
  show(probabilities) {
    const best = probabilities ? Math.max(...probabilities) : null;
    this.#rows.forEach((row, digit) => {
      const value = probabilities ? probabilities[digit] : 0;
      row.classList.toggle('best', probabilities !== null && value === best);
      row.querySelector('.fill').style.transform = `scaleX(${value})`;
      row.querySelector('.percent').textContent = probabilities
        ? `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`
        : '–';
    });
  }
}
