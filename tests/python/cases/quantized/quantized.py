"""Arrays of bytes that stand for numbers between two limits: int8 and uint8, their sums in int32."""

from __future__ import annotations

import itertools

import numpy as np

from .._case import Case, In

CASES: list = []

F = np.float32
_WIDE = F(2**31)
_NEAR = {"float32": (1e-6, 1e-6)}


def _one(*values: float) -> tuple:
    """Limits, each an array of one number."""
    return tuple(In(values=[v]) for v in values)


def _bytes(shape, dtype: str = "int8") -> In:
    return In(shape, dtype, ("int", -127, 127) if dtype == "int8" else ("int", 0, 255))


def _steps(dtype, half=False):
    return F((255 if np.dtype(dtype) == np.uint8 else 127) + 0.5 * half)


def _reach(low, high):
    return F(max(abs(float(np.ravel(low)[0])), abs(float(np.ravel(high)[0]))))


def _cut(x, dtype):
    limits = np.iinfo(dtype)
    x = np.where(np.isnan(x), limits.max, x)
    return np.clip(np.rint(x), limits.min, limits.max).astype(dtype)


def _range(low, high):
    return np.array([low], F), np.array([high], F)



def _errors(op: str, good: tuple, params: dict, **rows) -> None:
    for label, row in rows.items():
        inputs, more = row if row and isinstance(row[-1], dict) else (row, {})
        CASES.append(Case(op, label.replace("_", "-"), inputs or good, {**params, **more}, error=True))


# ---- numbers and bytes ----


def _quantize(x, low, high, out_type="uint8"):
    reach, dtype = _reach(low, high), np.dtype(out_type)
    limits = (low, high) if out_type == "uint8" else _range(-reach, reach)
    return (_cut(x * (_steps(dtype) / reach), dtype), *limits)


_HALVES = In(values=[-127.0, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 126.5, 200, -200])
_Q = "_contrib_quantize"
CASES += [
    Case(_Q, "uint8", (In((3, 70)), *_one(-2, 2)), {}, _quantize),
    Case(_Q, "int8", (In((3, 70)), *_one(-2, 1)), {"out_type": "int8"}, _quantize),
    Case(_Q, "halves", (_HALVES, *_one(-127, 127)), {"out_type": "int8"}, _quantize),
    Case(_Q, "halves-uint8", (_HALVES, *_one(0, 255)), {}, _quantize),
]
_errors(
    _Q,
    (In((3,)), *_one(-1, 1)),
    {},
    float64=(In((3,), "float64"), *_one(-1, 1)),
    two_limits=(In((3,)), In(values=[-1, -1]), *_one(1)),
    no_limits=(In((3,)),),
    int32=(None, {"out_type": "int32"}),
)


def _v2(x, out_type="int8", min_calib_range=None, max_calib_range=None):
    calibrated = min_calib_range is not None
    unsigned = out_type == "uint8" or (out_type == "auto" and calibrated and min_calib_range >= 0)
    dtype = np.dtype("uint8" if unsigned else "int8")
    if x.dtype != np.float32:
        known = (F(min_calib_range), F(max_calib_range)) if calibrated else (-_steps(dtype, True), _steps(dtype, True))
        return x, *_range(*known)
    low, high = (F(min_calib_range), F(max_calib_range)) if calibrated else (x.min(), x.max())
    reach = _reach(low, high)
    limits = _range(low, high) if unsigned else _range(-reach, reach)
    return _cut(x * (_steps(dtype, True) / reach), dtype), *limits


_V2 = "_contrib_quantize_v2"
_CALIB = {"min_calib_range": -1.5, "max_calib_range": 1.0}
_ABOVE = {"min_calib_range": 0.0, "max_calib_range": 1.5}
CASES += [Case(_V2, "default", (In((5, 33)),), {}, _v2), Case(_V2, "calibrated", (In((5, 33)),), _CALIB, _v2)]
for _type, _calib in itertools.product(("int8", "uint8", "auto"), ({}, _CALIB, _ABOVE)):
    _label = f"{_type}-{len(_calib)}-{_calib.get('min_calib_range')}"
    CASES.append(Case(_V2, _label, (In((130,)),), {"out_type": _type, **_calib}, _v2))
CASES += [
    Case(_V2, "bytes", (_bytes((7,)),), {}, _v2),
    Case(_V2, "bytes-calibrated", (_bytes((7,)),), _CALIB, _v2),
    Case(
        _V2,
        "zeros",
        (In(values=[0, 0, 0]),),
        {},
        lambda x: (np.zeros(3, "int8"), *_range(0, 0)),
        oracle="differs: bytes of zeros alone are 127 there, of a limit of 0",
    ),
]
_errors(_V2, (), {}, float64=(In((3,), "float64"),), int32=(In((3,), "int32", ("int", 0, 5)),), none=())


