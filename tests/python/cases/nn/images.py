"""Images in another size, parts of images, and windows of images as columns."""

from __future__ import annotations

import itertools

import numpy as np

from .._case import Case, In

CASES: list = []
#: Rows of `_mxl_resample`, which the operators of this family are written with.
INTERNAL: list = []

_IMAGES = (2, 3, 4, 5)
#: 1.9.1 rounds the weights to float32
_ROUNDED = {"float32": (2e-5, 1e-5), "float64": (1e-6, 1e-6), "float16": (4e-3, 4e-3)}
#: ... and positions, whose errors grow with the size
_FAR = {"float32": (2e-4, 2e-3)}
_NAN = np.array([0, np.nan, -0.0, 1.5, np.inf, -2, 3, 4, np.nan, -2, 3, -np.inf, 4, 7, 5, 1]).reshape(1, 1, 4, 4)


def _row(op: str, label: str, forward, *inputs: In, order: int = 2, diff: tuple = (0,), **params) -> None:
    oracle = params.pop("oracle", "")
    rounded = {"tolerance": _FAR if "large" in label else _ROUNDED} if "Resize" in op else {}
    CASES.append(Case(op, label, inputs, params, forward, order=order, diff=diff, oracle=oracle, **rounded))


def _errors(op: str, good: dict, *inputs: In, **rows) -> None:
    """Rows that must fail: other inputs, or other parameters beside the good ones."""
    for label, row in rows.items():
        given = row.pop("inputs", inputs)
        CASES.append(Case(op, label.replace("_", "-"), given, {**good, **row}, error=True, np_shape=label == "no_axes"))


# ---- resampling: y = rows x columns' ----


def _mean_weights(n: int, out: int) -> np.ndarray:
    w = np.zeros((out, n))
    for o in range(out):
        begin, end = o * n // out, -(-(o + 1) * n // out)
        w[o, begin:end] = 1 / (end - begin)
    return w


def _bilinear_weights(n: int, out: int, corners: bool) -> np.ndarray:
    w = np.zeros((out, n))
    step = 0 if out < 2 else (n - 1) / (out - 1) if corners else n / out
    for o in range(out):
        at = o * step if corners else max((o + 0.5) * step - 0.5, 0)
        low = min(int(at), n - 1)
        w[o, low] += 1 - (at - low) if low + 1 < n else 1
        if low + 1 < n:
            w[o, low + 1] += at - low
    return w


def _nearest_weights(n: int, out: int) -> np.ndarray:
    return np.eye(n)[np.arange(out) * n // out] if n else np.zeros((out, n))


def _weights(kind: str, n: int, out: int) -> np.ndarray:
    if kind == "mean":
        return _mean_weights(n, out)
    return _nearest_weights(n, out) if kind == "nearest" else _bilinear_weights(n, out, kind == "corners")


def _resample(data, kind, size, adjoint=False) -> np.ndarray:
    pairs = list(zip(data.shape[2:], size))
    rows, columns = (_weights(kind, out, n).T if adjoint else _weights(kind, n, out) for n, out in pairs)
    return np.einsum("oh,nchw,pw->ncop", rows, data.astype("float64"), columns).astype(data.dtype)


def _adaptive(data, output_size=()) -> np.ndarray:
    size = output_size if np.ndim(output_size) else (output_size,)
    return _resample(data, "mean", (size * 2)[:2] if size else (1, 1))


_op = "_contrib_AdaptiveAvgPooling2D"
for _size in ((2, 3), (3, 2), (4, 5), (7, 9), (1, 1), (2,)):
    _row(_op, f"to-{'x'.join(map(str, _size))}", _adaptive, In(_IMAGES), output_size=_size)
_row(_op, "number", _adaptive, In(_IMAGES), output_size=3)
_row(_op, "default", _adaptive, In(_IMAGES))
_row(_op, "one-pixel", _adaptive, In((1, 1, 1, 1)), output_size=(2, 3))
_row(_op, "wide", _adaptive, In((1, 1, 2, 2100)), order=0, output_size=(1, 3))
_row(_op, "all-of-wide", _adaptive, In((1, 2, 3, 1100)), order=0, output_size=(2, 1))
_row(_op, "float64", _adaptive, In(_IMAGES, "float64"), output_size=(3, 2))
_row(_op, "float16", _adaptive, In(_IMAGES, "float16"), order=0, output_size=(3, 2))
_row(_op, "to-nothing", _adaptive, In(_IMAGES), order=0, diff=(), output_size=(0, 0))
CASES += [
    Case(_op, "no-batch", (In((0, 2, 4, 4)),), {"output_size": (2, 2)}, _adaptive, np_shape=True),
    Case(_op, "out", (In(_IMAGES),), {}, _adaptive, out=(((2, 3, 1, 1), "float32"),)),
]
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_NAN),), {"output_size": (2, 2)}, diff=(0,),
                      defined=True))  # fmt: skip
