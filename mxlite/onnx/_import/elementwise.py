"""Element-wise operators of ONNX: arithmetic, comparisons, logic, bits, casts, activations."""

from __future__ import annotations

from functools import reduce
from typing import Callable

import numpy as np

from mxlite.onnx._file import dtype_of
from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.linalg import dense
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor

#: Operators of one tensor that are ours under another name.
SAME = {
    "Abs": "abs", "Acos": "arccos", "Acosh": "arccosh", "Asin": "arcsin", "Asinh": "arcsinh", "Atan": "arctan",
    "Atanh": "arctanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "Log": "log", "Neg": "negative", "Reciprocal": "reciprocal", "Relu": "relu", "Round": "_mxl_round_even",
    "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Softplus": "_mxl_softrelu",
    "Softsign": "softsign", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh", "IsNaN": "_npi_isnan",
    "BitwiseNot": "_npi_bitwise_not", "Not": "_npi_logical_not",
}  # fmt: skip


def _same(operator: str) -> Callable[[Builder, Node], Tensor]:
    def make(g: Builder, node: Node) -> Tensor:
        return g.op(operator, node.input(0))

    return make


for _kind, _name in SAME.items():
    reads(_kind)(_same(_name))


@reads("Identity", "OptionalGetElement")
def identity(g: Builder, node: Node) -> Tensor:
    return node.input(0)


@reads("Dropout")
def dropout(g: Builder, node: Node) -> list[Tensor]:
    x = node.input(0)
    ratio = float(node.attr("ratio", 0.5))
    if node.has(1):
        ratio = float(node.input(1).scalar)
    active = node.has(2) and bool(node.input(2).scalar) and ratio > 0
    if not active:
        made = g.op("Dropout", x, p=ratio, mode="training") if ratio > 0 and not x.is_known else x
        return [made, g.constant(np.ones(x.full_shape, bool))] if len(node.outputs) > 1 else [made]
    kept = g.op("Dropout", g.op("ones_like", x), p=ratio, mode="always")
    return [g.op("broadcast_mul", x, kept), g.op("_npi_not_equal", kept, g.like(0, kept))][: len(node.outputs)]


@reads("OptionalHasElement")
def has_element(g: Builder, node: Node) -> Tensor:
    return g.constant(np.array(node.has(0)))


# ---- two tensors ----


@reads("Add", "Sub", "Mul")
def arithmetic(g: Builder, node: Node) -> Tensor:
    a, b = _aligned(g, node)
    if node.kind == "Add":
        for number, (x, bias) in enumerate(((a, b), (b, a))):
            if x.dense is not None and bias.is_known and bias.sized == x.sized[-1:] and node.alone_reads(number):
                return dense(g, *x.dense, bias, 1.0)
    return g.binary(node.kind.lower(), a, b)


@reads("Div")
def divide(g: Builder, node: Node) -> Tensor:
    a, b = _aligned(g, node)
    return g.div(a, b) if a.is_float else g.op("_mxl_trunc_divide", a, b)


def _aligned(g: Builder, node: Node) -> tuple[Tensor, Tensor]:
    """Both inputs; before operator set 7 the second one lies along an axis of the first."""
    a, b = node.input(0), node.input(1)
    if node.opset < 7 and node.attr("broadcast", 0):
        axis = node.attr("axis")
        if axis is not None:
            start = node.whole_axis(int(axis), a.rank)
            b = g.reshape(b, (*b.full_shape, *(1,) * (a.rank - start - b.rank)))
    return a, b


@reads("Pow")
def power(g: Builder, node: Node) -> Tensor:
    a, b = _aligned(g, node)
    if a.dtype == b.dtype:
        return g.binary("power", a, b)
    if a.is_float:
        return g.binary("power", a, g.cast(b, a.dtype))
    return g.cast(g.op("broadcast_power", g.cast(a, "float64"), g.cast(b, "float64")), a.dtype)


@reads("Mod")
def modulo(g: Builder, node: Node) -> Tensor:
    a, b = node.input(0), node.input(1)
    return g.op("_mxl_fmod" if node.attr("fmod", 0) else "_mxl_remainder", a, b)


