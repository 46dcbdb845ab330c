"""Learns which of three spirals a point of the plane is on; the last line is the accuracy; for `mypy --strict`."""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
from network import Network, loss_of

import mxlite as mx
from mxlite import autograd, nd

CLASSES = 3


def spirals(count: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Points of shape (count, 2), and the spiral of each."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, count)
    radius = random.uniform(0.05, 1, count)
    angle = 4 * radius + 2 * np.pi / CLASSES * labels + random.normal(0, 0.1, count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype(np.float32), labels


def accuracy(network: Network, points: nd.NDArray, labels: npt.NDArray[np.int64]) -> float:
    """The share of points that are put on the right spiral."""
    guesses = network(points).argmax(axis=1).asnumpy().astype(np.int64)
    return float((guesses == labels).mean())


def main() -> None:
    """Trains, and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    steps: int = parser.parse_args().steps

    mx.random.seed(1)
    points, labels = spirals(900, seed=0)
    x, y = nd.array(points), nd.array(labels)
    network = Network(inputs=2, hidden=48, classes=CLASSES)
    for step in range(steps):
        with autograd.record():
            loss = loss_of(network(x), y)
        loss.backward()
        network.update(rate=0.3)
        if step % 100 == 0:
            print(f"step {step:4d}  loss {float(loss.asscalar()):.3f}")
    held_out, answers = spirals(600, seed=1)
    print(f"held-out accuracy {accuracy(network, nd.array(held_out), answers):.3f}")


if __name__ == "__main__":
    main()
