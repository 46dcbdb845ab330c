/* The part of the page that opens a visitor's model, shows it, and runs it. What fails leaves the shown model as it
 * was. */
import {html} from './dom.js';
import {pictureShape, readModel, readPicture} from './files.js';
import {bytesText, shapeText} from './graph_data.js';
import {GraphView} from './graph_view.js';

const find = (id) => document.getElementById(id);
const MANY = 40; // nodes from which on weights are not drawn at first

export class ModelPanel {
  #remote;
  #pad;
  #view;
  #module;
  #kept = {};
  #opened = null;
  #nodes = [];
  #busy = false;

  /** @param {import('./remote.js').Remote} remote @param {import('./draw.js').Pad} pad whose drawing can be an input
   * @param {string} module where mxlite.wasm is */
  constructor(remote, pad, module) {
    [this.#remote, this.#pad, this.#module] = [remote, pad, module];
    this.#view = new GraphView(find('model-picture'), find('model-panel'), 'The network of the model');
    find('files').onchange = () => {
      this.open([...find('files').files]);
      find('files').value = '';
    };
    find('example').onclick = () => this.#act('Fetching the example…', () => this.#example());
    find('model-weights').onchange = () => this.#view.show(this.#nodes, find('model-weights').checked);
    find('run').onsubmit = (event) => {
      event.preventDefault();
      this.#act('Running…', () => this.#run());
    };
    this.#acceptDrops();
  }

  #acceptDrops() {
    let inside = 0;
    const files = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
    const mark = (change) => {
      inside = Math.max(0, inside + change);
      document.body.classList.toggle('dragging', inside > 0);
    };
    addEventListener('dragenter', (event) => {
      if (files(event)) mark(1);
    });
    addEventListener('dragleave', (event) => {
      if (files(event)) mark(-1);
    });
    addEventListener('dragover', (event) => {
      if (files(event)) event.preventDefault();
    });
    addEventListener('drop', (event) => {
      if (!files(event)) return;
      event.preventDefault();
      mark(-inside);
      find('model').scrollIntoView();
      this.open([...event.dataTransfer.files]);
    });
  }

  /** Does one thing at a time; its error is one line, and the shown model stays. */
  async #act(saying, fn) {
    if (this.#busy) return;
    this.#busy = true;
    find('model-error').hidden = true;
    find('model-status').textContent = saying;
    try {
      find('model-status').textContent = await fn();
    } catch (problem) {
      find('model-status').textContent = this.#opened ? `Still shown: ${this.#opened.name}.` : '';
      find('model-error').textContent = problem.message;
      find('model-error').hidden = false;
    } finally {
      this.#busy = false;
    }
  }

  /** Opens files. @param {File[]} files */
  open(files) {
    return this.#act('Opening…', () => this.#open(files));
  }

