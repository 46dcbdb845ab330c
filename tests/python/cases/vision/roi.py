"""Regions of images, each divided into bins."""

from __future__ import annotations

import itertools

import numpy as np

from .._case import Case, In

CASES: list = []
#: Rows of the operators of their gradients.
INTERNAL: list = []

_IMAGES = (2, 3, 6, 7)
_REGIONS = [[0, 0, 0, 3, 3], [1, 1, 1, 5, 4.5], [0, -1, 2, 8, 9], [1, 3, 3, 1, 1], [0, 2.5, 3.5, 2.75, 3.75]]
_ROTATED = [
    [0, 3, 3, 4, 2, 0],
    [1, 3, 3, 4, 2, 30],
    [0, 1, 1, 5, 3, 90],
    [1, 5, 5, 0.5, 0.5, -45],
    [0, 0, 6, 3, 8, 200],
]


def _errors(op: str, good: dict, *inputs: In, **rows) -> None:
    for label, row in rows.items():
        given = row.pop("inputs", inputs)
        CASES.append(Case(op, label.replace("_", "-"), given, {**good, **row}, error=True, np_shape=label == "no_axes"))


# ---- ROIPooling ----


def _bins(roi: np.ndarray, scale: float, pooled, size) -> list:
    """Rows and columns of pixels of each bin."""
    t = np.float64 if roi.dtype == np.float64 else np.float32
    whole = [t(np.floor(abs(t(v) * t(scale)) + t(0.5)) * np.sign(v)) for v in roi[1:]]
    axes = []
    for begin, end, n, extent in zip((whole[1], whole[0]), (whole[3], whole[2]), pooled, size):
        width = max(end - begin + t(1), t(1)) / t(n)
        edges = [(np.floor(t(b) * width) + begin, np.ceil(t(b + 1) * width) + begin) for b in range(n)]
        axes.append([slice(*(int(np.clip(edge, 0, extent)) for edge in pair)) for pair in edges])
    return list(itertools.product(*axes))


def _largest(data, rois, pooled_size, spatial_scale):
    """For each place of the result: the position of the first of the largest pixels, or None."""
    for n, roi in enumerate(rois):
        for b, (rows, columns) in enumerate(_bins(roi, spatial_scale, pooled_size, data.shape[2:])):
            for c in range(data.shape[1]):
                at = (n, c, b // pooled_size[1], b % pooled_size[1])
                part = data[int(roi[0]), c, rows, columns] if roi[0] > -1 else data[0, 0, :0]
                if part.size:
                    y, x = np.unravel_index(np.argmax(part), part.shape)
                    yield at, (int(roi[0]), c, rows.start + y, columns.start + x)
                else:
                    yield at, None


def _pool(data, rois, pooled_size, spatial_scale) -> np.ndarray:
    return _pick(data, rois, data, pooled_size, spatial_scale)


def _pick(data, rois, moved, pooled_size, spatial_scale) -> np.ndarray:
    out = np.zeros((len(rois), data.shape[1], *pooled_size), data.dtype)
    for place, at in _largest(data, rois, pooled_size, spatial_scale):
        out[place] = 0 if at is None else moved[at]
    return out


def _pool_back(data, rois, moved, pooled_size, spatial_scale) -> np.ndarray:
    out = np.zeros(data.shape, data.dtype)
    for place, at in _largest(data, rois, pooled_size, spatial_scale):
        if at is not None:
            out[at] += moved[place]
    return out


_op = "ROIPooling"
_images = In(_IMAGES, domain="distinct")
for _label, _pooled, _scale, _rois in (
    ("plain", (2, 2), 1.0, _REGIONS),
    ("half", (2, 3), 0.5, np.array(_REGIONS) * [1, 2, 2, 2, 2]),
    ("one-bin", (1, 1), 1.0, _REGIONS),
    ("many-bins", (5, 4), 0.75, _REGIONS),
    ("scale-0", (2, 2), 0.0, _REGIONS),
    ("outside", (2, 2), 1.0, [[0, 10, 10, 13, 13], [1, -9, -9, -5, -5], [0, 1e9, 0, 2e9, 3]]),
    ("no-image", (2, 2), 1.0, [[-1, 0, 0, 3, 3], [1, 0, 0, 3, 3]]),
    ("halves", (1, 2), 1.0, [[0, 0.5, 1.5, 2.5, 3.5], [0, 0.25, 1.75, 2.5, 4.5]]),
):
    _params = {"pooled_size": _pooled, "spatial_scale": _scale}
    CASES.append(Case(_op, _label, (_images, In(values=_rois)), _params, _pool, order=2, diff=(0,)))
_params = {"pooled_size": (2, 2), "spatial_scale": 1.0}
for _dtype in ("float64", "float16"):
    CASES.append(Case(_op, _dtype, (In(_IMAGES, _dtype, "distinct"), In(dtype=_dtype, values=_REGIONS)), _params, _pool,
                      order=2 * (_dtype == "float64"), diff=(0,)))  # fmt: skip
for _dtype in ("float32", "float64", "float16"):
    _numbers = np.array([0, np.nan, -0.0, 1.5, np.inf, -2, np.nan, np.nan, 3]).reshape(1, 1, 3, 3)
    _one = In(dtype=_dtype, values=[[0, 0, 0, 2, 2], [0, 1, 2, 1, 2]])
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_numbers), _one), _params))
CASES += [
    Case(_op, "ties", (In((1, 2, 5, 5), domain=("int", 0, 1)), In(values=[[0, 0, 0, 4, 4], [0, 1, 0, 3, 4]])), _params,
         _pool, diff=(0,), defined=True),
    Case(_op, "no-regions", (In((1, 2, 4, 4)), In((0, 5))), _params, _pool, np_shape=True),
    Case(_op, "image-over", (In((1, 2, 4, 4)), In(values=[[1, 0, 0, 3, 3]])), _params, error=True,
         oracle="skip: 1.9.1 reads past the end"),
    Case(_op, "image-nan", (In((1, 2, 4, 4)), In(values=[[np.nan, 0, 0, 3, 3]])), _params, error=True,
         oracle="skip: 1.9.1 reads past the end"),
]  # fmt: skip
_image, _region = In((1, 2, 4, 4)), In(values=[[0, 0, 0, 3, 3]])
_errors(_op, _params, _image, _region,
        four={"inputs": (_image, In((1, 4)))}, one_axis={"inputs": (_image, In((5,)))},
        three_axes={"inputs": (In((2, 4, 4)), _region)},
        dtypes={"inputs": (_image, In(dtype="float64", values=[[0] * 5]))},
        int32={"inputs": (In((1, 2, 4, 4), "int32", ("int", 0, 9)), In(dtype="int32", values=[[0] * 5]))},
        size_short={"pooled_size": (2,)}, size_0={"pooled_size": (0, 2)}, scale_2={"spatial_scale": 2.0},
        scale_negative={"spatial_scale": -1.0}, no_axes={"inputs": (In(()), In(()))},
        unknown_parameter={"foo": 1})  # fmt: skip

