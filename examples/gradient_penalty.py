"""Learns to draw digits: a generator against a critic whose gradient is held at length 1 (WGAN-GP).

    python examples/gradient_penalty.py [--steps 500] [--penalty 10] [--seed 1] [--no-picture]

The critic, a convolution network, gives high numbers to real images and low ones to drawn ones; the generator learns
to draw what the critic numbers high. This works if the critic's slope is bounded, so the critic's loss has a penalty
(Gulrajani et al. 2017): the mean of (length of d critic(x) / dx - 1) ^ 2. To learn from that, backward must go through
a gradient: `autograd.grad(..., create_graph=True)` in `train_critic`. MXNet 1.9.1 cannot do this, because its
convolution has no second derivative.

The measure is a distance between sets of images that neither network knows of (`distance`): printed for noise, for the
drawn images, and for two sets of real ones, which no generator can be expected to beat.
"""

from __future__ import annotations

import pathlib
import time

import numpy as np
from common import Adam, he_normal, random_order, read_digits
from report import TRAIN, Bar, draw_curves, draw_images, new_page, options_of, parser_of, parts_of, save

import mxlite as mx
from mxlite import autograd, nd

NOISE, BATCH, RATE = 32, 64, 2e-3
CRITIC_STEPS = 3  # for each one of the generator
ROWS = 10  # of the table that is printed while it runs


def halved(x: nd.NDArray, kernel: nd.NDArray, bias: nd.NDArray) -> nd.NDArray:
    """A convolution of stride 2: images half as large."""
    return nd.Convolution(x, kernel, bias, kernel=(3, 3), pad=(1, 1), stride=(2, 2), num_filter=len(bias))


def doubled(x: nd.NDArray, kernel: nd.NDArray, bias: nd.NDArray) -> nd.NDArray:
    """A transposed convolution of stride 2: images twice as large."""
    return nd.Deconvolution(
        x, kernel, bias, kernel=(4, 4), pad=(1, 1), stride=(2, 2), num_filter=len(bias), no_bias=False
    )


class Critic:
    """Images (n, 1, 8, 8) -> one number each (n,)."""

    def __init__(self) -> None:
        self.weights = [
            he_normal(32, 1, 3, 3),
            nd.zeros((32,)),
            he_normal(64, 32, 3, 3),
            nd.zeros((64,)),
            he_normal(1, 256),
        ]

    def __call__(self, x: nd.NDArray) -> nd.NDArray:
        w1, b1, w2, b2, w3 = self.weights
        x = nd.LeakyReLU(halved(x, w1, b1), slope=0.2)  # 8 x 8 -> 4 x 4
        x = nd.LeakyReLU(halved(x, w2, b2), slope=0.2)  # 4 x 4 -> 2 x 2
        return nd.FullyConnected(x, w3, num_hidden=1, no_bias=True).reshape((-1,))


class Generator:
    """Noise (n, 32) -> images (n, 1, 8, 8) in 0 .. 1."""

    def __init__(self) -> None:
        self.weights = [he_normal(256, NOISE), nd.zeros((256,)), he_normal(64, 32, 4, 4), nd.zeros((32,))]
        self.weights += [he_normal(32, 1, 4, 4), nd.zeros((1,))]

    def __call__(self, noise: nd.NDArray) -> nd.NDArray:
        w1, b1, w2, b2, w3, b3 = self.weights
        x = nd.relu(nd.FullyConnected(noise, w1, b1, num_hidden=256)).reshape((-1, 64, 2, 2))
        x = nd.relu(doubled(x, w2, b2))  # 2 x 2 -> 4 x 4
        return nd.sigmoid(doubled(x, w3, b3))  # 4 x 4 -> 8 x 8

    def draw(self, count: int) -> nd.NDArray:
        return self(nd.random.normal(shape=(count, NOISE)))


def train_critic(
    critic: Critic, adam: Adam, real: nd.NDArray, drawn: nd.NDArray, penalty: float, rate: float
) -> tuple[float, float]:
    """One step; returns how far apart the critic holds the two sets, and the mean length of its slope."""
    # The slope counts where images become other images: at a random point of the line from a real one to a drawn one.
    share = nd.random.uniform(shape=(len(real), 1, 1, 1))
    between = share * real + (1 - share) * drawn
    between.attach_grad()
    with autograd.record():
        apart = critic(real).mean() - critic(drawn).mean()
        # A row of the sum's gradient is the slope at that image, because images do not meet within the critic.
        (slope,) = autograd.grad(critic(between).sum(), [between], create_graph=True)
        length = nd.sqrt((slope**2).sum(axis=(1, 2, 3)))
        loss = penalty * ((length - 1) ** 2).mean() - apart
    loss.backward()  # through the slope too: these are second derivatives of the convolutions
    adam.step(rate)
    return apart.asscalar(), length.mean().asscalar()


