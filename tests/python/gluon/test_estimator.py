"""gluon.contrib.estimator: what a training loop logs, saves and refuses; expected are the answers of 1.9.1."""

from __future__ import annotations

import logging
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx

pytest.importorskip("mxlite.metric")

pytestmark = pytest.mark.one_binding


def _made(loss: Any = None, **options: Any) -> tuple[Any, Any, list[str]]:
    """An estimator, a loader of three batches, and what is logged."""
    net = mx.gluon.nn.Dense(3, in_units=4, prefix="d_")
    net.initialize(mx.init.One())
    x = mx.nd.array([[i, 1, 2, -i] for i in range(20)])
    loader = mx.gluon.data.DataLoader(
        mx.gluon.data.ArrayDataset(x, mx.nd.array([i % 3 for i in range(20)])), batch_size=8
    )
    options.setdefault("trainer", mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01}))
    options.setdefault("train_metrics", [mx.metric.Accuracy()] if loss is None else None)
    loss = loss or mx.gluon.loss.SoftmaxCrossEntropyLoss()
    made = mx.gluon.contrib.estimator.Estimator(net, loss, **options)
    lines: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(re.sub(r"\d+\.\d+s", "TIME", record.getMessage()))

    made.logger.handlers = [Keeper()]
    return made, loader, lines


def test_a_log() -> None:
    estimator, loader, lines = _made()
    estimator.fit(loader, val_data=loader, epochs=2)
    assert lines == [
        "Training begins: optimizer SGD, learning rate 0.0100",
        "Train for 2 epochs.",
        "[Epoch 0] begins, learning rate: 0.0100",
        "Validation Begin",
        "[Epoch 0] Finished in TIME, validation accuracy: 0.3500",
        "[Epoch 0] Finished in TIME, training accuracy: 0.3000",
        "[Epoch 1] begins, learning rate: 0.0100",
        "Validation Begin",
        "[Epoch 0] Finished in TIME, validation accuracy: 0.4000",
        "[Epoch 1] Finished in TIME, training accuracy: 0.3000",
        "Training ended: 0 s for 2 epochs. training accuracy: 0.3000",
    ]


def test_lines_for_batches() -> None:
    estimator, loader, lines = _made()
    estimator.fit(
        loader, batches=4, event_handlers=[mx.gluon.contrib.estimator.LoggingHandler(2, estimator.train_metrics)]
    )
    assert [line.partition(" time")[0] for line in lines if "Batch" in line] == [
        "[Epoch 0][Batch 0][Samples 8]",
        "[Epoch 0][Batch 2][Samples 20]",
        "[Epoch 1][Batch 0][Samples 28]",
    ]
    assert lines[1] == "Train for 4 batches." and lines[-1].startswith("Training ended: 0 s for 2 epochs. ")


def test_metrics_of_losses() -> None:
    loss = mx.gluon.loss
    for made, names in (
        (loss.SoftmaxCrossEntropyLoss(), ["accuracy", "softmaxcrossentropyloss"]),
        (loss.L2Loss(), ["l2loss"]),
        (loss.HuberLoss(), ["huberloss"]),
    ):
        estimator, _, _ = _made(made)
        assert [each.name for each in estimator.train_metrics] == [f"training {name}" for name in names]
        assert [each.name for each in estimator.val_metrics] == [f"validation {name}" for name in names]
    composite = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.MSE()])
    estimator, _, _ = _made(train_metrics=composite, val_metrics=mx.metric.F1())
    assert [each.name for each in estimator.train_metrics] == ["training accuracy", "training mse"]
    assert [each.name for each in estimator.val_metrics] == ["validation f1"]


def test_evaluate() -> None:
    estimator, loader, lines = _made(mx.gluon.loss.SoftmaxCrossEntropyLoss())
    estimator.evaluate(loader)
    (_, accuracy), (_, loss) = (each.get() for each in estimator.val_metrics)
    assert accuracy == 0.35 and np.isclose(loss, 1.09861, rtol=1e-5)
    assert lines[0] == "Validation Begin" and all(np.isnan(each.get()[1]) for each in estimator.train_metrics)


def test_the_step_is_that_of_the_batch() -> None:
    estimator, loader, _ = _made()
    estimator.fit(loader, batches=2)
    other, _, _ = _made()
    for batch, _ in zip(loader, range(2)):
        with mx.autograd.record():
            loss = other.loss(other.net(batch[0]), batch[1])
        loss.backward()
        other.trainer.step(batch[0].shape[0])
    np.testing.assert_array_equal(estimator.net.weight.data().asnumpy(), other.net.weight.data().asnumpy())


