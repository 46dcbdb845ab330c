"""Trains a two-layer network on handwritten digits: the main job of mxlite, in Python.

    python examples/digits.py [--epochs 20] [--seed 1] [--no-picture]

Everything that learns is in `train_batch`: record the loss, run backward, let sgd_mom_update change the weights. The
loss curve and the digits that were misread go to examples/out/digits.png; the last line printed is the accuracy on
images that were not trained on.
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

import mxlite as mx
from mxlite import autograd, nd

if TYPE_CHECKING:
    from PIL import ImageDraw

HERE = pathlib.Path(__file__).resolve().parent
PIXELS, CLASSES, TRAIN = 64, 10, 1437
HIDDEN, BATCH = 128, 32


class Network:
    """relu(x W1 + b1) W2 + b2 over images of 64 pixels; scores of ten digits."""

    def __init__(self) -> None:
        # He's initial weights (He et al. 2015): normal with variance 2 / inputs; biases zero.
        self.weights = [
            nd.random.normal(0, math.sqrt(2 / PIXELS), shape=(HIDDEN, PIXELS)),
            nd.zeros((HIDDEN,)),
            nd.random.normal(0, math.sqrt(2 / HIDDEN), shape=(CLASSES, HIDDEN)),
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


def cross_entropy(scores: nd.NDArray, digits: nd.NDArray) -> nd.NDArray:
    """Mean of -log(probability of the right digit)."""
    return -nd.pick(nd.log_softmax(scores), digits).mean()


def train_batch(network: Network, x: nd.NDArray, y: nd.NDArray, rate: float) -> float:
    """Records the loss of one batch, runs backward, updates the weights; returns the loss."""
    with autograd.record():
        loss = cross_entropy(network.scores(x), y)
    loss.backward()
    network.step(rate)
    return loss.asscalar()


class Bar:
    """A progress bar on the terminal's last line; nothing where standard output is not a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.shown = sys.stdout.isatty()

    def show(self, done: int, text: str) -> None:
        if self.shown:
            filled = 40 * done // self.total
            print(f"\r[{'=' * filled}{' ' * (40 - filled)}] {text}", end="", flush=True)

    def clear(self) -> None:
        if self.shown:
            print("\r" + " " * 78 + "\r", end="", flush=True)


def train_epoch(network: Network, x: nd.NDArray, y: nd.NDArray, rate: float, bar: Bar, text: str) -> float:
    """Every image once, in an order drawn anew; returns the mean loss."""
    count = len(x)
    order = np.argsort(nd.random.uniform(shape=(count,)).asnumpy(), kind="stable")
    total = 0.0
    for begin in range(0, count, BATCH):
        chosen = nd.array(order[begin : begin + BATCH], dtype="int32")
        total += train_batch(network, nd.take(x, chosen), nd.take(y, chosen), rate) * len(chosen)
        bar.show(begin + BATCH, text)
    bar.clear()
    return total / count


def read_data(path: pathlib.Path) -> tuple[nd.NDArray, nd.NDArray]:
    """Images (n, 64) in 0 .. 1 and digits (n,), from the records of digits.u8 (examples/data/README.md)."""
    records = np.fromfile(path, dtype=np.uint8).reshape(-1, PIXELS + 1)
    return nd.array(records[:, :PIXELS] / 16.0), nd.array(records[:, PIXELS])


