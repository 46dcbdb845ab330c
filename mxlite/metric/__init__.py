"""`mx.metric`: numbers that say how good predictions are, which batches are added to.

metric = mx.metric.Accuracy()
for data, label in loader:
    metric.update([label], [net(data)])
print(metric.get())                       # ("accuracy", 0.97)
"""

from __future__ import annotations

from typing import Any, Callable

from mxlite._public import show
from mxlite.metric._base import (
    CompositeEvalMetric,
    CustomMetric,
    EvalMetric,
    alias,
    check_label_shapes,
    create,
    register,
)
from mxlite.metric._classes import (
    F1,
    MCC,
    PCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
)
from mxlite.metric._numbers import MAE, MSE, RMSE, Caffe, Loss, PearsonCorrelation, Torch

__all__ = [
    "F1",
    "MAE",
    "MCC",
    "MSE",
    "PCC",
    "RMSE",
    "Accuracy",
    "Caffe",
    "CompositeEvalMetric",
    "CrossEntropy",
    "CustomMetric",
    "EvalMetric",
    "Loss",
    "NegativeLogLikelihood",
    "PearsonCorrelation",
    "Perplexity",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "register",
]


def np(numpy_feval: Callable[..., Any], name: str | None = None, allow_extra_outputs: bool = False) -> CustomMetric:
    """A metric of a function of a label and a prediction, NumPy arrays; see `CustomMetric`."""
    return CustomMetric(numpy_feval, name, allow_extra_outputs)


show(globals())
