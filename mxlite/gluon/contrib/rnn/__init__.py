"""`mx.gluon.contrib.rnn`: convolutional cells, dropout with one mask for all steps, an LSTM with a projection."""

from mxlite._public import show as _show
from mxlite.gluon.contrib.rnn import conv_rnn_cell, rnn_cell
from mxlite.gluon.contrib.rnn.conv_rnn_cell import *  # noqa: F403
from mxlite.gluon.contrib.rnn.conv_rnn_cell import __all__ as _conv
from mxlite.gluon.contrib.rnn.rnn_cell import LSTMPCell, VariationalDropoutCell

__all__ = [*_conv, "LSTMPCell", "VariationalDropoutCell", "conv_rnn_cell", "rnn_cell"]

_show(globals())
