"""Matrices as products: eigh, svd, qr, lu, pinv, triangular systems; their norms, ranks and exponentials."""

from __future__ import annotations

import math
from functools import wraps
from typing import Any, Callable

from mxlite.torch._basic import of_all, zeros_of
from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import both, direct, function, prepare, run, run_many
from mxlite.torch._convert import cast, require_same_dtype
from mxlite.torch._dtypes import BOOL, as_dtype, finfo, float32, float64, int32, int64
from mxlite.torch._errors import none_of, warn_of_old
from mxlite.torch._kinds import check_dims
from mxlite.torch._make.creation import eye
from mxlite.torch._math.linalg import LINALG, _norm, _require_square, cholesky, inv, solve, tril, triu
from mxlite.torch._math.matrix import matmul
from mxlite.torch._math.norms import NORM, vector_norm
from mxlite.torch._math.order import pair
from mxlite.torch._math.pairs import constant
from mxlite.torch._math.products import cross_along, multi_dot, vander_of, vecdot
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import cat
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of


def require_matrices(name: str, *given: Tensor) -> None:
    """Raises: RuntimeError, NotImplementedError: no matrices, or of a dtype that linear algebra has not."""
    for each in given:
        if each.ndim < 2 or not (each._dtype.is_floating_point or name == "lu"):
            raise RuntimeError(f"linalg.{name}: takes matrices of floats, got {each.ndim} dimensions of {each.dtype}")
        if each._dtype not in (float32, float64):
            raise none_of(f"linalg.{name}", each._dtype)


def _public(name: str, *fields: str, calls: dict[str, Any] | None = None) -> Callable:
    """Decorates a function of torch.linalg; `fields`: of its results; `calls`: as of `both`."""

    def decorate(made: Callable) -> Callable:
        results = pair(f"linalg_{name}", *fields) if fields else None

        def function(*args: Any, **named: Any) -> Any:
            return made(*args, **named) if results is None else results(*made(*args, **named))

        function.__name__, function.__doc__ = name, made.__doc__
        function.__wrapped__ = made  # type: ignore[attr-defined]
        LINALG[name] = function if calls is None else direct(function, calls)
        return function

    return decorate


# ---- spectra ----


@_public("eigh", "eigenvalues", "eigenvectors")
def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, of which one triangle is read, and eigenvectors as columns."""
    _require_square("linalg.eigh", A)
    return run_many(prepare("LinalgEighBackward0", "_npi_eigh", UPLO=UPLO.upper()), [A], kinds=[A._dtype] * 2)


_public("eigvalsh")(lambda A, UPLO="L": eigh(A, UPLO)[0])


def _filling(q: Tensor) -> Tensor:
    """The columns that make a basis of orthonormal ones."""
    whole = run_many(prepare(None, "_mxl_qr", complete="1"), [q.detach()], kinds=[q._dtype] * 2)[0]
    return whole[..., q.shape[-1] :]


@_public("svd", "U", "S", "Vh")
def svd(A: Tensor, full_matrices: bool = True) -> Any:
    """A = U diag(S) Vh, with orthonormal columns of U and rows of Vh; `full_matrices`: with as many as fill them."""
    require_matrices("svd", A)
    rows, columns = A.shape[-2:]
    call = prepare("LinalgSvdBackward0", "_npi_svd")
    first, values, second = run_many(call, [A if rows <= columns else A.mT], kinds=[A._dtype] * 3)
    u, vh = (first, second) if rows <= columns else (second.mT, first.mT)
    if full_matrices and rows != columns:
        u = cat([u, _filling(u)], -1) if rows > columns else u
        vh = cat([vh, _filling(vh.mT).mT], -2) if columns > rows else vh
    return u, values, vh


svdvals = _public("svdvals")(lambda A: svd(A, False)[1])


@_public("qr", "Q", "R")
def qr(A: Tensor, mode: str = "reduced") -> Any:
    """A = Q R, with orthonormal columns of Q and R triangular ("complete": Q is square; "r": without Q)."""
    require_matrices("qr", A)
    rows, columns = A.shape[-2:]
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"linalg.qr: mode is 'reduced', 'complete' or 'r', got {mode!r}")

    def compute(x: Tensor) -> tuple:
        call = prepare(None, "_mxl_qr", complete=mode == "complete" and rows > columns)
        q, r = run_many(call, [x[..., :rows]], kinds=[x._dtype] * 2)
        return q, cat([r, matmul(q.mT, x[..., rows:])], -1) if columns > rows else r

    if mode == "r" or (mode == "complete" and rows > columns):
        q, r = (constant("linalg.qr", [A], each) for each in compute(A.detach()))
        return (zeros_of((0,), A._dtype) if mode == "r" else q), r
    q, r = formula("LinalgQrBackward0", [A], compute)
    return q, r


# ---- elimination ----


def _ordered(rows: Tensor, pivots: Tensor) -> Tensor:
    """The permutation that puts rows back that pivots have exchanged."""
    order = run(prepare(None, "_mxl_pivot_order", rows=rows.shape[-2]), [pivots], kind=int64)
    return eye(rows.shape[-2], dtype=rows._dtype)[order].mT


def _triangles(whole: Tensor) -> tuple[Tensor, Tensor]:
    least = min(whole.shape[-2:])
    return tril(whole[..., :least], -1) + eye(whole.shape[-2], least, dtype=whole._dtype), triu(whole[..., :least, :])


def _lu_rule(grad: Tensor, whole: Tensor, permutation: Tensor) -> list:
    """Of P A = [L1; L2] [U1, U2]: of the square part both triangles, of what is beside it one."""
    least = min(whole.shape[-2:])
    (lower, upper), to_upper = _triangles(whole), grad[..., :least, :]
    l1, u1 = lower[..., :least, :], upper[..., :least]
    right, below = to_upper[..., least:], grad[..., least:, :least]
    inner = tril(matmul(l1.mT, tril(to_upper[..., :least], -1)) - matmul(right, upper[..., least:].mT), -1)
    outer = triu(matmul(triu(to_upper[..., :least]), u1.mT) - matmul(lower[..., least:, :].mT, below))
    solve_left = lambda x: solve_triangular(l1.mT, x, upper=True, unitriangular=True)  # noqa: E731
    made = solve_triangular(u1.mT, cat([solve_left(inner + outer), below], -2), upper=False, left=False)
    if whole.shape[-1] > least:
        made = cat([made, solve_left(right)], -1)
    return [matmul(permutation, made)]


@_public("lu_factor", "LU", "pivots")
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangles of lu in one matrix, and with which row each was exchanged, from 1 on."""
    require_matrices("lu", A)
    if not pivot:
        raise RuntimeError("linalg.lu: rows are exchanged, pivot is True")
    whole, pivots = run_many(prepare(None, "_mxl_lu"), [A.detach()], kinds=[A._dtype, int32])
    constants = [_ordered(A, pivots)]
    made = formula("LinalgLuFactorExBackward0", [A], lambda *_: whole, _lu_rule, saves="r", constants=constants)
    return made, pivots


