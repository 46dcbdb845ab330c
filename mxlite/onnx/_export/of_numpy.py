"""Writes operators of `mx.np` that `mx.nd` has not, and a few that are made of others."""

from __future__ import annotations

import numpy as np

from mxlite.onnx._export.layers import batch_norm
from mxlite.onnx._export.nodes import Operation, Value, writes
from mxlite.onnx._file import NUMBERS


@writes("_npi_around", "round")
def rounded(op: Operation) -> None:
    """To the nearest integer; halves to even ones, those of `round` away from 0."""
    if op.whole("decimals", 0):
        raise op.refuse("decimals")
    if op.kind == "_npi_around":
        op.end("Round", [op.x])
        return
    up = op.add("Floor", [op.add("Add", [op.add("Abs", [op.x]), op.number(0.5)])])
    op.end("Mul", [op.add("Sign", [op.x]), up])


@writes("cbrt")
def cube_root(op: Operation) -> None:
    op.end("Mul", [op.add("Sign", [op.x]), op.add("Pow", [op.add("Abs", [op.x]), op.number(1 / 3)])])


@writes("_npi_isinf", "_npi_isfinite")
def infinite(op: Operation) -> None:
    if op.kind == "_npi_isinf":
        op.end("IsInf", [op.x])
    else:
        op.end("Not", [op.add("Or", [op.add("IsInf", [op.x]), op.add("IsNaN", [op.x])])])


@writes("_npi_where_lscalar", "_npi_where_rscalar", "_npi_where_scalar2")
def where_numbers(op: Operation) -> None:
    flag = op.x if op.x.dtype == "bool" else op.writer.cast(op.x, "bool")
    dtype = op.outputs[0].dtype
    if op.kind == "_npi_where_scalar2":
        pair = [op.writer.constant(op.real(name), dtype) for name in ("x", "y")]
        op.end("Where", [flag, *pair])
        return
    number = op.writer.constant(op.real("scalar"), dtype)
    op.end("Where", [flag, number, op.inputs[1]] if op.kind == "_npi_where_lscalar" else [flag, op.inputs[1], number])


@writes("_npi_full_like")
def full_like(op: Operation) -> None:
    value = op.writer.constant(op.real("fill_value"), op.outputs[0].dtype)
    op.end("Expand", [value, op.add("Shape", [op.x])])


@writes("_npi_std", "_npi_var")
def spread(op: Operation) -> None:
    if op.whole("ddof", 0):
        raise op.refuse("ddof")
    axes = op.sizes("axis", None)
    axes = list(range(op.rank())) if axes is None else [op.axis(axis) for axis in axes]
    keep = int(op.flag("keepdims"))
    apart = op.add("Sub", [op.x, op.add("ReduceMean", [op.x], axes=axes, keepdims=1)])
    made = op.add("ReduceMean", [op.add("Mul", [apart, apart])], axes=axes, keepdims=keep)
    op.end("Sqrt" if op.kind == "_npi_std" else "Identity", [made])


@writes("_np_moveaxis")
def moveaxis(op: Operation) -> None:
    rank = op.rank()
    sources, ends = ([op.axis(axis) for axis in op.sizes(name)] for name in ("source", "destination"))
    order = [axis for axis in range(rank) if axis not in sources]
    for end, source in sorted(zip(ends, sources)):
        order.insert(end, source)
    op.end("Transpose", [op.x], perm=order)


@writes("_npi_hstack", "_npi_vstack")
def stacked(op: Operation) -> None:
    rank = op.rank()
    if op.kind == "_npi_hstack":
        op.end("Concat", op.inputs, axis=0 if rank == 1 else 1)
    elif rank == 1:
        op.end("Concat", [op.add("Unsqueeze", [each, op.ints([0])]) for each in op.inputs], axis=0)
    else:
        op.end("Concat", op.inputs, axis=0)


@writes("_np_any", "_np_all")
def whether(op: Operation) -> None:
    """Whether any element, or each, is not 0."""
    axes = op.sizes("axis", None)
    axes = list(range(op.rank())) if axes is None else [op.axis(axis) for axis in axes]
    flags = op.writer.cast(op.writer.cast(op.x, "bool") if op.x.dtype != "bool" else op.x, "int32")
    kind = "ReduceMax" if op.kind == "_np_any" else "ReduceMin"
    op.end(
        "Cast", [op.add(kind, [flags], axes=axes, keepdims=int(op.flag("keepdims")))], to=NUMBERS[op.outputs[0].dtype]
    )


@writes("_np_roll")
def roll(op: Operation) -> None:
    shifts, axes, shape = op.sizes("shift", None), op.sizes("axis", None), op.shape()
    if shifts is None or axes is None or len(shifts) not in (1, len(axes)):
        raise op.refuse("all elements at once")
    x = op.x.name
    for number, axis in enumerate(op.axis(axis) for axis in axes):
        shift = shifts[number if len(shifts) > 1 else 0] % max(shape[axis], 1)
        places = np.roll(np.arange(shape[axis]), shift)
        x = op.add("Gather", [x, op.ints(places.tolist())], axis=axis)
    op.end("Identity", [x])


@writes("_contrib_BatchNormWithReLU")
def batch_norm_relu(op: Operation) -> None:
    output = op.outputs[0]
    op.outputs[0] = Value(op.writer.name("normalised"), output.shape, output.dtype)
    batch_norm(op)
    op.writer.add("Relu", [op.outputs[0]], outputs=[output.name])
    op.outputs[0] = output


@writes("SequenceLast")
def sequence_last(op: Operation) -> None:
    if not op.flag("use_sequence_length"):
        op.end("Gather", [op.x, op.writer.constant(-1, "int64")], axis=op.whole("axis", 0))
        return
    axis, shape = op.whole("axis", 0), op.shape()
    places = op.add("Sub", [op.writer.cast(op.inputs[1], "int64"), op.writer.constant(1, "int64")])
    first = op.x if axis == 1 else op.add("Transpose", [op.x], perm=[1, 0, *range(2, len(shape))])
    op.end("GatherND", [first, op.add("Unsqueeze", [places, op.ints([1])])], batch_dims=1)
