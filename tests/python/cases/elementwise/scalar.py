"""Arithmetic of an array and a number."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .binary import truncated

CASES: list = []


def _power(x: np.ndarray, s: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "f":
        return np.power(x, s)
    return np.trunc(np.power(x.astype("float64"), np.asarray(s, "float64"))).astype(x.dtype)


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a / b if np.result_type(a, b).kind == "f" else truncated(np.asarray(a), np.asarray(b))


#: operator -> (function of array and scalar of its dtype, domain, scalar)
FUNCTIONS = {
    "_plus_scalar": (lambda x, s: x + s, "real", 2.5),
    "_minus_scalar": (lambda x, s: x - s, "real", 2.5),
    "_rminus_scalar": (lambda x, s: s - x, "real", 2.5),
    "_mul_scalar": (lambda x, s: x * s, "real", 2.5),
    "_div_scalar": (lambda x, s: _divide(x, s), "real", 2.5),
    "_rdiv_scalar": (lambda x, s: _divide(s, x), "away", 2.5),
    "_power_scalar": (_power, "positive", 2.5),
}


def typed(function):
    """1.9.1's dtype rule: floats keep theirs; integers too, truncating the scalar, but go to float64 with is_int=0."""

    def forward(x: np.ndarray, scalar: float = 1.0, is_int: bool = True) -> np.ndarray:
        if x.dtype.kind == "b":
            x = x.astype("int64" if is_int else "float64")
        elif x.dtype.kind in "iu" and not is_int:
            x = x.astype("float64")
        if x.dtype.kind in "iu":
            scalar = np.array(int(scalar)).astype(x.dtype)
        if x.dtype == np.float32:
            return np.asarray(function(x.astype("float64"), np.float64(np.float32(scalar)))).astype("float32")
        return np.asarray(function(x, np.array(scalar, x.dtype))).astype(x.dtype)

    return forward


for _op, (_function, _domain, _s) in FUNCTIONS.items():
    _f = typed(_function)
    _near = {"float32": (1e-5, 1e-6)}
    CASES += [
        Case(_op, "float32", (In((3, 4), domain=_domain),), {"scalar": _s}, _f, order=2, diff=(0,), tolerance=_near),
        Case(_op, "float64", (In((3, 4), "float64", _domain),), {"scalar": _s}, _f, order=2, diff=(0,)),
        Case(_op, "float64-exact", (In((5,), "float64", _domain),), {"scalar": 0.1}, _f, order=1, diff=(0,)),
        Case(_op, "negative", (In((3, 4), domain=_domain),), {"scalar": -1.5}, _f, order=2, diff=(0,), tolerance=_near),
        Case(_op, "default", (In((3,), domain=_domain),), {}, _f, order=1, diff=(0,), tolerance=_near),
        Case(
            _op,
            "is-int-off",
            (In((3,), domain=_domain),),
            {"scalar": 2.5, "is_int": False},
            _f,
            order=1,
            diff=(0,),
            tolerance=_near,
        ),
        Case(_op, "odd-length", (In((1037,), domain=_domain),), {"scalar": 3.0}, _f, tolerance=_near),
        Case(_op, "int32", (In((9,), "int32", ("int", 1, 9)),), {"scalar": 3}, _f),
        Case(_op, "int32-signed", (In(dtype="int32", values=[-7, -2, -1, 1, 2, 7]),), {"scalar": 2}, _f),
        Case(_op, "int32-fraction", (In((9,), "int32", ("int", 1, 9)),), {"scalar": 2.5}, _f),
        Case(_op, "int32-to-float64", (In((9,), "int32", ("int", 1, 9)),), {"scalar": 2.5, "is_int": False}, _f),
        Case(_op, "int64", (In((9,), "int64", ("int", 1, 9)),), {"scalar": 3}, _f),
        Case(_op, "int64-to-float64", (In((9,), "int64", ("int", 1, 9)),), {"scalar": 2.5, "is_int": False}, _f),
        Case(_op, "uint8", (In((9,), "uint8", ("int", 4, 9)),), {"scalar": 2}, _f),
        Case(_op, "uint8-to-float64", (In((9,), "uint8", ("int", 4, 9)),), {"scalar": 2, "is_int": False}, _f),
        Case(_op, "bool", (In(dtype="bool", values=[1, 1]),), {"scalar": 2}, _f),
        Case(_op, "bool-to-float64", (In(dtype="bool", values=[1, 1]),), {"scalar": 2.5, "is_int": False}, _f),
        Case(_op, "empty", (In((0, 2)),), {"scalar": 2.0}, _f, np_shape=True),
        Case(_op, "zero-dims", (In((), domain=_domain),), {"scalar": 2.0}, _f, order=1, diff=(0,), np_shape=True),
        Case(_op, "nan", (In((2,), domain=_domain),), {"scalar": "nan"}, lambda x, scalar: np.full_like(x, np.nan)),
        Case(_op, "out", (In((3,), domain=_domain),), {"scalar": 2.0}, _f, out=(((3,), "float32"),)),
        Case(_op, "malformed", (In((2,)),), {"scalar": "abc"}, error=True),
        Case(_op, "trailing-text", (In((2,)),), {"scalar": "1.5abc"}, error=True),
        Case(_op, "too-large", (In((2,)),), {"scalar": "1e400"}, error=True),
        Case(_op, "unknown-parameter", (In((2,)),), {"scalar": 1, "foo": 1}, error=True),
        Case(_op, "malformed-is-int", (In((2,)),), {"scalar": 1, "is_int": "maybe"}, error=True),
        Case(_op, "no-input", (), {"scalar": 1}, error=True),
        Case(_op, "two-inputs", (In((2,)), In((2,))), {"scalar": 1}, error=True),
    ]

