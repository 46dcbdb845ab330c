"""Symbolic recurrent cells, for networks that are written step by step."""

from mxlite._public import show
from mxlite.rnn._base import BaseRNNCell, RNNParams, _normalize_sequence
from mxlite.rnn._cells import GRUCell, LSTMCell, RNNCell
from mxlite.rnn._combined import (
    BidirectionalCell,
    DropoutCell,
    ModifierCell,
    ResidualCell,
    SequentialRNNCell,
    ZoneoutCell,
    _cells_begin_state,
    _cells_pack_weights,
    _cells_state_info,
    _cells_state_shape,
    _cells_unpack_weights,
)
from mxlite.rnn._conv import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from mxlite.rnn._fused import FusedRNNCell

__all__ = [
    "BaseConvRNNCell",
    "BaseRNNCell",
    "BidirectionalCell",
    "ConvGRUCell",
    "ConvLSTMCell",
    "ConvRNNCell",
    "DropoutCell",
    "FusedRNNCell",
    "GRUCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RNNParams",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]

#: Private names that programs use.
_USED = (
    _cells_begin_state,
    _cells_pack_weights,
    _cells_state_info,
    _cells_state_shape,
    _cells_unpack_weights,
    _normalize_sequence,
)

show(globals())
