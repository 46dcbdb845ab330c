"""Operators of ONNX that choose, place, order and count elements."""

from __future__ import annotations

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor


@reads("Gather")
def gather(g: Builder, node: Node) -> Tensor:
    x, indices = node.input(0), node.input(1)
    if x.sizes is not None:
        return g.sizes(x.sizes[indices.value.astype(np.int64)])
    axis = node.axis("axis", 0, x.rank)
    if not indices.is_known and axis == 0 and x.is_known and x.rank == 2 and x.is_float and x.sized[0] > 1:
        return g.op("take", x, indices, axis=0, mode="wrap")
    return g.op("take", x, _checked(node, indices, x.sized[axis]), axis=axis, mode="wrap")


def _checked(node: Node, indices: Tensor, size: int) -> Tensor:
    if indices.is_known and size >= 0:
        values = indices.value
        if values.size and (values.min() < -size or values.max() >= size):
            raise node.refuse(f"an index is outside the axis' size of {size}")
    return indices


def whole(g: Builder, indices: Tensor, size: int) -> Tensor:
    """Indices counted from the front."""
    indices = g.cast(indices, "int64")
    if indices.is_known:
        return g.constant(np.where(indices.value < 0, indices.value + size, indices.value))
    return g.where(
        g.op("_npi_less", indices, g.constant(np.int64(0))), g.add(indices, g.constant(np.int64(size))), indices
    )


@reads("GatherElements")
def gather_elements(g: Builder, node: Node) -> Tensor:
    x, indices = node.input(0), node.input(1)
    axis = node.axis("axis", 0, x.rank)
    return g.op("_mxl_gather", x, whole(g, indices, x.size_at(axis)), axis=axis)


@reads("Scatter", "ScatterElements")
def scatter_elements(g: Builder, node: Node) -> Tensor:
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    axis = node.axis("axis", 0, x.rank)
    indices = whole(g, indices, x.size_at(axis))
    how = node.attr("reduction", "none")
    if how in ("none", "add"):
        return g.op("_mxl_scatter" if how == "none" else "_mxl_scatter_add", x, indices, updates, axis=axis)
    kind = {"mul": "prod", "max": "amax", "min": "amin"}[how]
    return g.op("_mxl_scatter_reduce", x, indices, updates, axis=axis, reduce=kind)


def _flat_places(g: Builder, indices: Tensor, shape: tuple[int, ...]) -> Tensor:
    """For indices of shape (..., k) of a tensor's first k axes: the places among the tensor's first k axes, flat."""
    count = indices.size_at(-1)
    strides = np.cumprod([1, *shape[:count][::-1]])[::-1][1:].astype(np.int64)
    sizes = g.constant(np.array(shape[:count], "int64"))
    indices = g.cast(indices, "int64")
    below = g.op("_npi_less", indices, g.constant(np.int64(0)))
    positive = g.where(below, g.add(indices, sizes), indices)
    return g.sum(g.mul(positive, g.constant(strides)), (-1,))


@reads("GatherND")
def gather_nd(g: Builder, node: Node) -> Tensor:
    x, indices = node.input(0), node.input(1)
    batch = int(node.attr("batch_dims", 0))
    shape, places = x.full_shape, indices.full_shape
    count = places[-1]
    rest = shape[batch + count :]
    outer = int(np.prod(shape[:batch], dtype=int))
    inner = int(np.prod(shape[batch : batch + count], dtype=int))
    flat = _flat_places(g, indices, shape[batch:])
    flat = g.reshape(flat, (outer, -1)) if outer else flat
    if batch:
        flat = g.add(flat, g.constant((np.arange(outer, dtype="int64") * inner).reshape(outer, 1)))
    rows = g.reshape(x, (outer * inner, *rest))
    return g.reshape(g.op("take", rows, g.reshape(flat, (-1,)), axis=0, mode="clip"), (*places[:-1], *rest))


@reads("ScatterND")
def scatter_nd(g: Builder, node: Node) -> Tensor:
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    shape, count = x.full_shape, indices.size_at(-1)
    inner = int(np.prod(shape[:count], dtype=int))
    rest = int(np.prod(shape[count:], dtype=int))
    flat = g.reshape(_flat_places(g, indices, shape), (-1, 1))
    rows = flat.size_at(0)
    places = g.broadcast(flat, (rows, rest))
    how = node.attr("reduction", "none")
    data, source = g.reshape(x, (inner, rest)), g.reshape(updates, (rows, rest))
    if how in ("none", "add"):
        made = g.op("_mxl_scatter" if how == "none" else "_mxl_scatter_add", data, places, source, axis=0)
    else:
        kind = {"mul": "prod", "max": "amax", "min": "amin"}[how]
        made = g.op("_mxl_scatter_reduce", data, places, source, axis=0, reduce=kind)
    return g.reshape(made, shape)


