"""`mx.autograd`: recording, backward, gradients of gradients, the graph, and functions with a gradient of one's own."""

from mxlite.autograd import graph
from mxlite.autograd._function import Function
from mxlite.autograd._gradients import backward, get_symbol, grad, mark_variables
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

__all__ = [
    "Function",
    "backward",
    "get_symbol",
    "grad",
    "graph",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]