def test_events_come_by_priority() -> None:
    module = mx.gluon.contrib.estimator
    heard: list[tuple[str, str]] = []

    class Handler(  # type: ignore[misc, name-defined]
        module.TrainBegin, module.BatchEnd, module.EpochEnd, module.TrainEnd
    ):
        def __init__(self, name: str, priority: float) -> None:
            self.name, self.priority = name, priority

        def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            heard.append((self.name, "train_begin"))

        def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
            assert sorted(kwargs) == ["batch", "label", "loss", "pred"]
            heard.append((self.name, "batch_end"))
            return self.name == "stops"

        def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
            heard.append((self.name, "epoch_end"))
            return self.name == "stops"

        def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
            heard.append((self.name, "train_end"))

    estimator, loader, _ = _made()
    estimator.fit(loader, epochs=3, event_handlers=[Handler("late", 1), Handler("stops", -3000)])
    assert heard == [
        (name, event) for event in ("train_begin", "batch_end", "epoch_end", "train_end") for name in ("stops", "late")
    ]


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ({}, ["epoch0batch3", "epoch1batch6", "epoch2batch9", "epoch3batch12"]),
        ({"epoch_period": 2, "max_checkpoints": 2}, ["epoch1batch6", "epoch3batch12"]),
        (
            {"batch_period": 2, "epoch_period": None, "max_checkpoints": 3},
            ["epoch2batch7", "epoch3batch11", "epoch3batch9"],
        ),
        ({"max_checkpoints": 1, "model_prefix": "z"}, ["epoch3batch12"]),
    ],
)
def test_checkpoints(options: dict[str, Any], files: list[str], tmp_path: Path) -> None:
    estimator, loader, _ = _made()
    handler = mx.gluon.contrib.estimator.CheckpointHandler(str(tmp_path / "new"), **options)
    estimator.fit(loader, epochs=4, event_handlers=[handler])
    prefix = options.get("model_prefix", "model")
    wanted = sorted(f"{prefix}-{name}.{end}" for name in files for end in ("params", "states"))
    assert sorted(each.name for each in (tmp_path / "new").iterdir()) == wanted
    saved = mx.nd.load(str(tmp_path / "new" / f"{prefix}-{sorted(files)[-1]}.params"))
    assert set(saved) == {"weight", "bias"}


def test_the_best_checkpoint(tmp_path: Path) -> None:
    estimator, loader, lines = _made()
    handler = mx.gluon.contrib.estimator.CheckpointHandler(
        str(tmp_path), monitor=estimator.train_metrics[0], save_best=True, mode="max", verbose=1
    )
    estimator.fit(loader, epochs=4, event_handlers=[handler])
    assert {"model-best.params", "model-best.states"} <= {each.name for each in tmp_path.iterdir()}
    told = [line.partition("Handler: ")[2] for line in lines if "the best model" in line]
    assert [line.partition(";")[0] for line in told] == [
        "training accuracy improved from -inf to 0.30000",
        "training accuracy is no better than 0.30000",
        "training accuracy improved from 0.30000 to 0.35000",
        "training accuracy is no better than 0.35000",
    ]


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    handler_of = mx.gluon.contrib.estimator.CheckpointHandler
    whole, loader, _ = _made()
    whole.fit(loader, epochs=3)
    first, loader, lines = _made()
    first.fit(loader, epochs=2, event_handlers=[handler_of(str(tmp_path), resume_from_checkpoint=True)])
    assert lines[0] == "CheckpointHandler: there is no checkpoint; training begins anew, for 2 epochs"
    second, loader, lines = _made()
    second.fit(loader, epochs=3, event_handlers=[handler_of(str(tmp_path), resume_from_checkpoint=True)])
    assert lines[0] == "CheckpointHandler: the checkpoint of epoch 1, batch 5 is loaded; 1 epochs are left"
    np.testing.assert_array_equal(whole.net.weight.data().asnumpy(), second.net.weight.data().asnumpy())
    with pytest.raises(ValueError, match="of the last epoch, 3: no training is left"):
        second.fit(loader, epochs=3, event_handlers=[handler_of(str(tmp_path), resume_from_checkpoint=True)])


@pytest.mark.parametrize(
    ("options", "epochs", "told"),
    [
        ({"mode": "max"}, 2, True),
        ({"mode": "max", "patience": 2}, 5, True),
        ({"mode": "max", "baseline": 0.9}, 1, False),
        ({"mode": "min"}, 2, True),
        ({"mode": "max", "min_delta": 0.5, "patience": 1}, 2, True),
    ],
)
def test_early_stopping(options: dict[str, Any], epochs: int, told: bool) -> None:
    estimator, loader, lines = _made()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        handler = mx.gluon.contrib.estimator.EarlyStoppingHandler(estimator.train_metrics[0], **options)
    estimator.fit(loader, epochs=6, event_handlers=[handler])
    assert sum("begins, learning rate" in line for line in lines) == epochs
    assert any("training ends early, training accuracy is no better" in line for line in lines) == told