_p = typed(_power)
CASES += [
    Case(
        "_plus_scalar", "uint8-wraps", (In(dtype="uint8", values=[250, 3]),), {"scalar": 10}, typed(lambda x, s: x + s)
    ),
    Case(
        "_minus_scalar", "uint8-wraps", (In(dtype="uint8", values=[1, 250]),), {"scalar": 3}, typed(lambda x, s: x - s)
    ),
    Case(
        "_mul_scalar",
        "infinity",
        (In(values=[1.0, -1.0]),),
        {"scalar": "inf"},
        lambda x, scalar: x * np.float32(np.inf),
    ),
    Case("_div_scalar", "by-zero", (In(values=[1.0, -1.0, 0.0]),), {"scalar": 0.0}, typed(lambda x, s: x / s)),
    Case("_rdiv_scalar", "by-zero", (In(values=[0.0, -0.0, 2.0]),), {"scalar": 1.0}, typed(lambda x, s: s / x)),
    Case(
        "_div_scalar",
        "int32-by-zero",
        (In(dtype="int32", values=[7, -7]),),
        {"scalar": 0},
        lambda x, scalar: np.zeros_like(x),
        oracle="skip: 1.9.1 ends the process (SIGFPE); mxlite answers 0, as NumPy does",
    ),
    Case(
        "_rdiv_scalar",
        "int32-by-zero",
        (In(dtype="int32", values=[7, 0]),),
        {"scalar": 8},
        lambda x, scalar: np.array([1, 0], "int32"),
        oracle="differs: 1.9.1 divides in floating point and answers INT_MIN; mxlite answers 0, as NumPy does",
    ),
    Case("_power_scalar", "square", (In(values=[-2.0, 0.0, 3.0]),), {"scalar": 2.0}, _p, order=2, diff=(0,)),
    Case("_power_scalar", "cube", (In(values=[-2.0, -0.5, 3.0]),), {"scalar": 3.0}, _p, order=2, diff=(0,)),
    Case("_power_scalar", "root", (In(values=[0.25, 2.0, 4.0]),), {"scalar": 0.5}, _p, order=2, diff=(0,)),
    Case("_power_scalar", "inverse", (In((4,), domain="away"),), {"scalar": -1.0}, _p, order=2, diff=(0,)),
    Case("_power_scalar", "zero", (In((4,), domain="away"),), {"scalar": 0.0}, _p, order=2, diff=(0,)),
    Case("_power_scalar", "one", (In(values=[0.0, 2.0]),), {"scalar": 1.0}, _p, diff=(0,), defined=True),
    Case(
        "_power_scalar",
        "zero-at-zero",
        (In(values=[0.0, 2.0]),),
        {"scalar": 0.0},
        _p,
        order=2,
        diff=(0,),
        oracle="forward: 1.9.1's gradient is NaN at 0; x^0 is constant",
    ),
    Case("_power_scalar", "root-at-zero", (In(values=[0.0, 4.0]),), {"scalar": 0.5}, _p, diff=(0,), defined=True),
    Case("_power_scalar", "root-of-negative", (In(values=[-2.0, 2.0]),), {"scalar": 0.5}, _p),
    Case("_power_scalar", "int32-inverse", (In(dtype="int32", values=[2, 3]),), {"scalar": -1}, _p),
]


def _over_root(x: np.ndarray) -> np.ndarray:
    root = np.sqrt(np.float64(x.shape[-1]))
    return _divide(x, root.astype(x.dtype)).astype(x.dtype)


_op = "_contrib_div_sqrt_dim"
CASES += [
    Case(_op, "float32", (In((2, 3)),), {}, _over_root, order=2, diff=(0,)),
    Case(_op, "float64", (In((4, 1, 5), "float64"),), {}, _over_root, order=2, diff=(0,)),
    Case(_op, "float16", (In((3, 7), "float16"),), {}, _over_root),
    Case(_op, "odd-length", (In((1037,)),), {}, _over_root, order=1, diff=(0,)),
    Case(_op, "uint8", (In(dtype="uint8", values=[[7, 100, 5, 9, 255]]),), {}, _over_root),
    Case(_op, "int8", (In(dtype="int8", values=[[-7, 100, -128, 9, 0]]),), {}, _over_root),
    Case(_op, "int32", (In((3, 10), "int32", ("int", -99, 99)),), {}, _over_root),
    Case(_op, "int64", (In(dtype="int64", values=[[(1 << 60) + 7, -9, 5, 1]]),), {}, _over_root),
    Case(_op, "empty", (In((2, 0)),), {}, _over_root, np_shape=True),
    Case(_op, "no-rows", (In((0, 3)),), {}, _over_root, np_shape=True),
    Case(_op, "out", (In((2, 3)),), {}, _over_root, out=(((2, 3), "float32"),)),
    Case(_op, "bool", (In((2, 3), "bool", "bool"),), error=True),
    Case(_op, "no-input", (), error=True),
    Case(_op, "scalar", (In(()),), error=True, np_shape=True),
    Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}),
]
