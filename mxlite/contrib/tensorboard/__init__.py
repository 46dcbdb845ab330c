"""`mx.contrib.tensorboard`: a callback that writes metrics as TensorBoard reads them, by the package mxboard."""

from __future__ import annotations

import importlib
from typing import Any

from mxlite._public import show as _show

__all__ = ["LogMetricsCallback"]


class LogMetricsCallback:
    """A callback of batches that writes the metric's values as scalars, at the step of the epoch's number.

    Args:
        logging_dir: the folder for the files. prefix: what the scalars' names begin with, before a "-".
    Raises: ImportError: the package mxboard is not installed.
    """

    def __init__(self, logging_dir: str, prefix: str | None = None) -> None:
        self.prefix = prefix
        try:
            mxboard = importlib.import_module("mxboard")
        except ImportError as error:
            message = "LogMetricsCallback: the package mxboard is missing (pip install mxboard)"
            raise ImportError(message, name="mxboard") from error
        self.summary_writer = mxboard.SummaryWriter(logging_dir)

    def __call__(self, param: Any) -> None:
        """Writes the values of `param.eval_metric`, if there is one."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            self.summary_writer.add_scalar(
                name if self.prefix is None else f"{self.prefix}-{name}", value, global_step=param.epoch
            )


_show(globals())
