"""Trains a two-layer network on handwritten digits: the main job of mxlite, in Python.

    python examples/digits.py [--epochs 20] [--seed 1] [--no-picture]

Everything that learns is in `train_batch`: record the loss, run backward, let sgd_mom_update change the weights. The
loss curve and the digits that were misread go to examples/out/digits.png; the last line printed is the accuracy on
images that were not trained on.
"""

from __future__ import annotations

import time

import numpy as np
from common import cross_entropy, he_normal, random_order, read_digits
from report import CLASSES, PIXELS, TRAIN, Bar, draw_reading, options_of, parser_of, save

import mxlite as mx
from mxlite import autograd, nd

HIDDEN, BATCH = 128, 32


class Network:
    """relu(x W1 + b1) W2 + b2 over images of 64 pixels; scores of ten digits."""

    def __init__(self) -> None:
        self.weights = [
            he_normal(HIDDEN, PIXELS),
            nd.zeros((HIDDEN,)),
            he_normal(CLASSES, HIDDEN),
            nd.zeros((CLASSES,)),
        ]
        self.momenta = [nd.zeros(weight.shape) for weight in self.weights]
        for weight in self.weights:
            weight.attach_grad()

    def scores(self, x: nd.NDArray) -> nd.NDArray:
        """(n, 64) images -> (n, 10) scores."""
        w1, b1, w2, b2 = self.weights
        hidden = nd.relu(nd.FullyConnected(x, w1, b1, num_hidden=HIDDEN))
        return nd.FullyConnected(hidden, w2, b2, num_hidden=CLASSES)

    def step(self, rate: float) -> None:
        """One update of stochastic gradient descent with momentum."""
        for weight, momentum in zip(self.weights, self.momenta):
            nd.sgd_mom_update(weight, weight.grad, momentum, lr=rate, momentum=0.9, wd=1e-4, out=weight)


def train_batch(network: Network, x: nd.NDArray, y: nd.NDArray, rate: float) -> float:
    """Records the loss of one batch, runs backward, updates the weights; returns the loss."""
    with autograd.record():
        loss = cross_entropy(network.scores(x), y)
    loss.backward()
    network.step(rate)
    return float(loss.asscalar())


def train_epoch(network: Network, x: nd.NDArray, y: nd.NDArray, rate: float, bar: Bar, text: str) -> float:
    """Every image once, in an order drawn anew; returns the mean loss."""
    count = len(x)
    order = random_order(count)
    total = 0.0
    for begin in range(0, count, BATCH):
        chosen = order[begin : begin + BATCH]
        total += train_batch(network, nd.take(x, chosen), nd.take(y, chosen), rate) * len(chosen)
        bar.show(begin + BATCH, text)
    bar.clear()
    return total / count


def main() -> None:
    options = options_of(parser_of(__doc__, "digits", "epochs", 20))
    mx.random.seed(options.seed)
    images, digits = read_digits()
    train_x, train_y, held_x, held_y = images[:TRAIN], digits[:TRAIN], images[TRAIN:], digits[TRAIN:]
    true = held_y.asnumpy().astype(int)
    network = Network()
    bar = Bar(TRAIN)
    curves: dict[str, list[float]] = {"training": [], "held out": []}
    print("epoch   training loss   held-out loss   held-out accuracy   seconds")
    for epoch in range(1, options.epochs + 1):
        begin = time.perf_counter()
        rate = 0.2 if epoch <= options.epochs / 2 else 0.02
        loss = train_epoch(network, train_x, train_y, rate, bar, f"epoch {epoch} of {options.epochs}")
        scores = network.scores(held_x)
        read = nd.argmax(scores, axis=1).asnumpy().astype(int)
        held_loss = cross_entropy(scores, held_y).asscalar()
        curves["training"].append(loss)
        curves["held out"].append(held_loss)
        seconds = time.perf_counter() - begin
        print(f"{epoch:5}{loss:16.4f}{held_loss:16.4f}{(read == true).mean():20.3f}{seconds:10.2f}")
    if not options.no_picture:
        wrong = [(int(i), int(read[i]), int(true[i])) for i in np.flatnonzero(read != true)]
        page, _ = draw_reading("A network of two layers on handwritten digits", curves, held_x.asnumpy(), wrong, 18)
        save(page, options.picture)
        print(f"loss curve and misread digits: {options.picture}")
    print(f"held-out accuracy {(read == true).mean():.3f}")


if __name__ == "__main__":
    main()
