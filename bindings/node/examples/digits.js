'use strict';
/* Trains a two-layer network on handwritten digits, as examples/digits.c does: node examples/digits.js [DATA]. The
 * package for WebAssembly runs the same (examples/digits.mjs there). */
const fs = require('fs');
const path = require('path');

/** Trains with the package `mx` on the records in `bytes`, and prints a line for each epoch. */
function train(mx, bytes) {
  const {nd} = mx, PIXELS = 64, IMAGES = 1797, TRAIN = 1437, BATCH = 32, EPOCHS = 20;

  /** Pixels as 0 .. 1 and digits of records [begin, end). */
  function read(bytes, begin, end) {
    const images = new Float32Array((end - begin) * PIXELS), digits = new Float32Array(end - begin);
    for (let i = begin; i < end; i++) {
      for (let k = 0; k < PIXELS; k++) images[(i - begin) * PIXELS + k] = bytes[i * (PIXELS + 1) + k] / 16;
      digits[i - begin] = bytes[i * (PIXELS + 1) + PIXELS];
    }
    return {images: mx.array(images, {shape: [end - begin, PIXELS]}), digits: mx.array(digits)};
  }

  /** He's initial weights (He et al. 2015): normal with variance 2 / inputs. */
  const weights = (outputs, inputs) => nd._random_normal({shape: [outputs, inputs], scale: Math.sqrt(2 / inputs)});

  function network() {
    const layers = [weights(128, 64), nd._zeros({shape: [128]}), weights(10, 128), nd._zeros({shape: [10]})];
    return layers.map((weight) => ({weight: weight.attachGrad(), momentum: nd.zeros_like(weight.detach())}));
  }

  function scores([w1, b1, w2, b2], x) {
    const hidden = nd.relu(nd.FullyConnected(x, w1.weight, b1.weight, {num_hidden: 128}));
    return nd.FullyConnected(hidden, w2.weight, b2.weight, {num_hidden: 10});
  }

  /** Mean of -log(probability of the right digit). */
  const crossEntropy = (score, digits) => nd.negative(nd.mean(nd.pick(nd.log_softmax(score), digits)));

  /** An order of 0 .. TRAIN-1 drawn from the library's random numbers. */
  function drawOrder() {
    const drawn = nd._random_uniform({shape: [TRAIN]}).values(), order = Float32Array.from(drawn.keys());
    for (let i = TRAIN - 1; i > 0; i--) { // Fisher and Yates
      const k = Math.min(i, Math.floor(drawn[i] * (i + 1)));
      [order[i], order[k]] = [order[k], order[i]];
    }
    return order;
  }

  function trainEpoch(net, data, lr) {
    const order = drawOrder();
    let total = 0;
    for (let begin = 0; begin < TRAIN; begin += BATCH) mx.scope(() => {
      const chosen = mx.array(order.slice(begin, begin + BATCH));
      const x = nd.take(data.images, chosen), y = nd.take(data.digits, chosen);
      const loss = mx.record(() => crossEntropy(scores(net, x), y));
      loss.backward();
      for (const {weight, momentum} of net)
        nd.sgd_mom_update(weight, weight.grad, momentum, {lr, momentum: 0.9, wd: 0.0001, out: weight});
      total += loss.item() * chosen.size;
    });
    return total / TRAIN;
  }

  function evaluate(net, data) {
    const score = scores(net, data.images), best = nd.argmax(score, {axis: 1}).values(), digits = data.digits.values();
    const right = best.reduce((count, digit, i) => count + (digit === digits[i]), 0);
    return {loss: crossEntropy(score, data.digits).item(), accuracy: right / digits.length};
  }

  const known = read(bytes, 0, TRAIN), held = read(bytes, TRAIN, IMAGES);
  mx.seed(1);
  const net = network();
  let accuracy = 0;
  console.log('epoch   training loss   held-out loss   held-out accuracy   seconds');
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const begin = process.hrtime.bigint();
    const loss = trainEpoch(net, known, epoch <= EPOCHS / 2 ? 0.2 : 0.02), result = evaluate(net, held);
    const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
    accuracy = result.accuracy;
    console.log([String(epoch).padStart(5), loss.toFixed(4).padStart(15), result.loss.toFixed(4).padStart(15),
      accuracy.toFixed(3).padStart(19), seconds.toFixed(3).padStart(9)].join(' '));
  }
  console.log(`held-out accuracy ${accuracy.toFixed(3)}`);
}

module.exports = {
  train, file: process.argv[2] || path.join(__dirname, '..', '..', '..', 'examples', 'data', 'digits.u8'),
};
if (require.main === module) train(require('..'), fs.readFileSync(module.exports.file));
