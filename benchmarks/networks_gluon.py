"""Training steps written with Gluon, and its data loader, the same text for mxlite and the real MXNet 1.9.1.

A function takes the library, `draw` as in networks_mx.py, and how the network runs: PLAIN, HYBRID, FAST (hybridized,
where mxlite's training may have other roundings), or BOUND (by an executor of its symbol, without a Trainer). It
returns a function that trains for one step and returns the losses of the batch. networks_torch.py has the same
networks, of the same numbers, for PyTorch: after the same steps all have the same mean loss.
"""

from __future__ import annotations

import math
from typing import Any, Callable

from networks_mx import CLASSES, MOMENTUM, RATE, lstm_weights

PLAIN, HYBRID, FAST, BOUND = "plain", "hybrid", "fast", "bound"

#: Of the optimizers that a case can name, the arguments.
OPTIMIZERS = {"sgd": {"learning_rate": RATE, "momentum": MOMENTUM}, "adam": {"learning_rate": RATE}}


def trained(
    mx: Any, draw: Callable, net: Any, how: str, inputs: tuple[int, ...], batch: int, optimizer: str = "sgd"
) -> Callable[[], Any]:
    """A step of the network, whose weights are drawn as networks_mx.Trainer.weight draws them, then the inputs."""

    class Drawn(mx.init.Initializer):
        def _init_weight(self, _: str, array: Any) -> None:
            array[:] = draw(*array.shape) * math.sqrt(1 / math.prod(array.shape[1:]))

    net.initialize(Drawn())
    if how in (HYBRID, FAST):
        net.hybridize(static_alloc=True, **({"fast": True} if how == FAST else {}))
    x, labels = draw(*inputs), draw(batch, kind=CLASSES)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    if how in (HYBRID, FAST):
        loss_of.hybridize(static_alloc=True)
    if how == BOUND:
        return bound(mx, net, loss_of, x, labels.astype("float32"))
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, dict(OPTIMIZERS[optimizer]))

    def train() -> Any:
        with mx.autograd.record():
            losses = loss_of(net(x), labels)
        losses.backward()
        trainer.step(batch)
        return losses

    return train


def bound(mx: Any, net: Any, loss_of: Any, x: Any, labels: Any) -> Callable[[], Any]:
    """A step of an executor of the network and its loss, with the updates that Module's optimizer makes."""
    net(x)  # which settles the parameters' shapes
    symbol = loss_of(net(mx.sym.var("data")), mx.sym.var("label"))
    requests = {name: "null" if name in ("data", "label") else "write" for name in symbol.list_arguments()}
    executor = symbol.simple_bind(mx.cpu(), grad_req=requests, data=x.shape, label=labels.shape)
    held = {name: each.data() for name, each in net.collect_params().items()}
    executor.copy_params_from(held, held, allow_extra_params=True)
    executor.arg_dict["data"][:], executor.arg_dict["label"][:] = x, labels
    weights = [
        (each, executor.grad_dict[name]) for name, each in executor.arg_dict.items() if requests[name] == "write"
    ]
    steps = [(weight, grad, mx.nd.zeros(weight.shape)) for weight, grad in weights]
    ones, batch = mx.nd.ones(labels.shape), len(labels)

    def train() -> Any:
        losses = executor.forward(is_train=True)
        executor.backward([ones])
        for weight, grad, moment in steps:
            mx.nd.sgd_mom_update(weight, grad, moment, lr=RATE, momentum=MOMENTUM, rescale_grad=1 / batch, out=weight)
        return losses[0]

    return train


def predict(mx: Any, draw: Callable, how: str, size: int) -> Callable[[], Any]:
    """ResNet-18 of the zoo on one image, in prediction mode: for small images, or for those of ImageNet."""
    net = mx.gluon.model_zoo.vision.resnet18_v1(classes=1000, thumbnail=size < 64)
    net.initialize(mx.init.Xavier())
    x = draw(1, 3, size, size)
    out = net(x)
    if how == HYBRID:
        net.hybridize(static_alloc=True, static_shape=True)
    if how != BOUND:
        return lambda: net(x)
    executor = net(mx.sym.var("data")).simple_bind(mx.cpu(), grad_req="null", data=x.shape)
    held = {name: each.data() for name, each in net.collect_params().items()}
    executor.copy_params_from(held, held, allow_extra_params=True)
    executor.arg_dict["data"][:] = x
    assert out.shape == executor.outputs[0].shape
    return lambda: executor.forward()[0]


def chain(mx: Any, *layers: Any) -> Any:
    net = mx.gluon.nn.HybridSequential()
    net.add(*layers)
    return net


def mlp(mx: Any, draw: Callable, how: str, batch: int, optimizer: str = "sgd") -> Callable[[], Any]:
    nn = mx.gluon.nn
    sizes = [(784, 256, "relu"), (256, 128, "relu"), (128, CLASSES, None)]
    net = chain(mx, *(nn.Dense(outputs, activation=act, in_units=inputs) for inputs, outputs, act in sizes))
    return trained(mx, draw, net, how, (batch, 784), batch, optimizer)


def lenet(mx: Any, draw: Callable, how: str, batch: int) -> Callable[[], Any]:
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
    return trained(mx, draw, net, how, (batch, 1, 28, 28), batch)


def resnet18(mx: Any, draw: Callable, how: str, batch: int) -> Callable[[], Any]:
    """The zoo's for small images: a convolution alone, without pooling, before the blocks."""
    net = mx.gluon.model_zoo.vision.resnet18_v1(classes=CLASSES, thumbnail=True)
    return trained(mx, draw, net, how, (batch, 3, 32, 32), batch)


def lstm(mx: Any, draw: Callable, how: str, steps: int, batch: int, size: int, layers: int) -> Callable[[], Any]:
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
    return trained(mx, draw, net, how, (steps, batch, size), batch)


def loader(mx: Any, draw: Callable, count: int, batch: int, workers: int) -> Any:
    """Batches of small images, as float32 with the channel first, and of digits."""
    images = draw(count, 28, 28, 1, kind=256).astype("uint8")
    data = mx.gluon.data.ArrayDataset(images, draw(count, kind=CLASSES).asnumpy())
    data = data.transform_first(mx.gluon.data.vision.transforms.ToTensor())
    return mx.gluon.data.DataLoader(data, batch, shuffle=True, num_workers=workers)
