"""Learns who will like which film, by a factorization machine with sparse weights.

    python examples/factorization_machine.py [--epochs 20] [--seed 1] [--no-picture]

A line of data names a viewer, a film and a time of the day, as three ones among 204 features
(examples/data/README.md); `LibSVMIter` gives them as csr matrices. A linear model adds a weight for each feature, so it
knows kind viewers and good films, but no viewer's taste. A factorization machine (Rendle 2010) has a vector for each
feature too, and adds the dot products of each two vectors that come together; so viewers who like the same films get
similar ones.

The weights are row_sparse, and so are their gradients: a step changes the rows of the batch's features alone, and the
optimizer's states with them (`lazy_update`). With `import mxnet as mx` it runs on MXNet 1.9.1, with the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from report import HERE, Bar, draw_curves, new_page, options_of, parser_of, parts_of, save

import mxlite as mx
from mxlite import autograd, gluon

FEATURES, FACTORS, BATCH = 204, 4, 50


def lines_of(part: str) -> mx.io.DataIter:
    """Batches of films.<part>.libsvm, whose lines are in random order."""
    path = HERE / "data" / f"films.{part}.libsvm"
    return mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(FEATURES,), batch_size=BATCH)


def epoch_of(source: Any) -> Iterator[tuple[Any, Any]]:
    """The features (n, FEATURES), csr, and labels (n,) of each batch."""
    for batch in source:
        yield batch.data[0], batch.label[0]
    source.reset()


class Linear(gluon.Block):
    """Scores (n, 1) of a csr matrix (n, FEATURES): a bias, and a weight for each feature."""

    def __init__(self) -> None:
        super().__init__()
        self.bias = self.params.get("bias", shape=(1,), init="zeros")
        self.weight = self.by_rows("weight", (FEATURES, 1), "zeros")

    def by_rows(self, name: str, shape: tuple[int, int], init: Any) -> gluon.Parameter:
        """A parameter stored by rows, with gradients stored by rows."""
        return self.params.get(name, shape=shape, init=init, stype="row_sparse", grad_stype="row_sparse")

    def forward(self, x: mx.nd.sparse.CSRNDArray) -> mx.nd.NDArray:
        return mx.nd.sparse.dot(x, self.weight.row_sparse_data(x.indices)) + self.bias.data()


class Machine(Linear):
    """The same, and the products of the vectors of each two features."""

    def __init__(self) -> None:
        super().__init__()
        shape = (FEATURES, FACTORS)
        first = mx.nd.array(np.random.normal(0, 0.1, shape)).tostype("row_sparse")  # by NumPy: the same everywhere
        self.vectors = self.by_rows("vectors", shape, mx.init.Constant(first))

    def forward(self, x: mx.nd.sparse.CSRNDArray) -> mx.nd.NDArray:
        vectors = self.vectors.row_sparse_data(x.indices)
        # Of numbers a, b, c: ab + ac + bc = ((a + b + c)^2 - (a^2 + b^2 + c^2)) / 2.
        sums = mx.nd.square(mx.nd.sparse.dot(x, vectors))
        squares = mx.nd.sparse.dot(mx.nd.sparse.square(x), mx.nd.sparse.square(vectors))
        return super().forward(x) + mx.nd.sum(sums - squares, axis=1, keepdims=True) / 2


class Learner:
    """A model with its optimizer."""

    def __init__(self, model: Linear) -> None:
        self.model = model
        self.model.initialize()
        self.loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()
        options = {"learning_rate": 0.01, "wd": 1e-3, "lazy_update": True}
        self.trainer = gluon.Trainer(model.collect_params(), "adam", options)

    def learn(self, source: mx.io.DataIter) -> float:
        """One epoch; the mean loss of its batches, each before its step."""
        losses = []
        for x, liked in epoch_of(source):
            with autograd.record():
                loss = self.loss(self.model(x), liked)
            loss.backward()
            self.trainer.step(BATCH)
            losses.append(float(loss.mean().asscalar()))
        return float(np.mean(losses))

    def judge(self, source: mx.io.DataIter) -> tuple[float, float]:
        """The mean loss, and the share of right answers."""
        losses, right = [], mx.metric.Accuracy()
        for x, liked in epoch_of(source):
            scores = self.model(x)
            losses.append(float(self.loss(scores, liked).mean().asscalar()))
            right.update([liked], [scores.reshape(-1) > 0])
        return float(np.mean(losses)), right.get()[1]


def main() -> None:
    options = options_of(parser_of(__doc__, "factorization_machine", "epochs", 20))
    np.random.seed(options.seed)
    train, test = lines_of("train"), lines_of("test")
    learners = {"linear": Learner(Linear()), "machine": Learner(Machine())}
    curves: dict[str, list[float]] = {}
    reached: dict[str, float] = {}
    bar, start = Bar(options.epochs), time.perf_counter()
    print("         training loss     held-out loss\nepoch  linear  machine   linear  machine  seconds")
    for epoch in range(1, options.epochs + 1):
        row: dict[str, float] = {}
        for name, learner in learners.items():
            row[f"{name}, training"] = learner.learn(train)
            row[f"{name}, held out"], reached[name] = learner.judge(test)
        for curve, loss in row.items():
            curves.setdefault(curve, []).append(loss)
        bar.clear()
        learned = [row[f"{name}, {part}"] for part in ("training", "held out") for name in learners]
        print(f"{epoch:5}" + "".join(f"{loss:8.4f} " for loss in learned) + f"{time.perf_counter() - start:8.2f}")
        bar.show(epoch, f"epoch {epoch}")
    bar.clear()
    if not options.no_picture:
        page = new_page(3.4)
        title, epochs = "Who will like which film", range(1, options.epochs + 1)
        draw_curves(parts_of(page, [3.4])[0], title, "epoch", "cross-entropy (nats per line)", epochs, curves)
        save(page, options.picture)
        print(f"\npicture: {options.picture}")
    print(f"held-out accuracy {reached['machine']:.3f}, of a linear model {reached['linear']:.3f}")


if __name__ == "__main__":
    main()