for _label, _pooled, _rois in (
    ("plain", (2, 2), _REGIONS),
    ("outside", (3, 1), [[1, 10, 10, 13, 13], [0, -2, 0, 2, 3]]),
):
    _params = {"pooled_size": _pooled, "spatial_scale": 1.0}
    _moved = In((len(_rois), 3, *_pooled))
    INTERNAL += [
        Case(
            "_mxl_roi_pool_back", _label, (_images, In(values=_rois), _moved), _params, _pool_back, order=2, diff=(2,)
        ),
        Case(
            "_mxl_roi_pool_pick", _label, (_images, In(values=_rois), In(_IMAGES)), _params, _pick, order=2, diff=(2,)
        ),
    ]
for _dtype in ("float64", "float16"):
    _inputs = (In(_IMAGES, _dtype, "distinct"), In(dtype=_dtype, values=_REGIONS))
    INTERNAL += [
        Case("_mxl_roi_pool_back", _dtype, (*_inputs, In((5, 3, 3, 1), _dtype)), _params, _pool_back),
        Case("_mxl_roi_pool_pick", _dtype, (*_inputs, In(_IMAGES, _dtype)), _params, _pick),
    ]
INTERNAL += [
    Case("_mxl_roi_pool_back", "misfit", (_images, In(values=_REGIONS), In((5, 3, 1, 1))), _params, error=True),
    Case("_mxl_roi_pool_pick", "misfit", (_images, In(values=_REGIONS), In((2, 3, 6, 6))), _params, error=True),
]

# ---- means of samples ----


def _weights(at: float, n: int) -> np.ndarray:
    """The weight of each position for a sample."""
    out = np.zeros(n)
    if -1 <= at <= n:
        at = max(at, 0)
        low = min(int(at), n - 1)
        high, part = min(low + 1, n - 1), at - low if low < n - 1 else 0
        out[low] += 1 - part
        out[high] += part
    return out


