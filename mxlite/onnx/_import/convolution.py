"""Convolutions and poolings of ONNX."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np

from mxlite.onnx._import.builder import FOLD_LIMIT, Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.shape import padded
from mxlite.onnx._import.tensor import Tensor

Pads = list[tuple[int, int]]


def windows(node: Node, x: Tensor, kernel: list[int]) -> tuple[list[int], list[int], Pads]:
    """Strides, dilations and pads of a convolution or pooling.

    Raises: OnnxError: they are not as many as the kernel's axes, or no such windows exist.
    """
    count = len(kernel)
    if x.rank != count + 2:
        raise node.refuse(f"a kernel of {count} axes of a tensor of {x.rank}")
    strides, dilations = node.ints("strides", [1] * count), node.ints("dilations", [1] * count)
    given = node.ints("pads", [0] * (2 * count))
    if not (len(strides) == len(dilations) == count and len(given) == 2 * count):
        raise node.refuse(f"a kernel {kernel} with strides {strides}, dilations {dilations}, pads {given}")
    if min(strides, default=1) < 1 or min(dilations, default=1) < 1 or min(kernel, default=1) < 1:
        raise node.refuse(f"a kernel {kernel} with strides {strides}, dilations {dilations}")
    if max(map(abs, given), default=0) > 1 << 20 or min(given, default=0) < 0:
        raise node.refuse(f"pads {given}")
    auto = node.attr("auto_pad", "NOTSET")
    pads = list(zip(given, given[count:]))
    if auto == "VALID":
        pads = [(0, 0)] * count
    elif auto in ("SAME_UPPER", "SAME_LOWER"):
        pads = []
        for size, wide, stride, step in zip(x.sizes_from(2), kernel, strides, dilations):
            total = max(0, (math.ceil(size / stride) - 1) * stride + (wide - 1) * step + 1 - size)
            pads.append((total // 2, total - total // 2) if auto == "SAME_UPPER" else (total - total // 2, total // 2))
    return strides, dilations, pads


def even_pads(g: Builder, x: Tensor, pads: Pads, value: float = 0) -> tuple[Tensor, tuple[int, ...]]:
    """A tensor and the pads that its operator shall add: those that differ before and behind are added here."""
    if all(before == after for before, after in pads):
        return x, tuple(before for before, _ in pads)
    return padded(g, x, [(0, 0), (0, 0), *pads], "constant", value), (0,) * len(pads)


@reads("Conv")
def convolution(g: Builder, node: Node) -> Tensor:
    return convolve(g, node, node.input(0), node.input(1), node.optional(2))


def convolve(g: Builder, node: Node, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The convolution that a node says."""
    kernel = list(weight.sizes_from(2))
    if node.ints("kernel_shape", kernel) != kernel:
        raise node.refuse(f"kernel_shape {node.ints('kernel_shape')} of a weight of shape {weight.shape}")
    strides, dilations, pads = windows(node, x, kernel)
    x, pad = even_pads(g, x, pads)
    inputs = [x, weight] if bias is None else [x, weight, bias]
    return g.op(
        "Convolution", *inputs, kernel=tuple(kernel), stride=tuple(strides), dilate=tuple(dilations), pad=pad,
        num_filter=weight.size_at(0), num_group=int(node.attr("group", 1)), no_bias=bias is None,
    )  # fmt: skip


@reads("ConvTranspose")
def transposed(g: Builder, node: Node) -> Tensor:
    x, weight, bias = node.input(0), node.input(1), node.optional(2)
    kernel = list(weight.sizes_from(2))
    count, groups = len(kernel), int(node.attr("group", 1))
    strides, dilations, pads = windows_of_transposed(node, x, kernel)
    more = node.ints("output_padding", [0] * count)
    wanted = node.ints("output_shape")
    natural = [(size - 1) * stride + (wide - 1) * step + 1 for size, stride, wide, step in
               zip(x.sizes_from(2), strides, kernel, dilations)]  # fmt: skip
    auto = node.attr("auto_pad", "NOTSET")
    if wanted is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [size * stride for size, stride in zip(x.sizes_from(2), strides)]
    if wanted is not None:
        wanted = wanted[-count:]
        pads = []
        for size, extra, wish in zip(natural, more, wanted):
            total = size + extra - wish
            low, high = total // 2, total - total // 2
            pads.append((low, high) if auto == "SAME_UPPER" else (high, low))
    filters = weight.size_at(1) * groups
    params = {"kernel": tuple(kernel), "stride": tuple(strides), "dilate": tuple(dilations), "num_filter": filters,
              "num_group": groups}  # fmt: skip
    if all(low == high >= 0 for low, high in pads) and all(extra < stride for extra, stride in zip(more, strides)):
        inputs = [x, weight] if bias is None else [x, weight, bias]
        pad = tuple(low for low, _ in pads)
        return g.op("Deconvolution", *inputs, pad=pad, adj=tuple(more), no_bias=bias is None, **params)
    made = g.op("Deconvolution", x, weight, no_bias=True, **params)
    widths = [(0, 0), (0, 0)]
    for axis, (size, extra, (low, high)) in enumerate(zip(natural, more, pads)):
        behind = high - extra
        begin, end = max(low, 0), size - max(behind, 0)
        if (begin, end) != (0, size):
            made = g.slice(made, axis + 2, begin, end)
        widths.append((max(-low, 0), max(-behind, 0)))
    made = padded(g, made, widths, "constant")
    return made if bias is None else g.op("broadcast_add", made, g.reshape(bias, (1, -1, *(1,) * count)))


