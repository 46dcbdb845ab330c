"""Sampling from grids and regions, deformable convolution, columns, and the inverse of pooling."""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any, Callable

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.convolution import even_pads, windows
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.shape import padded
from mxlite.onnx._import.tensor import Tensor


@reads("GridSample")
def grid_sample(g: Builder, node: Node) -> Tensor:
    x, grid = node.input(0), node.input(1)
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(node.attr("mode", "linear"), node.attr("mode", "linear"))
    padding, corners = node.attr("padding_mode", "zeros"), bool(node.attr("align_corners", 0))
    if mode == "linear" and padding == "zeros" and corners and x.rank == 4:
        return g.op("BilinearSampler", x, g.transpose(grid, (0, 3, 1, 2)))
    shape, count = x.full_shape, x.rank - 2
    sizes, places = list(shape[2:]), list(grid.full_shape[1:-1])
    flat = g.reshape(x, (shape[0], shape[1], -1))
    at = []
    for axis in range(count):  # the last coordinate is that of the first axis
        part = g.reshape(g.slice(grid, count + 1, count - 1 - axis, count - axis), (shape[0], -1))
        size = sizes[axis]
        if corners:
            at.append(g.mul(g.add(part, 1.0), (size - 1) / 2))
        else:
            at.append(g.sub(g.mul(g.add(part, 1.0), size / 2), 0.5))
    if mode == "cubic":
        made = _sampled(g, flat, at, sizes, padding, corners, _cubic_taps)
    else:
        if padding != "zeros":
            at = [_within(g, each, size, padding, corners) for each, size in zip(at, sizes)]
        made = _sampled(g, flat, at, sizes, padding, corners, _nearest_taps if mode == "nearest" else _linear_taps)
    return g.reshape(made, (shape[0], shape[1], *places))


def _within(g: Builder, at: Tensor, size: int, padding: str, corners: bool) -> Tensor:
    """Positions brought into an axis: to its ends, or reflected at them."""
    if padding == "reflection":
        low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
        span = high - low
        if span == 0:
            return g.op("zeros_like", at)
        away = g.op("abs", g.sub(at, low))
        turn = g.op("_mxl_remainder", away, g.like(2 * span, at))
        at = g.add(g.sub(g.like(span, at), g.op("abs", g.sub(turn, span))), low)
    return g.op("clip", at, a_min=0.0, a_max=size - 1.0)


def _nearest_taps(g: Builder, at: Tensor) -> list[tuple[Tensor, Tensor | None]]:
    return [(g.op("_mxl_round_even", at), None)]


def _linear_taps(g: Builder, at: Tensor) -> list[tuple[Tensor, Tensor | None]]:
    low = g.op("floor", at)
    part = g.sub(at, low)
    return [(low, g.op("_rminus_scalar", part, scalar=1.0)), (g.add(low, 1.0), part)]


def _cubic_taps(g: Builder, at: Tensor) -> list[tuple[Tensor, Tensor | None]]:
    low, slope = g.op("floor", at), -0.75
    part = g.sub(at, low)
    taps: list[tuple[Tensor, Tensor | None]] = []
    for step in range(-1, 3):
        away = g.op("abs", g.sub(part, float(step)))
        if step in (0, 1):
            inner = g.sub(g.mul(away, slope + 2), slope + 3)
            weight = g.add(g.mul(g.mul(inner, away), away), 1.0)
        else:
            inner = g.sub(g.mul(away, slope), 5 * slope)
            weight = g.sub(g.mul(g.add(g.mul(inner, away), 8 * slope), away), 4 * slope)
        taps.append((g.add(low, float(step)), weight))
    return taps


Taps = Callable[[Builder, Tensor], "list[tuple[Tensor, Tensor | None]]"]