@_public("lu", "P", "L", "U")
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A = P L U: a permutation, and a lower and an upper triangle."""
    whole, pivots = lu_factor(A, pivot=pivot)
    return _ordered(A, pivots), *_triangles(whole)


@function()
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U of lu_factor's results."""
    return pair("lu_unpack", "P", "L", "U")(_ordered(LU_data, LU_pivots), *_triangles(LU_data))


@_public("solve_triangular")
def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """The X with A X = B (`left` False: X A = B), of triangular A."""
    require_matrices("solve_triangular", A, B)
    _require_square("linalg.solve_triangular", A)
    if A._dtype is not B._dtype or A.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(f"linalg.solve_triangular: shapes {list(A.shape)} and {list(B.shape)} do not fit")
    call = prepare(None, "_linalg_trsm", rightside=str(not left), lower=str(not upper))

    def compute(a: Tensor, b: Tensor) -> Tensor:
        a = triu(a, int(unitriangular)) if upper else tril(a, -int(unitriangular))
        a = a + eye(a.shape[-1], dtype=a._dtype) if unitriangular else a
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return run(call, [a.expand(batch + a.shape[-2:]), b.expand(batch + b.shape[-2:])], kind=b._dtype)

    return formula("LinalgSolveTriangularBackward0", [A, B], compute)


@_public("lu_solve")
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The X with A X = B (`left` False: X A = B; `adjoint`: of A transposed), of lu_factor's results."""
    permutation, lower, upper = lu_unpack(LU, pivots)
    whole = matmul(permutation, matmul(lower, upper))
    whole = whole.mT if adjoint else whole
    return solve(whole, B) if left else solve(whole.mT, B.mT).mT


def _extended(name: str, made: Callable, *fields: str) -> None:
    """`name`_ex: with 0, or another number for a matrix that has no such result."""

    @_public(f"{name}_ex", *fields, "info")
    def extended(A: Tensor, *args: Any, check_errors: bool = False, **named: Any) -> Any:
        require_matrices(name, A)
        try:
            found, failed = made(A, *args, **named), 0
        except RuntimeError:
            if check_errors or A.shape[-1] != A.shape[-2]:
                raise
            found, failed = (args or (A,))[-1] * math.nan, 1
        found = found if isinstance(found, tuple) else (found,)
        return (*found, full_of(tuple(A.shape[:-2]), failed, int32))


_extended("inv", inv, "inverse")
_extended("cholesky", cholesky, "L")
_extended("solve", solve, "result")
_extended("lu_factor", lu_factor, "LU", "pivots")