def _samples(roi, size, pooled, scale: float, ratio: int, aligned: bool) -> np.ndarray:
    """(rows, columns, height, width): the weight of each pixel in each bin."""
    rotated = len(roi) == 6
    v = np.array(roi[1:5], "float64") * scale
    extent = [v[3], v[2]] if rotated else [v[3] - v[1], v[2] - v[0]]
    if not aligned:
        extent = [max(e, 1.0) for e in extent]
    begin = [-e / 2 for e in extent] if rotated else [v[1] - 0.5 * aligned, v[0] - 0.5 * aligned]
    bins = [e / n for e, n in zip(extent, pooled)]
    counts = [ratio if ratio > 0 else int(np.ceil(b)) for b in bins]
    angle = np.deg2rad(float(roi[5])) if rotated else 0.0
    out = np.zeros((*pooled, *size))
    for ph, pw, sy, sx in itertools.product(*map(range, (*pooled, *counts))):
        y = begin[0] + (ph + (sy + 0.5) / counts[0]) * bins[0]
        x = begin[1] + (pw + (sx + 0.5) / counts[1]) * bins[1]
        if rotated:
            y, x = v[1] + y * np.cos(angle) - x * np.sin(angle), v[0] + x * np.cos(angle) + y * np.sin(angle)
        out[ph, pw] += np.outer(_weights(y, size[0]), _weights(x, size[1])) / np.prod(counts)
    return out


def _align(data, rois, pooled_size, spatial_scale, position_sensitive=False, aligned=False, **ratio) -> np.ndarray:
    (count,) = ratio.values() or (-1,)
    channels = data.shape[1] // (int(np.prod(pooled_size)) if position_sensitive else 1)
    out = np.zeros((len(rois), channels, *pooled_size))
    for n, roi in enumerate(rois):
        image = data[int(roi[0])].astype("float64")
        weights = _samples(roi, data.shape[2:], pooled_size, spatial_scale, count, aligned)
        if position_sensitive:
            out[n] = np.einsum("opij,copij->cop", weights, image.reshape(channels, *pooled_size, *data.shape[2:]))
        else:
            out[n] = np.einsum("opij,cij->cop", weights, image)
    return out.astype(data.dtype)


def _align_back(data, rois, shape, pooled_size, spatial_scale, position_sensitive=False, aligned=False, rotated=False,
                sample_ratio=-1):  # fmt: skip
    out = np.zeros(shape)
    for n, roi in enumerate(rois):
        weights = _samples(roi, shape[2:], pooled_size, spatial_scale, sample_ratio, aligned)
        if position_sensitive:
            out[int(roi[0])] += np.einsum("opij,cop->copij", weights, data[n].astype("float64")).reshape(shape[1:])
        else:
            out[int(roi[0])] += np.einsum("opij,cop->cij", weights, data[n].astype("float64"))
    return out.astype(data.dtype)


_LOOSE = {"float32": (5e-5, 2e-5), "float16": (1e-2, 1e-2)}
_NO_GRADIENT = "forward: 1.9.1 has no gradient"


def _row(op: str, label: str, rois, dtype: str = "float32", images: tuple = _IMAGES, order: int = 2, **params) -> None:
    common = (
        {"order": order, "diff": (0,), "tolerance": _LOOSE} if dtype != "float64" else {"order": order, "diff": (0,)}
    )
    if op.endswith("RROIAlign"):
        common["oracle"] = _NO_GRADIENT
    params = {"pooled_size": (2, 2), "spatial_scale": 1.0, **params}
    CASES.append(Case(op, label, (In(images, dtype), In(dtype=dtype, values=rois)), params, _align, **common))


