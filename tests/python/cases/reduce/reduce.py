"""Reductions: sum, mean, max, argmax."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from ..elementwise.binary import truncated

CASES: list = []


def _axes(ndim: int, axis, exclude) -> tuple:
    """The axes that go, by the rule of the legacy operators (no axis, or an empty one: all of them)."""
    if axis is None or axis == ():
        return tuple(range(ndim))
    listed = (axis,) if isinstance(axis, int) else tuple(axis)
    listed = tuple(a % ndim for a in listed)
    return tuple(a for a in range(ndim) if a not in listed) if exclude else listed


def _shaped(x: np.ndarray, value: np.ndarray, axes: tuple, keepdims) -> np.ndarray:
    """Legacy shape rule: reducing every axis without keepdims gives (1,), also in NumPy-shape mode."""
    return value.reshape((1,)) if len(axes) == x.ndim and not keepdims else value


def _sum(x: np.ndarray, axis=None, keepdims=False, exclude=False) -> np.ndarray:
    axes = _axes(x.ndim, axis, exclude)
    wide = x.astype("float64") if x.dtype.kind == "f" else x
    return _shaped(
        x, np.asarray(wide.sum(axis=axes, keepdims=bool(keepdims), dtype=wide.dtype)).astype(x.dtype), axes, keepdims
    )


def _mean(x: np.ndarray, axis=None, keepdims=False, exclude=False) -> np.ndarray:
    axes = _axes(x.ndim, axis, exclude)
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64)) if axes else 1
    if x.dtype.kind == "f":
        total = x.astype("float64").sum(axis=axes, keepdims=bool(keepdims))
        return _shaped(x, np.asarray(np.divide(total, count)).astype(x.dtype), axes, keepdims)
    total = np.asarray(x.sum(axis=axes, keepdims=bool(keepdims), dtype=x.dtype))
    return _shaped(x, truncated(total, np.array(count, "int64")).astype(x.dtype), axes, keepdims)


def _max(x: np.ndarray, axis=None, keepdims=False, exclude=False) -> np.ndarray:
    axes = _axes(x.ndim, axis, exclude)
    return _shaped(x, np.asarray(x.max(axis=axes, keepdims=bool(keepdims))), axes, keepdims)


def _argmax(x: np.ndarray, axis=None, keepdims=False) -> np.ndarray:
    if axis is None:
        place = np.asarray(x.argmax())
        return place.astype(x.dtype).reshape((1,) * (x.ndim if keepdims else 1))
    place = np.asarray(x.argmax(axis=axis))
    place = np.expand_dims(place, axis) if keepdims else place
    return place.astype(x.dtype).reshape(place.shape or (1,))


#: label -> parameters of a (2, 3, 4) input
PARAMETERS = {
    "all": {},
    "none": {"axis": None},
    "empty-axis": {"axis": ()},
    "first": {"axis": 0},
    "middle": {"axis": 1},
    "last": {"axis": -1},
    "first-last": {"axis": (0, 2)},
    "unsorted": {"axis": (2, 0)},
    "negative": {"axis": (-1, -2)},
    "every": {"axis": (0, 1, 2)},
    "keep-all": {"keepdims": True},
    "keep-middle": {"axis": 1, "keepdims": True},
    "keep-two": {"axis": (0, 2), "keepdims": True},
    "exclude-middle": {"axis": 1, "exclude": True},
    "exclude-keep": {"axis": (0, 1), "exclude": True, "keepdims": True},
    "exclude-all": {"axis": (0, 1, 2), "exclude": True},
    "exclude-nothing": {"exclude": True},
}

for _op, _f, _domain in (("sum", _sum, "real"), ("mean", _mean, "real"), ("max", _max, "distinct")):
    for _label, _params in PARAMETERS.items():
        CASES.append(Case(_op, _label, (In((2, 3, 4), domain=_domain),), _params, _f, order=2, diff=(0,)))
    CASES += [
        Case(_op, "float64", (In((3, 4), "float64", _domain),), {"axis": 1}, _f, order=2, diff=(0,)),
        Case(_op, "one-dim", (In((5,), domain=_domain),), {"axis": 0}, _f, order=2, diff=(0,)),
        Case(
            _op,
            "long",
            (In((10007,), domain=_domain),),
            {},
            _f,
            order=0,
            diff=(0,),
            tolerance={"float32": (1e-5, 1e-3)},
        ),
        Case(
            _op,
            "tall",
            (In((1031, 3), domain=_domain),),
            {"axis": 0},
            _f,
            diff=(0,),
            tolerance={"float32": (1e-5, 1e-4)},
        ),
        Case(
            _op,
            "wide",
            (In((3, 1031), domain=_domain),),
            {"axis": 1},
            _f,
            diff=(0,),
            tolerance={"float32": (1e-5, 1e-4)},
        ),
        Case(
            _op,
            "ten-dims",
            (In((2, 1, 2, 1, 2, 1, 2, 1, 2, 1), domain=_domain),),
            {"axis": (0, 2, 4, 9)},
            _f,
            diff=(0,),
        ),
        Case(_op, "int32", (In((3, 4), "int32", ("int", -9, 9)),), {"axis": 1}, _f),
        Case(_op, "int64", (In((3, 4), "int64", ("int", -9, 9)),), {}, _f),
        Case(_op, "uint8", (In((3, 4), "uint8", ("int", 0, 20)),), {"axis": 0}, _f),
        Case(_op, "infinities", (In(values=[[1.0, np.inf], [-np.inf, 2.0]]),), {"axis": 1}, _f),
        Case(_op, "nan", (In(values=[[1.0, 2.0, np.nan], [np.nan, 1.0, 0.0], [0.0, np.nan, 1.0]]),), {"axis": 1}, _f),
        Case(_op, "out", (In((2, 3), domain=_domain),), {"axis": 0}, _f, out=(((3,), "float32"),)),
        Case(_op, "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
        Case(_op, "axis-too-small", (In((2, 3)),), {"axis": -3}, error=True),
        Case(_op, "axis-twice", (In((2, 3)),), {"axis": (0, 0)}, error=True),
        Case(_op, "axis-twice-negative", (In((2, 3)),), {"axis": (1, -1)}, error=True),
        Case(_op, "malformed-axis", (In((2, 3)),), {"axis": "x"}, error=True),
        Case(_op, "malformed-keepdims", (In((2, 3)),), {"keepdims": "yes"}, error=True),
        Case(_op, "malformed-exclude", (In((2, 3)),), {"axis": 0, "exclude": 2}, error=True),
        Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
        Case(_op, "no-input", (), {}, error=True),
        Case(_op, "scalar", (In(()),), {}, _f, order=1, diff=(0,), np_shape=True),
    ]

CASES += [
    Case("sum", "uint8-wraps", (In(dtype="uint8", values=[200, 100]),), {}, _sum),
    Case("sum", "int32-wraps", (In(dtype="int32", values=[2**31 - 1, 1]),), {}, _sum),
    Case(
        "sum", "small-onto-large", (In(values=[16777216.0] + [1.0] * 8),), {}, _sum, tolerance={"float32": (1e-7, 0.0)}
    ),
    Case("mean", "uint8-wraps", (In(dtype="uint8", values=[200, 101]),), {}, _mean),
    Case("mean", "int32-truncates", (In(dtype="int32", values=[-3, 0]),), {}, _mean),
    Case("max", "bool", (In(dtype="bool", values=[0, 1]),), {}, _max),
    Case("max", "ties", (In(values=[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]),), {"axis": 1}, _max, diff=(0,), defined=True),
    Case("max", "all-minus-infinity", (In(values=[-np.inf, -np.inf]),), {}, _max),
    Case("sum", "empty", (In((0, 3)),), {}, _sum, np_shape=True),
    Case("sum", "empty-first", (In((0, 3)),), {"axis": 0}, _sum, np_shape=True),
    Case("sum", "empty-last", (In((0, 3)),), {"axis": 1}, _sum, np_shape=True),
    Case("mean", "empty-first", (In((0, 3)),), {"axis": 0}, _mean, np_shape=True),
    Case("mean", "empty-last", (In((0, 3)),), {"axis": 1}, _mean, np_shape=True),
    Case(
        "mean",
        "empty-int32",
        (In((2, 0), "int32", "bool"),),
        {"axis": 1},
        lambda x, axis: x.sum(axis, dtype="int32"),
        np_shape=True,
        oracle="skip: 1.9.1 divides by zero, which ends the process",
    ),
    Case("max", "empty", (In((0, 3)),), {}, error=True, np_shape=True),
    Case("max", "empty-first", (In((0, 3)),), {"axis": 0}, error=True, np_shape=True),
    Case(
        "max",
        "empty-last",
        (In((0, 3)),),
        {"axis": 1},
        _max,
        np_shape=True,
        oracle="differs: 1.9.1 refuses every array without elements",
    ),
]

for _label, _params in {
    "all": {},
    "none": {"axis": None},
    "first": {"axis": 0},
    "middle": {"axis": 1},
    "last": {"axis": -1},
    "keep-first": {"axis": 0, "keepdims": True},
    "keep-all": {"keepdims": True},
}.items():
    CASES.append(Case("argmax", _label, (In((2, 3, 4), domain="distinct"),), _params, _argmax, diff=(0,), defined=True))
for _dtype in ("float64", "int32", "int64", "uint8"):
    CASES.append(Case("argmax", _dtype, (In((3, 5), _dtype, ("int", 0, 99)),), {"axis": 1}, _argmax))
CASES += [
    Case("argmax", "ties", (In(values=[[1.0, 5.0, 5.0], [7.0, 2.0, 7.0]]),), {"axis": 1}, _argmax),
    Case(
        "argmax",
        "nan",
        (In(values=[[np.nan, 1.0, 2.0], [1.0, np.nan, 2.0], [1.0, 3.0, np.nan]]),),
        {"axis": 1},
        _argmax,
    ),
    Case("argmax", "one-dim", (In((5,), domain="distinct"),), {"axis": 0}, _argmax),
    Case("argmax", "long", (In((1031,), domain="distinct"),), {"axis": 0}, _argmax),
    Case("argmax", "bool", (In((2, 3), "bool", "bool"),), {"axis": 1}, error=True),
    Case("argmax", "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
    Case("argmax", "axis-too-small", (In((2, 3)),), {"axis": -3}, error=True),
    Case("argmax", "tuple-axis", (In((2, 3)),), {"axis": (0,)}, error=True),
    Case("argmax", "unknown-parameter", (In((2, 3)),), {"exclude": 1}, error=True),
    Case("argmax", "empty-axis", (In((0, 3)),), {"axis": 0}, error=True, np_shape=True),
    Case("argmax", "empty-rest", (In((0, 3)),), {"axis": 1}, lambda x, axis: np.zeros((0,), "float32"), np_shape=True),
]
