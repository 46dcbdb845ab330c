"""Writes operators that change shapes, choose elements and put arrays together."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.onnx._export.nodes import Operation, writes
from mxlite.onnx._file import NUMBERS


def _known(op: Operation) -> tuple[int, ...]:
    """The result's shape, one size of which may be open: -1 there."""
    shape = op.outputs[0].shape
    if shape is None or sum(size < 0 for size in shape) > 1:
        raise op.refuse(f"the result's shape {shape} has sizes that are not known")
    return shape


@writes("Reshape", "_mxl_reshape_to", "_npi_reshape", "_npx_reshape", "_np_reshape")
def reshape(op: Operation) -> None:
    """By the sizes of the result; of one that are open by the codes 0 and -1 alone."""
    shape = op.outputs[0].shape
    if shape is not None and sum(size < 0 for size in shape) <= 1 and 0 not in shape:
        source = op.x.shape
        sizes = list(shape)
        if source and sizes and source[0] == sizes[0] == -1:  # the batch
            sizes[0] = 0
        elif source and sizes and source[0] == sizes[0] and -1 not in sizes:
            sizes[0] = 0  # as it is written by others, so that batches may be of any size
        op.end("Reshape", [op.x, op.ints(sizes)])
        return
    codes = op.sizes("shape", op.sizes("newshape", ()))
    if op.flag("reverse") or any(code < -1 for code in codes) or codes.count(-1) > 1:
        raise op.refuse(f"shape {codes} of sizes that are not known")
    if 0 in codes and op.kind in ("_mxl_reshape_to", "_npi_reshape"):
        op.end("Reshape", [op.x, op.ints(codes)], allowzero=1)
    else:
        op.end("Reshape", [op.x, op.ints(codes)])


@writes("Flatten", "_npx_batch_flatten")
def flatten(op: Operation) -> None:
    op.end("Flatten", [op.x], axis=1)


@writes("transpose", "_np_transpose")
def transpose(op: Operation) -> None:
    axes = op.sizes("axes", ()) or tuple(range(op.rank()))[::-1]
    op.end("Transpose", [op.x], perm=[op.axis(axis) for axis in axes])


@writes("SwapAxis", "_npi_swapaxes")
def swap(op: Operation) -> None:
    order = list(range(op.rank()))
    a, b = (op.axis(op.whole(name, 0)) for name in ("dim1", "dim2"))
    order[a], order[b] = order[b], order[a]
    op.end("Transpose", [op.x], perm=order)


@writes("expand_dims")
def expand_dims(op: Operation) -> None:
    op.end("Unsqueeze", [op.x, op.ints([op.axis(op.whole("axis"), op.rank() + 1)])])


@writes("squeeze", "_np_squeeze")
def squeeze(op: Operation) -> None:
    axes = op.sizes("axis", None)
    if axes is None:
        axes = [axis for axis, size in enumerate(op.shape()) if size == 1]
    op.end("Squeeze", [op.x, op.ints([op.axis(axis) for axis in axes])])


@writes("Concat", "_npi_concatenate")
def concat(op: Operation) -> None:
    axis = op.whole("dim", 1) if op.kind == "Concat" else op.value("axis", 0)
    if axis is None:
        flat = [op.add("Reshape", [each, op.ints([-1])]) for each in op.inputs]
        op.end("Concat", flat, axis=0)
    else:
        op.end("Concat", op.inputs, axis=op.axis(int(axis)))


@writes("stack", "_npi_stack")
def stack(op: Operation) -> None:
    axis = op.axis(op.whole("axis", 0), op.rank() + 1)
    rows = [op.add("Unsqueeze", [each, op.ints([axis])]) for each in op.inputs]
    op.end("Concat", rows, axis=axis)