def _dequantize(x, low, high):
    return (x.astype(F) * (_reach(low, high) / _steps(x.dtype, True))).astype(F)


_D = "_contrib_dequantize"
CASES += [
    Case(_D, "int8", (_bytes((3, 41)), *_one(-3, 2)), {}, _dequantize),
    Case(_D, "uint8", (_bytes((3, 41), "uint8"), *_one(0, 2)), {}, _dequantize),
]
_errors(_D, (), {}, int32=(In((3,), "int32", ("int", 0, 5)), *_one(0, 1)), no_limits=(_bytes((3,)),))


def _requantize(x, low, high, out_type="int8", min_calib_range=None, max_calib_range=None):
    wide = _reach(low, high) / _WIDE
    calibrated = min_calib_range is not None
    unsigned = out_type == "uint8" or (out_type == "auto" and calibrated and min_calib_range >= 0)
    dtype = np.dtype("uint8" if unsigned else "int8")
    reach = _reach(min_calib_range, max_calib_range) if calibrated else _reach(F(x.min()) * wide, F(x.max()) * wide)
    limits = _range(0, reach) if unsigned else _range(-reach, reach)
    return _cut(x.astype(F) * (wide * (_steps(dtype) / reach)), dtype), *limits


_R = "_contrib_requantize"
_SUMS = In((4, 50), "int32", ("int", -(2**22), 2**22))
CASES += [Case(_R, "default", (_SUMS, *_one(-5e3, 3e3)), {}, _requantize)]
for _type, _calib in itertools.product(("int8", "uint8", "auto"), ({}, _CALIB, _ABOVE)):
    _label = f"{_type}-{len(_calib)}-{_calib.get('min_calib_range')}"
    _given = {"out_type": _type, **_calib}
    CASES.append(Case(_R, _label, (_SUMS, *_one(-700, 500)), _given, _requantize, tolerance=_NEAR))
_errors(_R, (), {}, int8=(_bytes((3,)), *_one(-1, 1)), no_limits=(_SUMS,))


# ---- layers ----


def _layer(product, data, weight, *rest, **params):
    """Sums of a layer with their limits; the bias is cut to steps of the sums."""
    bias, limits = (rest[0], rest[1:]) if len(rest) > 4 else (None, rest)
    step = _reach(*limits[:2]) / _steps(data.dtype) * (_reach(*limits[2:4]) / F(127))
    sums = product(data.astype(np.int64), weight.astype(np.int64), **params)
    if bias is not None:
        own, half = float(_reach(*limits[4:]) / F(127)), float(_steps(data.dtype, True))
        factor = F(own / float(step) * half / float(_steps(data.dtype)))
        more = np.trunc(bias.astype(F) * factor).astype(np.int64)
        sums = sums + more.reshape((1, -1) + (1,) * (sums.ndim - 2) if params.get("flatten", True) else (-1,))
    return sums.astype(np.int32), *_range(-step * _WIDE, step * _WIDE)


def _dense_sums(x, w, flatten=True, **_):
    return (x.reshape(len(x), -1) if flatten else x) @ w.T


def _dense(*arrays, **params):
    return _layer(_dense_sums, *arrays, **params)


