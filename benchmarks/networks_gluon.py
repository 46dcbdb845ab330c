"""Training steps written with Gluon, and its data loader, the same text for mxlite and the real MXNet 1.9.1.

A function takes the library, `draw` as in networks_mx.py, and whether to hybridize the network; it returns a function
that trains for one step and returns the losses of the batch. networks_torch.py has the same networks, of the same
numbers, for PyTorch: after the same steps all have the same mean loss.
"""

from __future__ import annotations

import math
from typing import Any, Callable

from networks_mx import CLASSES, MOMENTUM, RATE, lstm_weights

#: Of the optimizers that a case can name, the arguments.
OPTIMIZERS = {"sgd": {"learning_rate": RATE, "momentum": MOMENTUM}, "adam": {"learning_rate": RATE}}


def trained(
    mx: Any, draw: Callable, net: Any, hybrid: bool, inputs: tuple[int, ...], batch: int, optimizer: str = "sgd"
) -> Callable[[], Any]:
    """A step of the network, whose weights are drawn as networks_mx.Trainer.weight draws them, then the inputs."""

    class Drawn(mx.init.Initializer):
        def _init_weight(self, _: str, array: Any) -> None:
            array[:] = draw(*array.shape) * math.sqrt(1 / math.prod(array.shape[1:]))

    net.initialize(Drawn())
    if hybrid:
        net.hybridize(static_alloc=True)
    x, labels = draw(*inputs), draw(batch, kind=CLASSES)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    if hybrid:
        loss_of.hybridize(static_alloc=True)
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, dict(OPTIMIZERS[optimizer]))

    def train() -> Any:
        with mx.autograd.record():
            losses = loss_of(net(x), labels)
        losses.backward()
        trainer.step(batch)
        return losses

    return train


def chain(mx: Any, *layers: Any) -> Any:
    net = mx.gluon.nn.HybridSequential()
    net.add(*layers)
    return net


def mlp(mx: Any, draw: Callable, hybrid: bool, batch: int, optimizer: str = "sgd") -> Callable[[], Any]:
    nn = mx.gluon.nn
    sizes = [(784, 256, "relu"), (256, 128, "relu"), (128, CLASSES, None)]
    net = chain(mx, *(nn.Dense(outputs, activation=act, in_units=inputs) for inputs, outputs, act in sizes))
    return trained(mx, draw, net, hybrid, (batch, 784), batch, optimizer)


def lenet(mx: Any, draw: Callable, hybrid: bool, batch: int) -> Callable[[], Any]:
    nn = mx.gluon.nn
    net = chain(
        mx,
        nn.Conv2D(20, 5, use_bias=False, activation="relu", in_channels=1),
        nn.MaxPool2D(2),
        nn.Conv2D(50, 5, use_bias=False, activation="relu", in_channels=20),
        nn.MaxPool2D(2),
        nn.Dense(500, activation="relu", in_units=50 * 4 * 4),
        nn.Dense(CLASSES, in_units=500),
    )
    return trained(mx, draw, net, hybrid, (batch, 1, 28, 28), batch)


def resnet18(mx: Any, draw: Callable, hybrid: bool, batch: int) -> Callable[[], Any]:
    """The zoo's for small images: a convolution alone, without pooling, before the blocks."""
    net = mx.gluon.model_zoo.vision.resnet18_v1(classes=CLASSES, thumbnail=True)
    return trained(mx, draw, net, hybrid, (batch, 3, 32, 32), batch)


def lstm(mx: Any, draw: Callable, hybrid: bool, steps: int, batch: int, size: int, layers: int) -> Callable[[], Any]:
    gluon = mx.gluon

    class Last(gluon.HybridBlock):
        """Scores of the last step."""

        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.lstm = gluon.rnn.LSTM(size, layers, input_size=size)
                self.dense = gluon.nn.Dense(CLASSES, in_units=size)

        def hybrid_forward(self, F: Any, x: Any) -> Any:
            last = F.slice_axis(self.lstm(x), axis=0, begin=-1, end=None)
            return self.dense(F.squeeze(last, axis=0))

    net = Last()
    net.lstm.initialize(mx.init.Zero())
    for layer, weights in enumerate(lstm_weights(draw, layers, size)):
        for kind, weight in zip(("i2h", "h2h"), weights):
            getattr(net.lstm, f"l{layer}_{kind}_weight").set_data(weight)
    return trained(mx, draw, net, hybrid, (steps, batch, size), batch)


def loader(mx: Any, draw: Callable, count: int, batch: int, workers: int) -> Any:
    """Batches of small images, as float32 with the channel first, and of digits."""
    images = draw(count, 28, 28, 1, kind=256).astype("uint8")
    data = mx.gluon.data.ArrayDataset(images, draw(count, kind=CLASSES).asnumpy())
    data = data.transform_first(mx.gluon.data.vision.transforms.ToTensor())
    return mx.gluon.data.DataLoader(data, batch, shuffle=True, num_workers=workers)
