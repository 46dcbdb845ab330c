"""mx.contrib.tensorboard and mx.notebook.callback: what they write, with stand-ins for the packages that they need."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

import mxlite as mx
from mxlite import nd
from mxlite.contrib import tensorboard
from mxlite.model import BatchEndParam
from mxlite.notebook import callback


def measured() -> mx.metric.EvalMetric:
    found = mx.metric.create(["acc", "ce"])
    found.update([nd.array([0, 1])], [nd.array([[0.9, 0.1], [0.3, 0.7]])])
    return found


class Writer:
    def __init__(self, folder: str) -> None:
        self.folder, self.scalars = folder, []

    def add_scalar(self, name: str, value: float, global_step: int) -> None:
        self.scalars.append((name, round(value, 4), global_step))


def test_metrics_for_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names and steps are those of 1.9.1."""
    module = types.ModuleType("mxboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "mxboard", module)
    for prefix, start in ((None, ""), ("train", "train-")):
        log = tensorboard.LogMetricsCallback("here", prefix=prefix)
        log(BatchEndParam(3, 5, measured(), None))
        log(BatchEndParam(3, 6, None, None))
        assert log.summary_writer.folder == "here"
        assert log.summary_writer.scalars == [(f"{start}accuracy", 1.0, 3), (f"{start}cross-entropy", 0.231, 3)]
    monkeypatch.setitem(sys.modules, "mxboard", None)
    with pytest.raises(ImportError, match="pip install mxboard"):
        tensorboard.LogMetricsCallback("here")


class _Rows:
    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def __setitem__(self, number: int, row: dict) -> None:
        assert number == len(self.frame.rows) and list(row) == self.frame.columns
        self.frame.rows.append(row)


class Frame:
    """As much of a data frame as the logger uses."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.rows: list[dict] = []
        self.loc = _Rows(self)

    def __setitem__(self, name: str, value: Any) -> None:
        self.columns.append(name)

    def __len__(self) -> int:
        return len(self.rows)


@pytest.fixture
def logger(monkeypatch: pytest.MonkeyPatch) -> callback.PandasLogger:
    module = types.ModuleType("pandas")
    module.DataFrame = Frame
    monkeypatch.setitem(sys.modules, "pandas", module)
    return callback.PandasLogger(4, frequent=2)


def test_frames_of_metrics(logger: callback.PandasLogger) -> None:
    metric = measured()
    for number in range(3):
        logger.train_cb(BatchEndParam(1, number, metric, None))
    first, second = logger.train_df.rows
    assert first["accuracy"] == 1 and second["accuracy"] != second["accuracy"]  # NaN: the metric began anew
    assert (second["minibatch_count"], second["epoch"]) == (2, 1)
    assert first["records_per_sec"] == 4 * first["batches_per_sec"]
    assert first["elapsed"] <= second["elapsed"] <= logger.elapsed()
    logger.eval_cb(BatchEndParam(1, 7, measured(), None))
    assert len(logger.eval_df) == 1 and set(logger.all_dataframes) == {"train", "eval", "epoch"}


def test_fit_takes_the_callbacks(logger: callback.PandasLogger) -> None:
    class Other:
        def callback_args(self) -> dict:
            return {"batch_end_callback": lambda param: seen.append(param.nbatch)}

    seen: list[int] = []
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    data = mx.io.NDArrayIter(nd.ones((8, 3)), nd.zeros((8,)), batch_size=2)
    mx.mod.Module(net).fit(data, eval_data=data, num_epoch=2, **callback.args_wrapper(logger, Other()))
    assert seen == [0, 1, 2, 3] * 2 and len(logger.train_df) == 4
    assert len(logger.eval_df) == 2 and len(logger.epoch_df) == 2


def test_what_is_missing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        callback.PandasLogger(4)
    for chart in (callback.LiveBokehChart, callback.LiveLearningCurve, callback.LiveTimeSeries):
        with pytest.raises(NotImplementedError, match=f"{chart.__name__}: .*PandasLogger"):
            chart("acc")