def _conv_sums(x, w, kernel, stride=(), dilate=(), pad=(), num_group=1, **_):
    axes = len(kernel)
    stride, dilate, pad = stride or (1,) * axes, dilate or (1,) * axes, pad or (0,) * axes
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in pad)))
    size = [(n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(x.shape[2:], kernel, dilate, stride)]
    out = np.zeros((len(x), len(w), *size), np.int64)
    each, groups = w.shape[1], np.arange(len(w)) // (len(w) // num_group)
    for tap in itertools.product(*map(range, kernel)):
        part = x[
            (
                slice(None),
                slice(None),
                *(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in zip(tap, dilate, stride, size)),
            )
        ]
        for k, g in enumerate(groups):
            out[:, k] += np.tensordot(part[:, g * each : (g + 1) * each], w[(k, slice(None), *tap)], (1, 0))
    return out


def _conv(*arrays, **params):
    return _layer(_conv_sums, *arrays, **params)


_FC, _CONV = "_contrib_quantized_fully_connected", "_contrib_quantized_conv"
#: A bias may be an integer before it is cut.
_CUT = {"int32": (0, 1)}
_LIMITS, _BIAS_LIMITS = _one(-1, 2, -0.5, 0.7), _one(-1, 2, -0.5, 0.7, -0.01, 0.02)
for _type in ("int8", "uint8"):
    _row = _bytes((3, 75), _type)
    CASES += [
        Case(_FC, f"{_type}", (_row, _bytes((5, 75)), _bytes((5,)), *_BIAS_LIMITS), {"num_hidden": 5}, _dense, tolerance=_CUT),
        Case(
            _FC,
            f"{_type}-flatten",
            (_bytes((2, 3, 4), _type), _bytes((5, 12)), _bytes((5,)), *_BIAS_LIMITS),
            {"num_hidden": 5},
            _dense,
            tolerance=_CUT,
        ),
        Case(
            _FC,
            f"{_type}-last-axis",
            (_bytes((2, 3, 130), _type), _bytes((5, 130)), _bytes((5,)), *_BIAS_LIMITS),
            {"num_hidden": 5, "flatten": False},
            _dense,
            tolerance=_CUT,
        ),
        Case(
            _FC,
            f"{_type}-no-bias",
            (_row, _bytes((5, 75)), *_LIMITS),
            {"num_hidden": 5, "no_bias": True},
            _dense,
        ),
    ]
    _refused = "differs: int8 data is refused there" if _type == "int8" else ""
    _ranged = _refused or "differs: the limits of uint8 data's sums are those of int8 data's there"
    _raw = _refused or "differs: the bias is added as it is there, whatever its limits are"
    _groups = "differs: one group alone, of two or three axes, is taken there"
    for _label, _shape, _kernels, _params, _why in (
        ("plain", (2, 3, 5, 6), (4, 3, 3, 3), {"kernel": (3, 3), "num_filter": 4}, ""),
        (
            "strided",
            (1, 6, 9, 8),
            (15, 6, 3, 2),
            {"kernel": (3, 2), "num_filter": 15, "stride": (2, 1), "pad": (2, 1), "dilate": (2, 1)},
            "",
        ),
        ("point", (2, 5, 7, 9), (17, 5, 1, 1), {"kernel": (1, 1), "num_filter": 17}, ""),
        ("groups", (1, 6, 5, 5), (4, 3, 3, 3), {"kernel": (3, 3), "num_filter": 4, "num_group": 2}, _groups),
        ("line", (2, 3, 40), (4, 3, 5), {"kernel": (5,), "num_filter": 4, "pad": (2,)}, _groups),
        ("volume", (1, 3, 4, 5, 3), (2, 3, 2, 2, 2), {"kernel": (2, 2, 2), "num_filter": 2}, ""),
    ):
        _inputs = (_bytes(_shape, _type), _bytes(_kernels))
        CASES += [
            Case(
                _CONV,
                f"{_type}-{_label}",
                (*_inputs, _bytes((_kernels[0],)), *_BIAS_LIMITS),
                _params,
                _conv,
                oracle=_why or _raw,
            ),
            Case(
                _CONV,
                f"{_type}-{_label}-no-bias",
                (*_inputs, *_LIMITS),
                {**_params, "no_bias": True},
                _conv,
                oracle=_why or _ranged,
            ),
        ]
_kernel = {"kernel": (3, 3), "num_filter": 4, "no_bias": True}
_errors(
    _CONV,
    (),
    _kernel,
    float32=(In((1, 3, 5, 5)), _bytes((4, 3, 3, 3)), *_LIMITS),
    float32_weight=(_bytes((1, 3, 5, 5), "uint8"), In((4, 3, 3, 3)), *_LIMITS),
    channels=(_bytes((1, 3, 5, 5), "uint8"), _bytes((4, 2, 3, 3)), *_LIMITS),
    no_limits=(_bytes((1, 3, 5, 5), "uint8"), _bytes((4, 3, 3, 3))),
)
_errors(
    _FC,
    (),
    {"num_hidden": 5, "no_bias": True},
    float32=(In((1, 3)), _bytes((5, 3)), *_LIMITS),
    features=(_bytes((1, 3), "uint8"), _bytes((5, 4)), *_LIMITS),
    no_limits=(_bytes((1, 3), "uint8"), _bytes((5, 3))),
)


# ---- what keeps bytes ----

_ACT, _FLAT, _POOL = "_contrib_quantized_act", "_contrib_quantized_flatten", "_contrib_quantized_pooling"


def _relu(x, low, high, act_type="relu"):
    return np.maximum(x, 0).astype(x.dtype), low, high


def _flatten(x, low, high):
    return x.reshape(len(x), -1), low, high


def _pool(x, low, high, kernel=(), pool_type="max", global_pool=False, stride=(), pad=(), count_include_pad=None, **k):
    axes = x.ndim - 2
    kernel, stride, pad = (
        (x.shape[2:], (1,) * axes, (0,) * axes)
        if global_pool
        else (kernel, stride or (1,) * axes, pad or (0,) * axes)
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
        Case(
            _ACT, _type, (_bytes((3, 50), _type), *_one(-1, 2)), {"act_type": "relu"}, _relu, oracle=_note
        ),
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
_errors(
    _ACT, (_bytes((3,)), *_one(-1, 1)), {"act_type": "relu"},
    tanh=(None, {"act_type": "tanh"}), int32=(_SUMS, *_one(-1, 1)),
)  # fmt: skip
_errors(_FLAT, (), {}, no_limits=(_bytes((2, 3)),))
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
_errors(
    _POOL, _image, {"kernel": (2, 2)},
    float32=(In((1, 2, 4, 4)), *_one(-1, 2)), sum=(None, {"pool_type": "sum"}), too_large=(None, {"kernel": (9, 9)}),
)  # fmt: skip


# ---- embedding, concat ----

_EMB, _CAT = "_contrib_quantized_embedding", "_contrib_quantized_concat"


def _embed(data, weight, low, high, input_dim, output_dim, **_):
    return weight[np.clip(data.astype(int), 0, input_dim - 1)], low, high


_rows = {"input_dim": 4, "output_dim": 3}
CASES += [
    Case(_EMB, "float32", (In(values=[0, 2, 9, -1]), _bytes((4, 3)), *_one(-1, 2)), _rows, _embed),
    Case(_EMB, "int32", (In(values=[[0, 3], [1, 1]], dtype="int32"), _bytes((4, 3)), *_one(-1, 2)), _rows, _embed),
]
_errors(
    _EMB, (), _rows,
    uint8=(In(values=[0]), _bytes((4, 3), "uint8"), *_one(-1, 2)), rows=(In(values=[0]), _bytes((5, 3)), *_one(-1, 2)),
)  # fmt: skip


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
_errors(
    _CAT, (), {"num_args": 2},
    float32=(In((2, 3)), In((2, 3)), *_two), shapes=(_bytes((2, 3)), _bytes((3, 3)), *_two),
    no_limits=(_bytes((2, 3)), _bytes((2, 3))), axis=((_bytes((2, 3)), _bytes((2, 3)), *_two), {"dim": 5}),
)  # fmt: skip


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
    _errors(
        _op, (), {},
        shapes=(_bytes((2, 3)), _bytes((3,)), *_two), float32=(In((3,)), In((3,)), *_two),
        no_limits=(_bytes((3,)), _bytes((3,))),
    )  # fmt: skip


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
_errors(
    _BN, (_bytes((2, 3, 5, 4)), *_stats, *_one(-1, 2)), _CALIB,
    float32=(In((2, 3, 5, 4)), *_stats, *_one(-1, 2)), axis=(None, {"axis": 2}), channels=(_bytes((2, 4, 5, 4)), *_stats, *_one(-1, 2)),
)  # fmt: skip
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
    return [float(int(1000 * np.exp(-((i - bins // 2) / (bins / 9)) ** 2))) for i in range(bins)]


_edges = In(values=[float(i) / 50 - 1.01 for i in range(102)])
_flat = "differs: sums in float32 there, and the divergence is flat near its least"
CASES += [
    Case(
        _CAL, "bell", (In(values=_bell(101)), _edges), {"num_quantized_bins": 15}, _calibrate,
        tolerance={"float32": (1e-5, 1e-6)}, oracle=_flat,
    ),
    Case(
        _CAL, "default", (In(values=_bell(601)), In(values=[i / 300 - 1 for i in range(602)])), {}, _calibrate,
        tolerance={"float32": (1e-5, 1e-6)}, oracle=_flat,
    ),
]  # fmt: skip
_errors(
    _CAL, (In(values=_bell(101)), _edges), {"num_quantized_bins": 15},
    few=(None, {"num_quantized_bins": 255}), edges=(In(values=_bell(101)), In(values=_bell(101))),
    int32=(In((101,), "int32", ("int", 0, 5)), _edges),
)  # fmt: skip


# ---- special numbers, and arrays without axes ----

_ODD = In(values=[float("nan"), float("inf"), -float("inf"), -0.0, 1e-40, 3e38])
_ENDS, _ENDS_U = In(values=[[-128, -127, -1, 0, 1, 127]], dtype="int8"), In(values=[[0, 1, 128, 255]], dtype="uint8")
_NONE = In(values=2.0)
_int32 = In(values=[[-(2**31), -(2**31) + 1, -1, 0, 2**31 - 1]], dtype="int32")
_flat_stats = tuple(In(values=[v] * 6) for v in (1.0, 0.5, 0.25, 2.0))
CASES += [
    Case(_Q, "special-numbers", (_ODD, *_one(-1, 1)), {"out_type": "int8"}, _quantize),
    Case(_V2, "special-numbers", (_ODD,), _CALIB, _v2),
    Case(_D, "special-ends", (_ENDS, *_one(-1, 2)), {}, _dequantize),
    Case(_R, "special-ends", (_int32, *_one(-5, 5)), _CALIB, _requantize),
    Case(_ACT, "special-ends", (_ENDS, *_one(-1, 2)), {"act_type": "relu"}, _relu),
    Case(_FLAT, "special-ends", (_ENDS, *_one(-1, 2)), {}, _flatten),
    Case(_FC, "special-ends", (_ENDS, _ENDS, *_LIMITS), {"num_hidden": 1, "no_bias": True}, _dense),
    Case(_EMB, "special-numbers", (In(values=[float("inf"), -float("inf")]), _bytes((4, 3)), *_one(-1, 2)), _rows, None,
         oracle="skip: an index that is no number"),
    Case(_CAT, "special-ends", (_ENDS, _ENDS_U, *_two), {"num_args": 2}, _concat),
    Case(_ADD, "special-ends", (_ENDS, _ENDS, *_one(-1, 2, -1, 2)), {}, _add),
    Case(_MUL, "special-ends", (_ENDS, _ENDS, *_one(-1, 2, -1, 2)), {}, _mul, oracle=_IMPERATIVE),
    Case(_BN, "special-ends", (_ENDS, *_flat_stats, *_one(-1, 2)), _CALIB, _norm),
    Case(
        _POOL, "special-ends", (In(values=[[[[-128, 127], [0, -1]]]], dtype="int8"), *_one(-1, 2)),
        {"kernel": (2, 2), "pool_type": "avg"}, _pool,
    ),
    Case(
        _CONV, "special-ends", (In(values=[[[[255, 0]]]], dtype="uint8"), In(values=[[[[-128, 127]]]], dtype="int8"), *_LIMITS),
        {"kernel": (1, 2), "num_filter": 1, "no_bias": True}, _conv,
        oracle="differs: the limits of uint8 data's sums are those of int8 data's there",
    ),
    Case(_CAL, "special-empty", (In(values=[0.0] * 101), _edges), {"num_quantized_bins": 15}, None,
         oracle="skip: a histogram without numbers"),
]  # fmt: skip
_limits = {
    _Q: (In((3,)), _NONE, *_one(1)),
    _D: (_ENDS, _NONE, *_one(1)),
    _R: (_SUMS, _NONE, *_one(1)),
    _ACT: (_ENDS, _NONE, *_one(1)),
    _FLAT: (_ENDS, _NONE, *_one(1)),
    _POOL: (_image[0], _NONE, *_one(1)),
    _FC: (_ENDS, _ENDS, _NONE, *_LIMITS[1:]),
    _CONV: (_bytes((1, 3, 5, 5), "uint8"), _bytes((4, 3, 3, 3)), _NONE, *_LIMITS[1:]),
    _EMB: (In(values=[0]), _bytes((4, 3)), _NONE, *_one(2)),
    _CAT: (_ENDS, _ENDS, _NONE, *_two[1:]),
    _ADD: (_ENDS, _ENDS, _NONE, *_two[1:]),
    _MUL: (_ENDS, _ENDS, _NONE, *_two[1:]),
    _BN: (_bytes((2, 3, 5, 4)), *_stats, _NONE, *_one(2)),
    _CAL: (_NONE, _edges),
    _V2: (_NONE,),
}
_given = {
    _ACT: {"act_type": "relu"},
    _POOL: {"kernel": (2, 2)},
    _FC: {"num_hidden": 1, "no_bias": True},
    _CONV: _kernel,
    _EMB: _rows,
    _CAT: {"num_args": 2},
    _BN: _CALIB,
}
for _op, _inputs in _limits.items():
    CASES.append(
        Case(
            _op,
            "no-axes",
            _inputs,
            _given.get(_op, {}),
            None if _op != _V2 else _v2,
            error=_op != _V2,
            np_shape=True,
            oracle="skip: limits without axes are not checked there",
        )
    )
