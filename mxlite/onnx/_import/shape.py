"""Operators of ONNX that change shapes, and those that make tensors of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.onnx._file import array_of, dtype_of
from mxlite.onnx._import.builder import FOLD_LIMIT, Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Size, Tensor


@reads("Constant")
def constant(g: Builder, node: Node) -> Tensor:
    found = node.attributes
    name = node.outputs[0] or "constant"
    if "value" in found:
        array, dtype = array_of(found["value"])
        return g.known(array, dtype, name)
    if "sparse_value" in found:
        from mxlite.onnx._import.graph import dense_of

        return g.constant(dense_of(found["sparse_value"]), name=name)
    for key, dtype in (("value_float", "float32"), ("value_floats", "float32"), ("value_int", "int64")):
        if key in found:
            return g.constant(np.array(found[key], dtype), name=name)
    if "value_ints" in found:
        return g.constant(np.array(found["value_ints"], "int64"), name=name)
    raise node.refuse("a constant of text, which mxlite has not")


@reads("ConstantOfShape")
def constant_of_shape(g: Builder, node: Node) -> Tensor:
    shape, value = node.input(0).ints, np.zeros(1, "float32")
    dtype = "float32"
    if "value" in node.attributes:
        array, dtype = array_of(node.attributes["value"])
        value = array.asnumpy()
    return g.constant(_filled(node, shape, value), dtype)


def _filled(node: Node, shape: list[int], value: Any) -> np.ndarray:
    if min(shape, default=0) < 0 or np.prod(shape, dtype=np.float64) > FOLD_LIMIT:
        raise node.refuse(f"a constant of shape {tuple(shape)} is negative or too large")
    value = np.asarray(value).reshape(-1)
    return np.full(shape, value[0], value.dtype)


@reads("Shape")
def shape_of(g: Builder, node: Node) -> Tensor:
    sized = node.input(0).sized
    rank = len(sized)
    start, end = int(node.attr("start", 0)), int(node.attr("end", rank))
    start, end = (min(max(each + rank if each < 0 else each, 0), rank) for each in (start, end))
    return g.sizes([size if size >= 0 else Size(axis) for axis, size in enumerate(sized)][start:end])


@reads("Size")
def size_of(g: Builder, node: Node) -> Tensor:
    return g.constant(np.array(node.input(0).size, "int64"))


@reads("Reshape")
def reshape(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    if node.opset < 5:
        return _reshape(g, node, x, list(node.ints("shape", [])))
    wanted = node.input(1)
    target = list(wanted.sizes.reshape(-1)) if wanted.sizes is not None else wanted.ints
    if x.sizes is not None:
        return g.sizes(x.sizes.reshape([int(each) for each in target]))
    return _reshape(g, node, x, target)


def _reshape(g: Builder, node: Node, x: Tensor, target: list[Any]) -> Tensor:
    zero_is_size = bool(node.attr("allowzero", 0))
    known = x.shape
    shape: list[int] = []
    for axis, each in enumerate(target):
        if isinstance(each, Size):
            same = known is not None and axis < len(known) and known[axis] < 0 and each.axis == axis
            shape.append(-2 if same else -1)
        elif each == 0 and not zero_is_size:
            if known is None or axis >= len(known):
                raise node.refuse(f"shape {target} has no size to copy at {axis}")
            shape.append(known[axis] if known[axis] >= 0 else -2)
        else:
            shape.append(int(each))
    if shape.count(-1) > 1:
        raise node.refuse(f"shape {target} leaves more than one size open: give the graph's inputs shapes")
    if any(each < -2 for each in shape):
        raise node.refuse(f"shape {target} has a negative size")
    if shape[:1] == [-2] and -1 in shape and known is not None and min(known[1:], default=0) > 0:
        shape[shape.index(-1)] = int(np.prod(known[1:])) // max(1, -int(np.prod(shape[1:], dtype=int)))
    if -2 in shape and known is not None:
        return g.op("reshape", x, shape=tuple(0 if each == -2 else each for each in shape))
    return g.reshape(x, shape)


@reads("Flatten")
def flatten(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    axis = int(node.attr("axis", 1))
    axis = axis + x.rank if axis < 0 else axis
    if not 0 <= axis <= x.rank:
        raise node.refuse(f"axis {axis} of a tensor of {x.rank} axes")
    if axis == 1 and not x.is_known and x.rank > 1:
        return g.op("Flatten", x) if min(x.sized) > 0 else _reshape(g, node, x, [0, -1])
    full = x.full_shape
    return g.reshape(x, (int(np.prod(full[:axis], dtype=int)), int(np.prod(full[axis:], dtype=int))))


@reads("Transpose")
def transpose(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    return g.transpose(x, node.ints("perm", range(x.rank)[::-1]))


@reads("Squeeze", "Unsqueeze")
def squeeze(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    axes = node.input(1).ints if node.has(1) else node.ints("axes")
    if x.sizes is not None:
        array = x.sizes
        return g.sizes(np.expand_dims(array, tuple(axes)) if node.kind == "Unsqueeze" else array.reshape(()))
    if node.kind == "Unsqueeze":
        return g.expand_dims(x, node.axes(axes, x.rank + len(axes)))
    if axes is None:
        axes = [axis for axis, size in enumerate(x.full_shape) if size == 1]
    axes = node.axes(axes, x.rank)
    if any(x.sized[axis] not in (1, -1) for axis in axes):
        raise node.refuse(f"axes {axes} of shape {x.shape} are not all of size 1")
    shape = [size for axis, size in enumerate(x.sized) if axis not in axes]
    if -1 not in shape:
        return g.reshape(x, shape)
    return g.op("squeeze", x, axis=tuple(axes)) if axes else x


@reads("Concat")
def concat(g: Builder, node: Node) -> Tensor:
    inputs = [each for each in node.inputs if each is not None]
    if any(each.sizes is not None for each in inputs):
        return g.sizes(np.concatenate([_entries(each) for each in inputs]))
    return g.concat(inputs, node.axis("axis", 1, inputs[0].rank))


def _entries(tensor: Tensor) -> np.ndarray:
    return tensor.sizes if tensor.sizes is not None else tensor.value.astype(object)


@reads("Split")
def split(g: Builder, node: Node) -> list[Tensor]:
    x = node.input(0)
    axis = node.axis("axis", 0, x.rank)
    sizes = node.input(1).ints if node.has(1) else node.ints("split")
    if sizes is None:
        total, count = x.size_at(axis), int(node.attr("num_outputs", len(node.outputs)))
        if count != len(node.outputs):
            raise node.refuse(f"num_outputs is {count}, there are {len(node.outputs)} outputs")
        each = -(-total // count)
        sizes = [max(0, min(each, total - number * each)) for number in range(count)]
    if sum(sizes) != x.sized[axis] and x.sized[axis] >= 0:
        raise node.refuse(f"parts of sizes {sizes} of an axis of size {x.sized[axis]}")
    return g.split(x, axis, sizes)


@reads("Slice")
def slice_(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    if node.opset < 10:
        starts, ends = node.ints("starts"), node.ints("ends")
        axes, steps = node.ints("axes", list(range(len(starts)))), [1] * len(starts)
    else:
        starts, ends = node.input(1).ints, _ends(node)
        axes = node.input(3).ints if node.has(3) else list(range(len(starts)))
        steps = node.input(4).ints if node.has(4) else [1] * len(starts)
    axes = [node.whole_axis(axis, x.rank) for axis in axes]
    parts = [slice(None)] * x.rank
    for axis, start, end, step in zip(axes, starts, ends, steps):
        if step == 0:
            raise node.refuse("a step of 0")
        begin, stop = _bound(x.sized[axis], start, step, True), _bound(x.sized[axis], end, step, False)
        parts[axis] = slice(begin, stop, step)
    if x.sizes is not None:
        return g.sizes(x.sizes[tuple(parts)])
    for axis, each in enumerate(parts):
        x = _part(g, x, axis, each)
    return x


def _ends(node: Node) -> list[int]:
    """The ends of a slice: one that is a size of an axis that is not known is that axis' end."""
    ends = node.input(2)
    if ends.sizes is None:
        return ends.ints
    return [(1 << 62) if isinstance(each, Size) else int(each) for each in ends.sizes.reshape(-1)]


