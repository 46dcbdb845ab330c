"""The networks of networks_mx.py for PyTorch, of the same numbers and in the same order."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch
import torch.nn.functional as F
from networks_mx import CLASSES, MOMENTUM, RATE, lstm_weights


class Trainer:
    """The parameters of a network, and functions with parameters."""

    def __init__(self, draw: Callable) -> None:
        self.draw = draw
        self.parameters: list[Any] = []

    def add(self, parameter: Any) -> Any:
        self.parameters.append(parameter.contiguous().requires_grad_())
        return self.parameters[-1]

    def weight(self, *shape: int) -> Any:
        return self.add(self.draw(*shape) * math.sqrt(1 / math.prod(shape[1:])))

    def bias(self, *shape: int) -> Any:
        return self.add(torch.zeros(shape))

    def gain(self, *shape: int) -> Any:
        return self.add(torch.ones(shape))

    def dense(self, inputs: int, outputs: int) -> Callable:
        weight, bias = self.weight(outputs, inputs), self.bias(outputs)
        return lambda x: F.linear(x, weight, bias)

    def convolution(self, inputs: int, outputs: int, size: int, stride: int = 1, pad: int = 0) -> Callable:
        weight = self.weight(outputs, inputs, size, size)
        return lambda x: F.conv2d(x, weight, stride=stride, padding=pad)

    def batch_norm(self, channels: int) -> Callable:
        gain, bias = self.gain(channels), self.bias(channels)
        mean, var = torch.zeros(channels), torch.ones(channels)
        return lambda x: F.batch_norm(x, mean, var, gain, bias, training=True, momentum=0.1, eps=1e-5)

    def layer_norm(self, channels: int) -> Callable:
        gain, bias = self.gain(channels), self.bias(channels)
        return lambda x: F.layer_norm(x, (channels,), gain, bias, eps=1e-5)

    def labels(self, batch: int) -> Any:
        return self.draw(batch, kind=CLASSES).long()

    def step(self, loss: Callable[[], Any], optimizer: str = "sgd") -> Callable[[], Any]:
        if optimizer == "adam":
            updates: Any = torch.optim.Adam(self.parameters, lr=RATE, foreach=True)
        else:
            updates = torch.optim.SGD(self.parameters, lr=RATE, momentum=MOMENTUM, foreach=True)

        def train() -> Any:
            updates.zero_grad()
            value = loss()
            value.backward()
            updates.step()
            return value

        return train


def mlp(draw: Callable, batch: int, optimizer: str = "sgd") -> Callable[[], Any]:
    t = Trainer(draw)
    layers = [t.dense(784, 256), t.dense(256, 128), t.dense(128, CLASSES)]
    x, labels = draw(batch, 784), t.labels(batch)

    def loss() -> Any:
        h = F.relu(layers[0](x))
        h = F.relu(layers[1](h))
        return F.cross_entropy(layers[2](h), labels)

    return t.step(loss, optimizer)


def lenet(draw: Callable, batch: int) -> Callable[[], Any]:
    t = Trainer(draw)
    first, second = t.convolution(1, 20, 5), t.convolution(20, 50, 5)
    third, fourth = t.dense(50 * 4 * 4, 500), t.dense(500, CLASSES)
    x, labels = draw(batch, 1, 28, 28), t.labels(batch)

    def loss() -> Any:
        h = F.max_pool2d(F.relu(first(x)), 2)
        h = F.max_pool2d(F.relu(second(h)), 2)
        return F.cross_entropy(fourth(F.relu(third(h.flatten(1)))), labels)

    return t.step(loss)


def residual(t: Trainer, inputs: int, outputs: int, stride: int) -> Callable:
    """Two convolutions of 3 x 3 beside what leads around them."""
    relu = F.relu
    first, norm1 = t.convolution(inputs, outputs, 3, stride, 1), t.batch_norm(outputs)
    second, norm2 = t.convolution(outputs, outputs, 3, 1, 1), t.batch_norm(outputs)
    if stride == 1:
        return lambda x: relu(norm2(second(relu(norm1(first(x))))) + x)
    around, norm3 = t.convolution(inputs, outputs, 1, stride), t.batch_norm(outputs)
    return lambda x: relu(norm2(second(relu(norm1(first(x))))) + norm3(around(x)))


def resnet18(draw: Callable, batch: int, zoo: bool = False) -> Callable[[], Any]:
    """As networks_mx.py has it, or as Gluon's zoo does: then the first convolution stands alone."""
    t = Trainer(draw)
    first = t.convolution(3, 64, 3, 1, 1)
    norm = t.batch_norm(64) if not zoo else None
    stages = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    blocks = [block for a, b, stride in stages for block in (residual(t, a, b, stride), residual(t, b, b, 1))]
    last = t.dense(512, CLASSES)
    x, labels = draw(batch, 3, 32, 32), t.labels(batch)

    def loss() -> Any:
        h = first(x)
        h = F.relu(norm(h)) if norm else h
        for block in blocks:
            h = block(h)
        return F.cross_entropy(last(F.adaptive_avg_pool2d(h, 1).flatten(1)), labels)

    return t.step(loss)


