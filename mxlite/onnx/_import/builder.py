"""Makes symbols for the nodes of a graph, infers shapes and dtypes as it goes, and computes constants at once."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Union

import numpy as np

import mxlite as mx
from mxlite._lib import LIB, check_call
from mxlite.base import DTYPE_OF_FLAG
from mxlite.error import MXNetError
from mxlite.ndarray._operators import Operator, run
from mxlite.ndarray.ndarray import NDArray
from mxlite.onnx._import.tensor import FLOATS, OnnxError, Shape, Size, Tensor, dtype_text
from mxlite.symbol import Symbol
from mxlite.symbol._generate import node
from mxlite.symbol._infer import _find_types, _shapes_given

#: What a builder function takes where ONNX has a tensor.
Operand = Union[Tensor, int, float]

#: As many elements a constant that is computed may have.
FOLD_LIMIT = 1 << 28
#: As many elements any tensor may have.
MOST_ELEMENTS = 1 << 40


@cache
def _operator(name: str) -> Operator:
    return Operator(name)


def _variable(number: int, dtype: str) -> Symbol:
    return mx.sym.var(f"x{number}", dtype=dtype)


def _infer_shapes(made: Symbol, known: dict[str, tuple[int, ...]]) -> list[Shape]:
    """The shapes of a symbol's outputs; None for one whose rank is not known."""
    counts = [ctypes.c_size_t() for _ in range(3)]
    ranks = [ctypes.POINTER(ctypes.c_int)() for _ in range(3)]
    sizes = [ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))() for _ in range(3)]
    complete = ctypes.c_int()
    places = [ctypes.byref(each) for group in zip(counts, ranks, sizes) for each in group]
    given = _shapes_given((), known)
    check_call(LIB.MXSymbolInferShapePartialEx64(made._h, *given, *places, ctypes.byref(complete)))
    count, rank, data = counts[1].value, ranks[1], sizes[1]
    return [tuple(data[i][: rank[i]]) if rank[i] >= 0 else None for i in range(count)]


def first_name(operator: str) -> str:
    """The name that an operator's name is an alias of, or the same."""
    return _operator(operator).first_name


def infer_node(operator: str, inputs: list[tuple[Shape, str]], params: dict[str, Any]) -> list[tuple[Shape, str]]:
    """The shapes and dtypes of an operator's outputs, for those of its inputs.

    Raises: MXNetError: the operator refuses them.
    """
    alone = node(operator, "onnx", [_variable(i, dtype) for i, (_, dtype) in enumerate(inputs)], dict(params))
    shapes = _infer_shapes(alone, {f"x{i}": shape for i, (shape, _) in enumerate(inputs) if shape is not None})
    dtypes = {f"x{i}": dtype for i, (_, dtype) in enumerate(inputs)}
    kinds = _find_types(LIB.MXSymbolInferTypePartial, alone, (), dtypes)[0][1] or []
    default = inputs[0][1] if inputs else "float32"
    return [
        (shape, default if i >= len(kinds) or kinds[i] is None else dtype_text(kinds[i]))
        for i, shape in enumerate(shapes)
    ]


