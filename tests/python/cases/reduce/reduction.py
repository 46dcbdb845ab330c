"""Further reductions: min, prod, nansum, nanprod, norm, argmin, argmax_channel, moments, cumsum."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .reduce import PARAMETERS, _axes, _mean, _shaped

CASES: list = []


def _reduction(function, nan_as=None):
    def forward(x: np.ndarray, axis=None, keepdims=False, exclude=False) -> np.ndarray:
        axes = _axes(x.ndim, axis, exclude)
        wide = x.astype("float64") if x.dtype.kind == "f" else x
        if nan_as is not None and x.dtype.kind == "f":
            wide = np.where(np.isnan(wide), nan_as, wide)
        value = function(wide, axis=axes, keepdims=bool(keepdims))
        return _shaped(x, np.asarray(value).astype(x.dtype), axes, keepdims)

    return forward


_min, _prod = _reduction(np.min), _reduction(np.prod)
_nansum, _nanprod = _reduction(np.sum, 0.0), _reduction(np.prod, 1.0)

_LOOSE = {"float32": (1e-4, 1e-4), "float16": (1e-2, 1e-2)}
for _op, _f, _domain in (("min", _min, "distinct"), ("prod", _prod, "away"), ("nansum", _nansum, "real"),
                         ("nanprod", _nanprod, "away")):  # fmt: skip
    for _label, _params in PARAMETERS.items():
        CASES.append(
            Case(_op, _label, (In((2, 3, 4), domain=_domain),), _params, _f, order=2, diff=(0,), tolerance=_LOOSE)
        )
    CASES += [
        Case(_op, "float16", (In((3, 4), "float16", _domain),), {"axis": 1}, _f, tolerance=_LOOSE),
        Case(_op, "float64", (In((3, 4), "float64", _domain),), {"axis": 1}, _f, order=2, diff=(0,)),
        Case(_op, "one-dim", (In((5,), domain=_domain),), {"axis": 0}, _f, order=2, diff=(0,)),
        Case(_op, "tall", (In((1031, 3), domain="unit"),), {"axis": 0}, _f, tolerance={"float32": (1e-4, 1e-3)}),
        Case(_op, "wide", (In((3, 1031), domain="unit"),), {"axis": 1}, _f, tolerance={"float32": (1e-4, 1e-3)}),
        Case(_op, "long", (In((40007,), domain="unit"),), {}, _f, tolerance={"float32": (1e-4, 1e-2)}),
        Case(_op, "ten-dims", (In((2, 1, 2, 1, 2, 1, 2, 1, 2, 1), domain=_domain),), {"axis": (0, 2, 4, 9)}, _f,
             diff=(0,), tolerance=_LOOSE),
        Case(_op, "int32", (In((3, 4), "int32", ("int", -9, 9)),), {"axis": 1}, _f),
        Case(_op, "int64", (In((3, 4), "int64", ("int", -9, 9)),), {}, _f),
        Case(_op, "int8", (In((3, 4), "int8", ("int", -2, 2)),), {"axis": 1}, _f),
        Case(_op, "uint8", (In((3, 4), "uint8", ("int", 1, 4)),), {"axis": 0}, _f),
        Case(_op, "bool", (In((3, 2), "bool", "bool"),), {"axis": 1}, _f),
        Case(_op, "infinities", (In(values=[[1.0, np.inf], [-np.inf, 2.0]]),), {"axis": 1}, _f,
             oracle="differs: 1.9.1 finds NaN for -inf + 2" if _op == "nansum" else ""),
        Case(_op, "nan", (In(values=[[1.0, 2.0, np.nan], [np.nan, 1.0, 0.5], [3.0, np.nan, 1.0]]),), {"axis": 1}, _f,
             diff=() if _op in ("min", "prod") else (0,), defined=True),
        Case(_op, "out", (In((2, 3), domain=_domain),), {"axis": 0}, _f, out=(((3,), "float32"),)),
        Case(_op, "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
        Case(_op, "axis-twice", (In((2, 3)),), {"axis": (0, 0)}, error=True),
        Case(_op, "malformed-axis", (In((2, 3)),), {"axis": "x"}, error=True),
        Case(_op, "malformed-exclude", (In((2, 3)),), {"axis": 0, "exclude": 2}, error=True),
        Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
        Case(_op, "scalar", (In((), domain="away"),), {}, _f, order=1, diff=(0,), np_shape=True),
    ]  # fmt: skip
    if _op != "min":
        CASES.append(Case(_op, "empty-first", (In((0, 3)),), {"axis": 0}, _f, np_shape=True))
        CASES.append(Case(_op, "empty-last", (In((0, 3)),), {"axis": 1}, _f, np_shape=True))
CASES += [
    Case("min", "ties", (In(values=[[1.0, 3.0, 1.0], [2.0, 2.0, 2.0]]),), {"axis": 1}, _min, diff=(0,), defined=True),
    Case("min", "empty", (In((0, 3)),), {}, error=True, np_shape=True),
    Case("prod", "uint8-wraps", (In(dtype="uint8", values=[16, 17, 2]),), {}, _prod),
    *(
        Case(
            _op,
            f"zero-{_label}",
            (In(values=_values),),
            _params,
            _function,
            order=2,
            diff=(0,),
            oracle="forward: its gradient is NaN where a 0 is",
        )
        for _op, _function in (("prod", _prod), ("nanprod", _nanprod))
        for _label, _values, _params in (
            ("one", [[2.0, 0.0], [3.0, 4.0]], {"axis": 1}),
            ("two", [[0.0, 0.0, 3.0], [3.0, -4.0, 0.0]], {"axis": 1}),
            ("all", [[2.0, 0.0, 3.0], [3.0, -4.0, 1.5]], {}),
            ("alone", [[0.0], [3.0]], {"axis": 1}),
            ("axes", [[[2.0, 0.0], [3.0, -1.0]], [[0.0, 5.0], [1.5, 2.0]]], {"axis": (2, 0), "keepdims": True}),
            ("exclude", [[[2.0, 0.0], [3.0, -1.0]], [[0.0, 5.0], [1.5, 2.0]]], {"axis": 1, "exclude": True}),
            ("no-axis", [[2.0, 0.0]], {"axis": (0, 1), "exclude": True}),
        )
    ),
    Case("nanprod", "zero-nan", (In(values=[[2.0, 0.0], [np.nan, 4.0]]),), {"axis": 1}, _nanprod),
    Case("nansum", "only-nan", (In(values=[[np.nan, np.nan]]),), {"axis": 1}, _nansum, diff=(0,), defined=True),
]


# ---- norm ----


def _norm(x: np.ndarray, ord=2, axis=None, out_dtype=None, keepdims=False) -> np.ndarray:
    axes = _axes(x.ndim, axis, False)
    wide = x.astype("float64")
    if int(ord) == 1:
        value = np.abs(wide).sum(axis=axes, keepdims=bool(keepdims))
    else:
        value = np.sqrt((wide * wide).sum(axis=axes, keepdims=bool(keepdims)))
    return _shaped(x, np.asarray(value).astype(x.dtype), axes, keepdims)


for _ord in (1, 2):
    for _label, _params in {
        "all": {}, "none": {"axis": None}, "empty-axis": {"axis": ()}, "first": {"axis": 0}, "middle": {"axis": 1},
        "last": {"axis": -1}, "two": {"axis": (0, 2)}, "unsorted": {"axis": (2, 0)}, "every": {"axis": (0, 1, 2)},
        "keep-all": {"keepdims": True}, "keep-middle": {"axis": 1, "keepdims": True},
        "keep-two": {"axis": (0, 1), "keepdims": True}, "out-dtype": {"out_dtype": "float32"},
    }.items():  # fmt: skip
        CASES.append(
            Case("norm", f"{_label}-{_ord}", (In((2, 3, 4), domain="away"),), {"ord": _ord, **_params}, _norm,
                 order=0 if "out_dtype" in _params else 2, diff=(0,))
        )  # fmt: skip
    for _dtype in ("float16", "float64"):
        CASES.append(Case("norm", f"{_dtype}-{_ord}", (In((3, 4), _dtype, "away"),), {"ord": _ord, "axis": 1}, _norm))
    CASES += [
        Case("norm", f"long-{_ord}", (In((40007,), domain="unit"),), {"ord": _ord}, _norm,
             tolerance={"float32": (1e-4, 1e-4)}),
        Case("norm", f"wide-{_ord}", (In((3, 1031), domain="unit"),), {"ord": _ord, "axis": 1}, _norm,
             tolerance={"float32": (1e-4, 1e-4)}),
        Case("norm", f"empty-{_ord}", (In((0, 3)),), {"ord": _ord, "axis": 0}, _norm, np_shape=True),
        Case("norm", f"bool-{_ord}", (In((3, 2), "bool", "bool"),), {"ord": _ord, "axis": 1}, _norm),
    ]  # fmt: skip
for _dtype in ("int8", "int32", "int64", "uint8"):
    CASES.append(Case("norm", f"{_dtype}-1", (In((3, 4), _dtype, ("int", 0, 9)),), {"ord": 1, "axis": 1}, _norm))
    CASES.append(
        Case("norm", f"{_dtype}-2", (In(dtype=_dtype, values=[[3, 4], [5, 12]]),), {"axis": 1}, _norm,
             oracle="differs: 1.9.1 rounds down along the way, and finds 4 for (3, 4)")
    )  # fmt: skip
CASES += [
    Case("norm", "zero-all", (In(values=[[0.0, 0.0]]),), {}, _norm, diff=(0,), defined=True),
    Case("norm", "zero-axis", (In(values=[[0.0, 0.0], [3.0, 4.0]]),), {"axis": 1}, _norm, diff=(0,), defined=True),
    Case("norm", "zero-1", (In(values=[[0.0, 0.0], [3.0, 4.0]]),), {"axis": 1, "ord": 1}, _norm, diff=(0,),
         defined=True),
    Case("norm", "large", (In(values=[1e30, 1e30]),), {}, _norm),
    Case("norm", "infinities", (In(values=[[np.inf, -np.inf], [np.inf, 1.0]]),), {"axis": 1}, _norm,
         oracle="differs: 1.9.1 answers NaN for two of them"),
    Case("norm", "nan", (In(values=[[1.0, np.nan], [3.0, np.inf]]),), {"axis": 1}, _norm),
    Case("norm", "int64-large", (In(dtype="int64", values=[2**32, -(2**32)]),), {}, _norm),
    Case("norm", "scalar", (In((), domain="away"),), {}, _norm, order=1, diff=(0,), np_shape=True),
]  # fmt: skip
for _label, _params in {
    "ord-3": {"ord": 3}, "ord-0": {"ord": 0}, "axis-too-large": {"axis": 2}, "axis-twice": {"axis": (0, 0)},
    "wider": {"out_dtype": "float64"}, "narrower": {"out_dtype": "float16", "axis": 1},
    "integer": {"out_dtype": "int32"},
    "unknown-dtype": {"out_dtype": "uint8"}, "malformed": {"ord": "x"}, "unknown-parameter": {"exclude": 1},
}.items():  # fmt: skip
    CASES.append(Case("norm", _label, (In((2, 3)),), _params, error=True))


# ---- argmin, argmax_channel ----


def _argmin(x: np.ndarray, axis=None, keepdims=False) -> np.ndarray:
    if axis is None:
        return np.asarray(x.argmin()).astype(x.dtype).reshape((1,) * (x.ndim if keepdims else 1))
    place = np.asarray(x.argmin(axis=axis))
    place = np.expand_dims(place, axis) if keepdims else place
    return place.astype(x.dtype).reshape(place.shape or (1,))


def _argmax_channel(x: np.ndarray) -> np.ndarray:
    return x.argmax(axis=1).astype(x.dtype)


for _label, _params in {
    "all": {}, "none": {"axis": None}, "first": {"axis": 0}, "middle": {"axis": 1}, "last": {"axis": -1},
    "keep-first": {"axis": 0, "keepdims": True}, "keep-all": {"keepdims": True},
}.items():  # fmt: skip
    CASES.append(Case("argmin", _label, (In((2, 3, 4), domain="distinct"),), _params, _argmin, diff=(0,), defined=True))
for _dtype in ("float16", "float64", "int8", "int32", "int64", "uint8"):
    CASES.append(Case("argmin", _dtype, (In((3, 5), _dtype, ("int", 0, 99)),), {"axis": 1}, _argmin))
    CASES.append(Case("argmax_channel", _dtype, (In((3, 5), _dtype, ("int", 0, 99)),), {}, _argmax_channel))
_nans = In(values=[[np.nan, 1.0, 2.0], [1.0, np.nan, 0.0], [1.0, 3.0, np.nan]])
CASES += [
    Case("argmin", "ties", (In(values=[[5.0, 1.0, 1.0], [7.0, 2.0, 2.0]]),), {"axis": 1}, _argmin),
    Case("argmin", "nan", (_nans,), {"axis": 1}, _argmin),
    Case("argmin", "long", (In((1031,), domain="distinct"),), {"axis": 0}, _argmin),
    Case("argmin", "bool", (In((2, 3), "bool", "bool"),), {"axis": 1}, error=True),
    Case("argmin", "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
    Case("argmin", "tuple-axis", (In((2, 3)),), {"axis": (0,)}, error=True),
    Case("argmin", "unknown-parameter", (In((2, 3)),), {"exclude": 1}, error=True),
    Case("argmin", "empty-axis", (In((0, 3)),), {"axis": 0}, error=True, np_shape=True),
    Case("argmin", "empty-rest", (In((0, 3)),), {"axis": 1}, lambda x, axis: np.zeros((0,), "float32"), np_shape=True),
    Case("argmax_channel", "matrix", (In((3, 5), domain="distinct"),), {}, _argmax_channel),
    Case("argmax_channel", "three", (In((2, 3, 4), domain="distinct"),), {}, _argmax_channel),
    Case("argmax_channel", "nan", (_nans,), {}, _argmax_channel),
    Case("argmax_channel", "vector", (In((3,)),), {}, error=True),
    Case("argmax_channel", "bool", (In((2, 3), "bool", "bool"),), {}, error=True),
    Case("argmax_channel", "empty", (In((2, 0)),), {}, error=True, np_shape=True),
    Case("argmax_channel", "unknown-parameter", (In((2, 3)),), {"foo": 1}),
]  # fmt: skip


# ---- moments ----


def _moments(x: np.ndarray, axes=None, keepdims=False) -> tuple:
    wide = x.astype("float64") if x.dtype.kind == "f" else x
    away = wide - _mean(wide, axes, True).reshape([1 if a in _axes(x.ndim, axes, False) else e for a, e in
                                                   enumerate(x.shape)])  # fmt: skip
    return _mean(wide, axes, keepdims).astype(x.dtype), _mean(away * away, axes, keepdims).astype(x.dtype)


for _label, _params in {
    "first": {"axes": 0}, "middle": {"axes": (1,)}, "last": {"axes": (-1,)}, "two": {"axes": (0, 2)},
    "unsorted": {"axes": (2, 0)}, "every": {"axes": (0, 1, 2)}, "keep": {"axes": (0, 1), "keepdims": True},
    "keep-every": {"axes": (0, 1, 2), "keepdims": True},
}.items():  # fmt: skip
    CASES.append(
        Case("moments", _label, (In((2, 3, 4)),), _params, _moments, order=2, diff=(0,),
             tolerance={"float32": (1e-4, 1e-5)})
    )  # fmt: skip
CASES += [
    Case("moments", "float16", (In((3, 4), "float16"),), {"axes": 1}, _moments, tolerance={"float16": (1e-2, 1e-2)}),
    Case("moments", "float64", (In((3, 4), "float64"),), {"axes": 1}, _moments, order=2, diff=(0,)),
    Case("moments", "int32", (In((3, 4), "int32", ("int", -9, 9)),), {"axes": 1}, _moments),
    Case("moments", "empty", (In((0, 3)),), {"axes": 0}, _moments, np_shape=True),
    Case(
        "moments",
        "infinities",
        (In(values=[[np.inf, 1.0], [-np.inf, 1.0]]),),
        {"axes": 1},
        _moments,
        oracle="differs: 1.9.1 answers NaN for the mean too",
    ),
    Case("moments", "bool", (In((2, 3), "bool", "bool"),), {"axes": 1}, error=True),
    Case("moments", "no-axes", (In((2, 3)),), {}, error=True),
    Case("moments", "empty-axes", (In((2, 3)),), {"axes": ()}, error=True),
    Case("moments", "too-large", (In((2, 3)),), {"axes": 2}, error=True),
    Case("moments", "twice", (In((2, 3)),), {"axes": (1, 1)}, error=True),
    Case("moments", "malformed", (In((2, 3)),), {"axes": "x"}, error=True),
    Case("moments", "unknown-parameter", (In((2, 3)),), {"axes": 1, "axis": 1}, error=True),
]


# ---- cumsum ----


def _cumsum(a: np.ndarray, axis=None, dtype=None) -> np.ndarray:
    kind = dtype or ("int64" if a.dtype == bool else a.dtype)
    return np.cumsum(a.astype(kind), axis=axis, dtype=kind)


for _label, _params in {"flat": {}, "none": {"axis": None}, "first": {"axis": 0}, "middle": {"axis": 1},
                        "last": {"axis": 2}}.items():  # fmt: skip
    CASES.append(Case("_np_cumsum", _label, (In((2, 3, 4)),), _params, _cumsum, order=2, diff=(0,)))
for _dtype, _domain in {"float16": ("int", -9, 9), "float64": "real", "uint8": ("int", 0, 99), "int8": ("int", -99, 99),
                        "int32": ("int", -99, 99), "int64": ("int", -99, 99), "bool": "bool"}.items():  # fmt: skip
    CASES.append(Case("_np_cumsum", _dtype, (In((3, 5), _dtype, _domain),), {"axis": 1}, _cumsum))
_REAL = In(values=[[3.75, 1.5, 5.0], [2.0, -7.5, 1.0]])
CASES += [
    Case("_np_cumsum", "to-int32", (_REAL,), {"axis": 1, "dtype": "int32"}, _cumsum),
    Case("_np_cumsum", "to-int8", (_REAL,), {"dtype": "int8"}, _cumsum),
    Case("_np_cumsum", "to-float64", (In((2, 3), "int32", ("int", 0, 9)),), {"axis": 0, "dtype": "float64"}, _cumsum),
    Case("_np_cumsum", "wider", (_REAL,), {"axis": 0, "dtype": "float64"}, _cumsum, diff=(0,)),
    Case("_np_cumsum", "empty", (In((0, 3)),), {"axis": 1}, _cumsum, np_shape=True),
    Case("_np_cumsum", "scalar", (In(()),), {}, _cumsum, order=1, diff=(0,), np_shape=True),
    Case("_np_cumsum", "negative", (In((2, 3, 4)),), {"axis": -2}, _cumsum, order=2, diff=(0,),
         oracle="differs: 1.9.1 accepts it, and fails as it computes"),
    Case("_np_cumsum", "too-large", (In((2, 3)),), {"axis": 2}, error=True),
    Case("_np_cumsum", "too-small", (In((2, 3)),), {"axis": -3}, error=True),
    Case("_np_cumsum", "unknown-dtype", (In((2, 3)),), {"dtype": "bool"}, error=True),
    Case("_np_cumsum", "malformed", (In((2, 3)),), {"axis": "x"}, error=True),
    Case("_np_cumsum", "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
]  # fmt: skip
