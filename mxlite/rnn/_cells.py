"""Symbolic cells of one step: of matrix products, and of convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mxlite import initializer, symbol
from mxlite.gluon._graph import NodeNames
from mxlite.gluon.rnn._steps import Function, gru_step, lstm_step, rnn_step
from mxlite.rnn._base import BaseRNNCell, RNNParams
from mxlite.rnn._packed import gates_of
from mxlite.symbol import Symbol

WEIGHTS_FIRST = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")


class _GatedCell(BaseRNNCell):
    """A cell of two products, of the input and of the last output, for a number of gates.

    A kind says by `_step` what it makes of them.
    """

    _states = 1
    #: Names of nodes of a step, by what they would be called; and what those of other nodes begin with.
    _node_names: dict[str, str] = {}
    _mark = ""
    _activation: Any = "tanh"
    #: The variables, in the order in which they are made: some kinds make both weights first.
    _weight_names: tuple[str, ...] = ("i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias")

    _iW: Symbol  # noqa: N815 - 1.9.1's names
    _iB: Symbol  # noqa: N815
    _hW: Symbol  # noqa: N815
    _hB: Symbol  # noqa: N815

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """One step: the output and the next states."""
        if not self._gate_names:
            raise NotImplementedError(f"{type(self).__name__}: a cell must have __call__")
        self._counter += 1
        name = f"{self._prefix}t{self._counter}_"
        i2h, h2h = self._products(inputs, states[0], name)
        marked = name + self._mark
        names = NodeNames({automatic: name + own for automatic, own in self._node_names.items()})

        def activated(activation: Any, values: Symbol, part: str | None) -> Symbol:
            with names.within:  # a function of the user's may make nodes of its own
                named = {} if part is None else {"name": (name if part == "out" else marked) + part}
                return self._get_activation(values, activation, **named)

        with names:
            return self._step(
                i2h,
                h2h,
                states,
                lambda values, part: self._split(values, marked + part),
                partial(activated, self._activation),
                partial(activated, "sigmoid"),
            )

    def _make_weights(self, **init: Any) -> None:
        """Makes the variables of both products; `init`: initializers, as `i2h_bias`."""
        made = {name: self.params.get(name, init=init.get(name)) for name in self._weight_names}
        self._iW, self._iB = made["i2h_weight"], made["i2h_bias"]
        self._hW, self._hB = made["h2h_weight"], made["h2h_bias"]

    def _step(
        self, i2h: Symbol, h2h: Symbol, states: Sequence[Symbol], split: Function, act: Function, gate: Function
    ) -> tuple[Symbol, list]:
        """What a kind makes of the products; see gluon/rnn/_steps.py for `split`, `act` and `gate`."""
        raise NotImplementedError(f"{type(self).__name__}: a cell with gates must have _step")

    def _products(self, inputs: Symbol, state: Symbol, name: str) -> tuple[Symbol, Symbol]:
        rows = self._num_gates * self._num_hidden
        product, name = partial(symbol.FullyConnected, num_hidden=rows), name + self._mark
        i2h = product(inputs, self._iW, self._iB, name=f"{name}i2h")
        return i2h, product(state, self._hW, self._hB, name=f"{name}h2h")

    def _split(self, values: Symbol, name: str) -> Symbol:
        return symbol.split(values, num_outputs=self._num_gates, name=name)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"} for _ in range(self._states)]


class _RNN(_GatedCell):
    """The gate of plain cells."""

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return gates_of("rnn_tanh")

    def _step(
        self, i2h: Symbol, h2h: Symbol, states: Sequence[Symbol], split: Function, act: Function, gate: Function
    ) -> tuple[Symbol, list]:
        return rnn_step(i2h, h2h, act)


class _LSTM(_GatedCell):
    """The gates of long short-term memory."""

    _states = 2
    _node_names = {"_plus1": "state", "_mul2": "out"}

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return gates_of("lstm")

    def _step(
        self, i2h: Symbol, h2h: Symbol, states: Sequence[Symbol], split: Function, act: Function, gate: Function
    ) -> tuple[Symbol, list]:
        return lstm_step(i2h, h2h, states[1], split, act, gate)


class _GRU(_GatedCell):
    """The gates of gated recurrent units."""

    _node_names = {"_plus3": "out"}
    _mark = "_"

    @property
    def _gate_names(self) -> tuple[str, ...]:
        return gates_of("gru")

    def _step(
        self, i2h: Symbol, h2h: Symbol, states: Sequence[Symbol], split: Function, act: Function, gate: Function
    ) -> tuple[Symbol, list]:
        return gru_step(i2h, h2h, states[0], split, act, gate)


class RNNCell(_RNN):
    """h' = activation(W x + b + R h + c)

    Args:
        num_hidden: the size of the state h.
        activation: a name, or a function of a symbol and `name`.
    """

    def __init__(
        self, num_hidden: int, activation: Any = "tanh", prefix: str = "rnn_", params: RNNParams | None = None
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._activation = activation
        self._make_weights()


class LSTMCell(_LSTM):
    """Long short-term memory; states are the output and the memory, each (batch, hidden).

    Args:
        forget_bias: with what the bias of the forget gate begins.
    """

    _weight_names = WEIGHTS_FIRST

    def __init__(
        self, num_hidden: int, prefix: str = "lstm_", params: RNNParams | None = None, forget_bias: float = 1.0
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._make_weights(i2h_bias=initializer.LSTMBias(forget_bias=forget_bias))


class GRUCell(_GRU):
    """Gated recurrent unit; the state is the output, (batch, hidden)."""

    def __init__(self, num_hidden: int, prefix: str = "gru_", params: RNNParams | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._make_weights()
