"""Checkpoints of networks with symbolic cells: files have their weights unpacked, so that fused cells and others can
read each other's.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Callable, Union

from mxlite import symbol as sym
from mxlite._public import show
from mxlite.callback import _every
from mxlite.model import load_checkpoint, save_checkpoint
from mxlite.rnn._base import BaseRNNCell, Weights
from mxlite.rnn._combined import _cells_pack_weights, _cells_unpack_weights
from mxlite.symbol import Symbol

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]

Cells = Union[BaseRNNCell, Sequence[BaseRNNCell]]


def _listed(cells: Cells) -> Sequence[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def rnn_unroll(
    cell: BaseRNNCell,
    length: int,
    inputs: Any = None,
    begin_state: Sequence[Symbol] | None = None,
    input_prefix: str = "",
    layout: str = "NTC",
) -> tuple[Any, list]:
    """`cell.unroll(length, inputs, begin_state, layout)`.

    Args:
        inputs: as of `unroll`; None: variables named `input_prefix + "t0_data"` and so on.

    Warns: it is deprecated.
    """
    warnings.warn("rnn_unroll is deprecated: call cell.unroll", stacklevel=2)
    if inputs is None:
        inputs = [sym.Variable(f"{input_prefix}t{i}_data") for i in range(length)]
    return cell.unroll(length, inputs, begin_state, layout)


def save_rnn_checkpoint(
    cells: Cells, prefix: str, epoch: int, symbol: Symbol | None, arg_params: Weights, aux_params: Weights
) -> None:
    """As `mx.model.save_checkpoint`, with the weights of the cells unpacked. Raises KeyError: a weight is missing."""
    save_checkpoint(prefix, epoch, symbol, _cells_unpack_weights(_listed(cells), arg_params), aux_params)


def load_rnn_checkpoint(cells: Cells, prefix: str, epoch: int) -> tuple[Symbol, Weights, Weights]:
    """A checkpoint's symbol, arguments and auxiliary states, with the weights of the cells packed.

    Raises:
        MXNetError: a file is missing.
        KeyError: a weight is missing.
    """
    symbol, arguments, states = load_checkpoint(prefix, epoch)
    return symbol, _cells_pack_weights(_listed(cells), arguments), states


def do_rnn_checkpoint(cells: Cells, prefix: str, period: int = 1) -> Callable[..., None]:
    """A callback of epochs that calls `save_rnn_checkpoint`.

    Args:
        period: in how many epochs it is called once; less than 1 is 1.
    """
    return _every(period, lambda epoch, *model: save_rnn_checkpoint(cells, prefix, epoch, *model))


show(globals())