  async #example() {
    const files = await Promise.all(
      ['digits-symbol.json', 'digits-0000.params'].map(async (name) => {
        const answer = await fetch(`example/${name}`);
        if (!answer.ok) throw new Error(`example/${name} cannot be had: ${answer.status}`);
        return new File([await answer.arrayBuffer()], name);
      }),
    );
    return this.#open(files);
  }

  async #open(files) {
    if (files.length === 0) return '';
    const {name, json, params} = await readModel(files, this.#kept);
    if (json === null) {
      this.#kept = {...this.#kept, params};
      return `${name} holds weights; drop its …-symbol.json too.`;
    }
    const weights = params || (this.#kept.json ? null : this.#kept.params) || null;
    let opened = null;
    try {
      opened = await this.#remote.call('open', this.#module, json, weights);
    } catch (problem) {
      throw new Error(`${files.map((file) => file.name).join(' and ')} cannot be used: ${problem.message}`);
    }
    this.#kept = {name, json};
    this.#opened = {...opened, name, json, weights, start: this.#remote.starts};
    this.#show();
    const operations = opened.nodes.filter(({kind}) => kind === 'operator').length;
    const size = `${operations} operations, ${opened.parameters.length} arrays of parameters`;
    return opened.complete
      ? `${name} is open: ${size}.`
      : `${name} is open: ${size}. To run it, drop its .params file too.`;
  }

  #show() {
    const {name, inputs, nodes, parameters, complete} = this.#opened,
      many = nodes.length > MANY;
    find('model-shown').hidden = false;
    find('model-name').textContent = name;
    find('model-weights').checked = !many;
    this.#draw(nodes);
    find('run').hidden = !complete;
    find('run-results').replaceChildren();
    find('run-inputs').replaceChildren(...inputs.map((input, i) => this.#field(input, i)));
    const rows = parameters.map((each) =>
      html('tr', {}, html('td', {}, each.name), html('td', {}, shapeText(each.shape)), html('td', {}, each.dtype)),
    );
    const head = html('tr', {}, ...['Name', 'Shape', 'Number type'].map((text) => html('th', {scope: 'col'}, text)));
    find('model-params').hidden = parameters.length === 0;
    find('model-params').firstElementChild.textContent = `The ${parameters.length} arrays of parameters`;
    find('model-params')
      .querySelector('.table')
      .replaceChildren(html('table', {}, html('thead', {}, head), html('tbody', {}, ...rows)));
  }

  #draw(nodes) {
    this.#nodes = nodes;
    this.#view.show(nodes, find('model-weights').checked);
  }

  /** The controls of an input: its shape, and what is put in. */
  #field({name, shape}, i) {
    const text = html('input', {
      type: 'text',
      id: `input-${i}-shape`,
      value: shape.join(', '),
      inputmode: 'text',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    const kind = html(
      'select',
      {id: `input-${i}-kind`},
      ...[
        ['random', 'Random numbers from 0 to 1'],
        ['zeros', 'Zeros'],
        ['drawing', 'Your drawing'],
        ['picture', 'A picture…'],
      ].map(([value, label]) => html('option', {value}, label)),
    );
    const file = html('input', {type: 'file', id: `input-${i}-file`, accept: 'image/*'});
    const picture = html('div', {class: 'field'}, html('label', {for: file.id}, 'Picture'), file);
    kind.value = shape.length === 2 && shape[1] === 64 && this.#pad.pixels ? 'drawing' : 'random';
    picture.hidden = true;
    kind.onchange = () => {
      picture.hidden = kind.value !== 'picture';
    };
    return html(
      'fieldset',
      {'data-input': name},
      html('legend', {}, name),
      html('div', {class: 'field'}, html('label', {for: text.id}, 'Shape'), text),
      html('div', {class: 'field'}, html('label', {for: kind.id}, 'Filled with'), kind),
      picture,
    );
  }

  async #given(fieldset) {
    const name = fieldset.dataset.input,
      text = fieldset.querySelector('input[type=text]').value;
    const shape = text
      .split(/[\s,×x()[\]]+/)
      .filter(Boolean)
      .map(Number);
    if (shape.length === 0 || !shape.every((extent) => Number.isInteger(extent) && extent > 0))
      throw new Error(`${name}: a shape is a list of whole numbers, like 1, 3, 224, 224; not “${text}”.`);
    const kind = fieldset.querySelector('select').value;
    if (kind === 'drawing') {
      const {copies, channels, height, width} = pictureShape(shape),
        once = this.#pad.values(height, width);
      const values = new Float32Array(once.length * channels * copies);
      for (let at = 0; at < values.length; at += once.length) values.set(once, at);
      return [name, {shape, kind: 'values', values}];
    }
    if (kind === 'picture') {
      const [file] = fieldset.querySelector('input[type=file]').files;
      if (!file) throw new Error(`${name}: choose a picture first.`);
      return [name, {shape, kind: 'values', values: await readPicture(file, shape)}];
    }
    return [name, {shape, kind}];
  }

  async #run() {
    const given = Object.fromEntries(
      await Promise.all([...find('run-inputs').children].map((each) => this.#given(each))),
    );
    const {json, weights, start} = this.#opened;
    if (start !== this.#remote.starts || !this.#remote.runs) {
      // the worker that had it has failed
      await this.#remote.call('open', this.#module, json, weights);
      this.#opened.start = this.#remote.starts;
    }
    const {seconds, outputs, nodes, memory} = await this.#remote.call('run', given);
    this.#draw(nodes);
    find('run-results').replaceChildren(
      ...outputs.map(({name, shape, top, probabilities, values}) => {
        const rows = top.map(({index, value}) =>
          html(
            'tr',
            {},
            html('td', {}, String(index)),
            html('td', {}, probabilities ? `${(100 * value).toFixed(1)} %` : value.toPrecision(5)),
          ),
        );
        const first = shape.length > 1 && shape[0] > 1 ? ', first row' : '';
        return html(
          'div',
          {class: 'table'},
          html(
            'table',
            {},
            html('caption', {}, `${name} (${shapeText(shape)})${first}: the ${top.length} largest of ${values}`),
            html(
              'thead',
              {},
              html(
                'tr',
                {},
                html('th', {scope: 'col'}, 'Place (from 0)'),
                html('th', {scope: 'col'}, probabilities ? 'Probability' : 'Value'),
              ),
            ),
            html('tbody', {}, ...rows),
          ),
        );
      }),
    );
    return `Ran in ${(1000 * seconds).toFixed(1)} ms; the library holds ${bytesText(memory)} of memory.`;
  }
}
