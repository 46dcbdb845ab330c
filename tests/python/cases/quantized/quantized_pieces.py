"""Arrays of bytes: relu, pooling, joins, sums, products, normalisation; and calibration."""

from __future__ import annotations

import itertools

import numpy as np

from .._case import Case, In
from .quantized import (
    _CALIB,
    _CONV,
    _LIMITS,
    _SUMS,
    _WIDE,
    F,
    _bytes,
    _cut,
    _errors,
    _kernel,
    _one,
    _range,
    _reach,
    _steps,
)

CASES: list = []


# ---- what keeps bytes ----

_ACT, _FLAT, _POOL = "_contrib_quantized_act", "_contrib_quantized_flatten", "_contrib_quantized_pooling"


def _relu(x, low, high, act_type="relu"):
    return np.maximum(x, 0).astype(x.dtype), low, high


def _flatten(x, low, high):
    return x.reshape(len(x), -1), low, high


def _pool(x, low, high, kernel=(), pool_type="max", global_pool=False, stride=(), pad=(), count_include_pad=None, **k):
    axes = x.ndim - 2
    kernel, stride, pad = (
        (x.shape[2:], (1,) * axes, (0,) * axes) if global_pool else (kernel, stride or (1,) * axes, pad or (0,) * axes)
    )
    size = [(n + 2 * p - j) // s + 1 for n, p, j, s in zip(x.shape[2:], pad, kernel, stride)]
    out = np.zeros((*x.shape[:2], *size), x.dtype)
    for at in itertools.product(*map(range, size)):
        begin = [i * s - p for i, s, p in zip(at, stride, pad)]
        where = tuple(slice(max(b, 0), min(b + j, n)) for b, j, n in zip(begin, kernel, x.shape[2:]))
        part = x[(slice(None), slice(None), *where)].reshape(*x.shape[:2], -1)
        if pool_type == "max":
            value = part.max(-1)
        else:
            whole = [min(b + j, n + p) - b for b, j, n, p in zip(begin, kernel, x.shape[2:], pad)]
            count = part.shape[-1] if count_include_pad is False else int(np.prod(whole))
            value = _cut(part.sum(-1, dtype=np.int64).astype(F) / F(count), x.dtype)
        out[(slice(None), slice(None), *at)] = value
    return out, low, high


for _type in ("int8", "uint8"):
    _note = "differs: uint8 data comes out as int8 there" if _type == "uint8" else ""
    CASES += [
        Case(_ACT, _type, (_bytes((3, 50), _type), *_one(-1, 2)), {"act_type": "relu"}, _relu, oracle=_note),
        Case(_FLAT, _type, (_bytes((2, 3, 4), _type), *_one(-1, 2)), {}, _flatten),
    ]
    for _kind, (_label, _params) in itertools.product(
        ("max", "avg"),
        {
            "pairs": {"kernel": (2, 2), "stride": (2, 2)},
            "padded": {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)},
            "inside": {"kernel": (3, 2), "stride": (2, 1), "pad": (1, 1), "count_include_pad": False},
            "all": {"kernel": (1, 1), "global_pool": True},
        }.items(),
    ):
        _image = (_bytes((2, 3, 7, 8), _type), *_one(-1, 2))
        CASES.append(Case(_POOL, f"{_type}-{_kind}-{_label}", _image, {**_params, "pool_type": _kind}, _pool))
