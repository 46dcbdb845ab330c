"""Writes products of matrices, those of attention among them."""

from __future__ import annotations

import math
from typing import Any

from mxlite.onnx._export.nodes import Operation, Value, writes


def _turned(op: Operation, x: Value, turn: bool) -> Any:
    """A tensor with its last two axes exchanged, where that is wanted."""
    if not turn:
        return x
    rank = len(x.shape or ())
    if rank < 2:
        raise op.refuse(f"a tensor of shape {x.shape}")
    return op.add("Transpose", [x], perm=[*range(rank - 2), rank - 1, rank - 2])


@writes("batch_dot", "_npx_batch_dot", "_mxl_mm")
def batch_dot(op: Operation) -> None:
    a, b = (_turned(op, each, op.flag(f"transpose_{side}")) for each, side in zip(op.inputs, "ab"))
    op.end("MatMul", [a, b])


@writes("_npi_matmul")
def matmul(op: Operation) -> None:
    op.end("MatMul", op.inputs)


@writes("dot", "_np_dot")
def dot(op: Operation) -> None:
    a, b = op.inputs
    ranks = len(a.shape or ()), len(b.shape or ())
    if ranks[1] > 2 or 0 in ranks:
        raise op.refuse(f"tensors of {ranks[0]} and {ranks[1]} axes")
    first, second = (
        _turned(op, each, op.flag(f"transpose_{side}") and len(each.shape or ()) == 2)
        for each, side in zip((a, b), "ab")
    )
    op.end("MatMul", [first, second])


@writes("_linalg_gemm2", "_linalg_gemm")
def gemm(op: Operation) -> None:
    if op.whole("axis", -2) not in (-2,):
        raise op.refuse("axis")
    a, b = (_turned(op, each, op.flag(f"transpose_{side}")) for each, side in zip(op.inputs, "ab"))
    made = op.add("MatMul", [a, b])
    alpha = op.real("alpha", 1.0)
    if alpha != 1:
        made = op.add("Mul", [made, op.number(alpha)])
    if op.kind == "_linalg_gemm":
        beta = op.real("beta", 1.0)
        third: Any = op.inputs[2] if beta == 1 else op.add("Mul", [op.inputs[2], op.number(beta)])
        made = op.add("Add", [made, third])
    op.end("Identity", [made])


@writes("_npi_einsum")
def einsum(op: Operation) -> None:
    op.end("Einsum", op.inputs, equation=op.text("subscripts"))


@writes("_npi_det", "_linalg_det")
def det(op: Operation) -> None:
    op.end("Det", [op.x])


@writes("_contrib_div_sqrt_dim")
def div_sqrt_dim(op: Operation) -> None:
    size = (op.x.shape or (-1,))[-1]
    if size < 0:
        raise op.refuse("the last size must be known")
    op.end("Div", [op.x, op.number(math.sqrt(size))])


def _heads(op: Operation, x: Value, parts: int) -> list[str]:
    """Queries, keys and values that lie side by side in (L, N, heads * parts * C), each as (N * heads, L, C)."""
    heads = op.whole("heads")
    shape = x.shape or ()
    if len(shape) != 3 or min(shape) < 0:
        raise op.refuse(f"the shape {shape} of an input must be known")
    length, batch, width = shape
    size = width // heads // parts
    wide = op.add("Reshape", [x, op.ints([length, batch * heads, parts, size])])
    split = op.add("Split", [wide, op.ints([1] * parts)], parts, axis=2)
    found = []
    for each in [split] if parts == 1 else split:
        row = op.add("Squeeze", [each, op.ints([2])])
        found.append(op.add("Transpose", [row], perm=[1, 0, 2]))
    return found


@writes("_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_encdec_qk")
def attention_scores(op: Operation) -> None:
    if op.kind.endswith("selfatt_qk"):
        query, key, _ = _heads(op, op.x, 3)
        size = op.shape()[2] // op.whole("heads") // 3
    else:
        query, key = _heads(op, op.x, 1)[0], _heads(op, op.inputs[1], 2)[0]
        size = op.shape()[2] // op.whole("heads")
    scaled = op.add("Div", [query, op.number(math.sqrt(size))])
    op.end("MatMul", [scaled, op.add("Transpose", [key], perm=[0, 2, 1])])


@writes("_contrib_interleaved_matmul_selfatt_valatt", "_contrib_interleaved_matmul_encdec_valatt")
def attention_values(op: Operation) -> None:
    parts = 3 if op.kind.endswith("selfatt_valatt") else 2
    value = _heads(op, op.x, parts)[-1]
    made = op.add("Transpose", [op.add("MatMul", [op.inputs[1], value])], perm=[1, 0, 2])
    shape = op.outputs[0].shape
    if shape is None or min(shape) < 0:
        raise op.refuse("the result's shape must be known")
    op.end("Reshape", [made, op.ints(shape)])
