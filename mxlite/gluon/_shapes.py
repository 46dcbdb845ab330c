"""Unknown shapes of parameters, found while a block runs for the first time.

MXNet traces `hybrid_forward` with symbols for that. Here the block runs once, with stand-ins for the parameters that
have no shape. The first operator that gets a stand-in tells its shape, by a rule of the table below; the parameter gets
its values, and the operator and all that follow use them. `infer` runs a block in the same way with zeros for values.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from math import prod
from typing import Any, Callable, NoReturn

from mxlite import autograd, ndarray
from mxlite.context import Context
from mxlite.gluon._parameter import DeferredInitializationError, Parameter
from mxlite.gluon.utils import shape_is_known
from mxlite.ndarray._generate import handles_of
from mxlite.ndarray._operators import Operator, Unknown, run
from mxlite.ndarray.ndarray import NUMBERS, NDArray

Shape = tuple  # of ints; 0: unknown

_state = threading.local()


def array_of(param: Parameter, ctx: Context) -> NDArray:
    """The array of a parameter in a context, or a stand-in while its shape is unknown.

    Raises: RuntimeError: it is not initialized, or not there.
    """
    zeros = getattr(_state, "zeros", None)
    if zeros is not None:
        if not shape_is_known(param.shape):
            return ParameterStandIn(param, ctx)
        if param._data is None:
            return _zeros(param, ctx)
        return param.data(ctx)
    if param._data is None and param._deferred_init:
        if not shape_is_known(param.shape):
            return ParameterStandIn(param, ctx)
        param._finish_deferred_init()
    return param.data(ctx)


def inferring() -> bool:
    """Whether this thread runs a block to find shapes, by `infer`."""
    return getattr(_state, "zeros", None) is not None


def _zeros(param: Parameter, ctx: Context) -> NDArray:
    known = _state.zeros
    if id(param) not in known:
        known[id(param)] = ndarray.zeros(param.shape, dtype=param.dtype, ctx=ctx)
    return known[id(param)]


def infer(block: Any, args: tuple) -> None:
    """Finds the unknown shapes of the parameters of a block and those in it by a run with zeros."""
    before = getattr(_state, "zeros", None)
    _state.zeros = {}
    try:
        with autograd.pause():
            block(*args)
    finally:
        _state.zeros = before


def ask(block: Any, args: tuple) -> None:
    """Calls the `infer_shape` that a class of blocks has written, where a shape is unknown and it is not running."""
    asked = getattr(_state, "asked", ())
    if any(each is block for each in asked) or all(shape_is_known(each.shape) for each in block._reg_params.values()):
        return
    _state.asked = (*asked, block)
    try:
        block.infer_shape(*args)
    finally:
        _state.asked = asked


class _Deferred(Unknown, DeferredInitializationError, ValueError):
    """A parameter whose shape is unknown was used in a way that does not tell it."""


def _cannot(names: Iterable[str], why: str) -> NoReturn:
    listed = ", ".join(f"'{name}'" for name in names)
    raise ValueError(f"the shape of Parameter {listed} cannot be inferred: {why}")


class _StandIn(NDArray):
    """What stands for an array of unknown shape: a parameter, or what operators make of parameters alone."""

    #: The array, once it is known.
    array: NDArray | None = None
    #: The sizes that are known; None: not even their number.
    known: Shape | None = None

    def params(self) -> list[Parameter]:
        """The parameters in it."""
        raise NotImplementedError

    def settle(self, shape: Shape) -> None:
        """Makes the array, of this shape."""
        raise NotImplementedError

    def unknown(self) -> Unknown:
        """The error for a use that does not tell the shape."""
        names = ", ".join(f"'{each.name}'" for each in self.params())
        return _Deferred(
            self,
            f"Parameter {names} has no shape yet, and this use of it does not tell it: give the sizes (in_units, "
            "in_channels, shape=...), or give the parameter to an operator such as FullyConnected",
        )

    @property
    def _h(self) -> int:  # type: ignore[override]
        if self.array is None:
            raise self.unknown()
        return self.array._h

    def __getattr__(self, name: str) -> Any:
        if name in ("_h", "shape", "dtype"):  # the property has raised an AttributeError
            raise self.unknown()
        return super().__getattr__(name)

    @property
    def shape(self) -> Shape:
        """The shape, once it is known."""
        if self.array is None:
            raise self.unknown()
        return self.array.shape

    def call(self, operator: Operator, arrays: tuple, given: dict[str, Any], out: Any) -> Any:
        """An operator's outputs; before, all stand-ins among its inputs get their shapes and values."""
        inputs = {_name_of(operator, number): each for number, each in enumerate(arrays) if each is not None}
        waiting = {name: each for name, each in inputs.items() if isinstance(each, _StandIn) and each.array is None}
        name = operator.first_name
        if name in _SAME and len(waiting) == len(inputs):
            return _Made(operator, arrays, given)
        names = [param.name for each in waiting.values() for param in each.params()]
        rule = _RULES.get(name) or (_same_shapes if name in _SAME else None)
        if rule is None:
            _cannot(names, f"operator {operator.name} does not tell it; give the shape to the block or the parameter")
        try:
            found = rule({each: _shape_of(array) for each, array in inputs.items()}, given)
            for each, stand_in in waiting.items():
                if found.get(each) is None:
                    _cannot(names, f"operator {operator.name} does not tell the shape of its {each}")
                stand_in.settle(found[each])
        except (KeyError, IndexError, TypeError, AssertionError) as error:
            _cannot(names, f"operator {operator.name}: {error}")
        return run(operator, handles_of(operator, arrays), given, out, NDArray)


