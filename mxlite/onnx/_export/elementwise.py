"""Writes element-wise operators."""

from __future__ import annotations

import math
import re
from typing import Any, Callable

import numpy as np

from mxlite.onnx._export.nodes import Operation, Value, writes
from mxlite.onnx._import.elementwise import SAME

#: Our name of each operator that ONNX has under another one.
_UNARY = {
    **{ours: theirs for theirs, ours in SAME.items()}, "_copy": "Identity", "BlockGrad": "Identity",
    "make_loss": "Identity", "MakeLoss": "Identity", "identity": "Identity", "_npx_relu": "Relu",
}  # fmt: skip


def _unary(kind: str) -> Callable[[Operation], None]:
    def write(op: Operation) -> None:
        op.end(kind, [op.x])

    return write


for _ours, _theirs in _UNARY.items():
    writes(_ours)(_unary(_theirs))


@writes("_npi_rint", "rint")
def rint(op: Operation) -> None:
    op.end("Round", [op.x])


@writes("square")
def square(op: Operation) -> None:
    op.end("Mul", [op.x, op.x])


@writes("rsqrt")
def rsqrt(op: Operation) -> None:
    op.end("Reciprocal", [op.add("Sqrt", [op.x])])


@writes("log2", "log10", "log1p", "expm1", "degrees", "radians")
def from_others(op: Operation) -> None:
    if op.kind == "log1p":
        op.end("Log", [op.add("Add", [op.x, op.number(1)])])
    elif op.kind == "expm1":
        op.end("Sub", [op.add("Exp", [op.x]), op.number(1)])
    elif op.kind in ("log2", "log10"):
        op.end("Div", [op.add("Log", [op.x]), op.number(math.log(2 if op.kind == "log2" else 10))])
    else:
        op.end("Mul", [op.x, op.number(180 / math.pi if op.kind == "degrees" else math.pi / 180)])


@writes("fix", "trunc")
def trunc(op: Operation) -> None:
    op.end("Mul", [op.add("Sign", [op.x]), op.add("Floor", [op.add("Abs", [op.x])])])


@writes("zeros_like", "ones_like")
def filled_like(op: Operation) -> None:
    value = op.number(0 if op.kind == "zeros_like" else 1)
    op.end("Expand", [value, op.add("Shape", [op.x])])


@writes("Cast", "_npi_cast", "amp_cast")
def cast(op: Operation) -> None:
    from mxlite.onnx._file import NUMBERS

    op.end("Cast", [op.x], to=NUMBERS[op.outputs[0].dtype])


@writes("logical_not")
def logical_not(op: Operation) -> None:
    made = op.add("Equal", [op.x, op.number(0)])
    op.end("Cast", [made], to=_number(op.outputs[0]))


def _number(value: Value) -> int:
    from mxlite.onnx._file import NUMBERS

    return NUMBERS[value.dtype]


# ---- activations ----


@writes("Activation")
def activation(op: Operation) -> None:
    kinds = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus", "softsign": "Softsign"}
    op.end(kinds[op.text("act_type")], [op.x])


@writes("_mxl_silu")
def silu(op: Operation) -> None:
    op.end("Mul", [op.x, op.add("Sigmoid", [op.x])])


@writes("hard_sigmoid")
def hard_sigmoid(op: Operation) -> None:
    op.end("HardSigmoid", [op.x], alpha=op.real("alpha", 0.2), beta=op.real("beta", 0.5))


@writes("LeakyReLU")
def leaky(op: Operation) -> None:
    kind, slope = op.text("act_type", "leaky"), op.real("slope", 0.25)
    if kind == "leaky":
        op.end("LeakyRelu", [op.x], alpha=slope)
    elif kind == "elu":
        op.end("Elu", [op.x], alpha=slope)
    elif kind == "selu":
        op.end("Selu", [op.x])
    elif kind == "gelu":
        inside = op.add("Erf", [op.add("Mul", [op.x, op.number(math.sqrt(0.5))])])
        half = op.add("Mul", [op.x, op.number(0.5)])
        op.end("Mul", [half, op.add("Add", [inside, op.number(1)])])
    elif kind == "rrelu":
        op.end("LeakyRelu", [op.x], alpha=(op.real("lower_bound", 0.125) + op.real("upper_bound", 0.334)) / 2)
    elif kind == "prelu":
        slope_name: Any = op.inputs[1]
        if op.rank() > 2 and len(op.shape(1)) == 1:
            slope_name = op.add("Reshape", [slope_name, op.ints([-1] + [1] * (op.rank() - 2))])
        op.end("PRelu", [op.x, slope_name])
    else:
        raise op.refuse(f"act_type {kind!r}")