@reads("Max", "Min", "Sum", "Mean")
def several(g: Builder, node: Node) -> Tensor:
    inputs = [node.input(index) for index in range(len(node.inputs))]
    if node.kind in ("Sum", "Mean"):
        total = reduce(g.add, inputs)
        return total if node.kind == "Sum" else g.div(total, float(len(inputs)))
    operator = "_mxl_maximum" if node.kind == "Max" else "_mxl_minimum"
    return reduce(lambda a, b: g.op(operator, a, b), inputs)


COMPARED = {
    "Equal": "_npi_equal", "Greater": "_npi_greater", "Less": "_npi_less", "GreaterOrEqual": "_npi_greater_equal",
    "LessOrEqual": "_npi_less_equal", "And": "_npi_bitwise_and", "Or": "_npi_bitwise_or", "Xor": "_npi_bitwise_xor",
    "BitwiseAnd": "_npi_bitwise_and", "BitwiseOr": "_npi_bitwise_or", "BitwiseXor": "_npi_bitwise_xor",
}  # fmt: skip


@reads(*COMPARED)
def compare(g: Builder, node: Node) -> Tensor:
    return g.op(COMPARED[node.kind], *_aligned(g, node))


@reads("BitShift")
def shift(g: Builder, node: Node) -> Tensor:
    operator = "_mxl_left_shift" if node.attr("direction") == "LEFT" else "_mxl_right_shift"
    return g.op(operator, node.input(0), node.input(1))


@reads("Where")
def where(g: Builder, node: Node) -> Tensor:
    return g.where(node.input(0), node.input(1), node.input(2))