class Builder:
    """The graph that is being made.

    `parameters` are the arrays of the variables that became parameters, `states` those that operators may change.
    """

    def __init__(self) -> None:
        self.parameters: dict[str, NDArray] = {}
        self.states: dict[str, NDArray] = {}
        #: Names of parameters that no training changes: constants of the graph.
        self.constants: set[str] = set()
        #: The ONNX node whose symbols are being made, for errors.
        self.place = "graph"
        self._names: dict[str, int] = {}

    # ---- tensors ----

    def unique(self, name: str) -> str:
        """A name that no variable has yet."""
        number = self._names.get(name, 0)
        self._names[name] = number + 1
        return name if number == 0 else self.unique(f"{name}_{number}")

    def input(self, name: str, shape: Shape, dtype: str) -> Tensor:
        """An input of the graph: a variable."""
        self.check_size(shape, f"input {name!r}")
        made = Tensor(self, shape, dtype, mx.sym.var(self.unique(name), dtype=dtype), name=name)
        made.made_from = frozenset([name])
        return made

    def check_size(self, shape: Shape, what: str) -> None:
        """Raises: OnnxError: a tensor of that shape is larger than any memory."""
        if shape is not None and np.prod([abs(float(size)) for size in shape]) > MOST_ELEMENTS:
            raise OnnxError(f"{self.place}: {what} of shape {shape} is too large")

    def constant(self, value: Any, dtype: str | None = None, name: str = "constant") -> Tensor:
        """A tensor of known values, which no training changes."""
        values = np.asarray(value)
        kind = dtype or dtype_text(values.dtype)
        return self.known(mx.nd.array(values, dtype=kind), kind, name)

    def known(self, array: NDArray, dtype: str, name: str = "constant") -> Tensor:
        """A tensor of an array."""
        return Tensor(self, tuple(array.shape), dtype, None, array, name)

    def like(self, value: Any, tensor: Tensor, name: str = "constant") -> Tensor:
        """A constant of a tensor's dtype."""
        return self.constant(value, tensor.dtype, name)

    def sizes(self, values: Any) -> Tensor:
        """A vector or scalar of int64 some entries of which are `Size`s."""
        values = np.asarray(values, dtype=object)
        if not any(isinstance(each, Size) for each in values.reshape(-1)):
            return self.constant(values.astype(np.int64))
        made = Tensor(self, values.shape, "int64", name="sizes")
        made.sizes = values
        return made

    def variable_of(self, tensor: Tensor) -> Symbol:
        """The variable of a tensor whose values are known. Raises: OnnxError: they are not."""
        if tensor.array is None:
            raise OnnxError(f"{self.place}: {tensor.name!r} depends on sizes that are not known: give shapes=...")
        name = self.unique(tensor.name)
        if not tensor.is_float:
            self.constants.add(name)
        if tensor.sized:
            self.parameters[name] = tensor.array
            return mx.sym.var(name, shape=tuple(tensor.sized), dtype=tensor.dtype)
        # Files and parameters have one axis at least, whatever the mode of shapes.
        self.parameters[name] = tensor.array.reshape((1,))
        one = mx.sym.var(name, shape=(1,), dtype=tensor.dtype)
        return node("_npi_reshape", "scalar", [one], {"newshape": ()})

    def state(self, tensor: Tensor) -> Tensor:
        """A known tensor as a state that an operator may change in training."""
        name = self.unique(tensor.name)
        array = tensor.array
        assert array is not None
        self.states[name] = array
        variable = mx.sym.var(name, shape=tuple(tensor.sized) or None, dtype=tensor.dtype)
        return Tensor(self, tensor.shape, tensor.dtype, variable, name=name)

    # ---- operators ----

    def op(self, operator: str, *inputs: Tensor, **params: Any) -> Tensor:
        """The first result of an operator of mxlite."""
        return self.ops(operator, *inputs, **params)[0]

    def ops(self, operator: str, *inputs: Tensor, **params: Any) -> list[Tensor]:
        """The results of an operator: computed at once where all inputs are known, else nodes of the graph.

        Raises: OnnxError: the operator refuses the inputs or the parameters.
        """
        if not inputs:
            raise OnnxError(f"{self.place}: it has no inputs")
        try:
            if all(each.is_known and not each.is_weight for each in inputs):
                return self._compute(operator, inputs, params)
            return self._node(operator, inputs, params)
        except OnnxError:
            raise
        except (MXNetError, TypeError, ValueError, OverflowError) as error:
            raise OnnxError(f"{self.place}: {error}") from None

    def draw(self, operator: str, **params: Any) -> Tensor:
        """Random numbers of an operator without inputs: a node, which draws in each run."""
        return self._node(operator, (), params)[0]

    def _compute(self, operator: str, inputs: tuple[Tensor, ...], params: dict[str, Any]) -> list[Tensor]:
        arrays = [each.array for each in inputs]
        for shape, _ in infer_node(operator, [(each.shape, each.dtype) for each in inputs], params):
            if shape is not None and np.prod([max(size, 0) for size in shape], dtype=np.float64) > FOLD_LIMIT:
                raise OnnxError(f"{self.place}: a constant of shape {shape} is too large")
        result = run(_operator(operator), [each._h for each in arrays if each is not None], dict(params), None, NDArray)
        results = result if isinstance(result, list) else [result]
        weight = next((each.name for each in inputs if each.name != "constant"), "constant")
        return [self.known(each, dtype_text(each.dtype), weight) for each in results]

    def _node(self, operator: str, inputs: tuple[Tensor, ...], params: dict[str, Any]) -> list[Tensor]:
        found = infer_node(operator, [(each.shape, each.dtype) for each in inputs], params)
        made = node(operator, operator.strip("_").lower(), [each.symbol for each in inputs], dict(params))
        sources = frozenset().union(*(each.made_from for each in inputs)) if inputs else frozenset()
        results = []
        for number, output in enumerate(made._outputs()):
            self.check_size(found[number][0], "a tensor")
            tensor = Tensor(self, *found[number], output, name=str(made.name))
            tensor.made_from = sources
            results.append(tensor)
        return results

    # ---- what many operators need ----

    def cast(self, x: Tensor, dtype: str) -> Tensor:
        """A tensor in another dtype."""
        return x if x.dtype == dtype else self.op("Cast", x, dtype=dtype)

    def reshape(self, x: Tensor, shape: Any) -> Tensor:
        """The tensor reshaped; one size may be -1 and is inferred from the number of elements."""
        sizes = tuple(int(size) for size in shape)
        if x.shape == sizes:
            return x
        if x.shape is None or min(x.shape, default=0) < 0:
            return self.op("_npi_reshape", x, newshape=sizes)
        sizes = _resolved(sizes, x.shape)
        if not sizes:
            return self.op("_npi_reshape", x, newshape=())  # it alone has no axes in each mode of shapes
        if x.is_known or min(sizes, default=0) < 1 or not x.shape:
            return self.op("_mxl_reshape_to", x, shape=sizes)
        # A first size that stays is copied, so that the symbol takes other batches too.
        return self.op("reshape", x, shape=(0, *sizes[1:]) if sizes[0] == x.shape[0] else sizes)

    def transpose(self, x: Tensor, axes: Any) -> Tensor:
        """A tensor with its axes in another order."""
        axes = tuple(axes)
        return x if axes == tuple(range(len(axes))) else self.op("transpose", x, axes=axes)

    def expand_dims(self, x: Tensor, axes: Any) -> Tensor:
        """A tensor with new axes of size 1, where they are in the result; all 0 or greater."""
        for axis in sorted(axes):
            x = self.op("expand_dims", x, axis=axis)
        return x

    def broadcast(self, x: Tensor, shape: Any) -> Tensor:
        """A tensor broadcast to a shape."""
        shape = tuple(int(size) for size in shape)
        return x if x.shape == shape else self.op("_mxl_broadcast_to", x, shape=shape)

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        """Tensors behind one another along an axis."""
        if len(tensors) == 1:
            return tensors[0]
        return self.op("Concat", *tensors, num_args=len(tensors), dim=axis)

    def slice(self, x: Tensor, axis: int, begin: int, end: int | None) -> Tensor:
        """A part of one axis."""
        if begin == end and x.shape is not None:
            return self.constant(
                np.zeros([0 if each == axis else size for each, size in enumerate(x.full_shape)]), x.dtype
            )
        return self.op("slice_axis", x, axis=axis, begin=begin, end=end)

    def split(self, x: Tensor, axis: int, sizes: list[int]) -> list[Tensor]:
        """Parts of these sizes of one axis."""
        ends = np.cumsum([0, *sizes]).tolist()
        return [self.slice(x, axis, begin, end) for begin, end in zip(ends, ends[1:])]

    def binary(self, operator: str, a: Tensor, b: Operand) -> Tensor:
        """An element-wise operator of two: "add", "sub", "mul", "div", "power", "maximum", "minimum".

        A number, or a constant of one element that does not add axes, becomes a parameter of the node.
        """
        names = _BINARY[operator]
        if not isinstance(b, Tensor):
            return self.op(names[1], a, scalar=float(b))
        if _is_number(b, a):
            return self.op(names[1], a, scalar=float(b.value.reshape(())))
        if _is_number(a, b) and names[2]:
            return self.op(names[2], b, scalar=float(a.value.reshape(())))
        if names[3] and a.shape == b.shape and a.shape is not None and a.shape and min(a.shape, default=-1) > 0:
            return self.op(names[3], a, b)
        return self.op(names[0], a, b)

    def add(self, a: Tensor, b: Operand) -> Tensor:
        return self.binary("add", a, b)

    def sub(self, a: Tensor, b: Operand) -> Tensor:
        return self.binary("sub", a, b)

    def mul(self, a: Tensor, b: Operand) -> Tensor:
        return self.binary("mul", a, b)

    def div(self, a: Tensor, b: Operand) -> Tensor:
        return self.binary("div", a, b)

    def where(self, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """Elements of one tensor where a condition holds, else of the other."""
        return self.op("_npi_where", condition, a, b)

    def sum(self, x: Tensor, axes: Any = None, keepdims: bool = False) -> Tensor:
        """Sums over axes; None: over all."""
        return self.op("_np_sum", x, axis=None if axes is None else tuple(axes), keepdims=keepdims)

    def mean(self, x: Tensor, axes: Any = None, keepdims: bool = False) -> Tensor:
        """Means over axes; None: over all."""
        return self.op("_npi_mean", x, axis=None if axes is None else tuple(axes), keepdims=keepdims)


#: Operators of two tensors: that which broadcasts, with a number, with a number on the left, of equal shapes.
_BINARY = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar", "elemwise_add"),
    "sub": ("broadcast_sub", "_minus_scalar", "_rminus_scalar", "elemwise_sub"),
    "mul": ("broadcast_mul", "_mul_scalar", "_mul_scalar", "elemwise_mul"),
    "div": ("broadcast_div", "_div_scalar", "_rdiv_scalar", "elemwise_div"),
    "power": ("broadcast_power", "_power_scalar", "_rpower_scalar", ""),
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar", ""),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar", ""),
}


def _is_number(x: Tensor, beside: Tensor) -> bool:
    """Whether a tensor is one known value that may stand in a node beside another tensor of the same dtype."""
    if not x.is_known or x.dtype not in FLOATS or x.dtype != beside.dtype or beside.is_known or beside.shape is None:
        return False
    return len(x.sized) <= len(beside.shape) and x.size == 1


def _resolved(shape: tuple[int, ...], given: tuple[int, ...]) -> tuple[int, ...]:
    """A shape with -1 replaced by what remains of the given one."""
    if -1 not in shape:
        return shape
    rest = int(np.prod([size for size in shape if size != -1], dtype=np.int64))
    total = int(np.prod(given, dtype=np.int64))
    if rest == 0 or total % rest:
        raise OnnxError(f"a tensor of shape {given} does not reshape to {shape}")
    return tuple(total // rest if size == -1 else size for size in shape)


def dtype_of_flag(flag: int) -> str:
    """The name of the dtype that the library numbers so."""
    return dtype_text(DTYPE_OF_FLAG[flag])
