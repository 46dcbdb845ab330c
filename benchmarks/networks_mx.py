"""Training steps written with `nd` operators, the same text for mxlite and the real MXNet 1.9.1.

Each function takes the library and `draw(*shape, kind=...)`, which makes an array of normal draws, or of whole numbers
below `kind`, and returns a function that trains for one step and returns the loss. networks_torch.py has the same
networks, of the same numbers, for PyTorch: after the same steps all have the same loss.
"""

from __future__ import annotations

import math
from typing import Any, Callable

RATE, MOMENTUM = 0.01, 0.9
CLASSES = 10


class Trainer:
    """The library, the parameters of a network, and operators with parameters."""

    def __init__(self, mx: Any, draw: Callable) -> None:
        self.mx, self.nd, self.draw = mx, mx.nd, draw
        self.parameters: list[Any] = []
        self.moments: list[Any] = []

    def add(self, parameter: Any) -> Any:
        parameter.attach_grad()
        self.parameters.append(parameter)
        self.moments.append(self.nd.zeros(parameter.shape))
        return parameter

    def weight(self, *shape: int) -> Any:
        return self.add(self.draw(*shape) * math.sqrt(1 / math.prod(shape[1:])))

    def bias(self, *shape: int) -> Any:
        return self.add(self.nd.zeros(shape))

    def gain(self, *shape: int) -> Any:
        return self.add(self.nd.ones(shape))

    def dense(self, inputs: int, outputs: int, flatten: bool = True) -> Callable:
        weight, bias = self.weight(outputs, inputs), self.bias(outputs)
        return lambda x: self.nd.FullyConnected(x, weight, bias, num_hidden=outputs, flatten=flatten)

    def convolution(self, inputs: int, outputs: int, size: int, stride: int = 1, pad: int = 0) -> Callable:
        weight = self.weight(outputs, inputs, size, size)
        extents = {"kernel": (size, size), "stride": (stride, stride), "pad": (pad, pad)}
        return lambda x: self.nd.Convolution(x, weight, num_filter=outputs, no_bias=True, **extents)

    def batch_norm(self, channels: int) -> Callable:
        gain, bias = self.gain(channels), self.bias(channels)
        mean, var = self.nd.zeros((channels,)), self.nd.ones((channels,))
        return lambda x: self.nd.BatchNorm(x, gain, bias, mean, var, fix_gamma=False, eps=1e-5, momentum=0.9)

    def layer_norm(self, channels: int) -> Callable:
        gain, bias = self.gain(channels), self.bias(channels)
        return lambda x: self.nd.LayerNorm(x, gain, bias, eps=1e-5)

    def cross_entropy(self, x: Any, labels: Any) -> Any:
        return -self.nd.mean(self.nd.pick(self.nd.log_softmax(x), labels))

    def step(self, loss: Callable[[], Any]) -> Callable[[], Any]:
        """Gradients, and a step of gradient descent with momentum for each parameter."""

        def train() -> Any:
            with self.mx.autograd.record():
                value = loss()
            value.backward()
            for weight, moment in zip(self.parameters, self.moments):
                self.nd.sgd_mom_update(weight, weight.grad, moment, lr=RATE, momentum=MOMENTUM, out=weight)
            return value

        return train


def mlp(mx: Any, draw: Callable, batch: int) -> Callable[[], Any]:
    t = Trainer(mx, draw)
    layers = [t.dense(784, 256), t.dense(256, 128), t.dense(128, CLASSES)]
    x, labels = draw(batch, 784), draw(batch, kind=CLASSES)

    def loss() -> Any:
        h = mx.nd.relu(layers[0](x))
        h = mx.nd.relu(layers[1](h))
        return t.cross_entropy(layers[2](h), labels)

    return t.step(loss)


def lenet(mx: Any, draw: Callable, batch: int) -> Callable[[], Any]:
    t = Trainer(mx, draw)
    first, second = t.convolution(1, 20, 5), t.convolution(20, 50, 5)
    third, fourth = t.dense(50 * 4 * 4, 500), t.dense(500, CLASSES)
    x, labels = draw(batch, 1, 28, 28), draw(batch, kind=CLASSES)

    def pooled(h: Any) -> Any:
        return mx.nd.Pooling(mx.nd.relu(h), kernel=(2, 2), stride=(2, 2), pool_type="max")

    def loss() -> Any:
        h = pooled(second(pooled(first(x))))
        return t.cross_entropy(fourth(mx.nd.relu(third(h))), labels)

    return t.step(loss)


def residual(t: Trainer, inputs: int, outputs: int, stride: int) -> Callable:
    """Two convolutions of 3 x 3 beside what leads around them."""
    relu = t.nd.relu
    first, norm1 = t.convolution(inputs, outputs, 3, stride, 1), t.batch_norm(outputs)
    second, norm2 = t.convolution(outputs, outputs, 3, 1, 1), t.batch_norm(outputs)
    if stride == 1:
        return lambda x: relu(norm2(second(relu(norm1(first(x))))) + x)
    around, norm3 = t.convolution(inputs, outputs, 1, stride), t.batch_norm(outputs)
    return lambda x: relu(norm2(second(relu(norm1(first(x))))) + norm3(around(x)))


