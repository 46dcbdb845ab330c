"""`mx.autograd`: recording, backward, gradients of gradients, the graph, and functions with a gradient of one's own."""

from mxlite._public import show as _show
from mxlite.autograd import functional, graph
from mxlite.autograd._checks import GradcheckError
from mxlite.autograd._function import Function
from mxlite.autograd._gradients import backward, get_symbol, grad, mark_variables
from mxlite.autograd._inplace import set_inplace
from mxlite.autograd._scopes import (
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from mxlite.autograd._static import once_differentiable
from mxlite.autograd._tools import checkpoint, detect_anomaly, gradcheck, gradgradcheck, saved_tensors_hooks

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "checkpoint",
    "detect_anomaly",
    "functional",
    "get_symbol",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "is_recording",
    "is_training",
    "mark_variables",
    "once_differentiable",
    "pause",
    "predict_mode",
    "record",
    "saved_tensors_hooks",
    "set_inplace",
    "set_recording",
    "set_training",
    "train_mode",
]

_show(globals())
