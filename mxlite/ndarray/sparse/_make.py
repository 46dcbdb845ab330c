"""Functions that make sparse arrays: of definitions, of dense arrays, of SciPy's matrices, of nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._lib import hot
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.ndarray._make import _from_numpy, dense_array, new_empty, new_zeros, set_parts, zeros_of
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.sparse import _scipy
from mxlite.ndarray.sparse._array import BaseSparseNDArray
from mxlite.ndarray.sparse._csr import CSRNDArray
from mxlite.ndarray.sparse._row_sparse import RowSparseNDArray

hot.set_stored(NDArray, RowSparseNDArray, CSRNDArray)


def _check_shape(given: Any, found: Any) -> None:
    """Raises: ValueError: a shape was given, and the source has another."""
    if given is not None and tuple(given) != tuple(found):
        raise ValueError(f"shape is {tuple(given)}, but the source has shape {tuple(found)}")


def _values(source: Any, dtype: Any) -> np.ndarray:
    """Values of an array's definition in a dtype: None is that of an array, or float32 for lists."""
    if dtype is None:
        dtype = source.dtype if isinstance(source, (np.ndarray, NDArray)) else np.float32
    values = source.asnumpy() if isinstance(source, NDArray) else np.asarray(source)
    return values.astype(dtype, copy=False)


def _indices(source: Any) -> np.ndarray:
    return _values(source, np.int64)


def csr_matrix(
    arg1: Any, shape: tuple[int, ...] | None = None, ctx: Context | None = None, dtype: Any = None
) -> CSRNDArray:
    """A CSRNDArray of its definition, of a matrix, or one that stores nothing.

    Args:
        arg1: (rows, columns): nothing is stored. (data, indices, indptr): the parts. (data, (row, column)): values and
            where they are; those at one place are added, for which SciPy is needed. Else a CSRNDArray, a csr_matrix of
            SciPy, or what mx.nd.array takes.
        shape: None: as large as the indices need, or as the matrix.
        dtype: None: that of an array, float32 for lists.
    Raises: ValueError: another length, number of axes or shape; MXNetError: parts that contradict one another.
    """
    made: Any
    if isinstance(arg1, tuple):
        made = _csr_of_tuple(arg1, shape, ctx, dtype)
    elif isinstance(arg1, CSRNDArray) or _scipy.is_csr(arg1):
        _check_shape(shape, arg1.shape)
        made = array(arg1, ctx=ctx, dtype=dtype)
    elif isinstance(arg1, RowSparseNDArray):
        raise ValueError("csr_matrix: a RowSparseNDArray is no matrix in compressed rows; tostype('default') converts")
    else:
        dense = _dense(arg1, ctx, dtype)
        if dense.ndim != 2:
            raise ValueError(f"csr_matrix: a matrix has two axes, the source has shape {dense.shape}")
        _check_shape(shape, dense.shape)
        made = dense.tostype("csr")
    return made


def _dense(source: Any, ctx: Context | None, dtype: Any) -> NDArray:
    dtype = source.dtype if dtype is None and isinstance(source, (np.ndarray, NDArray)) else dtype
    return dense_array(source, ctx, dtype)


def _csr_of_tuple(parts: tuple, shape: Any, ctx: Context | None, dtype: Any) -> NDArray:
    if len(parts) == 3:
        return _csr_of_parts(*parts, shape, ctx, dtype)
    if len(parts) != 2:
        raise ValueError(f"csr_matrix: a tuple has two or three items, not {len(parts)}")
    data, where = parts
    if not isinstance(where, tuple):
        _check_shape(shape, parts)
        return zeros("csr", parts, ctx, dtype)
    if len(where) != 2:
        raise ValueError(f"csr_matrix: (data, (row, column)) has {len(where)} arrays of indices")
    values = _values(data, dtype)
    matrix = _scipy.module().coo_matrix((values, tuple(map(_indices, where))), shape=shape).tocsr()
    return array(matrix, ctx=ctx, dtype=values.dtype)


def _csr_of_parts(data: Any, indices: Any, indptr: Any, shape: Any, ctx: Context | None, dtype: Any) -> NDArray:
    values, columns, begins = _values(data, dtype), _indices(indices), _indices(indptr)
    if any(each.ndim != 1 for each in (values, columns, begins)) or begins.size == 0:
        raise ValueError("csr_matrix: data, indices and indptr have one axis, and indptr at least one element")
    if shape is None:
        if columns.size == 0:
            raise ValueError("csr_matrix: shape must be given where nothing is stored")
        shape = (begins.size - 1, int(columns.max()) + 1)
    if len(shape) != 2:
        raise ValueError(f"csr_matrix: a matrix has two axes, shape is {shape}")
    made = new_empty("csr", tuple(shape), ctx, values.dtype, [begins.size, columns.size])
    set_parts(made, _from_numpy(values), _from_numpy(begins), _from_numpy(columns))
    return made


