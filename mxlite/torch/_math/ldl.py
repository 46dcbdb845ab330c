"""Symmetric matrices, which need not be positive, as L D L': `linalg.ldl_factor`, `ldl_factor_ex`, `ldl_solve`.

Computed by NumPy on values, matrix by matrix, with the pivots of Bunch and Kaufman, as LAPACK has them: a positive one,
from 1 on, is the row that a row was exchanged with; two equal negative ones are of a block of 2 x 2 on the diagonal. As
in PyTorch there are no derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite.torch._basic import from_values
from mxlite.torch._convert import require_same_dtype
from mxlite.torch._math.factors import _public, _require_square, require_matrices
from mxlite.torch._math.pairs import constant
from mxlite.torch._tensor import Tensor

_ALPHA = (1 + math.sqrt(17)) / 8


def _pivot(a: np.ndarray, k: int) -> tuple[int, int]:
    """The row to exchange, and the size of the block."""
    below, here = np.abs(a[k + 1 :, k]), abs(a[k, k])
    if not below.size or here >= _ALPHA * below.max():
        return k, 1
    row = k + 1 + int(below.argmax())
    beside = max(np.abs(a[row, k:row]).max(), np.abs(a[row + 1 :, row]).max(initial=0))
    if here >= _ALPHA * below.max() ** 2 / beside:
        return k, 1
    return row, 1 if abs(a[row, row]) >= _ALPHA * beside else 2


def _factor(a: np.ndarray, pivots: np.ndarray) -> int:
    """L (below) and D (on and beside the diagonal) in the place of a matrix; the first column that is 0, from 1 on."""
    n, k, info = len(a), 0, 0
    while k < n:
        with np.errstate(invalid="ignore"):
            row, size = _pivot(a, k)
        last = k + size - 1
        if not np.abs(a[k:, k]).max() > 0:
            row, size, info = k, 1, info or k + 1
        elif row != last:
            a[row + 1 :, [last, row]] = a[row + 1 :, [row, last]]
            a[last + 1 : row, last], a[row, last + 1 : row] = (
                a[row, last + 1 : row].copy(),
                a[last + 1 : row, last].copy(),
            )
            a[last, last], a[row, row] = a[row, row], a[last, last]
            a[[last, row], k:last] = a[[row, last], k:last]
        pivots[k : k + size] = row + 1 if size == 1 else -row - 1
        end, block = k + size, a[k : k + size, k : k + size]
        if info != k + 1 and end < n:
            wide = a[end:, k:end].copy()
            a[end:, k:end] = (
                wide / block if size == 1 else np.linalg.solve(np.tril(block) + np.tril(block, -1).T, wide.T).T
            )
            a[end:, end:] -= np.tril(a[end:, k:end] @ wide.T)
        k = end
    return info


@_public("ldl_factor_ex", "LD", "pivots", "info")
def ldl_factor_ex(A: Tensor, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """L and D in one matrix, pivots, and of which column, from 1 on, there is only 0; 0: of none."""
    require_matrices("ldl_factor", A)
    _require_square("linalg.ldl_factor_ex", A)
    made = np.tril(A.detach()._values())
    pivots, info = np.zeros(made.shape[:-1], np.int32), np.zeros(made.shape[:-2], np.int32)
    for place in np.ndindex(*made.shape[:-2]):
        info[place] = _factor(made[place], pivots[place])
    if check_errors and info.any():
        raise RuntimeError(f"linalg.ldl_factor_ex: column {info.max()} of a matrix is 0")
    return constant("linalg_ldl_factor_ex", [A], from_values(made)), from_values(pivots), from_values(info)


@_public("ldl_factor", "LD", "pivots")
def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Any:
    """L and D in one matrix, and pivots. Raises: RuntimeError: D is singular."""
    return ldl_factor_ex(A, check_errors=True)[:2]


@_public("ldl_solve")
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The X with A X = B, by ldl_factor's results of A."""
    require_matrices("ldl_solve", LD, B)
    require_same_dtype("linalg.ldl_solve", LD, B)
    if pivots.shape != LD.shape[:-1] or B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(f"linalg.ldl_solve: shapes {list(LD.shape)} and {list(B.shape)} do not fit")
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    a, p, made = LD.detach()._values(), pivots._values(), B.detach()._values()
    a, p = np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(p, batch + p.shape[-1:])
    made = np.broadcast_to(made, batch + made.shape[-2:]).copy()
    for place in np.ndindex(*batch):
        _solve(a[place], p[place], made[place])
    return constant("linalg_ldl_solve", [LD, B], from_values(made))


def _solve(a: np.ndarray, pivots: np.ndarray, b: np.ndarray) -> None:
    """X in the place of B."""
    blocks, k = [], 0
    while k < len(a):
        size = 1 if pivots[k] > 0 else 2
        end, last, row = k + size, k + size - 1, abs(pivots[k]) - 1
        blocks.append((k, end, last, row))
        b[[last, row]] = b[[row, last]]
        b[end:] -= a[end:, k:end] @ b[k:end]
        block = np.tril(a[k:end, k:end])
        b[k:end] = np.linalg.solve(block + np.tril(block, -1).T, b[k:end])
        k = end
    for k, end, last, row in reversed(blocks):
        b[k:end] -= a[end:, k:end].T @ b[end:]
        b[[last, row]] = b[[row, last]]
