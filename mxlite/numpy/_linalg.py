"""Functions of `mx.np.linalg` that are more than one operator; see `_composed.py`."""

from __future__ import annotations

import math
from typing import Any

from mxlite.error import MXNotImplementedError
from mxlite.numpy._composed import _is_number, _shape

#: The functions of this module.
FUNCTIONS = frozenset(("norm", "pinv", "tensorsolve"))


def norm(f: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - NumPy's
    """The norm of all elements, of vectors along an axis, or of matrices along two.

    Args:
        ord: which norm: a number, "fro", "nuc", inf, -inf; None: the root of the sum of squares.
    """
    axes = None if axis is None else _shape(axis)
    ord = "fro" if isinstance(ord, str) and ord == "f" else ord
    if ord is None:
        axes = tuple(range(x.ndim)) if axes is None else axes
        return f.sqrt(f.sum(f.square(x), axis=axes, keepdims=keepdims))
    axes = tuple(range(x.ndim)) if axes is None else axes
    if len(axes) == 1:
        return _of_vectors(f, x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: ord={ord!r} is of vectors or matrices, got axes {axes}")
    return _of_matrices(f, x, ord, tuple(each % x.ndim for each in axes), keepdims)


def _of_vectors(f: Any, x: Any, ord: Any, axis: tuple, keepdims: bool) -> Any:  # noqa: A002
    given = {"axis": axis, "keepdims": keepdims}
    if ord == "fro":
        ord = 2
    if not _is_number(ord):
        raise ValueError(f"norm: vectors have no norm {ord!r}")
    size = f.abs(x)
    if ord in (math.inf, -math.inf):
        return f.max(size, **given) if ord > 0 else f.min(size, **given)
    if ord == 0:
        return f.sum(f.not_equal(x, 0).astype(x.dtype), **given)
    if ord == 1:
        return f.sum(size, **given)
    if ord == 2:
        return f.sqrt(f.sum(f.square(x), **given))
    return f.power(f.sum(f.power(size, ord), **given), 1.0 / ord)


def _of_matrices(f: Any, x: Any, ord: Any, axes: tuple, keepdims: bool) -> Any:  # noqa: A002
    rows, columns = axes
    if ord == "fro":
        return f.sqrt(f.sum(f.square(x), axis=axes, keepdims=keepdims))
    if ord in (1, -1, math.inf, -math.inf):
        along, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = f.sum(f.abs(x), axis=along, keepdims=True)
        made = (f.max if ord > 0 else f.min)(sums, axis=axes, keepdims=True)
        return made if keepdims else f.squeeze(made, axis=axes)
    if ord in (2, -2, "nuc"):
        values = f("_npi_svd", f.moveaxis(x, axes, (-2, -1)))[1]
        made = {2: f.max, -2: f.min, "nuc": f.sum}[ord](values, axis=-1)
        for axis in sorted(axes) if keepdims else ():
            made = f.expand_dims(made, axis)
        return made
    raise ValueError(f"norm: matrices have no norm {ord!r}")


def pinv(f: Any, a: Any, rcond: Any = 1e-15, hermitian: bool = False) -> Any:
    """The pseudo-inverse of matrices; singular values below `rcond` times the largest count as 0."""
    if hermitian:
        raise MXNotImplementedError("pinv: hermitian=True is not supported")
    if _is_number(rcond):
        return f("_npi_pinv_scalar_rcond", a, rcond=rcond, hermitian=False)
    return f("_npi_pinv", a, rcond, hermitian=False)


def tensorsolve(f: Any, a: Any, b: Any, axes: Any = None) -> Any:
    """The x for which tensordot(a, x, x.ndim) is b."""
    return f("_npi_tensorsolve", a, b, a_axes=() if axes is None else _shape(axes))