CASES += [
    Case(_POOL, "default", (_bytes((1, 2, 3, 3)), *_one(-1, 2)), {"kernel": (2, 2)}, _pool),
    Case(
        _POOL,
        "line",
        (_bytes((1, 2, 9)), *_one(-1, 2)),
        {"kernel": (3,), "stride": (2,)},
        _pool,
        oracle="differs: one axis is refused there",
    ),
    Case(_POOL, "volume", (_bytes((1, 2, 4, 5, 3)), *_one(-1, 2)), {"kernel": (2, 2, 2)}, _pool),
]
_image = (_bytes((1, 2, 4, 4)), *_one(-1, 2))
CASES += _errors(
    _ACT,
    (_bytes((3,)), *_one(-1, 1)),
    {"act_type": "relu"},
    tanh=(None, {"act_type": "tanh"}),
    int32=(_SUMS, *_one(-1, 1)),
)
CASES += _errors(_FLAT, (), {}, no_limits=(_bytes((2, 3)),))
CASES += [
    Case(
        _FLAT,
        "float32",
        (In((2, 3)), *_one(-1, 1)),
        error=True,
        oracle="differs: numbers of float32 are taken there",
    ),
    Case(
        _CONV,
        "too-large",
        (_bytes((1, 3, 2, 2), "uint8"), _bytes((4, 3, 3, 3)), *_LIMITS),
        _kernel,
        error=True,
        oracle="differs: a kernel larger than the image gives garbage there",
    ),
]
CASES += _errors(
    _POOL,
    _image,
    {"kernel": (2, 2)},
    float32=(In((1, 2, 4, 4)), *_one(-1, 2)),
    sum=(None, {"pool_type": "sum"}),
    too_large=(None, {"kernel": (9, 9)}),
)


# ---- embedding, concat ----

_EMB, _CAT = "_contrib_quantized_embedding", "_contrib_quantized_concat"


def _embed(data, weight, low, high, input_dim, output_dim, **_):
    return weight[np.clip(data.astype(int), 0, input_dim - 1)], low, high


_rows = {"input_dim": 4, "output_dim": 3}
CASES += [
    Case(_EMB, "float32", (In(values=[0, 2, 9, -1]), _bytes((4, 3)), *_one(-1, 2)), _rows, _embed),
    Case(_EMB, "int32", (In(values=[[0, 3], [1, 1]], dtype="int32"), _bytes((4, 3)), *_one(-1, 2)), _rows, _embed),
]
CASES += _errors(
    _EMB,
    (),
    _rows,
    uint8=(In(values=[0]), _bytes((4, 3), "uint8"), *_one(-1, 2)),
    rows=(In(values=[0]), _bytes((5, 3)), *_one(-1, 2)),
)


def _concat(*arrays, num_args, dim=1):
    data, limits = arrays[:num_args], arrays[num_args:]
    low, high = min(float(v[0]) for v in limits[::2]), max(float(v[0]) for v in limits[1::2])
    dtype, reach, parts = np.dtype("uint8" if all(x.dtype == np.uint8 for x in data) else "int8"), _reach(low, high), []
    for i, x in enumerate(data):
        own = _reach(*limits[2 * i : 2 * i + 2])
        scale = own / reach if x.dtype == dtype else own / _steps(x.dtype, True) * (_steps(dtype, True) / reach)
        parts.append(_cut(x.astype(F) * scale, dtype))
    return np.concatenate(parts, dim), *_range(low, high)


_two = _one(-1, 2, -3, 2.5)
CASES += [
    Case(_CAT, "int8", (_bytes((2, 3, 5)), _bytes((2, 4, 5)), *_two), {"num_args": 2}, _concat),
    Case(_CAT, "uint8", (_bytes((2, 3), "uint8"), _bytes((4, 3), "uint8"), *_two), {"num_args": 2, "dim": 0}, _concat),
    Case(_CAT, "both", (_bytes((2, 3)), _bytes((2, 3), "uint8"), *_two), {"num_args": 2}, _concat),
    Case(_CAT, "three", (_bytes((1, 3)), _bytes((1, 3)), _bytes((1, 3)), *_two, *_one(0, 1)), {"num_args": 3}, _concat),
]
CASES += _errors(
    _CAT,
    (),
    {"num_args": 2},
    float32=(In((2, 3)), In((2, 3)), *_two),
    shapes=(_bytes((2, 3)), _bytes((3, 3)), *_two),
    no_limits=(_bytes((2, 3)), _bytes((2, 3))),
    axis=((_bytes((2, 3)), _bytes((2, 3)), *_two), {"dim": 5}),
)