def test_modes_and_metrics_that_are_not_updated() -> None:
    module = mx.gluon.contrib.estimator
    estimator, loader, _ = _made()
    with pytest.warns(UserWarning, match="a larger training accuracy counts as better"):
        module.EarlyStoppingHandler(estimator.train_metrics[0])
    with pytest.warns(RuntimeWarning, match="no mode x"), pytest.warns(UserWarning, match="a larger"):
        module.EarlyStoppingHandler(estimator.train_metrics[0], mode="x")
    with pytest.warns(RuntimeWarning, match="validation accuracy is not updated"):
        handler = module.EarlyStoppingHandler(estimator.val_metrics[0], mode="max")
        estimator.fit(loader, epochs=1, event_handlers=handler)


@pytest.mark.parametrize(("options", "count"), [({}, 3), ({"epoch_period": 2}, 1), ({"batch_period": 2}, 7)])
def test_validation_periods(options: dict[str, Any], count: int) -> None:
    estimator, loader, _ = _made()
    calls: list[dict[str, Any]] = []
    handler = mx.gluon.contrib.estimator.ValidationHandler(loader, lambda **given: calls.append(given), **options)
    estimator.fit(loader, epochs=3, event_handlers=[handler])
    assert len(calls) == count and calls[0] == {"val_data": loader, "batch_axis": 0, "event_handlers": None}


def test_networks_without_parameters_or_a_trainer() -> None:
    net = mx.gluon.nn.Dense(3, in_units=4)
    with pytest.warns(UserWarning, match="no trainer is given.*SGD with learning rate 0.001"):
        estimator = mx.gluon.contrib.estimator.Estimator(net, mx.gluon.loss.L2Loss(), initializer=mx.init.One())
    assert estimator.trainer.learning_rate == 0.001 and (net.weight.data().asnumpy() == 1).all()
    with pytest.warns(UserWarning, match="`initializer` is not used"):
        _made(initializer=mx.init.One())


def test_bad_arguments(tmp_path: Path) -> None:
    module = mx.gluon.contrib.estimator
    for options, words in (
        ({"train_metrics": "acc"}, "metrics are objects of mx.metric.EvalMetric"),
        ({"trainer": "sgd"}, "`trainer` is a gluon.Trainer, not sgd"),
        ({"context": "cpu"}, "`context` is a Context or a list"),
        ({"context": [mx.cpu(0), 3]}, "`context` is a Context or a list"),
        ({"batch_processor": 3}, "must have fit_batch"),
        ({"val_loss": "x"}, "`loss` is a gluon.loss.Loss, not x"),
    ):
        with pytest.raises(ValueError, match=words):
            _made(**options)
    estimator, loader, _ = _made()
    for call, words in (
        (lambda: module.Estimator(estimator.net, "x"), "`loss` is a gluon.loss.Loss, not x"),
        (lambda: estimator.fit(loader), "either epochs or batches"),
        (lambda: estimator.fit(loader, epochs=1, batches=1), "either epochs or batches"),
        (lambda: estimator.fit([1, 2], epochs=1), "gluon.data.DataLoader"),
        (lambda: estimator.evaluate([1, 2]), "gluon.data.DataLoader"),
        (lambda: estimator.fit(loader, epochs=1, event_handlers=[3]), "objects of EventHandler classes.*3"),
        (lambda: module.LoggingHandler("batch"), "log_interval is a whole number or 'epoch'"),
        (lambda: module.LoggingHandler(2.5), "log_interval is a whole number or 'epoch'"),
        (lambda: module.MetricHandler("x"), "metrics are objects of mx.metric.EvalMetric"),
        (lambda: module.EarlyStoppingHandler("x"), "`monitor` must be a metric"),
        (lambda: module.CheckpointHandler(str(tmp_path), save_best=True), "save_best: `monitor`"),
        (
            lambda: estimator.fit(loader, epochs=1, event_handlers=[module.MetricHandler([mx.metric.Accuracy()])]),
            "MetricHandler has a metric .* that is none of",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_a_batch_processor_of_one_s_own() -> None:
    class Twice(mx.gluon.contrib.estimator.BatchProcessor):  # type: ignore[misc, name-defined]
        count = 0

        def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> Any:
            self.count += 1
            return super().fit_batch(estimator, train_batch, batch_axis)

    processor = Twice()
    estimator, loader, _ = _made(batch_processor=processor)
    estimator.fit(loader, epochs=2)
    assert processor.count == 6
