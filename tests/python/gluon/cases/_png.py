"""PNG files of arrays, made without a library, so that both packages read the same bytes."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np


def png(pixels: np.ndarray) -> bytes:
    """The file of uint8 or uint16 pixels, gray (2 axes), RGB or RGBA."""
    rows, columns = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    big = pixels.astype(pixels.dtype.newbyteorder(">")).reshape(rows, -1)
    lines = b"".join(b"\0" + each.tobytes() for each in big)
    head = struct.pack(">IIBBBBB", columns, rows, 8 * pixels.dtype.itemsize, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    parts = _part(b"IHDR", head) + _part(b"IDAT", zlib.compress(lines)) + _part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def _part(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pixels(*shape: int, seed: int = 0, dtype: str = "uint8") -> np.ndarray:
    """Random pixels of a shape."""
    return np.random.RandomState(seed).randint(0, np.iinfo(dtype).max + 1, shape).astype(dtype)


def records(mx, folder: str, labels: list, *shape: int) -> dict:
    """Writes records of random images with these labels, and their index; returns the paths as arguments."""
    paths = {"path_imgidx": str(Path(folder, "a.idx")), "path_imgrec": str(Path(folder, "a.rec"))}
    writer = mx.recordio.MXIndexedRecordIO(*paths.values(), "w")
    for number, label in enumerate(labels):
        header = mx.recordio.IRHeader(0, label, number, 0)
        writer.write_idx(number, mx.recordio.pack(header, png(pixels(*shape, seed=number))))
    writer.close()
    return paths
