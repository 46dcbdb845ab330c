"""Recurrent layers: a whole sequence through all layers and directions in one operator."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, Callable

from mxlite import ndarray as nd
from mxlite import symbol
from mxlite._public import show
from mxlite._public.near import did_you_mean
from mxlite.error import WrongStateError, WrongValueError
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.rnn import rnn_cell
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import as_kind, as_mode
from mxlite.symbol import Symbol

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mxlite.gluon._typing import BlockOptions, recurrent_call

__all__ = ["GRU", "LSTM", "RNN"]

_PARAMETER = re.compile(r"(l|r)(\d+)_(i2h|h2h|h2r)_(weight|bias)\Z")


#: Of the calls that this thread is in: whether states come with the outputs, by the layer's id().
_calls = threading.local()


class _RNNLayer(HybridBlock):
    """What the layers share; see RNN for the arguments."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: int | None,
        h2r_weight_initializer: Any,
        lstm_state_clip_min: float | None,
        lstm_state_clip_max: float | None,
        lstm_state_clip_nan: bool,
        dtype: Any,
        use_sequence_length: bool = False,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        if layout not in ("TNC", "NTC"):
            raise WrongValueError(f"layout is 'TNC' or 'NTC', not {layout!r}")
        self._hidden_size = hidden_size
        self._projection_size = projection_size or None
        self._num_layers = num_layers
        self._mode = mode
        self._layout = layout
        self._dropout = dropout
        self._dir = 2 if bidirectional else 1
        self._input_size = input_size
        self._i2h_weight_initializer = i2h_weight_initializer
        self._h2h_weight_initializer = h2h_weight_initializer
        self._i2h_bias_initializer = i2h_bias_initializer
        self._h2h_bias_initializer = h2h_bias_initializer
        self._h2r_weight_initializer = h2r_weight_initializer
        self._lstm_state_clip_min = lstm_state_clip_min
        self._lstm_state_clip_max = lstm_state_clip_max
        self._lstm_state_clip_nan = lstm_state_clip_nan
        self._dtype = dtype
        self._use_sequence_length = use_sequence_length
        #: Whether the last call had no states and gave none.
        self.skip_states: bool | None = None
        self._gates = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}[mode]
        self._make_parameters()
        #: What the operator is told at each call.
        self._told = {
            "state_size": hidden_size,
            "num_layers": num_layers,
            "bidirectional": bidirectional,
            "p": dropout,
            "state_outputs": True,
            "mode": mode,
            "use_sequence_length": use_sequence_length,
        }
        if self._projection_size:
            self._told["projection_size"] = self._projection_size
        if lstm_state_clip_min is not None or lstm_state_clip_max is not None:
            self._told.update(
                lstm_state_clip_min=lstm_state_clip_min,
                lstm_state_clip_max=lstm_state_clip_max,
                lstm_state_clip_nan=lstm_state_clip_nan,
            )

    def _make_parameters(self) -> None:
        """Makes the parameters of each layer and direction, and `_order`, in which the operator wants them."""
        size, rows = self._input_size, self._gates * self._hidden_size
        output = self._projection_size or self._hidden_size
        weights, biases = [], []
        for layer in range(self._num_layers):
            for direction in ("l", "r")[: self._dir]:
                start = f"{direction}{layer}_"
                made = [
                    ("i2h_weight", (rows, size), self._i2h_weight_initializer),
                    ("h2h_weight", (rows, output), self._h2h_weight_initializer),
                    ("i2h_bias", (rows,), self._i2h_bias_initializer),
                    ("h2h_bias", (rows,), self._h2h_bias_initializer),
                ]
                if self._projection_size:
                    made.append(("h2r_weight", (output, self._hidden_size), self._h2r_weight_initializer))
                for name, shape, init in made:
                    self._register_param(start + name, shape, init, self._dtype)
                    (biases if name.endswith("bias") else weights).append(start + name)
            size = output * self._dir
        self._order = [*weights, *biases]

    def _register_param(self, name: str, shape: tuple, init: Any, dtype: Any) -> Any:
        found = self.params.get(name, shape=shape, init=init, allow_deferred_init=True, dtype=dtype)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        shape = self.l0_i2h_weight.shape
        mapping = f"{shape[1] if shape[1] else None} -> {shape[0] // self._gates}"
        parts = [mapping, self._layout]
        if self._num_layers != 1:
            parts.append(f"num_layers={self._num_layers}")
        if self._dropout != 0:
            parts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            parts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Any]:
        """Parameters by the names that files have: those of the cells that a layer stands for."""
        start = prefix + "." if prefix else ""

        def named(key: str) -> str:
            direction, layer, product, kind = _PARAMETER.match(key).groups()  # type: ignore[union-attr]
            cell = f"{direction}_cell." if self._dir == 2 else ""
            return f"{start}_unfused.{layer}.{cell}{product}_{kind}"

        return {named(key): each for key, each in self._reg_params.items()}

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The shape, layout and dtype of each state: (layers * directions, batch, hidden)."""
        raise NotImplementedError(f"{type(self).__name__}: a layer must have state_info")

    def _states(self, batch_size: int, *sizes: int) -> list[dict[str, Any]]:
        layers = self._num_layers * self._dir
        return [{"shape": (layers, batch_size, size), "__layout__": "LNC", "dtype": self._dtype} for size in sizes]

    def _unfuse(self) -> Any:
        """Cells that do the same step by step, with the layer's parameters.

        Raises: MXNetError: the layer projects, clips states or takes lengths.
        """
        if self._projection_size:
            raise WrongStateError("unfuse: there are no cells with a projection")
        if self._lstm_state_clip_min or self._lstm_state_clip_max:
            raise WrongStateError("unfuse: there are no cells that clip their state")
        if self._use_sequence_length:
            raise WrongStateError("unfuse: there are no cells with use_sequence_length")
        kinds = {"rnn_relu": "RNNCell", "rnn_tanh": "RNNCell", "lstm": "LSTMCell", "gru": "GRUCell"}
        kind = getattr(rnn_cell, kinds[self._mode])
        given = {"activation": self._mode[4:]} if kind is rnn_cell.RNNCell else {}
        stack = rnn_cell.HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        with stack.name_scope():
            size = self._input_size
            for layer in range(self._num_layers):
                cells = [
                    kind(
                        self._hidden_size,
                        input_size=size,
                        i2h_weight_initializer=self._i2h_weight_initializer,
                        h2h_weight_initializer=self._h2h_weight_initializer,
                        i2h_bias_initializer=self._i2h_bias_initializer,
                        h2h_bias_initializer=self._h2h_bias_initializer,
                        prefix=f"{direction}{layer}_",
                        **given,
                    )
                    for direction in ("l", "r")[: self._dir]
                ]
                stack.add(rnn_cell.BidirectionalCell(*cells) if self._dir == 2 else cells[0])
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(rnn_cell.DropoutCell(self._dropout))
                size = self._hidden_size * self._dir
        return stack

    def cast(self, dtype: Any) -> None:
        """Converts parameters, and the states that `begin_state` makes, to a dtype."""
        super().cast(dtype)
        self._dtype = dtype

    def begin_state(self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any) -> list:
        """States to begin with; `func` of a shape makes an array and gets `kwargs` too."""
        states = [
            func(name=f"{self.prefix}h0_{i}", **{**info, **kwargs})
            for i, info in enumerate(self.state_info(batch_size))
        ]
        return as_mode(states) if func is nd.zeros else states

    def infer_shape(self, inputs: Any, *args: Any) -> None:
        """Takes the input size from the last axis of the inputs."""
        for direction in ("l", "r")[: self._dir]:
            weight = self._reg_params[f"{direction}0_i2h_weight"]
            weight.shape = (self._gates * self._hidden_size, inputs.shape[2])

    @property
    def _variant(self) -> bool | None:  # type: ignore[override]
        """Whether the present call, of this thread, gives no states; else the last one."""
        return _calls.__dict__.get(id(self), self.skip_states)

    if TYPE_CHECKING:
        __call__ = recurrent_call
    else:

        def __call__(self, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any) -> Any:
            """The outputs of the sequence, with `states` also the states after it: `outputs, states`.

            Raises: ValueError: a state has another shape.
            """
            self.skip_states = skip = states is None
            if states is None:
                if isinstance(inputs, Symbol):
                    states = self.begin_state(0, func=symbol.zeros)
                else:
                    batch = inputs.shape[self._layout.find("N")]
                    states = self.begin_state(batch, ctx=inputs.context, dtype=inputs.dtype)
                    states = as_kind(states, inputs._kind)
            elif isinstance(states, (NDArray, Symbol)):
                states = [states]
            lengths = (sequence_length,) if self._use_sequence_length else ()
            outer = _calls.__dict__.get(id(self))
            _calls.__dict__[id(self)] = skip
            try:
                return super().__call__(inputs, states, *lengths, **kwargs)
            finally:
                if outer is None:
                    _calls.__dict__.pop(id(self), None)
                else:
                    _calls.__dict__[id(self)] = outer

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,  # noqa: N803
        inputs: Any,
        states: list,
        sequence_length: Any = None,
        **kwargs: Any,
    ) -> Any:
        if not isinstance(inputs, Symbol):
            self._check_states(inputs, states)
        out = self._forward_kernel(F, inputs, states, sequence_length, **kwargs)
        return out[0] if self._variant else out

    def _check_states(self, inputs: Any, states: list) -> None:
        batch = inputs.shape[self._layout.find("N")]
        for state, info in zip(states, self.state_info(batch)):
            if state.shape != info["shape"]:
                raise ValueError(f"a recurrent state must have shape {info['shape']}, not {state.shape}")

    def _forward_kernel(
        self,
        F: Any,
        inputs: Any,
        states: list,
        sequence_length: Any,
        **kwargs: Any,  # noqa: N803
    ) -> tuple[Any, list]:
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, 0, 1)
        packed = F._internal._rnn_param_concat(*[kwargs[name].reshape((-1,)) for name in self._order], dim=0)
        lengths = [sequence_length] if self._use_sequence_length else []
        outputs, *following = F.RNN(inputs, packed, *states, *lengths, **self._told)
        if self._layout == "NTC":
            outputs = F.swapaxes(outputs, 0, 1)
        return outputs, following


class RNN(_RNNLayer):
    """Layers of h' = activation(W x + b + R h + c).

    Args:
        hidden_size: the size of the state h.
        num_layers: how many layers, one behind the other.
        activation: "relu" or "tanh".
        layout: "TNC" (time, batch, features) or "NTC".
        dropout: the share that is dropped between layers.
        bidirectional: a second set of layers reads the sequence backwards; outputs are joined.
        input_size: the size of x; 0: the first input tells it.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        if activation not in ("relu", "tanh"):
            raise KeyError(
                f"activation is 'relu' or 'tanh', not {activation!r}{did_you_mean(activation, ['relu', 'tanh'])}"
            )
        super().__init__(
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            "rnn_" + activation,
            None,
            None,
            None,
            None,
            False,
            dtype,
            **kwargs,
        )

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self._states(batch_size, self._hidden_size)


class LSTM(_RNNLayer):
    """Layers of long short-term memory; arguments as those of RNN.

    Args:
        projection_size: the size of the output, a product of the hidden one; None: there is no projection.
        state_clip_min, state_clip_max, state_clip_nan: limits of the memory, and whether NaN are clipped too.
    """

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            "lstm",
            projection_size,
            h2r_weight_initializer,
            state_clip_min,
            state_clip_max,
            state_clip_nan,
            dtype,
            **kwargs,
        )

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self._states(batch_size, self._projection_size or self._hidden_size, self._hidden_size)


class GRU(_RNNLayer):
    """Layers of gated recurrent units; arguments as those of RNN."""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: Any = "float32",
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            "gru",
            None,
            None,
            None,
            None,
            False,
            dtype,
            **kwargs,
        )

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        return self._states(batch_size, self._hidden_size)


show(globals())
