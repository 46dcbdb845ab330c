"""A key-value store with an optimizer in it, schedules of learning rates, metrics."""

from __future__ import annotations

import numpy as np

import mxlite as mx
from mxlite import nd


class Within(mx.metric.EvalMetric):
    """The share of predictions within a distance of their labels."""

    def __init__(self, distance: float) -> None:
        self.distance = distance
        super().__init__("within")

    def update(self, labels: list[nd.NDArray], preds: list[nd.NDArray]) -> None:
        for label, pred in zip(labels, preds):
            near = np.abs(label.asnumpy() - pred.asnumpy()) <= self.distance
            self.sum_metric += float(near.sum())
            self.num_inst += near.size


def main() -> None:
    store = mx.kv.create("local")
    weight, target = nd.zeros((3,)), nd.array([1.0, 2.0, 3.0])
    store.init("weight", weight)
    schedule = mx.lr_scheduler.FactorScheduler(step=10, factor=0.9, base_lr=0.3)
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.3, lr_scheduler=schedule))
    for _ in range(40):
        store.push("weight", weight - target)
        store.pull("weight", out=weight)
    metric = mx.metric.CompositeEvalMetric([mx.metric.MSE(), Within(0.01)])
    metric.update([target], [weight])
    names, values = metric.get()
    assert names == ["mse", "within"] and values[1] == 1
    accuracy = mx.metric.Accuracy()
    accuracy.update(nd.array([0, 1]), nd.array([[0.9, 0.1], [0.8, 0.2]]))
    assert accuracy.get() == ("accuracy", 0.5)
    assert store.type == "local" and store.rank == 0 and store.num_workers == 1


if __name__ == "__main__":
    main()
