"""The Predict API over ctypes, and .params bytes for it, for any library that has it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

from _graph import Library

_VOID = ctypes.c_void_p
_UINT = ctypes.c_uint32


def params_bytes(arrays: dict[str, tuple[Sequence[int], Sequence[float]]]) -> bytes:
    """A file of float32 arrays in 1.9.1's format."""
    parts = [struct.pack("<QQQ", 0x112, 0, len(arrays))]
    for shape, values in arrays.values():
        head = struct.pack("<IiI", 0xF993FAC9, 0, len(shape)) + struct.pack(f"<{len(shape)}q", *shape)
        parts.append(head + struct.pack("<iii", 1, 0, 0) + struct.pack(f"<{len(values)}f", *values))
    parts.append(struct.pack("<Q", len(arrays)))
    parts += [struct.pack("<Q", len(name)) + name.encode() for name in arrays]
    return b"".join(parts)


class Predictor:
    """A predictor, freed with this object."""

    def __init__(self, library: Library, handle: Any) -> None:
        self.library, self.handle = library, handle

    def __del__(self) -> None:
        self.library.call("MXPredFree", self.handle)

    @staticmethod
    def _inputs(inputs: dict[str, Sequence[int]]) -> tuple[Any, ...]:
        index, sizes = [0], []
        for shape in inputs.values():
            sizes += list(shape)
            index.append(len(sizes))
        keys = (ctypes.c_char_p * len(inputs))(*[key.encode() for key in inputs])
        return _UINT(len(inputs)), keys, (_UINT * len(index))(*index), (_UINT * len(sizes))(*sizes)

    @classmethod
    def made(
        cls, library: Library, json: str, params: bytes, outputs: Sequence[str] = (), **inputs: Sequence[int]
    ) -> Predictor:
        handle = _VOID()
        args = [json.encode(), params, len(params), 1, 0, *cls._inputs(inputs)]
        if outputs:
            args += [_UINT(len(outputs)), (ctypes.c_char_p * len(outputs))(*[name.encode() for name in outputs])]
        library.call("MXPredCreatePartialOut" if outputs else "MXPredCreate", *args, ctypes.byref(handle))
        return cls(library, handle)

    @classmethod
    def many(cls, count: int, library: Library, json: str, params: bytes, **inputs: Sequence[int]) -> list[Predictor]:
        handles = (_VOID * count)()
        args = [json.encode(), params, len(params), 1, 0, *cls._inputs(inputs), count]
        library.call("MXPredCreateMultiThread", *args, handles)
        return [cls(library, _VOID(handle)) for handle in handles]

    def reshaped(self, **inputs: Sequence[int]) -> Predictor:
        handle = _VOID()
        self.library.call("MXPredReshape", *self._inputs(inputs), self.handle, ctypes.byref(handle))
        return Predictor(self.library, handle)

    def set(self, key: str, values: Sequence[float]) -> None:
        data = (ctypes.c_float * len(values))(*values)
        self.library.call("MXPredSetInput", self.handle, key.encode(), data, _UINT(len(values)))

    def forward(self) -> None:
        self.library.call("MXPredForward", self.handle)

    def shape(self, index: int = 0) -> list[int]:
        data, ndim = ctypes.POINTER(_UINT)(), _UINT()
        self.library.call("MXPredGetOutputShape", self.handle, _UINT(index), ctypes.byref(data), ctypes.byref(ndim))
        return [data[i] for i in range(ndim.value)]

    def output(self, index: int = 0) -> list[float]:
        size = 1
        for extent in self.shape(index):
            size *= extent
        data = (ctypes.c_float * size)()
        self.library.call("MXPredGetOutput", self.handle, _UINT(index), data, _UINT(size))
        return list(data)

    def __call__(self, **inputs: Sequence[float]) -> list[float]:
        for key, values in inputs.items():
            self.set(key, values)
        self.forward()
        return self.output()
