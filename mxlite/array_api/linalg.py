"""The standard's functions of linear algebra, but those with complex results (`eig`, `eigvals`)."""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
import builtins
import math
from typing import Any, NamedTuple

import numpy as np

from mxlite import numpy as mnp
from mxlite._public import show as _show
from mxlite.array_api._dtypes import array_given, matrices_given, new, operands, require_unrecorded
from mxlite.array_api._shapes import _axes, part
from mxlite.array_api._shapes import matrix_transpose as matrix_transpose
from mxlite.array_api._sums import _arrays, _summed
from mxlite.array_api._sums import matmul as matmul
from mxlite.array_api._sums import tensordot as tensordot
from mxlite.array_api._sums import vecdot as vecdot
from mxlite.error import MXValueError
from mxlite.numpy._functions import ARRAYS, ArrayBase
from mxlite.numpy._linalg import _singular
from mxlite.numpy.multiarray import ndarray


class EighResult(NamedTuple):
    """What eigh() gives."""

    eigenvalues: ndarray
    eigenvectors: ndarray


class QRResult(NamedTuple):
    """What qr() gives."""

    Q: ndarray
    R: ndarray


class SVDResult(NamedTuple):
    """What svd() gives."""

    U: ndarray
    S: ndarray
    Vh: ndarray


class SlogdetResult(NamedTuple):
    """What slogdet() gives."""

    sign: ndarray
    logabsdet: ndarray


def cholesky(x: ndarray, /, *, upper: builtins.bool = False) -> ndarray:
    """The lower triangular matrices whose product with their transposes is x; `upper`: the transposes."""
    made = mnp.linalg.cholesky(matrices_given("cholesky", x, True))
    return matrix_transpose(made) if upper else made


def cross(x1: ndarray, x2: ndarray, /, *, axis: int = -1) -> ndarray:
    """The cross products of vectors of three numbers along an axis."""
    x1, x2 = _arrays("cross", x1, x2)
    for each in (x1, x2):
        if not -each.ndim <= axis < each.ndim or each.shape[axis] != 3:
            raise MXValueError(f"cross: takes 3 numbers along axis {axis}, got shape {each.shape}")
    place = axis - builtins.max(x1.ndim, x2.ndim) if axis >= 0 else axis
    rows = [mnp.moveaxis(each, axis, -1) for each in (x1, x2)]
    (a, b, c), (d, e, f) = ([part(each, each.ndim - 1, k) for k in range(3)] for each in rows)
    parts = [b * f - c * e, c * d - a * f, a * e - b * d]
    return mnp.stack(parts, axis=place)


def det(x: ndarray, /) -> ndarray:
    """The determinants of square matrices."""
    return mnp.linalg.det(matrices_given("det", x, True))


def diagonal(x: ndarray, /, *, offset: int = 0) -> ndarray:
    """The diagonals of matrices, or those beside them."""
    return mnp.diagonal(matrices_given("diagonal", x, kinds="biuf"), offset, -2, -1)


def eigh(x: ndarray, /) -> EighResult:
    """The eigenvalues, ascending, and eigenvectors of symmetric matrices."""
    return EighResult(*mnp.linalg.eigh(matrices_given("eigh", x, True)))


def eigvalsh(x: ndarray, /) -> ndarray:
    """The eigenvalues of symmetric matrices, ascending."""
    return mnp.linalg.eigvalsh(matrices_given("eigvalsh", x, True))


def inv(x: ndarray, /) -> ndarray:
    """The inverses of square matrices. Raises: ValueError (and MXNetError): one has none."""
    return mnp.linalg.inv(matrices_given("inv", x, True))


def matrix_norm(x: ndarray, /, *, keepdims: builtins.bool = False, ord: Any = "fro") -> ndarray:  # noqa: A002
    """The norms of matrices.

    Args:
        ord: "fro" (and None): the root of the sum of squares; "nuc", 1, -1, 2, -2, inf, -inf.
    """
    order = "fro" if ord is None else ord
    return mnp.linalg.norm(matrices_given("matrix_norm", x), order, (-2, -1), keepdims)


def matrix_power(x: ndarray, n: int, /) -> ndarray:
    """Square matrices times themselves n times; below 0 the inverse."""
    return mnp.linalg.matrix_power(matrices_given("matrix_power", x, True), n)


def _tolerances(name: str, rtol: Any, largest: np.ndarray, x: ndarray) -> np.ndarray:
    """What singular values must be above, for each matrix; their largest ones are given."""
    part = float(np.finfo(x.dtype).eps) * builtins.max(x.shape[-2:]) if rtol is None else rtol
    return largest * (part.asnumpy() if isinstance(part, ArrayBase) else part)


def matrix_rank(x: ndarray, /, *, rtol: Any = None) -> ndarray:
    """How many singular values of matrices are above `rtol` times the largest; None: what the dtype rounds."""
    values = svdvals(matrices_given("matrix_rank", x)).asnumpy()
    tolerances = _tolerances("matrix_rank", rtol, values.max(-1, initial=0), x)
    return new((values > tolerances[..., None]).sum(-1, dtype=np.int64))


