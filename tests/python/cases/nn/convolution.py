"""Convolution and Deconvolution over one to three spatial axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from .._case import Case, In

CASES: list = []
#: the derivatives' own operators, which 1.9.1 has not
INTERNAL: list = []

#: sums of many products in float32, in another order than NumPy's; 1.9.1's own gradients are as far from float64
_NEAR = {"float32": (1e-4, 1e-4), "float16": (1e-2, 2e-2)}


def _full(entries: object, count: int, missing: int) -> tuple[int, ...]:
    return tuple(entries) if entries else (missing,) * count  # type: ignore[arg-type]


def _taps(shape: Sequence[int], size: Sequence[int], kernel: Sequence[int], **window: object) -> Iterator[tuple]:
    """For each position of the kernel: the slices of padded data that meet it, for a result of this size."""
    stride = _full(window.get("stride"), len(kernel), 1)
    dilate = _full(window.get("dilate"), len(kernel), 1)
    for tap in product(*(range(k) for k in kernel)):
        yield (
            tap,
            tuple(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in zip(tap, dilate, stride, size)),
        )


def _convolve(x: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None, **p: object) -> np.ndarray:
    kernel, groups = tuple(p["kernel"]), p.get("num_group", 1)  # type: ignore[arg-type]
    count = len(kernel)
    stride, dilate = _full(p.get("stride"), count, 1), _full(p.get("dilate"), count, 1)
    pad = _full(p.get("pad"), count, 0)
    size = [(n + 2 * q - (k - 1) * d - 1) // s + 1 for n, q, k, d, s in zip(x.shape[2:], pad, kernel, dilate, stride)]
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((q, q) for q in pad)])
    images = padded.reshape(x.shape[0], groups, x.shape[1] // groups, *padded.shape[2:])
    kernels = w.astype(np.float64).reshape(groups, w.shape[0] // groups, *w.shape[1:])
    y = np.zeros((x.shape[0], groups, kernels.shape[1], *size))
    for tap, where in _taps(padded.shape[2:], size, kernel, stride=stride, dilate=dilate):
        part, weight = images[(slice(None),) * 3 + where], kernels[(slice(None),) * 3 + tap]
        y += np.einsum("ngc...,gkc->ngk...", part, weight)
    y = y.reshape(x.shape[0], w.shape[0], *size)
    if bias is not None:
        y += bias.astype(np.float64).reshape(-1, *(1,) * count)
    return y.astype(x.dtype)


def _transposed(
    y: np.ndarray, w: np.ndarray, size: Sequence[int], pad: Sequence[int], groups: int, **window: object
) -> np.ndarray:
    """The data whose convolution's derivative this is: every element of y adds its multiple of the kernel."""
    kernel = w.shape[2:]
    images = y.astype(np.float64).reshape(y.shape[0], groups, y.shape[1] // groups, *y.shape[2:])
    kernels = w.astype(np.float64).reshape(groups, w.shape[0] // groups, *w.shape[1:])
    # Behind the result there must be room for all of the kernel, whatever the stride leaves over.
    room = [n + 2 * q + k for n, q, k in zip(size, pad, kernel)]
    x = np.zeros((y.shape[0], groups, w.shape[1], *room))
    for tap, where in _taps(room, y.shape[2:], kernel, **window):
        x[(slice(None),) * 3 + where] += np.einsum(
            "ngk...,gkc->ngc...", images, kernels[(slice(None),) * 3 + tap], optimize=True
        )
    cut = tuple(slice(q, q + n) for n, q in zip(size, pad))
    return x[(slice(None),) * 3 + cut].reshape(y.shape[0], groups * w.shape[1], *size).astype(y.dtype)


def _deconvolve(y: np.ndarray, w: np.ndarray, bias: np.ndarray | None = None, **p: object) -> np.ndarray:
    kernel, groups = tuple(p["kernel"]), p.get("num_group", 1)  # type: ignore[arg-type]
    count = len(kernel)
    stride, dilate = _full(p.get("stride"), count, 1), _full(p.get("dilate"), count, 1)
    pad, adj = _full(p.get("pad"), count, 0), _full(p.get("adj"), count, 0)
    whole = [s * (n - 1) + (k - 1) * d + 1 for n, k, s, d in zip(y.shape[2:], kernel, stride, dilate)]
    target = p.get("target_shape")
    if target and any(target):  # type: ignore[arg-type]
        cut = [n - t for n, t in zip(whole, target)]  # type: ignore[arg-type]
        pad, adj = [(c + 1) // 2 for c in cut], [c % 2 for c in cut]
    size = [n - 2 * q + a for n, q, a in zip(whole, pad, adj)]
    x = _transposed(y.astype(np.float64), w, size, pad, groups, stride=stride, dilate=dilate)
    if bias is not None:
        x = x + bias.astype(np.float64).reshape(-1, *(1,) * count)
    return x.astype(y.dtype)


def _convolution(label: str, batch: int, channels: int, size: tuple, filters: int, dtype: str = "float32", **p) -> Case:
    """A row of Convolution; other names than its parameters go to the row."""
    row = {key: p.pop(key) for key in ("order", "oracle", "np_shape", "error") if key in p}
    groups = p.get("num_group", 1)
    inputs = [In((batch, channels, *size), dtype), In((filters, channels // groups, *p["kernel"]), dtype)]
    if not p.get("no_bias"):
        inputs.append(In((filters,), dtype))
    row.setdefault("order", 0 if row.get("error") else 1)
    return Case(
        "Convolution",
        label,
        tuple(inputs),
        {"num_filter": filters, **p},
        None if row.get("error") else _convolve,
        diff=() if row.get("error") else tuple(range(len(inputs))),
        tolerance=_NEAR,
        **row,
    )


def _deconvolution(
    label: str, batch: int, channels: int, size: tuple, filters: int, dtype: str = "float32", **p
) -> Case:
    row = {key: p.pop(key) for key in ("order", "oracle", "np_shape", "error") if key in p}
    groups = p.get("num_group", 1)
    inputs = [In((batch, channels, *size), dtype), In((channels, filters // groups, *p["kernel"]), dtype)]
    if not p.get("no_bias", True):
        inputs.append(In((filters,), dtype))
    row.setdefault("order", 0 if row.get("error") else 1)
    return Case(
        "Deconvolution",
        label,
        tuple(inputs),
        {"num_filter": filters, **p},
        None if row.get("error") else _deconvolve,
        diff=() if row.get("error") else tuple(range(len(inputs))),
        tolerance=_NEAR,
        **row,
    )


# ---- by hand ----

for _make in (_convolution, _deconvolution):
    CASES += [
        _make("vector", 2, 2, (6,), 3, kernel=(3,), order=2),
        _make("image", 2, 2, (4, 5), 3, kernel=(2, 3), pad=(1, 1), order=2),
        _make("volume", 1, 2, (3, 2, 3), 2, kernel=(2, 1, 2), pad=(1, 0, 0), order=2),
        _make("stride", 1, 2, (5, 4), 2, kernel=(3, 2), stride=(2, 3), pad=(1, 1), order=2),
        _make("dilate", 1, 2, (6, 5), 2, kernel=(2, 2), dilate=(3, 2), pad=(0, 1), order=2),
        _make("groups", 2, 4, (4, 3), 6, kernel=(2, 2), num_group=2, no_bias=False, order=2),
        _make("depthwise", 2, 3, (4, 5), 3, kernel=(3, 3), pad=(1, 1), num_group=3, no_bias=True, order=2),
        _make("point", 2, 3, (3, 4), 4, kernel=(1, 1), no_bias=True, order=2),
        _make("point-stride", 1, 2, (5, 5), 3, kernel=(1, 1), stride=(2, 2), no_bias=True, order=2),
        _make("float64", 2, 3, (5, 4), 2, "float64", kernel=(3, 3), pad=(1, 1), order=2),
        _make(
            "float16", 2, 3, (5, 4), 2, "float16", kernel=(3, 3), pad=(1, 1), oracle="differs: no float16 on the CPU"
        ),
        _make(
            "float16-groups",
            1,
            4,
            (7,),
            4,
            "float16",
            kernel=(3,),
            num_group=4,
            oracle="differs: no float16 on the CPU",
        ),
        _make("layout", 1, 2, (3, 3), 2, kernel=(2, 2), layout="NCHW"),
        _make("layout-none", 1, 2, (3,), 2, kernel=(2,), layout="None"),
        _make("ignored", 1, 2, (3, 3), 2, kernel=(2, 2), workspace=0, cudnn_tune="off", cudnn_off=True),
        _make("many-channels", 1, 40, (3, 3), 70, kernel=(3, 3), pad=(1, 1), order=0),
        _make("deep", 1, 150, (4, 4), 9, kernel=(3, 3), pad=(1, 1), order=0),
        _make("wide", 1, 2, (3, 90), 9, kernel=(3, 3), pad=(1, 1), order=0),
        _make("long", 1, 1, (1200,), 2, kernel=(5,), order=0),
        _make(
            "no-images",
            0,
            2,
            (4, 4),
            3,
            kernel=(2, 2),
            np_shape=True,
            oracle="forward: refuses empty arrays in backward",
        ),
        # ---- sums over nothing are 0, or the bias ----
        *(
            _make(
                f"no-channels-{len(size)}d-{groups}-groups{'-bias' * with_bias}",
                2,
                0,
                size,
                4,
                kernel=(2,) * len(size),
                num_group=groups,
                no_bias=not with_bias,
                np_shape=True,
                order=2,
                oracle="skip: refuses arrays without channels",
            )
            for size in ((5,), (4, 5), (3, 4, 2))
            for groups in (1, 2)
            for with_bias in (False, True)
        ),
        _make(
            "nothing-float16", 0, 0, (4, 4), 3, "float16", kernel=(3, 3), np_shape=True, oracle="skip: ends the process"
        ),
        _make("stride-beyond", 1, 2, (7, 7), 2, kernel=(2, 2), stride=(5, 4)),
        _make("pad-beyond", 1, 2, (9, 8), 2, kernel=(5, 5), pad=(3, 2)),
        # ---- refused ----
        _make("integers", 1, 2, (4, 4), 2, "int32", kernel=(2, 2), error=True),
        _make("layout-of-others", 1, 2, (4, 4), 2, kernel=(2, 2), layout="NCDHW", error=True),
        _make("layout-last", 1, 4, (4, 4), 4, kernel=(4, 4), layout="NHWC", error=True),
        _make("no-kernel", 1, 2, (4, 4), 2, kernel=(), error=True),
        _make("long-stride", 1, 2, (4, 4), 2, kernel=(2, 2), stride=(1, 1, 1), error=True),
        _make("stride-0", 1, 2, (4, 4), 2, kernel=(2, 2), stride=(0, 1), error=True),
        _make("dilate-0", 1, 2, (4, 4), 2, kernel=(2, 2), dilate=(0, 1), error=True),
        _make("pad-negative", 1, 2, (4, 4), 2, kernel=(2, 2), pad=(-1, 0), error=True),
        _make("axes", 1, 2, (4, 4, 4), 2, kernel=(2, 2), error=True),
        _make("odd-groups", 1, 3, (4, 4), 4, kernel=(2, 2), num_group=2, error=True),
    ]

_X, _W = In((1, 2, 4, 4)), In((2, 2, 2, 2))
for _op, _no_bias in (("Convolution", {"no_bias": True}), ("Deconvolution", {})):
    CASES += [
        Case(_op, "no-input", (), {"kernel": (2, 2), "num_filter": 2}, error=True),
        Case(_op, "no-num-filter", (_X, _W), {"kernel": (2, 2), **_no_bias}, error=True),
        Case(_op, "num-filter-0", (_X, _W), {"kernel": (2, 2), "num_filter": 0, **_no_bias}, error=True),
        Case(_op, "num-filter-negative", (_X, _W), {"kernel": (2, 2), "num_filter": -2, **_no_bias}, error=True),
        Case(
            _op,
            "groups-0",
            (_X, _W),
            {"kernel": (2, 2), "num_filter": 2, "num_group": 0, **_no_bias},
            error=True,
            oracle="skip: divides by zero",
        ),
        Case(_op, "weight-shape", (_X, In((2, 2, 2, 3))), {"kernel": (2, 2), "num_filter": 2, **_no_bias}, error=True),
        Case(
            _op, "weight-dtype", (_X, _W.like("float64")), {"kernel": (2, 2), "num_filter": 2, **_no_bias}, error=True
        ),
        Case(_op, "weight-axes", (_X, In((2, 2, 2))), {"kernel": (2, 2), "num_filter": 2, **_no_bias}, error=True),
        Case(_op, "bias-shape", (_X, _W, In((3,))), {"kernel": (2, 2), "num_filter": 2, "no_bias": False}, error=True),
        Case(_op, "bias-extra", (_X, _W, In((2,))), {"kernel": (2, 2), "num_filter": 2, "no_bias": True}, error=True),
    ]
CASES += [
    _convolution("kernel-beyond", 1, 2, (3, 3), 2, kernel=(4, 4), error=True),
    _convolution("dilated-beyond", 1, 2, (3, 3), 2, kernel=(2, 2), dilate=(3, 3), error=True),
    _deconvolution("adj", 1, 2, (3, 4), 2, kernel=(3, 3), stride=(2, 3), pad=(1, 1), adj=(1, 2), order=2),
    _deconvolution("adj-alone", 1, 2, (3,), 2, kernel=(2,), stride=(4,), adj=(3,), order=2),
    _deconvolution("target", 1, 2, (3, 4), 2, "float64", kernel=(3, 3), stride=(2, 2), target_shape=(6, 8), order=2),
    _deconvolution("target-odd", 2, 2, (3, 4), 2, "float64", kernel=(4, 2), stride=(2, 3), target_shape=(5, 9)),
    _deconvolution("target-groups", 1, 4, (5,), 2, "float64", kernel=(3,), target_shape=(5,), num_group=2),
    _deconvolution("adj-stride", 1, 2, (3, 3), 2, kernel=(2, 2), stride=(2, 2), adj=(2, 0), error=True),
    _deconvolution("target-beyond", 1, 2, (3, 3), 2, kernel=(2, 2), target_shape=(9, 9), error=True),
    _deconvolution("pad-all", 1, 2, (3, 3), 2, kernel=(2, 2), pad=(4, 4), error=True),
    Case(
        "Convolution_v1",
        "image",
        (In((2, 2, 4, 5)), In((3, 2, 2, 3)), In((3,))),
        {"kernel": (2, 3), "num_filter": 3, "pad": (1, 1)},
        _convolve,
        order=2,
        diff=(0, 1, 2),
        tolerance=_NEAR,
    ),
    Case("Convolution_v1", "no-input", (), {"kernel": (2, 2), "num_filter": 2}, error=True),
]

#: numbers that are not finite reach exactly the sums that they are part of
_SPECIAL = np.array([0.0, np.inf, -0.0, 1.5, np.nan, -2.0, -np.inf, 3.0e37, 1.0e-45, 1.0, 2.0], "float32")
for _op, _function in (("Convolution", _convolve), ("Deconvolution", _deconvolve), ("Convolution_v1", _convolve)):
    CASES += [
        Case(
            _op,
            "special-float32",
            (In(values=np.resize(_SPECIAL, (2, 2, 5, 6))), In((3, 2, 2, 2) if "De" not in _op else (2, 3, 2, 2))),
            {"kernel": (2, 2), "num_filter": 3, "pad": (1, 1), "no_bias": True},
            _function,
            tolerance=_NEAR,
        ),
        Case(
            _op,
            "0-axes",
            (In(values=1.0), In(values=1.0)),
            {"kernel": (1,), "num_filter": 1, "no_bias": True},
            error=True,
            np_shape=True,
        ),
    ]

# ---- grids: every parameter with every other, on small odd arrays ----


def _grid() -> Iterator[tuple[str, int, int, tuple, int, dict]]:
    """Names, batch, channels, size, filters and windows of which each differs from all others."""
    number = 0
    for count, kernel, stride, dilate, pad in product((1, 2, 3), (1, 2, 3), (1, 2, 3), (1, 2), (0, 1, 2)):
        number += 1
        groups = (1, 1, 2, 3)[number % 4]
        window = {
            "kernel": (kernel, *(1 + (kernel + i) % 3 for i in range(1, count))),
            "stride": (stride, *(1 + (stride + i) % 2 for i in range(1, count))),
            "dilate": (dilate, *(1 + (number + i) % 2 for i in range(1, count))),
            "pad": (pad, *((pad + i) % 3 for i in range(1, count))),
            "num_group": groups,
            "no_bias": number % 2 == 0,
        }
        size = ((9, 11, 7), (6, 7, 5), (6, 5, 5))[count - 1][:count]
        name = f"{count}d-k{kernel}-s{stride}-d{dilate}-p{pad}"
        yield name, 1 + number % 2, groups * (1 + number % 3), size, groups * (1 + number % 2), window


def _fits(size: tuple, kernel: tuple, stride: tuple, dilate: tuple, pad: tuple, **_: object) -> bool:
    """Whether the window fits the data, and a Deconvolution's pad leaves something."""
    return all(
        (k - 1) * d + 1 <= n + 2 * q and s * (n - 1) + (k - 1) * d + 1 > 2 * q
        for n, k, s, d, q in zip(size, kernel, stride, dilate, pad)
    )


def _differs(dtype: str, kernel: tuple, stride: tuple, dilate: tuple, **_: object) -> str:
    """Where 1.9.1's Deconvolution is another; its float32 agrees with the definition in each case that it takes."""
    if len(kernel) == 3 and max(dilate) > 1:
        return "differs: no dilate with three axes"
    if len(kernel) == 3 and dtype == "float64":
        return "differs: no float64 with three axes"
    wrong = any(k > 1 and s > 1 and d > 1 for k, s, d in zip(kernel, stride, dilate))
    return "differs: wrong numbers of float64 with stride and dilate" if dtype == "float64" and wrong else ""


for _name, _batch, _channels, _size, _filters, _window in _grid():
    if not _fits(_size, **_window):
        continue
    for _label, _dtype, _count in (("", "float32", _filters), ("-f64", "float64", 3 * _filters)):
        CASES.append(_convolution(_name + _label, _batch, _channels, _size, _count, _dtype, order=0, **_window))
        _why = _differs(_dtype, **_window)
        CASES.append(
            _deconvolution(_name + _label, _batch, _channels, _size, _count, _dtype, order=0, oracle=_why, **_window)
        )

# ---- the derivatives' operators ----


def _by_data(y: np.ndarray, weight: np.ndarray, size: Sequence[int], **p: object) -> np.ndarray:
    count = len(size)
    window = {key: p.get(key) for key in ("stride", "dilate")}
    groups: int = p.get("num_group", 1)  # type: ignore[assignment]
    return _transposed(y, weight, size, _full(p.get("pad"), count, 0), groups, **window)


def _by_weight(x: np.ndarray, y: np.ndarray, **p: object) -> np.ndarray:
    kernel, groups = tuple(p["kernel"]), p.get("num_group", 1)  # type: ignore[arg-type]
    pad = _full(p.get("pad"), len(kernel), 0)
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((q, q) for q in pad)])
    images = padded.reshape(x.shape[0], groups, x.shape[1] // groups, *padded.shape[2:])
    outs = y.astype(np.float64).reshape(y.shape[0], groups, y.shape[1] // groups, *y.shape[2:])
    w = np.zeros((groups, outs.shape[2], images.shape[2], *kernel))
    for tap, where in _taps(padded.shape[2:], y.shape[2:], kernel, stride=p.get("stride"), dilate=p.get("dilate")):
        part = images[(slice(None),) * 3 + where].reshape(*images.shape[:3], -1)
        w[(slice(None),) * 3 + tap] = np.einsum("ngcp,ngkp->gkc", part, outs.reshape(*outs.shape[:3], -1))
    return w.reshape(-1, *w.shape[2:]).astype(x.dtype)


_WINDOW = {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 0), "num_group": 2}
_Y = In((2, 4, 3, 4))
INTERNAL += [
    Case(
        "_mxl_conv_x",
        "image",
        (_Y, In((4, 3, 3, 2))),
        {**_WINDOW, "size": (5, 5)},
        _by_data,
        2,
        (0, 1),
        tolerance=_NEAR,
    ),
    Case(
        "_mxl_conv_x", "rest", (_Y, In((4, 3, 3, 2))), {**_WINDOW, "size": (6, 5)}, _by_data, 2, (0, 1), tolerance=_NEAR
    ),
    Case("_mxl_conv_x", "size", (_Y, In((4, 3, 3, 2))), {**_WINDOW, "size": (9, 5)}, error=True),
    Case("_mxl_conv_x", "few-sizes", (_Y, In((4, 3, 3, 2))), {**_WINDOW, "size": (5,)}, error=True),
    Case("_mxl_conv_x", "weight", (_Y, In((3, 3, 3, 2))), {**_WINDOW, "size": (5, 5)}, error=True),
    Case("_mxl_conv_x", "number", (In((2,)), In((2,))), {**_WINDOW, "size": (5, 5)}, error=True),
    Case("_mxl_conv_w", "image", (In((2, 6, 5, 5)), _Y), _WINDOW, _by_weight, 2, (0, 1), tolerance=_NEAR),
    Case("_mxl_conv_w", "y", (In((2, 6, 5, 6)), _Y), _WINDOW, error=True),
    Case("_mxl_conv_w", "batch", (In((1, 6, 5, 5)), _Y), _WINDOW, error=True),
    Case("_mxl_conv_w", "number", (In((2,)), In((2,))), _WINDOW, error=True),
]
