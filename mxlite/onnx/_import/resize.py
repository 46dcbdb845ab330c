"""Resize and Upsample: along each axis a choice of elements, or a matrix of weights."""

from __future__ import annotations

import math
from typing import Callable

import numpy as np

from mxlite.onnx._import.builder import FOLD_LIMIT, Builder
from mxlite.onnx._import.linalg import along
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor

MOST = 1 << 24


@reads("Upsample")
def upsample(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    scales = node.input(1).value.tolist() if node.has(1) else list(node.attr("scales", []))
    mode = {"bilinear": "linear"}.get(node.attr("mode", "nearest"), node.attr("mode", "nearest"))
    sizes = [math.floor(size * scale) for size, scale in zip(x.full_shape, scales)]
    for axis, (size, scale) in enumerate(zip(sizes, scales)):
        at = np.arange(size) / scale
        x = _resized(g, node, x, axis, at, scale, mode)
    return x


@reads("Resize")
def resize(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    old = node.opset < 11
    axes = node.ints("axes", list(range(x.rank)))
    axes = [node.whole_axis(axis, x.rank) for axis in axes]
    roi = node.input(1).value.tolist() if not old and node.has(1) and node.input(1).sized != (0,) else None
    place = 1 if old else 2
    shape = x.sized
    if node.has(place) and node.input(place).sized != (0,):
        scales = [float(each) for each in node.input(place).value]
        if len(scales) != len(axes):
            raise node.refuse(f"{len(scales)} scales of {len(axes)} axes")
        sizes = None
    else:
        sizes = node.input(3).ints
        if len(sizes) != len(axes):
            raise node.refuse(f"{len(sizes)} sizes of {len(axes)} axes")
        scales = [wish / size for wish, size in zip(sizes, (shape[axis] for axis in axes))]
        policy = node.attr("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            scale = min(scales) if policy == "not_larger" else max(scales)
            scales = [scale] * len(axes)
            sizes = [math.floor(scale * shape[axis] + 0.5) for axis in axes]
    frame = node.attr("coordinate_transformation_mode", "asymmetric" if old else "half_pixel")
    if old:
        frame = "asymmetric"
    if len(axes) == 2 and sizes is None and _is_repeat(node, scales, frame) and x.rank == 4 and axes == [2, 3]:
        return g.op("UpSampling", x, scale=int(scales[0]), sample_type="nearest", num_args=1)
    for number, axis in enumerate(axes):
        scale = scales[number]
        part = (roi[number], roi[number + len(axes)]) if roi and frame == "tf_crop_and_resize" else (0.0, 1.0)
        size = sizes[number] if sizes else math.floor(shape[axis] * (part[1] - part[0]) * scale)
        if scale == 1 and size in (shape[axis], -1) and frame != "tf_crop_and_resize":
            continue
        if shape[axis] < 0:
            x.full_shape  # noqa: B018 - raises the error of sizes that are not known
        if not 0 <= size <= MOST:
            raise node.refuse(f"a size of {size}")
        x = _resized(
            g,
            node,
            x,
            axis,
            _positions(node, frame, shape[axis], size, scale, part),
            scale,
            node.attr("mode", "nearest"),
            old,
        )
    return x


def _is_repeat(node: Node, scales: list[float], frame: str) -> bool:
    """Whether it repeats each element as often along both axes."""
    if (
        node.attr("mode", "nearest") != "nearest"
        or scales[0] != scales[1]
        or scales[0] != int(scales[0])
        or scales[0] < 2
    ):
        return False
    how = node.attr("nearest_mode", "round_prefer_floor")
    return frame == "asymmetric" and how == "floor"


def _positions(node: Node, frame: str, size: int, wish: int, scale: float, part: tuple[float, float]) -> np.ndarray:
    """Where in the old axis each entry of the new one lies."""
    at = np.arange(wish, dtype=np.float64)
    if frame == "asymmetric":
        return at / scale
    if frame == "half_pixel":
        return (at + 0.5) / scale - 0.5
    if frame == "half_pixel_symmetric":
        adjustment = wish / (scale * size)
        return size / 2 * (1 - adjustment) + (at + 0.5) / scale - 0.5
    if frame == "pytorch_half_pixel":
        return (at + 0.5) / scale - 0.5 if wish > 1 else at * 0
    if frame == "align_corners":
        return at * (size - 1) / (scale * size - 1) if wish > 1 else at * 0
    if frame == "tf_half_pixel_for_nn":
        return (at + 0.5) / scale
    if frame == "tf_crop_and_resize":
        start, end = part
        if wish > 1:
            return start * (size - 1) + at * (end - start) * (size - 1) / (wish - 1)
        return at + 0.5 * (start + end) * (size - 1)
    raise node.refuse(f"coordinate_transformation_mode {frame!r}")


NEAREST: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _resized(
    g: Builder, node: Node, x: Tensor, axis: int, at: np.ndarray, scale: float, mode: str, old: bool = False
) -> Tensor:
    size = x.sized[axis]
    outside = None
    if node.attr("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        outside = (at < 0) | (at > size - 1)
    if mode == "nearest":
        how = "floor" if old or node.kind == "Upsample" else node.attr("nearest_mode", "round_prefer_floor")
        chosen = np.clip(NEAREST[how](at), 0, size - 1).astype("int64")
        made = g.op("take", x, g.constant(chosen), axis=axis, mode="clip")
    else:
        made = along(g, x, _weights(node, at, size, scale, mode), axis)
    if outside is not None and outside.any():
        form = [1] * x.rank
        form[axis] = len(at)
        value = g.like(float(node.attr("extrapolation_value", 0.0)), x)
        made = g.where(g.constant(outside.reshape(form)), value, made)
    return made


def _weights(node: Node, at: np.ndarray, size: int, scale: float, mode: str) -> np.ndarray:
    """The matrix (new, old) of an interpolation."""
    shrinks = bool(node.attr("antialias", 0)) and scale < 1
    stretch = scale if shrinks else 1.0
    reach = (1.0 if mode == "linear" else 2.0) / stretch
    slope = float(node.attr("cubic_coeff_a", -0.75))
    if len(at) * size > FOLD_LIMIT:
        raise node.refuse(f"sizes {size} and {len(at)} of an axis")
    matrix = np.zeros((len(at), size))
    excludes = bool(node.attr("exclude_outside", 0))
    for row, middle in enumerate(at):
        places = np.arange(
            math.floor(middle - reach) + 1, math.ceil(middle + reach) + (middle + reach == math.ceil(middle + reach))
        )
        apart = np.abs(places - middle) * stretch
        weights = np.maximum(0, 1 - apart) if mode == "linear" else _cubic(apart, slope)
        if excludes:
            weights = np.where((places >= 0) & (places < size), weights, 0)
        if excludes or shrinks:
            weights = weights / weights.sum()
        np.add.at(matrix[row], np.clip(places, 0, size - 1), weights)
    return matrix


def _cubic(apart: np.ndarray, slope: float) -> np.ndarray:
    near = ((slope + 2) * apart - (slope + 3)) * apart * apart + 1
    far = ((slope * apart - 5 * slope) * apart + 8 * slope) * apart - 4 * slope
    return np.where(apart <= 1, near, np.where(apart < 2, far, 0))