CASES.append(
    Case(_op, "three", (In(_IMAGES),), {"output_size": (2, 2, 2)}, error=True, oracle="differs: 1.9.1 answers 1 x 1")
)
_errors(_op, {"output_size": (2, 2)}, In(_IMAGES),
        negative={"output_size": (-1, 2)}, three_axes={"inputs": (In((2, 3, 4)),)},
        five_axes={"inputs": (In((2, 3, 4, 2, 2)),)}, int32={"inputs": (In(_IMAGES, "int32", ("int", 0, 9)),)},
        no_axes={"inputs": (In(()),)}, no_input={"inputs": ()}, unknown_parameter={"foo": 1})  # fmt: skip


def _new_size(n: int, given: int, mode: str, scale) -> int:
    odd = n % 2
    return {
        "odd_scale": lambda: int((n - odd) * scale) + odd,
        "size": lambda: given if scale is None else int(n * scale),
        "to_even_down": lambda: n - odd,
        "to_even_up": lambda: n + odd,
        "to_odd_down": lambda: n - 1 + odd,
        "to_odd_up": lambda: n + 1 - odd,
    }[mode]()


def _resize(data, like=None, height=1, width=1, scale_height=None, scale_width=None, mode="size", align_corners=True):
    if mode == "like":
        size = like.shape[2:]
    else:
        scale_width = None if scale_height is None else scale_width
        size = [_new_size(n, given, mode, scale)
                for n, given, scale in zip(data.shape[2:], (height, width), (scale_height, scale_width))]  # fmt: skip
    return _resample(data, "corners" if align_corners else "bilinear", size)


_op = "_contrib_BilinearResize2D"
for _corners in (True, False):
    _tag = "" if _corners else "-areas"
    for _size in ((3, 7), (8, 3), (4, 5), (1, 1), (1, 4)):
        _row(_op, f"to-{_size[0]}x{_size[1]}{_tag}", _resize, In(_IMAGES), height=_size[0], width=_size[1],
             align_corners=_corners)  # fmt: skip
    _row(_op, f"float64{_tag}", _resize, In(_IMAGES, "float64"), height=6, width=2, align_corners=_corners)
    _row(_op, f"one-pixel{_tag}", _resize, In((1, 2, 1, 1)), height=2, width=3, align_corners=_corners)
    _row(_op, f"large{_tag}", _resize, In((1, 1, 3, 1500)), order=0, height=2, width=1700, align_corners=_corners)
    for _mode in ("to_even_down", "to_even_up", "to_odd_down", "to_odd_up"):
        _row(_op, f"{_mode.replace('_', '-')}{_tag}", _resize, In(_IMAGES), mode=_mode, align_corners=_corners)
_row(_op, "default", _resize, In(_IMAGES))
_row(_op, "scaled", _resize, In(_IMAGES), scale_height=1.5, scale_width=0.5)
_row(_op, "scaled-ignores", _resize, In(_IMAGES), scale_height=2.0, scale_width=1.0, height=7, width=7)
_row(_op, "scale-of-width-alone", _resize, In(_IMAGES), scale_width=2.0, height=3, width=4)
_row(_op, "odd-scale", _resize, In(_IMAGES), mode="odd_scale", scale_height=1.5, scale_width=1.5)
_row(_op, "odd-scale-down", _resize, In(_IMAGES), mode="odd_scale", scale_height=0.5, scale_width=0.7)
_row(_op, "to-nothing", _resize, In(_IMAGES), order=0, diff=(), scale_height=0.1, scale_width=1.0)
_row(_op, "like", _resize, In(_IMAGES), In((3, 1, 6, 2)), mode="like")
_row(_op, "float16", _resize, In(_IMAGES, "float16"), order=0, height=3, width=7)
CASES += [
    Case(_op, "no-batch", (In((0, 2, 4, 4)),), {"height": 3, "width": 3}, _resize, np_shape=True),
    Case(_op, "no-pixels", (In((1, 2, 0, 4)),), {"height": 2, "width": 3},
         lambda data, **_: np.zeros((1, 2, 2, 3), "f"), np_shape=True, oracle="skip: 1.9.1 ends the process"),
]  # fmt: skip