@reads("IsInf")
def is_infinite(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    up, down = node.attr("detect_positive", 1), node.attr("detect_negative", 1)
    if up and down:
        return g.op("_npi_isinf", x)
    if not up and not down:
        return g.op("_npi_not_equal", g.op("zeros_like", x), g.op("zeros_like", x))
    return g.op("_npi_isposinf" if up else "_npi_isneginf", x)


# ---- dtypes ----


@reads("Cast")
def cast(g: Builder, node: Node) -> Tensor:
    return _cast(g, node.input(0), dtype_of(int(node.attr("to")), "the result"))


@reads("CastLike")
def cast_like(g: Builder, node: Node) -> Tensor:
    return _cast(g, node.input(0), node.input(1).dtype)


def _cast(g: Builder, x: Tensor, dtype: str) -> Tensor:
    if x.sizes is not None and dtype in ("int32", "int64"):
        return x
    if dtype == "bool" and x.dtype != "bool":
        return g.op("_npi_not_equal", x, g.like(0, x))
    return g.cast(x, dtype)


@reads("BitCast")
def bit_cast(g: Builder, node: Node) -> Tensor:
    dtype = dtype_of(int(node.attr("to")), "the result")
    x = node.input(0)
    if x.dtype == dtype:
        return x
    if "bfloat16" in (x.dtype, dtype):
        raise node.refuse("mxlite reads no bits of bfloat16")
    return g.constant(x.value.view(np.dtype(dtype)))


# ---- activations ----


@reads("Clip")
def clip(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    low, high = node.optional(1), node.optional(2)
    if node.opset < 11:
        low = g.like(node.attributes["min"], x) if "min" in node.attributes else None
        high = g.like(node.attributes["max"], x) if "max" in node.attributes else None
    if x.is_float and low is not None and high is not None and low.is_known and high.is_known:
        if low.scalar <= high.scalar:
            return g.op("clip", x, a_min=float(low.scalar), a_max=float(high.scalar))
    if low is not None:
        x = g.binary("maximum", x, low) if x.is_float else g.op("_mxl_maximum", x, low)
    if high is not None:
        x = g.binary("minimum", x, high) if x.is_float else g.op("_mxl_minimum", x, high)
    return x


@reads("LeakyRelu")
def leaky(g: Builder, node: Node) -> Tensor:
    return g.op("LeakyReLU", node.input(0), act_type="leaky", slope=float(node.attr("alpha", 0.01)))


@reads("Elu")
def elu(g: Builder, node: Node) -> Tensor:
    return g.op("LeakyReLU", node.input(0), act_type="elu", slope=float(node.attr("alpha", 1.0)))


@reads("PRelu")
def prelu(g: Builder, node: Node) -> Tensor:
    x, slope = node.input(0), node.input(1)
    if x.rank >= 2 and slope.is_known and x.is_float and slope.size == x.sized[1] and not slope.is_weight:
        if tuple(slope.sized) == (x.sized[1],) + (1,) * (x.rank - 2):
            return g.op("LeakyReLU", x, g.reshape(slope, (-1,)), act_type="prelu")
    if slope.rank == 1 and x.rank > 2 and slope.sized[0] == x.sized[1] and node.opset < 7:
        slope = g.reshape(slope, (-1, *(1,) * (x.rank - 2)))
    return g.where(g.op("_npi_less", x, g.like(0, x)), g.mul(x, slope), x)


@reads("Selu")
def selu(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    alpha, gamma = (
        float(node.attr("alpha", 1.67326319217681884765625)),
        float(node.attr("gamma", 1.05070102214813232421875)),
    )
    return g.mul(g.op("LeakyReLU", x, act_type="elu", slope=alpha), gamma)


@reads("Celu")
def celu(g: Builder, node: Node) -> Tensor:
    alpha = float(node.attr("alpha", 1.0))
    return g.mul(g.op("LeakyReLU", g.div(node.input(0), alpha), act_type="elu", slope=1.0), alpha)


@reads("ThresholdedRelu")
def thresholded(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    return g.where(g.op("_npi_greater", x, g.like(float(node.attr("alpha", 1.0)), x)), x, g.like(0, x))


@reads("HardSigmoid")
def hard_sigmoid(g: Builder, node: Node) -> Tensor:
    return g.op("hard_sigmoid", node.input(0), alpha=float(node.attr("alpha", 0.2)), beta=float(node.attr("beta", 0.5)))


@reads("HardSwish")
def hard_swish(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    return g.mul(x, g.op("hard_sigmoid", x, alpha=1 / 6, beta=0.5))


@reads("Mish")
def mish(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    return g.mul(x, g.op("tanh", g.op("_mxl_softrelu", x)))


@reads("Swish")
def swish(g: Builder, node: Node) -> Tensor:
    x, alpha = node.input(0), float(node.attr("alpha", 1.0))
    return g.mul(x, g.op("sigmoid", x if alpha == 1 else g.mul(x, alpha)))


@reads("Gelu")
def gelu(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    if node.attr("approximate", "none") != "tanh":
        return g.op("LeakyReLU", x, act_type="gelu")
    inside = g.mul(g.add(x, g.mul(g.mul(g.mul(x, x), x), 0.044715)), float(np.sqrt(2 / np.pi)))
    return g.mul(g.mul(x, 0.5), g.add(g.op("tanh", inside), 1.0))


@reads("Shrink")
def shrink(g: Builder, node: Node) -> Tensor:
    x, bias, lambd = node.input(0), float(node.attr("bias", 0.0)), float(node.attr("lambd", 0.5))
    zero = g.like(0, x)
    above = g.where(g.op("_npi_greater", x, g.like(lambd, x)), g.sub(x, g.like(bias, x)), zero)
    return g.where(g.op("_npi_less", x, g.like(-lambd, x)), g.add(x, g.like(bias, x)), above)


@reads("Softmax", "LogSoftmax", "Hardmax")
def softmax(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    shape = x.sized
    axis = node.axis("axis", -1 if node.opset >= 13 else 1, len(shape))
    if node.opset < 13 and axis != len(shape) - 1:
        full = x.full_shape
        flat = g.reshape(x, (int(np.prod(full[:axis], dtype=int)), int(np.prod(full[axis:], dtype=int))))
        return g.reshape(_softmax(g, node.kind, flat, 1), full)
    return _softmax(g, node.kind, x, axis)


def _softmax(g: Builder, kind: str, x: Tensor, axis: int) -> Tensor:
    if kind != "Hardmax":
        return g.op("softmax" if kind == "Softmax" else "log_softmax", x, axis=axis)
    places = g.op("_mxl_argmax", x, axis=axis, keepdims=False)
    hot = g.op("one_hot", places, depth=x.size_at(axis), dtype=x.dtype)
    last = x.rank - 1
    return g.transpose(hot, [*range(axis), last, *range(axis, last)])
