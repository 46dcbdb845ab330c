"""Small things that code around the C API uses: types, conversions to ctypes, errors, the `_Null` marker."""

from __future__ import annotations

import ctypes
import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from mxlite._lib import LIB as _LIB
from mxlite._lib import c_text, c_texts, check_call
from mxlite._public import show as _show
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError, MXNotImplementedError, MXTypeError

__all__ = [
    "MXNetError",
    "MXNotImplementedError",
    "NDArrayHandle",
    "NotImplementedForSymbol",
    "OpHandle",
    "c_array",
    "c_array_buf",
    "c_handle_array",
    "c_str",
    "c_str_array",
    "check_call",
    "integer_types",
    "mx_float",
    "mx_int",
    "mx_uint",
    "numeric_types",
    "py_str",
    "string_types",
    "_LIB",
    "_Null",
]

string_types = (str,)
integer_types = (int, np.integer)
numeric_types = (float, int, np.generic, numbers.Number)

mx_uint = ctypes.c_uint
mx_int = ctypes.c_int
mx_float = ctypes.c_float
NDArrayHandle = ctypes.c_void_p
OpHandle = ctypes.c_void_p


class _NullType:
    """The default of a generated function's parameters: not given, so the operator's own default holds."""

    def __repr__(self) -> str:
        return "_Null"

    def __bool__(self) -> bool:
        return False


_Null = _NullType()

#: MXNet's type flags and NumPy's types.
DTYPE_OF_FLAG = {
    0: np.float32,
    1: np.float64,
    2: np.float16,
    3: np.uint8,
    4: np.int32,
    5: np.int8,
    6: np.int64,
    7: np.bool_,
}
FLAG_OF_DTYPE = {np.dtype(dtype): flag for flag, dtype in DTYPE_OF_FLAG.items()}
_DTYPES = ", ".join(dtype.name for dtype in FLAG_OF_DTYPE)


def dtype_name(dtype: Any) -> str:
    """The library's name of a dtype given as NumPy takes it: a name or code, a type, a np.dtype (None: float32), or
    an array that has it.

    All functions of mx.nd that take a dtype ask this one what it is.
    Raises:
        TypeError (and MXNetError): NumPy does not know it, or mxlite has no such dtype (int16, big-endian ones).
    """
    try:
        kind = np.dtype(np.float32 if dtype is None else dtype)
    except (TypeError, ValueError):
        if hasattr(dtype, "dtype"):
            return dtype_name(dtype.dtype)
        meant = did_you_mean(dtype, [each.name for each in FLAG_OF_DTYPE])
        raise MXTypeError(f"{dtype!r} is no dtype; there are {_DTYPES}{meant}") from None
    if kind not in FLAG_OF_DTYPE:
        raise MXTypeError(f"dtype {kind} is not supported; there are {_DTYPES}")
    return kind.name


def dtype_flag(dtype: Any) -> int:
    """MXNet's type flag of a dtype, as `dtype_name` takes it. Raises: TypeError."""
    return FLAG_OF_DTYPE[np.dtype(dtype_name(dtype))]


class NotImplementedForSymbol(MXNetError):
    """A method of NDArray was called on a Symbol, which holds no values."""

    def __init__(self, function: Any, alias: str | None = None, *args: Any) -> None:
        operator = f' (namely operator "{alias}")' if alias is not None else ""
        arguments = f" with arguments ({', '.join(str(type(each)) for each in args)})" if args else ""
        super().__init__(f"{function.__name__}{operator}{arguments} takes NDArrays; there is no form of it for Symbols")


def c_str(text: str) -> ctypes.c_char_p:
    """A string as C takes it; ValueError where a NUL character would end it."""
    return ctypes.c_char_p(c_text(text))


def py_str(text: bytes) -> str:
    """A string of C's."""
    return text.decode()


def c_str_array(strings: Iterable[str]) -> ctypes.Array:
    """An array of C strings, each as `c_str` takes it."""
    return c_texts(strings)


def c_array(ctype: type, values: Iterable) -> ctypes.Array:
    """An array of `ctype`."""
    values = list(values)
    return (ctype * len(values))(*values)


def c_array_buf(ctype: type, buffer: Any) -> ctypes.Array:
    """An array of `ctype` over the memory of a writable buffer (array.array, bytearray)."""
    return (ctype * len(buffer)).from_buffer(buffer)


def c_handle_array(objects: Iterable) -> ctypes.Array:
    """An array of the objects' handles."""
    handles = [item.handle for item in objects]
    return (ctypes.c_void_p * len(handles))(*handles)


_show(globals())
