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


def _errors(op: str, good: tuple, params: dict, **rows) -> list:
    made = []
    for label, row in rows.items():
        inputs, more = row if row and isinstance(row[-1], dict) else (row, {})
        made.append(Case(op, label.replace("_", "-"), inputs or good, {**params, **more}, error=True))
    return made


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
CASES += _errors(
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
CASES += _errors(_V2, (), {}, float64=(In((3,), "float64"),), int32=(In((3,), "int32", ("int", 0, 5)),), none=())


def _dequantize(x, low, high):
    return (x.astype(F) * (_reach(low, high) / _steps(x.dtype, True))).astype(F)


_D = "_contrib_dequantize"
CASES += [
    Case(_D, "int8", (_bytes((3, 41)), *_one(-3, 2)), {}, _dequantize),
    Case(_D, "uint8", (_bytes((3, 41), "uint8"), *_one(0, 2)), {}, _dequantize),
]
CASES += _errors(_D, (), {}, int32=(In((3,), "int32", ("int", 0, 5)), *_one(0, 1)), no_limits=(_bytes((3,)),))


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
CASES += _errors(_R, (), {}, int8=(_bytes((3,)), *_one(-1, 1)), no_limits=(_SUMS,))


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
        Case(
            _FC,
            f"{_type}",
            (_row, _bytes((5, 75)), _bytes((5,)), *_BIAS_LIMITS),
            {"num_hidden": 5},
            _dense,
            tolerance=_CUT,
        ),
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
CASES += _errors(
    _CONV,
    (),
    _kernel,
    float32=(In((1, 3, 5, 5)), _bytes((4, 3, 3, 3)), *_LIMITS),
    float32_weight=(_bytes((1, 3, 5, 5), "uint8"), In((4, 3, 3, 3)), *_LIMITS),
    channels=(_bytes((1, 3, 5, 5), "uint8"), _bytes((4, 2, 3, 3)), *_LIMITS),
    no_limits=(_bytes((1, 3, 5, 5), "uint8"), _bytes((4, 3, 3, 3))),
)
CASES += _errors(
    _FC,
    (),
    {"num_hidden": 5, "no_bias": True},
    float32=(In((1, 3)), _bytes((5, 3)), *_LIMITS),
    features=(_bytes((1, 3), "uint8"), _bytes((5, 4)), *_LIMITS),
    no_limits=(_bytes((1, 3), "uint8"), _bytes((5, 3))),
)
