/* The networks of the page: what each is called, its weights, and how it computes scores. Read by the page (for the
 * names) and by train_worker.js. */

/** He's initial weights (He et al. 2015): normal with variance 2 / inputs. */
const drawn = (nd, shape) =>
  nd._random_normal({shape, scale: Math.sqrt(2 / shape.slice(1).reduce((product, n) => product * n, 1))});

/** A layer's weights, each under the name that the picture of the graph shows. */
const layer = (nd, name, shape) => ({
  [`${name} weights`]: drawn(nd, shape),
  [`${name} bias`]: nd._zeros({shape: [shape[0]]}),
});

const dense = (nd, x, weights, name, size) =>
  nd.FullyConnected(x, weights[`${name} weights`], weights[`${name} bias`], {num_hidden: size});

/** @typedef {{label: string, about: string, rate: number, weights: function(Object): Object<string, NDArray>,
 *   scores: function(Object, NDArray, Object<string, NDArray>): NDArray}} Network
 * `scores(nd, x, weights)` maps (N, 64) pixels from 0 to 1 to (N, 10) scores, one for each digit. `rate` is a learning
 * rate that suits it. */
/** @type {Object<string, Network>} */
export const NETWORKS = {
  dense: {
    label: 'Two layers',
    about: '64 dots, then 64 hidden values, then 10 scores: 4,810 weights. Learns quickly.',
    rate: 0.1,
    weights: (nd) => ({...layer(nd, 'hidden', [64, 64]), ...layer(nd, 'digit', [10, 64])}),
    scores: (nd, x, weights) => dense(nd, nd.relu(dense(nd, x, weights, 'hidden', 64)), weights, 'digit', 10),
  },
  convolution: {
    label: 'Small convolution',
    about:
      'Slides 16 small windows over the picture, then weighs what they found: 8,714 weights. Sees a line wherever ' +
      'it is.',
    rate: 0.1,
    weights: (nd) => ({
      ...layer(nd, 'window', [16, 1, 3, 3]),
      ...layer(nd, 'hidden', [32, 256]),
      ...layer(nd, 'digit', [10, 32]),
    }),
    scores: (nd, x, weights) => {
      const windows = nd.Convolution(
        nd.reshape(x, {shape: [-1, 1, 8, 8]}),
        weights['window weights'],
        weights['window bias'],
        {kernel: [3, 3], pad: [1, 1], num_filter: 16},
      );
      const pooled = nd.Pooling(nd.relu(windows), {kernel: [2, 2], stride: [2, 2], pool_type: 'max'});
      return dense(nd, nd.relu(dense(nd, pooled, weights, 'hidden', 32)), weights, 'digit', 10);
    },
  },
  linear: {
    label: 'One layer',
    about: 'Each dot speaks for or against each digit: 650 weights. The simplest that learns at all.',
    rate: 0.1,
    weights: (nd) => layer(nd, 'digit', [10, 64]),
    scores: (nd, x, weights) => dense(nd, x, weights, 'digit', 10),
  },
};