def windows_of_transposed(node: Node, x: Tensor, kernel: list[int]) -> tuple[list[int], list[int], Pads]:
    """The same for a transposed convolution, whose pads no `auto_pad` says here."""
    kept = node.attributes.pop("auto_pad", None)
    try:
        return windows(node, x, kernel)
    finally:
        if kept is not None:
            node.attributes["auto_pad"] = kept


# ---- pooling ----


@reads("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    axes = tuple(range(2, x.rank))
    if node.kind == "GlobalLpPool":
        p = float(node.attr("p", 2))
        return g.op("_power_scalar", g.sum(g.op("_power_scalar", g.op("abs", x), scalar=p), axes, True), scalar=1 / p)
    if 3 <= x.rank <= 5 and not x.is_known and x.is_float:
        kind = "avg" if node.kind == "GlobalAveragePool" else "max"
        return g.op("Pooling", x, kernel=(1,) * (x.rank - 2), global_pool=True, pool_type=kind)
    return g.mean(x, axes, True) if node.kind == "GlobalAveragePool" else g.op("_np_max", x, axis=axes, keepdims=True)


def _sizes_after(
    sizes: list[int], kernel: list[int], strides: list[int], dilations: list[int], pads: Pads, ceil: bool
) -> list[int]:
    found = []
    for size, wide, stride, step, (low, high) in zip(sizes, kernel, strides, dilations, pads):
        room = size + low + high - (wide - 1) * step - 1
        count = (-(-room // stride) if ceil else room // stride) + 1
        if ceil and (count - 1) * stride >= size + low:
            count -= 1
        found.append(count)
    return found


@reads("MaxPool", "AveragePool", "LpPool")
def pool(g: Builder, node: Node) -> Tensor | list[Tensor]:
    x, kernel = node.input(0), node.ints("kernel_shape")
    strides, dilations, pads = windows(node, x, kernel)
    ceil = bool(node.attr("ceil_mode", 0)) and node.attr("auto_pad", "NOTSET") == "NOTSET"
    include = bool(node.attr("count_include_pad", 0))
    if node.kind == "LpPool":
        p = float(node.attr("p", 2))
        powers = g.op("_power_scalar", g.op("abs", x), scalar=p)
        made = _pool(g, powers, "sum", kernel, strides, dilations, pads, ceil, False)
        return g.op("_power_scalar", made, scalar=1 / p)
    kind = "max" if node.kind == "MaxPool" else "avg"
    if kind == "max" and len(node.outputs) > 1 and node.outputs[1]:
        return _pool_with_places(g, node, x, kernel, strides, dilations, pads, ceil)
    return _pool(g, x, kind, kernel, strides, dilations, pads, ceil, include)


def _pool(
    g: Builder, x: Tensor, kind: str, kernel: list[int], strides: list[int], dilations: list[int], pads: Pads,
    ceil: bool, include: bool,
) -> Tensor:  # fmt: skip
    """Pooling by our operator where it has such windows, else by taking all windows."""
    even = all(low == high for low, high in pads) and set(dilations) == {1} and len(kernel) <= 3 and x.is_float
    if even and all(low < wide for (low, _), wide in zip(pads, kernel)):
        convention = "valid"
        sizes = list(x.sized[2:])
        if ceil and min(sizes) >= 0:
            ours = _sizes_after(sizes, kernel, strides, dilations, pads, True)
            floor = _sizes_after(sizes, kernel, strides, dilations, pads, False)
            rounded = [-(-(size + 2 * low - wide) // stride) + 1
                       for size, (low, _), wide, stride in zip(sizes, pads, kernel, strides)]  # fmt: skip
            convention = "valid" if ours == floor else "full" if ours == rounded and kind == "max" else ""
        elif ceil:
            convention = "full" if kind == "max" else ""
        if convention:
            given = {"count_include_pad": include} if kind == "avg" else {}
            return g.op(
                "Pooling", x, kernel=tuple(kernel), stride=tuple(strides), pad=tuple(low for low, _ in pads),
                pool_type=kind, pooling_convention=convention, **given,
            )  # fmt: skip
    sizes = list(x.sizes_from(2))
    counts = _sizes_after(sizes, kernel, strides, dilations, pads, ceil)
    inside, widths = _inside(sizes, counts, kernel, strides, dilations, pads)
    value = _least(x) if kind == "max" else 0
    if set(dilations) == {1} and len(kernel) <= 3 and x.is_float:
        # What is added around is as much as the windows reach over, so that none is cut.
        full = padded(g, x, [(0, 0), (0, 0), *widths], "constant", value)
        how = "max" if kind == "max" else "sum"
        made = g.op("Pooling", full, kernel=tuple(kernel), stride=tuple(strides), pool_type=how)
    else:
        parts = _taken(g, x, counts, kernel, strides, dilations, widths, value)
        axes = tuple(range(3, 3 + 2 * len(kernel), 2))
        made = g.op("_np_max", parts, axis=axes) if kind == "max" else g.sum(parts, axes)
    if kind != "avg":
        return made
    if include:
        rooms = [size + low + high for size, (low, high) in zip(sizes, pads)]
        inside = [_with_pads(*each) for each in zip(counts, kernel, strides, dilations, rooms)]
    share = 1 / reduce(np.multiply.outer, [each.sum(1) for each in inside])
    return g.op("broadcast_mul", made, g.like(share[None, None], x))


def _least(x: Tensor) -> float:
    return -np.inf if x.is_float else float(np.iinfo(np.dtype(x.dtype)).min)


def _inside(
    sizes: list[int], counts: list[int], kernel: list[int], strides: list[int], dilations: list[int], pads: Pads
) -> tuple[list[np.ndarray], Pads]:
    """For each axis which entries of the windows lie in the tensor, (places, kernel), and what windows reach over."""
    inside, widths = [], []
    for size, count, wide, stride, step, (low, _) in zip(sizes, counts, kernel, strides, dilations, pads):
        if count * wide > FOLD_LIMIT:
            raise ValueError(f"{count} windows of {wide} elements along an axis")
        last = (count - 1) * stride + (wide - 1) * step + 1
        widths.append((low, max(0, last - low - size)))
        at = np.arange(count)[:, None] * stride + np.arange(wide)[None] * step - low
        inside.append(((at >= 0) & (at < size)) * 1.0)
    return inside, widths


def _with_pads(count: int, wide: int, stride: int, step: int, room: int) -> np.ndarray:
    """The same where padding counts too: all entries but those beyond it, which rounding up adds."""
    at = np.arange(count)[:, None] * stride + np.arange(wide)[None] * step
    return (at < room) * 1.0


def _taken(
    g: Builder, x: Tensor, counts: list[int], kernel: list[int], strides: list[int], dilations: list[int],
    widths: Pads, value: float,
) -> Tensor:  # fmt: skip
    """All windows, (N, C, places, kernel, places, kernel, ...)."""
    x = padded(g, x, [(0, 0), (0, 0), *widths], "constant", value)
    for number, (count, wide, stride, step) in enumerate(zip(counts, kernel, strides, dilations)):
        at = np.arange(count)[:, None] * stride + np.arange(wide)[None] * step
        x = g.op("take", x, g.constant(at.astype("int64")), axis=2 + 2 * number, mode="clip")
    return x


def _pool_with_places(
    g: Builder, node: Node, x: Tensor, kernel: list[int], strides: list[int], dilations: list[int], pads: Pads,
    ceil: bool,
) -> list[Tensor]:  # fmt: skip
    """The greatest elements of windows and where they are, counted over the whole tensor."""
    count, shape = len(kernel), x.full_shape
    counts = _sizes_after(list(shape[2:]), kernel, strides, dilations, pads, ceil)
    _, widths = _inside(list(shape[2:]), counts, kernel, strides, dilations, pads)
    parts = _taken(g, x, counts, kernel, strides, dilations, widths, _least(x))
    order = [0, 1, *range(2, 2 + 2 * count, 2), *range(3, 3 + 2 * count, 2)]
    spatial = [parts.size_at(axis) for axis in order[2 : 2 + count]]
    flat = g.reshape(g.transpose(parts, order), (shape[0], shape[1], *spatial, int(np.prod(kernel))))
    best = g.cast(g.op("_mxl_argmax", flat, axis=-1, keepdims=True), "int64")
    sizes = list(shape[2:])
    column = bool(node.attr("storage_order", 0))
    steps = np.cumprod([1, *sizes])[:-1] if column else np.cumprod([1, *sizes[::-1]])[:-1][::-1]
    total = np.zeros((1,) * (2 * count), "int64")
    for axis, (wide, stride, step, (low, _)) in enumerate(zip(kernel, strides, dilations, pads)):
        at = (np.arange(spatial[axis])[:, None] * stride + np.arange(wide)[None] * step - low) * steps[axis]
        form = [1] * (2 * count)
        form[axis], form[count + axis] = at.shape
        total = total + at.reshape(form)
    table = np.broadcast_to(total.reshape(1, 1, *spatial, -1), flat.full_shape)
    offset = np.arange(shape[0] * shape[1], dtype="int64").reshape(shape[0], shape[1], *(1,) * count) * int(
        np.prod(sizes)
    )
    places = g.reshape(
        g.op("_mxl_gather", g.constant(np.ascontiguousarray(table)), best, axis=-1), best.full_shape[:-1]
    )
    return [g.op("_np_max", flat, axis=(-1,)), g.add(places, g.constant(offset))]