def _resize_special(data, height, width) -> np.ndarray:
    """As _resize; a weight of 0 makes no NaN of an infinite neighbour."""
    rows, columns = _weights("corners", data.shape[2], height), _weights("corners", data.shape[3], width)
    out = np.zeros((*data.shape[:2], height, width))
    for o, p in itertools.product(range(height), range(width)):
        weights = np.outer(rows[o], columns[p])
        out[:, :, o, p] = (data.astype("float64")[:, :, weights != 0] * weights[weights != 0]).sum(-1)
    return out.astype(data.dtype)


for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_NAN),), {"height": 3, "width": 6},
                      _resize_special, tolerance=_ROUNDED,
                      oracle="differs: 1.9.1 multiplies neighbours by 0"))  # fmt: skip
_errors(_op, {"height": 2, "width": 3}, In(_IMAGES),
        height_0={"height": 0}, width_negative={"width": -1}, one_scale={"scale_height": 2.0},
        odd_scale_none={"mode": "odd_scale"}, scale_negative={"scale_height": -1.0, "scale_width": 2.0},
        like_missing={"mode": "like"}, like_not_wanted={"inputs": (In(_IMAGES), In(_IMAGES))},
        like_two_axes={"inputs": (In(_IMAGES), In((3, 4))), "mode": "like"}, mode_unknown={"mode": "double"},
        three_axes={"inputs": (In((2, 3, 4)),)}, int32={"inputs": (In(_IMAGES, "int32", ("int", 0, 9)),)},
        no_axes={"inputs": (In(()),)}, unknown_parameter={"foo": 1})  # fmt: skip

for _kind in ("bilinear", "corners", "mean", "nearest"):
    for _size in ((3, 7), (6, 2)):
        INTERNAL += [
            Case("_mxl_resample", f"{_kind}-{_size[0]}x{_size[1]}{'-adjoint' * _adjoint}", (In((1, 2, 4, 5)),),
                 {"kind": _kind, "size": _size, "adjoint": _adjoint}, _resample, order=2, diff=(0,))
            for _adjoint in (False, True)
        ]  # fmt: skip
_params = {"kind": "mean", "size": (2, 2)}
INTERNAL += [
    Case("_mxl_resample", "float16", (In((1, 2, 4, 5), "float16"),), _params, _resample),
    Case("_mxl_resample", "float64", (In((1, 2, 4, 5), "float64"),), _params, _resample),
    Case(
        "_mxl_resample", "wide-adjoint", (In((1, 1, 2, 2)),), {**_params, "size": (3, 2300), "adjoint": True}, _resample
    ),
    Case("_mxl_resample", "empty", (In((1, 0, 4, 5)),), _params, _resample, np_shape=True),
    Case("_mxl_resample", "size", (In((1, 2, 4, 5)),), {"kind": "mean", "size": (2,)}, error=True),
    Case("_mxl_resample", "axes", (In((2, 4, 5)),), _params, error=True),
]

# ---- UpSampling ----


def _upsample(*inputs, scale, sample_type, num_args=1, num_filter=0, multi_input_mode="concat", workspace=512):
    if sample_type == "bilinear":
        return _spread(*inputs, scale)
    size = [n * scale for n in inputs[0].shape[2:]]
    parts = [_resample(x, "nearest", size) for x in inputs]
    return np.concatenate(parts, 1) if multi_input_mode == "concat" else np.sum(parts, 0)


def _spread(data, weight, scale: int) -> np.ndarray:
    n, channels, rows, columns = data.shape
    k, pad = weight.shape[-1], scale // 2
    full = np.zeros((n, channels, (rows - 1) * scale + k, (columns - 1) * scale + k))
    for h, w in itertools.product(range(rows), range(columns)):
        window = data[:, :, h, w, None, None].astype("float64") * weight[:, 0]
        full[:, :, h * scale : h * scale + k, w * scale : w * scale + k] += window
    return full[:, :, pad : pad + rows * scale, pad : pad + columns * scale].astype(data.dtype)