# ---- inverses of any matrices ----


def _tolerance(A: Tensor, atol: Any, rtol: Any) -> Any:
    """The least singular value that counts, as a part of the largest, and by itself."""
    least = max(A.shape[-2:]) * finfo(A._dtype).eps if rtol is None and not atol else rtol or 0.0
    return (float(each or 0) for each in (least, atol))


def _counting(values: Tensor, part: float, least: float) -> Tensor:
    """Which singular values are above a part of the largest, and a number."""
    return values > (values[..., :1] * part).clamp_min(least)


@_public("pinv")
def pinv(A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False, rcond: Any = None) -> Tensor:
    """Moore and Penrose's inverse; singular values up to max(atol, rtol * the largest) are 0."""
    require_matrices("pinv", A)
    part, least = _tolerance(A, atol, rcond if rtol is None else rtol)

    def compute(x: Tensor) -> Tensor:
        u, values, vh = svd(x, False)
        counts = _counting(values, part, least)
        by = choose(counts, 1 / choose(counts, values, full_of((), 1, x._dtype)), full_of((), 0, x._dtype))
        return matmul(vh.mT, by.unsqueeze(-1) * u.mT)

    def rule(grad: Tensor, x: Tensor, found: Tensor) -> list:
        back, gap = grad.mT, lambda a, b: eye(a.shape[-2], dtype=a._dtype) - matmul(a, b)
        first = matmul(gap(x, found), matmul(back, matmul(found, found.mT)))
        last = matmul(matmul(found.mT, found), matmul(back, gap(found, x)))
        return [first + last - matmul(found.mT, matmul(grad, found.mT))]

    return formula("LinalgPinvBackward0", [A], compute, rule, saves="0r")


@_public("matrix_rank")
def matrix_rank(A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False, tol: Any = None) -> Tensor:
    """How many singular values are above max(atol, rtol * the largest)."""
    require_matrices("matrix_rank", A)
    return _counting(svd(A.detach(), False)[1], *_tolerance(A, tol if atol is None else atol, rtol)).sum(-1)


@_public("lstsq", "solution", "residuals", "rank", "singular_values")
def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: str | None = None) -> Any:
    """The X of least |A X - B|, the squares of that, and the rank of A."""
    require_matrices("lstsq", A)
    found = matmul(pinv(A, rcond=rcond), B)
    rank, none = matrix_rank(A, rtol=rcond), zeros_of((0,), A._dtype)
    is_full = A.shape[-2] > A.shape[-1] and driver not in (None, "gelsy") and bool((rank == A.shape[-1]).all())
    residuals = ((matmul(A, found) - B) ** 2).sum(-2) if is_full else none
    return found, residuals, rank, svdvals(A).detach() if driver in ("gelsd", "gelss") else none


# ---- functions of matrices ----


@_public("matrix_exp")
def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    _require_square("linalg.matrix_exp", A)
    size = of_all(A.detach().abs().sum(-1)).max().item() if A.numel() else 0
    times = max(0, math.ceil(math.log2(size / 0.5))) if 0 < size < math.inf else 0

    def compute(x: Tensor) -> Tensor:
        x, one = x / 2.0**times, eye(x.shape[-1], dtype=x._dtype)
        made = one + x / 16
        for k in range(15, 0, -1):
            made = one + matmul(x, made) / k
        for _ in range(times):
            made = matmul(made, made)
        return made

    return formula("LinalgMatrixExpBackward0", [A], compute)


@_public("matrix_norm")
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices along two dimensions: "fro", "nuc", 1, -1, 2, -2, inf, -inf."""
    x = A if dtype is None else cast(A, as_dtype(dtype))
    if x.ndim < 2 or not x._dtype.is_floating_point or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: takes two dimensions of a floating dtype, got {x.dtype} and {dim}")
    rows, columns = check_dims(dim, x.ndim)
    if ord == "fro":
        return vector_norm(x, 2, (rows, columns), keepdim)
    if ord in (1, -1, math.inf, -math.inf):
        along, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = x.abs().sum(along, True)
        made = sums.amax(other, True) if ord > 0 else sums.amin(other, True)
    elif ord in ("nuc", 2, -2):
        values = svd(x.movedim((rows, columns), (-2, -1)), False)[1]
        made = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        for place in sorted((rows, columns)):
            made = made.unsqueeze(place)
    else:
        raise RuntimeError(f"linalg.matrix_norm: there is no order {ord!r}")
    return made if keepdim else made.squeeze((rows, columns))


@_public("norm", calls=NORM)
def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of vectors along a dimension, of matrices along two, or (`ord` None) of all elements."""
    is_matrix = len(dim) == 2 if isinstance(dim, (tuple, list)) else dim is None and A.ndim == 2
    if ord is None or (not is_matrix and ord != "nuc" and (dim is not None or A.ndim == 1)):
        return _norm(A, ord, dim, keepdim, dtype=dtype)
    return matrix_norm(A, ord, dim or (-2, -1), keepdim, dtype=dtype)


