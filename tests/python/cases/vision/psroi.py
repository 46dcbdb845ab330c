"""Regions of images in bins that read channels of their own, at places that may move."""

from __future__ import annotations

import math

import numpy as np

from .._case import Case, In
from .deformable import pixel_weights

CASES: list = []
#: Rows of the operator of the gradient.
INTERNAL: list = []

_REGIONS = [[0, 0, 0, 3, 3], [1, 1, 1.5, 5, 4.49], [0, -3, -2, 2, 2], [1, 5, 3, 20, 30], [0, 4, 4, 2, 2]]
_OUTSIDE = [[0, 30, 30, 40, 40], [1, -40, -40, -30, -30], [0, 0.5, 0.49, 0.5, 0.5], [1, 6, 1, 6, 1]]


def _number(rois):
    """The type in which 1.9.1 computes the places."""
    return np.float64 if rois.dtype == np.float64 else np.float32


def _whole(value):
    return math.copysign(math.floor(abs(float(value)) + 0.5), float(value))


def _region(roi, scale, bins, t, shift=0.0):
    """Image, and of rows and columns: begin, size, size of a bin."""
    axes = []
    for low, high in ((roi[2], roi[4]), (roi[1], roi[3])):
        low, high = (
            t(t(t(_whole(v)) + t(more)) * t(np.float32(scale)) + t(shift)) for v, more in ((low, 0), (high, 1))
        )
        size = max(t(high - low), t(0.1))
        axes.append((low, size, t(size / t(bins))))
    return int(roi[0]), axes


def _matrix(rois, shape, spatial_scale, output_dim, pooled_size, group_size=0):
    """Means as a linear map: for each place of the result, the image, channel, rows and columns of its pixels."""
    groups, t = group_size or pooled_size, _number(rois)
    for n, roi in enumerate(rois):
        image, axes = _region(roi, spatial_scale, pooled_size, t)
        for c, i, j in np.ndindex(output_dim, pooled_size, pooled_size):
            ranges = []
            for bin_, (low, _, step), extent in zip((i, j), axes, shape[2:]):
                ends = np.floor(t(t(bin_) * step) + low), np.ceil(t(t(bin_ + 1) * step) + low)
                ranges.append(slice(*(int(np.clip(end, 0, extent)) for end in ends)))
            channel = (c * groups + i * groups // pooled_size) * groups + j * groups // pooled_size
            yield (n, c, i, j), (image, channel, *ranges)


def _pool(data, rois, **params) -> np.ndarray:
    size = params["pooled_size"]
    out = np.zeros((len(rois), params["output_dim"], size, size))
    for to, at in _matrix(rois, data.shape, **params):
        part = data[at].astype("float64")
        out[to] = part.mean() if part.size else 0
    return out.astype(data.dtype)


def _back(data, rois, shape, **params) -> np.ndarray:
    out = np.zeros(shape)
    for to, at in _matrix(rois, shape, **params):
        out[at] += data[to] / max(out[at].size, 1)
    return out.astype(data.dtype)


def _errors(op: str, good: dict, *inputs: In, **rows) -> None:
    for label, row in rows.items():
        given, oracle = row.pop("inputs", inputs), row.pop("oracle", "")
        CASES.append(Case(op, label.replace("_", "-"), given, {**good, **row}, error=True, oracle=oracle,
                          np_shape=label == "no_axes"))  # fmt: skip


# ---- PSROIPooling ----

_op = "_contrib_PSROIPooling"
_READS = "skip: 1.9.1 reads past the end"


def _row(label, size, dim, groups=0, scale=1.0, rois=_REGIONS, dtype="float32", order=2, more=0) -> None:
    params = {"spatial_scale": scale, "output_dim": dim, "pooled_size": size}
    params.update({"group_size": groups} if groups else {})
    shape = (2, dim * (groups or size) ** 2 + more, 6, 7)
    CASES.append(Case(_op, label, (In(shape, dtype), In(dtype=dtype, values=rois)), params, _pool, order=order,
                      diff=(0,), tolerance={"float16": (2e-2, 2e-2), "float32": (1e-4, 1e-5)}))  # fmt: skip
    if label in ("plain", "groups-less"):
        INTERNAL.append(
            Case("_mxl_psroi_back", label, (In((len(rois), dim, size, size)), In(values=rois)),
                 {**params, "shape": shape}, _back, order=2, diff=(0,))
        )  # fmt: skip


_row("plain", 2, 2)
_row("half", 3, 1, scale=0.5, rois=np.array(_REGIONS) * [1, 2, 2, 2, 2])
_row("one-bin", 1, 3)
_row("many-bins", 5, 1, scale=0.7)
_row("groups-less", 3, 2, groups=2)
_row("groups-more", 2, 1, groups=3, scale=0.7)
_row("outside", 2, 2, rois=_OUTSIDE)
_row("scale-0", 2, 1, scale=0.0)
_row("scale-third", 3, 1, scale=0.3, rois=np.array(_REGIONS) * [1, 3, 3, 3, 3])
_row("float64", 2, 2, scale=0.7, dtype="float64")
_row("float16", 2, 2, dtype="float16", order=0)
_row("channels-left", 2, 1, more=3)
_params = {"spatial_scale": 1.0, "output_dim": 1, "pooled_size": 2}
_images, _rois = In((1, 4, 4, 4)), In(values=[[0, 0, 0, 3, 3]])
_special = np.resize([0, np.nan, -0.0, 1.5, np.inf, -2, 7, -np.inf, 3, 1, 1], (1, 4, 4, 4))
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_special),
                                                 In(dtype=_dtype, values=[[0, 0, 0, 2, 2], [0, 1, 2, 1, 2]])),
                      _params, tolerance={"float16": (2e-2, 2e-2)}))  # fmt: skip
