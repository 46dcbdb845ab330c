/* The picture of a graph: SVG, walked by mouse and by the arrow keys, with a panel for the chosen node. */
import {html, svg} from './dom.js';
import {layout} from './layout.js';

const HEIGHT = 46,
  LONGEST = 22;
const SMALLEST = 0.75; // how far a picture shrinks to fit its box; beyond that it scrolls

const measuring = document.createElement('canvas').getContext('2d');
/** The width of a text in a box, in pixels. */
function widthOf(text, font) {
  measuring.font = font;
  return measuring.measureText(text).width;
}
const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 8)}…${text.slice(-7)}` : text);
const KINDS = {operator: 'operator', weight: 'weights', data: 'input'};

export class GraphView {
  #picture;
  #panel;
  #nodes = [];
  #shown = [];
  #marks = [];
  #readers = [];
  #plan = null;
  #chosen = -1;
  #label;

  /** @param {HTMLElement} picture where the SVG goes; it scrolls
   * @param {HTMLElement} panel what describes the chosen node
   * @param {string} label what the picture is called */
  constructor(picture, panel, label) {
    this.#picture = picture;
    this.#panel = panel;
    this.#label = label;
    picture.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Draws nodes; the last one is chosen. @param {import('./graph_data.js').ViewNode[]} nodes
   * @param {boolean} weights whether weights are drawn */
  show(nodes, weights = true) {
    this.#nodes = nodes;
    this.#shown = nodes.map((node, i) => i).filter((i) => weights || nodes[i].kind !== 'weight');
    const at = new Map(this.#shown.map((node, i) => [node, i]));
    const sized = this.#shown.map((i) => {
      const {title, shape, inputs} = nodes[i],
        words = Math.max(widthOf(short(title), '600 13px system-ui'), widthOf(short(shape), '11.5px system-ui'));
      return {
        width: Math.max(60, words) + 28,
        height: HEIGHT,
        inputs: inputs.filter((from) => at.has(from)).map((from) => at.get(from)),
      };
    });
    this.#readers = this.#shown.map(() => []);
    sized.forEach(({inputs}, to) => inputs.forEach((from) => this.#readers[from].push(to)));
    this.#plan = {...layout(sized), sized};
    this.#draw();
    this.choose(this.#shown.length - 1);
  }

  #draw() {
    const {width, height, places, edges, sized} = this.#plan,
      pad = 12,
      lines = svg('g', {'aria-hidden': 'true'}),
      boxes = svg('g');
    for (const {from, to, points} of edges) {
      const path = svg('path', {
        d: curve(points),
        class: 'edge',
        'data-from': from,
        'data-to': to,
        'marker-end': `url(#arrow-${this.#picture.id})`,
      });
      lines.append(path);
    }
    this.#marks = this.#shown.map((i, at) => {
      const {title, kind, shape} = this.#nodes[i],
        {x, y} = places[at],
        wide = sized[at].width;
      const mark = svg(
        'g',
        {
          class: `node ${kind}`,
          role: 'button',
          tabindex: -1,
          transform: `translate(${x} ${y})`,
          'aria-label': this.#spoken(at),
        },
        svg('rect', {
          x: -wide / 2,
          y: -HEIGHT / 2,
          width: wide,
          height: HEIGHT,
          rx: kind === 'operator' ? 8 : HEIGHT / 2,
        }),
        svg('text', {y: shape ? -4 : 4, class: 'title'}, short(title)),
        ' ',
        svg('text', {y: 13, class: 'shape'}, short(shape)),
      );
      mark.addEventListener('click', () => this.choose(at, true));
      return mark;
    });
    boxes.append(...this.#marks);
    const arrow = svg(
      'marker',
      {
        id: `arrow-${this.#picture.id}`,
        viewBox: '0 0 8 8',
        refX: 7,
        refY: 4,
        markerWidth: 9,
        markerHeight: 9,
        markerUnits: 'userSpaceOnUse',
        orient: 'auto',
      },
      svg('path', {d: 'M0 0.5 L8 4 L0 7.5 z', class: 'arrow'}),
    );
    const size = {width: width + 2 * pad, height: height + 2 * pad};
    const drawn = svg(
      'svg',
      {...size, viewBox: `${-pad} ${-pad} ${size.width} ${size.height}`, role: 'group', 'aria-label': this.#label},
      svg('defs', {}, arrow),
      lines,
      boxes,
    );
    drawn.style.maxWidth = `max(100%, ${SMALLEST * size.width}px)`;
    this.#picture.replaceChildren(drawn);
  }

  #spoken(at) {
    const {title, kind, shape, inputs} = this.#nodes[this.#shown[at]],
      readers = this.#readers[at].length;
    const reads = inputs.length > 0 ? `, reads ${inputs.length}` : '';
    return `${title} ${shape}, ${KINDS[kind]}${reads}, read by ${readers}`;
  }

  /** Chooses a node of the picture; `focus` moves the keyboard to it. */
  choose(at, focus = false) {
    if (at < 0 || at >= this.#marks.length) return;
    const before = this.#marks[this.#chosen],
      mark = this.#marks[at];
    if (before) {
      before.setAttribute('tabindex', -1);
      before.removeAttribute('aria-current');
    }
    this.#chosen = at;
    mark.setAttribute('tabindex', 0);
    mark.setAttribute('aria-current', 'true');
    for (const path of this.#picture.querySelectorAll('.edge'))
      path.classList.toggle('near', Number(path.dataset.from) === at || Number(path.dataset.to) === at);
    this.#describe(at);
    if (focus) mark.focus({preventScroll: true});
    this.#scroll(at);
  }

  /** Brings a node into sight, within the picture alone. */
  #scroll(at) {
    const {x, y} = this.#plan.places[at],
      box = this.#picture,
      drawn = box.firstElementChild;
    const scale = drawn.clientWidth / drawn.viewBox.baseVal.width || 1;
    box.scrollTo({
      left: x * scale - box.clientWidth / 2 + 12,
      top: y * scale - box.clientHeight / 2 + 12,
      behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth',
    });
  }

  #key(event) {
    const {places, layers, sized} = this.#plan || {};
    if (!places || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = this.#chosen,
      row = layers[places[here].layer],
      column = row.indexOf(here);
    const nearest = (all) =>
      [...all].sort((a, b) => Math.abs(places[a].x - places[here].x) - Math.abs(places[b].x - places[here].x))[0];
    const next = {
      ArrowUp: () => nearest(sized[here].inputs),
      ArrowDown: () => nearest(this.#readers[here]),
      ArrowLeft: () => row[column - 1],
      ArrowRight: () => row[column + 1],
      Home: () => 0,
      End: () => this.#marks.length - 1,
      Enter: () => here,
      ' ': () => here,
    }[event.key];
    if (!next) return;
    event.preventDefault();
    const to = next();
    if (to !== undefined) this.choose(to, true);
  }

  #describe(at) {
    const {title, kind, about, facts, inputs} = this.#nodes[this.#shown[at]];
    const list = html('dl');
    for (const [term, text] of facts) list.append(html('dt', {}, term), html('dd', {}, text));
    const names = (all) => (all.length > 0 ? all.map((i) => this.#nodes[i].title).join(', ') : 'nothing');
    list.append(
      html('dt', {}, 'Reads'),
      html('dd', {}, names(inputs)),
      html('dt', {}, 'Is read by'),
      html('dd', {}, names(this.#readers[at].map((i) => this.#shown[i]))),
    );
    const heading = html('h3', {}, title, ' ', html('span', {class: `tag ${kind}`}, KINDS[kind]));
    this.#panel.replaceChildren(heading, html('p', {}, about), list);
  }
}

/** A smooth line through points from layer to layer. */
function curve(points) {
  let path = `M${points[0].join(' ')}`;
  for (let i = 1; i < points.length; i++) {
    const [[x0, y0], [x1, y1]] = [points[i - 1], points[i]],
      middle = (y0 + y1) / 2;
    path += ` C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`;
  }
  return path;
}