_op = "UpSampling"
_near = {"sample_type": "nearest", "num_args": 1}
_row(_op, "nearest-2", _upsample, In((1, 2, 3, 4)), scale=2, **_near)
_row(_op, "nearest-1", _upsample, In((1, 2, 3, 4)), scale=1, **_near)
_row(_op, "nearest-3", _upsample, In((2, 1, 2, 3)), scale=3, **_near)
_row(_op, "float64", _upsample, In((1, 2, 3, 4), "float64"), scale=2, **_near)
_row(_op, "float16", _upsample, In((1, 2, 3, 4), "float16"), order=0, scale=2, **_near)
_row(_op, "workspace", _upsample, In((1, 1, 2, 2)), scale=2, workspace=1, **_near)
_two = {"sample_type": "nearest", "num_args": 2}
_row(_op, "two", _upsample, In((1, 2, 2, 4)), In((1, 3, 2, 4)), diff=(0, 1), scale=2, **_two)
_row(_op, "smaller-second", _upsample, In((2, 2, 2, 4)), In((2, 1, 1, 2)), diff=(0, 1), scale=2, **_two)
_row(_op, "larger-second", _upsample, In((1, 2, 1, 1)), In((1, 1, 2, 2)), diff=(0, 1), scale=4, **_two)
_row(_op, "sum", _upsample, In((1, 2, 2, 2)), In((1, 2, 4, 4)), diff=(0, 1), scale=4, multi_input_mode="sum", **_two)
_row(_op, "sum-of-three", _upsample, *[In((1, 2, 2, 3))] * 3, diff=(0, 1, 2), scale=2, sample_type="nearest",
     num_args=3, multi_input_mode="sum")  # fmt: skip
for _scale, _k in ((1, 1), (2, 4), (3, 5), (4, 8)):
    _row(_op, f"bilinear-{_scale}", _upsample, In((2, 3, 2, 4)), In((3, 1, _k, _k)), diff=(0, 1), scale=_scale,
         sample_type="bilinear", num_filter=3, num_args=2)  # fmt: skip
_row(_op, "bilinear-float64", _upsample, In((1, 2, 3, 2), "float64"), In((2, 1, 4, 4), "float64"), diff=(0, 1), scale=2,
     sample_type="bilinear", num_filter=2, num_args=2)  # fmt: skip
_row(_op, "bilinear-float16", _upsample, In((1, 2, 3, 2), "float16"), In((2, 1, 4, 4), "float16"), order=0, scale=2,
     diff=(0, 1), sample_type="bilinear", num_filter=2, num_args=2,
     oracle="differs: 1.9.1 has no float16 products")  # fmt: skip
CASES.append(Case(_op, "no-batch", (In((0, 2, 2, 2)),), {"scale": 2, **_near}, _upsample, np_shape=True,
                  oracle="skip: 1.9.1 ends the process"))  # fmt: skip
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_NAN),), {"scale": 2, **_near}, diff=(0,),
                      defined=True))  # fmt: skip
_bilinear = {"sample_type": "bilinear", "num_args": 2, "num_filter": 2}
_image = In((1, 2, 4, 4))
_errors(_op, {"scale": 2, **_near}, _image,
        scale_0={"scale": 0}, three_axes={"inputs": (In((2, 3, 4)),)}, no_axes={"inputs": (In(()),)},
        int32={"inputs": (In((1, 2, 4, 4), "int32", ("int", 0, 9)),)},
        uneven={"inputs": (_image, In((1, 3, 3, 3))), "num_args": 2},
        sum_channels={"inputs": (_image, In((1, 3, 2, 2))), "num_args": 2, "multi_input_mode": "sum"},
        batches={"inputs": (_image, In((2, 3, 2, 2))), "num_args": 2},
        bilinear_weight={"inputs": (_image, In((2, 1, 3, 3))), **_bilinear},
        bilinear_filters={"inputs": (_image, In((1, 1, 4, 4))), **_bilinear, "num_filter": 1},
        bilinear_one={**_bilinear, "num_args": 1}, type_unknown={"sample_type": "cubic"},
        dtypes={"inputs": (_image, In((1, 2, 4, 4), "float64")), "num_args": 2},
        unknown_parameter={"foo": 1})  # fmt: skip
CASES += [
    Case(_op, "bilinear-no-filters", (_image, In((2, 1, 4, 4))), {"scale": 2, **_bilinear, "num_filter": 0}, error=True,
         oracle="skip: 1.9.1 ends the process"),
    Case(_op, "uneven-columns", (_image, In((1, 1, 2, 3))), {"scale": 2, **_two}, error=True,
         oracle="skip: 1.9.1 reads past the end"),
]  # fmt: skip