CASES += [
    Case(_op, "no-regions", (_images, In((0, 5))), _params, _pool, np_shape=True),
    Case(_op, "image-over", (_images, In(values=[[1, 0, 0, 3, 3]])), _params, error=True, oracle=_READS),
    Case(_op, "image-negative", (_images, In(values=[[-1, 0, 0, 3, 3]])), _params, error=True, oracle=_READS),
    Case(_op, "region-nan", (_images, In(values=[[0, np.nan, 0, 3, 3]])), _params, error=True, oracle=_READS),
    Case("_mxl_psroi_back", "shape", (In((1, 1, 2, 2)), _rois), {**_params, "shape": (4, 4)}, error=True),
    Case("_mxl_psroi_back", "data", (In((1, 1, 3, 2)), _rois), {**_params, "shape": (1, 4, 4, 4)}, error=True),
]
INTERNAL += [case for case in CASES if case.op.startswith("_mxl_")]
CASES = [case for case in CASES if not case.op.startswith("_mxl_")]
_SHARED = {
    "four": {"inputs": (_images, In((1, 4)))}, "one_axis": {"inputs": (_images, In((5,)))},
    "three_axes": {"inputs": (In((4, 4, 4)), _rois)},
    "dtypes": {"inputs": (_images, In(dtype="float64", values=[[0] * 5]))},
    "int32": {"inputs": (In((1, 4, 4, 4), "int32", ("int", 0, 9)), In(dtype="int32", values=[[0] * 5]))},
    "scale_2": {"spatial_scale": 2.0}, "scale_negative": {"spatial_scale": -1.0},
    "one_input": {"inputs": (_images,)}, "no_axes": {"inputs": (In(()), In(()))}, "unknown_parameter": {"foo": 1},
    "few_channels": {"inputs": (In((1, 3, 4, 4)), _rois), "oracle": _READS},
    "size_0": {"pooled_size": 0, "oracle": "skip: 1.9.1 divides by 0"},
    "results_0": {"output_dim": 0, "oracle": "skip: 1.9.1 makes an array of unknown shape"},
    "group_negative": {"group_size": -1, "oracle": _READS},
}  # fmt: skip
_errors(_op, _params, _images, _rois, **{label: dict(row) for label, row in _SHARED.items()})

# ---- DeformablePSROIPooling ----