def draw_losses(page: ImageDraw.ImageDraw, box: tuple[int, int, int, int], curves: list[tuple[float, float]]) -> None:
    """The losses of every epoch on a logarithmic axis, within a box (left, top, right, bottom) of pixels."""
    left, top, right, bottom = box
    low = math.floor(math.log10(max(1e-9, min(map(min, curves)))))
    high = max(low + 1, math.ceil(math.log10(max(map(max, curves)))))

    def point(epoch: int, loss: float) -> tuple[float, float]:
        across = (epoch - 1) / max(1, len(curves) - 1)
        return left + across * (right - left), bottom - (math.log10(max(1e-9, loss)) - low) / (high - low) * (
            bottom - top
        )

    for power in range(low, high + 1):
        y = point(1, 10.0**power)[1]
        page.line([(left, y), (right, y)], fill="lightgray")
        page.text((left - 45, y - 6), f"{10.0**power:g}", fill="black")
    for epoch in range(1, len(curves) + 1, max(1, len(curves) // 10)):
        page.text((point(epoch, 10.0**low)[0] - 4, bottom + 6), str(epoch), fill="black")
    for which, (name, color) in enumerate((("training", "steelblue"), ("held out", "darkorange"))):
        page.line([point(epoch, pair[which]) for epoch, pair in enumerate(curves, 1)], fill=color, width=2)
        page.text((right - 70, top + 4 + 16 * which), name, fill=color)
    page.text((left, top - 24), "Handwritten digits: cross-entropy by epoch", fill="black")


def draw(path: pathlib.Path, curves: list[tuple[float, float]], images: np.ndarray, wrong: list[tuple]) -> None:
    """The loss of every epoch, and the digits that were misread, as one PNG."""
    from PIL import Image, ImageDraw

    columns, tile = 6, 100
    shown = wrong[: 3 * columns]
    picture = Image.new("RGB", (720, 380 + (tile + 30) * math.ceil(len(shown) / columns)), "white")
    page = ImageDraw.Draw(picture)
    draw_losses(page, (70, 40, 690, 300), curves)
    page.text((70, 345), f"{len(wrong)} misread of {len(images)} held out (read / true)", fill="black")
    for place, (index, read, true) in enumerate(shown):
        x, y = 70 + place % columns * (tile + 5), 375 + place // columns * (tile + 30)
        pixels = (255 * (1 - images[index].reshape(8, 8))).astype(np.uint8)
        picture.paste(Image.fromarray(pixels).resize((tile, tile), Image.NEAREST), (x, y + 18))
        page.text((x, y), f"{read} / {true}", fill="black")
    path.parent.mkdir(exist_ok=True)
    picture.save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, default=HERE / "data" / "digits.u8")
    parser.add_argument("--picture", type=pathlib.Path, default=HERE / "out" / "digits.png")
    parser.add_argument("--no-picture", action="store_true")
    options = parser.parse_args()
    if options.epochs < 1:
        parser.error(f"--epochs: at least 1 is needed, got {options.epochs}")

    mx.random.seed(options.seed)
    images, digits = read_data(options.data)
    train_x, train_y, held_x, held_y = images[:TRAIN], digits[:TRAIN], images[TRAIN:], digits[TRAIN:]
    true = held_y.asnumpy().astype(int)
    network = Network()
    bar = Bar(TRAIN)
    curves = []
    print("epoch   training loss   held-out loss   held-out accuracy   seconds")
    for epoch in range(1, options.epochs + 1):
        begin = time.perf_counter()
        rate = 0.2 if epoch <= options.epochs / 2 else 0.02
        loss = train_epoch(network, train_x, train_y, rate, bar, f"epoch {epoch} of {options.epochs}")
        scores = network.scores(held_x)
        read = nd.argmax(scores, axis=1).asnumpy().astype(int)
        curves.append((loss, cross_entropy(scores, held_y).asscalar()))
        seconds = time.perf_counter() - begin
        print(f"{epoch:5}{loss:16.4f}{curves[-1][1]:16.4f}{(read == true).mean():20.3f}{seconds:10.2f}")
    if not options.no_picture:
        wrong = [(i, read[i], true[i]) for i in np.flatnonzero(read != true)]
        draw(options.picture, curves, held_x.asnumpy(), wrong)
        print(f"loss curve and misread digits: {options.picture}")
    print(f"held-out accuracy {(read == true).mean():.3f}")


if __name__ == "__main__":
    main()