def train_generator(generator: Generator, adam: Adam, critic: Critic, rate: float) -> None:
    """One step towards images that the critic gives higher numbers."""
    with autograd.record():
        loss = -critic(generator.draw(BATCH)).mean()
    loss.backward()
    adam.step(rate)


def distance(some: nd.NDArray, others: nd.NDArray, directions: nd.NDArray) -> float:
    """The sliced Wasserstein distance of two sets of as many images (Rabin et al. 2011).

    Along one direction a set of images is a set of numbers; two such sets are as far apart as their sorted numbers are
    in the mean. The distance is the mean of that over many directions.
    """
    some, others = (nd.sort(nd.dot(each.reshape((-1, 64)), directions), axis=0) for each in (some, others))
    return float(nd.abs(some - others).mean().asscalar())


def random_directions(count: int) -> nd.NDArray:
    """Columns (64, count) of length 1."""
    columns = nd.random.normal(shape=(64, count))
    return columns / nd.norm(columns, axis=0, keepdims=True)


def print_table(rows: list[tuple[str, float]]) -> None:
    print("\nimages                              distance from held-out digits")
    for name, value in rows:
        print(f"{name:36}{value:29.4f}")
    print()


def draw(
    path: pathlib.Path, steps: list[int], curves: dict[str, list[float]], rows: list[tuple[str, np.ndarray]]
) -> None:
    """The distances, and a row of images for each name, as one PNG."""
    page = new_page(3.4 + 0.95 * len(rows))
    parts = parts_of(page, [3.4] + [0.95] * len(rows))
    title = "WGAN-GP: how far drawn digits are from held-out ones"
    draw_curves(parts[0], title, "step", "sliced Wasserstein distance (ink, 0 to 1)", steps, curves)
    for part, (name, images) in zip(parts[1:], rows):
        draw_images(part, name, [image.reshape(8, 8) for image in images[:12]], [], 12)
    save(page, path)


def main() -> None:
    parser = parser_of(__doc__, "gradient_penalty", "steps", 500)
    parser.add_argument("--penalty", type=float, default=10, help="weight of the penalty; 0: see what goes wrong")
    options = options_of(parser)
    mx.random.seed(options.seed)
    images = read_digits()[0].reshape((-1, 1, 8, 8))
    real, held = images[:TRAIN], images[TRAIN:]
    directions, noise = random_directions(200), nd.random.normal(shape=(len(held), NOISE))
    critic, generator = Critic(), Generator()
    of_critic, of_generator = Adam(critic.weights, beta1=0), Adam(generator.weights, beta1=0)
    floor = distance(real[: len(held)], held, directions)
    rows = [("step 0", generator(noise).asnumpy())]
    before = distance(generator(noise), held, directions)
    steps: list[int] = []
    curves: dict[str, list[float]] = {"drawn": [], "real": []}
    shown = {max(1, options.steps * part // ROWS) for part in range(1, ROWS + 1)}
    bar = Bar(options.steps)
    begin = time.perf_counter()
    print(" step   critic: real - drawn   length of its gradient   distance from held out   seconds")
    for step in range(1, options.steps + 1):
        rate = RATE * (1 - step / (options.steps + 1))  # falls to nearly 0, so that the drawings come to rest
        for _ in range(CRITIC_STEPS):
            batch = real[random_order(TRAIN)[:BATCH]]
            apart, length = train_critic(critic, of_critic, batch, generator.draw(BATCH), options.penalty, rate)
        train_generator(generator, of_generator, critic, rate)
        bar.show(step, f"step {step} of {options.steps}")
        if step in shown:
            drawn = generator(noise)
            steps.append(step)
            curves["drawn"].append(distance(drawn, held, directions))
            curves["real"].append(floor)
            bar.clear()
            seconds = time.perf_counter() - begin
            print(f"{step:5}{apart:23.3f}{length:25.3f}{curves['drawn'][-1]:25.4f}{seconds:10.2f}", flush=True)
            if len(steps) in (1, 3, ROWS):
                rows.append((f"step {step}", drawn.asnumpy()))
    reached = curves["drawn"][-1]
    print_table(
        [
            ("noise, every pixel by itself", distance(nd.random.uniform(shape=held.shape), held, directions)),
            ("the generator's before training", before),
            ("the generator's", reached),
            ("real ones, of the training set", floor),
        ]
    )
    if not options.no_picture:
        rows.append(("real", held.asnumpy()))
        draw(options.picture, steps, curves, rows)
        print(f"distances and drawn digits: {options.picture}")
    print(f"distance {reached:.4f} after training, {before:.4f} before, {floor:.4f} of real digits")


if __name__ == "__main__":
    main()
