"""Reductions of 1.9.1's NumPy arrays: results without axes, dtypes of results, empty lists of axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []

_DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool")
_SPECIAL = [[0.0, np.inf, 1.0], [-np.inf, 2.0, np.inf], [np.nan, 1.0, 2.0], [-0.0, -3.0, 2.5], [1.0, 2.0, 3.0]]


def _axis(axis: Any) -> Any:
    return eval(axis) if isinstance(axis, str) else axis


def _sum(function: Any) -> Any:
    def forward(x: np.ndarray, axis: Any = None, dtype: str = "None", keepdims: int = 0) -> np.ndarray:
        own = "int64" if x.dtype.name == "bool" else x.dtype.name
        dtype = own if dtype == "None" else dtype
        work = own if x.dtype.kind == "f" and np.dtype(dtype).kind != "f" else dtype
        work = "int64" if work == "bool" else work
        wide = "float32" if work == "float16" else work
        return function(x.astype(work).astype(wide), axis=_axis(axis), dtype=wide, keepdims=bool(keepdims)).astype(
            dtype
        )

    return forward


def _mean(x: np.ndarray, axis: Any = None, dtype: str = "None", keepdims: int = 0) -> np.ndarray:
    own = x.dtype.name if x.dtype.kind == "f" else "float32"
    total = np.sum(x.astype("float64"), axis=_axis(axis), keepdims=bool(keepdims))
    return (total / (x.size / total.size if total.size else 1)).astype(own if dtype == "None" else dtype)


def _extreme(function: Any) -> Any:
    return lambda x, axis=None, keepdims=0: function(x, axis=_axis(axis), keepdims=bool(keepdims))


_SUMS = {"_np_sum": _sum(np.sum), "_np_prod": _sum(np.prod), "_npi_mean": _mean}
_ALL = {**_SUMS, "_np_max": _extreme(np.max), "_np_min": _extreme(np.min)}
for _op, _forward in _ALL.items():
    _domain = "distinct" if _op in ("_np_max", "_np_min") else "away"
    for _label, _params in (
        ("all", {}),
        ("axis", {"axis": "(1,)"}),
        ("axes", {"axis": "(0, -1)"}),
        ("no-axes", {"axis": "()"}),
        ("keepdims", {"axis": "(1,)", "keepdims": 1}),
        ("all-keepdims", {"keepdims": 1}),
    ):
        CASES.append(Case(_op, _label, (In((2, 3, 4), "float32", _domain),), _params, _forward, order=2, diff=(0,)))
    _odd = (In((3, 37), "float64", _domain),)
    CASES.append(Case(_op, "odd-float64", _odd, {"axis": "(0,)"}, _forward, order=2, diff=(0,)))
    for _dtype in _DTYPES:
        _x = [[0, 1, 1], [1, 1, 0]] if _dtype == "bool" else [[1, 2, 5], [7, 3, 1]]
        CASES.append(Case(_op, f"{_dtype}-axis", (In(dtype=_dtype, values=_x),), {"axis": "(1,)"}, _forward))
        CASES.append(Case(_op, f"{_dtype}-all", (In(dtype=_dtype, values=_x),), {}, _forward))
    _dies = "skip: 1.9.1 leaves an error behind, of which the process dies" if _op in ("_np_prod", "_np_max") else ""
    CASES.append(Case(_op, "0-axes", (In(()),), {}, _forward, np_shape=True, oracle=_dies))
    CASES.append(Case(_op, "empty-kept", (In((0, 3)),), {"axis": "(1,)"}, _forward, np_shape=True))
    CASES.append(Case(_op, "axis-twice", (In((2, 3)),), {"axis": "(0, 0)"}, error=True))
    CASES.append(Case(_op, "axis-beyond", (In((2, 3)),), {"axis": "(2,)"}, error=True))
    CASES.append(Case(_op, "initial", (In((2, 3)),), {"initial": 3}, error=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL[1:]),), {"axis": "(1,)"}, _forward))
    _lost = "differs: 1.9.1 answers NaN" if _op in ("_np_sum", "_npi_mean") else ""
    CASES.append(Case(_op, "infinity", (In(values=_SPECIAL[:1]),), {"axis": "(1,)"}, _forward, oracle=_lost))
for _op, _forward in _SUMS.items():
    for _dtype in ("float16", "float64", "int32", "int64", "int8", "bool"):
        for _from in ("float32", "int32"):
            _x = In(dtype=_from, values=[[1, 2, 5], [7, 3, 1]])
            CASES.append(Case(_op, f"{_from}-as-{_dtype}", (_x,), {"axis": "(0,)", "dtype": _dtype}, _forward))
    _nothing = {"_np_prod": "differs: 1.9.1 answers 0", "_npi_mean": "differs: 1.9.1 answers 0"}.get(_op, "")
    for _params in ({}, {"axis": "(0,)"}):
        _label = f"nothing-{len(_params)}"
        CASES.append(Case(_op, _label, (In((0, 3)),), _params, _forward, np_shape=True, oracle=_nothing))
for _op in ("_np_max", "_np_min"):
    CASES.append(Case(_op, "nothing", (In((0, 3)),), {"axis": "(0,)"}, error=True, np_shape=True))

# ---- argmax, argmin ----


def _arg(function: Any) -> Any:
    def forward(x: np.ndarray, axis: Any = None, keepdims: int = 0) -> np.ndarray:
        found = np.asarray(function(x, axis=axis))
        if keepdims:
            found = found.reshape((1,) * x.ndim) if axis is None else np.expand_dims(found, axis)
        return found.astype("int64")

    return forward


for _op, _forward in (("_npi_argmax", _arg(np.argmax)), ("_npi_argmin", _arg(np.argmin))):
    for _label, _params in (
        ("all", {}),
        ("axis", {"axis": 1}),
        ("negative", {"axis": -1}),
        ("keepdims", {"axis": 0, "keepdims": 1}),
        ("all-keepdims", {"keepdims": 1}),
    ):
        CASES.append(Case(_op, _label, (In((2, 3, 4), "float32", "distinct"),), _params, _forward))
    for _dtype in _DTYPES[:-1]:
        CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=[[1, 5, 5], [7, 3, 1]]),), {"axis": 1}, _forward))
    CASES.append(Case(_op, "vector", (In((5,), "float32", "distinct"),), {"axis": 0}, _forward))
    CASES.append(Case(_op, "0-axes", (In(()),), {}, _forward, np_shape=True))
    CASES.append(Case(_op, "bool", (In((3,), "bool", "bool"),), {}, error=True))
    CASES.append(Case(_op, "axis-beyond", (In((2, 3)),), {"axis": 2}, error=True))
    CASES.append(Case(_op, "nothing", (In((0, 3)),), {"axis": 0}, error=True, np_shape=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL),), {"axis": 1}, _forward))
