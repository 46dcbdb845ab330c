"""Handlers of events of the training loop: stopping, metrics, validation, logs, steps, checkpoints."""

from __future__ import annotations

import time
from typing import Any

from mxlite._notebook import live
from mxlite._public import show
from mxlite.gluon.contrib.estimator._events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
)
from mxlite.gluon.contrib.estimator._improvement import CheckpointHandler, EarlyStoppingHandler
from mxlite.gluon.contrib.estimator.utils import metric_list, metric_module

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "CheckpointHandler",
    "EarlyStoppingHandler",
    "EpochBegin",
    "EpochEnd",
    "GradientUpdateHandler",
    "LiveHandler",
    "LoggingHandler",
    "MetricHandler",
    "StoppingHandler",
    "TrainBegin",
    "TrainEnd",
    "ValidationHandler",
]

_BASE = EventHandler  # 1.9.1 has it here, beside the public names


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends training after a number of epochs or batches, which `Estimator.fit` decides."""

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.max_epoch = estimator.max_epoch
        self.max_batch = estimator.max_batch
        self.current_batch = 0
        self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Returns: whether training ends."""
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Returns: whether training ends."""
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Updates metrics after each batch, and resets them before each epoch. Lower priorities come first."""

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics = metric_list(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        for each in self.metrics:
            each.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        for each in self.metrics:
            if isinstance(each, metric_module().Loss):
                each.update(0, kwargs["loss"])
            else:
                each.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Calls `eval_fn(val_data=, batch_axis=, event_handlers=)` after every so many epochs or batches."""

    def __init__(
        self,
        val_data: Any,
        eval_fn: Any,
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_batch = 0
        self.current_epoch = 0

    def _evaluate(self, estimator: Any) -> None:
        self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs what happens, and metrics, to the estimator's logger.

    Args:
        log_interval: "epoch", or after how many batches there is a line too.
        metrics: those that are shown.
    Raises: ValueError: another interval, or something that is no metric.
    """

    def __init__(self, log_interval: int | str = "epoch", metrics: Any = None, priority: float = float("inf")) -> None:
        if not isinstance(log_interval, int) and log_interval != "epoch":
            raise ValueError("log_interval is a whole number or 'epoch'")
        self.metrics = metric_list(metrics)
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.priority = priority
        self.log_interval = log_interval
        self.log_interval_time: float = 0

    def _log(self, estimator: Any, text: str) -> None:
        shown = ", ".join(f"{name}: {value:.4f}" for name, value in (each.get() for each in self.metrics))
        estimator.logger.info((text + shown).rstrip(", "))

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.train_start = time.time()
        trainer = estimator.trainer
        estimator.logger.info(
            "Training begins: optimizer %s, learning rate %.4f",
            type(trainer.optimizer).__name__,
            trainer.learning_rate,
        )
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)
        self.current_epoch = 0
        self.batch_index = 0
        self.processed_samples = 0
        self.log_interval_time = 0

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        seconds = time.time() - self.train_start
        self._log(estimator, f"Training ended: {seconds:.0f} s for {self.current_epoch} epochs. ")

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.batch_start = time.time()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(self.log_interval, int):
            self.log_interval_time += time.time() - self.batch_start
            self.processed_samples += kwargs["batch"][0].shape[0]
            if self.batch_index % self.log_interval == 0:
                text = f"[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples {self.processed_samples}] "
                self._log(estimator, f"{text}time/interval: {self.log_interval_time:.3f}s ")
                self.log_interval_time = 0
        self.batch_index += 1

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.epoch_start = time.time()
        if any(str(each.name).startswith("training") for each in self.metrics):
            rate = estimator.trainer.learning_rate
            estimator.logger.info("[Epoch %d] begins, learning rate: %.4f", self.current_epoch, rate)
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self._log(estimator, f"[Epoch {self.current_epoch}] Finished in {time.time() - self.epoch_start:.3f}s, ")
        self.current_epoch += 1
        self.batch_index = 0


class LiveHandler(TrainBegin, BatchEnd, EpochEnd, TrainEnd):
    """Shows a line of the latest metrics and their curves in a notebook, and nothing elsewhere.

    `Estimator.fit` adds one in a notebook unless MXLITE_PROGRESS is 0. `live.history` has the points.
    """

    def __init__(self, priority: float = float("inf")) -> None:
        self.priority = priority

    def _note(self, estimator: Any, metrics: list) -> None:
        place = f"epoch {self.current_epoch}, batch {self.current_batch}"
        values = dict(each.get() for each in metrics if each.num_inst)
        self.live.update(self.batches, place, **values)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.live = live.Live("batch")
        self.batches = self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.batches += 1
        self.current_batch += 1
        self._note(estimator, estimator.train_metrics)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self._note(estimator, estimator.val_metrics)
        self.current_epoch += 1
        self.current_batch = 0

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.live.show()


class GradientUpdateHandler(BatchEnd):
    """Makes the Trainer's step after each batch, with its size."""

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        estimator.trainer.step(sum(each.shape[0] for each in kwargs["loss"]))


show(globals())
