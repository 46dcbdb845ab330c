"""One block of a transformer learns to turn rows of numbers around; then second derivatives by hand."""

import numpy as np
from mxnet import autograd, nd

ROWS, LENGTH, WIDTH, HEADS, WORDS = 16, 6, 16, 4, 8


class Block:
    def __init__(self):
        draw = np.random.RandomState(5)

        def weights(*shape):
            return nd.array(draw.randn(*shape) / np.sqrt(shape[0]))

        self.words, self.places = weights(WORDS, WIDTH) * 2, weights(LENGTH, WIDTH) * 2
        self.q, self.k, self.v, self.o = (weights(WIDTH, WIDTH) for _ in range(4))
        self.gain, self.shift = nd.ones(WIDTH), nd.zeros(WIDTH)
        self.wide, self.narrow = weights(WIDTH, 2 * WIDTH), weights(2 * WIDTH, WIDTH)
        self.out = weights(WIDTH, WORDS)
        self.all = [value for value in vars(self).values() if isinstance(value, nd.NDArray)]
        for value in self.all:
            value.attach_grad()

    def heads(self, x):
        """(rows, length, width) -> (rows * heads, length, width / heads)"""
        return x.reshape((0, 0, HEADS, -1)).transpose((0, 2, 1, 3)).reshape((-1, 0, 0), reverse=True)

    def normal(self, x):
        mean, variance = nd.moments(x, axes=(-1,), keepdims=True)
        return (x - mean) / nd.sqrt(variance + 1e-5) * self.gain + self.shift

    def scores(self, x):
        x = nd.Embedding(x, self.words, input_dim=WORDS, output_dim=WIDTH) + self.places
        q, k, v = (self.heads(nd.dot(x, weight)) for weight in (self.q, self.k, self.v))
        attention = nd.softmax(nd.batch_dot(q, k, transpose_b=True), axis=-1, temperature=(WIDTH / HEADS) ** 0.5)
        seen = nd.batch_dot(attention, v).reshape((-1, HEADS, LENGTH, WIDTH // HEADS))
        x = self.normal(x + nd.dot(seen.transpose((0, 2, 1, 3)).reshape((0, 0, -1)), self.o))
        x = x + nd.dot(nd.LeakyReLU(nd.dot(x, self.wide), act_type="gelu"), self.narrow)
        return nd.dot(x, self.out), attention


def run():
    x = nd.array(np.random.RandomState(6).randint(0, WORDS, (ROWS, LENGTH)))
    y = nd.flip(x, axis=1)
    block, losses = Block(), []
    moments = [(nd.zeros_like(weight), nd.zeros_like(weight)) for weight in block.all]
    for step in range(1, 26):
        with autograd.record():
            scores, attention = block.scores(x)
            loss = -nd.pick(nd.log_softmax(scores), y).mean()
        loss.backward()
        losses.append(loss.asscalar())
        for weight, (mean, variance) in zip(block.all, moments):
            rate = 0.02 * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)
            nd.adam_update(weight, weight.grad, mean, variance, lr=rate, out=weight)
    z = nd.array(np.linspace(-2, 2, 7))
    z.attach_grad()
    with autograd.record():
        slope = autograd.grad(nd.tanh(z), z, create_graph=True, retain_graph=True)[0]
        total = (slope**2).sum()
    total.backward()
    return {
        "losses": losses,
        "accuracy": (scores.argmax(axis=2) == y).mean(),
        "first loss's share": nd.array(losses[:1]) / np.log(WORDS),
        "attention": attention.sum(axis=2).mean(),
        "shape": list(attention.shape),
        "norms": [weight.grad.norm() for weight in block.all[:4]],
        "curvature": z.grad,
    }