def _moved(
    data, rois, trans=None, *, spatial_scale, output_dim, group_size, pooled_size, part_size=0, sample_per_part=1,
    trans_std=0.0, no_trans=False,
):  # fmt: skip
    t, parts, per = _number(rois), part_size or pooled_size, sample_per_part
    classes = 1 if no_trans else trans.shape[1] // 2
    out = np.zeros((len(rois), output_dim, pooled_size, pooled_size))
    for n, roi in enumerate(rois):
        image, axes = _region(roi, spatial_scale, pooled_size, t, -0.5)
        for c, *place in np.ndindex(output_dim, pooled_size, pooled_size):
            part = tuple(int(np.float32(b) / np.float32(pooled_size) * np.float32(parts)) for b in place)
            cell = [b * group_size // pooled_size for b in place]
            weights = []
            for axis, (low, size, step) in enumerate(axes):
                move = 0 if no_trans else trans[(n, c // (output_dim // classes) * 2 + 1 - axis, *part)]
                at = place[axis] * float(step) + float(low) + float(move) * float(np.float32(trans_std)) * float(size)
                at = at + np.arange(per) * float(t(step / t(per)))
                extent = data.shape[axis + 2]
                counts = (at >= -0.5) & (at <= extent - 0.5)
                read = pixel_weights(np.clip(at, 0, extent - 1), extent) * counts[:, None]
                weights.append((read.sum(axis=0), counts.sum()))
            plane = data[image, (c * group_size + cell[0]) * group_size + cell[1]].astype("float64")
            share = np.outer(weights[0][0], weights[1][0])
            total = (share * plane)[share != 0].sum()
            out[(n, c, *place)] = total / max(weights[0][1] * weights[1][1], 1)
    return out.astype(data.dtype)


_op = "_contrib_DeformablePSROIPooling"
_STILL = np.array([[0, 0, 0, 3, 3], [1, 1, 1, 5, 4], [0, -3, -2, 2, 2], [1, 4, 3, 20, 30], [0, 5, 1, 3, 4]])


def _moved_row(label, dim, groups, size, parts=0, per=2, std=0.1, classes=1, scale=0.9, dtype="float32", order=2,
               rois=_STILL, more=0, oracle="") -> None:  # fmt: skip
    params = {"spatial_scale": scale, "output_dim": dim, "group_size": groups, "pooled_size": size,
              "sample_per_part": per}  # fmt: skip
    params.update({"part_size": parts} if parts else {})
    params.update({"trans_std": std} if classes else {"no_trans": True})
    inputs = [In((2, dim * groups * groups + more, 6, 7), dtype), In(dtype=dtype, values=rois)]
    if classes:
        inputs.append(In((len(rois), 2 * classes, parts or size, parts or size), dtype))
    CASES.append(Case(_op, label, tuple(inputs), params, _moved, order=order, diff=(0, 2) if classes else (0,),
                      oracle=oracle, tolerance={"float16": (3e-2, 3e-2), "float32": (2e-4, 2e-5)}))  # fmt: skip


_moved_row("plain", 2, 2, 2)
_moved_row("one-sample", 1, 2, 2, per=1)
_moved_row("classes", 4, 2, 2, classes=2)
_moved_row("parts", 1, 2, 2, parts=3, std=0.2)
_moved_row("parts-less", 1, 1, 3, parts=2)
_moved_row("groups-less", 2, 2, 3)
_moved_row("groups-more", 1, 3, 2)
_moved_row("still", 2, 2, 2, classes=0)
_moved_row("still-many", 1, 2, 4, per=3, classes=0, scale=0.3)
_moved_row("std-0", 1, 2, 2, std=0.0)
_moved_row("outside", 1, 2, 2, classes=0, rois=np.array(_OUTSIDE))
_moved_row("one-image", 1, 1, 2, rois=_STILL * [0, 1, 1, 1, 1])
_moved_row("float64", 2, 2, 2, dtype="float64")
_moved_row("float16", 1, 2, 2, dtype="float16", order=0, oracle="forward: 1.9.1 adds up gradients in float16")
_moved_row("channels-left", 1, 2, 2, more=3)
_params = {"spatial_scale": 1.0, "output_dim": 1, "pooled_size": 2, "group_size": 2}
_trans = In((1, 2, 2, 2))
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, f"special-{_dtype}",
                      (In(dtype=_dtype, values=_special), In(dtype=_dtype, values=[[0, 0, 0, 2, 2], [0, 1, 2, 1, 2]])),
                      {**_params, "no_trans": True}, _moved, tolerance={"float16": (2e-2, 2e-2)},
                      oracle="differs: 1.9.1 multiplies infinities by 0 where a place is a pixel"))  # fmt: skip
CASES += [
    Case(_op, "no-regions", (_images, In((0, 5)), In((0, 2, 2, 2))), _params, _moved, np_shape=True,
         oracle="skip: 1.9.1 refuses, or answers an empty array"),
    Case(_op, "image-over", (_images, In(values=[[1, 0, 0, 3, 3]]), _trans), _params, error=True, oracle=_READS),
    Case(_op, "region-nan", (_images, In(values=[[0, np.nan, 0, 3, 3]]), _trans), _params, error=True, oracle=_READS),
]  # fmt: skip
_rows = {label: dict(row) for label, row in _SHARED.items()}
for _label, _more in _rows.items():
    if "inputs" in _more and _label not in ("one_input", "no_axes"):
        _more["inputs"] = (*_more["inputs"], _trans.like(_more["inputs"][0].dtype))
_rows["no_axes"]["inputs"] = (In(()), In(()), In(()))
_rows["int32"]["inputs"] = (*_rows["int32"]["inputs"][:2], In((1, 2, 2, 2), "int32", ("int", 0, 1)))
_errors(_op, _params, _images, _rois, _trans, **_rows,
        trans_shape={"inputs": (_images, _rois, In((1, 2, 3, 3))), "oracle": _READS},
        trans_odd={"inputs": (_images, _rois, In((1, 3, 2, 2))), "oracle": _READS},
        trans_axes={"inputs": (_images, _rois, In((1, 2, 2)))},
        trans_classes={"inputs": (_images, _rois, In((1, 4, 2, 2))), "oracle": "skip: 1.9.1 divides by 0"},
        trans_dtype={"inputs": (_images, _rois, In((1, 2, 2, 2), "float64")), "oracle": _READS},
        trans_unasked={"no_trans": True}, trans_missing={"inputs": (_images, _rois)},
        std_2={"trans_std": 2.0}, std_negative={"trans_std": -0.5},
        samples_0={"sample_per_part": 0, "oracle": "skip: 1.9.1 divides by 0"},
        group_0={"group_size": 0, "oracle": _READS})  # fmt: skip
