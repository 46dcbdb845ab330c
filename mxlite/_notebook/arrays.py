"""An array as HTML: what it is, and a table of its corner elements; of an image the picture.

However large an array is, some 200 elements are read; of an image, every n-th pixel.
"""

from __future__ import annotations

import binascii
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite._notebook import tables

#: Positions that are shown at either end of an axis that is longer than both together.
EDGE = 5
#: Pixels of a side of a picture: fewer are enlarged, more are left out.
_SMALLEST, _LARGEST = 8, 256
_CHANNELS = {1: 0, 3: 2, 4: 6}  # the colour types of PNG

#: Reads elements: a tuple of integers and slices to a NumPy array.
Read = Callable[[tuple[Any, ...]], np.ndarray]


def html(facts: Sequence[str], shape: Sequence[int], dtype: Any, read: Read) -> str:
    """An array as HTML.

    Args:
        facts: What is said of it beside its shape and dtype: its kind first, its context, its node.
        shape: Its sizes; dtype: NumPy's.
        read: Called with a key, gives the elements there. Only a few are asked for.
    """
    sizes = " × ".join(map(str, shape)) if shape else "scalar"
    first, *others = facts
    title = ", ".join([f"{first} {sizes}", np.dtype(dtype).name, *others])
    if 0 in shape:
        return tables.table([], [], foot="no elements", title=title)
    if is_image(shape, dtype):
        return _image(title, shape, read)
    if len(shape) < 2:
        columns: list[int | None] = places(shape[0]) if shape else [0]
        values = _joined([read((each,)) for each in _parts(shape[0])]) if shape else read(()).reshape(1)
        row = _with_gap([text(each) for each in values], columns)
        return tables.table(_heads(columns) if shape else [], [row], right=range(len(row)), title=title)
    return _matrix(title, shape, read)


def _matrix(title: str, shape: Sequence[int], read: Read) -> str:
    """The last two axes, at position 0 of those before them."""
    leading = (0,) * (len(shape) - 2)
    rows, columns = places(shape[-2]), places(shape[-1])
    parts = _parts(shape[-1])
    cells = []
    for at in rows:
        if at is None:
            cells.append(["⋮"] * (len(columns) + 1))
            continue
        values = _joined([read((*leading, at, part)) for part in parts])
        cells.append([str(at), *_with_gap([text(each) for each in values], columns)])
    head = ["", *_heads(columns)]
    where = f"shown is [{', '.join(map(str, leading))}, :, :]" if leading else ""
    return tables.table(head, cells, right=range(len(head)), foot=where, title=title)


def places(size: int) -> list[int | None]:
    """The positions of an axis that are shown; None for those left out."""
    if size <= 2 * EDGE:
        return list(range(size))
    return [*range(EDGE), None, *range(size - EDGE, size)]


def _parts(size: int) -> list[slice]:
    return [slice(0, size)] if size <= 2 * EDGE else [slice(0, EDGE), slice(size - EDGE, size)]


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _heads(columns: list[int | None]) -> list[str]:
    return ["…" if each is None else str(each) for each in columns]


def _with_gap(cells: list[str], columns: list[int | None]) -> list[str]:
    return cells if None not in columns else [*cells[:EDGE], "…", *cells[EDGE:]]


def text(value: Any) -> str:
    """An element, to four digits if it is a fraction."""
    if isinstance(value, np.floating):
        return f"{float(value):.4g}"
    return str(value)


# ---- images ----


def is_image(shape: Sequence[int], dtype: Any) -> bool:
    """Whether an array looks like an image: bytes, height x width x channels."""
    return len(shape) == 3 and np.dtype(dtype) == np.uint8 and shape[2] in _CHANNELS and min(shape[:2]) >= _SMALLEST


def _image(title: str, shape: Sequence[int], read: Read) -> str:
    """The picture, of which every n-th pixel is read where it is large."""
    height, width, _ = shape
    step = -(-max(height, width) // _LARGEST)
    pixels = np.stack([read((row,))[::step] for row in range(0, height, step)])
    shown = max(1, _LARGEST // (2 * max(pixels.shape[:2]))) if step == 1 else 1
    source = "data:image/png;base64," + binascii.b2a_base64(png(pixels), newline=False).decode()
    style = f"width:{pixels.shape[1] * shown}px;image-rendering:{'pixelated' if shown > 1 else 'auto'}"
    foot = "" if step == 1 else f"every {step}th pixel"
    return (
        f'<div>{tables.note(title)}<img src="{source}" style="{style}" alt="{width} x {height} pixels"/>'
        f"{tables.note(foot) if foot else ''}</div>"
    )


def png(pixels: np.ndarray) -> bytes:
    """Pixels (height, width, 1, 3 or 4), uint8, as a PNG file."""
    height, width, channels = pixels.shape

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, _CHANNELS[channels], 0, 0, 0)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: no filter
    content = zlib.compress(lines.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", content) + chunk(b"IEND", b"")
