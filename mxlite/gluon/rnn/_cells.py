"""Recurrent cells: one step of a recurrent network, and `unroll`, which makes many."""

from __future__ import annotations

from typing import Any, Callable

from mxlite import ndarray as nd
from mxlite.error import WrongStateError
from mxlite.gluon.block import Block, HybridBlock
from mxlite.gluon.nn import LeakyReLU
from mxlite.gluon.rnn._sequences import _format_sequence, _mask_sequence_variable_length, last_states
from mxlite.gluon.rnn._steps import Function, gru_step, lstm_step, rnn_step
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import as_kind, as_mode
from mxlite.symbol import Symbol

_MODIFIED = "this cell is inside a modifier cell (ZoneoutCell, ResidualCell ...): call that one"

#: What a cell gives at a step: its output and its states.
Step = tuple[NDArray, list[NDArray]]


def _get_begin_state(cell: Any, F: Any, begin_state: Any, inputs: Any, batch_size: int) -> Any:  # noqa: N803
    """The states that are given, or zeros on the device of the inputs."""
    if begin_state is not None:
        return begin_state
    first = inputs[0] if isinstance(inputs, (list, tuple)) else inputs
    if isinstance(first, Symbol):
        return cell.begin_state(func=F.zeros, batch_size=batch_size)
    with first.context:
        return as_kind(cell.begin_state(func=nd.zeros, batch_size=batch_size), first._kind)


class RecurrentCell(Block):
    """The base class of cells: `output, states = cell(inputs, states)`; `begin_state()` gives the first states."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Forgets the steps done; `unroll` does so first."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            cell.reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The shape and the layout of each state."""
        raise NotImplementedError(f"{type(self).__name__}: a cell must have state_info")

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any) -> list:
        """States to begin with.

        Args:
            func: a function of a shape that makes an array; it gets `kwargs` too. Those of the default are of the mode.

        Raises: MXNetError: the cell is part of a modifier, which must be asked.
        """
        if self._modified:
            raise WrongStateError(_MODIFIED)
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            given = {**(info or {}), **kwargs}
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **given))
        return as_mode(states) if func is nd.zeros else states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: list | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """Runs the cell along a sequence.

        Args:
            length: how many steps.
            inputs: one array with the axes of `layout`, or a list with an array for each step.
            begin_state: the first states; None: zeros.
            merge_outputs: whether the outputs are one array; None: a list.
            valid_length: the length of each sample; outputs from there on are zeros.

        Returns: the outputs, and the states after the last valid step.
        """
        self.reset()
        inputs, axis, F, batch_size = _format_sequence(length, inputs, layout, False)  # noqa: N806
        states = _get_begin_state(self, F, begin_state, inputs, batch_size)
        outputs, all_states = [], []
        for each in inputs:
            output, states = self(each, states)
            outputs.append(output)
            all_states.append(states)
        if valid_length is not None:
            states = last_states(all_states, valid_length)
            outputs = _mask_sequence_variable_length(F, outputs, length, valid_length, axis, True)
        return _format_sequence(length, outputs, layout, merge_outputs)[0], states

    def _get_activation(self, F: Any, inputs: Any, activation: Any, **kwargs: Any) -> Any:  # noqa: N803
        """The activation of a name, a LeakyReLU, or another block."""
        if isinstance(activation, str):
            if activation in ("tanh", "relu", "sigmoid", "softsign"):
                return getattr(F, activation)(inputs)
            return F.Activation(inputs, act_type=activation)
        if isinstance(activation, LeakyReLU):
            return F.LeakyReLU(inputs, act_type="leaky", slope=activation._alpha)
        return activation(inputs)

    def _activate(self, F: Any, activation: Any) -> Function:  # noqa: N803
        """An activation as a step of _steps.py wants it."""
        return lambda values, _: self._get_activation(F, values, activation)

    def forward(self, inputs: NDArray, states: list[NDArray]) -> Step:
        """One step: the output and the next states."""
        self._counter += 1
        return super().forward(inputs, states)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """The base class of cells whose step is a `hybrid_forward(F, inputs, states, ...)`."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def _step_prefix(self) -> str:
        return f"t{self._counter}_"

    def hybrid_forward(self, F: Any, x: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N803
        """One step: the output and the next states."""
        raise NotImplementedError(f"{type(self).__name__}: a cell must have hybrid_forward")


#: Names in graphs: of the two products, and of the result of an activation.
_PRODUCTS = {"fullyconnected0": "i2h", "fullyconnected1": "h2h"}
_RESULT = {f"{kind}0": "out" for kind in ("tanh", "relu", "sigmoid", "softsign", "activation", "leakyrelu")}


def _split(F: Any, gates: int, axis: int = 1) -> Function:  # noqa: N803
    """What parts the values of gates, as a step of _steps.py wants it."""
    return lambda values, _: F.split(values, num_outputs=gates, axis=axis)


class _GatedCell(HybridRecurrentCell):
    """A cell of two products, of the input and of the last output, for a number of gates."""

    _gates = 1
    _kind = "rnn"
    _states = 1

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        input_size: int,
        prefix: str | None,
        params: Any,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        rows = self._gates * hidden_size
        for name, shape, init in (
            ("i2h_weight", (rows, input_size), i2h_weight_initializer),
            ("h2h_weight", (rows, hidden_size), h2h_weight_initializer),
            ("i2h_bias", (rows,), i2h_bias_initializer),
            ("h2h_bias", (rows,), h2h_bias_initializer),
        ):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"} for _ in range(self._states)]

    def _alias(self) -> str:
        return self._kind

    def _mapping(self) -> str:
        shape = self.i2h_weight.shape
        return f"{shape[1] if shape[1] else None} -> {shape[0]}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()})"

    def _products(self, F: Any, inputs: Any, state: Any, arrays: tuple) -> tuple[Any, Any]:  # noqa: N803
        i2h_weight, h2h_weight, i2h_bias, h2h_bias = arrays
        rows = self._gates * self._hidden_size
        i2h = F.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows)
        return i2h, F.FullyConnected(state, h2h_weight, h2h_bias, num_hidden=rows)


class RNNCell(_GatedCell):
    """h' = activation(W x + b + R h + c)"""

    _node_names = {**_PRODUCTS, "_plus0": "plus0", **_RESULT}

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            hidden_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            input_size,
            prefix,
            params,
        )
        self._activation = activation

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._mapping()}, {self._activation})"

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,  # noqa: N803
        inputs: NDArray,
        states: list[NDArray],
        i2h_weight: Any,
        h2h_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> Step:
        i2h, h2h = self._products(F, inputs, states[0], (i2h_weight, h2h_weight, i2h_bias, h2h_bias))
        return rnn_step(i2h, h2h, self._activate(F, self._activation))