def _sampled(
    g: Builder, flat: Tensor, at: list[Tensor], sizes: list[int], padding: str, corners: bool, taps_of: Taps
) -> Tensor:
    """The sum over the elements beside each position, weighted; those outside count as the padding says."""
    batch, channels = flat.full_shape[:2]
    parts: list[Tensor] = []
    for choice in itertools.product(*(taps_of(g, each) for each in at)):
        place: Any = None
        weight: Any = None
        inside: Any = None
        for (where, part), size in zip(choice, sizes):
            if padding == "zeros":
                fits = g.op("_npi_bitwise_and", g.op("_npi_greater_equal", where, g.like(0, where)),
                            g.op("_npi_less", where, g.like(size, where)))  # fmt: skip
                inside = fits if inside is None else g.op("_npi_bitwise_and", inside, fits)
                where = g.op("clip", where, a_min=0.0, a_max=size - 1.0)
            else:
                where = _within(g, where, size, padding, corners)
            whole = g.cast(where, "int64")
            place = whole if place is None else g.add(g.mul(place, g.constant(np.int64(size))), whole)
            if part is not None:
                weight = part if weight is None else g.mul(weight, part)
        count = place.size_at(1)
        spread = g.broadcast(g.reshape(place, (batch, 1, count)), (batch, channels, count))
        value = g.op("_mxl_gather", flat, spread, axis=2)
        if weight is not None:
            value = g.op("broadcast_mul", value, g.reshape(weight, (batch, 1, count)))
        if inside is not None:
            value = g.where(g.reshape(inside, (batch, 1, count)), value, g.like(0, value))
        parts.append(value)
    return reduce(g.add, parts)


@reads("RoiAlign")
def roi_align(g: Builder, node: Node) -> Tensor:
    x, boxes, batches = node.input(0), node.input(1), node.input(2)
    half = node.attr("coordinate_transformation_mode", "half_pixel" if node.opset >= 16 else "output_half_pixel")
    if node.attr("mode", "avg") != "avg":
        return _roi_max(g, node, half == "half_pixel")
    rows = g.concat([g.reshape(g.cast(batches, x.dtype), (-1, 1)), boxes], 1)
    size = (int(node.attr("output_height", 1)), int(node.attr("output_width", 1)))
    ratio = int(node.attr("sampling_ratio", 0))
    return g.op(
        "_contrib_ROIAlign", x, rows, pooled_size=size, spatial_scale=float(node.attr("spatial_scale", 1.0)),
        sample_ratio=ratio if ratio > 0 else -1, aligned=half == "half_pixel",
    )  # fmt: skip


def _roi_max(g: Builder, node: Node, is_half: bool) -> Tensor:
    """The greatest of the weighted elements beside each sample, of all samples of a bin."""
    x, boxes, batches = node.input(0), node.input(1), node.input(2)
    count, scale = int(node.attr("sampling_ratio", 0)), float(node.attr("spatial_scale", 1.0))
    if not 0 < count <= 64:
        raise node.refuse("mode 'max' of a number of samples that depends on the boxes' sizes, or of more than 64")
    channels, sizes = x.size_at(1), [x.size_at(2), x.size_at(3)]
    rois = boxes.size_at(0)
    corners = g.sub(g.mul(boxes, scale), 0.5 if is_half else 0.0)
    taps = []
    for axis, name in enumerate(("output_height", "output_width")):
        bins = int(node.attr(name, 1))
        start, end = (g.slice(corners, 1, at, at + 1) for at in (1 - axis, 3 - axis))
        length = g.sub(end, start) if is_half else g.binary("maximum", g.sub(end, start), 1.0)
        shares = ((np.arange(bins)[:, None] + (np.arange(count)[None] + 0.5) / count) / bins).reshape(1, -1)
        at = g.add(start, g.op("broadcast_mul", length, g.like(shares, x)))
        inside = g.op("_npi_bitwise_and", g.op("_npi_greater_equal", at, g.like(-1, at)),
                      g.op("_npi_less_equal", at, g.like(sizes[axis], at)))  # fmt: skip
        at = g.op("clip", at, a_min=0.0, a_max=sizes[axis] - 1.0)
        low = g.op("floor", at)
        part = g.sub(at, low)
        high = g.binary("minimum", g.add(low, 1.0), sizes[axis] - 1.0)
        form = (rois, bins, count, 1, 1) if axis == 0 else (rois, 1, 1, bins, count)
        weights = g.op("_rminus_scalar", part, scalar=1.0), part
        kept = [g.where(inside, each, g.like(0, each)) for each in weights]
        taps.append([(g.reshape(g.cast(a, "int64"), form), g.reshape(b, form)) for a, b in zip((low, high), kept)])
    rows = g.reshape(g.transpose(x, (0, 2, 3, 1)), (-1, channels))
    first = g.mul(g.reshape(g.cast(batches, "int64"), (rois, 1, 1, 1, 1)), g.constant(np.int64(sizes[0] * sizes[1])))
    found = []
    for (row, a), (column, b) in itertools.product(*taps):
        place = g.add(g.add(g.mul(row, g.constant(np.int64(sizes[1]))), column), first)
        weight = g.expand_dims(g.op("broadcast_mul", a, b), [5])
        found.append(g.op("broadcast_mul", g.op("take", rows, place, axis=0, mode="clip"), weight))
    best = reduce(lambda one, other: g.op("broadcast_maximum", one, other), found)
    return g.transpose(g.op("_np_max", best, axis=(2, 4)), (0, 3, 1, 2))


