"""Handlers that look whether a metric improves: checkpoints, and the end of training where it does not."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any

import numpy as np

from mxlite.gluon.contrib.estimator._events import BatchEnd, EpochEnd, TrainBegin, TrainEnd
from mxlite.gluon.contrib.estimator.utils import metric_module

_MONITOR = "`monitor` must be a metric of the estimator (train_metrics, val_metrics)"
_AUTO = (
    "%s: there is no mode %s; 'auto' takes its place: larger is better for accuracies and F1, smaller for all other "
    "metrics"
)
_GREATER = "a larger {} counts as better; mode='min' makes a smaller one better, mode='max' ends this warning"


def _comparison(who: str, mode: str, monitor: Any) -> Any:
    """np.less for "min", else np.greater."""
    if mode not in ("auto", "min", "max"):
        warnings.warn(_AUTO % (who, mode), RuntimeWarning, stacklevel=3)
    if mode == "min":
        return np.less
    if mode != "max":
        warnings.warn(_GREATER.format(monitor.get()[0]), stacklevel=3)
    return np.greater


def _worst(comparison: Any) -> float:
    return np.inf if comparison is np.less else -np.inf


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Writes the parameters and the Trainer's states after every so many epochs or batches.

    Files are `{model_prefix}-epoch{E}batch{B}.params` and `.states`, and `-best` for the best.

    Args:
        monitor, mode: a metric of the estimator, and whether "min" or "max" is better; for `save_best`.
        verbose: 1: lines in the log.
        max_checkpoints: older ones are removed.
        resume_from_checkpoint: go on from the last one in the folder.
    Raises: ValueError: save_best without a metric; training has reached its end in the last checkpoint.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: Any = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        self.monitor = monitor
        self.verbose = verbose
        os.makedirs(model_dir, exist_ok=True)
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.save_best = save_best
        if save_best:
            if not isinstance(monitor, metric_module().EvalMetric):
                raise ValueError(f"save_best: {_MONITOR}")
            self.monitor_op = _comparison("ModelCheckpoint", mode, monitor)
            self.best = _worst(self.monitor_op)
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints: list[str] = []

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.current_epoch = 0
        self.current_batch = 0
        if self.save_best:
            self.best = _worst(self.monitor_op)
        if self.resume_from_checkpoint:
            self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if self.current_batch == 0:
            estimator.logger.info("checkpoints have parameters only: no symbol file is written")
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save(estimator)
        self.current_batch += 1

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save(estimator)
        self.current_epoch += 1

    # ---- writing ----

    def _save(self, estimator: Any) -> None:
        epoch, batch = self.current_epoch, self.current_batch
        if self.resume_from_checkpoint:
            epoch += self.trained_epoch + 1
            batch += self.trained_batch + (0 if self.epoch_period else 1)
        name = f"{self.model_prefix}-epoch{epoch}batch{batch}"
        self._write(estimator, name)
        if self.verbose > 0:
            estimator.logger.info(
                f"[Epoch {epoch}] CheckpointHandler: model saved after {batch + 1} batches, in "
                f"{self.model_dir} as {name}"
            )
        self.saved_checkpoints.append(name)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            self._remove(self.saved_checkpoints.pop(0))
        if self.save_best:
            self._save_best(estimator, epoch)

    def _save_best(self, estimator: Any, epoch: int) -> None:
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(f"the best model is not saved: {name} has no value; {_MONITOR}", RuntimeWarning, stacklevel=4)
            return
        before = self.best
        if self.monitor_op(value, before):
            self.best = value
            self._write(estimator, f"{self.model_prefix}-best")
            text = f"improved from {before:.5f} to {value:.5f}; the best model is now in {self.model_dir} as "
            text += f"{self.model_prefix}-best"
        else:
            text = f"is no better than {before:.5f}; the best model stays"
        if self.verbose > 0:
            estimator.logger.info(f"[Epoch {epoch}] CheckpointHandler: {name} {text}")

    def _path(self, name: str) -> str:
        return os.path.join(self.model_dir, name)

    def _write(self, estimator: Any, name: str) -> None:
        """The states first: `_resume` takes what has a file of parameters as whole."""
        estimator.trainer.save_states(self._path(f"{name}.states"))
        estimator.net.save_parameters(self._path(f"{name}.params"))

    def _remove(self, name: str) -> None:
        for end in (".params", ".states"):
            if os.path.exists(self._path(name + end)):
                os.remove(self._path(name + end))

    # ---- going on ----

    def _resume(self, estimator: Any) -> None:
        """Reads the last checkpoint of the folder; what is left to train is less by what it has trained."""
        form = re.compile(re.escape(self.model_prefix) + r"-epoch(\d+)batch(\d+)\.params")
        found = [tuple(map(int, match.groups())) for match in map(form.fullmatch, os.listdir(self.model_dir)) if match]
        self.trained_epoch, self.trained_batch = max(found, default=(-1, -1))
        kind = "epoch" if estimator.max_epoch else "batch"
        most = estimator.max_epoch or estimator.max_batch
        left = most - 1 - (self.trained_epoch if kind == "epoch" else self.trained_batch)
        many = "epochs" if kind == "epoch" else "batches"
        if not found:
            estimator.logger.info(f"CheckpointHandler: there is no checkpoint; training begins anew, for {most} {many}")
            return
        if left <= 0:
            raise ValueError(
                f"the checkpoint is of the last {kind}, {most if kind == 'epoch' else most - 1}: no training is left "
                "(resume_from_checkpoint=False begins anew)"
            )
        setattr(estimator, f"max_{kind}", left)
        name = f"{self.model_prefix}-epoch{self.trained_epoch}batch{self.trained_batch}"
        estimator.net.load_parameters(self._path(f"{name}.params"), ctx=estimator.context)
        estimator.trainer.load_states(self._path(f"{name}.states"))
        estimator.logger.info(
            f"CheckpointHandler: the checkpoint of epoch {self.trained_epoch}, batch {self.trained_batch} is loaded; "
            f"{left} {many} are left"
        )


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends training when a metric has not improved for `patience` epochs.

    Args:
        min_delta: what counts as an improvement.
        mode: whether "min" or "max" is better.
        baseline: a value that the first epoch must be better than.
    Raises: ValueError: `monitor` is no metric.
    """

    def __init__(
        self, monitor: Any, min_delta: float = 0, patience: int = 0, mode: str = "auto", baseline: float | None = None
    ) -> None:
        if not isinstance(monitor, metric_module().EvalMetric):
            raise ValueError(f"EarlyStoppingHandler: {_MONITOR}")
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.monitor_op = _comparison("EarlyStopping", mode, monitor)
        self.min_delta = -min_delta if self.monitor_op is np.less else min_delta
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.current_epoch = 0
        self.stop_training = False
        self.best = _worst(self.monitor_op) if self.baseline is None else self.baseline

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Returns: whether training ends."""
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(f"{name} is not updated, {_MONITOR}", RuntimeWarning, stacklevel=2)
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best = value
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        if self.stopped_epoch > 0:
            name = self.monitor.get()[0]
            estimator.logger.info(
                f"[Epoch {self.stopped_epoch}] EarlyStoppingHandler: training ends early, {name} is no better"
            )
