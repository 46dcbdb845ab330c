"""Small things that code around the C API uses: types, conversions to ctypes, errors, the `_Null` marker."""

from __future__ import annotations

import ctypes
import numbers
import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Callable

import numpy as np

from mxlite._lib import LIB as _LIB
from mxlite._lib import c_text, c_texts, check_call
from mxlite._public import show as _show
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError, MXNotImplementedError, MXTypeError, register_error

__all__ = [
    "CachedOpHandle",
    "DLPackHandle",
    "DataIterCreatorHandle",
    "DataIterHandle",
    "ExecutorHandle",
    "FunctionHandle",
    "KVStoreHandle",
    "MXCallbackList",
    "MXNetError",
    "MXNotImplementedError",
    "NDArrayHandle",
    "NotImplementedForSymbol",
    "NotSupportedForSparseNDArray",
    "OpHandle",
    "ProfileHandle",
    "RecordIOHandle",
    "SymbolHandle",
    "basestring",
    "build_param_doc",
    "c_array",
    "c_array_buf",
    "c_handle_array",
    "c_str",
    "c_str_array",
    "check_call",
    "classproperty",
    "ctypes2buffer",
    "ctypes2numpy_shared",
    "data_dir",
    "data_dir_default",
    "integer_types",
    "long",
    "mx_float",
    "mx_float_p",
    "mx_int",
    "mx_int64",
    "mx_real_t",
    "mx_uint",
    "numeric_types",
    "py_str",
    "register_error",
    "string_types",
    "with_metaclass",
    "_LIB",
    "_Null",
]

string_types = (str,)
integer_types = (int, np.integer)
numeric_types = (float, int, np.generic, numbers.Number)

mx_uint = ctypes.c_uint
mx_int = ctypes.c_int
mx_float = ctypes.c_float
mx_int64 = ctypes.c_int64
mx_float_p = ctypes.POINTER(ctypes.c_float)
mx_real_t = np.float32
basestring, long = str, int

# The handles of the C API's objects.
CachedOpHandle = DLPackHandle = DataIterCreatorHandle = DataIterHandle = ExecutorHandle = ctypes.c_void_p
FunctionHandle = KVStoreHandle = NDArrayHandle = OpHandle = ProfileHandle = ctypes.c_void_p
RecordIOHandle = SymbolHandle = ctypes.c_void_p


class _NullType:
    """The default of a generated function's parameters: not given, so the operator's own default holds."""

    def __repr__(self) -> str:
        return "_Null"

    def __bool__(self) -> bool:
        return False


_Null = _NullType()

#: The dtype bfloat16, which NumPy lacks: its bits, as MXNet 1.9.1 has it. Values leave arrays of it as float32.
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])

#: MXNet's type flags and NumPy's types; the integers from 8 on are of MXNet 2.
DTYPE_OF_FLAG: dict[int, Any] = {
    0: np.float32,
    1: np.float64,
    2: np.float16,
    3: np.uint8,
    4: np.int32,
    5: np.int8,
    6: np.int64,
    7: np.bool_,
    8: np.int16,
    9: np.uint16,
    10: np.uint32,
    11: np.uint64,
    12: BFLOAT16,
}
FLAG_OF_DTYPE = {np.dtype(dtype): flag for flag, dtype in DTYPE_OF_FLAG.items()}
#: The library's names; NumPy makes the `name` of a dtype anew each time.
_NAMES = {dtype: "bfloat16" if dtype == BFLOAT16 else dtype.name for dtype in FLAG_OF_DTYPE}
_DTYPES = ", ".join(_NAMES.values())


def dtype_name(dtype: Any) -> str:
    """The library's name of a dtype given as NumPy takes it: a name or code, a type, a np.dtype (None: float32), or
    an array that has it.

    All functions of mx.nd that take a dtype ask this one what it is.
    Raises:
        TypeError (and MXNetError): NumPy does not know it, or mxlite has no such dtype (complex64, big-endian ones).
    """
    if isinstance(dtype, str) and dtype == "bfloat16":
        return dtype
    try:
        kind = np.dtype(np.float32 if dtype is None else dtype)
    except (TypeError, ValueError):
        if hasattr(dtype, "dtype"):
            return dtype_name(dtype.dtype)
        meant = did_you_mean(dtype, list(_NAMES.values()))
        raise MXTypeError(f"{dtype!r} is no dtype; there are {_DTYPES}{meant}") from None
    if kind not in _NAMES:
        if kind.name == "bfloat16":  # of the package ml_dtypes
            return kind.name
        raise MXTypeError(f"dtype {kind} is not supported; there are {_DTYPES}")
    return _NAMES[kind]


