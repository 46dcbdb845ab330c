/* The part of the page that trains: controls, numbers, curves, samples of the test digits. */
import {Curve} from './charts.js';
import {paintDigit, TRAINED} from './digits.js';
import {html} from './dom.js';
import {NETWORKS} from './networks.js';
import {bytesText} from './graph_data.js';

const RATES = [0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 3];
const GOAL = 0.95;
const SAMPLES = 30;
const find = (id) => document.getElementById(id);
const percent = (share) => `${(100 * share).toFixed(1)} %`;

export class TrainPanel {
  #remote;
  #data;
  #changed;
  #curves;
  #cells = [];
  #answers = null;
  #running = false;
  #reached = false;
  #best = null;
  #last = null;

  /** @param {import('./remote.js').Remote} remote @param {ReturnType<import('./digits.js').readDigits>} data
   * @param {function(): void} changed is called when another network has been chosen */
  constructor(remote, data, changed) {
    [this.#remote, this.#data, this.#changed] = [remote, data, changed];
    this.#curves = {
      accuracy: new Curve(find('accuracy-chart'), {
        label: 'Right on the test digits',
        top: 1,
        goal: GOAL,
        write: (value) => `${Math.round(100 * value)} %`,
      }),
      loss: new Curve(find('loss-chart'), {
        label: 'Loss',
        top: 2.5,
        write: (value) => value.toFixed(value < 0.1 && value > 0 ? 3 : 1),
      }),
    };
    for (const [key, {label}] of Object.entries(NETWORKS)) find('network').append(new Option(label, key));
    for (const id of ['start', 'quick']) find(id).onclick = () => this.#act(() => this.#toggle());
    find('reset').onclick = () => this.#act(() => this.choose());
    find('network').onchange = () => this.#act(() => this.choose(true));
    find('rate').oninput = () => this.#act(() => this.#set());
    find('pace').onchange = () => this.#act(() => this.#set());
    find('mistakes').onchange = () => this.#showSamples();
    find('controls').onsubmit = (event) => event.preventDefault();
    this.#describe(true);
    this.#showSamples();
  }

  get kind() {
    return find('network').value;
  }
  get trained() {
    return this.#last !== null && this.#last.step > 0;
  }

  /** The library is there. */
  async ready() {
    find('start').disabled = find('quick').disabled = find('reset').disabled = false;
    await this.#set();
  }

