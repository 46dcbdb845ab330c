"""A second reader of .params files, written from the format alone: what `mx.nd.load` gives is compared with it.

A file is: 0x112, 0, the number of arrays and the arrays, the number of names and the names (length, text). An array
is: a version, from the second on a storage type, the number of axes, the axes, device, its number, dtype, values; the
oldest has the number of axes in place of a version, and 32 bits per axis. All little endian.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

import numpy as np

V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
DTYPES += ("int16", "uint16", "uint32", "uint64", "bfloat16")
MOST_AXES = 32
MOST_ELEMENTS = (2**63 - 1) // 16


class Array(NamedTuple):
    """What a file says of an array. (NumPy has no array for some shapes without elements.)"""

    dtype: str
    shape: tuple[int, ...]
    values: bytes


class Damaged(Exception):
    """The bytes are not a list of dense arrays of the shape mode that is asked for."""


class Reader:
    """Bytes that may say anything, read one field after another."""

    def __init__(self, content: bytes, numpy_shape: bool) -> None:
        self.content, self.at, self.numpy_shape = content, 0, numpy_shape

    def take(self, count: int) -> bytes:
        if count > len(self.content) - self.at:
            raise Damaged(f"{count} bytes wanted at {self.at}")
        self.at += count
        return self.content[self.at - count : self.at]

    def numbers(self, form: str, count: int = 1) -> tuple:
        return struct.unpack(f"<{count}{form}", self.take(count * struct.calcsize(form)))

    def array(self) -> Array | None:
        """One array; None: it has no shape yet."""
        (version,) = self.numbers("I")
        if (version == V3) != self.numpy_shape:
            raise Damaged("the other shape mode")
        if version in (V2, V3) and self.numbers("i") != (0,):
            raise Damaged("storage type")
        if version in (V1, V2, V3):
            (ndim,) = self.numbers("i")
        else:
            ndim = version
        if not 0 <= ndim <= MOST_AXES:
            raise Damaged(f"{ndim} axes")
        shape = self.numbers("q" if version in (V1, V2, V3) else "I", ndim)
        if ndim == 0 and not self.numpy_shape:
            return None
        _, _, dtype = self.numbers("i", 3)
        if not 0 <= dtype < len(DTYPES) or min(shape, default=0) < 0:
            raise Damaged(f"dtype {dtype}, shape {shape}")
        if math.prod(extent for extent in shape if extent) > MOST_ELEMENTS:
            raise Damaged(f"shape {shape} has no size")
        count = math.prod(shape)
        itemsize = 2 if DTYPES[dtype] == "bfloat16" else np.dtype(DTYPES[dtype]).itemsize
        values = self.take(count * itemsize)
        if DTYPES[dtype] == "bool":
            values = bytes(byte != 0 for byte in values)
        return Array(DTYPES[dtype], shape, values)

    def list(self) -> list[tuple[str | None, Array | None]]:
        """Every array with its name (None where there are no names)."""
        magic, _, count = self.numbers("Q", 3)
        if magic != 0x112 or count > len(self.content):
            raise Damaged("not a list")
        arrays = [self.array() for _ in range(count)]
        (named,) = self.numbers("Q")
        if named == 0:
            return [(None, array) for array in arrays]
        if named != count:
            raise Damaged(f"{named} names for {count} arrays")
        texts = [self.take(self.numbers("Q")[0]).split(b"\0")[0] for _ in range(named)]
        return list(zip([text.decode(errors="surrogateescape") for text in texts], arrays))


def read(content: bytes, numpy_shape: bool) -> list[tuple[str | None, Array | None]]:
    """The arrays of a file with their names.

    Raises:
        Damaged: the bytes are no such file.
    """
    return Reader(content, numpy_shape).list()