# ---- Crop ----


def _crop(data, like=None, h_w=(0, 0), offset=(0, 0), center_crop=False, num_args=1) -> np.ndarray:
    size = h_w if like is None else like.shape[2:]
    y, x = [(n - m) // 2 for n, m in zip(data.shape[2:], size)] if center_crop else offset
    return data[:, :, y : y + size[0], x : x + size[1]]


_op = "Crop"
_row(_op, "corner", _crop, In(_IMAGES), num_args=1, h_w=(2, 3))
_row(_op, "offset", _crop, In(_IMAGES), num_args=1, h_w=(2, 3), offset=(2, 1))
_row(_op, "center", _crop, In(_IMAGES), num_args=1, h_w=(1, 3), center_crop=True)
_row(_op, "center-ignores", _crop, In(_IMAGES), num_args=1, h_w=(2, 2), center_crop=True, offset=(2, 3))
_row(_op, "all", _crop, In(_IMAGES), num_args=1, h_w=(4, 5))
_row(_op, "like", _crop, In(_IMAGES), In((1, 1, 2, 3)), num_args=2)
_row(_op, "like-offset", _crop, In(_IMAGES), In((5, 1, 2, 3)), num_args=2, offset=(1, 2))
_row(_op, "like-center", _crop, In(_IMAGES), In((1, 1, 3, 2)), num_args=2, center_crop=True, h_w=(1, 1))
_NO = "differs: 1.9.1 takes float32 alone"
for _dtype in ("float64", "float16", "int32", "int64", "int8", "uint8", "bool"):
    _domain = "real" if "float" in _dtype else "bool" if _dtype == "bool" else ("int", 0, 9)
    _row(_op, _dtype, _crop, In(_IMAGES, _dtype, _domain), order=0, diff=(), num_args=1, h_w=(2, 2), oracle=_NO)
CASES += [
    Case(_op, "special-float32", (In(dtype="float32", values=_NAN),), {"num_args": 1, "h_w": (2, 4)}, _crop, diff=(0,),
         defined=True),
    Case(_op, "no-batch", (In((0, 2, 4, 4)),), {"num_args": 1, "h_w": (2, 2)}, _crop, np_shape=True,
         oracle="skip: 1.9.1 ends the process"),
]  # fmt: skip
_errors(_op, {"num_args": 1, "h_w": (2, 2)}, In(_IMAGES),
        no_size={"h_w": (0, 0)}, too_high={"h_w": (5, 2)}, too_far={"offset": (3, 0)}, one_number={"h_w": (2,)},
        one_offset={"offset": (1,)}, three={"inputs": (In(_IMAGES),) * 3, "num_args": 3},
        three_axes={"inputs": (In((2, 3, 4)),)}, no_axes={"inputs": (In(()),)},
        unknown_parameter={"foo": 1})  # fmt: skip

# ---- im2col, col2im ----


def _windows(size, kernel, stride=(), dilate=(), pad=()) -> tuple:
    """The number of windows along each axis; the places of all elements of all windows in a padded image."""
    ones = (1,) * len(size)
    stride, dilate, pad = stride or ones, dilate or ones, pad or (0,) * len(size)
    axes = list(zip(size, kernel, stride, dilate, pad))
    out = [(n + 2 * p - (k - 1) * d - 1) // s + 1 for n, k, s, d, p in axes]
    elements = list(itertools.product(*map(range, kernel)))
    windows = list(itertools.product(*map(range, out)))
    places = {
        (e, w): [o * s - p + k * d for o, k, (_, _, s, d, p) in zip(window, element, axes)]
        for e, element in enumerate(elements)
        for w, window in enumerate(windows)
    }
    inside = {key: (..., *at) for key, at in places.items() if all(0 <= a < n for a, n in zip(at, size))}
    return len(elements), len(windows), inside


def _im2col(data, kernel, **params) -> np.ndarray:
    elements, windows, places = _windows(data.shape[2:], kernel, **params)
    out = np.zeros((*data.shape[:2], elements, windows), data.dtype)
    for key, place in places.items():
        out[(..., *key)] = data[place]
    return out.reshape(len(data), data.shape[1] * elements, windows)


def _col2im(data, output_size, kernel, **params) -> np.ndarray:
    elements, windows, places = _windows(output_size, kernel, **params)
    columns = data.reshape(len(data), data.shape[1] // elements, elements, windows)
    out = np.zeros((*columns.shape[:2], *output_size))
    for key, place in places.items():
        out[place] += columns[(..., *key)]
    return out.astype(data.dtype)


_NONE = "differs: 1.9.1 takes two spatial axes alone"
for _label, _size, _params in (
    ("plain", (4, 5), {"kernel": (2, 3)}),
    ("steps", (5, 6), {"kernel": (3, 2), "stride": (2, 3)}),
    ("padded", (3, 4), {"kernel": (2, 2), "pad": (1, 2)}),
    ("dilated", (6, 5), {"kernel": (2, 2), "dilate": (3, 2)}),
    ("all", (6, 5), {"kernel": (3, 2), "stride": (2, 1), "pad": (2, 1), "dilate": (2, 3)}),
    ("far", (3, 3), {"kernel": (2, 1), "stride": (1, 2), "pad": (3, 2)}),
    ("one", (1, 1), {"kernel": (1, 1)}),
    ("less", (5, 5), {"kernel": (2, 2), "pad": (-1, 0)}),
    ("line", (7,), {"kernel": (3,), "stride": (2,), "pad": (1,)}),
    ("volume", (3, 4, 3), {"kernel": (2, 2, 1), "stride": (1, 2, 2)}),
):
    _x = np.zeros((2, 3, *_size))
    _oracle = "" if len(_size) == 2 else _NONE
    _row("im2col", _label, _im2col, In(_x.shape), oracle=_oracle, **_params)
    _row("col2im", _label, _col2im, In(_im2col(_x, **_params).shape), oracle=_oracle, output_size=_size, **_params)
_good = {"kernel": (2, 2)}
_back = {"kernel": (2, 2), "output_size": (3, 4)}
for _dtype in ("float64", "float16"):
    _order = 2 if _dtype == "float64" else 0
    _row("im2col", _dtype, _im2col, In((1, 2, 3, 4), _dtype), order=_order, **_good)
    _row("col2im", _dtype, _col2im, In((1, 8, 6), _dtype), order=_order, **_back)
for _dtype in ("float32", "float64", "float16"):
    CASES += [
        Case("im2col", f"special-{_dtype}", (In(dtype=_dtype, values=_NAN),), _good, _im2col, diff=(0,), defined=True),
        Case("col2im", f"special-{_dtype}", (In(dtype=_dtype, values=_NAN.reshape(1, 4, 4)),),
             {"kernel": (2, 2), "output_size": (3, 3)}, _col2im, diff=(0,), defined=True),
    ]  # fmt: skip
CASES += [
    Case("im2col", "no-batch", (In((0, 2, 3, 4)),), _good, _im2col, np_shape=True,
         oracle="skip: 1.9.1 ends the process"),
    Case("col2im", "no-batch", (In((0, 8, 6)),), _back, lambda data, **_: np.zeros((0, 2, 3, 4), "f"), np_shape=True,
         oracle="skip: 1.9.1 ends the process"),
]  # fmt: skip
_errors("im2col", _good, In((1, 2, 4, 4)),
        exceeds={"kernel": (5, 5)}, kernel_0={"kernel": (0, 2)}, stride_short={"stride": (2,)},
        two_axes={"inputs": (In((3, 4)),)}, int32={"inputs": (In((1, 2, 4, 4), "int32", ("int", 0, 9)),)},
        bool={"inputs": (In((1, 2, 4, 4), "bool", "bool"),)}, dilate_exceeds={"dilate": (4, 1)},
        no_axes={"inputs": (In(()),)}, unknown_parameter={"foo": 1})  # fmt: skip
CASES.append(Case("im2col", "kernel-short", (In((1, 2, 4, 4)),), {"kernel": (2,)}, error=True,
                  oracle="differs: 1.9.1 takes the first entry, and another shape"))  # fmt: skip
CASES.append(Case("im2col", "no-kernel", (In((1, 2, 4, 4)),), {}, error=True))
_errors("col2im", _back, In((1, 8, 6)),
        rows={"inputs": (In((1, 7, 6)),)}, columns={"inputs": (In((1, 8, 8)),)}, two_axes={"inputs": (In((8, 6)),)},
        size_short={"output_size": (4,)}, exceeds={"kernel": (5, 5)}, no_axes={"inputs": (In(()),)},
        int32={"inputs": (In((1, 8, 6), "int32", ("int", 0, 9)),)}, unknown_parameter={"foo": 1})  # fmt: skip