  /** Does what a control asks for; an error is shown, and nothing else changes. */
  async #act(fn) {
    this.#complain(null);
    try {
      await fn();
    } catch (problem) {
      this.#complain(problem.message);
    }
  }

  #complain(text) {
    find('train-error').hidden = !text;
    find('train-error').textContent = text || '';
  }

  #say(text) {
    if (find('train-status').textContent !== text) find('train-status').textContent = text;
  }

  #describe(suits) {
    const {about, rate} = NETWORKS[this.kind];
    find('network-about').textContent = about;
    if (suits) find('rate').value = RATES.indexOf(rate);
    const value = RATES[find('rate').value];
    find('rate-value').textContent = value;
    find('rate').setAttribute('aria-valuetext', String(value));
  }

  #set() {
    this.#describe(false);
    return this.#remote.call('set', {lr: RATES[find('rate').value], pace: find('pace').value});
  }

  /** Begins anew, with the chosen network. */
  async choose(other = false) {
    if (other) this.#describe(true);
    await this.#set();
    await this.#remote.call('choose', this.kind);
    [this.#reached, this.#best] = [false, null];
    this.#switch(false);
    this.#say(`${NETWORKS[this.kind].label}: not trained yet.`);
    if (other) this.#changed();
  }

  async #toggle() {
    if (this.#running) {
      await this.#remote.call('pause');
      this.#switch(false);
      this.#say(this.#summary('Paused'));
    } else {
      await this.#set();
      await this.#remote.call('train');
      this.#switch(true);
      this.#say('Training…');
    }
  }

  #switch(running) {
    this.#running = running;
    for (const id of ['start', 'quick'])
      find(id).textContent = running ? 'Pause' : this.trained ? 'Go on training' : 'Start training';
  }

  #summary(word) {
    const {accuracy, pass, seconds} = this.#last;
    const work = `${pass.toFixed(1)} passes and ${seconds.toFixed(1)} s of computing`;
    return `${word} after ${work}: ${percent(accuracy)} of the test digits right.`;
  }

  /** Training stopped because of an error. What was learned before stays. */
  failed(text) {
    this.#complain(text);
    this.#switch(false);
    this.#say('Stopped.');
  }

  /** What the worker reports. */
  progress(report) {
    const fresh = report.step === 0,
      before = this.#answers;
    this.#last = report;
    this.#answers = report.answers;
    if (fresh) for (const curve of Object.values(this.#curves)) curve.clear();
    find('accuracy').textContent = find('quick-accuracy').textContent = percent(report.accuracy);
    find('passes').textContent = report.pass.toFixed(report.pass < 10 ? 1 : 0);
    if (fresh && report.loss === null) find('loss').textContent = '–';
    if (report.loss !== null) find('loss').textContent = report.loss.toFixed(3);
    if (report.loss !== null) this.#curves.loss.add(report.pass, report.loss);
    this.#curves.accuracy.add(report.pass, report.accuracy);
    if (!before || report.answers.some((answer, i) => answer !== before[i])) this.#showSamples();
    if (!this.#reached && report.accuracy >= GOAL) {
      this.#reached = true;
      const work = `${report.pass.toFixed(1)} passes and ${report.seconds.toFixed(1)} s of computing`;
      this.#say(`95 % of the test digits right after ${work}. Try it on a digit of yours.`);
    }
    if (report.end) {
      this.#switch(false);
      this.#say(this.#summary('Done'));
    } else if (fresh) {
      this.#switch(this.#running);
    }
  }

  /** Test digits with the network's answers. */
  #showSamples() {
    const list = find('samples'),
      only = find('mistakes').checked,
      {count} = this.#data,
      answers = this.#answers;
    let chosen = Array.from({length: count - TRAINED}, (_, i) => i);
    if (only && answers) chosen = chosen.filter((i) => answers[i] !== this.#data.digit(TRAINED + i));
    const all = chosen.length;
    chosen = chosen.slice(0, SAMPLES);
    find('samples-title').textContent = only
      ? `Mistakes: ${all} of the ${count - TRAINED} test digits`
      : 'Some of the test digits';
    find('samples-none').hidden = all > 0;
    while (this.#cells.length < chosen.length) this.#cells.push(sampleCell(list));
    this.#cells.forEach((cell, at) => {
      cell.item.hidden = at >= chosen.length;
      if (cell.item.hidden) return;
      const i = chosen[at],
        digit = this.#data.digit(TRAINED + i),
        answer = answers ? answers[i] : null;
      if (cell.shown !== i) paintDigit(cell.canvas, this.#data.pixels(TRAINED + i));
      cell.shown = i;
      cell.item.className = answer === null ? '' : answer === digit ? 'right' : 'wrong';
      cell.text.textContent = answer === null ? String(digit) : answer === digit ? `✓ ${answer}` : `✗ ${answer}`;
      cell.hidden.textContent = answer === null ? '' : answer === digit ? ', right' : `, wrong: it is ${digit}`;
    });
  }

  /** Colours changed: paints the digits again. */
  repaint() {
    for (const cell of this.#cells) cell.shown = -1;
    this.#showSamples();
  }

  /** What is kept of a step, in words. @param {import('./graph_data.js').ViewNode[]} nodes */
  static kept(nodes) {
    const bytes = nodes.reduce((sum, node) => sum + (node.bytes || 0), 0),
      count = nodes.filter(({kind}) => kind === 'operator').length;
    return `${count} operations for 32 digits, which keep ${bytesText(bytes)} for the way back`;
  }
}

function sampleCell(list) {
  const canvas = html('canvas', {'aria-hidden': 'true'}),
    text = html('span'),
    hidden = html('span', {class: 'visually-hidden'}),
    item = html('li', {}, canvas, text, hidden);
  list.append(item);
  return {item, canvas, text, hidden, shown: -1};
}
