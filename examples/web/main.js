/* The page: loads the digits, starts the worker that trains, and connects the parts. */
import {Bars} from './charts.js';
import {paintDigit, readDigits, TRAINED} from './digits.js';
import {Pad} from './draw.js';
import {GraphView} from './graph_view.js';
import {ModelPanel} from './model_panel.js';
import {Remote} from './remote.js';
import {TrainPanel} from './train_panel.js';

const find = (id) => document.getElementById(id);
const RESTARTS = 3; // of the worker that trains, before the page gives up
const MODULE = new URL('mxlite/mxlite.wasm.gz', import.meta.url).href;

const bars = new Bars(find('bars'));
let panel = null,
  data = null,
  ready = false, // whether the worker has a network
  own = 0,
  asked = 0;

const trainer = new Remote(
  new URL('train_worker.js', import.meta.url),
  (event) => {
    if (event.event === 'failed') return panel.failed(event.error);
    panel.progress(event);
    if (event.probabilities && pad.pixels) showAnswer(event.probabilities);
  },
  (reason) => {
    ready = false;
    if (!panel) return;
    if (trainer.starts >= RESTARTS) panel.failed(`The training stopped: ${reason}. Load the page again.`);
    else
      begin().then(
        () => panel.failed(`The training stopped, and begins anew: ${reason}`),
        (problem) => notice(problem.message, true),
      );
  },
);
const graph = new GraphView(find('graph-picture'), find('graph-panel'), 'The recorded graph of one training step');
const pad = new Pad(
  find('pad'),
  (pixels) => predict(pixels),
  (text) => {
    find('pen').textContent = text;
  },
);
new ModelPanel(new Remote(new URL('model_worker.js', import.meta.url)), pad, MODULE);

function notice(text, error = false) {
  find('notice').hidden = !text;
  find('notice').textContent = text || '';
  find('notice').classList.toggle('error', error);
}

function say(text) {
  if (find('verdict').textContent !== text) find('verdict').textContent = text;
}

function setDigit(digit) {
  find('verdict-digit').textContent = digit;
  find('verdict-digit').classList.toggle('none', digit === '?');
}

const article = (digit) => `${digit === 8 ? 'an' : 'a'} ${digit}`;

/** What the network answers, in words that change only when the answer does. */
function showAnswer(probabilities) {
  const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a]),
    [best, second] = order;
  bars.show(probabilities);
  setDigit(best);
  if (!panel.trained) say(`Not trained yet, so it guesses: ${best}.`);
  else if (probabilities[best] >= 0.9) say(`It reads ${article(best)}.`);
  else if (probabilities[best] >= 0.5) say(`Probably ${article(best)}.`);
  else say(`Not sure: ${article(best)}, or ${article(second)}?`);
}

async function predict(pixels) {
  const mine = ++asked;
  paintDigit(find('reduced'), pixels || new Uint8Array(64));
  if (!ready) return; // begin() asks
  try {
    const probabilities = await trainer.call('predict', pixels);
    if (mine !== asked) return; // a newer drawing is being read
    if (probabilities) return showAnswer(probabilities);
    bars.show(null);
    setDigit('?');
    say('Nothing drawn yet.');
  } catch (problem) {
    notice(problem.message, true);
  }
}

async function showGraph() {
  const nodes = await trainer.call('graph');
  graph.show(nodes);
  find('graph-size').textContent = `${TrainPanel.kept(nodes)}.`;
}

function connect() {
  find('clear').onclick = () => pad.clear();
  find('undo').onclick = () => pad.undo();
  find('lend').onclick = () => {
    if (data) pad.lend(data.pixels(TRAINED + Math.floor(Math.random() * (data.count - TRAINED))));
  };
  for (let digit = 0; digit < 10; digit++) find('teach-digit').append(new Option(String(digit)));
  find('teach').onsubmit = async (event) => {
    event.preventDefault();
    const digit = Number(find('teach-digit').value),
      {pixels} = pad;
    if (!pixels) {
      find('teach-status').textContent = 'Draw a digit first.';
      return;
    }
    try {
      own = await trainer.call('add', pixels, digit);
    } catch (problem) {
      find('teach-status').textContent = `Not added: ${problem.message}`;
      return;
    }
    find('forget').hidden = false;
    find('teach-status').textContent = `Added as a ${digit}. Of yours it trains on ${own} now; each counts as ten.`;
  };
  find('forget').onclick = async () => {
    await trainer.call('forget').catch((problem) => notice(problem.message, true));
    own = 0;
    find('forget').hidden = true;
    find('teach-status').textContent = 'Forgotten. Reset the network, too, to undo what it learned from them.';
    find('teach-digit').focus();
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    if (panel) panel.repaint();
    paintDigit(find('reduced'), pad.pixels || new Uint8Array(64));
  });
}

/** Gives the worker the library, the digits and a network, and has it read what is drawn. */
async function begin() {
  await trainer.call('start', MODULE, data.bytes, panel.kind);
  ready = true;
  await panel.ready();
  await showGraph();
  notice(null);
  if (pad.pixels) predict(pad.pixels);
}

async function start() {
  try {
    const answer = await fetch('digits.u8');
    if (!answer.ok) throw new Error(`digits.u8 cannot be had: ${answer.status}`);
    data = readDigits(new Uint8Array(await answer.arrayBuffer()));
    panel = new TrainPanel(trainer, data, () => showGraph().catch((problem) => notice(problem.message, true)));
    await begin();
  } catch (problem) {
    notice(problem.message, true);
  }
}

/** Keeps the page for times without a network. */
async function keep() {
  if (!('serviceWorker' in navigator)) return;
  try {
    await navigator.serviceWorker.register('sw.js');
    await navigator.serviceWorker.ready;
    find('offline').textContent = 'This page is kept on your device: it works without a network, too.';
  } catch {
    find('offline').textContent = ''; // a private window, or a server without https
  }
}

connect();
start();
keep();
