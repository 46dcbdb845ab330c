/* Trains one network on the digits with mxlite; train_worker.js calls it. Nothing here knows the page. */
import {NETWORKS} from './networks.js';
import {PIXELS, TRAINED} from './digits.js';

export const BATCH = 32;
const COPIES = 10; // a visitor's digit counts as so many of the others

/** Mean of -log(probability of the right digit). */
const crossEntropy = (nd, scores, digits) => nd.negative(nd.mean(nd.pick(nd.log_softmax(scores), digits)));

export class Trainer {
  #mx;
  #net = null;
  #weights = {};
  #momentum = {};
  #images = [];
  #digits = []; // of what is trained on: pixels of 0 .. 16 and the digit
  #own = 0; // how many of the last of these are the visitor's
  #order = [];
  #held;

  /** @param {Object} mx the library @param {ReturnType<import('./digits.js').readDigits>} data */
  constructor(mx, data) {
    this.#mx = mx;
    for (let i = 0; i < TRAINED; i++) this.#put(data.pixels(i), data.digit(i));
    const held = Array.from({length: data.count - TRAINED}, (_, i) => TRAINED + i);
    this.#held = {images: this.#batch(held.map(data.pixels)), digits: held.map(data.digit)};
  }

  #put(pixels, digit) {
    this.#images.push(Uint8Array.from(pixels));
    this.#digits.push(digit);
  }

  #batch(images) {
    const values = new Float32Array(images.length * PIXELS);
    images.forEach((pixels, i) =>
      values.set(
        Float32Array.from(pixels, (ink) => ink / 16),
        i * PIXELS,
      ),
    );
    return this.#mx.array(values, {shape: [images.length, PIXELS]});
  }

  /** Begins anew with a network. On failure the network that was there stays. */
  choose(kind) {
    const {nd, scope} = this.#mx,
      net = NETWORKS[kind];
    if (!net) throw new Error(`no network '${kind}'`);
    const made = scope(() => {
      const weights = net.weights(nd),
        momentum = {};
      for (const [name, weight] of Object.entries(weights)) {
        weight.attachGrad();
        momentum[name] = nd.zeros_like(weight.detach());
      }
      return {weights, momentum};
    });
    for (const old of [...Object.values(this.#weights), ...Object.values(this.#momentum)]) old.dispose();
    [this.#net, this.#weights, this.#momentum, this.#order] = [net, made.weights, made.momentum, []];
  }

  /** Steps of one pass over all digits. */
  get stepsInPass() {
    return Math.ceil(this.#images.length / BATCH);
  }

  /** The visitor's digits: adds one. @param {ArrayLike<number>} pixels 64 of 0 .. 16
   * @returns {number} how many there are */
  add(pixels, digit) {
    for (let i = 0; i < COPIES; i++) this.#put(pixels, digit);
    this.#order = [];
    return ++this.#own;
  }

  /** Forgets the visitor's digits. */
  forget() {
    this.#images.length -= this.#own * COPIES;
    this.#digits.length -= this.#own * COPIES;
    [this.#own, this.#order] = [0, []];
  }

  /** The next digits of an order that is drawn for each pass. */
  #next() {
    if (this.#order.length === 0) {
      this.#order = Array.from(this.#images.keys());
      for (let i = this.#order.length - 1; i > 0; i--) {
        // Fisher and Yates
        const k = Math.floor(Math.random() * (i + 1));
        [this.#order[i], this.#order[k]] = [this.#order[k], this.#order[i]];
      }
    }
    const chosen = this.#order.splice(0, BATCH);
    return {
      images: this.#batch(chosen.map((i) => this.#images[i])),
      digits: this.#mx.array(chosen.map((i) => this.#digits[i])),
    };
  }

  #loss({images, digits}) {
    return this.#mx.record(() =>
      crossEntropy(this.#mx.nd, this.#net.scores(this.#mx.nd, images, this.#weights), digits),
    );
  }

  /** One step on the next 32 digits. @param {number} lr the learning rate @returns {number} the loss before it */
  step(lr) {
    const {nd, scope} = this.#mx;
    return scope(() => {
      const loss = this.#loss(this.#next());
      loss.backward();
      for (const [name, weight] of Object.entries(this.#weights))
        nd.sgd_mom_update(weight, weight.grad, this.#momentum[name], {lr, momentum: 0.9, wd: 0.0001, out: weight});
      return loss.item();
    });
  }

  /** What it answers to the held-out digits. @returns {{accuracy: number, answers: Uint8Array}} */
  evaluate() {
    return this.#mx.scope(() => {
      const {nd} = this.#mx,
        scores = this.#net.scores(nd, this.#held.images, this.#weights);
      const answers = Uint8Array.from(nd.argmax(scores, {axis: 1}).values()),
        {digits} = this.#held;
      return {accuracy: digits.filter((digit, i) => digit === answers[i]).length / digits.length, answers};
    });
  }

  /** The probability of each digit. @param {ArrayLike<number>} pixels 64 of 0 .. 16 */
  predict(pixels) {
    return this.#mx.scope(() => {
      const {nd} = this.#mx;
      return nd.softmax(this.#net.scores(nd, this.#batch([pixels]), this.#weights)).values();
    });
  }

  /** What a step records, as plain data (see mx.graph). The next step's digits are not used up. */
  graph() {
    const order = [...this.#order];
    try {
      return this.#mx.scope(() => this.#mx.graph(this.#loss(this.#next()), this.#weights));
    } finally {
      this.#order = order;
    }
  }
}