@writes("clip", "_npi_clip", "_mxl_clamp")
def clip(op: Operation) -> None:
    op.end("Clip", [op.x, op.number(op.real("a_min")), op.number(op.real("a_max"))])


@writes("smooth_l1")
def smooth_l1(op: Operation) -> None:
    square_of = op.real("scalar", 1.0) ** 2
    size = op.add("Abs", [op.x])
    small = op.add("Mul", [op.add("Mul", [op.x, op.x]), op.number(square_of / 2)])
    large = op.add("Sub", [size, op.number(0.5 / square_of)])
    op.end("Where", [op.add("Less", [size, op.number(1 / square_of)]), small, large])


# ---- two tensors ----

_BINARY = {
    "broadcast_add": "Add", "elemwise_add": "Add", "broadcast_sub": "Sub", "elemwise_sub": "Sub",
    "broadcast_mul": "Mul", "elemwise_mul": "Mul", "broadcast_div": "Div", "elemwise_div": "Div",
    "broadcast_power": "Pow", "_power": "Pow", "_grad_add": "Add", "_npi_add": "Add", "_npi_subtract": "Sub",
    "_npi_multiply": "Mul", "_npi_true_divide": "Div", "_npi_power": "Pow",
}  # fmt: skip


@writes(*_BINARY)
def binary(op: Operation) -> None:
    a, b = _promoted(op)
    op.end(_BINARY[op.kind], [a, b])


def _promoted(op: Operation) -> tuple[Any, Any]:
    """Both inputs in the dtype of the result."""
    dtype = op.outputs[0].dtype
    a, b = (each if each.dtype == dtype else op.writer.cast(each, dtype) for each in op.inputs[:2])
    return a, b


@writes("broadcast_maximum", "broadcast_minimum", "_maximum", "_minimum", "_mxl_maximum", "_mxl_minimum")
def extreme(op: Operation) -> None:
    op.end("Max" if "max" in op.kind else "Min", list(_promoted(op)))


@writes("broadcast_mod", "_mod", "_npi_mod", "_mxl_remainder", "_mxl_fmod")
def modulo(op: Operation) -> None:
    a, b = _promoted(op)
    if op.kind == "_mxl_fmod":
        op.end("Mod", [a, b], fmod=1)
    elif "float" in op.outputs[0].dtype:
        whole = op.add("Floor", [op.add("Div", [a, b])])
        op.end("Sub", [a, op.add("Mul", [whole, b])])
    else:
        op.end("Mod", [a, b])


@writes("broadcast_hypot", "_hypot")
def hypot(op: Operation) -> None:
    a, b = _promoted(op)
    op.end("Sqrt", [op.add("Add", [op.add("Mul", [a, a]), op.add("Mul", [b, b])])])


@writes("add_n")
def add_n(op: Operation) -> None:
    op.end("Sum", op.inputs)


_COMPARED = {
    "equal": "Equal", "not_equal": "Equal", "greater": "Greater", "lesser": "Less", "greater_equal": "GreaterOrEqual",
    "lesser_equal": "LessOrEqual",
}  # fmt: skip
_LOGICAL = {"and": "And", "or": "Or", "xor": "Xor"}


def _compare_names() -> list[str]:
    return [f"{begin}{kind}" for kind in _COMPARED for begin in ("broadcast_", "_")]


@writes(
    *_compare_names(),
    "_npi_equal",
    "_npi_not_equal",
    "_npi_greater",
    "_npi_less",
    "_npi_greater_equal",
    "_npi_less_equal",
)
def compare(op: Operation) -> None:
    _compared(op, op.kind, list(op.inputs[:2]))


