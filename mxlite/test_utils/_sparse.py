"""Random arrays of any storage type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite import ndarray
from mxlite._public import offer as _offer
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.ndarray import NDArray
from mxlite.ndarray.sparse import CSRNDArray, csr_matrix, row_sparse_array, zeros
from mxlite.test_utils._arrays import assign_each
from mxlite.test_utils._comparison import default_dtype


def rand_sparse_ndarray(
    shape: tuple[int, ...],
    stype: str,
    density: float | None = None,
    dtype: Any = None,
    distribution: str | None = None,
    data_init: float | None = None,
    rsp_indices: Any = None,
    modifier_func: Callable | None = None,
    shuffle_csr_indices: bool = False,
    ctx: Context | None = None,
) -> tuple[NDArray, tuple]:
    """A random sparse array, and its parts: (data, indices) of row_sparse, (indptr, indices, data) of csr.

    Args:
        stype: "row_sparse" or "csr".
        density: The share of rows, or elements, that are stored, each with this probability; None: a random one.
        distribution: "uniform" (None), or of csr "powerlaw": each row stores twice as much as the one before.
        data_init: The value of all that is stored; None: uniform ones.
        rsp_indices: Which rows are stored.
        modifier_func: A function that each stored value is replaced by.
        shuffle_csr_indices: Put the columns of each row into a random order.
    Raises: ValueError: no such storage type or distribution, or a density that is no share.
    """
    density = float(np.random.rand()) if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    distribution = distribution or "uniform"
    if stype == "row_sparse":
        if distribution != "uniform":
            raise WrongValueError(f"distribution {distribution!r} is for csr arrays, not row_sparse ones")
        return _random_rows(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    if stype != "csr":
        raise WrongValueError(f"{stype!r} is no sparse storage type")
    if len(shape) != 2:
        raise WrongValueError(f"a csr array has two axes, not shape {shape}")
    if distribution not in _STORED:
        raise WrongValueError(f"distribution is 'uniform' or 'powerlaw', not {distribution!r}")
    if not 0 <= density <= 1:
        raise ValueError(f"density is between 0 and 1, got {density}")
    made = _random_csr(_STORED[distribution](*shape, density), dtype, data_init, modifier_func, ctx)
    if shuffle_csr_indices:
        shuffle_csr_column_indices(made)
    return made, (made.indptr, made.indices, made.data)


def _random_rows(
    shape: tuple[int, ...],
    density: float,
    dtype: Any,
    data_init: float | None,
    rsp_indices: Any,
    modifier_func: Callable | None,
    ctx: Context | None,
) -> tuple[NDArray, tuple]:
    if rsp_indices is not None:
        indices = np.asarray(rsp_indices)
        if len(indices) > shape[0]:
            raise WrongValueError(f"rsp_indices are {len(indices)} rows of {shape[0]}")
    else:
        indices = np.flatnonzero(np.random.rand(shape[0]) < density)
    if len(indices) == 0:
        return zeros("row_sparse", shape, dtype=dtype, ctx=ctx), (np.array([], dtype=dtype), np.array([]))
    values = np.random.rand(len(indices), *shape[1:])
    values = _modified(values if data_init is None else np.full_like(values, data_init), modifier_func)
    made = row_sparse_array((values, indices.astype(np.int64)), shape=shape, dtype=dtype, ctx=ctx)
    return made, (values, indices)


def _modified(values: np.ndarray, modifier_func: Callable | None) -> np.ndarray:
    return values if modifier_func is None else assign_each(values, modifier_func)


def _stored_uniformly(rows: int, columns: int, density: float) -> np.ndarray:
    return np.random.rand(rows, columns) < density


def _stored_by_power(rows: int, columns: int, density: float) -> np.ndarray:
    """One element in each row, and of what is left 2, 4, 8, ... in the first rows.

    Raises: ValueError: the density is too small, or too large, for this shape.
    """
    total = int(rows * columns * density)
    mask = np.zeros((rows, columns), np.bool_)
    if total < rows:
        raise ValueError(f"powerlaw: density {density} of shape ({rows}, {columns}) stores less than one in each row")
    mask[:, 0] = True
    left = total - rows
    width = 2
    for row in range(rows):
        if left <= 0:
            return mask
        count = min(width, columns, left + 1)
        mask[row, :count] = True
        left -= count - 1
        width *= 2
    if left > 0:
        raise ValueError(f"powerlaw: density {density} of shape ({rows}, {columns}) stores more than rows can hold")
    return mask


#: Which elements are stored, by the distribution.
_STORED: dict[str, Callable[[int, int, float], np.ndarray]] = {
    "uniform": _stored_uniformly,
    "powerlaw": _stored_by_power,
}


def _random_csr(
    mask: np.ndarray, dtype: Any, data_init: float | None, modifier_func: Callable | None, ctx: Context | None
) -> CSRNDArray:
    rows, columns = np.nonzero(mask)
    values = np.random.rand(len(rows)) if data_init is None else np.full(len(rows), data_init, np.float64)
    values = _modified(values, modifier_func)
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
    return csr_matrix((values, columns, indptr), shape=mask.shape, dtype=dtype, ctx=ctx)


def shuffle_csr_column_indices(csr: CSRNDArray) -> None:
    """Puts the columns of each row of a csr array, which may be one of SciPy's, into a random order."""
    begins = np.asarray(csr.indptr.asnumpy() if isinstance(csr, NDArray) else csr.indptr)
    order = np.concatenate([first + np.random.permutation(last - first) for first, last in zip(begins, begins[1:])])
    order = order.astype(np.int64)
    if not isinstance(csr, NDArray):
        csr.indices[:] = csr.indices[order]
        return
    parts = csr.data.asnumpy(), csr.indices.asnumpy()[order], begins
    csr[:] = csr_matrix(parts, shape=csr.shape, dtype=csr.dtype)


