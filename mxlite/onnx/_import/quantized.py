"""Quantized tensors of ONNX, computed in integers' values as floats."""

from __future__ import annotations

import numpy as np

from mxlite.onnx._file import dtype_of
from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.convolution import convolve
from mxlite.onnx._import.linalg import product
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor


def _spread(g: Builder, node: Node, x: Tensor, given: Tensor) -> Tensor:
    """Scales or zero points so that they broadcast: one, one for each entry of an axis, or one for each block of it."""
    if given.size == 1 and given.rank <= 1:
        return g.reshape(given, ())
    axis = node.axis("axis", 1, x.rank)
    block = int(node.attr("block_size", 0))
    if block:
        repeated = g.op("_np_repeat", given, repeats=block, axis=axis)
        return g.slice(repeated, axis, 0, x.size_at(axis))
    return g.reshape(given, [-1 if each == axis else 1 for each in range(x.rank)])


def _quantize(g: Builder, x: Tensor, scale: Tensor, zero: Tensor | None, dtype: str) -> Tensor:
    """round(x / scale) + zero, within the dtype's values."""
    made = g.op("_mxl_round_even", g.op("broadcast_div", x, g.cast(scale, x.dtype)))
    wide = g.cast(made, "float64" if dtype in ("int32", "uint32") else "float32")
    if zero is not None:
        wide = g.op("broadcast_add", wide, g.cast(zero, wide.dtype))
    limits = np.iinfo(np.dtype(dtype))
    return g.cast(g.op("clip", wide, a_min=float(limits.min), a_max=float(limits.max)), dtype)


@reads("QuantizeLinear")
def quantize(g: Builder, node: Node) -> Tensor:
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    to = int(node.attr("output_dtype", 0))
    dtype = dtype_of(to, "the result") if to else zero.dtype if zero is not None else "uint8"
    if not x.is_float:
        x = g.cast(x, "float32")
    precise = int(node.attr("precision", 0))
    if precise:
        x = g.cast(x, dtype_of(precise, "the precision"))
    zero = None if zero is None else _spread(g, node, x, zero)
    return _quantize(g, x, _spread(g, node, x, scale), zero, dtype)


@reads("DequantizeLinear")
def dequantize(g: Builder, node: Node) -> Tensor:
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    to = int(node.attr("output_dtype", 0))
    dtype = dtype_of(to, "the result") if to else scale.dtype
    wide = g.cast(x, "float32")
    if zero is not None:
        wide = g.op("broadcast_sub", wide, g.cast(_spread(g, node, x, zero), "float32"))
    return g.cast(g.op("broadcast_mul", wide, g.cast(_spread(g, node, x, scale), "float32")), dtype)


@reads("DynamicQuantizeLinear")
def dynamic(g: Builder, node: Node) -> list[Tensor]:
    x = node.input(0)
    low = g.binary("minimum", g.op("_np_min", x, axis=None), 0.0)
    high = g.binary("maximum", g.op("_np_max", x, axis=None), 0.0)
    scale = g.div(g.sub(high, low), 255.0)
    zero = g.op(
        "clip", g.op("_mxl_round_even", g.op("broadcast_div", g.op("negative", low), scale)), a_min=0.0, a_max=255.0
    )
    zero = g.cast(zero, "uint8")
    return [_quantize(g, x, scale, zero, "uint8"), scale, zero]


def _centered(g: Builder, node: Node, place: int, zero: int, by_row: bool, dtype: str) -> Tensor:
    """A quantized input less its zero point, as floats; a vector of zero points is one for each row, or column."""
    x = g.cast(node.input(place), dtype)
    if not node.has(zero):
        return x
    point = g.cast(node.input(zero), dtype)
    if point.rank == 1 and point.size > 1 and by_row:
        point = g.reshape(point, (-1, 1))
    elif point.size == 1:
        point = g.reshape(point, ())
    return g.op("broadcast_sub", x, point)


@reads("MatMulInteger")
def matmul_integer(g: Builder, node: Node) -> Tensor:
    a, b = _centered(g, node, 0, 2, True, "float64"), _centered(g, node, 1, 3, False, "float64")
    return g.cast(product(g, a, b), "int32")


@reads("QLinearMatMul")
def matmul_quantized(g: Builder, node: Node) -> Tensor:
    a, b = _centered(g, node, 0, 2, True, "float64"), _centered(g, node, 3, 5, False, "float64")
    scales = []
    for place, by_row in ((1, True), (4, False)):
        scale = g.cast(node.input(place), "float64")
        scales.append(g.reshape(scale, (-1, 1)) if scale.rank == 1 and scale.size > 1 and by_row else
                      g.reshape(scale, ()) if scale.size == 1 else scale)  # fmt: skip
    factor = g.op("broadcast_div", g.op("broadcast_mul", *scales), g.cast(_one(g, node.input(6)), "float64"))
    made = g.op("broadcast_mul", product(g, a, b), factor)
    unit = g.constant(np.float64(1.0))
    return _quantize(g, made, unit, _one(g, node.input(7)), node.input(7).dtype)


def _one(g: Builder, x: Tensor) -> Tensor:
    return g.reshape(x, ()) if x.size == 1 else x


@reads("ConvInteger")
def convolution_integer(g: Builder, node: Node) -> Tensor:
    x = _centered(g, node, 0, 2, False, "float64")
    weight = _weight(g, node, 1, 3)
    return g.cast(convolve(g, node, x, weight, None), "int32")


def _weight(g: Builder, node: Node, place: int, zero: int) -> Tensor:
    weight = g.cast(node.input(place), "float64")
    if not node.has(zero):
        return weight
    point = g.cast(node.input(zero), "float64")
    return g.op("broadcast_sub", weight, _filters(g, point, weight.rank))


def _filters(g: Builder, x: Tensor, rank: int) -> Tensor:
    """One value, or one for each filter of a weight of that rank."""
    return g.reshape(x, ()) if x.size == 1 else g.reshape(x, (-1, *(1,) * (rank - 1)))


@reads("QLinearConv")
def convolution_quantized(g: Builder, node: Node) -> Tensor:
    x = g.op("broadcast_sub", g.cast(node.input(0), "float64"), g.cast(_one(g, node.input(2)), "float64"))
    weight = _weight(g, node, 3, 5)
    bias = g.cast(node.input(8), "float64") if node.has(8) else None
    made = convolve(g, node, x, weight, bias)
    scale = g.cast(node.input(4), "float64")
    scale = g.reshape(scale, ()) if scale.size == 1 else g.reshape(scale, (1, -1, *(1,) * (weight.rank - 2)))
    factor = g.op("broadcast_mul", g.cast(_one(g, node.input(1)), "float64"), scale)
    factor = g.op("broadcast_div", factor, g.cast(_one(g, node.input(6)), "float64"))
    zero = _one(g, node.input(7))
    return _quantize(g, g.op("broadcast_mul", made, factor), g.constant(np.float64(1.0)), zero, zero.dtype)