@writes("SliceChannel")
def split(op: Operation) -> None:
    axis, count = op.axis(op.whole("axis", 1)), op.whole("num_outputs", 1)
    size = op.x.shape[axis] if op.x.shape else -1
    if size < 0:
        raise op.refuse("the size of the axis must be known")
    _split(op, axis, [size // count] * count, op.flag("squeeze_axis"))


@writes("_split_v2", "_npi_split")
def split_at(op: Operation) -> None:
    axis = op.axis(op.whole("axis", 1))
    size = op.x.shape[axis] if op.x.shape else -1
    if size < 0:
        raise op.refuse("the size of the axis must be known")
    sections = op.whole("sections", 0)
    if sections:
        sizes = [size // sections] * sections
    else:
        ends = [*op.sizes("indices"), size]
        starts = ends[:-1]
        if not starts or starts[0] != 0:
            starts = [0, *starts]
        ends = [*starts[1:], size]
        sizes = [end - start for start, end in zip(starts, ends)]
    _split(op, axis, sizes, op.flag("squeeze_axis"))


def _split(op: Operation, axis: int, sizes: list[int], squeezes: bool) -> None:
    if not squeezes:
        op.end("Split", [op.x, op.ints(sizes)], axis=axis)
        return
    parts = op.add("Split", [op.x, op.ints(sizes)], len(sizes), axis=axis)
    for part, output in zip([parts] if len(sizes) == 1 else parts, op.outputs):
        op.writer.add("Squeeze", [part, op.ints([axis])], outputs=[output.name])


@writes("slice", "_npi_slice")
def slice_(op: Operation) -> None:
    begins, ends, steps = (op.sizes(name, ()) for name in ("begin", "end", "step"))
    steps = [step or 1 for step in steps] or [1] * len(begins)
    far = np.iinfo(np.int64).max
    starts = [(0 if step > 0 else far) if each is None else each for each, step in zip(begins, steps)]
    stops = [(far if step > 0 else -far) if each is None else each for each, step in zip(ends, steps)]
    axes = list(range(len(starts)))
    op.end("Slice", [op.x, op.ints(starts), op.ints(stops), op.ints(axes), op.ints(steps)])


@writes("slice_axis")
def slice_axis(op: Operation) -> None:
    end = op.value("end")
    stop = np.iinfo(np.int64).max if end is None else int(end)
    op.end("Slice", [op.x, op.ints([op.whole("begin", 0)]), op.ints([stop]), op.ints([op.axis(op.whole("axis"))])])


@writes("_mxl_select")
def select(op: Operation) -> None:
    op.end("Gather", [op.x, op.writer.constant(op.whole("index"), "int64")], axis=op.axis(op.whole("axis")))


@writes("slice_like")
def slice_like(op: Operation) -> None:
    axes = op.sizes("axes", ()) or tuple(range(op.rank()))
    sizes = op.add("Gather", [op.add("Shape", [op.inputs[1]]), op.ints([op.axis(axis) for axis in axes])], axis=0)
    op.end("Slice", [op.x, op.ints([0] * len(axes)), sizes, op.ints([op.axis(axis) for axis in axes])])


@writes("reverse", "flip", "_npi_flip")
def reverse(op: Operation) -> None:
    axes = [op.axis(axis) for axis in (op.sizes("axis") or range(op.rank()))]
    least = np.iinfo(np.int64).min
    count = len(axes)
    op.end("Slice", [op.x, op.ints([-1] * count), op.ints([least] * count), op.ints(axes), op.ints([-1] * count)])


@writes("tile", "_npi_tile")
def tile(op: Operation) -> None:
    reps, rank, x = op.sizes("reps"), op.rank(), op.x.name
    if len(reps) > rank:
        x = op.add("Unsqueeze", [x, op.ints(list(range(len(reps) - rank)))])
    op.end("Tile", [x, op.ints([1] * (rank - len(reps)) + list(reps))])


@writes("repeat", "_np_repeat")
def repeat(op: Operation) -> None:
    axis, count = op.value("axis"), op.whole("repeats")
    if axis is None:
        flat = op.add("Reshape", [op.x, op.ints([-1, 1])])
        op.end("Reshape", [op.add("Tile", [flat, op.ints([1, count])]), op.ints([-1])])
        return
    axis, shape = op.axis(int(axis)), op.shape()
    wide = op.add("Unsqueeze", [op.x, op.ints([axis + 1])])
    tiled = op.add("Tile", [wide, op.ints([count if each == axis + 1 else 1 for each in range(len(shape) + 1)])])
    sizes = [size * count if each == axis else size for each, size in enumerate(shape)]
    op.end("Reshape", [tiled, op.ints(sizes)])


@writes("broadcast_to", "_mxl_broadcast_to", "_npi_broadcast_to", "broadcast_axis")
def broadcast_to(op: Operation) -> None:
    shape = op.outputs[0].shape
    if shape is None:
        raise op.refuse("the result's rank is not known")
    # A size of 1 leaves the input's: those that are not known.
    op.end("Expand", [op.x, op.ints([1 if size < 0 else size for size in shape])])


@writes("broadcast_like")
def broadcast_like(op: Operation) -> None:
    if op.sizes("lhs_axes", None):
        op.end("Expand", [op.x, op.ints(_known(op))])
    else:
        op.end("Expand", [op.x, op.add("Shape", [op.inputs[1]])])


@writes("reshape_like")
def reshape_like(op: Operation) -> None:
    if any(op.value(name) is not None for name in ("lhs_begin", "lhs_end", "rhs_begin", "rhs_end")):
        op.end("Reshape", [op.x, op.ints(_known(op))])
    else:
        op.end("Reshape", [op.x, op.add("Shape", [op.inputs[1]])])


@writes("Pad", "_npi_pad")
def pad(op: Operation) -> None:
    mode = op.text("mode", "constant")
    widths = op.value("pad_width")
    if widths and isinstance(widths[0], tuple):
        widths = [each for pair in widths for each in pair]
    if mode not in ("constant", "edge", "reflect"):
        raise op.refuse(f"mode {mode!r}")
    inputs: list[Any] = [op.x, op.ints([*widths[::2], *widths[1::2]])]
    if mode == "constant":
        inputs.append(op.number(op.real("constant_value")))
    op.end("Pad", inputs, mode=mode)


@writes("shape_array", "_npx_shape_array")
def shape_array(op: Operation) -> None:
    op.end("Shape", [op.x])


@writes("size_array")
def size_array(op: Operation) -> None:
    op.end("Reshape", [op.add("Size", [op.x]), op.ints([1])])


@writes("_contrib_arange_like")
def arange_like(op: Operation) -> None:
    axis = op.value("axis")
    shape = op.shape() if axis is None else (op.x.shape or ())[op.axis(int(axis)) :][:1]
    if min(shape, default=-1) < 0 or op.whole("repeat", 1) != 1:
        raise op.refuse("a size that is not known, or repeated numbers")
    values = op.real("start") + op.real("step", 1.0) * np.arange(int(np.prod(shape)))
    op.end("Identity", [op.number(values.reshape(shape))])


@writes("depth_to_space", "space_to_depth")
def depth(op: Operation) -> None:
    op.end("DepthToSpace" if op.kind == "depth_to_space" else "SpaceToDepth", [op.x], blocksize=op.whole("block_size"))


# ---- choosing elements ----


def _indices(op: Operation, index: int, size: int, mode: str) -> Any:
    """Indices as int64, those outside an axis brought into it as `take` does."""
    indices = op.inputs[index]
    whole: Any = indices if indices.dtype in ("int32", "int64") else op.writer.cast(indices, "int64")
    if size < 0:
        return whole
    dtype = indices.dtype if indices.dtype in ("int32", "int64") else "int64"
    if mode == "wrap":
        return op.add("Mod", [whole, op.writer.constant(size, dtype)])
    return op.add("Clip", [whole, op.writer.constant(0, dtype), op.writer.constant(size - 1, dtype)])


@writes("take", "_npi_take")
def take(op: Operation) -> None:
    axis = op.axis(op.whole("axis", 0))
    size = op.x.shape[axis] if op.x.shape else -1
    op.end("Gather", [op.x, _indices(op, 1, size, op.text("mode", "clip"))], axis=axis)


@writes("Embedding")
def embedding(op: Operation) -> None:
    op.end("Gather", [op.inputs[1], _indices(op, 0, op.whole("input_dim", -1), "clip")], axis=0)


@writes("_mxl_gather")
def gather(op: Operation) -> None:
    op.end("GatherElements", [op.x, op.inputs[1]], axis=op.axis(op.whole("axis")))


@writes("pick")
def pick(op: Operation) -> None:
    axis = op.value("axis", -1)
    axis = op.axis(int(axis))
    size = op.x.shape[axis] if op.x.shape else -1
    places = _indices(op, 1, size, op.text("mode", "clip"))
    if op.rank(1) < op.rank():
        places = op.add("Unsqueeze", [places, op.ints([axis])])
    if op.flag("keepdims"):
        op.end("GatherElements", [op.x, places], axis=axis)
    else:
        op.end("Squeeze", [op.add("GatherElements", [op.x, places], axis=axis), op.ints([axis])])


@writes("gather_nd")
def gather_nd(op: Operation) -> None:
    rank = op.rank(1)
    places: Any = op.inputs[1] if op.inputs[1].dtype == "int64" else op.writer.cast(op.inputs[1], "int64")
    turned = op.add("Transpose", [places], perm=[*range(1, rank), 0])
    op.end("GatherND", [op.x, turned])


@writes("one_hot", "_npx_one_hot")
def one_hot(op: Operation) -> None:
    places: Any = op.x if op.x.dtype == "int64" else op.writer.cast(op.x, "int64")
    values = op.writer.constant([op.real("off_value", 0.0), op.real("on_value", 1.0)], op.outputs[0].dtype)
    op.end("OneHot", [places, op.writer.constant(op.whole("depth"), "int64"), values], axis=-1)


@writes("SequenceMask")
def sequence_mask(op: Operation) -> None:
    if not op.flag("use_sequence_length"):
        op.end("Identity", [op.x])
        return
    axis, rank = op.whole("axis", 0), op.rank()
    size = op.x.shape[axis] if op.x.shape else -1
    if size < 0:
        raise op.refuse("the size of the axis must be known")
    steps = np.arange(size).reshape([size if each == axis else 1 for each in range(rank)])
    lengths = op.writer.cast(op.inputs[1], "float32")
    form = [-1 if each == 1 - axis else 1 for each in range(rank)]
    lengths = op.add("Reshape", [lengths, op.ints(form)])
    inside = op.add("Less", [op.writer.constant(steps, "float32"), lengths])
    op.end("Where", [inside, op.x, op.number(op.real("value"))])


@writes("SequenceReverse")
def sequence_reverse(op: Operation) -> None:
    if not op.flag("use_sequence_length"):
        least = np.iinfo(np.int64).min
        op.end("Slice", [op.x, op.ints([-1]), op.ints([least]), op.ints([0]), op.ints([-1])])
        return
    lengths: Any = op.inputs[1] if op.inputs[1].dtype == "int64" else op.writer.cast(op.inputs[1], "int64")
    op.end("ReverseSequence", [op.x, lengths], time_axis=0, batch_axis=1)


@writes("topk")
def top_k(op: Operation) -> None:
    axis, kind = op.value("axis", -1), op.text("ret_typ", "indices")
    if axis is None or kind == "mask":
        raise op.refuse("all elements at once, or a mask")
    axis = op.axis(int(axis))
    count = op.whole("k", 1)
    size = op.x.shape[axis] if op.x.shape else -1
    if count < 1:
        count = size
    values, places = op.add("TopK", [op.x, op.ints([count])], 2, axis=axis, largest=int(not op.flag("is_ascend")))
    outputs = {"value": [values], "indices": [places], "both": [values, places]}[kind]
    for made, output in zip(outputs, op.outputs):
        op.writer.add("Cast", [made], outputs=[output.name], to=NUMBERS[output.dtype])


@writes("sort", "argsort")
def sort(op: Operation) -> None:
    axis = op.value("axis", -1)
    if axis is None:
        raise op.refuse("all elements at once")
    axis = op.axis(int(axis))
    size = op.x.shape[axis] if op.x.shape else -1
    if size < 0:
        raise op.refuse("the size of the axis must be known")
    values, places = op.add("TopK", [op.x, op.ints([size])], 2, axis=axis, largest=int(not op.flag("is_ascend", True)))
    op.end("Cast", [values if op.kind == "sort" else places], to=NUMBERS[op.outputs[0].dtype])