_op = "_contrib_ROIAlign"
_row(_op, "plain", _REGIONS)
_row(_op, "half", np.array(_REGIONS) * [1, 2, 2, 2, 2], pooled_size=(3, 2), spatial_scale=0.5)
_row(_op, "two-samples", _REGIONS, sample_ratio=2)
_row(_op, "three-samples", _REGIONS, pooled_size=(1, 3), sample_ratio=3)
_row(_op, "ratio-0", _REGIONS, sample_ratio=0)
_row(_op, "aligned", [*_REGIONS[:3], _REGIONS[4]], aligned=True)
_row(_op, "sensitive", _REGIONS, images=(2, 8, 5, 5), position_sensitive=True)
_row(_op, "sensitive-oblong", _REGIONS, images=(2, 6, 5, 5), position_sensitive=True, pooled_size=(3, 1))
_row(_op, "outside", [[0, 10, 10, 13, 13], [1, -9, -9, -5, -5], [0, 5, 4, 9, 7]])
_row(_op, "scale-0", _REGIONS, spatial_scale=0.0, order=0)
_row(_op, "float64", np.round(np.array(_REGIONS) * 64) / 64, "float64")
_row(_op, "float16", _REGIONS, "float16", order=0)
_op = "_contrib_RROIAlign"
_row(_op, "plain", _ROTATED)
_row(_op, "half", np.array(_ROTATED) * [1, 2, 2, 2, 2, 1], pooled_size=(3, 2), spatial_scale=0.5)
_row(_op, "two-samples", _ROTATED, sampling_ratio=2)
_row(_op, "float64", _ROTATED, "float64")
_row(_op, "float16", _ROTATED[:3], "float16", order=0)
for _op, _few, _width in (("_contrib_ROIAlign", _REGIONS[:2], 5), ("_contrib_RROIAlign", _ROTATED[:2], 6)):
    _params = {"pooled_size": (2, 2), "spatial_scale": 1.0}
    _region = In(values=[_few[0]])
    for _dtype in ("float32", "float64", "float16"):
        _edge = [[0, 0.25, 0.25, 2.125, 2.125]] if _width == 5 else [[0, 1.125, 1.125, 1.5, 1.5, 0]]
        CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_numbers), In(dtype=_dtype, values=_edge)),
                          _params))  # fmt: skip
    _errors(_op, _params, _image, _region,
            four={"inputs": (_image, In((1, 4)))}, one_axis={"inputs": (_image, In((_width,)))},
            three_axes={"inputs": (In((2, 4, 4)), _region)},
            dtypes={"inputs": (_image, In(dtype="float64", values=[[0] * _width]))},
            int32={"inputs": (In((1, 2, 4, 4), "int32", ("int", 0, 9)), In(dtype="int32", values=[[0] * _width]))},
            size_short={"pooled_size": (2,)}, size_0={"pooled_size": (0, 2)}, no_size={"pooled_size": "None"},
            no_axes={"inputs": (In(()), In(()))}, unknown_parameter={"foo": 1})  # fmt: skip
    for _label, _bad in (("image-over", 1), ("image-negative", -1), ("image-nan", np.nan)):
        CASES.append(Case(_op, _label, (_image, In(values=[[_bad, *_few[0][1:]]])), _params, error=True,
                          oracle="skip: 1.9.1 reads past the end"))  # fmt: skip
    for _label, _bad in (("nan", np.nan), ("infinite", np.inf), ("huge", 1e12)):
        CASES.append(Case(_op, _label, (_image, In(values=[[0, 1, 1, _bad, _bad, 0][:_width]])), _params, error=True,
                          oracle="skip: 1.9.1 never ends"))  # fmt: skip
    CASES.append(Case(_op, "no-regions", (_image, In((0, _width))), _params, _align, np_shape=True))
_params = {"pooled_size": (2, 2), "spatial_scale": 1.0}
CASES += [
    Case("_contrib_ROIAlign", "aligned-no-area", (_image, In(values=[[0, 3, 3, 1, 1]])), {**_params, "aligned": True},
         error=True, oracle="skip: 1.9.1 ends the process"),
    Case("_contrib_ROIAlign", "sensitive-channels", (_image, In(values=[[0, 0, 0, 3, 3]])),
         {**_params, "position_sensitive": True}, error=True),
]  # fmt: skip

for _label, _rois, _shape, _more in (
    ("plain", _REGIONS, _IMAGES, {}),
    ("aligned", _REGIONS[:3], _IMAGES, {"aligned": True}),
    ("sensitive", _REGIONS, (2, 8, 5, 5), {"position_sensitive": True, "sample_ratio": 2}),
    ("rotated", _ROTATED, _IMAGES, {"rotated": True}),
):
    _all = {**_params, **_more, "shape": _shape}
    _bin = In((len(_rois), 2 if _label == "sensitive" else 3, 2, 2))
    INTERNAL.append(Case("_mxl_roi_align_back", _label, (_bin, In(values=_rois)), _all, _align_back, order=2, diff=(0,),
                         tolerance=_LOOSE))  # fmt: skip
_all = {**_params, "shape": _IMAGES}
for _dtype in ("float64", "float16"):
    _inputs = (In((5, 3, 2, 2), _dtype), In(dtype=_dtype, values=_REGIONS))
    INTERNAL.append(Case("_mxl_roi_align_back", _dtype, _inputs, _all, _align_back, tolerance=_LOOSE))
INTERNAL += [
    Case("_mxl_roi_align_back", "misfit", (In((5, 3, 2, 3)), In(values=_REGIONS)), _all, error=True),
    Case(
        "_mxl_roi_align_back", "shape", (In((5, 3, 2, 2)), In(values=_REGIONS)), {**_all, "shape": (3, 4)}, error=True
    ),
]