def dtype_flag(dtype: Any) -> int:
    """MXNet's type flag of a dtype, as `dtype_name` takes it. Raises: TypeError."""
    return FLAG_OF_DTYPE[numpy_dtype(dtype)]


def numpy_dtype(dtype: Any) -> np.dtype:
    """The NumPy dtype of an array's elements, of a dtype as `dtype_name` takes it. Raises: TypeError."""
    name = dtype_name(dtype)
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def as_values(elements: np.ndarray) -> np.ndarray:
    """The elements of an array as numbers that NumPy has: those of bfloat16 as float32, others as they are."""
    if elements.dtype != BFLOAT16:
        return elements
    return np.asarray(elements["bfloat16"].astype(np.uint32) << np.uint32(16)).view(np.float32)


def as_elements(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Values as elements of a dtype as `dtype_name` takes it; bfloat16 is rounded to nearest, ties to even."""
    name = dtype_name(dtype)
    if values.dtype == BFLOAT16:
        if name == "bfloat16":
            return values
        values = as_values(values)
    if name != "bfloat16":
        return values.astype(name, copy=False)
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).reshape(values.shape)
    nan = (bits & 0x7FFFFFFF) > 0x7F800000
    rounded = np.where(nan, bits | 0x400000, bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.asarray(rounded, np.uint16).view(BFLOAT16)


def numbers_of(source: Any, dtype: Any) -> np.ndarray:
    """What NumPy makes of lists; of those that are to be uint64 with all digits, which float64 would not have."""
    values = np.asarray(source)
    if values.dtype.kind == "f" and isinstance(source, (list, tuple)) and dtype in ("uint64", np.uint64):
        try:
            return np.asarray(source, dtype=np.uint64)
        except OverflowError:
            return values
    return values


def needs_array(number: Any, dtype: Any) -> bool:
    """Whether an operator, which takes numbers as float64, would lose digits of a number of uint64."""
    return dtype == np.uint64 and isinstance(number, (int, np.integer)) and number > 1 << 53


def dtype_given(dtype: Any) -> Any:
    """A dtype as it is given; of an array or another thing that has one, its dtype."""
    return dtype if isinstance(dtype, (str, type, np.dtype)) else getattr(dtype, "dtype", dtype)


class AsDtype:
    """`__numpy_dtype__` of things whose `dtype` is a class or a name: NumPy takes them where it takes a dtype.

    Without it NumPy from 2.4 on refuses `np.dtype(x)` and `np.zeros(3, dtype=x)`, which older ones understand.
    """

    def __get__(self, thing: Any, owner: type) -> np.dtype:
        if thing is None:  # of the class: it has none, as its `dtype` is a property
            raise AttributeError("__numpy_dtype__")
        return numpy_dtype(thing.dtype)


class _NotOf(MXNetError):
    """A method was called on a thing of a kind that has no form of it."""

    _kind = ""

    def __init__(self, function: Any, alias: str | None = None, *args: Any) -> None:
        operator = f' (namely operator "{alias}")' if alias is not None else ""
        arguments = f" with arguments ({', '.join(str(type(each)) for each in args)})" if args else ""
        text = f"{function.__name__}{operator}{arguments} takes NDArrays; there is no form of it for {self._kind}"
        super().__init__(text)


def warn_user(text: str) -> None:
    """Warns (UserWarning) of the line of the program that has called into the package, or through NumPy into it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ("mxlite", "numpy"):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, UserWarning, stacklevel=level)


#: MXNet's numbers of storage types.
STYPE_NUMBERS = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}


class NotImplementedForSymbol(_NotOf):
    """A method of NDArray was called on a Symbol, which holds no values."""

    _kind = "Symbols"


