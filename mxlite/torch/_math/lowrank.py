"""Factors of a few rows, and reflections as LAPACK keeps them: svd_lowrank, lobpcg, geqrf, ormqr."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.torch._basic import from_values
from mxlite.torch._calls import both, function
from mxlite.torch._dtypes import int32
from mxlite.torch._make.random import normal_of
from mxlite.torch._math.factors import eigh, householder_product, lu_factor, qr, require_matrices, solve_triangular, svd
from mxlite.torch._math.linalg import cholesky
from mxlite.torch._math.matrix import matmul
from mxlite.torch._math.order import pair
from mxlite.torch._math.pairs import constant
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor, zeros_of


@function()
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """U, S and V of the q largest singular values of A (less M), by random combinations of columns and `niter` steps.

    They are near those of linalg.svd where the values after the first q are small.
    """
    require_matrices("svd_lowrank", A)
    given = A if M is None else A - M
    count = 6 if q is None else q
    if given.shape[-2] < given.shape[-1]:
        u, values, v = svd_lowrank(given.mT, q, niter)
        return v, values, u
    basis = qr(matmul(given, normal_of((*given.shape[:-2], given.shape[-1], count), given._dtype)))[0]
    for _ in range(2 if niter is None else niter):
        basis = qr(matmul(given, qr(matmul(given.mT, basis))[0]))[0]
    u, values, vh = svd(matmul(basis.mT, given), False)
    return matmul(basis, u), values, vh.mT


@function()
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """svd_lowrank of rows less their mean: V has the principal directions."""
    require_matrices("pca_lowrank", A)
    most = min(A.shape[-2:])
    q = min(6, most) if q is None else q
    if not 0 <= q <= most or niter < 0:
        raise ValueError(f"pca_lowrank: q is from 0 to {most} and niter 0 or more, got {q} and {niter}")
    return svd_lowrank(A - A.mean(-2, True) if center else A, q, niter)


@function()
def lobpcg(
    A: Tensor, k: int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: int | None = None,
    iK: Any = None, niter: Any = None, tol: Any = None, largest: bool | None = None, *_: Any, **__: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The k largest (or smallest) eigenvalues of symmetric A (of A x = value B x), and eigenvectors as columns.

    They are those of all eigenvalues, to the last bits, so that a first guess and a number of steps have no effect.
    """
    require_matrices("lobpcg", A)
    count = k if k is not None else 1 if X is None else X.shape[-1]
    if A.shape[-2] < 3 * count:
        raise ValueError(f"lobpcg: a matrix of 3 k ({3 * count}) rows or more, got {A.shape[-2]}")
    if B is None:
        values, vectors = eigh(A)
    else:
        lower = cholesky(B)
        half = solve_triangular(lower, A, upper=False)
        values, vectors = eigh(solve_triangular(lower, half.mT, upper=False))
        vectors = solve_triangular(lower.mT, vectors, upper=True)
    if largest is False:
        return values[..., :count], vectors[..., :count]
    return values[..., -count:].flip(-1), vectors[..., -count:].flip(-1)


@both()
def geqrf(input: Tensor) -> Any:
    """R above the diagonal and the vectors of reflections below it, and their factors tau. There is no derivative."""
    require_matrices("geqrf", input)
    a, tau = np.linalg.qr(input._values(), mode="raw")
    found = (from_values(np.swapaxes(a, -1, -2), input._dtype), from_values(tau, input._dtype))
    return pair("geqrf", "a", "tau")(*(constant("geqrf", [input], each) for each in found))


@both()
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False) -> Tensor:
    """The product of all columns of the reflections of geqrf with another matrix: Q other, or other Q."""
    rows, columns = input.shape[-2:]
    more = zeros_of((*input.shape[:-2], rows, max(rows - columns, 0)), input._dtype)
    q = householder_product(cat([input, more], -1)[..., :rows], tau)
    q = q.mT if transpose else q
    return matmul(q, other) if left else matmul(other, q)


@both()
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """As linalg.lu_factor; get_infos: with zeros, which say that it could be done."""
    found = tuple(lu_factor(A, pivot=pivot))
    return (*found, zeros_of(tuple(A.shape[:-2]), int32)) if get_infos else found
