"""Convolutions whose windows read the data at moved places."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_LOOSE = {"float32": (2e-4, 2e-5)}


def pixel_weights(places: np.ndarray, n: int, derivative: bool = False) -> np.ndarray:
    """The weight of each of n positions for each place: bilinear, the last one lasting a pixel's width."""
    inside = ((places >= 0) & (places < n))[..., None]
    far = np.minimum(places, n - 1)[..., None] - np.arange(n)
    if derivative:
        slope = np.where((far >= 0) & (far < 1), -1, np.where((far < 0) & (far > -1) | (far == -1), 1, 0))
        return np.where(inside & (places < n - 1)[..., None], slope, 0)
    return np.where(inside, np.maximum(1 - np.abs(far), 0), 0)


def _deformable(
    data, offset, weight, bias=None, *, kernel, num_filter, stride=(1, 1), dilate=(1, 1), pad=(0, 0), num_group=1,
    num_deformable_group=1, no_bias=False, workspace=1024, layout=None,
):  # fmt: skip
    batch, channels = data.shape[:2]
    rows, columns = offset.shape[2:]
    moved = offset.astype("float64").reshape(batch, num_deformable_group, *kernel, 2, rows, columns)
    steps = [
        np.arange(size)[None, :] * step + np.arange(extent)[:, None] * wide - rim
        for size, step, extent, wide, rim in zip((rows, columns), stride, kernel, dilate, pad)
    ]
    down = pixel_weights(moved[:, :, :, :, 0] + steps[0][:, None, :, None], data.shape[2])
    across = pixel_weights(moved[:, :, :, :, 1] + steps[1][None, :, None, :], data.shape[3])
    parts = data.astype("float64").reshape(
        batch, num_deformable_group, channels // num_deformable_group, *data.shape[2:]
    )
    samples = np.einsum("ndklopi,ndklopj,ndcij->ndcklop", down, across, parts)
    samples = samples.reshape(batch, num_group, channels // num_group, *kernel, rows, columns)
    kernels = weight.astype("float64").reshape(num_group, num_filter // num_group, -1, *kernel)
    out = np.einsum("ngcklop,gfckl->ngfop", samples, kernels).reshape(batch, num_filter, rows, columns)
    return (out if bias is None else out + bias.reshape(-1, 1, 1)).astype(data.dtype)


_op = "_contrib_DeformableConvolution"


def _row(label, *inputs, order=2, oracle="", **params) -> None:
    params = {"num_filter": inputs[2].shape[0], "kernel": inputs[2].shape[2:], **params}
    if len(inputs) == 3:
        params["no_bias"] = True
    CASES.append(Case(_op, label, inputs, params, _deformable, order=order, diff=tuple(range(len(inputs))),
                      oracle=oracle, tolerance=_LOOSE))  # fmt: skip


def _offsets(*shape: int, dtype: str = "float32") -> In:
    """Places that are no pixels: the derivative has kinks there."""
    rng = np.random.RandomState(sum(shape))
    return In(shape, dtype, values=np.round(rng.uniform(-1.5, 1.5, shape)) + rng.randint(1, 8, shape) / 8)


_HALF = "differs: 1.9.1 has no float16 products"


def _sampler(data, grid, by_column=False, by_row=False, pixels=True) -> np.ndarray:
    across = pixel_weights(grid[:, 0].astype("float64"), data.shape[3], by_column)
    down = pixel_weights(grid[:, 1].astype("float64"), data.shape[2], by_row)
    return np.einsum("nopi,nopj,ncij->ncop", down, across, data.astype("float64")).astype(data.dtype)


#: The operator of the samples, in pixels.
INTERNAL = [
    Case("_mxl_sampler", "pixels" + "-column" * column + "-row" * row, (In((1, 2, 3, 3)), _offsets(1, 2, 2, 4)),
         {"pixels": True, "by_column": column, "by_row": row}, _sampler, order=2, diff=(0, 1), tolerance=_LOOSE)
    for column in (False, True) for row in (False, True)
]  # fmt: skip

_row("plain", In((2, 2, 4, 5)), _offsets(2, 18, 2, 3), In((2, 2, 3, 3)), In((2,)))
_row("one", In((1, 1, 3, 4)), _offsets(1, 2, 3, 4), In((1, 1, 1, 1)))
_row("window", In((1, 2, 5, 4)), _offsets(1, 12, 3, 4), In((3, 2, 3, 2)), stride=(2, 1), dilate=(1, 2), pad=(1, 1))
_row("groups", In((1, 4, 3, 3)), _offsets(1, 8, 2, 2), In((2, 2, 2, 2)), num_group=2)
_row("deformable-groups", In((1, 4, 3, 3)), _offsets(1, 16, 2, 2), In((2, 4, 2, 2)), num_deformable_group=2)
_row("both-groups", In((2, 4, 3, 3)), _offsets(2, 16, 2, 2), In((4, 2, 2, 2)), In((4,)), num_deformable_group=2,
     num_group=2)  # fmt: skip
_row("float64", In((1, 2, 3, 4), "float64"), _offsets(1, 8, 2, 3, dtype="float64"), In((2, 2, 2, 2), "float64"))
_row("layout", In((1, 2, 3, 3)), _offsets(1, 8, 2, 2), In((1, 2, 2, 2)), layout="NCHW", workspace=5, order=1)
CASES += [
    Case(_op, "float16", (In((1, 2, 3, 3), "float16"), In((1, 8, 2, 2), "float16"), In((2, 2, 2, 2), "float16")),
         {"kernel": (2, 2), "num_filter": 2, "no_bias": True}, _deformable, oracle=_HALF,
         tolerance={"float16": (2e-2, 2e-2)}),
    Case(_op, "far", (In((1, 1, 2, 2)), In(values=[[[[1e30, np.nan]], [[0.0, 0.0]]]]), In((1, 1, 2, 1))),
         {"kernel": (2, 1), "num_filter": 1, "no_bias": True}, error=True),
    Case(_op, "no-numbers", (In((1, 1, 1, 3)), In(values=[[[[0, -1e30, np.inf]], [[np.nan, 0.0, 0.0]]]]),
                             In((1, 1, 1, 1))),
         {"kernel": (1, 1), "num_filter": 1, "no_bias": True}, _deformable),
    Case(_op, "edges", (In((1, 1, 2, 3)), In(values=[[[[-0.5, 0.0, 0.5], [0.0, 0.5, 1.0]],
                                                      [[0.0, -0.25, 0.5], [0.5, 0.25, 0.0]]]]), In((1, 1, 1, 1))),
         {"kernel": (1, 1), "num_filter": 1, "no_bias": True}, _deformable, order=0, diff=(0, 1, 2), defined=True),
    Case(_op, "no-batch", (In((0, 2, 3, 3)), In((0, 8, 2, 2)), In((1, 2, 2, 2))),
         {"kernel": (2, 2), "num_filter": 1, "no_bias": True}, _deformable, np_shape=True),
]  # fmt: skip

_numbers = [[[[0.0, -0.0, np.nan], [np.inf, -np.inf, 1.0], [3.0, 65504.0, 2.0]]]]
_kernels = [[[[1.0, -0.5], [0.0, np.nan]]], [[[0.5, 1.0], [2.0, np.inf]]]]
CASES += [
    Case(_op, f"special-{dtype}", (In(dtype=dtype, values=_numbers), _offsets(1, 8, 2, 2, dtype=dtype),
                                   In(dtype=dtype, values=_kernels)),
         {"kernel": (2, 2), "num_filter": 2, "no_bias": True})
    for dtype in ("float32", "float64")
]  # fmt: skip

_x, _w = In((1, 2, 4, 5)), In((2, 2, 3, 3))
_good = {"kernel": (3, 3), "num_filter": 2, "no_bias": True}


def _error(label, *inputs, oracle="", **params) -> None:
    CASES.append(Case(_op, label, inputs or (_x, In((1, 18, 2, 3)), _w), {**_good, **params}, error=True,
                      oracle=oracle, np_shape=label == "no-axes"))  # fmt: skip


_error("offset-channels", _x, In((1, 16, 2, 3)), _w)
_error("offset-size", _x, In((1, 18, 2, 2)), _w)
_error("offset-batch", In((2, 2, 4, 5)), In((1, 18, 2, 3)), _w, oracle="differs: 1.9.1 reads behind the offsets")
_error("offset-axes", _x, In((18, 2, 3)), _w)
_error("deformable-group", num_deformable_group=3)
_error("no-deformable-group", num_deformable_group=0, oracle="skip: 1.9.1 ends the process")
_error("kernel-one", kernel=(3,))
_error("kernel-three", kernel=(3, 3, 3))
_error("kernel-large", kernel=(7, 3))
_error("stride", stride=(0, 1))
_error("weight", _x, In((1, 18, 2, 3)), In((2, 3, 3, 3)))
_error("filters", num_filter=3, num_group=2)
_error("layout-unfit", layout="NCW")
_error("three-axes", In((2, 4, 5)), In((1, 18, 2, 3)), _w)
_error("dtypes", _x, In((1, 18, 2, 3), "float64"), _w)
_error("int32", *(In(i.shape, "int32", ("int", 0, 2)) for i in (_x, In((1, 18, 2, 3)), _w)))
_error("two", _x, _w)
_error("no-axes", In(()), In(()), In(()))
_error("unknown-parameter", foo=1)

# ---- ModulatedDeformableConvolution ----

_op = "_contrib_ModulatedDeformableConvolution"
_FORWARD = "forward: 1.9.1 has its gradients on GPUs alone"


def _rim_weights(places: np.ndarray, n: int) -> np.ndarray:
    """The weight of each of n positions for each place: bilinear, with zeros next to the first and the last."""
    return np.maximum(1 - np.abs(places[..., None] - np.arange(n)), 0)


def _modulated(
    data, offset, mask, weight, bias=None, *, kernel, num_filter, stride=(1, 1), dilate=(1, 1), pad=(0, 0), num_group=1,
    num_deformable_group=1, no_bias=False, workspace=1024, im2col_step=64, layout=None,
):  # fmt: skip
    batch, channels = data.shape[:2]
    rows, columns = offset.shape[2:]
    groups, taps = num_deformable_group, kernel[0] * kernel[1]
    moved = offset.astype("float64").reshape(batch, groups, taps, 2, rows, columns)
    factors = mask.astype("float64").reshape(batch, groups, taps, rows, columns)
    out = np.zeros((batch, num_filter, rows, columns))
    samples = np.zeros((batch, groups, channels // groups, taps, rows, columns))
    parts = data.astype("float64").reshape(batch, groups, channels // groups, *data.shape[2:])
    for tap in range(taps):
        places = []
        for axis, at in enumerate(divmod(tap, kernel[1])):
            start = np.arange((rows, columns)[axis]) * stride[axis] + at * dilate[axis] - pad[axis]
            places.append(moved[:, :, tap, axis] + (start[:, None] if axis == 0 else start))
        down, across = (_rim_weights(at, n) for at, n in zip(places, data.shape[2:]))
        read = np.einsum("ndopi,ndopj,ndcij->ndcop", down, across, parts)
        samples[:, :, :, tap] = read * factors[:, :, None, tap]
    samples = samples.reshape(batch, num_group, channels // num_group, *kernel, rows, columns)
    kernels = weight.astype("float64").reshape(num_group, num_filter // num_group, -1, *kernel)
    out = np.einsum("ngcklop,gfckl->ngfop", samples, kernels).reshape(batch, num_filter, rows, columns)
    return (out if bias is None else out + bias.reshape(-1, 1, 1)).astype(data.dtype)


def _masked_row(label, *inputs, order=2, oracle=_FORWARD, **params) -> None:
    """Inputs without the mask, which is drawn."""
    batch, planes, rows, columns = inputs[1].shape
    masks = In((batch, planes // 2, rows, columns), inputs[0].dtype)
    params = {"num_filter": inputs[2].shape[0], "kernel": inputs[2].shape[2:], **params}
    if len(inputs) == 3:
        params["no_bias"] = True
    CASES.append(Case(_op, label, (*inputs[:2], masks, *inputs[2:]), params, _modulated, order=order,
                      diff=tuple(range(len(inputs) + 1)), oracle=oracle,
                      tolerance={**_LOOSE, "float16": (2e-2, 2e-2)}))  # fmt: skip


_masked_row("plain", In((2, 2, 4, 5)), _offsets(2, 18, 2, 3), In((2, 2, 3, 3)), In((2,)))
_masked_row("one", In((1, 1, 3, 4)), _offsets(1, 2, 3, 4), In((1, 1, 1, 1)))
_masked_row("window", In((1, 2, 5, 4)), _offsets(1, 12, 3, 4), In((3, 2, 3, 2)), stride=(2, 1), dilate=(1, 2),
            pad=(1, 1))  # fmt: skip
_masked_row("groups", In((1, 4, 3, 3)), _offsets(1, 8, 2, 2), In((2, 2, 2, 2)), num_group=2)
_masked_row("both-groups", In((2, 4, 3, 3)), _offsets(2, 16, 2, 2), In((4, 2, 2, 2)), In((4,)),
            num_deformable_group=2, num_group=2)  # fmt: skip
_masked_row("float64", In((1, 2, 3, 4), "float64"), _offsets(1, 8, 2, 3, dtype="float64"), In((2, 2, 2, 2), "float64"))
_masked_row("float16", In((1, 2, 3, 3), "float16"), _offsets(1, 8, 2, 2, dtype="float16"),
            In((2, 2, 2, 2), "float16"), order=0, oracle=_HALF)  # fmt: skip
_masked_row("step", In((4, 1, 3, 3)), _offsets(4, 8, 2, 2), In((1, 1, 2, 2)), im2col_step=2, order=1, layout="NCHW")
_tap = {"kernel": (1, 1), "num_filter": 1, "no_bias": True}
_places = [[[[0, -1.0, -0.75, 2.5, 9.0]], [[-0.5, 0.0, -2.5, -0.5, 0.0]]]]
CASES += [
    Case(_op, "rim", (In((1, 1, 1, 5)), In(values=_places), In((1, 1, 1, 5)), In((1, 1, 1, 1))), _tap, _modulated),
    Case(_op, "no-numbers", (In((1, 1, 1, 3)), In(values=[[[[0, -1e30, np.inf]], [[np.nan, 0.0, 0.0]]]]),
                             In((1, 1, 1, 3)), In((1, 1, 1, 1))), _tap, forward=None),
    Case(_op, "no-batch", (In((0, 2, 3, 3)), In((0, 8, 2, 2)), In((0, 4, 2, 2)), In((1, 2, 2, 2))),
         {"kernel": (2, 2), "num_filter": 1, "no_bias": True}, _modulated, np_shape=True,
         oracle="skip: 1.9.1 divides by 0"),
]  # fmt: skip
CASES += [
    Case(_op, f"special-{dtype}", (In(dtype=dtype, values=_numbers), _offsets(1, 8, 2, 2, dtype=dtype),
                                   In((1, 4, 2, 2), dtype), In(dtype=dtype, values=_kernels)),
         {"kernel": (2, 2), "num_filter": 2, "no_bias": True})
    for dtype in ("float32", "float64")
]  # fmt: skip
_mask = In((1, 9, 2, 3))


def _masked_error(label, *inputs, oracle="", **params) -> None:
    CASES.append(Case(_op, label, inputs or (_x, In((1, 18, 2, 3)), _mask, _w), {**_good, **params}, error=True,
                      oracle=oracle, np_shape=label == "no-axes"))  # fmt: skip


_masked_error("mask-channels", _x, In((1, 18, 2, 3)), In((1, 8, 2, 3)), _w)
_masked_error("mask-size", _x, In((1, 18, 2, 3)), In((1, 9, 2, 2)), _w)
_masked_error("mask-batch", _x, In((1, 18, 2, 3)), In((2, 9, 2, 3)), _w, oracle="skip: 1.9.1 reads what is not there")
_masked_error("mask-axes", _x, In((1, 18, 2, 3)), In((9, 2, 3)), _w)
_masked_error("offset-channels", _x, In((1, 16, 2, 3)), _mask, _w)
_masked_error("offset-axes", _x, In((18, 2, 3)), _mask, _w)
_masked_error("deformable-group", num_deformable_group=3)
_masked_error("no-deformable-group", num_deformable_group=0, oracle="skip: 1.9.1 ends the process")
_masked_error("step-0", im2col_step=0, oracle="skip: 1.9.1 ends the process")
_masked_error("step-apart", In((3, 2, 4, 5)), In((3, 18, 2, 3)), In((3, 9, 2, 3)), _w, im2col_step=2)
_masked_error("kernel-one", kernel=(3,))
_masked_error("stride", stride=(0, 1))
_masked_error("weight", _x, In((1, 18, 2, 3)), _mask, In((2, 3, 3, 3)))
_masked_error("layout-unfit", layout="NCW")
_masked_error("three-axes", In((2, 4, 5)), In((1, 18, 2, 3)), _mask, _w)
_masked_error("dtypes", _x, In((1, 18, 2, 3)), In((1, 9, 2, 3), "float64"), _w)
_masked_error("int32", *(In(i.shape, "int32", ("int", 0, 2)) for i in (_x, In((1, 18, 2, 3)), _mask, _w)))
_masked_error("three", _x, In((1, 18, 2, 3)), _w)
_masked_error("no-axes", In(()), In(()), In(()), In(()))
_masked_error("unknown-parameter", foo=1)
