"""Writes reductions."""

from __future__ import annotations

from typing import Any

from mxlite.onnx._export.nodes import Operation, writes
from mxlite.onnx._file import NUMBERS


def _axes(op: Operation) -> list[int]:
    axes = op.sizes("axis", None)
    axes = range(op.rank()) if axes is None or axes == () and not op.kind.startswith("_n") else axes
    axes = [op.axis(axis) for axis in axes]
    return [axis for axis in range(op.rank()) if axis not in axes] if op.flag("exclude") else axes


def _end(op: Operation, kind: str, inputs: list[Any], axes: list[int], keep: int) -> None:
    """The reduction; one over all axes of an operator of `mx.nd` has one axis."""
    given: dict[str, Any] = {} if kind == "ReduceSum" else {"axes": axes}
    if op.outputs[0].shape == (1,) and len(axes) == op.rank() and not keep:
        op.end("Reshape", [op.add(kind, inputs, keepdims=0, **given), op.ints([1])])
    else:
        op.end(kind, inputs, keepdims=keep, **given)


_REDUCED = {
    "sum": "ReduceSum", "_np_sum": "ReduceSum", "mean": "ReduceMean", "_npi_mean": "ReduceMean", "max": "ReduceMax",
    "_np_max": "ReduceMax", "min": "ReduceMin", "_np_min": "ReduceMin", "prod": "ReduceProd", "_np_prod": "ReduceProd",
}  # fmt: skip


@writes(*_REDUCED)
def reduction(op: Operation) -> None:
    axes, keep = _axes(op), int(op.flag("keepdims"))
    kind = _REDUCED[op.kind]
    x: Any = op.x if op.x.dtype == op.outputs[0].dtype else op.writer.cast(op.x, op.outputs[0].dtype)
    _end(op, kind, [x, op.ints(axes)] if kind == "ReduceSum" else [x], axes, keep)


@writes("norm", "_npi_norm")
def norm(op: Operation) -> None:
    order = op.real("ord", 2)
    if order not in (1, 2):
        raise op.refuse(f"ord {order}")
    _end(op, "ReduceL1" if order == 1 else "ReduceL2", [op.x], _axes(op), int(op.flag("keepdims")))


@writes("argmax", "argmin", "_npi_argmax", "_npi_argmin", "_mxl_argmax", "_mxl_argmin", "argmax_channel")
def arg_max(op: Operation) -> None:
    axis = 1 if op.kind == "argmax_channel" else op.value("axis")
    kind = "ArgMax" if "max" in op.kind else "ArgMin"
    x: Any = op.x
    if axis is None:
        x, axis = op.add("Reshape", [x, op.ints([-1])]), 0
        made = op.add(kind, [x], axis=0, keepdims=0)
        made = op.add("Reshape", [made, op.ints([1] * len(op.outputs[0].shape or ()))]) if op.outputs[0].shape else made
    else:
        made = op.add(kind, [x], axis=op.axis(int(axis)), keepdims=int(op.flag("keepdims")))
    op.end("Cast", [made], to=NUMBERS[op.outputs[0].dtype])


@writes("_np_cumsum", "cumsum")
def cumsum(op: Operation) -> None:
    axis = op.value("axis")
    x: Any = op.x if op.x.dtype == op.outputs[0].dtype else op.writer.cast(op.x, op.outputs[0].dtype)
    if axis is None:
        x, axis = op.add("Reshape", [x, op.ints([-1])]), 0
    op.end("CumSum", [x, op.writer.constant(int(axis), "int64")])


@writes("softmax", "log_softmax", "softmin", "_npx_softmax")
def softmax(op: Operation) -> None:
    x: Any = op.x
    axis, heat = op.axis(op.whole("axis", -1)), op.value("temperature")
    if op.flag("use_length"):
        raise op.refuse("use_length")
    if op.kind == "softmin":
        x = op.add("Neg", [x])
    if heat not in (None, 1.0):
        x = op.add("Div", [x, op.number(float(heat))])
    made = op.add("LogSoftmax" if op.kind == "log_softmax" else "Softmax", [x], axis=axis)
    op.end("Cast" if op.outputs[0].dtype != op.x.dtype else "Identity", [made],
           **({"to": NUMBERS[op.outputs[0].dtype]} if op.outputs[0].dtype != op.x.dtype else {}))  # fmt: skip


@writes("SoftmaxOutput", "SoftmaxActivation")
def softmax_output(op: Operation) -> None:
    if op.flag("multi_output") or op.text("mode") == "channel":
        op.end("Softmax", [op.x], axis=1)
    elif op.kind == "SoftmaxActivation" or op.flag("preserve_shape") or op.rank() == 2:
        op.end("Softmax", [op.x], axis=-1)
    else:
        made = op.add("Softmax", [op.add("Flatten", [op.x], axis=1)], axis=-1)
        op.end("Reshape", [made, op.add("Shape", [op.x])])


@writes("LogisticRegressionOutput")
def logistic_output(op: Operation) -> None:
    op.end("Sigmoid", [op.x])


@writes("LinearRegressionOutput", "MAERegressionOutput")
def linear_output(op: Operation) -> None:
    op.end("Identity", [op.x])