class LSTMCell(_GatedCell):
    """Long short-term memory (Hochreiter and Schmidhuber 1997); gates are in the order in, forget, cell, out."""

    _gates, _kind, _states = 4, "lstm", 2
    _node_names = {
        **_PRODUCTS,
        "_plus0": "plus0",
        "split0": "slice",
        "sigmoid0": "i",
        "sigmoid1": "f",
        "sigmoid2": "o",
        "tanh0": "c",
        "tanh1": "activation0",
        "_mul0": "mul0",
        "_mul1": "mul1",
        "_plus1": "state",
        "_mul2": "out",
    }

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ) -> None:
        super().__init__(
            hidden_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            input_size,
            prefix,
            params,
        )
        self._activation = activation
        self._recurrent_activation = recurrent_activation

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,  # noqa: N803
        inputs: NDArray,
        states: list[NDArray],
        i2h_weight: Any,
        h2h_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> Step:
        i2h, h2h = self._products(F, inputs, states[0], (i2h_weight, h2h_weight, i2h_bias, h2h_bias))
        act, gate = self._activate(F, self._activation), self._activate(F, self._recurrent_activation)
        return lstm_step(i2h, h2h, states[1], _split(F, 4), act, gate)


class GRUCell(_GatedCell):
    """Gated recurrent unit (Cho et al. 2014), as cuDNN has it: the reset gate multiplies R h + c."""

    _gates, _kind = 3, "gru"
    _node_names = {
        **_PRODUCTS,
        "split0": "i2h_slice",
        "split1": "h2h_slice",
        "_plus0": "plus0",
        "_plus1": "plus1",
        "sigmoid0": "r_act",
        "sigmoid1": "z_act",
        "_rminusscalar0": "minus0",
        "_mul0": "mul0",
        "_plus2": "plus2",
        "tanh0": "h_act",
        "_mul1": "mul1",
        "_mul2": "mul20",
        "_plus3": "out",
    }

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(
            hidden_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            input_size,
            prefix,
            params,
        )

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,  # noqa: N803
        inputs: NDArray,
        states: list[NDArray],
        i2h_weight: Any,
        h2h_weight: Any,
        i2h_bias: Any,
        h2h_bias: Any,
    ) -> Step:
        i2h, h2h = self._products(F, inputs, states[0], (i2h_weight, h2h_weight, i2h_bias, h2h_bias))
        act, gate = self._activate(F, "tanh"), self._activate(F, "sigmoid")
        return gru_step(i2h, h2h, states[0], _split(F, 3), act, gate)