def resnet18(mx: Any, draw: Callable, batch: int) -> Callable[[], Any]:
    t = Trainer(mx, draw)
    first, norm = t.convolution(3, 64, 3, 1, 1), t.batch_norm(64)
    stages = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    blocks = [block for a, b, stride in stages for block in (residual(t, a, b, stride), residual(t, b, b, 1))]
    last = t.dense(512, CLASSES)
    x, labels = draw(batch, 3, 32, 32), draw(batch, kind=CLASSES)

    def loss() -> Any:
        h = mx.nd.relu(norm(first(x)))
        for block in blocks:
            h = block(h)
        h = mx.nd.Pooling(h, kernel=(1, 1), global_pool=True, pool_type="avg")
        return t.cross_entropy(last(h), labels)

    return t.step(loss)


def lstm_weights(draw: Callable, layers: int, size: int) -> list[tuple[Any, Any]]:
    """For each layer the weights of inputs and of states, for the gates input, forget, new, output."""
    scale = math.sqrt(1 / size)
    return [(draw(4 * size, size) * scale, draw(size, 4 * size).T * scale) for _ in range(layers)]


def lstm(mx: Any, draw: Callable, steps: int, batch: int, size: int, layers: int) -> Callable[[], Any]:
    """All steps of all layers by one operator."""
    t = Trainer(mx, draw)
    weights = [w.reshape((-1,)) for pair in lstm_weights(draw, layers, size) for w in pair]
    packed = t.add(mx.nd.concat(*weights, mx.nd.zeros((layers * 8 * size,)), dim=0))
    last = t.dense(size, CLASSES)
    start = mx.nd.zeros((layers, batch, size))
    x, labels = draw(steps, batch, size), draw(batch, kind=CLASSES)

    def loss() -> Any:
        h = mx.nd.RNN(x, packed, start, start, mode="lstm", state_size=size, num_layers=layers)
        return t.cross_entropy(last(h[-1]), labels)

    return t.step(loss)


def lstm_cells(mx: Any, draw: Callable, steps: int, batch: int, size: int, layers: int) -> Callable[[], Any]:
    """The same, each step of each layer of operators of its own."""
    nd, t = mx.nd, Trainer(mx, draw)
    cells = [(t.add(wx), t.add(wh), t.bias(4 * size), t.bias(4 * size)) for wx, wh in lstm_weights(draw, layers, size)]
    last = t.dense(size, CLASSES)
    start = nd.zeros((batch, size))
    x, labels = [draw(steps, batch, size)[i] for i in range(steps)], draw(batch, kind=CLASSES)

    def loss() -> Any:
        states = [(start, start)] * layers
        for h in x:
            for layer, (wx, wh, bx, bh) in enumerate(cells):
                before, memory = states[layer]
                gates = nd.FullyConnected(h, wx, bx, num_hidden=4 * size)
                gates = gates + nd.FullyConnected(before, wh, bh, num_hidden=4 * size)
                i, f, g, o = nd.SliceChannel(gates, num_outputs=4)
                memory = nd.sigmoid(f) * memory + nd.sigmoid(i) * nd.tanh(g)
                h = nd.sigmoid(o) * nd.tanh(memory)
                states[layer] = (h, memory)
        return t.cross_entropy(last(h), labels)

    return t.step(loss)


def transformer(mx: Any, draw: Callable, batch: int, length: int, size: int, heads: int) -> Callable[[], Any]:
    """One block: attention, and two layers with gelu between, each after a normalisation and beside its input."""
    nd, t = mx.nd, Trainer(mx, draw)
    norm1, norm2 = t.layer_norm(size), t.layer_norm(size)
    project, join = t.dense(size, 3 * size, flatten=False), t.dense(size, size, flatten=False)
    widen, narrow = t.dense(size, 4 * size, flatten=False), t.dense(4 * size, size, flatten=False)
    x, target = draw(batch, length, size), draw(batch, length, size)
    part = size // heads

    def attention(h: Any) -> Any:
        h = project(h).reshape((batch, length, 3, heads, part)).transpose((2, 0, 3, 1, 4))
        q, k, v = (each.reshape((batch * heads, length, part)) for each in nd.split(h, num_outputs=3, axis=0))
        weights = nd.softmax(nd.batch_dot(q, k, transpose_b=True) * (1 / math.sqrt(part)))
        h = nd.batch_dot(weights, v).reshape((batch, heads, length, part))
        return join(h.transpose((0, 2, 1, 3)).reshape((batch, length, size)))

    def loss() -> Any:
        h = x + attention(norm1(x))
        h = h + narrow(nd.LeakyReLU(widen(norm2(h)), act_type="gelu"))
        return nd.mean(nd.square(h - target))

    return t.step(loss)
