"""Reads handwritten digits with a convolution network in the manner of LeNet (LeCun et al. 1998).

    python examples/lenet_digits.py [--epochs 20] [--seed 1] [--no-picture]

Two things lift it above the network of examples/digits.py. Convolutions use one small kernel at every place, so a
stroke is learned once for all places; and each epoch sees every image moved by a random step of at most one pixel
(`moved` and `train_epoch`), so the network cannot learn pixels by heart. The last line printed is the accuracy on
images that were not trained on.
"""

from __future__ import annotations

import math
import pathlib
import time

import numpy as np
from common import cross_entropy, he_normal, random_order, read_digits
from report import CLASSES, TRAIN, Bar, draw_images, draw_reading, options_of, parser_of, print_table, save

import mxlite as mx
from mxlite import autograd, nd

BATCH = 32
CHANNELS = (1, 32, 64, 64)  # of the image, and after each convolution
HIDDEN = 128


class LeNet:
    """Three convolutions, two poolings, two dense layers: images (n, 1, 8, 8) -> scores (n, 10)."""

    def __init__(self) -> None:
        self.kernels = [he_normal(out, into, 3, 3) for into, out in zip(CHANNELS, CHANNELS[1:])]
        # What BatchNorm learns, a factor and a shift of each channel, and what it keeps: a mean and a variance.
        self.gammas = [nd.ones((channels,)) for channels in CHANNELS[1:]]
        self.betas = [nd.zeros((channels,)) for channels in CHANNELS[1:]]
        self.means = [nd.zeros((channels,)) for channels in CHANNELS[1:]]
        self.variances = [nd.ones((channels,)) for channels in CHANNELS[1:]]
        self.dense = [
            he_normal(HIDDEN, CHANNELS[-1] * 2 * 2),
            nd.zeros((HIDDEN,)),
            he_normal(CLASSES, HIDDEN),
            nd.zeros((CLASSES,)),
        ]
        self.weights = self.kernels + self.gammas + self.betas + self.dense
        self.momenta = [nd.zeros_like(weight) for weight in self.weights]
        for weight in self.weights:
            weight.attach_grad()

    def block(self, layer: int, x: nd.NDArray) -> nd.NDArray:
        """Convolution, BatchNorm, relu; the size of the image stays. The kernel needs no bias: beta is one."""
        kernel, channels = self.kernels[layer], CHANNELS[layer + 1]
        x = nd.Convolution(x, kernel, kernel=(3, 3), pad=(1, 1), num_filter=channels, no_bias=True)
        # In training mode BatchNorm uses the batch's statistics, and backward moves the kept ones towards them.
        kept = self.means[layer], self.variances[layer]
        return nd.relu(nd.BatchNorm(x, self.gammas[layer], self.betas[layer], *kept, fix_gamma=False))

    def scores(self, x: nd.NDArray) -> nd.NDArray:
        x = self.block(1, self.block(0, x))
        x = nd.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")  # 8 x 8 -> 4 x 4
        x = self.block(2, x)
        x = nd.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")  # 4 x 4 -> 2 x 2
        w1, b1, w2, b2 = self.dense
        hidden = nd.relu(nd.FullyConnected(x, w1, b1, num_hidden=HIDDEN))  # which flattens x by itself
        return nd.FullyConnected(nd.Dropout(hidden, p=0.5), w2, b2, num_hidden=CLASSES)

    def step(self, rate: float) -> None:
        """One update of stochastic gradient descent with momentum."""
        for weight, momentum in zip(self.weights, self.momenta):
            nd.sgd_mom_update(weight, weight.grad, momentum, lr=rate, momentum=0.9, wd=5e-4, out=weight)


def moved(images: nd.NDArray) -> nd.NDArray:
    """(n, 1, 8, 8) images -> (9, n, 1, 8, 8): each as it is, and moved by one pixel in all eight directions."""
    padded = nd.pad(images, mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1))
    return nd.stack(*[padded[:, :, y : y + 8, x : x + 8] for y in range(3) for x in range(3)])


def train_epoch(network: LeNet, views: nd.NDArray, digits: nd.NDArray, rate: float, bar: Bar, text: str) -> float:
    """Every image once, in an order drawn anew, each moved in a direction drawn anew; returns the mean loss."""
    count, total = len(digits), 0.0
    order = random_order(count)
    direction = nd.random.randint(0, len(views), shape=(count,))
    for begin in range(0, count, BATCH):
        chosen = order[begin : begin + BATCH]
        x, y = views[direction[begin : begin + BATCH], chosen], digits[chosen]
        with autograd.record():
            loss = cross_entropy(network.scores(x), y)
        loss.backward()
        network.step(rate)
        total += loss.asscalar() * len(chosen)
        bar.show(100 * begin // count, text)
    bar.clear()
    return total / count


def draw(
    path: pathlib.Path,
    curves: dict[str, list[float]],
    network: LeNet,
    images: np.ndarray,
    wrong: list[tuple[int, int, int]],
) -> None:
    """The loss of every epoch, the digits that were misread, and the kernels of the first layer, as one PNG."""
    page, (below,) = draw_reading("LeNet on handwritten digits", curves, images, wrong, more=1.9)
    kernels = network.kernels[0].asnumpy()[:, 0]
    shades = list(kernels / abs(kernels).max(axis=(1, 2), keepdims=True))
    draw_images(below, f"The {CHANNELS[1]} kernels of the first convolution (black: positive)", shades, [], 16)
    save(page, path)


def main() -> None:
    options = options_of(parser_of(__doc__, "lenet_digits", "epochs", 20))
    mx.random.seed(options.seed)
    images, digits = read_digits()
    images = images.reshape((-1, 1, 8, 8))
    train_views, train_y, held_x, held_y = moved(images[:TRAIN]), digits[:TRAIN], images[TRAIN:], digits[TRAIN:]
    true = held_y.asnumpy().astype(int)
    network = LeNet()
    bar = Bar(100)
    curves: dict[str, list[float]] = {"training": [], "held out": []}
    print("epoch   training loss   held-out loss   held-out accuracy   seconds")
    for epoch in range(1, options.epochs + 1):
        begin = time.perf_counter()
        rate = 0.01 * (1 + math.cos(math.pi * epoch / options.epochs)) / 2 + 0.0001  # half a wave of the cosine
        text = f"epoch {epoch} of {options.epochs}"
        curves["training"].append(train_epoch(network, train_views, train_y, rate, bar, text))
        scores = network.scores(held_x)  # not recorded, so in prediction mode: BatchNorm uses what it kept
        read = nd.argmax(scores, axis=1).asnumpy().astype(int)
        curves["held out"].append(cross_entropy(scores, held_y).asscalar())
        seconds = time.perf_counter() - begin
        losses = f"{curves['training'][-1]:16.4f}{curves['held out'][-1]:16.4f}"
        print(f"{epoch:5}{losses}{(read == true).mean():20.3f}{seconds:10.2f}", flush=True)
    print_table(read, true)
    if not options.no_picture:
        wrong = [(int(i), int(read[i]), int(true[i])) for i in np.flatnonzero(read != true)]
        draw(options.picture, curves, network, held_x.asnumpy(), wrong)
        print(f"losses, misread digits, kernels: {options.picture}")
    print(f"held-out accuracy {(read == true).mean():.3f}")


if __name__ == "__main__":
    main()
