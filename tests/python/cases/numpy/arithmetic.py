"""Arithmetic and comparisons of 1.9.1's NumPy arrays: promoted dtypes, answers of bool."""

from __future__ import annotations

from itertools import product
from typing import Any, Callable

import numpy as np

from .._case import Case, In

CASES: list = []

_DTYPES = ("float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool")
_RANK = {"bool": 0, "uint8": 1, "int8": 1, "int16": 1.5, "int32": 2, "int64": 3}
_RANK.update({"float16": 4, "float32": 5, "float64": 6})
_SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
_REFUSED = "differs: 1.9.1 refuses these two dtypes"


def _common(a: np.ndarray, b: np.ndarray) -> str:
    return max(a.dtype.name, b.dtype.name, key=_RANK.__getitem__)


def _pair(function: Any) -> Any:
    """The function of two arrays in their common dtype; of booleans by way of int8."""

    def forward(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        dtype = _common(a, b)
        work = "int8" if dtype == "bool" else dtype
        return function(a.astype(work), b.astype(work)).astype(dtype)

    return forward


def _quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    dtype = _common(a, b) if _RANK[_common(a, b)] > 3 else "float32"
    return np.divide(a.astype(dtype), b.astype(dtype))


#: name -> (NumPy function, domains of the inputs, whether 1.9.1 takes only floats of two dtypes)
_PAIRS: dict = {
    "add": (_pair(np.add), ("real", "real"), False),
    "subtract": (_pair(np.subtract), ("real", "real"), True),
    "multiply": (_pair(np.multiply), ("real", "real"), False),
    "power": (_pair(np.power), ("positive", "unit"), False),
    "mod": (_pair(np.mod), ("positive", "positive"), True),
    "true_divide": (_quotient, ("real", "away"), True),
}
_COMPARE: dict = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
}


def _in_int16(function: Callable) -> Callable:
    """A function of int8 and uint8, whose common dtype is int16."""
    return lambda a, b: function(a.astype("int16"), b.astype("int16"))


def _refused(op: str, a: str, b: str) -> str:
    """What 1.9.1 makes of two dtypes."""
    whole = [_RANK[a] < 4, _RANK[b] < 4]
    if a == b or not _PAIRS[op][2]:
        return ""
    if op == "true_divide" and not any(whole):
        return _REFUSED
    return _REFUSED if all(whole) else ""


def _few(dtype: str, first: bool) -> In:
    if dtype == "bool":
        return In(dtype=dtype, values=[0, 1, 1, 0] if first else [1, 1, 0, 0])
    return In(dtype=dtype, values=[5, 2, 7, 3] if first else [2, 3, 1, 2])


for _op, (_forward, _domains, _) in _PAIRS.items():
    _name = f"_npi_{_op}"
    _diff = {"order": 2, "diff": (0, 1)}
    for _dtype in ("float32", "float64"):
        _two = (In((2, 3), _dtype, _domains[0]), In((2, 3), _dtype, _domains[1]))
        CASES.append(Case(_name, _dtype, _two, {}, _forward, **_diff))
    _two = (In((4, 1, 3), "float32", _domains[0]), In((5, 1), "float32", _domains[1]))
    CASES.append(Case(_name, "broadcast", _two, {}, _forward, **_diff))
    _two = (In((2, 3), "float32", _domains[0]), In((3,), "int32", ("int", 1, 3)))
    CASES.append(Case(_name, "int-beside-float", _two, {}, _forward, order=1, diff=(0,)))
    _two = (In((), "float32", _domains[0]), In((), "float32", _domains[1]))
    CASES.append(Case(_name, "0-axes", _two, {}, _forward, np_shape=True, **_diff))
    CASES.append(Case(_name, "empty", (In((0, 3)), In((1, 3))), {}, _forward, np_shape=True))
    CASES.append(Case(_name, "shapes", (In((2, 3)), In((2,))), {}, error=True))
    CASES.append(Case(_name, "one-input", (In((2, 3)),), {}, error=True))
    _two = (In((2,), "int8"), In((2,), "uint8"))
    CASES.append(Case(_name, "int8-uint8", _two, {}, _in_int16(_forward), oracle=_REFUSED))
    if _op in ("subtract", "mod"):
        CASES.append(Case(_name, "two-of-bool", (_few("bool", True), _few("bool", False)), {}, error=True))
    for _a, _b in product(_DTYPES, _DTYPES):
        if {_a, _b} != {"int8", "uint8"} and not (_op in ("subtract", "mod") and _a == _b == "bool"):
            _given = (_few(_a, True), _few(_b, _b == "bool" and _op == "mod"))
            if not (_op == "mod" and _b == "bool"):
                CASES.append(Case(_name, f"{_a}-{_b}", _given, {}, _forward, oracle=_refused(_op, _a, _b)))
    _grid = [each.ravel() for each in np.meshgrid(_SPECIAL, _SPECIAL)]
    CASES.append(Case(_name, "special-float32", tuple(In(values=each) for each in _grid), {}, None, defined=True))

