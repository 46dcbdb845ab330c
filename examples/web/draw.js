/* The drawing pad: lines by mouse, pen, finger or keyboard, and what the network sees of them, 8 x 8 dots. */
import {PIXELS} from './digits.js';

const STEP = 1 / 24; // of the pad, for each press of an arrow key
const GRID = 32; // the digits were counted from 32 x 32 dots, 4 x 4 for each pixel
const INK = 19.5 * 16; // dots of ink in a usual digit of the data

export class Pad {
  #canvas;
  #changed;
  #say;
  #strokes = [];
  #image = null;
  #pen = {x: 0.5, y: 0.25, down: false, shown: false};

  /** @param {HTMLCanvasElement} canvas
   * @param {function(?Uint8Array): void} changed gets 64 pixels, 0 to 16; null: nothing drawn
   * @param {function(string): void} say tells what the keyboard's pen does */
  constructor(canvas, changed, say) {
    [this.#canvas, this.#changed, this.#say] = [canvas, changed, say];
    canvas.addEventListener('pointerdown', (event) => this.#down(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, (event) => this.#up(event));
    canvas.addEventListener('keydown', (event) => this.#key(event));
    canvas.addEventListener('focus', () => this.#showPen(canvas.matches(':focus-visible')));
    canvas.addEventListener('blur', () => this.#showPen(false));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.paint());
    new ResizeObserver(() => this.paint()).observe(canvas);
  }

  /** The drawing as 64 pixels, or null. */
  get pixels() {
    if (this.#image) return this.#image;
    return this.#strokes.length > 0 ? reduce(this.#strokes) : null;
  }

  /** The drawing as height x width values of 0 to 1. */
  values(height, width) {
    if (height === 8 && width === 8) return Float32Array.from(this.pixels || new Uint8Array(PIXELS), (ink) => ink / 16);
    const canvas = new OffscreenCanvas(width, height),
      context = canvas.getContext('2d');
    context.drawImage(this.#canvas, 0, 0, width, height);
    const {data} = context.getImageData(0, 0, width, height);
    return Float32Array.from({length: width * height}, (_, i) => data[4 * i + 3] / 255);
  }

  clear() {
    [this.#strokes, this.#image, this.#pen.down] = [[], null, false];
    this.#update();
  }

  undo() {
    if (this.#image) return this.clear();
    this.#strokes.pop();
    this.#pen.down = false;
    this.#update();
  }

  /** Shows 64 pixels instead of lines. */
  lend(pixels) {
    [this.#strokes, this.#image] = [[], Uint8Array.from(pixels)];
    this.#update();
  }

  #update() {
    this.paint();
    this.#changed(this.pixels);
  }

  #at(event) {
    const box = this.#canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }

  #begin(point) {
    this.#image = null;
    this.#strokes.push([point]);
  }

  #down(event) {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#pen.down = false;
    this.#showPen(false);
    this.#begin(this.#at(event));
    this.#update();
  }

  #move(event) {
    if (!this.#canvas.hasPointerCapture(event.pointerId)) return;
    const all = event.getCoalescedEvents ? event.getCoalescedEvents() : [];
    for (const each of all.length > 0 ? all : [event]) this.#strokes[this.#strokes.length - 1].push(this.#at(each));
    this.#update();
  }

  #up(event) {
    if (this.#canvas.hasPointerCapture(event.pointerId)) this.#canvas.releasePointerCapture(event.pointerId);
  }

  #showPen(shown) {
    this.#pen.shown = shown;
    if (!shown) this.#pen.down = false;
    this.paint();
  }

  #key(event) {
    const moves = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]},
      move = moves[event.key],
      pen = this.#pen;
    if (event.ctrlKey || event.metaKey || event.altKey || !(move || ['Backspace', ' ', 'Enter'].includes(event.key)))
      return;
    event.preventDefault();
    pen.shown = true;
    if (event.key === 'Backspace') {
      this.#say('Cleared.');
      return this.clear();
    }
    if (move) {
      pen.x = Math.min(0.95, Math.max(0.05, pen.x + move[0] * STEP));
      pen.y = Math.min(0.95, Math.max(0.05, pen.y + move[1] * STEP));
      if (!pen.down) return this.paint();
      this.#strokes[this.#strokes.length - 1].push([pen.x, pen.y]);
    } else {
      pen.down = !pen.down;
      this.#say(pen.down ? 'Pen down: arrow keys draw.' : 'Pen up: arrow keys move.');
      if (pen.down) this.#begin([pen.x, pen.y]);
    }
    this.#update();
  }

  /** Draws the pad. */
  paint() {
    const canvas = this.#canvas,
      size = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
    if (canvas.width !== size) canvas.width = canvas.height = size;
    const context = canvas.getContext('2d'),
      style = getComputedStyle(canvas);
    context.clearRect(0, 0, size, size);
    if (this.#image) this.#paintImage(context, size, style.color);
    trace(context, this.#strokes, ([x, y]) => [x * size, y * size], size / 13, style.color);
    const {x, y, shown, down} = this.#pen;
    if (!shown) return;
    context.beginPath();
    context.arc(x * size, y * size, size / 26, 0, 2 * Math.PI);
    context.lineWidth = size / 90;
    context.strokeStyle = style.getPropertyValue(down ? '--warm' : '--focus');
    context.stroke();
  }

  #paintImage(context, size, colour) {
    context.fillStyle = colour;
    this.#image.forEach((ink, i) => {
      context.globalAlpha = ink / 16;
      context.fillRect(((i % 8) * size) / 8, (Math.floor(i / 8) * size) / 8, size / 8 + 0.5, size / 8 + 0.5);
    });
    context.globalAlpha = 1;
  }
}

function trace(context, strokes, map, width, colour) {
  context.lineWidth = width;
  context.lineCap = context.lineJoin = 'round';
  context.strokeStyle = colour;
  for (const stroke of strokes) {
    context.beginPath();
    context.moveTo(...map(stroke[0]));
    for (const point of stroke.length > 1 ? stroke : [stroke[0], stroke[0]]) context.lineTo(...map(point));
    context.stroke();
  }
}

/** Lines as the data's digits were made: as high as the picture, their ink in the middle, counted in blocks of 4 x 4
 * dots. */
function reduce(strokes) {
  const points = strokes.flat(),
    xs = points.map(([x]) => x),
    ys = points.map(([, y]) => y);
  const left = Math.min(...xs),
    top = Math.min(...ys),
    width = Math.max(...xs) - left,
    height = Math.max(...ys) - top;
  let length = 0,
    weighed = 0;
  for (const stroke of strokes) {
    for (let i = 1; i < stroke.length; i++) {
      const [[x0, y0], [x1, y1]] = [stroke[i - 1], stroke[i]],
        part = Math.hypot(x1 - x0, y1 - y0);
      length += part;
      weighed += (part * (x0 + x1)) / 2;
    }
  }
  const middle = length > 0 ? weighed / length : left;
  const scale = Math.min((GRID - 4) / Math.max(height, 0.25), (GRID - 6) / Math.max(width, 0.25));
  const pen = Math.min(6.5, Math.max(3, INK / Math.max(1, length * scale)));
  const fit = (GRID - pen) / (GRID - 4),
    offset = (GRID - height * scale * fit) / 2;
  const canvas = new OffscreenCanvas(GRID, GRID),
    context = canvas.getContext('2d', {willReadFrequently: true});
  trace(
    context,
    strokes,
    ([x, y]) => [GRID / 2 + (x - middle) * scale * fit, offset + (y - top) * scale * fit],
    pen,
    '#000',
  );
  const {data} = context.getImageData(0, 0, GRID, GRID),
    ink = new Float32Array(PIXELS);
  for (let y = 0; y < GRID; y++) {
    for (let x = 0; x < GRID; x++) ink[(y >> 2) * 8 + (x >> 2)] += data[4 * (y * GRID + x) + 3] / 255;
  }
  return Uint8Array.from(ink, Math.round);
}