@_public("cond")
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition of matrices in a norm: that of the matrix times that of its inverse."""
    require_matrices("cond", A)
    if p in (None, 2, -2):
        values = svd(A, False)[1]
        most, least = values[..., 0], values[..., -1]
        return least / most if p == -2 else most / least
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


@_public("tensorinv")
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of a tensor as a matrix from its last dimensions to its first `ind`."""
    shape, count = tuple(A.shape), math.prod(A.shape[:ind])
    if ind < 1 or count * count != A.numel():
        raise RuntimeError(f"linalg.tensorinv: shape {list(shape)} is no square matrix at {ind}")
    return inv(A.reshape(count, count)).reshape(shape[ind:] + shape[:ind])


@_public("tensorsolve")
def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The X with tensordot(A, X, X.ndim) = B; `dims`: of A, to be the last ones first."""
    A = A if dims is None else A.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    shape = tuple(A.shape[B.ndim :])
    if math.prod(shape) != B.numel() or A.numel() != B.numel() ** 2:
        raise RuntimeError(f"linalg.tensorsolve: shapes {list(A.shape)} and {list(B.shape)} are no square system")
    return solve(A.reshape(B.numel(), -1), B.reshape(-1)).reshape(shape)


@_public("householder_product")
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The product of reflections, whose vectors are columns below the diagonal."""
    require_matrices("householder_product", A)
    require_same_dtype("linalg.householder_product", A, tau)
    rows, columns = A.shape[-2:]
    made = eye(rows, columns, dtype=A._dtype).expand(A.shape)
    vectors = tril(A, -1) + eye(rows, columns, dtype=A._dtype)
    for k in range(tau.shape[-1] - 1, -1, -1):
        column = vectors[..., k : k + 1]
        made = made - tau[..., k, None, None] * matmul(column, matmul(column.mT, made))
    return made


def _squared(triangle: Tensor, upper: bool) -> Tensor:
    triangle = triu(triangle) if upper else tril(triangle)
    return matmul(triangle.mT, triangle) if upper else matmul(triangle, triangle.mT)


@_public("vander")
def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers of each element of the last dimension, from 0 to before N, as a new last one."""
    if x._dtype.kind == BOOL:
        raise RuntimeError("linalg.vander: takes no truth values")
    return vander_of(x, N=N)


def _of_old(name: str, made: Callable) -> Callable:
    """The function, warning that linalg has another of that name."""

    @wraps(made)
    def old(*args: Any, **named: Any) -> Any:
        warn_of_old(name, f"linalg.{name}")
        return made(*args, **named)

    return old


LINALG.update(cross=cross_along, vecdot=vecdot, multi_dot=multi_dot, LinAlgError=RuntimeError)
both("matrix_exp")(matrix_exp)
both("orgqr")(householder_product)
for _name, _document, _made in (
    ("pinverse", "As linalg.pinv.", lambda input, rcond=1e-15: pinv(input, rcond=rcond)),
    ("cholesky", "As linalg.cholesky.", lambda input, upper=False: cholesky(input, upper=upper)),
    ("cholesky_solve", "The X with A X = input, of the triangle of A.",
     lambda input, input2, upper=False: solve(_squared(input2, upper), input)),
    ("cholesky_inverse", "The inverse of the matrix that has a triangle.",
     lambda input, upper=False: inv(_squared(input, upper))),
    ("qr", "As linalg.qr.", lambda input, some=True: qr(input, "reduced" if some else "complete")),
    ("lu_solve", "As linalg.lu_solve.", lambda b, LU_data, LU_pivots: lu_solve(LU_data, LU_pivots, b)),
):  # fmt: skip
    both(_name, document=_document)(_of_old(_name, _made) if _name in ("cholesky", "qr") else _made)


function("nuclear_norm", document="The sum of the singular values of matrices along two dimensions.")(
    lambda input, dim=(-2, -1), keepdim=False: matrix_norm(input, "nuc", dim, keepdim)
)
function("frobenius_norm", document="The root of the sum of squares along dimensions.")(
    lambda input, dim=(), keepdim=False: vector_norm(input, 2, dim, keepdim)
)


@both("svd")
def _svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """As linalg.svd, with V for its transposed."""
    u, values, vh = svd(input, not some)
    return pair("svd", "U", "S", "V")(u, values, vh.mT)


@both()
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The X with A X = b, of triangular A, and A."""
    given = {"upper": upper is not transpose, "unitriangular": unitriangular}
    made = solve_triangular(A.mT if transpose else A, b, **given)
    return pair("triangular_solve", "solution", "cloned_coefficient")(made, A.clone())
