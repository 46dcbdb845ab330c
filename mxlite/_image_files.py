"""Images read and written, as NumPy arrays with OpenCV's conventions.

The library reads PNG and JPEG, bit for bit as 1.9.1; Pillow, which is imported on first use, reads other formats, reads
images as they are stored, and writes.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mxlite.error import MXNetError

#: Orders of channels: of colour images as they are stored (rows of 4: with alpha), and OpenCV's.
_BGR = {3: [2, 1, 0], 4: [2, 1, 0, 3]}
_FORMATS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG", ".bmp": "BMP", ".tif": "TIFF", ".tiff": "TIFF"}
_FORMATS[".webp"] = "WEBP"


def pillow() -> Any:
    """Pillow's module Image.

    Raises: ImportError: it is not installed; the text says what to install.
    """
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("reading and writing images needs Pillow: pip install mxlite[image]") from None
    return Image


def by_library(data: bytes) -> bool:
    """Whether the library reads the image: a PNG or a JPEG."""
    return data[:3] == b"\xff\xd8\xff" or data[:8] == b"\x89PNG\r\n\x1a\n"


def decode_by_library(data: bytes, color: int, to_rgb: bool, what: str) -> Any:
    """The pixels of a PNG or JPEG, an NDArray of three axes.

    Raises: MXNetError: it is broken.
    """
    from mxlite.ndarray import _internal, array

    try:
        return _internal._cvimdecode(array(np.frombuffer(data, np.uint8), dtype="uint8"), flag=color, to_rgb=to_rgb)
    except MXNetError as error:
        raise MXNetError(f"cannot decode {what}: {error}") from None


def decode(data: Any, color: int, what: str = "the buffer") -> np.ndarray:
    """The pixels of an encoded image, as rows, columns and, of a colour image, channels R, G, B.

    Args:
        data: Bytes of a JPEG, PNG, BMP or whatever else Pillow reads.
        color: 1: uint8, 3 channels. 0: uint8, gray, without an axis of channels. -1: as it is stored, which may have
            an alpha channel or 16 bits.
        what: What the text of an error calls the image.
    Raises: MXNetError: it is no image, or a broken one.
    """
    data = bytes(data) if not isinstance(data, bytes) else data
    if color >= 0 and by_library(data):
        pixels: np.ndarray = decode_by_library(data, color, True, what).asnumpy()
        return pixels if color else pixels[:, :, 0]
    module = pillow()
    if not data:
        raise MXNetError(f"cannot decode {what}: it is empty")
    try:
        with module.open(io.BytesIO(data)) as image:
            return _pixels(image, color)
    except module.UnidentifiedImageError:
        raise MXNetError(f"cannot decode {what}: it is no image of a format that Pillow reads") from None
    except Exception as error:  # Pillow's decoders raise what they like: OSError, SyntaxError, struct.error, ...
        raise MXNetError(f"cannot decode {what}: {error}") from None


def encode(image: np.ndarray, extension: str, quality: int) -> bytes:
    """The file of an image, whose channels are B, G, R, and A of four.

    Args:
        extension: Its format, such as ".jpg".
        quality: Of JPEG, 1 to 100; the level of compression of PNG, 0 to 9; others have none.
    Raises: ValueError: a format or an image that cannot be written. TypeError: the image is not a NumPy array.
    """
    kind = _FORMATS.get(extension.lower())
    if kind is None:
        raise ValueError(f"cannot encode images as {extension!r}; formats are {', '.join(_FORMATS)}")
    if not isinstance(image, np.ndarray):
        raise TypeError(f"the image must be a NumPy array, got {type(image).__name__}")
    if image.dtype != np.uint8:
        image = np.clip(np.rint(image), 0, 255).astype(np.uint8)
    if image.ndim == 3 and image.shape[2] in _BGR:
        image = image[:, :, _BGR[image.shape[2]]]
    elif image.ndim == 3 and image.shape[2] == 1:
        image = image[:, :, 0]
    if image.ndim not in (2, 3) or not image.size or image.ndim == 3 and image.shape[2] not in _BGR:
        raise ValueError(f"cannot encode an image of the shape {image.shape}")
    if kind == "JPEG" and image.ndim == 3:
        image = image[:, :, :3]
    options: dict[str, Any] = {}
    if kind == "JPEG":
        options = {"quality": min(max(quality, 0), 100)}
    elif kind == "PNG":
        options = {"compress_level": min(max(quality, 0), 9)}
    file = io.BytesIO()
    pillow().fromarray(np.ascontiguousarray(image)).save(file, kind, **options)
    return file.getvalue()


def bgr(image: np.ndarray) -> np.ndarray:
    """A colour image with its first and third channels exchanged; a gray one as it is."""
    return image if image.ndim == 2 else np.ascontiguousarray(image[:, :, _BGR[image.shape[2]]])


def _pixels(image: Any, color: int) -> np.ndarray:
    if image.mode in ("1", "P"):
        image = image.convert("RGBA" if "transparency" in image.info else "RGB" if image.mode == "P" else "L")
    elif image.mode in ("CMYK", "YCbCr", "HSV", "LAB"):
        image = image.convert("RGB")
    elif image.mode == "LA" and color < 0:
        image = image.convert("RGBA")
    pixels = np.asarray(image)
    if color < 0:
        return pixels.astype(np.uint16) if pixels.dtype == np.int32 else pixels
    if pixels.dtype != np.uint8:
        pixels = (pixels >> 8).astype(np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 2:
        pixels = pixels[:, :, 0]
    if color == 0:
        return pixels if pixels.ndim == 2 else _gray(pixels)
    return np.repeat(pixels[:, :, None], 3, 2) if pixels.ndim == 2 else np.ascontiguousarray(pixels[:, :, :3])


def _gray(pixels: np.ndarray) -> np.ndarray:
    weights = np.array([9797, 19234, 3737], np.int32)
    return ((pixels[:, :, :3] @ weights) >> 15).astype(np.uint8)