def _bound(size: int, at: int, step: int, is_start: bool) -> int | None:
    """Where a slice begins or ends, counted from the front; None: at the axis' end."""
    if size < 0:
        return None if abs(at) >= 1 << 30 else at
    at = at + size if at < 0 else at
    if step > 0:
        return min(max(at, 0), size)
    if is_start:
        return min(at, size - 1) if at >= 0 else -size - 1
    return min(at, size - 1) if at >= 0 else None


def _part(g: Builder, x: Tensor, axis: int, part: slice) -> Tensor:
    if part.step in (None, 1):
        if part.start in (None, 0) and part.stop in (None, x.sized[axis]):
            return x
        size = x.sized[axis]
        if size < 0 or 0 <= (part.start or 0) < (size if part.stop is None else part.stop) <= size:
            return g.slice(x, axis, part.start or 0, part.stop)
    chosen = np.arange(x.size_at(axis))[part]
    if not len(chosen):
        return g.slice(x, axis, 0, 0)
    return g.op("take", x, g.constant(chosen.astype("int64")), axis=axis, mode="clip")


@reads("Expand")
def expand(g: Builder, node: Node) -> Tensor:
    x, target = node.input(0), node.input(1).ints
    rank = max(x.rank, len(target))
    own = (1,) * (rank - x.rank) + x.full_shape
    wanted = [1] * (rank - len(target)) + target
    return g.broadcast(x, [size if wish == 1 else wish for size, wish in zip(own, wanted)])


