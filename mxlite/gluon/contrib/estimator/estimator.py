"""Estimator: a training loop with metrics, logs, validation and checkpoints."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from mxlite import initializer as initializers
from mxlite._notebook import live, progress
from mxlite._public import show
from mxlite.context import Context, cpu
from mxlite.gluon import loss as losses
from mxlite.gluon.contrib.estimator._events import EVENTS, EventHandler
from mxlite.gluon.contrib.estimator.batch_processor import BatchProcessor
from mxlite.gluon.contrib.estimator.event_handler import (
    GradientUpdateHandler,
    LiveHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from mxlite.gluon.contrib.estimator.utils import check_known, metric_list, metric_module
from mxlite.gluon.data import DataLoader
from mxlite.gluon.trainer import Trainer

__all__ = ["Estimator"]


class Estimator:
    """Trains a network: `Estimator(net, loss).fit(loader, epochs=3)`.

    Args:
        train_metrics, val_metrics: metrics; None: the loss's and, of classes, the accuracy; those of training anew.
        initializer: for a network without parameters; None: Uniform.
        trainer: None: SGD with a learning rate of 0.001.
        context: one or several; None: the CPU.
        val_net, val_loss: what validation runs, if something else.
        batch_processor: what does the work on a batch.
    Raises: ValueError: an argument of another kind.
    """

    def __init__(
        self,
        net: Any,
        loss: losses.Loss,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Trainer | None = None,
        context: Context | Sequence[Context] | None = None,
        val_net: Any = None,
        val_loss: losses.Loss | None = None,
        batch_processor: Any = None,
    ) -> None:
        self.net = net
        self.loss = _loss(loss)
        self._train_metrics = metric_list(train_metrics)
        self._val_metrics = metric_list(val_metrics)
        self._add_default_metrics()
        self.val_loss = self.loss if val_loss is None else _loss(val_loss)
        self.val_net = net if val_net is None else val_net
        self.logger = logging.Logger("Estimator", logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _contexts(context)
        self._initialize(initializer)
        self.trainer = self._checked_trainer(trainer)
        self.batch_processor = _processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    # ---- set-up ----

    def _add_default_metrics(self) -> None:
        if not self._train_metrics:
            if isinstance(self.loss, losses.SoftmaxCrossEntropyLoss):
                self._train_metrics.append(metric_module().Accuracy())
            self._train_metrics.append(metric_module().Loss(self.loss.name.rstrip("0123456789")))
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(each) for each in self._train_metrics]
        for kind, metrics in (("training", self._train_metrics), ("validation", self._val_metrics)):
            for each in metrics:
                each.name = f"{kind} {each.name}"

    def _initialize(self, initializer: Any) -> None:
        try:
            for each in self.net.collect_params().values():
                each.list_ctx()
        except RuntimeError:
            self.net.initialize(init=initializer or initializers.Uniform(), ctx=self.context)
            return
        if initializer is not None:
            warnings.warn(
                "Estimator: the network has its values, so `initializer` is not used; net.initialize(init=..., "
                "force_reinit=True) gives it new ones",
                stacklevel=3,
            )

    def _checked_trainer(self, trainer: Trainer | None) -> Trainer:
        if trainer is None:
            warnings.warn("Estimator: no trainer is given; it makes one of SGD with learning rate 0.001", stacklevel=3)
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f"Estimator: `trainer` is a gluon.Trainer, not {trainer}")
        return trainer

    @property
    def train_metrics(self) -> list:
        """The metrics of training."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list:
        """The metrics of validation."""
        return self._val_metrics

    # ---- the loops ----

    def evaluate(self, val_data: DataLoader, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Runs the network on all batches of a loader, for the metrics of validation.

        Raises: ValueError: no DataLoader, or no handlers.
        """
        _check_loader(val_data, "DataLoader")
        handlers = _Handlers(self, event_handlers)
        handlers.add_missing(MetricHandler, lambda: MetricHandler(self._val_metrics))
        handlers.add_missing(LoggingHandler, lambda: LoggingHandler(metrics=self._val_metrics))
        handlers.arrange()
        handlers.tell("epoch_begin")
        for batch in progress.over(val_data, "validation", loggers=[self.logger]):
            handlers.tell("batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            handlers.tell("batch_end", batch=batch, pred=pred, label=label, loss=loss)
        handlers.tell("epoch_end")

    def fit(
        self,
        train_data: DataLoader,
        val_data: DataLoader | None = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Trains for a number of epochs, or of batches.

        Args: event_handlers: one or a list; of each kind that is not among them there is a default one.
        Raises: ValueError: no DataLoader, no handlers, or not one of epochs and batches.
        """
        _check_loader(train_data, "dataloader")
        if bool(epochs) == bool(batches):
            raise ValueError("fit: either epochs or batches must be given, and not both")
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        handlers = self._handlers(val_data, event_handlers)
        handlers.tell("train_begin")
        while not self._epoch(train_data, handlers, batch_axis):
            pass
        handlers.tell("train_end")

    def _epoch(self, train_data: DataLoader, handlers: _Handlers, batch_axis: int) -> bool:
        """One epoch. Returns: whether it is the last."""
        handlers.tell("epoch_begin")
        for batch in train_data if handlers.live else progress.over(train_data, "training", loggers=[self.logger]):
            handlers.tell("batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
            if handlers.tell("batch_end", batch=batch, pred=pred, label=label, loss=loss):
                break
        return handlers.tell("epoch_end")

    def _handlers(self, val_data: DataLoader | None, given: Any) -> _Handlers:
        handlers = _Handlers(self, given)
        handlers.all.append(StoppingHandler(self.max_epoch, self.max_batch))
        handlers.add_missing(GradientUpdateHandler, GradientUpdateHandler)
        handlers.add_missing(MetricHandler, lambda: MetricHandler(self._train_metrics))
        if val_data is not None:
            handlers.add_missing(ValidationHandler, lambda: ValidationHandler(val_data, self.evaluate))
        handlers.add_missing(LoggingHandler, lambda: LoggingHandler(metrics=self._train_metrics))
        if live.wanted([]):
            handlers.add_missing(LiveHandler, LiveHandler)
        handlers.arrange()
        return handlers


class _Handlers:
    """The handlers of a loop."""

    def __init__(self, estimator: Estimator, given: Any) -> None:
        self.estimator = estimator
        self.all = list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
        if not all(isinstance(each, EventHandler) for each in self.all):
            raise ValueError(f"event handlers are objects of EventHandler classes, alone or in a list, not {given}")

    def add_missing(self, kind: type, make: Any) -> None:
        """Adds a default handler where there is none of a kind."""
        if not any(isinstance(each, kind) for each in self.all):
            self.all.append(make())

    @property
    def live(self) -> bool:
        """Whether one of them shows how far training is."""
        return live.wanted([]) and any(isinstance(each, LiveHandler) for each in self.all)

    def arrange(self) -> None:
        """Sorts by priority, and who hears what. Raises: ValueError: one reads a metric that is not updated."""
        known = [*self.estimator.train_metrics, *self.estimator.val_metrics]
        for each in self.all:
            monitor = getattr(each, "monitor", None)
            check_known(each, [*getattr(each, "metrics", ()), *([] if monitor is None else [monitor])], known)
        self.all.sort(key=lambda each: getattr(each, "priority", 0))
        self.hearing = {name: [each for each in self.all if isinstance(each, kind)] for name, kind in EVENTS.items()}

    def tell(self, event: str, **facts: Any) -> bool:
        """Tells all who hear of an event. Returns: whether one of them wants training to end."""
        answers = [getattr(each, event)(self.estimator, **facts) for each in self.hearing[event]]
        return any(answers)


def _loss(loss: Any) -> losses.Loss:
    if not isinstance(loss, losses.Loss):
        raise ValueError(f"Estimator: `loss` is a gluon.loss.Loss, not {loss}")
    return loss


def _contexts(context: Any) -> list[Context]:
    found = [cpu()] if not context else [context] if isinstance(context, Context) else context
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, Context) for each in found):
        raise ValueError(f"Estimator: `context` is a Context or a list of them (mx.cpu()), not {context}")
    return list(found)


def _processor(processor: Any) -> Any:
    if processor is None:
        return BatchProcessor()
    if not (hasattr(processor, "fit_batch") and hasattr(processor, "evaluate_batch")):
        raise ValueError("Estimator: `batch_processor` must have fit_batch() and evaluate_batch()")
    return processor


def _check_loader(data: Any, name: str) -> None:
    if not isinstance(data, DataLoader):
        raise ValueError(
            f"Estimator: data come from a gluon.data.DataLoader (gluon.data.{name} wraps DataIters and arrays)"
        )


show(globals())