class ParameterStandIn(_StandIn):
    """A parameter in a context."""

    def __init__(self, param: Parameter, ctx: Context) -> None:
        self.param = param
        self.place = ctx

    @property
    def known(self) -> Shape | None:  # type: ignore[override]
        """The parameter's shape as far as it is known."""
        return None if self.param.shape is None else tuple(self.param.shape)

    def params(self) -> list[Parameter]:
        """The parameter."""
        return [self.param]

    def settle(self, shape: Shape) -> None:
        """Sets the parameter's shape, gives it its values (zeros for `infer`), and stands for its array then."""
        if self.array is None:
            self.param.shape = shape
            self.array = array_of(self.param, self.place)


class _Made(_StandIn):
    """What an operator that keeps the shape makes of stand-ins: `weight * 2`."""

    def __init__(self, operator: Operator, arrays: tuple, given: dict[str, Any]) -> None:
        self.operator = operator
        self.arrays = arrays
        self.given = given

    @property
    def known(self) -> Shape | None:  # type: ignore[override]
        """The sizes that are known of any input."""
        shapes = [each.known for each in self.arrays if each.known is not None]
        if not shapes or any(len(each) != len(shapes[0]) for each in shapes):
            return None
        return tuple(max(sizes) for sizes in zip(*shapes))

    def params(self) -> list[Parameter]:
        """The parameters of all inputs."""
        return [param for each in self.arrays for param in each.params()]

    def settle(self, shape: Shape) -> None:
        """Makes the inputs, and runs the operator."""
        for each in self.arrays:
            each.settle(shape)
        if self.array is None:
            self.array = run(self.operator, handles_of(self.operator, self.arrays), self.given, None, NDArray)


def _name_of(operator: Operator, number: int) -> str:
    """The name of an operator's input; numbers tell those of a variadic one apart."""
    return str(number) if operator.variadic else operator.inputs[number][0]


def _shape_of(array: Any) -> Shape | None:
    return array.known if isinstance(array, _StandIn) and array.array is None else array.shape


# ---- arithmetic of stand-ins ----