# ---- sums, products, normalisation ----

_ADD, _MUL, _BN = (f"_contrib_quantized_{name}" for name in ("elemwise_add", "elemwise_mul", "batch_norm"))


def _result_type(a, b):
    return np.dtype("uint8" if a.dtype == b.dtype == np.uint8 else "int8")


def _add(a, b, a_low, a_high, b_low, b_high, min_calib_range=None, max_calib_range=None):
    ra, rb = _reach(a_low, a_high), _reach(b_low, b_high)
    sa, sb = _steps(a.dtype, True), _steps(b.dtype, True)
    if min_calib_range is None:
        both = float(ra + rb)
        x, y = F(float(ra) / float(sa) * 2**31 / both), F(float(rb) / float(sb) * 2**31 / both)
        total = np.rint(a.astype(F) * x + b.astype(F) * y).astype(float)
        return np.clip(total, -(2**31), 2**31 - 1).astype(np.int64).astype(np.int32), *_range(-both, both)
    dtype = _result_type(a, b)
    factor = _steps(dtype, True) / _reach(min_calib_range, max_calib_range)
    total = a.astype(F) * (ra / sa * factor) + b.astype(F) * (rb / sb * factor)
    return _cut(total, dtype), *_range(min_calib_range, max_calib_range)


def _mul(a, b, a_low, a_high, b_low, b_high, min_calib_range=None, max_calib_range=None, enable_float_output=False):
    ra, rb, product = _reach(a_low, a_high), _reach(b_low, b_high), a.astype(np.int32) * b.astype(np.int32)
    step = ra * rb / (_steps(a.dtype, True) * _steps(b.dtype, True))
    if enable_float_output:
        return product.astype(F) * step
    if min_calib_range is None:
        most = ra / _steps(a.dtype) * (rb / _steps(b.dtype)) * _WIDE
        return product, *_range(-most, most)
    dtype = _result_type(a, b)
    scale = step * (_steps(dtype, True) / _reach(min_calib_range, max_calib_range))
    return _cut(product.astype(F) * scale, dtype), *_range(min_calib_range, max_calib_range)


_IMPERATIVE = "differs: fails outside of symbols there"
for (_a, _b), (_label, _params) in itertools.product(
    (("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8")), {"wide": {}, "calibrated": _CALIB}.items()
):
    _inputs = (_bytes((4, 33), _a), _bytes((4, 33), _b), *_two)
    _why = "differs: the sum of int8 and uint8 is wrong there" if _a != _b else ""
    CASES += [
        Case(_ADD, f"{_a}-{_b}-{_label}", _inputs, _params, _add, oracle=_why),
        Case(_MUL, f"{_a}-{_b}-{_label}", _inputs, _params, _mul, oracle=_IMPERATIVE),
    ]
CASES.append(
    Case(
        _MUL,
        "float",
        (_bytes((4, 33)), _bytes((4, 33)), *_two),
        {"enable_float_output": True},
        _mul,
        oracle=_IMPERATIVE,
    )
)
for _op in (_ADD, _MUL):
    CASES += _errors(
        _op,
        (),
        {},
        shapes=(_bytes((2, 3)), _bytes((3,)), *_two),
        float32=(In((3,)), In((3,)), *_two),
        no_limits=(_bytes((3,)), _bytes((3,))),
    )


def _norm(x, gamma, beta, mean, var, low, high, eps=1e-3, fix_gamma=True, min_calib_range=0, max_calib_range=0, **_):
    by = (1 if fix_gamma else gamma.astype(float)) / np.sqrt(var.astype(float) + eps)
    step = float(_reach(low, high) / _steps(x.dtype, True))
    scale = float(_steps("int8", True) / _reach(min_calib_range, max_calib_range))
    factor, more = ((v).astype(F) for v in (by * step * scale, (beta - mean * by) * scale))
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return _cut(x.astype(F) * factor.reshape(shape) + more.reshape(shape), "int8"), *_range(
        min_calib_range, max_calib_range
    )


