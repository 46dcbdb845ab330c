"""What the symbolic recurrent cells share: their parameters, sequences of steps, states to begin with, `unroll`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from mxlite import ndarray, symbol
from mxlite.error import WrongStateError, WrongTypeError, WrongValueError
from mxlite.ndarray import NDArray
from mxlite.symbol import Symbol

#: Parameters by name.
Weights = dict[str, NDArray]

_MODIFIED = "this cell is inside a modifier cell (ZoneoutCell, ResidualCell ...): ask that one"


class RNNParams:
    """Variables by name, of one cell or of several that share them.

    Args:
        prefix: what their names begin with.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """The variable `prefix + name`; the first call makes it, by `mx.sym.var` with `kwargs`."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """The base class of symbolic cells: `output, states = cell(inputs, states)`.

    A kind of one's own has `__call__` and `state_info`; with `_gate_names` and `_num_hidden`, weights can be unpacked.

    Args:
        prefix: what the names of parameters and nodes begin with.
        params: the parameters of another cell, which are shared; None: parameters of its own.
    """

    _num_hidden: int
    _cells: list[BaseRNNCell]
    #: For a cell without single steps: what to do where it cannot be.
    _instead = ""

    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Forgets the steps done, so that names begin with number 0 again; `unroll` does so first."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, "_cells", ()):
            cell.reset()

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """One step: the output, of shape (batch, hidden), and the next states."""
        raise NotImplementedError(f"{type(self).__name__}: a cell must have __call__")

    @property
    def params(self) -> RNNParams:
        """The parameters, which another cell may be given; they are no longer this cell's alone then."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The shape and the layout of each state; 0 is the size of the batch."""
        raise NotImplementedError(f"{type(self).__name__}: a cell must have state_info")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """The shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> tuple[str, ...]:
        """What the names of unpacked weights have for each gate; () for a cell without weights."""
        return ()

    @property
    def _num_gates(self) -> int:
        return len(self._gate_names)

    def begin_state(self, func: Callable[..., Any] = symbol.zeros, **kwargs: Any) -> list:
        """States to begin with.

        Args:
            func: a function of a name and a shape that makes a symbol; it gets `kwargs` too.

        Raises: MXNetError: the cell is part of a modifier, which must be asked.
        """
        self._check_unmodified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            states.append(func(name=f"{self._prefix}begin_state_{self._init_counter}", **{**kwargs, **info}))
        return states

    def _check_unmodified(self) -> None:
        if self._modified:
            raise WrongStateError(_MODIFIED)

    # ---- weights ----

    def unpack_weights(self, args: Weights) -> Weights:
        """The arrays of `args` with a weight for each gate, `lstm_i2h_f_weight`, in place of those of all gates.

        Packed weights have shape (gates * hidden, ...), unpacked ones (hidden, ...); others stay as they are.

        Raises:
            KeyError: a weight is not in `args`.
            MXNetError: a weight has another number of rows.
        """
        args = args.copy()
        for start in self._products_of_weights():
            rows = self._num_gates * self._num_hidden
            kinds = {kind: take(args, f"{start}_{kind}") for kind in ("weight", "bias")}
            for kind, packed in kinds.items():
                if packed.shape[0] != rows:
                    raise WrongStateError(f"unpack_weights: {start}_{kind} has {rows} rows, got shape {packed.shape}")
            for i, gate in enumerate(self._gate_names):
                for kind, packed in kinds.items():
                    part = packed[i * self._num_hidden : (i + 1) * self._num_hidden]
                    args[f"{start}{gate}_{kind}"] = part.copy()
        return args

    def pack_weights(self, args: Weights) -> Weights:
        """The inverse of `unpack_weights`. Raises KeyError: a weight is not in `args`."""
        args = args.copy()
        for start in self._products_of_weights():
            for kind in ("weight", "bias"):
                parts = [take(args, f"{start}{gate}_{kind}") for gate in self._gate_names]
                args[f"{start}_{kind}"] = ndarray.concatenate(parts)
        return args

    def _products_of_weights(self) -> list[str]:
        """How the names of weights of each product begin; none for a cell without weights."""
        return [f"{self._prefix}{product}" for product in ("i2h", "h2h")] if self._gate_names else []

    # ---- sequences ----

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list]:
        """Runs the cell along a sequence.

        Args:
            length: how many steps.
            inputs: one symbol with the axes of `layout`, or a list with a symbol of shape (batch, features) for each
                step.
            begin_state: the first states; None: zeros.
            layout: "NTC" (batch, time, features) or "TNC".
            merge_outputs: whether the outputs are one symbol; None: what comes without further nodes.

        Returns: the outputs, and the states after the last step.
        """
        self.reset()
        inputs, _ = _normalize_sequence(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for each in inputs:
            output, states = self(each, states)
            outputs.append(output)
        return _normalize_sequence(length, outputs, layout, merge_outputs)[0], states

    def _get_activation(self, inputs: Symbol, activation: Any, **kwargs: Any) -> Symbol:
        """The activation of a name, or what a function makes of the inputs; `kwargs`: a name for the node."""
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)


def take(args: Weights, name: str) -> NDArray:
    """Removes a weight from a dictionary and returns it. Raises KeyError: it is not there."""
    if name not in args:
        raise KeyError(f"there is no weight {name!r} among {sorted(args)}")
    return args.pop(name)


def _normalize_sequence(
    length: int | None, inputs: Any, layout: str, merge: bool | None, in_layout: str | None = None
) -> tuple[Any, int]:
    """A sequence in the form that is wanted.

    Args:
        length: how many steps it must have; None: as many as are in the list.
        inputs: one symbol, or a list with a symbol for each step.
        layout: "NTC" or "TNC": the axes of one symbol.
        merge: True: one symbol is wanted; False: a list; None: either.
        in_layout: the axes of `inputs`, if other than `layout`.

    Returns: the sequence, and its time axis.

    Raises: ValueError or TypeError: the sequence is None, has several outputs where one is split, or another length.
    """
    if inputs is None:
        raise WrongTypeError("unroll: inputs= is missing: a symbol, or a list with a symbol for each step")
    axis = layout.find("T")
    in_axis = axis if in_layout is None else in_layout.find("T")
    if isinstance(inputs, Symbol):
        if merge is False:
            outputs = len(inputs.list_outputs())
            if outputs != 1:
                raise WrongValueError(
                    f"unroll: inputs is one output or a list of symbols, got a symbol of {outputs} outputs;"
                    " write list(inputs)"
                )
            inputs = list(symbol.split(inputs, axis=in_axis, num_outputs=length, squeeze_axis=1))
    else:
        if length is not None and len(inputs) != length:
            raise WrongValueError(f"unroll: the sequence has {len(inputs)} steps, not {length}")
        if merge is True:
            steps = [symbol.expand_dims(each, axis=axis) for each in inputs]
            inputs, in_axis = symbol.concat(*steps, dim=axis), axis
    if isinstance(inputs, Symbol) and axis != in_axis:
        inputs = symbol.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return inputs, axis
