"""New arrays: of values, of one number, and beside others."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from mxlite import numpy as mnp
from mxlite.array_api._dtypes import (
    BOOL,
    FLOAT,
    INT,
    array_given,
    dtype_of,
    matrices_given,
    new,
    require_device,
    result_type,
)
from mxlite.error import MXTypeError, MXValueError
from mxlite.ndarray.exchange import from_dlpack as _from_dlpack
from mxlite.numpy._functions import ArrayBase
from mxlite.numpy.multiarray import _values_of, ndarray


def _default(values: np.ndarray) -> np.dtype:
    """The dtype of Python's numbers. Raises: OverflowError: integers beyond int64."""
    if values.dtype.kind == "u" or (values.dtype.kind == "O" and isinstance(values.flat[0], int)):
        raise OverflowError("asarray: an integer is beyond int64")
    return {"b": BOOL, "i": INT}.get(values.dtype.kind, FLOAT)


def _require_fit(values: np.ndarray, dtype: np.dtype) -> None:
    """Raises OverflowError: one of Python's integers is beyond a dtype."""
    if values.dtype.kind in "iu" and dtype.kind in "iu" and values.size:
        limits = np.iinfo(dtype)
        if not limits.min <= int(values.min()) <= int(values.max()) <= limits.max:
            raise OverflowError(f"asarray: integers from {values.min()} to {values.max()} are beyond {dtype}")


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: builtins.bool | None = None) -> ndarray:
    """An array of an array, lists of numbers, a number, or what NumPy makes an array of.

    Args:
        dtype: None: that of an array; of Python's numbers bool, int64 or float32.
        copy: None: only where it must be; False: never.
    Raises: ValueError: copy=False, and it must be; TypeError: no numbers, or complex ones; OverflowError.
    """
    require_device(device)
    wanted = None if dtype is None else dtype_of(dtype)
    if isinstance(obj, ArrayBase):
        if wanted in (None, obj.dtype):  # type: ignore[attr-defined]
            return obj.copy() if copy else obj  # type: ignore[return-value]
        if copy is False:
            raise MXValueError(f"asarray: {obj.dtype} is {wanted} only as a copy")
        return obj.astype(wanted)  # type: ignore[return-value]
    if copy is False:
        raise MXValueError(
            f"asarray: the values of {type(obj).__name__} must be copied; from_dlpack() may share memory"
        )
    values = np.asarray(_values_of(obj))
    if values.dtype.kind not in "biuf" and values.size and not isinstance(values.flat[0], int):
        raise MXTypeError(f"asarray: takes real numbers, got {values.dtype}")
    if isinstance(obj, (builtins.bool, int, float, list, tuple)) and not isinstance(obj, np.generic):
        wanted = _default(values) if wanted is None else wanted
        _require_fit(values, wanted)
    return mnp.array(values, dtype=values.dtype if wanted is None else wanted)


def from_dlpack(x: Any, /, *, device: Any = None, copy: builtins.bool | None = None) -> ndarray:
    """An array over the memory of another library's; copy=True: a copy. As `mx.nd.from_dlpack`."""
    require_device(device)
    shared = _from_dlpack(x).as_np_ndarray()
    return shared.copy() if copy else shared


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: Any = None, device: Any = None
) -> ndarray:
    """Numbers from `start` up to `stop`, which is left out; of one argument from 0 up to it."""
    require_device(device)
    start, stop = (0, start) if stop is None else (start, stop)
    default = INT if all(isinstance(each, int) for each in (start, stop, step)) else FLOAT
    return new(np.arange(start, stop, step).astype(default if dtype is None else dtype_of(dtype)))


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: builtins.bool = True,
) -> ndarray:
    """So many numbers from `start` to `stop`, evenly spaced; without `endpoint` the last one is before `stop`."""
    require_device(device)
    dtype = FLOAT if dtype is None else dtype_of(dtype)
    return new(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype))


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None) -> ndarray:
    """A matrix with ones on a diagonal, `k` above the main one, and zeros."""
    require_device(device)
    return new(np.eye(n_rows, n_cols, k, FLOAT if dtype is None else dtype_of(dtype)))


def full(shape: Any, fill_value: float, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of one number; without a dtype of bool, int64 or float32, as the number is."""
    if isinstance(fill_value, complex):
        raise MXTypeError("full: there are no complex numbers")
    value = asarray(fill_value, dtype=dtype, device=device)
    if dtype is not None and not isinstance(fill_value, ArrayBase):
        result_type(value.dtype, fill_value)
    return mnp.full(shape, value)


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of zeros, of float32 unless `dtype` says otherwise."""
    return mnp.full(shape, asarray(0, dtype=FLOAT if dtype is None else dtype, device=device))


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of ones, of float32 unless `dtype` says otherwise."""
    return mnp.full(shape, asarray(1, dtype=FLOAT if dtype is None else dtype, device=device))


def empty(shape: Any, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of any values: zeros."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: ndarray, /, fill_value: float, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of one number with the shape, and unless given the dtype, of another."""
    dtype = array_given("full_like", x).dtype if dtype is None else dtype
    return full(x.shape, fill_value, dtype=dtype, device=device)


def zeros_like(x: ndarray, /, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of zeros with the shape, and unless given the dtype, of another."""
    return zeros(x.shape, dtype=array_given("zeros_like", x).dtype if dtype is None else dtype, device=device)


def ones_like(x: ndarray, /, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of ones with the shape, and unless given the dtype, of another."""
    return ones(x.shape, dtype=array_given("ones_like", x).dtype if dtype is None else dtype, device=device)


def empty_like(x: ndarray, /, *, dtype: Any = None, device: Any = None) -> ndarray:
    """An array of any values (zeros) with the shape, and unless given the dtype, of another."""
    return zeros_like(x, dtype=dtype, device=device)


def tril(x: ndarray, /, *, k: int = 0) -> ndarray:
    """Matrices with 0 above the diagonal, or one beside it."""
    return mnp.tril(matrices_given("tril", x, kinds="biuf"), k)


def triu(x: ndarray, /, *, k: int = 0) -> ndarray:
    """Matrices with 0 below the diagonal, or one beside it."""
    return mnp.triu(matrices_given("triu", x, kinds="biuf"), k)


def meshgrid(*arrays: ndarray, indexing: str = "xy") -> tuple[ndarray, ...]:
    """Vectors as arrays of all axes together, each along its own; "xy": the first two exchanged."""
    return tuple(mnp.meshgrid(*(array_given("meshgrid", each) for each in arrays), indexing=indexing))