def _install(symbol: str, of_arrays: str, of_number: str, of_number_first: str) -> None:
    """Gives stand-ins a Python operator and its reflected one."""

    def operate(self: Any, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            return getattr(ndarray._internal, of_number)(self, scalar=float(other))
        return getattr(ndarray, of_arrays)(self, other)

    def reflected(self: Any, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            return getattr(ndarray._internal, of_number_first)(self, scalar=float(other))
        return getattr(ndarray, of_arrays)(other, self)

    setattr(_StandIn, f"__{symbol}__", operate)
    setattr(_StandIn, f"__r{symbol}__", reflected)


_StandIn.__neg__ = lambda self: ndarray.negative(self)  # type: ignore[method-assign]
_StandIn.__abs__ = lambda self: ndarray.abs(self)  # type: ignore[method-assign]
for _row in (
    ("add", "broadcast_add", "_plus_scalar", "_plus_scalar"),
    ("sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    ("mul", "broadcast_mul", "_mul_scalar", "_mul_scalar"),
    ("truediv", "broadcast_div", "_div_scalar", "_rdiv_scalar"),
    ("pow", "broadcast_power", "_power_scalar", "_rpower_scalar"),
):
    _install(*_row)


# ---- rules ----
# A rule gets the shapes of an operator's inputs by name (None, or 0 in them, is unknown) and its parameters, and
# returns shapes of inputs.

Rule = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


def _flag(given: dict[str, Any], name: str, default: bool) -> bool:
    return str(given.get(name, default)) in ("True", "1")


def _fully_connected(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    data = shapes["data"]
    units = int(given["num_hidden"])
    width = prod(data[1:]) if _flag(given, "flatten", True) else data[-1]
    return {"weight": (units, width), "bias": (units,)}


def _is_channels_last(given: dict[str, Any]) -> bool:
    return str(given.get("layout") or "NC").endswith("C")


def _sizes(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def _convolution(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    last = _is_channels_last(given)
    filters, kernel = int(given["num_filter"]), _sizes(given["kernel"])
    channels = shapes["data"][-1 if last else 1] // int(given.get("num_group", 1))
    weight = (filters, *kernel, channels) if last else (filters, channels, *kernel)
    return {"weight": weight, "bias": (filters,)}


def _deconvolution(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    last = _is_channels_last(given)
    filters, kernel = int(given["num_filter"]), _sizes(given["kernel"])
    channels, each = shapes["data"][-1 if last else 1], filters // int(given.get("num_group", 1))
    return {"weight": (channels, *kernel, each) if last else (channels, each, *kernel), "bias": (filters,)}


def _per_channel(*names: str, axis: int = 1) -> Rule:
    """The rule of an operator whose inputs `names` have the size of an axis of the data."""

    def rule(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        size = shapes["data"][int(given.get("axis", axis))]
        return dict.fromkeys(names, (size,))

    return rule


def _group_norm(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(("gamma", "beta"), (int(given.get("num_groups", 1)),))


def _prelu(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    data = shapes["data"]
    return {"gamma": (data[1] if len(data) > 1 else 1,)}


def _embedding(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    return {"weight": (int(given["input_dim"]), int(given["output_dim"]))}


def _rnn(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    _, batch, features = shapes["data"]
    hidden, layers = int(given["state_size"]), int(given["num_layers"])
    directions = 1 + _flag(given, "bidirectional", False)
    gates = {"lstm": 4, "gru": 3}.get(given["mode"], 1)
    size = sum(
        (hidden * gates * ((features if layer == 0 else hidden * directions) + hidden + 2)) * directions
        for layer in range(layers)
    )
    state = (layers * directions, batch, hidden)
    return {"parameters": (size,), "state": state, "state_cell": state}


def _same_shapes(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """All inputs have one shape."""
    whole = next((each for each in shapes.values() if each is not None and 0 not in each), None)
    return dict.fromkeys(shapes, whole)


def _concat(shapes: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """All inputs have one shape but for the axis along which they are joined."""
    axis = int(given.get("dim", 1))
    model = next((each for each in shapes.values() if each is not None and 0 not in each), None)
    if model is None:
        raise TypeError("no input has a shape")
    found = {}
    for name, each in shapes.items():
        sizes = list(each or model)
        if each is None or sizes[axis] == 0:
            raise TypeError("the size along the axis is unknown")
        found[name] = tuple(model[i] if i != axis % len(sizes) else sizes[i] for i in range(len(sizes)))
    return found


_NORM = _per_channel("gamma", "beta", "moving_mean", "moving_var")
_RULES: dict[str, Rule] = {
    "FullyConnected": _fully_connected,
    "Convolution": _convolution,
    "Convolution_v1": _convolution,
    "_contrib_DeformableConvolution": _convolution,
    "_contrib_ModulatedDeformableConvolution": _convolution,
    "Deconvolution": _deconvolution,
    "BatchNorm": _NORM,
    "BatchNorm_v1": _NORM,
    "_contrib_BatchNormWithReLU": _NORM,
    "_contrib_SyncBatchNorm": _NORM,
    "LayerNorm": _per_channel("gamma", "beta", axis=-1),
    "InstanceNorm": _per_channel("gamma", "beta"),
    "GroupNorm": _group_norm,
    "LeakyReLU": _prelu,
    "Embedding": _embedding,
    "RNN": _rnn,
    "Concat": _concat,
}

#: Operators whose inputs and outputs have one shape, by the library's first names.
_SAME = frozenset(
    """
    _copy BlockGrad Cast amp_cast abs exp log sqrt rsqrt square sigmoid tanh relu softsign negative reciprocal sign
    clip round floor ceil Activation L2Normalization softmax log_softmax Dropout _maximum_scalar _minimum_scalar
    _plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar _power_scalar _rpower_scalar
    elemwise_add elemwise_sub elemwise_mul elemwise_div _maximum _minimum _power add_n where
    broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_power broadcast_maximum broadcast_minimum
    """.split()
)