class NotSupportedForSparseNDArray(_NotOf):
    """A method of dense arrays was called on a sparse one."""

    _kind = "sparse arrays"


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


class MXCallbackList(ctypes.Structure):
    """Functions that C calls, with a pointer of the caller's for each."""

    _fields_ = [
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.CFUNCTYPE(ctypes.c_int))),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    ]


def ctypes2buffer(pointer: Any, length: int) -> bytearray:
    """A copy of the bytes at a pointer to characters. Raises: TypeError: it is none."""
    if not isinstance(pointer, ctypes.POINTER(ctypes.c_char)):
        raise TypeError(f"ctypes2buffer: a pointer to c_char is needed, got {type(pointer)}")
    return bytearray(ctypes.string_at(pointer, length))


def ctypes2numpy_shared(pointer: Any, shape: Sequence[int]) -> np.ndarray:
    """An array over the float32 at a pointer, without a copy. Raises: RuntimeError: it is no pointer to c_float."""
    if not isinstance(pointer, ctypes.POINTER(mx_float)):
        raise RuntimeError(f"ctypes2numpy_shared: a pointer to c_float is needed, got {type(pointer)}")
    return np.ctypeslib.as_array(pointer, tuple(shape))


# ---- helpers of front ends ----


def _as_list(thing: Any) -> list | tuple:
    """A list or tuple itself, anything else in a list of its own."""
    return thing if isinstance(thing, (list, tuple)) else [thing]


def data_dir_default() -> str:
    """The folder of downloaded files unless $MXNET_HOME names another: ~/.mxnet."""
    return os.path.join(os.path.expanduser("~"), ".mxnet")


def data_dir() -> str:
    """The folder of downloaded files: data sets, parameters, vectors."""
    return os.path.expanduser(os.environ.get("MXNET_HOME") or data_dir_default())


def build_param_doc(
    arg_names: Sequence[str], arg_types: Sequence[str], arg_descs: Sequence[str], remove_dup: bool = True
) -> str:
    """The section "Parameters" of a docstring in NumPy's style, each name once if `remove_dup`."""
    lines, seen = ["Parameters", "----------"], set()
    for name, kind, text in zip(arg_names, arg_types, arg_descs):
        if remove_dup and name in seen:
            continue
        seen.add(name)
        lines += [f"{name} : {kind}", *([f"    {text}"] if text else [])]
    return "\n".join(lines) + "\n" + ("" if seen else "\n")


class classproperty:  # noqa: N801 - 1.9.1's name
    """A property of a class: what it computes gets the class. Classes whose metaclass is
    `_MXClassPropertyMetaClass` let it be assigned to as well."""

    def __init__(self, fget: Callable[[Any], Any], fset: Callable[[Any, Any], Any] | None = None) -> None:
        self.fget, self.fset = fget, fset

    def __get__(self, thing: Any, owner: type | None = None) -> Any:
        return self.fget(type(thing) if owner is None else owner)

    def __set__(self, thing: Any, value: Any) -> None:
        if self.fset is None:
            raise AttributeError("this property of a class cannot be assigned to")
        self.fset(thing if isinstance(thing, type) else type(thing), value)

    def setter(self, fset: Callable[[Any, Any], Any]) -> classproperty:
        """A decorator for the function that assigns."""
        self.fset = fset
        return self


_MXClassPropertyDescriptor = classproperty


class _MXClassPropertyMetaClass(type):
    """Of classes that assign to their class properties rather than put others in their place."""

    def __setattr__(cls, name: str, value: Any) -> None:
        held = cls.__dict__.get(name)
        if isinstance(held, classproperty):
            held.__set__(cls, value)
        else:
            super().__setattr__(name, value)


def with_metaclass(meta: type, *bases: type) -> type:
    """A base for classes that shall have a metaclass and other bases, in a form that Python 2 understood."""

    class Temporary(type):
        def __new__(cls, name: str, _: tuple, held: dict[str, Any]) -> Any:
            return meta(name, bases, held)

        @classmethod
        def __prepare__(cls, name: str, _: tuple, **__: Any) -> Any:
            return meta.__prepare__(name, bases)

    return type.__new__(Temporary, "temporary_class", (), {})


_show(globals())
