"""Rotation of images whose channels come first."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.ndarray import NDArray, array, op
from mxlite.ndarray._kinds import answer_all


def imrotate(src: NDArray, rotation_degrees: Any, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """The image turned around its middle, with linear interpolation; what comes from outside is 0.

    Args:
        src: float32 (channels, rows, columns), or a batch of these.
        rotation_degrees: A number; of a batch also an array with one for each image.
        zoom_in: Whether to enlarge it until nothing from outside is seen.
        zoom_out: Whether to make it smaller until all of it is seen.
    Raises: TypeError, ValueError: another dtype or number of axes, angles that do not fit, both kinds of zoom.
    """
    if zoom_in and zoom_out:
        raise ValueError("imrotate: one of zoom_in and zoom_out may be True")
    if src.dtype is not np.float32:
        raise TypeError("imrotate: the image must be float32")
    if src.ndim not in (3, 4):
        raise ValueError("imrotate: an image has 3 dimensions, a batch has 4")
    single = src.ndim == 3
    if single and not isinstance(rotation_degrees, (int, float, np.number)):
        raise TypeError("imrotate: one image has one angle, which is a number")
    images = src.expand_dims(0) if single else src
    degrees = rotation_degrees.asnumpy() if isinstance(rotation_degrees, NDArray) else np.asarray(rotation_degrees)
    if degrees.ndim and len(degrees) != len(images):
        raise ValueError("imrotate: there must be an angle for each image")
    angles = np.deg2rad(np.broadcast_to(degrees, (len(images),)).astype(np.float64))
    grid = array(_grid(angles, *images.shape[2:], zoom_in, zoom_out), dtype="float32")
    turned = op.BilinearSampler(images, grid)
    return turned[0] if single else turned


def _grid(angles: np.ndarray, rows: int, columns: int, zoom_in: bool, zoom_out: bool) -> np.ndarray:
    """Where each pixel comes from, (images, 2, rows, columns): column and row, from -1 to 1."""
    cos, sin = np.cos(angles)[:, None, None], np.sin(angles)[:, None, None]
    scale: Any = 1.0
    if zoom_in or zoom_out:
        width = columns * abs(cos) + rows * abs(sin)
        height = columns * abs(sin) + rows * abs(cos)
        scale = np.maximum(width / columns, height / rows)
        scale = 1 / scale if zoom_in else scale
    middle = np.array([(rows - 1) / 2, (columns - 1) / 2])
    down, right = np.mgrid[:rows, :columns] - middle[:, None, None]
    column, row = scale * (cos * right - sin * down), scale * (sin * right + cos * down)
    return np.stack([column / max(middle[1], 0.5), row / max(middle[0], 0.5)], 1)


def random_rotate(src: NDArray, angle_limits: tuple, zoom_in: bool = False, zoom_out: bool = False) -> NDArray:
    """The image turned by an angle (each of a batch by its own) that is drawn from between two, in degrees."""
    degrees = np.random.uniform(*angle_limits, size=None if src.ndim == 3 else len(src))
    return imrotate(src, degrees if src.ndim == 3 else array(degrees), zoom_in=zoom_in, zoom_out=zoom_out)


answer_all(globals())