@reads("Tile")
def tile(g: Builder, node: Node) -> Tensor:
    return g.op("_npi_tile", node.input(0), reps=tuple(node.input(1).ints))


@reads("Pad")
def pad(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    if node.opset < 11:
        pads, value = node.ints("pads", node.ints("paddings")), float(node.attr("value", 0.0))
    else:
        pads = node.input(1).ints
        value = node.input(2).scalar if node.has(2) else 0
    axes = node.axes(node.input(3).ints, x.rank) if node.has(3) else list(range(x.rank))
    if node.has(3):
        axes = [node.whole_axis(axis, x.rank) for axis in node.input(3).ints]
    half = len(axes)
    if len(pads) != 2 * half:
        raise node.refuse(f"pads {pads} of {half} axes")
    if max(map(abs, pads), default=0) > FOLD_LIMIT:
        raise node.refuse(f"pads {pads} are too large")
    for before, after, axis in zip(pads, pads[half:], axes):
        if before < 0 or after < 0:
            size = x.size_at(axis)
            x = g.slice(x, axis, max(-before, 0), size - max(-after, 0))
    widths = [(0, 0)] * x.rank
    for before, after, axis in zip(pads, pads[half:], axes):
        widths[axis] = (max(before, 0), max(after, 0))
    return padded(g, x, widths, node.attr("mode", "constant"), value)


def padded(g: Builder, x: Tensor, widths: list[tuple[int, int]], mode: str, value: Any = 0) -> Tensor:
    """A tensor with elements added before and behind along its axes."""
    if not any(before or after for before, after in widths):
        return x
    if mode == "wrap" or x.dtype == "bool":
        for axis, (before, after) in enumerate(widths):
            if before or after:
                x = _wrapped(g, x, axis, before, after) if mode == "wrap" else _beside(g, x, axis, before, after, value)
        return x
    if mode == "constant":
        return g.op("_npi_pad", x, pad_width=tuple(widths), mode="constant", constant_value=value)
    return g.op("_npi_pad", x, pad_width=tuple(widths), mode=mode)


def _wrapped(g: Builder, x: Tensor, axis: int, before: int, after: int) -> Tensor:
    size = x.size_at(axis)
    return g.op("take", x, g.constant(np.arange(-before, size + after, dtype="int64") % size), axis=axis, mode="clip")


def _beside(g: Builder, x: Tensor, axis: int, before: int, after: int, value: Any) -> Tensor:
    parts = []
    for size in (before, None, after):
        shape = list(x.full_shape)
        shape[axis] = size or 0
        parts.append(x if size is None else g.constant(np.full(shape, value), x.dtype))
    return g.concat([each for each in parts if each.sized[axis]], axis)


@reads("Range")
def range_(g: Builder, node: Node) -> Tensor:
    start, limit, step = (node.input(index) for index in range(3))
    count = max(0.0, np.ceil((float(limit.scalar) - float(start.scalar)) / float(step.scalar)))
    if not count <= FOLD_LIMIT:
        raise node.refuse(f"a range of {count} elements")
    kind = "float64" if start.is_float else "int64"
    return g.constant(start.scalar + np.arange(int(count), dtype=kind) * step.scalar, start.dtype)


@reads("EyeLike")
def eye_like(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    dtype = dtype_of(int(node.attr("dtype")), "the result") if "dtype" in node.attributes else x.dtype
    rows, columns = x.full_shape
    if rows * columns > FOLD_LIMIT:
        raise node.refuse(f"a matrix of {rows} rows and {columns} columns")
    return g.constant(np.eye(rows, columns, int(node.attr("k", 0))), dtype)


@reads("DepthToSpace", "SpaceToDepth")
def depth(g: Builder, node: Node) -> Tensor:
    x, block = node.input(0), int(node.attr("blocksize"))
    usual = node.attr("mode", "DCR") == "DCR"
    if usual:
        return g.op("space_to_depth" if node.kind == "SpaceToDepth" else "depth_to_space", x, block_size=block)
    batch, channels, rows, columns = x.full_shape
    if node.kind == "SpaceToDepth":
        split = g.reshape(x, (batch, channels, rows // block, block, columns // block, block))
        return g.reshape(g.transpose(split, (0, 1, 3, 5, 2, 4)), (batch, -1, rows // block, columns // block))
    split = g.reshape(x, (batch, channels // block**2, block, block, rows, columns))
    return g.reshape(
        g.transpose(split, (0, 1, 4, 2, 5, 3)), (batch, channels // block**2, rows * block, columns * block)
    )


@reads("Trilu")
def triangle(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    offset = int(node.input(1).scalar) if node.has(1) else 0
    rows, columns = x.full_shape[-2:]
    offset = max(-rows - 1, min(columns + 1, offset))
    if rows * columns > FOLD_LIMIT:
        raise node.refuse(f"matrices of {rows} rows and {columns} columns")
    mask = (
        np.tri(rows, columns, offset - 1, dtype=bool)
        if node.attr("upper", 1)
        else ~np.tri(rows, columns, offset, dtype=bool)
    )
    return g.where(g.constant(mask), g.like(0, x), x)


@reads("ReverseSequence")
def reverse_sequence(g: Builder, node: Node) -> Tensor:
    x, lengths = node.input(0), node.input(1)
    batch, time = int(node.attr("batch_axis", 1)), int(node.attr("time_axis", 0))
    turned = g.op("SequenceReverse", x if time == 0 else g.op("SwapAxis", x, dim1=0, dim2=1), lengths,
                  use_sequence_length=True)  # fmt: skip
    if {batch, time} != {0, 1}:
        raise node.refuse(f"axes {batch} and {time}")
    return turned if time == 0 else g.op("SwapAxis", turned, dim1=0, dim2=1)
