"""Writes operators of images."""

from __future__ import annotations

from mxlite.onnx._export.nodes import Operation, writes


@writes("_contrib_ROIAlign")
def roi_align(op: Operation) -> None:
    if op.flag("position_sensitive"):
        raise op.refuse("position_sensitive")
    size, ratio = op.sizes("pooled_size"), op.whole("sample_ratio", -1)
    batches = op.add("Gather", [op.inputs[1], op.writer.constant(0, "int64")], axis=1)
    boxes = op.add("Slice", [op.inputs[1], op.ints([1]), op.ints([5]), op.ints([1])])
    op.end(
        "RoiAlign", [op.x, boxes, op.writer.cast(batches, "int64")], output_height=size[0], output_width=size[-1],
        sampling_ratio=max(ratio, 0), spatial_scale=op.real("spatial_scale"),
        coordinate_transformation_mode="half_pixel" if op.flag("aligned") else "output_half_pixel",
    )  # fmt: skip


@writes("ROIPooling")
def roi_pool(op: Operation) -> None:
    op.end("MaxRoiPool", op.inputs, pooled_shape=op.sizes("pooled_size"), spatial_scale=op.real("spatial_scale"))


@writes("_contrib_box_decode")
def box_decode(op: Operation) -> None:
    """Offsets of boxes from anchors, as corners."""
    scaled = op.add("Mul", [op.x, op.number([op.real(f"std{at}", 1.0) for at in range(4)])])
    first, second = op.add("Split", [scaled, op.ints([2, 2])], 2, axis=-1)
    a, b = op.add("Split", [op.inputs[1], op.ints([2, 2])], 2, axis=-1)
    if op.text("format", "center") == "corner":
        size = op.add("Sub", [b, a])
        a, b = op.add("Add", [a, op.add("Mul", [size, op.number(0.5)])]), size
    limit = op.real("clip", -1.0)
    if limit > 0:
        second = op.add("Min", [second, op.number(limit)])
    middle = op.add("Add", [op.add("Mul", [first, b]), a])
    half = op.add("Mul", [op.add("Mul", [op.add("Exp", [second]), b]), op.number(0.5)])
    op.end("Concat", [op.add("Sub", [middle, half]), op.add("Add", [middle, half])], axis=-1)


@writes("BilinearSampler")
def sampler(op: Operation) -> None:
    grid = op.add("Transpose", [op.inputs[1]], perm=[0, 2, 3, 1])
    op.end("GridSample", [op.x, grid], mode="bilinear", padding_mode="zeros", align_corners=1)
