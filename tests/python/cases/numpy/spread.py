"""Variances of 1.9.1's NumPy arrays, whether all or any elements are not 0, and choices of numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []

_INTEGERS = ("int32", "int64", "uint8", "int8")
_SPECIAL = [[0.0, np.inf, 1.0], [-np.inf, 2.0, np.inf], [np.nan, 1.0, 2.0], [-0.0, 0.0, -0.0], [1.0, 2.0, 3.0]]


def _axis(axis: Any) -> Any:
    return eval(axis) if isinstance(axis, str) else axis


# ---- var, std ----

_CONSTANT = "forward: 1.9.1 answers a gradient of zeros"


def _spread(function: Any) -> Any:
    def forward(x: np.ndarray, axis: Any = None, dtype: str = "None", ddof: int = 0, keepdims: int = 0) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = function(x.astype("float64"), axis=_axis(axis), ddof=ddof, keepdims=bool(keepdims))
            return np.asarray(found).astype(x.dtype if dtype == "None" else dtype)

    return forward


for _op, _forward in (("_npi_var", _spread(np.var)), ("_npi_std", _spread(np.std))):
    for _label, _params in (
        ("all", {}),
        ("axis", {"axis": "(1,)"}),
        ("axes", {"axis": "(0, -1)"}),
        ("keepdims", {"axis": "(1,)", "keepdims": 1}),
        ("all-keepdims", {"keepdims": 1}),
        ("ddof", {"axis": "(-1,)", "ddof": 1}),
    ):
        CASES.append(Case(_op, _label, (In((2, 3, 4)),), _params, _forward, order=2, diff=(0,), oracle=_CONSTANT))
    CASES.append(Case(_op, "odd-float64", (In((3, 37), "float64"),), {"axis": "(0,)"}, _forward, order=2, diff=(0,),
                      oracle=_CONSTANT))  # fmt: skip
    CASES.append(Case(_op, "no-axes", (In((2, 3)),), {"axis": "()"}, _forward))
    CASES.append(Case(_op, "ddof-all", (In(values=[[1, 2], [3, 5]]),), {"axis": "(0,)", "ddof": 2}, _forward))
    CASES.append(Case(_op, "ddof-more", (In(values=[[1, 2], [3, 5]]),), {"axis": "(0,)", "ddof": 3}, _forward,
                      oracle="differs: 1.9.1 divides by a number that wraps"))  # fmt: skip
    CASES.append(
        Case(_op, "float16", (In(dtype="float16", values=[[1, 2, 5], [7, 3, 1]]),), {"axis": "(1,)"}, _forward)
    )
    for _dtype in _INTEGERS:
        _x = In(dtype=_dtype, values=[[1, 2, 3], [7, 3, 2]])
        CASES.append(Case(_op, _dtype, (_x,), {"axis": "(1,)"}, _forward))
        CASES.append(Case(_op, f"{_dtype}-as-float32", (_x,), {"axis": "(1,)", "dtype": "float32"}, _forward))
    _odd = In(dtype="int32", values=[[1, 2, 5], [5, 0, 0]])
    CASES.append(Case(_op, "int32-as-float64", (_odd,), {"axis": "(1,)", "dtype": "float64"}, _forward,
                      oracle="differs: 1.9.1 cuts the mean to an integer"))  # fmt: skip
    for _dtype in ("float16", "float64", "int32", "int64", "int8"):
        _x = In(values=[[1, 2, 5], [7, 3, 1]])
        _mean = "differs: 1.9.1 rounds the mean to float32" if _dtype == "float64" else ""
        CASES.append(Case(_op, f"as-{_dtype}", (_x,), {"axis": "(1,)", "dtype": _dtype}, _forward, oracle=_mean))
    CASES.append(Case(_op, "0-axes", (In(()),), {}, _forward, np_shape=True))
    CASES.append(Case(_op, "empty-kept", (In((0, 3)),), {"axis": "(1,)"}, _forward, np_shape=True))
    CASES.append(Case(_op, "empty", (In((0, 3)),), {"axis": "(0,)"}, _forward, np_shape=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL),), {"axis": "(1,)"}, _forward))
    CASES.append(
        Case(_op, "bool", (In((2, 3), "bool", "bool"),), {}, error=True, oracle="skip: 1.9.1 dies of it later")
    )
    CASES.append(Case(_op, "axis-twice", (In((2, 3)),), {"axis": "(0, 0)"}, error=True))
    CASES.append(Case(_op, "axis-beyond", (In((2, 3)),), {"axis": "(2,)"}, error=True))
    CASES.append(Case(_op, "dtype-unknown", (In((2, 3)),), {"dtype": "uint8"}, error=True))

# ---- all, any ----


def _quantifier(function: Any) -> Any:
    return lambda x, axis=None, keepdims=0: np.asarray(function(x, axis=_axis(axis), keepdims=bool(keepdims)))


for _op, _forward in (("_np_all", _quantifier(np.all)), ("_np_any", _quantifier(np.any))):
    for _dtype in ("float32", "float64", "float16", *_INTEGERS, "bool"):
        _x = In(dtype=_dtype, values=[[0, 1, 1], [0, 0, 0], [1, 1, 1]])
        CASES.append(Case(_op, _dtype, (_x,), {"axis": "(1,)"}, _forward))
    _x = In(dtype="float32", values=[[[0, 1], [2, 3]], [[1, 1], [0, 1]]])
    for _label, _params in (
        ("all", {}),
        ("axes", {"axis": "(0, -1)"}),
        ("no-axes", {"axis": "()"}),
        ("keepdims", {"axis": "(1,)", "keepdims": 1}),
        ("all-keepdims", {"keepdims": 1}),
    ):
        CASES.append(Case(_op, _label, (_x,), _params, _forward))
    CASES.append(Case(_op, "many", (In((256,), "uint8", ("int", 1, 1)),), {}, _forward))
    CASES.append(Case(_op, "none-of-many", (In((256,), "uint8", ("int", 0, 0)),), {}, _forward))
    CASES.append(Case(_op, "0-axes", (In(()),), {}, _forward, np_shape=True))
    for _number, _params in enumerate(({}, {"axis": "(0,)"}, {"axis": "(1,)"})):
        CASES.append(Case(_op, f"empty-{_number}", (In((0, 3)),), _params, _forward, np_shape=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL),), {"axis": "(1,)"}, _forward))
    CASES.append(Case(_op, "axis-twice", (In((2, 3)),), {"axis": "(0, 0)"}, error=True))
    CASES.append(Case(_op, "axis-beyond", (In((2, 3)),), {"axis": "(2,)"}, error=True))

# ---- where, of numbers ----


def _number(scalar: float, dtype: Any) -> Any:
    return np.float64(scalar).astype(dtype)


def _left(condition: np.ndarray, x: np.ndarray, scalar: float = 0) -> np.ndarray:
    return np.where(condition != 0, _number(scalar, x.dtype), x)


def _right(condition: np.ndarray, y: np.ndarray, scalar: float = 0) -> np.ndarray:
    return np.where(condition != 0, y, _number(scalar, y.dtype))


def _two(condition: np.ndarray, x: float = 0, y: float = 0) -> np.ndarray:
    return np.where(condition != 0, np.float32(x), np.float32(y))


_SIDE = "forward: 1.9.1 answers the gradient of the elements that are not taken"
_c = In(values=[1, 0, 2])
for _op, _forward in (("_npi_where_lscalar", _left), ("_npi_where_rscalar", _right)):
    CASES.append(Case(_op, "plain", (_c, In((2, 3))), {"scalar": 2.5}, _forward, order=2, diff=(1,),
                      oracle=_SIDE))  # fmt: skip
    CASES.append(Case(_op, "rows", (In(values=[[1], [0]]), In((3,))), {"scalar": -1}, _forward, order=2, diff=(1,),
                      oracle=_SIDE))  # fmt: skip
    CASES.append(Case(_op, "zero", (_c, In((3,))), {}, _forward))
    for _dtype, _by in product(("float64", "float16", *_INTEGERS, "bool"), ("float32", "bool", "int32")):
        _x = In(dtype=_dtype, values=[[0, 1, 0], [1, 0, 1]])
        CASES.append(Case(_op, f"{_dtype}-by-{_by}", (In(dtype=_by, values=[1, 0, 2]), _x), {"scalar": 2.5}, _forward))
    CASES.append(Case(_op, "0-axes", (In(values=1), In(())), {"scalar": 3}, _forward, np_shape=True))
    CASES.append(Case(_op, "empty", (In((0, 3)), In((3,))), {"scalar": 3}, _forward, np_shape=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL), In(values=_SPECIAL)), {"scalar": "inf"},
                      lambda c, x, scalar, _f=_forward: _f(c, x, float(scalar))))  # fmt: skip
    CASES.append(Case(_op, "shapes", (_c, In((2, 2))), {"scalar": 1}, error=True))
_op = "_npi_where_scalar2"
for _dtype in ("float32", "float64", "float16", *_INTEGERS, "bool"):
    CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=[[0, 1], [1, 0]]),), {"x": 1, "y": 2.5}, _two))
CASES.append(Case(_op, "0-axes", (In(()),), {"x": 3}, _two, np_shape=True))
CASES.append(Case(_op, "empty", (In((0, 3)),), {"y": 3}, _two, np_shape=True))
CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL),), {"x": 1, "y": 2}, _two))
CASES.append(Case(_op, "text", (_c,), {"x": "a"}, error=True))