def create_sparse_array(
    shape: tuple[int, ...],
    stype: str,
    data_init: float | None = None,
    rsp_indices: Sequence[int] | None = None,
    dtype: Any = None,
    modifier_func: Callable | None = None,
    density: float = 0.5,
    shuffle_csr_indices: bool = False,
) -> NDArray:
    """A sparse array as `rand_sparse_ndarray` makes it; rows may be given in any order.

    Raises: ValueError: no sparse storage type.
    """
    if stype not in ("csr", "row_sparse"):
        raise WrongValueError(f"{stype!r} is no sparse storage type")
    rows = None if rsp_indices is None or stype == "csr" else np.array(sorted(rsp_indices), np.int64)
    return rand_sparse_ndarray(
        shape,
        stype,
        density,
        dtype,
        data_init=data_init,
        rsp_indices=rows,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )[0]


def create_sparse_array_zd(
    shape: tuple[int, ...],
    stype: str,
    density: float,
    data_init: float | None = None,
    rsp_indices: Sequence[int] | None = None,
    dtype: Any = None,
    modifier_func: Callable | None = None,
    shuffle_csr_indices: bool = False,
) -> NDArray:
    """As `create_sparse_array`; a row_sparse array stores the rows `rsp_indices` alone, or none.

    Raises: ValueError: no sparse storage type, or more rows than there are.
    """
    density = 0.0 if stype == "row_sparse" else density
    return create_sparse_array(shape, stype, data_init, rsp_indices, dtype, modifier_func, density, shuffle_csr_indices)


def rand_ndarray(
    shape: tuple[int, ...],
    stype: str = "default",
    density: float | None = None,
    dtype: Any = None,
    modifier_func: Callable | None = None,
    shuffle_csr_indices: bool = False,
    distribution: str | None = None,
    ctx: Context | None = None,
) -> NDArray:
    """A normally distributed NDArray, or the array of `rand_sparse_ndarray`."""
    if stype != "default":
        return rand_sparse_ndarray(
            shape,
            stype,
            density,
            dtype,
            distribution,
            modifier_func=modifier_func,
            shuffle_csr_indices=shuffle_csr_indices,
            ctx=ctx,
        )[0]
    values = np.asarray(np.random.standard_normal(shape))
    if modifier_func is not None:
        values = assign_each(values, modifier_func)
    return ndarray.array(values, ctx=ctx, dtype=default_dtype() if dtype is None else dtype)


_offer(globals())
