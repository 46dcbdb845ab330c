"""`mx.notebook.callback`: callbacks that collect metrics in data frames of pandas."""

from __future__ import annotations

import datetime
import importlib
import time
from collections.abc import Iterable
from typing import Any, NoReturn

from mxlite._public import show as _show
from mxlite.error import MXNotImplementedError

__all__ = ["LiveBokehChart", "LiveLearningCurve", "LiveTimeSeries", "PandasLogger", "args_wrapper"]


class PandasLogger:
    """Data frames of metrics and speed: `train_df` (each `frequent` batches), `eval_df` (each validation), `epoch_df`.

    Args:
        batch_size: the rows of a batch, for `records_per_sec`.
    Raises: ImportError: pandas is not installed.
    """

    def __init__(self, batch_size: int, frequent: int = 50) -> None:
        try:
            frame = importlib.import_module("pandas").DataFrame
        except ImportError as error:
            raise ImportError("PandasLogger: pandas is missing (pip install pandas)", name="pandas") from error
        self.batch_size, self.frequent = batch_size, frequent
        self._dataframes = {name: frame() for name in ("train", "eval", "epoch")}
        self.last_time = time.time()
        self.start_time = self.last_epoch_time = datetime.datetime.now()

    @property
    def train_df(self) -> Any:
        """A row for each `frequent` batches of training."""
        return self._dataframes["train"]

    @property
    def eval_df(self) -> Any:
        """A row for each validation."""
        return self._dataframes["eval"]

    @property
    def epoch_df(self) -> Any:
        """A row for each epoch: its time."""
        return self._dataframes["epoch"]

    @property
    def all_dataframes(self) -> dict[str, Any]:
        """The frames by "train", "eval", "epoch"."""
        return self._dataframes

    def elapsed(self) -> datetime.timedelta:
        """The time since the logger was made."""
        return datetime.datetime.now() - self.start_time

    def append_metrics(self, metrics: dict[str, Any], df_name: str) -> None:
        """Adds a row to a frame; columns that it lacks are added to it."""
        frame = self._dataframes[df_name]
        for name in metrics:
            if name not in frame.columns:
                frame[name] = None
        frame.loc[len(frame)] = {**dict.fromkeys(frame.columns), **metrics}

    def train_cb(self, param: Any) -> None:
        """A callback of batches of training."""
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, "train")

    def eval_cb(self, param: Any) -> None:
        """A callback of the end of a validation."""
        self._process_batch(param, "eval")

    def _process_batch(self, param: Any, dataframe: str) -> None:
        """Adds the metric's values and the speed since the last row; the metric begins anew."""
        now = time.time()
        metrics = {}
        if param.eval_metric is not None:
            metrics = dict(param.eval_metric.get_name_value())
            param.eval_metric.reset()
        speed = self.frequent / max(now - self.last_time, 1e-9)
        self.last_time = now
        metrics.update(
            batches_per_sec=speed,
            records_per_sec=speed * self.batch_size,
            elapsed=self.elapsed(),
            minibatch_count=param.nbatch,
            epoch=param.epoch,
        )
        self.append_metrics(metrics, dataframe)

    def epoch_cb(self, *_: Any) -> None:
        """A callback of epochs."""
        now = datetime.datetime.now()
        self.append_metrics({"elapsed": self.elapsed(), "epoch_time": now - self.last_epoch_time}, "epoch")
        self.last_epoch_time = now

    def callback_args(self) -> dict[str, Any]:
        """The callbacks as arguments: `module.fit(..., **logger.callback_args())`."""
        return {
            "batch_end_callback": self.train_cb,
            "eval_end_callback": self.eval_cb,
            "epoch_end_callback": self.epoch_cb,
        }


class LiveBokehChart:
    """A chart that grows in a notebook, by an old Bokeh. Raises: NotImplementedError: when one is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise MXNotImplementedError(
            f"{type(self).__name__}: charts of Bokeh are not in mxlite; draw the data frames of PandasLogger "
            "(logger.train_df.plot(y='accuracy'))"
        )


class LiveTimeSeries(LiveBokehChart):
    """Such a chart of a number over time."""


class LiveLearningCurve(LiveBokehChart):
    """Such a chart of a metric in training and validation."""


def args_wrapper(*args: Any) -> dict[str, list]:
    """The callbacks of several things as arguments of `fit`, in lists; each has `callback_args()`."""
    found: dict[str, list] = {}
    for each in args:
        for name, value in each.callback_args().items():
            listed: Iterable[Any] = value if isinstance(value, list) else [value]
            found[name] = [*found.get(name, []), *listed]
    return found


_show(globals())