_stats = tuple(In((3,), "float32", "positive") for _ in range(4))
_round = "differs: bytes differ by one here and there"
for _type in ("int8", "uint8"):
    _inputs = (_bytes((2, 3, 5, 4), _type), *_stats, *_one(-1, 2))
    CASES += [
        Case(_BN, f"{_type}", _inputs, {**_CALIB, "eps": 0.01}, _norm, oracle=_round),
        Case(_BN, f"{_type}-gamma", _inputs, {**_CALIB, "fix_gamma": False}, _norm, oracle=_round),
    ]
CASES += _errors(
    _BN,
    (_bytes((2, 3, 5, 4)), *_stats, *_one(-1, 2)),
    _CALIB,
    float32=(In((2, 3, 5, 4)), *_stats, *_one(-1, 2)),
    axis=(None, {"axis": 2}),
    channels=(_bytes((2, 4, 5, 4)), *_stats, *_one(-1, 2)),
)
CASES.append(Case(_BN, "uncalibrated", (_bytes((2, 3, 5, 4)), *_stats, *_one(-1, 2)), {}, error=True))


# ---- calibration ----

_CAL = "_contrib_calibrate_entropy"


def _calibrate(hist, edges, num_quantized_bins=255):
    bins, steps, best = len(hist), num_quantized_bins, (np.inf, 0.0)
    hist = hist.astype(float)

    def positive(x):
        empty = x == 0
        return (x + np.where(empty, 1e-4, -1e-4 * empty.sum() / max((~empty).sum(), 1))) / x.sum()

    for side in range(steps // 2, bins // 2 + 1):
        begin, end = bins // 2 - side, min(bins // 2 + side + 1, bins)
        kept, p = hist[begin:end], hist[begin:end].copy()
        p[0] += hist[:begin].sum()
        p[-1] += hist[end:].sum()
        q, width = np.zeros(end - begin), (end - begin) // steps
        for k in range(steps):
            part = slice(k * width, (k + 1) * width if k < steps - 1 else end - begin)
            q[part] = kept[part].sum() / max((kept[part] != 0).sum(), 1)
        q[p == 0] = 0
        if not p.any() or not q.any():
            continue
        a, b = positive(p), positive(q)
        good = (a > 0) & (b > 0)
        found = float((a[good] * np.log(a[good] / b[good])).sum())
        best = (found, float(edges[end])) if found < best[0] else best
    return np.array([best[1]], F), np.array([best[0]], F)


def _bell(bins: int) -> list:
    return [float(int(1000 * np.exp(-(((i - bins // 2) / (bins / 9)) ** 2)))) for i in range(bins)]


_edges = In(values=[float(i) / 50 - 1.01 for i in range(102)])
_flat = "differs: sums in float32 there, and the divergence is flat near its least"
CASES += [
    Case(
        _CAL,
        "bell",
        (In(values=_bell(101)), _edges),
        {"num_quantized_bins": 15},
        _calibrate,
        tolerance={"float32": (1e-5, 1e-6)},
        oracle=_flat,
    ),
    Case(
        _CAL,
        "default",
        (In(values=_bell(601)), In(values=[i / 300 - 1 for i in range(602)])),
        {},
        _calibrate,
        tolerance={"float32": (1e-5, 1e-6)},
        oracle=_flat,
    ),
]
CASES += _errors(
    _CAL,
    (In(values=_bell(101)), _edges),
    {"num_quantized_bins": 15},
    few=(None, {"num_quantized_bins": 255}),
    edges=(In(values=_bell(101)), In(values=_bell(101))),
    int32=(In((101,), "int32", ("int", 0, 5)), _edges),
)