def lstm(draw: Callable, steps: int, batch: int, size: int, layers: int) -> Callable[[], Any]:
    """All steps of all layers by one module."""
    t = Trainer(draw)
    module = torch.nn.LSTM(size, size, layers)
    with torch.no_grad():
        for layer, weights in enumerate(lstm_weights(draw, layers, size)):
            for kind, weight in zip(("ih", "hh"), weights):
                getattr(module, f"weight_{kind}_l{layer}").copy_(weight)
                getattr(module, f"bias_{kind}_l{layer}").zero_()
    t.parameters += module.parameters()
    last = t.dense(size, CLASSES)
    x, labels = draw(steps, batch, size), t.labels(batch)
    return t.step(lambda: F.cross_entropy(last(module(x)[0][-1]), labels))


def lstm_cells(draw: Callable, steps: int, batch: int, size: int, layers: int) -> Callable[[], Any]:
    """The same, each step of each layer of functions of its own."""
    t = Trainer(draw)
    cells = [(t.add(wx), t.add(wh), t.bias(4 * size), t.bias(4 * size)) for wx, wh in lstm_weights(draw, layers, size)]
    last = t.dense(size, CLASSES)
    start = torch.zeros(batch, size)
    x, labels = list(draw(steps, batch, size)), t.labels(batch)

    def loss() -> Any:
        states = [(start, start)] * layers
        for h in x:
            for layer, (wx, wh, bx, bh) in enumerate(cells):
                before, memory = states[layer]
                gates = F.linear(h, wx, bx) + F.linear(before, wh, bh)
                i, f, g, o = gates.chunk(4, 1)
                memory = torch.sigmoid(f) * memory + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(memory)
                states[layer] = (h, memory)
        return F.cross_entropy(last(h), labels)

    return t.step(loss)


def transformer(draw: Callable, batch: int, length: int, size: int, heads: int) -> Callable[[], Any]:
    """One block: attention, and two layers with gelu between, each after a normalisation and beside its input."""
    t = Trainer(draw)
    norm1, norm2 = t.layer_norm(size), t.layer_norm(size)
    project, join = t.dense(size, 3 * size), t.dense(size, size)
    widen, narrow = t.dense(size, 4 * size), t.dense(4 * size, size)
    x, target = draw(batch, length, size), draw(batch, length, size)
    part = size // heads

    def attention(h: Any) -> Any:
        q, k, v = project(h).view(batch, length, 3, heads, part).permute(2, 0, 3, 1, 4)
        weights = F.softmax(q @ k.transpose(-1, -2) * (1 / math.sqrt(part)), -1)
        return join((weights @ v).transpose(1, 2).reshape(batch, length, size))

    def loss() -> Any:
        h = x + attention(norm1(x))
        h = h + narrow(F.gelu(widen(norm2(h))))
        return F.mse_loss(h, target)

    return t.step(loss)


def loader(draw: Callable, count: int, batch: int, workers: int) -> Any:
    """Batches of small images, as float32 with the channel first, and of digits, by workers that stay."""
    images, digits = draw(count, 28, 28, 1, kind=256).to(torch.uint8), draw(count, kind=CLASSES)

    class Images(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return count

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            return images[index].permute(2, 0, 1).float() / 255, digits[index]

    return torch.utils.data.DataLoader(Images(), batch, shuffle=True, num_workers=workers, persistent_workers=True)


def predict(draw: Callable, size: int) -> Callable[[], Any]:
    """ResNet-18 on one image, in prediction mode: as networks_gluon.py has it."""
    t = Trainer(draw)

    def norm(channels: int) -> Callable:
        gain, bias, mean, var = torch.ones(channels), torch.zeros(channels), torch.zeros(channels), torch.ones(channels)
        return lambda x: F.batch_norm(x, mean, var, gain, bias, training=False, eps=1e-5)

    t.batch_norm = norm
    small = size < 64
    first = t.convolution(3, 64, 3, 1, 1) if small else t.convolution(3, 64, 7, 2, 3)
    first_norm = norm(64)
    stages = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    blocks = [block for a, b, stride in stages for block in (residual(t, a, b, stride), residual(t, b, b, 1))]
    last = t.dense(512, 1000)
    x = draw(1, 3, size, size)

    def run() -> Any:
        with torch.no_grad():
            h = first(x)
            if not small:
                h = F.max_pool2d(F.relu(first_norm(h)), 3, 2, 1)
            for block in blocks:
                h = block(h)
            return last(F.adaptive_avg_pool2d(h, 1).flatten(1))

    return run
