"""Recurrent cells, for networks that are written step by step."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.rnn._cells import GRUCell, HybridRecurrentCell, LSTMCell, RecurrentCell, RNNCell, _get_begin_state
from mxlite.gluon.rnn._combined import (
    BidirectionalCell,
    DropoutCell,
    HybridSequentialRNNCell,
    ModifierCell,
    ResidualCell,
    SequentialRNNCell,
    ZoneoutCell,
    _cells_begin_state,
    _cells_state_info,
)
from mxlite.gluon.rnn._sequences import _format_sequence, _mask_sequence_variable_length, _reverse_sequences

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]

#: Private names that programs use.
_USED = (
    _cells_begin_state,
    _cells_state_info,
    _format_sequence,
    _get_begin_state,
    _mask_sequence_variable_length,
    _reverse_sequences,
)

show(globals())
