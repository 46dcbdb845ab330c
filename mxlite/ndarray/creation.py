"""Arrays from nothing and from NumPy; functions over operators that take arrays or numbers."""

from __future__ import annotations

import operator as _operator
from typing import Any, Union

import numpy as np

from mxlite._lib import LIB, check_call
from mxlite._public import offer as _offer
from mxlite._public.keywords import judge
from mxlite.base import BFLOAT16, as_elements, dtype_name, needs_array, numbers_of, numpy_dtype
from mxlite.context import Context, context_parameter, require_cpu
from mxlite.ndarray.ndarray import NUMBERS, NDArray, _from_numpy, invoke, new_array

Shape = Union[int, tuple, list]


def _shape(shape: Any) -> Any:
    return (shape,) if isinstance(shape, (int, np.integer)) else shape


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array with a copy of the values of a list, a NumPy array or an NDArray.

    Args:
        dtype: None: float32, or the dtype of an NDArray that is given.
    Texts and objects are what NumPy makes of them in that dtype: "1.5" a number, None NaN.
    Raises: TypeError: not something that NumPy makes an array of numbers of.
    """
    ctx = require_cpu(ctx)
    if isinstance(source_array, NDArray):
        values = source_array.asnumpy()
        dtype = source_array.dtype if dtype is None else dtype
    else:
        try:
            values = numbers_of(source_array, dtype)
            if values.dtype.kind in "OUS":
                values = values.astype(dtype_name(dtype))
            if values.dtype.kind not in "biuf" and values.dtype != BFLOAT16 and values.dtype.name != "bfloat16":
                raise TypeError(f"its values are {values.dtype}")
        except (TypeError, ValueError) as problem:
            raise TypeError(f"array: these values make no array: {problem}") from None
    return _from_numpy(as_elements(values, dtype), ctx)


def empty(shape: Shape, ctx: Context | None = None, dtype: Any = None, stype: str | None = None) -> NDArray:
    """An array with undefined values."""
    _require_dense(stype)
    return new_array(tuple(_shape(shape)), dtype, require_cpu(ctx))


def zeros(
    shape: Shape, ctx: Context | None = None, dtype: Any = None, stype: str | None = None, **kwargs: Any
) -> NDArray:
    """An array of zeros (float32 unless `dtype` says otherwise)."""
    _require_dense(stype)
    return _fill("_zeros", shape, ctx, dtype, kwargs)


def ones(shape: Shape, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones (float32 unless `dtype` says otherwise)."""
    return _fill("_ones", shape, ctx, dtype, kwargs)


def _fill(name: str, shape: Any, ctx: Any, dtype: Any, kwargs: dict[str, Any]) -> NDArray:
    out = kwargs.pop("out", None)
    kwargs.pop("name", None)
    given = {"shape": _shape(shape), "dtype": np.float32 if dtype is None else dtype, **context_parameter(ctx)}
    return invoke(name, [], {**given, **kwargs}, out)


@judge
def full(
    shape: Shape, val: Any, ctx: Context | None = None, dtype: Any = np.float32, out: NDArray | None = None
) -> NDArray:
    """An array of one number, or of what is broadcast to `shape`; `out`: the array to fill instead of a new one.

    Raises: TypeError: `val` is neither; ValueError: it cannot be broadcast.
    """
    dtype = np.float32 if dtype is None else dtype
    shape = _shape(shape)
    as_array = not isinstance(val, NUMBERS) or needs_array(val, numpy_dtype(dtype))
    if as_array or 0 in tuple(shape):  # to an operator 0 may be an unknown size
        array = empty(shape, ctx, dtype) if out is None else out
        array[:] = val
        return array
    if out is not None:
        dtype = out.dtype
    return invoke("_full", [], {"shape": shape, "value": val, "dtype": dtype, **context_parameter(ctx)}, out)


def _require_dense(stype: str | None) -> None:
    if stype not in (None, "default"):
        raise NotImplementedError(f"there is no storage type {stype!r} here")


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
