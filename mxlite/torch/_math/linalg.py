"""Triangles, diagonals and functions of a matrix: inverse, determinants, powers. LINALG is what `torch.linalg` has."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.torch._basic import full_of
from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import both, direct, prepare, run, run_many, values, with_aliases
from mxlite.torch._convert import clone
from mxlite.torch._dtypes import BOOL, bool_, from_kind
from mxlite.torch._kinds import check_dim
from mxlite.torch._make.creation import eye
from mxlite.torch._math.matrix import matmul, require_numbers
from mxlite.torch._math.norms import NORM, vector_norm
from mxlite.torch._math.order import pair
from mxlite.torch._nodes import formula
from mxlite.torch._shape.slices import narrow
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor

_diagonal = prepare("DiagonalBackward0", "diag", "k", "axis1", "axis2")
_tril = prepare("TrilBackward0", "_npi_tril", "k")
_diag = prepare("DiagEmbedBackward0", "diag", "k")


def _diagonal_of(name: str, input: Tensor, diagonal: int) -> int:
    """The number of a diagonal, or of the nearest one that has no elements.

    Raises: RuntimeError: the tensor has no matrices.
    """
    if input.ndim < 2:
        raise RuntimeError(f"{name}: the tensor has {input.ndim} dimensions, not 2 or more")
    reach = sum(input.shape[-2:])
    return min(max(diagonal, -reach), reach)


_TRIL = {"one": _tril, "num_inputs": 1, "values": values(diagonal=0), "least": 2, "unbatched": True, "again": True}


@both(calls={**_TRIL, **from_kind(BOOL)})
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with zeros above a diagonal."""
    place = _diagonal_of("tril", input, diagonal)
    if levels_open[0]:
        return _where_below("TrilBackward0", input, place, lambda below, x, zero: choose(below, x, zero))
    return run(_tril, [input], place, kind=input._dtype)


@both()
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """The matrix with zeros below a diagonal."""
    place = _diagonal_of("triu", input, diagonal) - 1
    return _where_below("TriuBackward0", input, place, lambda below, x, zero: choose(below, zero, x))


def _where_below(label: str, input: Tensor, place: int, chosen: Callable) -> Tensor:
    """`chosen`: of where a matrix is on a diagonal or below it, of the matrix, and of 0."""
    below = run(_tril, [full_of(tuple(input.shape[-2:]), True, bool_)], place, kind=bool_)

    def compute(x: Tensor, below: Tensor) -> Tensor:
        return chosen(below, x, full_of((), 0, x._dtype))

    return formula(label, [input], compute, saves="", constants=[below])


@both(calls={"one": prepare("DiagonalBackward0", "diag", k=0, axis1=0, axis2=1), "least": 2, **from_kind(BOOL)})
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of a diagonal of two dimensions, which becomes the last one."""
    places = check_dim(dim1, input.ndim), check_dim(dim2, input.ndim)
    if places[0] == places[1]:
        raise RuntimeError(f"diagonal: dim1 and dim2 are two dimensions, got {dim1} and {dim2}")
    if not -input.shape[places[0]] < offset < input.shape[places[1]]:
        input, offset = narrow(input, places[0], 0, 0), 0
    return run(_diagonal, [input], offset, *places, kind=input._dtype)


@both()
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or a matrix with a vector on its diagonal."""
    if input.ndim not in (1, 2):
        raise RuntimeError(f"diag: takes a vector or a matrix, got {input.ndim} dimensions")
    if input.ndim == 2 and not -input.shape[0] < diagonal < input.shape[1]:
        return clone(input[:0, :0].reshape(0))
    label = "DiagEmbedBackward0" if input.ndim == 1 else "DiagonalBackward0_copy"
    return formula(label, [input], lambda x: clone(run(_diag, [x], diagonal, kind=x._dtype)), saves="")


@both()
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: takes a matrix, got {input.ndim} dimensions")
    require_numbers("trace", input)
    return formula("TraceBackward0", [input], lambda x: run(_diag, [x], 0, kind=x._dtype).sum(), saves="")


def _require_square(name: str, A: Tensor) -> None:
    if A.ndim < 2:
        raise RuntimeError(f"{name}: takes matrices, one or a batch, got {A.ndim} dimensions")
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: the matrices are not square: {rows} x {columns}")
    if not A._dtype.is_floating_point:
        raise RuntimeError(f"{name}: the dtype is of floating point, not {A._dtype.word}")
    if A._dtype.name == "float16":
        raise RuntimeError(f"{name}: there is none of dtype Half")


@both("inverse")
def inv(A: Tensor) -> Tensor:
    """The inverse of a matrix, or of each."""
    _require_square("linalg.inv", A)
    return run(prepare("LinalgInvExBackward0", "_linalg_inverse"), [A], kind=A._dtype)


@both()
def det(A: Tensor) -> Tensor:
    """The determinant of a matrix, or of each."""
    _require_square("linalg.det", A)
    return run(prepare("LinalgDetBackward0", "_linalg_det"), [A], kind=A._dtype)


_Slogdet = pair("linalg_slogdet", "sign", "logabsdet")


@both()
def slogdet(A: Tensor) -> tuple:
    """Sign and logarithm of the size of the determinant, whose gradient is infinite where the matrix is singular."""
    _require_square("linalg.slogdet", A)
    return _Slogdet(*run_many(prepare("LinalgSlogdetBackward0", "_mxl_slogdet"), [A], kinds=[A._dtype] * 2))


@both("logdet")
def logdet(A: Tensor) -> Tensor:
    """The logarithm of the determinant."""
    _require_square("logdet", A)
    return det(A).log()


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The triangular L with L L' = A."""
    made = run(prepare("LinalgCholeskyExBackward0", "_linalg_potrf"), [A], kind=A._dtype)
    return made.mT if upper else made


_solve = prepare("LinalgSolveExBackward0", "_mxl_solve")


def solve(A: Tensor, B: Tensor) -> Tensor:
    """The X with A X = B."""

    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if not vector and A.shape[:-1] == B.shape[:-1]:
        return run(_solve, [A, B], kind=A._dtype)

    def compute(a: Tensor, b: Tensor) -> Tensor:
        b = b.unsqueeze(-1) if vector else b
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        x = run(_solve, [a.expand(batch + a.shape[-2:]), b.expand(batch + b.shape[-2:])], kind=a._dtype)
        return x.squeeze(-1) if vector else x

    return formula("LinalgSolveExBackward0", [A, B], compute)


def _norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    if ord in (None, "fro"):
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if A.ndim != 1 and not isinstance(dim, int):
        raise NotImplementedError(f"mxlite.torch: linalg.norm has no ord {ord!r} of matrices")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


@both()
def matrix_power(input: Tensor, n: int) -> Tensor:
    """The product of n times the matrix."""
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise RuntimeError(f"matrix_power: takes square matrices, got shape {list(input.shape)}")
    if n == 0:
        return eye(input.shape[-1], dtype=input._dtype).expand(input.shape).clone()
    base = input if n > 0 else inv(input)
    made = base
    for _ in range(abs(n) - 1):
        made = matmul(made, base)
    return clone(made) if made is input else made


#: What `torch.linalg` has.
LINALG = {
    "inv": inv, "det": det, "slogdet": slogdet, "cholesky": cholesky, "solve": solve, "norm": with_aliases(_norm),
    "vector_norm": direct(with_aliases(vector_norm), NORM), "matmul": matmul, "matrix_power": matrix_power,
    "diagonal": diagonal,
}  # fmt: skip
