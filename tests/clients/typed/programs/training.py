"""mx.gluon: trains a convolutional network of layers on batches of a DataLoader, saves and opens its parameters."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from typing_extensions import assert_type

import mxlite as mx
from mxlite import autograd, gluon, nd
from mxlite.gluon import nn


def network(classes: int) -> nn.HybridSequential:
    """A convolution, a pooling, two dense layers."""
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(channels=4, kernel_size=3, padding=1, activation="relu"), nn.BatchNorm())
        net.add(nn.MaxPool2D(pool_size=(2, 2)), nn.Flatten(), nn.Dropout(0.1))
        net.add(nn.Dense(8, activation="tanh"), nn.Dense(classes))
    return net


def main() -> None:
    mx.random.seed(1)
    random = np.random.RandomState(0)
    images = random.uniform(size=(32, 1, 8, 8)).astype("float32")
    labels = (images[:, 0, :4].mean(axis=(1, 2)) > images[:, 0, 4:].mean(axis=(1, 2))).astype("float32")
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(images, labels), batch_size=8, shuffle=True)
    net = network(2)
    net.initialize(mx.init.Xavier(), ctx=mx.cpu())
    net.hybridize(static_alloc=True)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    totals: list[float] = []
    x: nd.NDArray  # a batch is what batchify_fn makes of samples: nobody but the program knows
    y: nd.NDArray
    for _ in range(6):
        total = 0.0
        for x, y in data:
            with autograd.record():
                scores = net(x)
                loss = loss_of(scores, y)
            assert_type(scores, nd.NDArray)
            assert_type(loss, nd.NDArray)
            loss.backward()
            trainer.step(x.shape[0])
            total += float(loss.sum().asscalar())
        totals.append(total)
    assert totals[-1] < totals[0]
    for name, parameter in net.collect_params(".*weight").items():
        assert_type(parameter, gluon.Parameter)
        assert_type(parameter.data(), nd.NDArray)
        assert_type(parameter.grad(), nd.NDArray)
        assert name.startswith("net_")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.params")
        net.save_parameters(path)
        other = network(2)
        other.load_parameters(path, ctx=mx.cpu())
        assert (other(nd.array(images)) - net(nd.array(images))).abs().max().asscalar() < 1e-5


if __name__ == "__main__":
    main()
