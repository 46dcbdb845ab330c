"""Reductions of ONNX."""

from __future__ import annotations

from typing import Callable

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor

Axes = tuple[int, ...]


def _axes(node: Node, x: Tensor) -> Axes:
    if node.has(1):
        given = node.input(1).ints
    else:
        given = node.ints("axes", [])
    if not given:
        return () if node.attr("noop_with_empty_axes", 0) else tuple(range(x.rank))
    return tuple(node.axes(given, x.rank))


def _greatest(operator: str, least: bool) -> Callable[[Builder, Tensor, Axes, bool], Tensor]:
    def reduce(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
        if x.shape is not None and any(x.shape[axis] == 0 for axis in axes):
            return _of_nothing(g, x, axes, keep, least)
        if x.dtype == "bool":
            return g.cast(g.op(operator, g.cast(x, "uint8"), axis=axes, keepdims=keep), "bool")
        return g.op(operator, x, axis=axes, keepdims=keep)

    return reduce


def _of_nothing(g: Builder, x: Tensor, axes: Axes, keep: bool, least: bool) -> Tensor:
    """The greatest (least: smallest) of no elements: that which every other one exceeds."""
    shape = [1 if axis in axes else size for axis, size in enumerate(x.full_shape) if keep or axis not in axes]
    if x.is_float:
        value = np.inf if least else -np.inf
    elif x.dtype == "bool":
        value = float(least)
    else:
        limits = np.iinfo(np.dtype(x.dtype))
        return g.constant(np.full(shape, limits.max if least else limits.min, x.dtype))
    return g.constant(np.full(shape, value), x.dtype)


def _sum(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return g.cast(g.sum(x, axes, keep), x.dtype)


def _mean(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    if x.is_float:
        return g.mean(x, axes, keep)
    return g.cast(g.mean(g.cast(x, "float64"), axes, keep), x.dtype)


def _product(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return g.cast(g.op("_np_prod", x, axis=axes, keepdims=keep), x.dtype)


def _absolute(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _sum(g, g.op("abs", x), axes, keep)


def _squares(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _sum(g, g.mul(x, x), axes, keep)


def _length(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _on_floats(g, x, lambda y: g.op("sqrt", _squares(g, y, axes, keep)))


def _log_sum(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    return _on_floats(g, x, lambda y: g.op("log", _sum(g, y, axes, keep)))


def _log_sum_exp(g: Builder, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    def compute(y: Tensor) -> Tensor:
        if any(y.sized[axis] == 0 for axis in axes):
            return _of_nothing(g, y, axes, keep, False)
        top = g.op("BlockGrad", g.op("_np_max", y, axis=axes, keepdims=True))
        found = g.op("log", g.sum(g.op("exp", g.op("broadcast_sub", y, top)), axes, keep))
        if not keep:
            top = g.op("squeeze", top, axis=axes)
        return g.op("broadcast_add", found, top)

    return _on_floats(g, x, compute)


def _on_floats(g: Builder, x: Tensor, compute: Callable[[Tensor], Tensor]) -> Tensor:
    return compute(x) if x.is_float else g.cast(compute(g.cast(x, "float64")), x.dtype)


REDUCED = {
    "ReduceMax": _greatest("_np_max", False), "ReduceMin": _greatest("_np_min", True), "ReduceSum": _sum,
    "ReduceMean": _mean, "ReduceProd": _product, "ReduceL1": _absolute, "ReduceL2": _length,
    "ReduceSumSquare": _squares, "ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp,
}  # fmt: skip


@reads(*REDUCED)
def reduction(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    keep = bool(node.attr("keepdims", 1))
    axes = _axes(node, x)
    if axes:
        return REDUCED[node.kind](g, x, axes, keep)
    if x.rank and node.kind not in ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"):
        return x
    # What each element alone gives.
    return g.reshape(REDUCED[node.kind](g, g.expand_dims(x, [x.rank]), (x.rank,), True), x.full_shape)
