"""New arrays, and operators run by name: what the base classes of NDArray need, which come before it."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from mxlite._lib import LIB, ask, buffer_address, check_call, hot, last_error
from mxlite.base import dtype_flag
from mxlite.context import Context
from mxlite.error import MXValueError
from mxlite.ndarray._operators import Operator, parameters, run

if TYPE_CHECKING:
    from mxlite.ndarray.ndarray import NDArray

#: NDArray; ndarray.py sets it.
array_class: Any = None


def adopt(handle: int) -> NDArray:
    """An array for a handle that the library has just returned."""
    return array_class._adopt(handle)


_operators: dict[str, Operator] = {}


def invoke(name: str, inputs: list[NDArray], given: dict[str, Any], out: NDArray | None = None) -> Any:
    """Runs an operator by name; for what is off the hot path."""
    operator = _operators.get(name)
    if operator is None:
        operator = _operators[name] = Operator(name)
    return run(operator, [array._h for array in inputs], parameters(given), out, array_class)


def _from_numpy(values: np.ndarray, context: Context | None = None) -> NDArray:
    """A new array with the values and dtype of a NumPy array, in that context or cpu(0); not recorded."""
    values = np.ascontiguousarray(values).reshape(values.shape)
    array = new_array(values.shape, values.dtype, context)
    if hot.copy_in(array._h, buffer_address(values), values.size) != 0:
        raise last_error()
    return array


def new_array(shape: tuple[int, ...], dtype: Any, context: Context | None = None) -> NDArray:
    """A new array with undefined values, in that context or cpu(0).

    Raises: MXNetError: a GPU, no memory; ValueError: no shape; TypeError: no dtype.
    """
    if any(abs(size) >= 1 << 62 for size in shape):
        raise MXValueError(f"an array of shape {shape} is not possible")
    flag = dtype_flag(dtype)
    handle = ctypes.c_void_p()
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    kind, number = (1, 0) if context is None else (context.device_typeid, context.device_id)
    check_call(LIB.MXNDArrayCreateEx64(sizes, len(shape), kind, number, 0, flag, ctypes.byref(handle)))
    return array_class._adopt(handle.value)


def new_none() -> int:
    """The handle of a new array that has no shape yet."""
    return ask(ctypes.c_void_p, LIB.MXNDArrayCreateNone)
