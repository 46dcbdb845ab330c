"""Symbolic layers that are one operator for a whole sequence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from mxlite import initializer, ndarray, symbol
from mxlite.error import WrongValueError
from mxlite.rnn._base import BaseRNNCell, RNNParams, Weights, _normalize_sequence, take
from mxlite.rnn._cells import GRUCell, LSTMCell, RNNCell
from mxlite.rnn._combined import BidirectionalCell, DropoutCell, SequentialRNNCell
from mxlite.rnn._packed import Packing, gates_of
from mxlite.symbol import Symbol


class FusedRNNCell(BaseRNNCell):
    """Layers of recurrent cells in one operator, with one array of weights; `unfuse` gives cells that do the same.

    Args:
        num_hidden: the size of the states.
        num_layers: how many layers, one behind the other.
        mode: "rnn_relu", "rnn_tanh", "lstm" or "gru".
        bidirectional: a second set of layers reads the sequence backwards; outputs are joined.
        dropout: the share that is dropped between layers.
        get_next_state: whether `unroll` gives the states after the last step; else it gives [].
        forget_bias: with what the biases of forget gates begin.
        prefix: what names begin with; None: the mode.
    """

    _instead = "unfuse() it"

    def __init__(
        self,
        num_hidden: int,
        num_layers: int = 1,
        mode: str = "lstm",
        bidirectional: bool = False,
        dropout: float = 0.0,
        get_next_state: bool = False,
        forget_bias: float = 1.0,
        prefix: str | None = None,
        params: RNNParams | None = None,
    ) -> None:
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._packing = Packing(num_hidden, num_layers, mode, bidirectional)
        self._directions = self._packing.directions
        init = initializer.FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self.params.get("parameters", init=init)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """Raises NotImplementedError: there is no single step."""
        raise NotImplementedError("a FusedRNNCell has no single step: call unroll")

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Each state is (layers * directions, batch, hidden)."""
        shape = (self._num_layers * len(self._directions), 0, self._num_hidden)
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(2 if self._mode == "lstm" else 1)]

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return gates_of(self._mode)

    def unpack_weights(self, args: Weights) -> Weights:
        """The arrays of `args` with one for each layer, direction and gate, `lstm_l0_i2h_f_weight`.

        Raises:
            KeyError: the weights are not in `args`.
            ValueError: there cannot be so many.
        """
        args = args.copy()
        packed = take(args, self._parameter.name)
        if packed.ndim != 1:
            raise WrongValueError(f"unpack_weights: {self._parameter.name} has one axis, got shape {packed.shape}")
        for name, start, shape in self._packing.parts(self._packing.num_input(packed.size)):
            args[self._prefix + name] = packed[start : start + math.prod(shape)].reshape(shape).copy()
        return args

    def pack_weights(self, args: Weights) -> Weights:
        """The inverse of `unpack_weights`. Raises KeyError: a weight is not in `args`."""
        args = args.copy()
        first = f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"
        if first not in args:
            take(args, first)
        parts = [take(args, self._prefix + name) for name, _, _ in self._packing.parts(args[first].shape[1])]
        args[self._parameter.name] = ndarray.concatenate([part.reshape((-1,)) for part in parts])
        return args

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list]:
        """As BaseRNNCell.unroll; the outputs are one symbol unless `merge_outputs` is False.

        Warns: of layout "NTC", which costs two transpositions.
        """
        self.reset()
        inputs, axis = _normalize_sequence(length, inputs, layout, True)
        if axis == 1:
            warnings.warn("FusedRNNCell: layout='TNC' is faster than 'NTC', which is transposed", stacklevel=2)
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        elif axis != 0:
            raise WrongValueError(f"layout is 'NTC' or 'TNC', not {layout!r}")
        states = self.begin_state() if begin_state is None else begin_state
        names = ("state", "state_cell")[: len(self.state_info)]
        outputs = symbol.RNN(
            data=inputs,
            parameters=self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **{name: states[i] for i, name in enumerate(names)},
        )
        following: list[Symbol] = []
        if self._get_next_state:
            outputs._set_attr(__layout__="LNC")
            outputs, *following = outputs
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return _normalize_sequence(length, outputs, layout, merge_outputs)[0], following

    def unfuse(self) -> SequentialRNNCell:
        """Cells that do the same step by step, whose weights are the unpacked ones, packed by their `pack_weights`.

        Biases of forget gates begin with 1, as in 1.9.1, whatever `forget_bias` is.
        """
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [self._cell(f"{self._prefix}{direction}{layer}_") for direction in self._directions]
            if self._bidirectional:
                stack.add(BidirectionalCell(*cells, output_prefix=f"{self._prefix}bi_l{layer}_"))
            else:
                stack.add(cells[0])
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _cell(self, prefix: str) -> BaseRNNCell:
        gates_of(self._mode)
        if self._mode.startswith("rnn_"):
            return RNNCell(self._num_hidden, activation=self._mode[len("rnn_") :], prefix=prefix)
        return {"lstm": LSTMCell, "gru": GRUCell}[self._mode](self._num_hidden, prefix=prefix)
