"""Functions of images, arrays (rows, columns, channels): read, resized, cropped, rotated."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np

from mxlite._image_files import bgr, by_library, decode, decode_by_library
from mxlite.base import numeric_types
from mxlite.error import MXNetError, WrongTypeError, WrongValueError
from mxlite.ndarray import NDArray, array, op
from mxlite.ndarray import image as _image
from mxlite.ndarray._kinds import answer_all

#: NumPy's names of OpenCV's kinds of borders; 0 has a constant value.
_BORDERS = {1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}
_CUBIC, _AREA, _LINEAR = 2, 3, 1


def imread(filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool = True) -> NDArray:
    """The image in a file, uint8.

    Args:
        filename, flag, to_rgb: See imdecode.
    Raises: MXNetError: the file cannot be read or is no image.
    """
    try:
        with open(os.fspath(filename), "rb") as file:
            data = file.read()
    except OSError as error:
        raise MXNetError(f"Imread: '{filename}' couldn't open file: {error.strerror}") from None
    return _decoded(data, flag, to_rgb, os.fspath(filename))


def imdecode(buf: Any, flag: int = 1, to_rgb: bool = True) -> NDArray:
    """An encoded image, uint8 (rows, columns, channels).

    Args:
        buf: bytes, a bytearray, or an array of uint8.
        flag: 1: three channels; 0: gray, one channel.
        to_rgb: Whether the channels are R, G, B rather than B, G, R.
    Raises: MXNetError: it is no image, or a broken one. ValueError: `buf` is a string. ImportError: it is
            neither PNG nor JPEG, and Pillow is missing.
    """
    if isinstance(buf, str):
        raise ValueError(
            "imdecode: the file's content is bytes, a bytearray or a NumPy array; a str must be encoded first"
        )
    if isinstance(buf, NDArray):
        buf = buf.asnumpy()
    if isinstance(buf, np.ndarray):
        buf = buf.astype(np.uint8).tobytes()
    return _decoded(buf, flag, to_rgb, "the buffer")


def _decoded(data: bytes, flag: int, to_rgb: bool, what: str) -> NDArray:
    if flag not in (0, 1):
        raise MXNetError(f"imdecode: flag must be 0 (gray) or 1 (color), got {flag!r}")
    if by_library(data):
        return decode_by_library(bytes(data), int(flag), bool(to_rgb), what)
    pixels = decode(data, int(flag), what)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels if to_rgb else bgr(pixels)
    return array(pixels, dtype="uint8")


def imresize(src: NDArray, w: int, h: int, interp: int = 1) -> NDArray:
    """The image in another size, by the formulas of OpenCV.

    Args:
        src: uint8, float32 or float64.
        interp: 0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos.
    Raises: MXNetError: a bad size, method or image. TypeError: it is not an NDArray.
    """
    if not isinstance(src, NDArray):
        raise WrongTypeError(f"imresize: src is an NDArray, not a {type(src).__name__}")
    if src.ndim != 3:
        raise MXNetError(f"imresize: an image has 3 axes, got {src.shape}")
    for each in (w, h):
        if not isinstance(each, (int, np.integer)) or each < 1:
            raise MXNetError(f"imresize: width and height must be integers above 0, got {w!r} and {h!r}")
    return _image.resize(src, size=(w, h), keep_ratio=False, interp=interp)


def copyMakeBorder(  # noqa: N802 - MXNet's name
    src: NDArray, top: int, bot: int, left: int, right: int, type: int = 0, value: float = 0.0, values: Any = ()
) -> NDArray:
    """The image within a border.

    Args:
        top, bot, left, right: How wide it is.
        type: OpenCV's kind: 0 constant, 1 the edge repeated, 2 mirrored, 3 wrapped, 4 mirrored without the edge.
        value, values: Of a constant border: one for all channels, or one for each; those that are left out are 0.
    Raises: MXNetError: a negative width, another kind, or an image without 3 axes.
    """
    if min(top, bot, left, right) < 0:
        raise MXNetError("copyMakeBorder: the widths must not be negative")
    if type not in (0, *_BORDERS):
        raise MXNetError(f"copyMakeBorder: type must be from 0 to 4, got {type!r}")
    if src.ndim != 3:
        raise MXNetError(f"copyMakeBorder: an image has 3 axes, got {src.shape}")
    pixels = src.asnumpy()
    edges = ((top, bot), (left, right), (0, 0))
    if type:
        return array(np.pad(pixels, edges, mode=_BORDERS[type]), dtype=src.dtype)
    bordered = np.empty((pixels.shape[0] + top + bot, pixels.shape[1] + left + right, pixels.shape[2]), pixels.dtype)
    fill = np.full(pixels.shape[2], value)
    if len(values):
        fill[:] = 0
        fill[: len(values)] = values[: len(fill)]
    bordered[:] = fill
    bordered[top : top + pixels.shape[0], left : left + pixels.shape[1]] = pixels
    return array(bordered, dtype=src.dtype)


def _get_interp_method(interp: int, sizes: tuple = ()) -> int:
    """A method that suits the sizes (rows and columns, old and new) for 9, any for 10, else the method itself."""
    if interp == 9:
        if not sizes:
            return _CUBIC
        if len(sizes) != 4:
            raise WrongValueError("sizes must be old rows, old columns, new rows, new columns")
        old_rows, old_columns, rows, columns = sizes
        if rows > old_rows and columns > old_columns:
            return _CUBIC
        return _AREA if rows < old_rows and columns < old_columns else _LINEAR
    if interp == 10:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"Unknown interp method {interp}")
    return interp


def scale_down(src_size: tuple, size: tuple) -> tuple[int, int]:
    """A size (width, height) made smaller, in proportion, until it fits into `src_size`."""
    width, height = size
    limit_width, limit_height = src_size
    if limit_height < height:
        width, height = float(width * limit_height) / height, limit_height
    if limit_width < width:
        width, height = limit_width, float(height * limit_width) / width
    return int(width), int(height)


def resize_short(src: NDArray, size: int, interp: int = 2) -> NDArray:
    """The image with its shorter side `size` long, in proportion."""
    rows, columns = src.shape[:2]
    if rows > columns:
        new = (size * rows // columns, size)
    else:
        new = (size, size * columns // rows)
    return imresize(src, new[1], new[0], _get_interp_method(interp, (rows, columns, *new)))


def fixed_crop(src: NDArray, x0: int, y0: int, w: int, h: int, size: Any = None, interp: int = 2) -> NDArray:
    """A part of the image, from column `x0` and row `y0`, resized to `size` (width, height) if there is one.

    Raises: MXNetError: it begins before the image, or has no pixels.
    """
    if min(x0, y0) < 0 or min(w, h) < 1:
        raise MXNetError(f"fixed_crop: there is no part from column {x0}, row {y0}, {w} x {h}")
    part = op.slice(src, begin=(y0, x0, 0), end=(y0 + h, x0 + w, int(src.shape[2])))
    if size is None or (w, h) == tuple(size):
        return part
    return imresize(part, *size, interp=_get_interp_method(interp, (h, w, size[1], size[0])))


def center_crop(src: NDArray, size: tuple, interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """The middle of the image in a size (width, height), and where it is: column, row, width, height.

    Of an image that is smaller, as much as there is in that proportion, resized.
    """
    rows, columns = src.shape[:2]
    width, height = scale_down((columns, rows), size)
    left, top = int((columns - width) / 2), int((rows - height) / 2)
    return fixed_crop(src, left, top, width, height, size, interp), (left, top, width, height)


def random_crop(src: NDArray, size: tuple, interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """The same of a place that is chosen at random."""
    rows, columns = src.shape[:2]
    width, height = scale_down((columns, rows), size)
    left, top = random.randint(0, columns - width), random.randint(0, rows - height)
    return fixed_crop(src, left, top, width, height, size, interp), (left, top, width, height)


def random_size_crop(
    src: NDArray, size: tuple, area: Any, ratio: tuple, interp: int = 2, **kwargs: Any
) -> tuple[NDArray, tuple[int, int, int, int]]:
    """A part of the image of a random place, area and proportion, resized to `size`, and where it is.

    Args:
        area: Lowest and highest share of the image; a number is the lowest, 1 the highest.
        ratio: Lowest and highest width divided by height.
    """
    if "min_area" in kwargs:
        area = kwargs.pop("min_area")
    if kwargs:
        raise WrongValueError(f"random_size_crop: there are no parameters {sorted(kwargs)}")
    rows, columns = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, numeric_types) else area
    for _ in range(10):
        pixels = random.uniform(low, high) * rows * columns
        proportion = np.exp(random.uniform(np.log(ratio[0]), np.log(ratio[1])))
        width, height = int(round(np.sqrt(pixels * proportion))), int(round(np.sqrt(pixels / proportion)))
        if 0 < width <= columns and 0 < height <= rows:
            left, top = random.randint(0, columns - width), random.randint(0, rows - height)
            return fixed_crop(src, left, top, width, height, size, interp), (left, top, width, height)
    return center_crop(src, size, interp)


def color_normalize(src: NDArray, mean: Any, std: Any = None) -> NDArray:
    """(src - mean) / std; each may be None. The image itself is edited."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


answer_all(globals())