@reads("TensorScatter")
def tensor_scatter(g: Builder, node: Node) -> Tensor:
    past, update = node.input(0), node.input(1)
    axis = node.axis("axis", -2, past.rank)
    shape, steps = past.full_shape, update.size_at(axis)
    starts = node.input(2) if node.has(2) else g.constant(np.zeros(shape[0], "int64"))
    ranks = [1] * past.rank
    places = g.reshape(starts, (shape[0], *ranks[1:]))
    along = np.arange(steps, dtype="int64").reshape([steps if each == axis else 1 for each in range(past.rank)])
    places = g.add(places, g.constant(along))
    if node.attr("mode", "linear") == "circular":
        places = g.op("_mxl_remainder", places, g.constant(np.int64(shape[axis])))
    return g.op("_mxl_scatter", past, g.broadcast(places, update.full_shape), update, axis=axis)


@reads("OneHot")
def one_hot(g: Builder, node: Node) -> Tensor:
    indices, count, values = node.input(0), int(node.input(1).scalar), node.input(2)
    axis = node.axis("axis", -1, indices.rank + 1)
    off, on = values.value.reshape(-1)
    if not 0 <= count <= 1 << 24:
        raise node.refuse(f"depth {count}")
    places = g.expand_dims(whole(g, indices, count), [axis])
    steps = np.arange(count, dtype="int64").reshape([count if each == axis else 1 for each in range(indices.rank + 1)])
    hot = g.op("_npi_equal", places, g.constant(steps))
    return g.where(hot, g.constant(on, values.dtype), g.constant(off, values.dtype))


@reads("Compress")
def compress(g: Builder, node: Node) -> Tensor:
    x, chosen = node.input(0), node.input(1)
    if "axis" not in node.attributes:
        x, axis = g.reshape(x, (-1,)), 0
    else:
        axis = node.axis("axis", 0, x.rank)
    places = np.flatnonzero(chosen.value)
    if len(places) and places[-1] >= x.size_at(axis):
        raise node.refuse("the condition is longer than the axis")
    return g.op("take", x, g.constant(places.astype("int64")), axis=axis, mode="clip")


@reads("NonZero")
def nonzero(g: Builder, node: Node) -> Tensor:
    return g.transpose(g.op("_mxl_nonzero", node.input(0), by_axis=False), (1, 0))


@reads("TopK")
def top_k(g: Builder, node: Node) -> list[Tensor]:
    x = node.input(0)
    count = int(node.input(1).scalar) if node.has(1) else int(node.attr("k"))
    axis = node.axis("axis", -1, x.rank)
    if not 0 <= count <= x.size_at(axis):
        raise node.refuse(f"k={count} of an axis of size {x.size_at(axis)}")
    if count == 0:
        shape = [0 if each == axis else size for each, size in enumerate(x.full_shape)]
        return [g.constant(np.zeros(shape), x.dtype), g.constant(np.zeros(shape, "int64"))]
    ascending = not node.attr("largest", 1)
    if x.dtype == "uint64":  # in the order of int64 after its first bit is turned
        turned = g.op("_npi_bitwise_xor", g.cast(x, "int64"), g.constant(np.int64(np.iinfo(np.int64).min)))
        places = g.op("topk", turned, axis=axis, k=count, ret_typ="indices", is_ascend=ascending, dtype="int64")
        return [g.op("_mxl_gather", x, places, axis=axis), places]
    return g.ops("topk", x, axis=axis, k=count, ret_typ="both", is_ascend=ascending, dtype="int64")