def row_sparse_array(
    arg1: Any, shape: tuple[int, ...] | None = None, ctx: Context | None = None, dtype: Any = None
) -> RowSparseNDArray:
    """A RowSparseNDArray of its definition, of an array, or one that stores nothing.

    Args:
        arg1: (N, M, ...), a shape: nothing is stored. (data, indices): the rows, and which they are. Else a
            RowSparseNDArray, or what mx.nd.array takes.
        shape: None: as large as the last index needs, or as the array.
        dtype: None: that of an array, float32 for lists.
    Raises: ValueError: another length, number of axes or shape; MXNetError: parts that contradict one another.
    """
    made: Any
    if isinstance(arg1, tuple):
        made = _rows_of_tuple(arg1, shape, ctx, dtype)
    elif isinstance(arg1, RowSparseNDArray):
        _check_shape(shape, arg1.shape)
        made = array(arg1, ctx=ctx, dtype=dtype)
    elif isinstance(arg1, CSRNDArray):
        raise ValueError("row_sparse_array: a CSRNDArray has no rows to store; tostype('default') converts")
    else:
        dense = _dense(arg1, ctx, dtype)
        _check_shape(shape, dense.shape)
        made = dense.tostype("row_sparse")
    return made


def _rows_of_tuple(parts: tuple, shape: Any, ctx: Context | None, dtype: Any) -> NDArray:
    if len(parts) < 2:
        raise ValueError(f"row_sparse_array: a tuple has at least two items, not {len(parts)}")
    if len(parts) > 2 or all(isinstance(each, (int, np.integer)) for each in parts):
        _check_shape(shape, parts)
        return zeros("row_sparse", parts, ctx, dtype)
    values, rows = _values(parts[0], dtype), _indices(parts[1])
    if rows.ndim != 1 or values.ndim < 1:
        raise ValueError("row_sparse_array: data has at least one axis, indices one")
    if shape is None:
        if rows.size == 0:
            raise ValueError("row_sparse_array: shape must be given where nothing is stored")
        shape = (int(rows.max()) + 1, *values.shape[1:])
    if values.ndim != len(shape) or values.shape[1:] != tuple(shape)[1:]:
        raise ValueError(f"row_sparse_array: data of shape {values.shape} has no rows of an array of shape {shape}")
    made = new_empty("row_sparse", tuple(shape), ctx, values.dtype, [rows.size])
    set_parts(made, _from_numpy(values), _from_numpy(rows))
    return made


def zeros(stype: str, shape: tuple[int, ...], ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of zeros of a storage type; a sparse one stores nothing.

    Raises: ValueError: there is no such storage type; TypeError: a shape that is no tuple.
    """
    return zeros_of(stype, shape, ctx, dtype, **kwargs)


def empty(stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """A sparse array that stores nothing.

    Raises: ValueError: there is no such sparse storage type.
    """
    if stype not in ("csr", "row_sparse"):
        raise ValueError(f"empty: {stype!r} is no sparse storage type; 'csr' and 'row_sparse' are")
    return zeros(stype, (shape,) if isinstance(shape, (int, np.integer)) else shape, ctx, dtype)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """A sparse array with a copy of the values of a sparse array, or of a sparse matrix of SciPy, as csr.

    Args:
        dtype: None: that of the source.
    Raises: ValueError: the source is not sparse.
    """
    if isinstance(source_array, BaseSparseNDArray):
        dtype = source_array.dtype if dtype is None else dtype
        return source_array.copyto(new_zeros(source_array.stype, source_array.shape, ctx, dtype))
    if isinstance(source_array, NDArray):
        raise WrongValueError("array: the source is dense; its method tostype makes a sparse array of it")
    if not _scipy.is_matrix(source_array):
        raise ValueError(f"array: the source is no sparse array, but {type(source_array)}; mx.nd.array takes others")
    matrix = source_array.tocsr()
    if not matrix.has_sorted_indices or not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return _csr_of_parts(matrix.data, matrix.indices, matrix.indptr, matrix.shape, ctx, dtype)
