"""Functions of `mx.np.linalg` that are more than one operator; see `_composed.py`."""

from __future__ import annotations

import math
import operator as _operator
from typing import Any

import numpy as _numpy

from mxlite.error import MXNotImplementedError
from mxlite.numpy._composed import _is_number, _shape
from mxlite.numpy._elements import _common, _floating, _given, _new, _values

#: The functions of this module.
FUNCTIONS = frozenset(
    ("cond", "lstsq", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "tensorsolve")
)

#: Those that take what NumPy makes arrays of, too; without an array of the front they answer as NumPy.
OF_VALUES = FUNCTIONS - {"norm", "pinv", "tensorsolve"}


def norm(f: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - NumPy's
    """The norm of all elements, of vectors along an axis, or of matrices along two.

    Args:
        ord: which norm: a number, "fro", "nuc", inf, -inf; None: the root of the sum of squares.
    """
    axes = None if axis is None else _shape(axis)
    ord = "fro" if isinstance(ord, str) and ord == "f" else ord
    if not f.knows_shapes:
        return _of_symbols(f, x, ord, axes, keepdims)
    if ord is None:
        axes = tuple(range(x.ndim)) if axes is None else axes
        return f.sqrt(f.sum(f.square(x), axis=axes, keepdims=keepdims))
    axes = tuple(range(x.ndim)) if axes is None else axes
    if len(axes) == 1:
        return _of_vectors(f, x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: ord={ord!r} is of vectors or matrices, got axes {axes}")
    return _of_matrices(f, x, ord, tuple(each % x.ndim for each in axes), keepdims)


def _of_symbols(f: Any, x: Any, ord: Any, axes: Any, keepdims: bool) -> Any:  # noqa: A002
    """The operator that finds out by the shape which norm it is."""
    if isinstance(ord, str) and ord not in ("fro", "nuc"):
        raise ValueError(f"norm: ord is a number, 'fro' or 'nuc', got {ord!r}")
    if ord is None:
        flag = -2 if axes is None else 1
    else:
        flag = {"fro": 1, "nuc": 2}.get(ord, -1)
    order = ord if _is_number(ord) else 2
    return f("_npi_norm", x, ord=order, axis=axes, flag=flag, keepdims=keepdims)


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


def cond(f: Any, x: Any, p: Any = None) -> Any:
    """How much solutions may change where the matrices do: the norm `p` times that of the inverse.

    Args:
        p: as `ord` of norm(); None: 2, the largest singular value divided by the smallest.
    """
    x = _floating(_given(f, x))
    if x.ndim < 2:
        raise ValueError(f"cond: takes matrices, got {x.ndim} axes")
    if p in (None, 2, -2):
        values = _singular(f, x)[1]
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    axes = (-2, -1)
    return norm(f, x, p, axes) * norm(f, f("_npi_inv", x), p, axes)


def _singular(f: Any, a: Any) -> tuple[Any, Any, Any]:
    """Matrices as u * diag(s) * vt, with as many singular values as their shorter side, the largest first."""
    if a.shape[-2] <= a.shape[-1]:
        return tuple(f("_npi_svd", a))
    u, s, vt = f("_npi_svd", f.swapaxes(a, -2, -1))
    return f.swapaxes(vt, -2, -1), s, f.swapaxes(u, -2, -1)


def lstsq(f: Any, a: Any, b: Any, rcond: Any = "warn") -> tuple[Any, Any, Any, Any]:
    """The x for which the squares of a @ x - b are least; with their sums, the rank, and the singular values.

    Args:
        rcond: singular values below this part of the largest count as 0; "warn" and -1: the dtype's epsilon, None: it
            times the longer side.
    """
    a, b = _common(f, _floating(_given(f, a)), _floating(_given(f, b)))
    if a.ndim != 2 or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(f"lstsq: takes a matrix and as many rows or numbers, got shapes {a.shape} and {b.shape}")
    epsilon = float(_numpy.finfo(a.dtype).eps)
    rcond = epsilon * max(a.shape) if rcond is None else epsilon if rcond in ("warn", -1) else rcond
    u, s, vt = _singular(f, a)
    values = _values(s)
    rank = int((values > rcond * values.max(initial=0)).sum())
    columns = b if b.ndim == 2 else f.reshape(b, (-1, 1))
    x = f.dot(vt[:rank].T, f.dot(u[:, :rank].T, columns) / f.reshape(s[:rank], (-1, 1)))
    if rank == a.shape[1] < a.shape[0]:
        rest = f.dot(a, x) - columns
        residuals = f.sum(rest * rest, axis=0)
    else:
        residuals = f.zeros((0,), a.dtype)
    return x if b.ndim == 2 else f.reshape(x, (-1,)), residuals, rank, s


def matrix_power(f: Any, a: Any, n: int) -> Any:
    """Square matrices times themselves n times; below 0 the inverse."""
    n = _operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"matrix_power: takes square matrices, got shape {a.shape}")
    if not n:
        return f.broadcast_to(f.eye(a.shape[-1], dtype=a.dtype), a.shape)
    a, n, made = (f("_npi_inv", a) if n < 0 else a), abs(n), None
    while n:
        if n & 1:
            made = a if made is None else f.matmul(made, a)
        n >>= 1
        a = f.matmul(a, a) if n else a
    return made


def matrix_rank(f: Any, A: Any, tol: Any = None, hermitian: bool = False) -> Any:  # noqa: N803 - NumPy's name
    """How many singular values of matrices are above `tol`; None: what the dtype rounds."""
    found = _numpy.linalg.matrix_rank(_values(A), None if tol is None else _values(tol), hermitian)
    return _new(f, found)


def multi_dot(f: Any, arrays: Any, *, out: Any = None) -> Any:
    """The product of matrices, those that share the longest axis first; the first and last may be vectors."""
    arrays = _common(f, *(_given(f, each) for each in arrays))
    if len(arrays) < 2:
        raise ValueError(f"multi_dot: takes two arrays or more, got {len(arrays)}")
    is_row, is_column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    if is_row:
        arrays[0] = f.reshape(arrays[0], (1, -1))
    if is_column:
        arrays[-1] = f.reshape(arrays[-1], (-1, 1))
    if any(each.ndim != 2 for each in arrays):
        raise ValueError(f"multi_dot: takes matrices, got shapes {[each.shape for each in arrays]}")
    while len(arrays) > 2:
        k = max(range(1, len(arrays)), key=lambda k: arrays[k].shape[0])
        arrays[k - 1 : k + 1] = [f.dot(arrays[k - 1], arrays[k])]
    made = f.dot(*arrays)
    if is_row or is_column:
        made = f.reshape(made, made.shape[is_row : 2 - is_column])
    return made if out is None else f("_np_copy", made, out=out)


def qr(f: Any, a: Any, mode: str = "reduced") -> Any:
    """Matrices as a product of one with orthonormal columns and a triangular one, whose diagonal has NumPy's signs.

    Args:
        mode: "reduced": as many columns as the shorter side; "r": the triangular matrix alone.
    """
    if mode not in ("reduced", "r"):
        raise MXNotImplementedError(f"qr: mode={mode!r} is not supported; 'reduced' and 'r' are")
    a = _floating(_given(f, a))
    rows, columns = a.shape[-2:]
    q, r = f("_mxl_qr", a[..., :rows] if columns > rows else a)
    if columns > rows:
        r = f.concatenate([r, f.matmul(f.swapaxes(q, -2, -1), a[..., rows:])], axis=-1)
    return r if mode == "r" else (q, r)
