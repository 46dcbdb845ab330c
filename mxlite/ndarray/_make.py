"""New arrays, dense and sparse, and operators run by name: what the base classes of NDArray need."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from mxlite._lib import LIB, ask, buffer_address, c_ints, check_call, hot, last_error
from mxlite.base import BFLOAT16, as_elements, dtype_flag, dtype_name, numbers_of
from mxlite.context import Context, context_parameter, require_cpu
from mxlite.error import MXNetError, MXValueError
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


def shape_of(shape: Any) -> Any:
    """A shape, which may be given as one integer."""
    return (shape,) if isinstance(shape, (int, np.integer)) else shape


def fill(name: str, shape: Any, ctx: Any, dtype: Any, kwargs: dict[str, Any]) -> NDArray:
    """A new array, or `out` among the keywords, by an operator without inputs that takes a shape."""
    out = kwargs.pop("out", None)
    kwargs.pop("name", None)
    given = {"shape": shape_of(shape), "dtype": np.float32 if dtype is None else dtype, **context_parameter(ctx)}
    return invoke(name, [], {**given, **kwargs}, out)


def dense_array(source_array: Any, ctx: Context | None, dtype: Any) -> NDArray:
    """A dense array as `mx.nd.array` makes it."""
    ctx = require_cpu(ctx)
    if isinstance(source_array, array_class):
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


# ---- storage types ----

#: Sparse storage types by the library's numbers; and how many arrays of indices each has.
_NUMBERS = {"row_sparse": 1, "csr": 2}
NUM_INDICES = {"row_sparse": 1, "csr": 2}


def new_empty(stype: str, shape: tuple[int, ...], ctx: Context | None, dtype: Any, sizes: list[int]) -> NDArray:
    """A new sparse array whose indices, arrays of int64, have those sizes; the caller fills its parts.

    Raises: MXNetError: a GPU, or a number of axes that the storage type has not.
    """
    context = require_cpu(ctx)
    kind, number = (1, 0) if context is None else (context.device_typeid, context.device_id)
    count = len(sizes)
    int64 = dtype_flag(np.int64)
    handle = ctypes.c_void_p()
    check_call(
        LIB.MXNDArrayCreateSparseEx64(
            _NUMBERS[stype],
            c_ints(ctypes.c_int64, shape),
            len(shape),
            kind,
            number,
            1,
            dtype_flag(dtype),
            count,
            (ctypes.c_int * count)(*[int64] * count),
            (ctypes.c_int * count)(*[1] * count),
            c_ints(ctypes.c_int64, sizes),
            ctypes.byref(handle),
        )
    )
    return adopt(handle.value or 0)


def new_zeros(stype: str, shape: tuple[int, ...], ctx: Context | None, dtype: Any) -> NDArray:
    """A new sparse array that stores nothing."""
    return new_empty(stype, shape, ctx, dtype, [shape[0] + 1, 0] if stype == "csr" and shape else [0])


def set_parts(array: NDArray, *parts: NDArray) -> None:
    """Gives a sparse array copies of its parts: the data, then the indices as the library counts them.

    Raises: MXNetError: they contradict one another.
    """
    for number, part in enumerate(parts):
        check_call(LIB.MXNDArraySyncCopyFromNDArray(array._h, part._h, number - 1))
    stored = parts[-1].shape[0]
    if parts[0].shape[0] != stored:
        raise MXNetError(f"a sparse array: there are {stored} indices for {parts[0].shape[0]} stored values or rows")


def zeros_of(stype: str, shape: Any, ctx: Context | None, dtype: Any, **kwargs: Any) -> NDArray:
    """An array of zeros of a storage type; a sparse one stores nothing.

    Raises: ValueError: there is no such storage type; TypeError: a shape that is no tuple.
    """
    if stype == "default":
        return fill("_zeros", shape, ctx, dtype, kwargs)
    if stype not in NUM_INDICES:
        raise ValueError(f"zeros: there is no storage type {stype!r}; 'default', 'csr' and 'row_sparse' are there")
    made = new_zeros(stype, tuple(shape), ctx, dtype)
    return made if kwargs.get("out") is None else made.copyto(kwargs["out"])


def cast_stored(array: NDArray, stype: str) -> NDArray:
    """A copy of a dense array that is stored as `stype`.

    Raises: ValueError: csr of an array that is no matrix; MXNetError: there is no such type.
    """
    if stype == "csr" and array.ndim != 2:
        raise ValueError(f"tostype: a csr array has two axes, this one has shape {array.shape}")
    return invoke("cast_storage", [array], {"stype": stype})