for _op, _function in _COMPARE.items():
    _name = f"_npi_{_op}"
    for _dtype in _DTYPES:
        CASES.append(Case(_name, _dtype, (_few(_dtype, True), _few(_dtype, False)), {}, _function))
    CASES.append(Case(_name, "broadcast", (In((4, 1, 3)), In((5, 1))), {}, _function))
    CASES.append(Case(_name, "0-axes", (In(()), In(())), {}, _function, np_shape=True))
    CASES.append(Case(_name, "empty", (In((0, 3)), In((1, 3))), {}, _function, np_shape=True))
    CASES.append(Case(_name, "shapes", (In((2, 3)), In((2,))), {}, error=True))
    _two = (_few("int32", True), _few("float32", False))
    CASES.append(Case(_name, "two-dtypes", _two, {}, _function, oracle=_REFUSED))
    _two = (In((2,), "int8"), In((2,), "uint8"))
    CASES.append(Case(_name, "int8-uint8", _two, {}, _in_int16(_function), oracle=_REFUSED))
    CASES.append(Case(_name, "special-float32", tuple(In(values=each) for each in _grid), {}, _function))

# ---- an array and a number ----


def _truth(function: Any) -> Any:
    def forward(x: np.ndarray, scalar: float, is_int: int = 1) -> np.ndarray:
        if x.dtype.name == "bool":
            return function(x.astype("int8"), np.int8(scalar != 0))
        if x.dtype.kind == "f":
            return function(x, x.dtype.type(scalar))
        return function(x, x.dtype.type(scalar)) if is_int else function(x.astype("float64"), float(scalar))

    return forward


def _ratio(function: Any) -> Any:
    def forward(x: np.ndarray, scalar: float, is_int: int = 1) -> np.ndarray:
        x = x if x.dtype.kind == "f" else x.astype("float32")
        return function(x, x.dtype.type(scalar))

    return forward


_SCALARS = {name: (_truth(function), 0) for name, function in _COMPARE.items()}
_SCALARS |= {"true_divide": (_ratio(np.divide), 2), "rtrue_divide": (_ratio(lambda x, s: np.divide(s, x)), 2)}
for _op, (_forward, _order) in _SCALARS.items():
    _name = f"_npi_{_op}_scalar"
    for _dtype, (_number, _is_int) in product(_DTYPES, ((2, 1), (2.5, 0), (2.5, 1))):
        _params = {"scalar": _number, "is_int": _is_int}
        CASES.append(Case(_name, f"{_dtype}-{_number}-{_is_int}", (_few(_dtype, True),), _params, _forward))
    _diff = {"order": _order, "diff": (0,) if _order else ()}
    for _dtype in ("float32", "float64"):
        CASES.append(Case(_name, _dtype, (In((2, 3), _dtype, "away"),), {"scalar": 1.5}, _forward, **_diff))
    CASES.append(Case(_name, "0-axes", (In((), "float32", "away"),), {"scalar": 2}, _forward, np_shape=True, **_diff))
    CASES.append(Case(_name, "empty", (In((0, 3)),), {"scalar": 2}, _forward, np_shape=True))
    CASES.append(Case(_name, "unknown-parameter", (In((2,)),), {"scala": 2}, error=True))
    CASES.append(Case(_name, "special-float32", (In(values=_SPECIAL),), {"scalar": -2.5}, _forward))

# ---- properties of numbers ----

_PROPERTIES = {name: getattr(np, name) for name in "logical_not isnan isinf isfinite isposinf isneginf".split()}
for _op, _function in _PROPERTIES.items():
    _name = f"_npi_{_op}"
    for _dtype in _DTYPES:
        _of = _function if _dtype != "bool" else lambda x, of=_function: of(x.astype("int8"))
        CASES.append(Case(_name, _dtype, (_few(_dtype, True),), {}, _of))
    for _dtype in ("float32", "float64", "float16"):
        CASES.append(Case(_name, f"special-{_dtype}", (In(dtype=_dtype, values=_SPECIAL),), {}, _function))
    CASES.append(Case(_name, "0-axes", (In(()),), {}, _function, np_shape=True))
    CASES.append(Case(_name, "empty", (In((0, 3)),), {}, _function, np_shape=True))
    CASES.append(Case(_name, "two-inputs", (In((2,)), In((2,))), {}, error=True))
