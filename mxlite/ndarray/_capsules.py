"""DLPack's capsules: how an array's memory is handed to other libraries. exchange.py takes theirs."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from mxlite._lib import LIB, ask, check_call, lasting
from mxlite._lib.python_api import API, END_CAPSULE

if TYPE_CHECKING:
    from mxlite.ndarray.ndarray import NDArray

_CPU = (1, 0)
#: Names of capsules, which point to them for as long as they live.
NAME, USED, NAME_VERSIONED, USED_VERSIONED = map(
    lasting, (b"dltensor", b"used_dltensor", b"dltensor_versioned", b"used_dltensor_versioned")
)
#: The version that we ask for, and the largest that we write.
VERSION = (1, 0)
#: The flag of a tensor that may only be read.
READ_ONLY = 1

# Programs that take capsules apart by ctypes rely on what importing MXNet 1.9.1 does for them: without it the pointer
# that they get is cut to 32 bits.
API.PyCapsule_New.restype = ctypes.py_object
API.PyCapsule_GetPointer.restype = ctypes.c_void_p


def _prototype(name: str, result: Any, *arguments: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, API))


_capsule_new = _prototype("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
is_valid = _prototype("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
pointer = _prototype("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
set_name = _prototype("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)


class Versioned(ctypes.Structure):
    """The head of DLPack's versioned struct."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    ]


def _capsule(array: NDArray, versioned: bool = False) -> Any:
    if not versioned:
        return _capsule_new(ask(ctypes.c_void_p, LIB.MXNDArrayToDLPack, array._h), NAME, END_CAPSULE)
    tensor = ask(ctypes.c_void_p, LIB.MXLNDArrayToDLPackVersioned, array._h)
    if not array.writable:
        Versioned.from_address(tensor).flags |= READ_ONLY
    return _capsule_new(tensor, NAME_VERSIONED, END_CAPSULE)


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
    elif array.writable:  # the consumer may write to it
        check_call(LIB.MXLNDArrayBumpVersion(array._h))
    versioned = max_version is not None and max_version[0] >= VERSION[0]
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
