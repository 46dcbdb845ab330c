"""Layers with types, as `mypy --strict` checks a network of one's own."""

from __future__ import annotations

from collections.abc import Iterator

import mxlite as mx
from mxlite import autograd, nd


class Swish(autograd.Function):
    """x * sigmoid(x), with a gradient of its own."""

    def forward(self, x: nd.NDArray) -> nd.NDArray:
        gate = nd.sigmoid(x)
        self.save_for_backward(x, gate)
        return x * gate

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        x, gate = self.saved_tensors
        return dy * (gate + x * gate * (1 - gate))


class Dense:
    """A fully connected layer: weights of shape (units, inputs) and a bias."""

    def __init__(self, inputs: int, units: int) -> None:
        self.units = units
        self.weight = mx.random.normal(0, (2 / inputs) ** 0.5, shape=(units, inputs))
        self.bias = nd.zeros(units)
        self.momenta = [nd.zeros_like(self.weight), nd.zeros_like(self.bias)]
        for parameter in self.parameters():
            parameter.attach_grad()

    def parameters(self) -> Iterator[nd.NDArray]:
        """What is learned."""
        yield self.weight
        yield self.bias

    def __call__(self, x: nd.NDArray) -> nd.NDArray:
        return nd.FullyConnected(x, self.weight, self.bias, num_hidden=self.units)

    def update(self, rate: float) -> None:
        """One step against the gradients."""
        for parameter, momentum in zip(self.parameters(), self.momenta):
            nd.sgd_mom_update(parameter, parameter.grad, momentum, lr=rate, momentum=0.9, out=parameter)


class Network:
    """Two layers with Swish between them."""

    def __init__(self, inputs: int, hidden: int, classes: int) -> None:
        self.layers = (Dense(inputs, hidden), Dense(hidden, classes))

    def __call__(self, x: nd.NDArray) -> nd.NDArray:
        first, second = self.layers
        hidden: nd.NDArray = Swish()(first(x))
        return second(hidden)

    def update(self, rate: float) -> None:
        """One step of every layer."""
        for layer in self.layers:
            layer.update(rate)


def loss_of(scores: nd.NDArray, labels: nd.NDArray) -> nd.NDArray:
    """Mean of -log softmax at the labels."""
    return -nd.pick(nd.log_softmax(scores, axis=-1), labels, axis=-1).mean()
