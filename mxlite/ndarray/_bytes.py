"""One array as the bytes that a file has of it, as pickles hold it."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from mxlite._lib import LIB, ask, check_call
from mxlite.util import np_shape

if TYPE_CHECKING:
    from mxlite.ndarray.ndarray import NDArray

#: The first byte of an array that was written in numpy-shape mode.
_NUMPY_SHAPE = 0xCA


def to_bytes(array: NDArray) -> bytearray:
    """One array as the bytes that a file has of it. An array without axes is written as in numpy-shape mode."""
    size, content = ctypes.c_size_t(), ctypes.c_void_p()
    with np_shape(array.shape == ()):
        check_call(LIB.MXNDArraySaveRawBytes(array._h, ctypes.byref(size), ctypes.byref(content)))
        return bytearray(ctypes.string_at(content.value, size.value))


def handle_from_bytes(content: bytes | bytearray) -> int:
    """A new handle for what `to_bytes` wrote, in whichever shape mode.

    Raises:
        MXNetError: the bytes are damaged.
    """
    with np_shape(content[:1] == bytes([_NUMPY_SHAPE])):
        return ask(ctypes.c_void_p, LIB.MXNDArrayLoadFromRawBytes, bytes(content), len(content))
