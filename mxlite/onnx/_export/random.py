"""Writes random numbers: other ones in each run, and in each library."""

from __future__ import annotations

from mxlite.onnx._export.nodes import Operation, writes
from mxlite.onnx._file import NUMBERS


def _drawn(op: Operation) -> dict[str, float]:
    if "uniform" in op.kind:
        return {"low": op.real("low", 0.0), "high": op.real("high", 1.0)}
    return {"mean": op.real("loc", 0.0), "scale": op.real("scale", 1.0)}


@writes("_random_uniform", "_random_normal")
def random(op: Operation) -> None:
    shape = op.outputs[0].shape
    if shape is None or min(shape, default=0) < 0:
        raise op.refuse("its shape must be known")
    kind = "RandomUniform" if "uniform" in op.kind else "RandomNormal"
    op.end(kind, [], shape=list(shape), dtype=NUMBERS[op.outputs[0].dtype], **_drawn(op))


@writes("_random_uniform_like", "_random_normal_like")
def random_like(op: Operation) -> None:
    kind = "RandomUniformLike" if "uniform" in op.kind else "RandomNormalLike"
    op.end(kind, [op.x], dtype=NUMBERS[op.outputs[0].dtype], **_drawn(op))


@writes("_sample_multinomial")
def multinomial(op: Operation) -> None:
    """Draws of classes by their probabilities; ONNX takes their logarithms, of a matrix."""
    if op.flag("get_prob"):
        raise op.refuse("get_prob")
    count, rank = 1, op.rank()
    for size in op.sizes("shape", ()) or ():
        count *= size
    chances = op.x.name if rank == 2 else op.add("Reshape", [op.x, op.ints([-1, op.x.shape[-1] if op.x.shape else -1])])
    made = op.add("Multinomial", [op.add("Log", [chances])], sample_size=count, dtype=NUMBERS["int32"])
    shape = op.outputs[0].shape
    if shape is None or min(shape, default=0) < 0:
        raise op.refuse("its shape must be known")
    made = op.add("Reshape", [made, op.ints(shape)])
    op.end("Cast", [made], to=NUMBERS[op.outputs[0].dtype])
