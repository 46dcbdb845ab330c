"""What the examples share: the digits, initial weights, a loss, and Adam."""

from __future__ import annotations

import math

from report import digit_records

from mxlite import nd


def read_digits() -> tuple[nd.NDArray, nd.NDArray]:
    """Images (n, 64) in 0 .. 1 and digits (n,)."""
    pixels, digits = digit_records()
    return nd.array(pixels / 16.0), nd.array(digits)


def he_normal(*shape: int) -> nd.NDArray:
    """He's initial weights (He et al. 2015): normal with variance 2 / inputs of a unit; axis 0 counts the units."""
    return nd.random.normal(0, math.sqrt(2 / math.prod(shape[1:])), shape=shape)


def cross_entropy(scores: nd.NDArray, right: nd.NDArray) -> nd.NDArray:
    """Mean of -log(probability of the right class); scores have one axis more than classes, the last."""
    return -nd.pick(nd.log_softmax(scores), right).mean()


def random_order(count: int) -> nd.NDArray:
    """The numbers 0 .. count - 1 (int32) in an order drawn anew."""
    return nd.argsort(nd.random.uniform(shape=(count,)), dtype="int32")


class Adam:
    """Steps of Adam (Kingma and Ba 2015), with its correction of the first steps, which adam_update leaves out."""

    def __init__(self, weights: list[nd.NDArray], beta1: float = 0.9, beta2: float = 0.999) -> None:
        self.weights, self.beta1, self.beta2, self.steps = weights, beta1, beta2, 0
        self.means = [nd.zeros_like(weight) for weight in weights]
        self.squares = [nd.zeros_like(weight) for weight in weights]
        for weight in weights:
            weight.attach_grad()

    def step(self, rate: float, clip: float = -1) -> None:
        """Changes every weight by its gradient, whose elements are clipped to -clip .. clip if that is positive."""
        self.steps += 1
        rate *= math.sqrt(1 - self.beta2**self.steps) / (1 - self.beta1**self.steps)
        for weight, mean, square in zip(self.weights, self.means, self.squares):
            nd.adam_update(
                weight, weight.grad, mean, square, rate, self.beta1, self.beta2, clip_gradient=clip, out=weight
            )
