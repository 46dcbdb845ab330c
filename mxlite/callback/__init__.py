"""`mx.callback`: what training calls after a batch or an epoch, to log speed and metrics and to save.

A callback of batches takes one argument with `epoch`, `nbatch`, `eval_metric` and `locals`; one of epochs takes the
number of the epoch, the symbol, the arguments and the auxiliary states.
"""

from __future__ import annotations

import logging
import math
import time
from typing import Any, Callable

from mxlite._notebook import live
from mxlite._public import show as _show
from mxlite.model import save_checkpoint

__all__ = [
    "Live",
    "LogValidationMetricsCallback",
    "ProgressBar",
    "Speedometer",
    "do_checkpoint",
    "log_train_metric",
    "module_checkpoint",
]


def module_checkpoint(
    mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> Callable[..., None]:
    """A callback of epochs that calls `mod.save_checkpoint(prefix, epochs, save_optimizer_states)`.

    Args:
        period: In how many epochs it is called once; less than 1 is 1.
    """
    return _every(period, lambda epoch, *_: mod.save_checkpoint(prefix, epoch, save_optimizer_states))


def do_checkpoint(prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback of epochs that saves the symbol and its parameters, as `mx.model.save_checkpoint`.

    Args:
        period: In how many epochs it is called once; less than 1 is 1.
    """
    return _every(period, lambda epoch, *model: save_checkpoint(prefix, epoch, *model))


def _every(period: int, save: Callable[..., None]) -> Callable[..., None]:
    """A callback of epochs that calls `save(epochs, symbol, arguments, auxiliary states)` once in `period` epochs."""
    period = int(max(1, period))

    def callback(iter_no: int, sym: Any = None, arg: Any = None, aux: Any = None) -> None:
        if (iter_no + 1) % period == 0:
            save(iter_no + 1, sym, arg, aux)

    return callback


def log_train_metric(period: int, auto_reset: bool = False) -> Callable[[Any], None]:
    """A callback of batches that logs the metric, each `period` batches.

    Args:
        auto_reset: The metric's local value begins anew each time.
    """

    def callback(param: Any) -> None:
        metric = param.eval_metric
        if metric is not None and param.nbatch % period == 0:
            for name, value in metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
            if auto_reset:
                metric.reset_local()

    return callback


class Speedometer:
    """A callback of batches that logs how many samples a second are trained on, and the metric.

    Args:
        batch_size: Samples in a batch.
        frequent: In how many batches it logs once.
        auto_reset: The metric's local value begins anew each time.
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.init = False
        self.tic: float = 0
        self.last_count = 0

    def __call__(self, param: Any) -> None:
        """Counts a batch. The first one of an epoch starts the clock."""
        count = param.nbatch
        restarted, self.last_count = self.last_count > count, count
        if restarted or not self.init:
            self.init, self.tic = True, time.time()
        elif count % self.frequent == 0:
            self._log(param.epoch, count, param.eval_metric)
            self.tic = time.time()

    def _log(self, epoch: int, count: int, metric: Any) -> None:
        seconds = time.time() - self.tic
        speed = self.frequent * self.batch_size / seconds if seconds > 0 else float("inf")
        if metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", epoch, count, speed)
            return
        pairs = metric.get_name_value()
        first = 0
        if self.auto_reset:
            metric.reset_local()
            first = count - self.frequent
        values = "".join(f"\t{name}={value:f}" for name, value in pairs)
        logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s", epoch, first, count, speed, values)


class ProgressBar:
    """A callback of batches that logs a bar: `[=====-----] 50%`.

    Args:
        total: How many batches are all.
        length: Characters of the whole bar.
    """

    def __init__(self, total: int, length: int = 80) -> None:
        self.total = total
        self.bar_len = length

    def __call__(self, param: Any) -> None:
        """Logs the bar. Raises: ZeroDivisionError: there are no batches in all."""
        done = param.nbatch / float(self.total)
        filled = round(self.bar_len * done)
        bar = "=" * filled + "-" * (self.bar_len - filled)
        logging.info("[%s] %s%s\r", bar, math.ceil(100.0 * done), "%")


class Live(live.Live):
    """A line of the latest metrics and their curves, which a notebook shows while training goes on.

        live = mx.callback.Live()
        module.fit(data, held_out, batch_end_callback=live, eval_end_callback=live.validated)

    In a loop of one's own `live.update(loss=..., accuracy=...)` notes values. In a notebook `Module.fit` shows such a
    line by itself unless MXLITE_PROGRESS is 0. Elsewhere nothing is shown; `history` has the points all the same.
    """

    def __init__(self, across: str = "batch") -> None:
        super().__init__(across)
        self._batches = 0

    def __call__(self, param: Any) -> None:
        """Notes the metric of training after a batch."""
        self._batches += 1
        self._note("training", param, f"epoch {param.epoch}, batch {param.nbatch}")

    def validated(self, param: Any) -> None:
        """Notes the metric at the end of an evaluation, and draws."""
        self._note("validation", param, f"epoch {param.epoch}")
        self.show()

    def _note(self, which: str, param: Any, place: str) -> None:
        if param.eval_metric is not None:
            values = {f"{which} {name}": value for name, value in param.eval_metric.get_name_value()}
            self.update(self._batches, place, **values)


class LogValidationMetricsCallback:
    """A callback at the end of an evaluation that logs the metric."""

    def __call__(self, param: Any) -> None:
        """Logs each value, if there is a metric."""
        if param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


_show(globals())