def outer(x1: ndarray, x2: ndarray, /) -> ndarray:
    """The product of each element of a vector with each of another."""
    x1, x2 = _arrays("outer", x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise MXValueError(f"outer: takes vectors, got {x1.ndim} and {x2.ndim} axes")
    return mnp.multiply(mnp.reshape(x1, (x1.shape[0], 1)), x2)


def pinv(x: ndarray, /, *, rtol: Any = None) -> ndarray:
    """The pseudo-inverses of matrices; singular values up to `rtol` times the largest count as 0."""
    u, s, vh = _singular(ARRAYS, matrices_given("pinv", x))
    values = s.asnumpy()
    is_used = new(values > _tolerances("pinv", rtol, values.max(-1, initial=0), x)[..., None])
    inverse = mnp.where(is_used, 1.0 / mnp.where(is_used, s, 1.0), 0.0)
    v = matrix_transpose(vh) * mnp.reshape(inverse, (*s.shape[:-1], 1, s.shape[-1]))
    return mnp.matmul(v, matrix_transpose(u))


def _completed(name: str, q: ndarray) -> ndarray:
    """Orthonormal columns, and those that make a square matrix of them, which are not recorded."""
    require_unrecorded(name)
    whole = ARRAYS("_mxl_qr", q, complete=True)[0]
    return mnp.concatenate([q, whole[..., q.shape[-1] :]], axis=-1)


def qr(x: ndarray, /, *, mode: str = "reduced") -> QRResult:
    """Matrices as a product of one with orthonormal columns and a triangular one.

    Args:
        mode: "reduced": as many columns as the shorter side; "complete": a square Q, while nothing is recorded.
    """
    if mode not in ("reduced", "complete"):
        raise MXValueError(f"qr: mode is 'reduced' or 'complete', got {mode!r}")
    q, r = mnp.linalg.qr(matrices_given("qr", x))
    missing = x.shape[-2] - q.shape[-1]
    if mode == "complete" and missing:
        q = _completed("qr of mode 'complete'", q)
        zeros = mnp.full((*x.shape[:-2], missing, x.shape[-1]), mnp.array(0, dtype=x.dtype))
        r = mnp.concatenate([r, zeros], axis=-2)
    return QRResult(q, r)


def slogdet(x: ndarray, /) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their magnitudes."""
    return SlogdetResult(*mnp.linalg.slogdet(matrices_given("slogdet", x, True)))


def solve(x1: ndarray, x2: ndarray, /) -> ndarray:
    """The X of x1 X = x2, for square matrices x1; x2 is a vector, or matrices."""
    x1, x2 = operands(
        "solve", "f", matrices_given("solve", x1, True, "iuf", "x1"), array_given("solve", x2, argument="x2")
    )
    is_vector = x2.ndim == 1
    x2 = mnp.reshape(x2, (-1, 1)) if is_vector else x2
    if x2.ndim < 2 or x2.shape[-2] != x1.shape[-1]:
        raise MXValueError(f"solve: shapes {x1.shape} and {x2.shape} do not match")
    batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    x1, x2 = (mnp.broadcast_to(each, (*batch, *each.shape[-2:])) for each in (x1, x2))
    made = mnp.linalg.solve(x1, x2)
    return mnp.reshape(made, made.shape[:-1]) if is_vector else made


def svd(x: ndarray, /, *, full_matrices: builtins.bool = True) -> SVDResult:
    """Matrices as U diag(S) Vh, the singular values descending.

    Args:
        full_matrices: U and Vh are square, while nothing is recorded; False: they have the shorter side of x.
    """
    u, s, vh = _singular(ARRAYS, matrices_given("svd", x))
    if full_matrices and x.shape[-2] > x.shape[-1]:
        u = _completed("svd of full_matrices=True", u)
    if full_matrices and x.shape[-2] < x.shape[-1]:
        vh = matrix_transpose(_completed("svd of full_matrices=True", matrix_transpose(vh)))
    return SVDResult(u, s, vh)


def svdvals(x: ndarray, /) -> ndarray:
    """The singular values of matrices, descending."""
    return _singular(ARRAYS, matrices_given("svdvals", x))[1]


def trace(x: ndarray, /, *, offset: int = 0, dtype: Any = None) -> ndarray:
    """The sums of the diagonals of matrices; integers are added in int64."""
    return mnp.sum(_summed("trace", diagonal(x, offset=offset), dtype), axis=-1)


def vector_norm(
    x: ndarray,
    /,
    *,
    axis: Any = None,
    keepdims: builtins.bool = False,
    ord: float = 2,  # noqa: A002
) -> ndarray:
    """The norms of vectors along axes; None: of all elements.

    Args:
        ord: a number, inf or -inf; 0 counts what is not 0.
    """
    array_given("vector_norm", x, "f")
    axes = tuple(range(x.ndim)) if axis is None else _axes("vector_norm", axis, x.ndim)
    rest = tuple(each for each in range(x.ndim) if each not in axes)
    size = math.prod(x.shape[each] for each in axes)
    moved = mnp.transpose(x, (*rest, *axes)) if x.ndim else x
    made = mnp.linalg.norm(mnp.reshape(moved, (*(x.shape[each] for each in rest), size)), ord, -1)
    shape = tuple(1 if each in axes else n for each, n in enumerate(x.shape))
    return mnp.reshape(made, shape) if keepdims else made


__all__ = """
    cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer
    pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()
_show(globals())
