"""Recurrent layers (`RNN`, `LSTM`, `GRU`: a whole sequence at once) and cells (one step at a time)."""

from mxlite._public import show as _show
from mxlite.gluon.rnn import rnn_cell, rnn_layer
from mxlite.gluon.rnn.rnn_cell import *  # noqa: F403
from mxlite.gluon.rnn.rnn_cell import __all__ as _cells
from mxlite.gluon.rnn.rnn_layer import *  # noqa: F403
from mxlite.gluon.rnn.rnn_layer import __all__ as _layers

__all__ = [*_cells, *_layers, "rnn_cell", "rnn_layer"]

_show(globals())
