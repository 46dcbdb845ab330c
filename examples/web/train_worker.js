/* The worker that trains: loads mxlite, keeps the trainer, and sends events {event: 'progress', ...} while it runs. */
import {load} from './mxlite/index.js';
import {readDigits} from './digits.js';
import {fromRecorded} from './graph_data.js';
import {oneLine, serve} from './remote.js';
import {Trainer} from './trainer.js';

/** The two paces: how long steps run before the page is heard, and the pause after them, in milliseconds. */
const PACES = {gentle: {work: 1, rest: 12}, fast: {work: 40, rest: 0}};
const REPORT = 15; // steps between evaluations
const PASSES = 40; // after which it pauses

let mx = null,
  trainer = null,
  timer = 0;
let state = {step: 0, seconds: 0, end: 0, lr: 0.1, pace: 'gentle', drawing: null};
let recent = [];

function report(end = false) {
  const {step, seconds, drawing} = state,
    loss = recent.length ? recent.reduce((sum, each) => sum + each) / recent.length : null;
  recent = [];
  globalThis.postMessage({
    event: 'progress',
    step,
    seconds,
    loss,
    pass: step / trainer.stepsInPass,
    ...trainer.evaluate(),
    probabilities: drawing && trainer.predict(drawing),
    end,
  });
}

/** The trainer. Fails where start() has not made it. */
function made() {
  if (!trainer) throw new Error('There is no network: load the page again.');
  return trainer;
}

function stop(send = true) {
  clearTimeout(timer);
  timer = 0;
  if (send) report();
}

function run() {
  const begin = performance.now(),
    {work, rest} = PACES[state.pace];
  try {
    do {
      const loss = trainer.step(state.lr);
      state.step++;
      if (!Number.isFinite(loss))
        throw new Error(
          'The loss is no longer a number: the learning rate was too large. Choose a smaller one, then Reset.',
        );
      recent.push(loss);
      if (state.step % REPORT === 0) report();
    } while (performance.now() - begin < work);
  } catch (problem) {
    stop(false);
    globalThis.postMessage({event: 'failed', error: oneLine(problem)});
    return;
  }
  state.seconds += (performance.now() - begin) / 1000;
  if (state.step >= state.end) {
    timer = 0;
    report(true);
  } else {
    timer = setTimeout(run, rest);
  }
}

serve({
  /** Loads the library and the digits. */
  async start(moduleUrl, digits, kind) {
    mx = await load(moduleUrl);
    trainer = new Trainer(mx, readDigits(digits));
    trainer.choose(kind);
    report();
  },
  /** A new network of a kind, untrained. */
  choose(kind) {
    stop(false);
    made().choose(kind);
    [state.step, state.seconds, recent] = [0, 0, []];
    report();
  },
  train() {
    if (timer) return;
    const {stepsInPass} = made();
    state.end = (Math.floor(state.step / stepsInPass) + PASSES) * stepsInPass;
    timer = setTimeout(run, 0);
  },
  pause: () => stop(),
  set(options) {
    state = {...state, ...options};
  },
  /** The probabilities of the digits for a drawing, which is asked for again with each report. */
  predict(pixels) {
    state.drawing = pixels;
    return pixels && made().predict(pixels);
  },
  add: (pixels, digit) => made().add(pixels, digit),
  forget: () => made().forget(),
  /** The recorded graph of a step. @returns {import('./graph_data.js').ViewNode[]} */
  graph() {
    const nodes = fromRecorded(mx, made().graph(), {data: 'pictures', index: 'right digits'});
    nodes[nodes.length - 1].shape = 'the loss';
    return nodes;
  },
});
