"""Products of matrices."""

from __future__ import annotations

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor


@reads("Gemm")
def gemm(g: Builder, node: Node) -> Tensor:
    a, b, c = node.input(0), node.input(1), node.optional(2)
    alpha, beta = float(node.attr("alpha", 1.0)), float(node.attr("beta", 1.0))
    turn_a, turn_b = bool(node.attr("transA", 0)), bool(node.attr("transB", 0))
    if a.rank != 2 and node.opset < 7:
        a = g.op("Flatten", a)
    if a.rank != 2 or b.rank != 2:
        raise node.refuse(f"takes matrices, got {a.rank} and {b.rank} axes")
    if a.is_float and not turn_a and alpha == 1 and (turn_b or (b.is_known and not b.is_weight)):
        weight = b if turn_b else g.transpose(b, (1, 0))
        return dense(g, a, weight, c, beta)
    if not a.is_float:
        wide = [None if each is None else g.cast(each, "float64") for each in (a, b, c)]
        made = _general(g, wide, turn_a, turn_b, alpha, beta)
        return g.cast(made, a.dtype)
    return _general(g, [a, b, c], turn_a, turn_b, alpha, beta)


def dense(g: Builder, x: Tensor, weight: Tensor, bias: Tensor | None, beta: float) -> Tensor:
    """x times the transposed weight, with a bias where there is one: (N, K), (M, K), (M,) -> (N, M)."""
    units = weight.size_at(0)
    flat = bias is not None and bias.size == units and bias.sized[-1:] == (units,) and beta == 1
    if bias is not None and flat and units > 0:
        bias = g.reshape(bias, (units,))
        return g.op("FullyConnected", x, weight, bias, num_hidden=units, flatten=False, no_bias=False)
    made = g.op("FullyConnected", x, weight, num_hidden=units, flatten=False, no_bias=True)
    return made if bias is None else g.add(made, bias if beta == 1 else g.mul(bias, g.like(beta, bias)))


def _general(g: Builder, abc: list[Tensor | None], turn_a: bool, turn_b: bool, alpha: float, beta: float) -> Tensor:
    a, b, c = abc
    assert a is not None and b is not None
    made = g.op("dot", a, b, transpose_a=turn_a, transpose_b=turn_b)
    if alpha != 1:
        made = g.mul(made, g.like(alpha, made))
    if c is None:
        return made
    return g.op("broadcast_add", made, c if beta == 1 else g.mul(c, g.like(beta, c)))


@reads("MatMul")
def matmul(g: Builder, node: Node) -> Tensor:
    return product(g, node.input(0), node.input(1))


def product(g: Builder, a: Tensor, b: Tensor) -> Tensor:
    """The product of the last two axes; that of integers is computed in float64."""
    if not a.is_float:
        return g.cast(product(g, g.cast(a, "float64"), g.cast(b, "float64")), a.dtype)
    if b.is_known and not b.is_weight and b.rank == 2 and a.rank >= 2 and not a.is_known and min(b.full_shape) > 0:
        weight = g.transpose(b, (1, 0))
        made = dense(g, a, weight, None, 1.0)
        made.dense = a, weight
        return made
    if a.rank == b.rank == 3 and a.sized[0] == b.sized[0] > 0:
        return g.op("batch_dot", a, b)
    return g.op("_npi_matmul", a, b)


@reads("Einsum")
def einsum(g: Builder, node: Node) -> Tensor:
    inputs = [each for each in node.inputs if each is not None]
    text = str(node.attr("equation")).replace(" ", "")
    return g.op("_npi_einsum", *inputs, num_args=len(inputs), subscripts=text)


@reads("Det")
def determinant(g: Builder, node: Node) -> Tensor:
    return g.op("_npi_det", node.input(0))


def along(g: Builder, x: Tensor, matrix: np.ndarray, axis: int) -> Tensor:
    """A tensor with a constant matrix (new, old) applied along one axis."""
    last = x.rank - 1
    order = [each for each in range(x.rank) if each != axis] + [axis]
    moved = g.transpose(x, order)
    weight = g.like(matrix, x)
    if x.is_known:
        made = g.op("_npi_matmul", moved, g.transpose(weight, (1, 0)))
    else:
        made = g.op("FullyConnected", moved, weight, num_hidden=matrix.shape[0], flatten=False, no_bias=True)
    return g.transpose(made, [*range(axis), last, *range(axis, last)])
