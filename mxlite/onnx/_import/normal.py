"""Normalisations of ONNX."""

from __future__ import annotations

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor


@reads("BatchNormalization")
def batch_norm(g: Builder, node: Node) -> list[Tensor]:
    x, scale, bias, mean, variance = (node.input(index) for index in range(5))
    eps, momentum = float(node.attr("epsilon", 1e-5)), float(node.attr("momentum", 0.9))
    if not node.attr("training_mode", 0):
        if mean.is_known and variance.is_known and scale.dtype == bias.dtype == x.dtype and not x.is_known:
            states = [g.state(mean), g.state(variance)]
            made = g.op("BatchNorm", x, scale, bias, *states, eps=eps, momentum=momentum, fix_gamma=False, axis=1)
            return [made] * len(node.outputs)
        return [_normalised(g, x, scale, bias, mean, variance, eps)]
    axes = (0, *range(2, x.rank))
    now = g.mean(x, axes)
    spread = g.mean(g.op("square", g.sub(x, _channels(g, now, x.rank))), axes)
    made = _normalised(g, x, scale, bias, now, spread, eps)
    moved = [g.add(g.mul(old, momentum), g.mul(new, 1 - momentum)) for old, new in ((mean, now), (variance, spread))]
    return [made, *moved][: len(node.outputs)]


def _channels(g: Builder, x: Tensor, rank: int) -> Tensor:
    """A vector along axis 1 of a tensor of that rank."""
    return g.reshape(x, (1, -1, *(1,) * (rank - 2)))


def _normalised(
    g: Builder, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, eps: float
) -> Tensor:
    dtype = x.dtype
    factor = g.mul(scale, g.op("rsqrt", g.add(variance, g.like(eps, variance))))
    factor, shift, middle = (_channels(g, g.cast(each, dtype), x.rank) for each in (factor, bias, mean))
    return g.add(g.mul(g.sub(x, middle), factor), shift)


@reads("InstanceNormalization")
def instance_norm(g: Builder, node: Node) -> Tensor:
    eps = float(node.attr("epsilon", 1e-5))
    return g.op("InstanceNorm", node.input(0), node.input(1), node.input(2), eps=eps)


@reads("LayerNormalization")
def layer_norm(g: Builder, node: Node) -> list[Tensor]:
    x, scale, bias = node.input(0), node.input(1), node.optional(2)
    axis, eps = node.axis("axis", -1, x.rank), float(node.attr("epsilon", 1e-5))
    if axis == x.rank - 1 and len(node.outputs) == 1 and scale.rank == 1 and scale.sized == x.sized[-1:]:
        bias = g.like(np.zeros(scale.full_shape), x) if bias is None else bias
        return [g.op("LayerNorm", x, scale, bias, axis=-1, eps=eps)]
    axes = tuple(range(axis, x.rank))
    wide = g.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    mean = g.mean(wide, axes, True)
    apart = g.sub(wide, mean)
    inverse = g.op("rsqrt", g.add(g.mean(g.op("square", apart), axes, True), eps))
    made = g.mul(g.cast(g.mul(apart, inverse), x.dtype), scale)
    return [made if bias is None else g.add(made, bias), mean, inverse][: len(node.outputs)]


@reads("GroupNormalization")
def group_norm(g: Builder, node: Node) -> Tensor:
    x, scale, bias = node.input(0), node.input(1), node.input(2)
    groups, eps = int(node.attr("num_groups")), float(node.attr("epsilon", 1e-5))
    shape = x.full_shape
    if groups < 1 or shape[1] % groups:
        raise node.refuse(f"{groups} groups of {shape[1]} channels")
    flat = g.reshape(x, (shape[0], groups, -1))
    count = flat.size_at(-1)
    plain = [g.like(np.ones(count), x), g.like(np.zeros(count), x)]
    made = g.reshape(g.op("LayerNorm", flat, *plain, axis=-1, eps=eps), shape)
    if scale.size == groups != shape[1]:  # before operator set 21 there is one scale for a group
        chosen = g.constant(np.repeat(np.arange(groups), shape[1] // groups))
        scale, bias = (g.op("take", each, chosen, axis=0, mode="clip") for each in (scale, bias))
    return g.add(g.mul(made, _channels(g, scale, x.rank)), _channels(g, bias, x.rank))


@reads("LRN")
def local_response(g: Builder, node: Node) -> Tensor:
    x, size = node.input(0), int(node.attr("size"))
    alpha, beta, bias = (
        float(node.attr(name, default)) for name, default in (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0))
    )
    if size % 2 and x.rank == 4:
        return g.op("LRN", x, nsize=size, alpha=alpha, beta=beta, knorm=bias)
    channels = x.size_at(1)
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    squares = g.op("square", x)
    band = np.array([[float(-low <= b - a <= high) for b in range(channels)] for a in range(channels)])
    from mxlite.onnx._import.linalg import along

    total = along(g, squares, band, 1)
    return g.op("broadcast_div", x, g.op("_power_scalar", g.add(g.mul(total, alpha / size), bias), scalar=beta))


@reads("LpNormalization")
def lp_norm(g: Builder, node: Node) -> Tensor:
    x, p = node.input(0), int(node.attr("p", 2))
    axis = node.axis("axis", -1, x.rank)
    if p == 1:
        length = g.sum(g.op("abs", x), (axis,), True)
    elif p == 2:
        length = g.op("sqrt", g.sum(g.op("square", x), (axis,), True))
    else:
        raise node.refuse(f"p={p}; ONNX has 1 and 2")
    is_zero = g.op("_npi_equal", length, g.like(0, length))
    return g.op("broadcast_div", x, g.where(is_zero, g.like(1, length), length))
