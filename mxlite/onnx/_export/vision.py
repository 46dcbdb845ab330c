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


@writes("BilinearSampler")
def sampler(op: Operation) -> None:
    grid = op.add("Transpose", [op.inputs[1]], perm=[0, 2, 3, 1])
    op.end("GridSample", [op.x, grid], mode="bilinear", padding_mode="zeros", align_corners=1)