@reads("ArgMax", "ArgMin")
def arg_max(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    axis, keep = node.axis("axis", 0, x.rank), bool(node.attr("keepdims", 1))
    operator = "_mxl_argmax" if node.kind == "ArgMax" else "_mxl_argmin"
    if not node.attr("select_last_index", 0):
        return g.cast(g.op(operator, x, axis=axis, keepdims=keep), "int64")
    found = g.cast(g.op(operator, g.op("flip", x, axis=(axis,)), axis=axis, keepdims=keep), "int64")
    return g.sub(g.constant(np.int64(x.size_at(axis) - 1)), found)


@reads("Unique")
def unique(g: Builder, node: Node) -> list[Tensor]:
    values = node.input(0).value
    axis = node.attr("axis")
    if axis is not None:
        axis = node.whole_axis(int(axis), values.ndim)
    found, first, inverse, counts = np.unique(values, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not node.attr("sorted", 1):
        order = np.argsort(first, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        found = np.take(found, order, axis=0 if axis is None else axis)
        first, inverse, counts = first[order], place[inverse], counts[order]
    others = [g.constant(each.astype("int64")) for each in (first, inverse, counts)]
    return [g.constant(found, node.input(0).dtype), *others]


@reads("CumSum", "CumProd")
def cumulative(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    axis = node.whole_axis(int(node.input(1).scalar), x.rank)
    back, exclusive = bool(node.attr("reverse", 0)), bool(node.attr("exclusive", 0))
    if back:
        x = g.op("flip", x, axis=(axis,))
    if exclusive:
        shape = list(x.full_shape)
        shape[axis] = 1
        first = g.constant(np.full(shape, 0 if node.kind == "CumSum" else 1), x.dtype)
        x = g.concat([first, g.slice(x, axis, 0, x.size_at(axis) - 1)], axis) if x.size_at(axis) > 1 else first
    made = g.op("_np_cumsum", x, axis=axis) if node.kind == "CumSum" else g.op("_mxl_cumprod", x, axis=axis)
    return g.op("flip", made, axis=(axis,)) if back else made


@reads("TfIdfVectorizer")
def counted_grams(g: Builder, node: Node) -> Tensor:
    """How often each run of numbers is in each row, whose numbers may lie apart by skips."""
    if "pool_int64s" not in node.attributes:
        raise node.refuse("runs of texts, which mxlite has not")
    x = g.cast(node.input(0), "int64")
    rows = x if x.rank == 2 else g.reshape(x, (1, -1))
    pool, starts, places = node.ints("pool_int64s"), node.ints("ngram_counts"), node.ints("ngram_indexes")
    length, first = rows.size_at(1), 0
    least, most, skips = (int(node.attr(name)) for name in ("min_gram_length", "max_gram_length", "max_skip_count"))
    total = g.constant(np.zeros((rows.size_at(0), max(places) + 1), "float32"))
    for size in range(1, len(starts) + 1):
        end = starts[size] if size < len(starts) else len(pool)
        grams = np.array(pool[starts[size - 1] : end], "int64").reshape(-1, size)
        columns = places[first : first + len(grams)]
        first += len(grams)
        if not least <= size <= most or not len(grams):
            continue
        table = np.zeros((len(grams), max(places) + 1), "float32")
        table[np.arange(len(grams)), columns] = 1
        for step in range(1, (skips if size > 1 else 0) + 2):
            count = length - (size - 1) * step
            if count < 1:
                break
            at = np.arange(count)[:, None] + np.arange(size)[None] * step
            runs = g.expand_dims(g.op("take", rows, g.constant(at.astype("int64")), axis=1, mode="clip"), [2])
            equal = g.cast(g.op("_npi_equal", runs, g.constant(grams)), "float32")
            found = g.sum(g.op("_np_prod", equal, axis=(3,)), (1,))
            total = g.add(total, g.op("dot", found, g.constant(table)))
    kind = node.attr("mode")
    weights = g.constant(np.asarray(node.attr("weights", [1.0] * (max(places) + 1)), "float32"))
    if kind != "TF":
        total = g.cast(g.op("_npi_greater", total, g.like(0, total)), "float32") if kind == "IDF" else total
        total = g.mul(total, weights)
    return total if x.rank == 2 else g.reshape(total, (-1,))


@reads("NonMaxSuppression")
def non_max_suppression(g: Builder, node: Node) -> Tensor:
    boxes, scores = node.input(0).value, node.input(1).value
    most = int(node.input(2).scalar) if node.has(2) else 0
    overlap = float(node.input(3).scalar) if node.has(3) else 0.0
    least = float(node.input(4).scalar) if node.has(4) else -np.inf
    found = [
        (batch, label, each)
        for batch in range(scores.shape[0])
        for label in range(scores.shape[1])
        for each in _kept(
            _corners(boxes[batch], node.attr("center_point_box", 0)), scores[batch, label], most, overlap, least
        )
    ]
    return g.constant(np.array(found, "int64").reshape(-1, 3))


def _corners(boxes: np.ndarray, centered: int) -> np.ndarray:
    """Boxes as (x0, y0, x1, y1), x0 <= x1."""
    if centered:
        middle, half = boxes[:, :2], boxes[:, 2:] / 2
        return np.concatenate([middle - half, middle + half], 1)
    a, b = boxes[:, :2], boxes[:, 2:]
    return np.concatenate([np.minimum(a, b), np.maximum(a, b)], 1)


def _kept(boxes: np.ndarray, scores: np.ndarray, most: int, overlap: float, least: float) -> list[int]:
    """The numbers of the boxes that suppression keeps, best first."""
    kept: list[int] = []
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    for each in np.argsort(-scores, kind="stable"):
        if len(kept) >= most or scores[each] <= least:
            break
        low = np.maximum(boxes[kept, :2], boxes[each, :2])
        high = np.minimum(boxes[kept, 2:], boxes[each, 2:])
        shared = np.prod(np.maximum(high - low, 0), axis=1)
        if not (shared > overlap * (areas[kept] + areas[each] - shared)).any():
            kept.append(int(each))
    return kept
