"""Arrays in files and in bytes: `save`, `load`, `load_frombuffer`, and what pickling needs."""

from __future__ import annotations

import ctypes
import os

from mxlite._lib import LIB, c_text, c_texts, check_call
from mxlite.ndarray.ndarray import NDArray


def save(fname: str | os.PathLike, data: NDArray | list[NDArray] | dict[str, NDArray]) -> None:
    """Writes arrays into a file that MXNet 1.9.1 reads: an array, a list, or a dict by name.

    The file is written beside `fname` and then renamed: what stood there stays whole until the new one is.

    Raises:
        TypeError: something in `data` is not an NDArray, or a name not a string.
        ValueError: `data` is none of the three, or `fname` or a name holds a NUL character.
        MXNetError: the file cannot be written.
    """
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        names, arrays = list(data.keys()), list(data.values())
    elif isinstance(data, list):
        names, arrays = None, data
    else:
        raise ValueError("save: data is an NDArray, a list of them or a dict from names to them")
    if not all(isinstance(each, NDArray) for each in arrays) or not all(isinstance(name, str) for name in names or ()):
        raise TypeError("save: names are texts, values are NDArrays")
    keys = None if names is None else c_texts(name.encode(errors="surrogateescape") for name in names)
    handles = (ctypes.c_void_p * len(arrays))(*(array._h for array in arrays))
    check_call(LIB.MXNDArraySave(c_text(os.fsencode(fname)), len(arrays), handles, keys))


def _results() -> tuple[ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]:
    return ctypes.c_uint32(), ctypes.c_void_p(), ctypes.c_uint32(), ctypes.c_void_p()


def _take(
    count: ctypes.c_uint32, handles: ctypes.c_void_p, named: ctypes.c_uint32, names: ctypes.c_void_p
) -> list[NDArray] | dict[str, NDArray]:
    of_handles = ctypes.cast(handles, ctypes.POINTER(ctypes.c_void_p))
    arrays = [NDArray._adopt(of_handles[i]) for i in range(count.value)]
    if named.value == 0:
        return arrays
    of_names = ctypes.cast(names, ctypes.POINTER(ctypes.c_char_p))
    return {of_names[i].decode(errors="surrogateescape"): array for i, array in enumerate(arrays)}


def load(fname: str | os.PathLike) -> list[NDArray] | dict[str, NDArray]:
    """The arrays of a file: a dict where they have names, else a list. Formats of every MXNet are read.

    Raises:
        TypeError: `fname` is not a path.
        ValueError: `fname` holds a NUL character.
        MXNetError: there is no such file, it is damaged, holds sparse arrays, or was written in the other shape mode.
    """
    if not isinstance(fname, (str, os.PathLike)):
        raise TypeError("load: fname is a text")
    results = _results()
    check_call(LIB.MXNDArrayLoad(c_text(os.fsencode(fname)), *map(ctypes.byref, results)))
    return _take(*results)


def load_frombuffer(buf: bytes | bytearray | memoryview) -> list[NDArray] | dict[str, NDArray]:
    """What `load` gives, from the content of a file.

    Raises:
        TypeError: `buf` is not bytes.
        MXNetError: as `load`.
    """
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"load_frombuffer: buf must be bytes, got {type(buf).__name__}")
    content = bytes(buf)
    results = _results()
    check_call(LIB.MXNDArrayLoadFromBuffer(content, len(content), *map(ctypes.byref, results)))
    return _take(*results)
