"""Arrays from and to other libraries without a copy: DLPack (NumPy, PyTorch, JAX, ...) and NumPy's memory."""

from __future__ import annotations

import ctypes
import weakref
from functools import partial
from typing import Any

import numpy as np

from mxlite._lib import LIB, ask, check_call, last_error
from mxlite._memory import over_memory
from mxlite.base import FLAG_OF_DTYPE
from mxlite.ndarray._capsules import (
    NAME,
    NAME_VERSIONED,
    READ_ONLY,
    USED,
    USED_VERSIONED,
    VERSION,
    Versioned,
    is_valid,
    pointer,
    set_name,
)
from mxlite.ndarray.creation import array
from mxlite.ndarray.ndarray import NDArray

#: Libraries whose arrays never change, and whose capsules do not say so.
_IMMUTABLE = ("jax", "jaxlib")


def _protected(array: NDArray) -> NDArray:
    """The array, whose memory nothing in the library may write to from here on."""
    check_call(LIB.MXLNDArrayProtect(array._h))
    array._read_only = True
    return array


def _take_versioned(capsule: Any) -> NDArray:
    address = pointer(capsule, NAME_VERSIONED)
    read_only = bool(Versioned.from_address(address).flags & READ_ONLY)
    handle = LIB.MXLNDArrayFromDLPackVersioned(address)
    if not handle:
        raise last_error()
    set_name(capsule, USED_VERSIONED)
    made = NDArray._adopt(handle)
    return _protected(made) if read_only else made


def _take(capsule: Any) -> NDArray:
    if is_valid(capsule, NAME_VERSIONED):
        return _take_versioned(capsule)
    if not is_valid(capsule, NAME):
        # MXNet 1.9.1 raises AssertionError here.
        raise ValueError("from_dlpack: this is no DLPack capsule, or it was taken already")
    handle = ask(ctypes.c_void_p, LIB.MXNDArrayFromDLPack, pointer(capsule, NAME))
    set_name(capsule, USED)
    return NDArray._adopt(handle)


def _capsule_from(source: Any, copy: bool | None) -> Any:
    device = source.__dlpack_device__()
    if int(device[0]) not in (1, 3):
        raise BufferError(f"from_dlpack: the array is on DLPack's device {tuple(device)}; only the CPU, 1, is possible")
    try:
        return source.__dlpack__(max_version=VERSION, copy=copy)
    except TypeError:  # a library of the time before versions and copies
        if copy:
            raise
        return source.__dlpack__()


def from_dlpack(dlpack: Any, copy: bool | None = None) -> NDArray:
    """An array over the memory of another library's array on the CPU, which must lie in C order.

    One over the memory of a JAX array, which never changes, or of a read-only array of NumPy is not writable.

    Args:
        dlpack: an array with `__dlpack__` (NumPy, PyTorch, JAX, NDArray), or a capsule, which can be taken once.
        copy: True: the other library makes a copy; None, False: none is made.
    Raises:
        TypeError: neither.
        ValueError: a capsule that was taken before, or one with copy=True.
        BufferError: the array is not on the CPU, or its library refuses.
        MXNetError: a dtype that mxlite lacks, or elements out of order.
    """
    if type(dlpack).__name__ == "PyCapsule":
        if copy:
            raise ValueError("from_dlpack: a capsule cannot be copied; give the array itself")
        return _take(dlpack)
    if not hasattr(dlpack, "__dlpack__"):
        raise TypeError(f"from_dlpack takes an array with __dlpack__, or a capsule; got {type(dlpack).__name__}")
    taken = _take(_capsule_from(dlpack, copy))
    if not copy and type(dlpack).__module__.partition(".")[0] in _IMMUTABLE:
        return _protected(taken)
    return taken


#: NumPy arrays that `from_numpy` closed to NumPy's writes, by id(): their memory may be written to all the same.
_closed: dict[int, weakref.ref] = {}


def _close(values: np.ndarray) -> None:
    number = id(values)
    values.flags["WRITEABLE"] = False
    _closed[number] = weakref.ref(values, partial(_closed.pop, number))  # no Python code, as at _lib.Handle


def _may_be_written(values: Any) -> bool:
    """Whether NumPy would write to the array, had not `from_numpy` closed it or what it is a view of."""
    if values.flags["WRITEABLE"]:
        return True
    while isinstance(values, np.ndarray):
        if id(values) in _closed:
            return True
        values = values.base
    return False


def from_numpy(ndarray: np.ndarray, zero_copy: bool = True, array_cls: type = NDArray) -> NDArray:
    """An array over the memory of a NumPy array, which may not be written to through NumPy from then on.

    The array is not writable where NumPy might not write either (np.frombuffer of bytes), `from_numpy` itself aside.

    Args:
        ndarray: in C order, of a dtype that mxlite has.
        zero_copy: False: an array with a copy of the values instead.
    Raises:
        TypeError: not a NumPy array.
        ValueError: not in C order, not aligned, or of another dtype.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy takes a NumPy array, got {type(ndarray).__name__}")
    flag = FLAG_OF_DTYPE.get(ndarray.dtype)
    if flag is None:
        raise ValueError(f"{ndarray.dtype} is not supported.")
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("from_numpy: only a C-contiguous array can be shared (zero_copy=False copies)")
    if not ndarray.flags["ALIGNED"]:
        raise ValueError("from_numpy: the array's elements are not aligned; copy it first")
    result = array_cls(over_memory(ndarray, ndarray.shape, flag, last_error))
    if not _may_be_written(ndarray):
        return _protected(result)
    _close(ndarray)
    return result
