"""Triangles and diagonals of matrices: tril, triu, diagonal, diag, trace."""

from __future__ import annotations

import numpy as np

from mxlite.torch._basic import from_values, full_of
from mxlite.torch._calls import both, prepare, run
from mxlite.torch._convert import clone
from mxlite.torch._kinds import check_dim
from mxlite.torch._math.matrix import require_numbers
from mxlite.torch._nodes import formula
from mxlite.torch._shape.slices import narrow
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor

_diagonal = prepare("DiagonalBackward0", "diag", "k", "axis1", "axis2")
_diag = prepare("DiagEmbedBackward0", "diag", "k")


def _triangle(name: str, label: str, lower: bool) -> None:
    @both(name, document="The matrix with zeros on the other side of a diagonal.")
    def triangle(input: Tensor, diagonal: int = 0) -> Tensor:
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        below = np.subtract.outer(*map(np.arange, input.shape[-2:]))
        kept = from_values(below >= -diagonal if lower else below <= -diagonal)

        def compute(x: Tensor, kept: Tensor) -> Tensor:
            return choose(kept, x, full_of((), 0, x._dtype))

        return formula(label, [input], compute, saves="", constants=[kept])


_triangle("tril", "TrilBackward0", True)
_triangle("triu", "TriuBackward0", False)


@both()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of a diagonal of two dimensions, which becomes the last one."""
    places = check_dim(dim1, input.ndim), check_dim(dim2, input.ndim)
    if places[0] == places[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if not -input.shape[places[0]] < offset < input.shape[places[1]]:
        input, offset = narrow(input, places[0], 0, 0), 0
    return run(_diagonal, [input], offset, *places, kind=input._dtype)


@both()
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or a matrix with a vector on its diagonal."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")
    if input.ndim == 2 and not -input.shape[0] < diagonal < input.shape[1]:
        return clone(input[:0, :0].reshape(0))
    label = "DiagEmbedBackward0" if input.ndim == 1 else "DiagonalBackward0_copy"
    return formula(label, [input], lambda x: clone(run(_diag, [x], diagonal, kind=x._dtype)), saves="")


@both()
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError("trace: expected a matrix")
    require_numbers("trace", input)
    return formula("TraceBackward0", [input], lambda x: run(_diag, [x], 0, kind=x._dtype).sum(), saves="")