@reads("MaxRoiPool")
def roi_pool(g: Builder, node: Node) -> Tensor:
    size, scale = tuple(node.ints("pooled_shape")), float(node.attr("spatial_scale", 1.0))
    return g.op("ROIPooling", node.input(0), node.input(1), pooled_size=size, spatial_scale=scale)


@reads("DeformConv")
def deformable(g: Builder, node: Node) -> Tensor:
    x, weight, offset = node.input(0), node.input(1), node.input(2)
    bias, mask = node.optional(3), node.optional(4)
    kernel = list(weight.sizes_from(2))
    strides, dilations, pads = windows(node, x, kernel)
    x, pad = even_pads(g, x, pads)
    params = {"kernel": tuple(kernel), "stride": tuple(strides), "dilate": tuple(dilations), "pad": pad,
              "num_filter": weight.size_at(0), "num_group": int(node.attr("group", 1)),
              "num_deformable_group": int(node.attr("offset_group", 1)), "no_bias": bias is None}  # fmt: skip
    end = [] if bias is None else [bias]
    if mask is None:
        return g.op("_contrib_DeformableConvolution", x, offset, weight, *end, **params)
    return g.op("_contrib_ModulatedDeformableConvolution", x, offset, mask, weight, *end, **params)


@reads("Col2Im")
def columns(g: Builder, node: Node) -> Tensor:
    x, image, block = node.input(0), node.input(1).ints, node.input(2).ints
    count = len(block)
    strides, dilations = node.ints("strides", [1] * count), node.ints("dilations", [1] * count)
    given = node.ints("pads", [0] * (2 * count))
    # Each entry is added where it belongs in the padded image, whose edges are then cut off.
    sizes = [size + low + high for size, low, high in zip(image, given, given[count:])]
    counts = [
        (size - (wide - 1) * step - 1) // stride + 1
        for size, wide, stride, step in zip(sizes, block, strides, dilations)
    ]
    if min(*sizes, *counts) < 1 or np.prod(sizes, dtype=float) > 1 << 28:
        raise node.refuse(f"an image {image} of blocks {block}")
    place = np.zeros((1,) * (2 * count), "int64")
    for axis in range(count):
        at = np.arange(block[axis])[:, None] * dilations[axis] + np.arange(counts[axis])[None] * strides[axis]
        form = [1] * (2 * count)
        form[axis], form[count + axis] = at.shape
        place = place * sizes[axis] + at.reshape(form)
    batch, total = x.size_at(0), int(np.prod(sizes))
    source = g.reshape(x, (batch, -1, place.size))
    channels = source.size_at(1)
    places = g.constant(np.ascontiguousarray(np.broadcast_to(place.reshape(1, 1, -1), source.full_shape)))
    empty = g.constant(np.zeros((batch, channels, total)), x.dtype)
    made = g.reshape(g.op("_mxl_scatter_add", empty, places, source, axis=2), (batch, channels, *sizes))
    for axis in range(count):
        made = g.slice(made, axis + 2, given[axis], given[axis] + image[axis])
    return made


@reads("MaxUnpool")
def unpool(g: Builder, node: Node) -> Tensor:
    x, places = node.input(0), node.input(1)
    kernel = node.ints("kernel_shape")
    strides, _, pads = windows(node, x, kernel)
    shape = list(x.full_shape)
    old = [(size - 1) * stride - low - high + wide for size, stride, (low, high), wide in
           zip(shape[2:], strides, pads, kernel)]  # fmt: skip
    sizes = node.input(2).ints[-len(kernel) :] if node.has(2) else old
    total = int(np.prod(shape[:2]) * np.prod(old))
    flat = g.op(
        "_mxl_scatter", g.constant(np.zeros(total), x.dtype), g.reshape(places, (-1,)), g.reshape(x, (-1,)), axis=0
    )
    made = g.reshape(flat, (*shape[:2], *old))
    # The places count in a tensor of the natural size, which a greater output holds at its beginning.
    behind = [wish - size for wish, size in zip(sizes, old)]
    if min(behind) < 0:
        raise node.refuse(f"output_shape {sizes} is less than {old}")
    return padded(g, made, [(0, 0), (0, 0), *((0, size) for size in behind)], "constant")
