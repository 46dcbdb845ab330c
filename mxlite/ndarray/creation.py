"""Arrays from nothing and from NumPy; functions over operators that take arrays or numbers."""

from __future__ import annotations

import operator as _operator
from typing import Any, Union

import numpy as np

from mxlite._lib import LIB, check_call
from mxlite._public import offer as _offer
from mxlite._public.keywords import judge
from mxlite.base import needs_array, numpy_dtype
from mxlite.context import Context, context_parameter, require_cpu
from mxlite.ndarray._make import dense_array, fill, shape_of
from mxlite.ndarray.ndarray import NUMBERS, NDArray, invoke, new_array
from mxlite.ndarray.sparse import _scipy
from mxlite.ndarray.sparse._array import BaseSparseNDArray
from mxlite.ndarray.sparse._make import array as sparse_array
from mxlite.ndarray.sparse._make import empty as sparse_empty
from mxlite.ndarray.sparse._make import zeros as sparse_zeros

Shape = Union[int, tuple, list]


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array with a copy of the values of a list, a NumPy array or an NDArray; a sparse one of a sparse one or of a
    matrix of scipy.sparse.

    Args:
        dtype: None: float32, or the dtype of an NDArray that is given.
    Texts and objects are what NumPy makes of them in that dtype: "1.5" a number, None NaN.
    Raises: TypeError: not something that NumPy makes an array of numbers of.
    """
    if isinstance(source_array, BaseSparseNDArray) or _scipy.is_matrix(source_array):
        return sparse_array(source_array, ctx, dtype)
    return dense_array(source_array, ctx, dtype)


def empty(shape: Shape, ctx: Context | None = None, dtype: Any = None, stype: str | None = None) -> NDArray:
    """An array with undefined values; of a sparse storage type ("csr", "row_sparse") one that stores nothing."""
    if stype not in (None, "default"):
        return sparse_empty(stype, shape, ctx, dtype)
    return new_array(tuple(shape_of(shape)), dtype, require_cpu(ctx))


def zeros(
    shape: Shape, ctx: Context | None = None, dtype: Any = None, stype: str | None = None, **kwargs: Any
) -> NDArray:
    """An array of zeros (float32 unless `dtype` says otherwise); of a sparse storage type one that stores nothing."""
    if stype not in (None, "default"):
        return sparse_zeros(stype, shape, ctx, dtype, **kwargs)
    return fill("_zeros", shape, ctx, dtype, kwargs)


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones (float32 unless `dtype` says otherwise)."""
    return fill("_ones", shape, ctx, dtype, kwargs)


@judge
def full(
    shape: Shape, val: Any, ctx: Context | None = None, dtype: Any = np.float32, out: NDArray | None = None
) -> NDArray:
    """An array of one number, or of what is broadcast to `shape`; `out`: the array to fill instead of a new one.

    Raises: TypeError: `val` is neither; ValueError: it cannot be broadcast.
    """
    dtype = np.float32 if dtype is None else dtype
    shape = shape_of(shape)
    as_array = not isinstance(val, NUMBERS) or needs_array(val, numpy_dtype(dtype))
    if as_array or 0 in tuple(shape):  # to an operator 0 may be an unknown size
        array = empty(shape, ctx, dtype) if out is None else out
        array[:] = val
        return array
    if out is not None:
        dtype = out.dtype
    return invoke("_full", [], {"shape": shape, "value": val, "dtype": dtype, **context_parameter(ctx)}, out)


@judge
def concatenate(arrays: list[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """The arrays of a list one after another along `axis`, in the first one's context.

    Raises: TypeError: no list; MXNetError: the arrays do not fit.
    """
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f"concatenate takes a list of NDArrays, got {type(arrays).__name__}")
    if not always_copy and len(arrays) == 1:
        return arrays[0]
    joined = invoke("Concat", list(arrays), {"dim": axis})
    return joined.as_in_context(arrays[0].context)


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Writes rows to `out`, of shape (n, depth): 1 at the place that each of `n` indices names, 0 elsewhere.

    Raises: MXNetError: `out` has another number of rows, or of axes.
    """
    return invoke("_onehot_encode", [indices, out], {}, out)


def waitall() -> None:
    """Returns when everything asked for is computed."""
    check_call(LIB.MXNDArrayWaitAll())


def add(lhs: Any, rhs: Any) -> Any:
    """lhs + rhs, element-wise with broadcasting; arrays or numbers."""
    return lhs + rhs


def subtract(lhs: Any, rhs: Any) -> Any:
    """lhs - rhs, element-wise with broadcasting; arrays or numbers."""
    return lhs - rhs


def multiply(lhs: Any, rhs: Any) -> Any:
    """lhs * rhs, element-wise with broadcasting; arrays or numbers."""
    return lhs * rhs


def divide(lhs: Any, rhs: Any) -> Any:
    """lhs / rhs, element-wise with broadcasting; arrays or numbers."""
    return lhs / rhs


true_divide = divide


def power(base: Any, exp: Any) -> Any:
    """base ** exp, element-wise with broadcasting; arrays or numbers."""
    return _operator.pow(base, exp)


_offer(globals())
