"""Writes layers: convolutions, poolings, normalisations, dense layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.onnx._export.nodes import Operation, writes


def _pads(op: Operation, count: int) -> list[int]:
    pad = list(op.sizes("pad", ())) or [0] * count
    return pad + pad


def _layout(op: Operation) -> None:
    layout = op.text("layout", "None")
    if layout not in ("None", "NCW", "NCHW", "NCDHW"):
        raise op.refuse(f"layout {layout}")


@writes("Convolution")
def convolution(op: Operation) -> None:
    _layout(op)
    kernel = op.sizes("kernel")
    count = len(kernel)
    op.end(
        "Conv", op.inputs, kernel_shape=kernel, strides=op.sizes("stride", ()) or [1] * count,
        dilations=op.sizes("dilate", ()) or [1] * count, pads=_pads(op, count), group=op.whole("num_group", 1),
    )  # fmt: skip


@writes("Deconvolution")
def deconvolution(op: Operation) -> None:
    _layout(op)
    kernel = op.sizes("kernel")
    count = len(kernel)
    strides, dilations = op.sizes("stride", ()) or (1,) * count, op.sizes("dilate", ()) or (1,) * count
    pads, more = _pads(op, count), list(op.sizes("adj", ()) or [0] * count)
    target = op.sizes("target_shape", ())
    if target:
        full = [(size - 1) * stride + (wide - 1) * step + 1 for size, stride, wide, step in
                zip(op.shape()[2:], strides, kernel, dilations)]  # fmt: skip
        over = [size - wish for size, wish in zip(full, target)]
        more = [each % 2 for each in over]
        pads = [(each + 1) // 2 for each in over] * 2
    op.end(
        "ConvTranspose", op.inputs, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
        output_padding=more, group=op.whole("num_group", 1),
    )  # fmt: skip


@writes("Pooling")
def pooling(op: Operation) -> None:
    _layout(op)
    kind = op.text("pool_type", "max")
    if op.flag("global_pool"):
        if kind not in ("max", "avg"):
            raise op.refuse(f"global pooling of kind {kind}")
        op.end("GlobalMaxPool" if kind == "max" else "GlobalAveragePool", [op.x])
        return
    kernel = op.sizes("kernel")
    count = len(kernel)
    strides, pads = op.sizes("stride", ()) or (1,) * count, _pads(op, count)
    given: dict[str, Any] = {"kernel_shape": kernel, "strides": strides}
    convention = op.text("pooling_convention", "valid")
    if convention == "same":
        raise op.refuse("pooling_convention 'same'")
    if convention == "full":
        given["ceil_mode"] = 1
        sizes = op.x.shape[2:] if op.x.shape else ()
        if not sizes or min(sizes) < 0:
            if kind != "max":
                raise op.refuse("pooling_convention 'full' of sizes that are not known")
        else:  # rounding down of a tensor that is padded as far as the windows reach
            del given["ceil_mode"]
            for axis, size in enumerate(sizes):
                wish = (op.outputs[0].shape or ())[axis + 2]
                pads[count + axis] = max(pads[axis], (wish - 1) * strides[axis] + kernel[axis] - size - pads[axis])
            if kind == "avg" and op.flag("count_include_pad", True) and pads[:count] != pads[count:]:
                raise op.refuse("means over padding of pooling_convention 'full'")
    given["pads"] = pads
    if kind == "max":
        op.end("MaxPool", [op.x], **given)
    elif kind in ("avg", "sum"):
        include = kind == "sum" or op.text("count_include_pad", "True") not in ("False", "0")
        made = [op.x]
        if kind == "avg":
            op.end("AveragePool", made, count_include_pad=int(include), **given)
        else:
            mean = op.add("AveragePool", made, count_include_pad=1, **given)
            op.end("Mul", [mean, op.number(float(np.prod(kernel)))])
    else:
        op.end("LpPool", [op.x], p=op.whole("p_value", 2), **given)


@writes("_contrib_AdaptiveAvgPooling2D")
def adaptive(op: Operation) -> None:
    size = op.sizes("output_size", ())
    if size not in ((), (1,), (1, 1)):
        raise op.refuse(f"output_size {size}; ONNX has (1, 1)")
    op.end("GlobalAveragePool", [op.x])


@writes("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm")
def batch_norm(op: Operation) -> None:
    x, gamma, beta, mean, variance = op.inputs
    axis, scale = op.axis(op.whole("axis", 1)), gamma.name
    if op.flag("fix_gamma", True):
        count = (gamma.shape or (-1,))[0]
        if count < 0:
            raise op.refuse("the number of channels must be known")
        scale = op.writer.constant(np.ones(count), gamma.dtype)
    default = 0.001
    rank = op.rank()
    order = [axis if each == 1 else 1 if each == axis else each for each in range(rank)]
    source: Any = x if axis == 1 else op.add("Transpose", [x], perm=order)
    given: dict[str, Any] = {"epsilon": op.real("eps", default), "momentum": op.real("momentum", 0.9)}
    inputs = [source, scale, beta, mean, variance]
    if axis == 1:
        op.writer.add("BatchNormalization", inputs, outputs=[op.outputs[0].name], **given)
    else:
        made = op.add("BatchNormalization", inputs, **given)
        op.writer.add("Transpose", [made], outputs=[op.outputs[0].name], perm=order)


@writes("LayerNorm", "_npx_layer_norm")
def layer_norm(op: Operation) -> None:
    axis, rank = op.axis(op.whole("axis", -1)), op.rank()
    eps = op.real("eps", 1e-5)
    if axis == rank - 1:
        op.writer.add("LayerNormalization", op.inputs[:3], outputs=[op.outputs[0].name], axis=-1, epsilon=eps)
        return
    order = [each for each in range(rank) if each != axis] + [axis]
    made = op.add(
        "LayerNormalization", [op.add("Transpose", [op.x], perm=order), *op.inputs[1:3]], axis=-1, epsilon=eps
    )
    op.writer.add("Transpose", [made], outputs=[op.outputs[0].name], perm=list(np.argsort(order)))


@writes("InstanceNorm")
def instance_norm(op: Operation) -> None:
    op.end("InstanceNormalization", op.inputs, epsilon=op.real("eps", 0.001))


@writes("GroupNorm")
def group_norm(op: Operation) -> None:
    groups, shape = op.whole("num_groups", 1), op.shape()
    flat = op.add("Reshape", [op.x, op.ints([0, groups, -1])])
    ones, zeros = (op.number(np.full(groups, value)) for value in (1, 0))
    made = op.add("InstanceNormalization", [flat, ones, zeros], epsilon=op.real("eps", 1e-5))
    made = op.add("Reshape", [made, op.add("Shape", [op.x])])
    form = [1, shape[1], *[1] * (len(shape) - 2)]
    for kind, each in (("Mul", op.inputs[1]), ("Add", op.inputs[2])):
        vector: Any = each
        if each.shape == (groups,) and groups != shape[1]:
            vector = op.add("Reshape", [vector, op.ints([groups, 1])])
            vector = op.add("Expand", [vector, op.ints([groups, shape[1] // groups])])
        made = op.add(kind, [made, op.add("Reshape", [vector, op.ints(form)])])
    op.writer.add("Identity", [made], outputs=[op.outputs[0].name])


@writes("LRN")
def local_response(op: Operation) -> None:
    op.end("LRN", [op.x], size=op.whole("nsize"), alpha=op.real("alpha", 1e-4), beta=op.real("beta", 0.75),
           bias=op.real("knorm", 2.0))  # fmt: skip


@writes("L2Normalization")
def l2_norm(op: Operation) -> None:
    mode = op.text("mode", "instance")
    axes = {"instance": list(range(1, op.rank())), "channel": [1], "spatial": list(range(2, op.rank()))}[mode]
    squares = op.add("ReduceSum", [op.add("Mul", [op.x, op.x]), op.ints(axes)], keepdims=1)
    length = op.add("Sqrt", [op.add("Add", [squares, op.number(op.real("eps", 1e-10))])])
    op.end("Div", [op.x, length])


@writes("Dropout")
def dropout(op: Operation) -> None:
    """Nothing: what it is when a network predicts."""
    op.writer.add("Identity", [op.x], outputs=[op.outputs[0].name])


@writes("FullyConnected")
def dense(op: Operation) -> None:
    x, weight = op.x.name, op.inputs[1]
    rank = None if op.x.shape is None else len(op.x.shape)
    bias = None if op.flag("no_bias") else op.inputs[2]
    if op.flag("flatten", True) or rank == 2:
        if rank != 2:
            x = op.add("Flatten", [x], axis=1)
        op.end("Gemm", [x, *op.inputs[1 : 2 if bias is None else 3]], transB=1)
        return
    turned = op.add("Transpose", [weight], perm=[1, 0])
    if bias is None:
        op.end("MatMul", [x, turned])
    else:
        op.end("Add", [op.add("MatMul", [x, turned]), bias])


@writes("UpSampling")
def upsampling(op: Operation) -> None:
    if op.text("sample_type") != "nearest" or len(op.inputs) != 1:
        raise op.refuse("bilinear, or several inputs")
    scale = float(op.whole("scale"))
    scales = op.writer.constant([1.0, 1.0, scale, scale], "float32")
    op.end(
        "Resize", [op.x, "", scales], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"
    )


@writes("_contrib_BilinearResize2D")
def bilinear(op: Operation) -> None:
    shape = op.outputs[0].shape
    if shape is None or min(shape) < 0:
        raise op.refuse("the result's shape must be known")
    frame = "align_corners" if op.flag("align_corners", True) else "half_pixel"
    op.end("Resize", [op.x, "", "", op.ints(shape)], mode="linear", coordinate_transformation_mode=frame)


@writes("Crop")
def crop(op: Operation) -> None:
    shape = op.outputs[0].shape
    if shape is None or min(shape[2:]) < 0:
        raise op.refuse("the result's shape must be known")
    offset = list(op.sizes("offset", (0, 0)))
    if op.flag("center_crop"):
        offset = [(size - wish) // 2 for size, wish in zip(op.shape()[2:], shape[2:])]
    ends = [begin + size for begin, size in zip(offset, shape[2:])]
    op.end("Slice", [op.x, op.ints(offset), op.ints(ends), op.ints([2, 3])])
