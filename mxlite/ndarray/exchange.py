"""Arrays from and to other libraries without a copy: DLPack (NumPy, PyTorch, JAX, ...) and NumPy's memory."""

from __future__ import annotations

import ctypes
import itertools
import weakref
from typing import Any

import numpy as np

from mxlite._lib import LIB, check_call, last_error
from mxlite.base import FLAG_OF_DTYPE
from mxlite.ndarray.ndarray import NDArray

_CPU = (1, 0)
_NAME, _USED = b"dltensor", b"used_dltensor"
_NAME_VERSIONED, _USED_VERSIONED = b"dltensor_versioned", b"used_dltensor_versioned"
#: What a capsule with a version is asked for; the largest that we write.
_VERSION = (1, 0)
#: The flag of a tensor that may only be read.
_READ_ONLY = 1
#: Libraries whose arrays never change, and whose capsules do not say so.
_IMMUTABLE = ("jax", "jaxlib")

_api = ctypes.pythonapi
_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
# Programs that take capsules apart by ctypes rely on what importing MXNet 1.9.1 does for them: without it the pointer
# that they get is cut to 32 bits.
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p


def _prototype(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, _api))


_capsule_new = _prototype("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)
_is_valid = _prototype("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _prototype("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_set_name = _prototype("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
# A capsule's destructor sees it when nothing refers to it any more: by address, so that Python does not count it again.
_dying_is_valid = _prototype("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_dying_pointer = _prototype("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


class _Versioned(ctypes.Structure):
    """The head of DLPack's versioned struct."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
    ]


@_Destructor
def _drop(
    capsule: int,
    valid: Any = _dying_is_valid,
    pointer: Any = _dying_pointer,
    deleter: Any = LIB.MXNDArrayCallDLPackDeleter,
    name: bytes = _NAME,
) -> None:
    """Frees a tensor that nobody took."""
    if valid(capsule, name):
        deleter(pointer(capsule, name))


@_Destructor
def _drop_versioned(
    capsule: int,
    valid: Any = _dying_is_valid,
    pointer: Any = _dying_pointer,
    struct: Any = _Versioned,
    name: bytes = _NAME_VERSIONED,
) -> None:
    if valid(capsule, name):
        address = pointer(capsule, name)
        struct.from_address(address).deleter(address)


def _capsule(array: NDArray, versioned: bool = False) -> Any:
    tensor = ctypes.c_void_p()
    if versioned:
        check_call(LIB.MXLNDArrayToDLPackVersioned(array._h, ctypes.byref(tensor)))
        if not array.writable:
            _Versioned.from_address(tensor.value).flags |= _READ_ONLY
        return _capsule_new(tensor, _NAME_VERSIONED, _drop_versioned)
    check_call(LIB.MXNDArrayToDLPack(array._h, ctypes.byref(tensor)))
    return _capsule_new(tensor, _NAME, _drop)


def capsule_of(array: NDArray, stream: Any, max_version: tuple[int, int] | None, device: Any, copy: Any) -> Any:
    """What `NDArray.__dlpack__` returns.

    Raises:
        BufferError: a device other than the CPU, or a stream, is asked for.
    """
    if stream is not None:
        raise BufferError("NDArray.__dlpack__: the CPU has no streams; stream must be None")
    if device is not None and tuple(device) != _CPU:
        raise BufferError(f"NDArray.__dlpack__: arrays are on the CPU, {_CPU}; got dl_device={device}")
    if copy:
        array = array.detach().copy()
    elif array.writable:  # whoever takes it may write to it
        check_call(LIB.MXLNDArrayBumpVersion(array._h))
    versioned = max_version is not None and max_version[0] >= _VERSION[0]
    if not array.writable and not versioned:
        raise BufferError(
            "NDArray.__dlpack__: the array may only be read, which a capsule without version cannot say; "
            "ask with max_version=(1, 0), or for a copy"
        )
    return _capsule(array, versioned)


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule of the array's memory, for one who reads it. It can be taken once."""
    return _capsule(data)


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule of the array's memory, for one who writes it. It can be taken once.

    Values that were recorded before are stale from here on; later writes must not meet what is recorded meanwhile.
    """
    if not data.writable:
        raise BufferError("to_dlpack_for_write: the array may only be read")
    check_call(LIB.MXLNDArrayBumpVersion(data._h))
    return _capsule(data)


def _protected(array: NDArray) -> NDArray:
    """The array, whose memory nothing in the library may write to from here on."""
    check_call(LIB.MXLNDArrayProtect(array._h))
    array._read_only = True
    return array


def _take_versioned(capsule: Any) -> NDArray:
    address = _pointer(capsule, _NAME_VERSIONED)
    read_only = bool(_Versioned.from_address(address).flags & _READ_ONLY)
    handle = LIB.MXLNDArrayFromDLPackVersioned(address)
    if not handle:
        raise last_error()
    _set_name(capsule, _USED_VERSIONED)
    array = NDArray._adopt(handle)
    return _protected(array) if read_only else array


def _take(capsule: Any) -> NDArray:
    if _is_valid(capsule, _NAME_VERSIONED):
        return _take_versioned(capsule)
    if not _is_valid(capsule, _NAME):
        # MXNet 1.9.1 raises AssertionError here.
        raise ValueError("Invalid DLPack Tensor. DLTensor capsules can be consumed only once.")
    handle = ctypes.c_void_p()
    check_call(LIB.MXNDArrayFromDLPack(_pointer(capsule, _NAME), ctypes.byref(handle)))
    _set_name(capsule, _USED)
    return NDArray._adopt(handle.value)


def _capsule_from(source: Any, copy: bool | None) -> Any:
    device = source.__dlpack_device__()
    if int(device[0]) not in (1, 3):
        raise BufferError(f"from_dlpack: the array is on DLPack's device {tuple(device)}; only the CPU, 1, is possible")
    try:
        return source.__dlpack__(max_version=_VERSION, copy=copy)
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
    array = _take(_capsule_from(dlpack, copy))
    if not copy and type(dlpack).__module__.partition(".")[0] in _IMMUTABLE:
        return _protected(array)
    return array


#: NumPy arrays whose memory the library looks at, by the number it was given for each.
_lent: dict[int, np.ndarray] = {}
_numbers = itertools.count(1)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release(number: int, lent: dict[int, np.ndarray] = _lent) -> None:
    lent.pop(number, None)


_RELEASE = ctypes.cast(_release, ctypes.c_void_p)

#: NumPy arrays that `from_numpy` closed to NumPy's writes, by id(): their memory may be written to all the same.
_closed: dict[int, weakref.ref] = {}


def _close(values: np.ndarray) -> None:
    number = id(values)
    values.flags["WRITEABLE"] = False
    _closed[number] = weakref.ref(values, lambda _: _closed.pop(number, None))


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
        from mxlite.ndarray.creation import array

        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("Only c-contiguous arrays are supported for zero-copy")
    if not ndarray.flags["ALIGNED"]:
        raise ValueError("from_numpy: the array's elements are not aligned; copy it first")
    number = next(_numbers)
    _lent[number] = ndarray
    shape = (ctypes.c_int64 * ndarray.ndim)(*ndarray.shape)
    handle = LIB.MXLNDArrayFromMemory(ndarray.ctypes.data, ndarray.ndim, shape, flag, _RELEASE, number)
    if not handle:
        del _lent[number]
        raise last_error()
    result = array_cls(handle)
    if not _may_be_written(ndarray):
        return _protected(result)
    _close(ndarray)
    return result
