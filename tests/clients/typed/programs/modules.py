"""mx.mod: fits a Module to arrays with an iterator, scores it, saves and opens a checkpoint."""

from __future__ import annotations

import os
import tempfile

import numpy as np

import mxlite as mx
from mxlite import nd, sym


def iterator(count: int, seed: int) -> mx.io.NDArrayIter:
    """Points of the plane; the label says on which side of a line they are."""
    random = np.random.RandomState(seed)
    points = random.uniform(-1, 1, (count, 2)).astype("float32")
    labels = (points.sum(axis=1) > 0).astype("float32")
    return mx.io.NDArrayIter(points, labels, batch_size=16, shuffle=True, label_name="softmax_label")


def main() -> None:
    net = sym.SoftmaxOutput(sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc"), name="softmax")
    module = mx.mod.Module(net, data_names=["data"], label_names=["softmax_label"], context=mx.cpu())
    train = iterator(160, seed=0)
    module.fit(
        train,
        eval_metric=mx.metric.Accuracy(),
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.5},
        initializer=mx.init.Xavier(),
        num_epoch=4,
    )
    for name, value in module.score(iterator(64, seed=1), mx.metric.create(["acc", "ce"])):
        assert isinstance(name, str) and value > 0
    arguments, _ = module.get_params()
    weight: nd.NDArray = arguments["fc_weight"]
    assert weight.shape == (2, 2)
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "line")
        module.save_checkpoint(prefix, 4)
        opened, loaded, _ = mx.model.load_checkpoint(prefix, 4)
        assert opened.list_outputs() == net.list_outputs() and sorted(loaded) == ["fc_bias", "fc_weight"]


if __name__ == "__main__":
    main()