def _compared(op: Operation, name: str, inputs: list[Any]) -> None:
    name = re.sub("^(_npi_|broadcast_|_)|_scalar$", "", name)
    name = {"less": "lesser", "less_equal": "lesser_equal"}.get(name, name)
    made = op.add(_COMPARED[name], inputs)
    if name == "not_equal":
        made = op.add("Not", [made])
    op.end("Cast", [made], to=_number(op.outputs[0]))


@writes(*(f"broadcast_logical_{kind}" for kind in _LOGICAL), *(f"_logical_{kind}" for kind in _LOGICAL))
def logical(op: Operation) -> None:
    flags = [each if each.dtype == "bool" else op.writer.cast(each, "bool") for each in op.inputs[:2]]
    made = op.add(_LOGICAL[op.kind.rsplit("_", 1)[1]], flags)
    op.end("Cast", [made], to=_number(op.outputs[0]))


@writes("_npi_bitwise_and", "_npi_bitwise_or", "_npi_bitwise_xor")
def bitwise(op: Operation) -> None:
    if op.x.dtype != "bool":
        raise op.refuse(f"bits of {op.x.dtype} in operator set 17")
    op.end(_LOGICAL[op.kind.rsplit("_", 1)[1]], list(op.inputs[:2]))


# ---- a tensor and a number ----

_SCALAR = {
    "_plus_scalar": ("Add", False), "_minus_scalar": ("Sub", False), "_rminus_scalar": ("Sub", True),
    "_mul_scalar": ("Mul", False), "_div_scalar": ("Div", False), "_rdiv_scalar": ("Div", True),
    "_power_scalar": ("Pow", False), "_rpower_scalar": ("Pow", True), "_maximum_scalar": ("Max", False),
    "_minimum_scalar": ("Min", False), "_npi_true_divide_scalar": ("Div", False),
    "_npi_rtrue_divide_scalar": ("Div", True),
}  # fmt: skip


@writes(*_SCALAR)
def with_number(op: Operation) -> None:
    kind, turned = _SCALAR[op.kind]
    dtype = op.outputs[0].dtype
    x = op.x if op.x.dtype == dtype else op.writer.cast(op.x, dtype)
    pair = [x, op.writer.constant(op.real("scalar"), dtype)]
    op.end(kind, pair[::-1] if turned else pair)


@writes(
    *(f"_{kind}_scalar" for kind in _COMPARED),
    *(f"_npi_{kind.replace('lesser', 'less')}_scalar" for kind in _COMPARED),
)
def compare_number(op: Operation) -> None:
    _compared(op, op.kind, [op.x, op.number(op.real("scalar"))])


@writes("_mod_scalar")
def modulo_number(op: Operation) -> None:
    number = op.number(op.real("scalar"))
    if "float" in op.x.dtype:
        whole = op.add("Floor", [op.add("Div", [op.x, number])])
        op.end("Sub", [op.x, op.add("Mul", [whole, number])])
    else:
        op.end("Mod", [op.x, number])


@writes("where", "_npi_where")
def where(op: Operation) -> None:
    condition, a, b = op.inputs
    flag: Any = condition if condition.dtype == "bool" else op.writer.cast(condition, "bool")
    if op.kind == "where" and len(condition.shape or ()) == 1 and len(a.shape or ()) > 1:
        flag = op.add("Reshape", [flag, op.ints([-1] + [1] * (op.rank(1) - 1))])
    op.end("Where", [flag, a, b])


@writes("_zeros", "_ones", "_full", "_arange", "_npi_arange", "_npi_full", "_npi_zeros", "_npi_ones")
def created(op: Operation) -> None:
    """Constants that need no input."""
    dtype = op.outputs[0].dtype
    if "arange" in op.kind:
        start, stop = op.real("start"), op.value("stop")
        start, stop = (0.0, start) if stop is None else (start, float(stop))
        values = np.repeat(np.arange(start, stop, op.real("step", 1.0)), op.whole("repeat", 1))
    else:
        shape = op.outputs[0].shape
        if "zeros" in op.kind and (shape is None or min(shape, default=0) < 1):
            op.outputs[0].is_zeros = True
            return
        if shape is None or min(shape, default=0) < 0:
            raise op.refuse("its shape is not known")
        values = np.full(shape, op.real("value", 0.0 if "zeros" in op.kind else 1.0))
    op.end("Identity", [op.writer.constant(values, dtype)])
