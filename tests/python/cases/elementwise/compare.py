"""Comparisons, logical functions, maximum, minimum, hypot, mod, power: of arrays, and of an array and a number."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .scalar import typed

CASES: list = []


def _mod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    zero = b == 0
    return np.where(zero, 0, np.mod(a, np.where(zero, 1, b))).astype(a.dtype)


def _whole(function):
    """Integers computed in float32 and truncated, as 1.9.1."""

    def forward(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if a.dtype.kind == "f":
            return function(a.astype("float64"), np.asarray(b).astype("float64")).astype(a.dtype)
        wide = np.asarray(function(a.astype("float32"), np.asarray(b).astype("float32"))).astype("float32")
        return np.trunc(wide).astype("int64").astype(a.dtype)

    return forward


_COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def _flag(function):
    return lambda a, b: function(a, b).astype(np.result_type(a))


#: name -> (function of two arrays of one dtype, left and right domain of its derivatives; None: the gradient is zero)
FUNCTIONS: dict = {name: (_flag(function), None) for name, function in _COMPARISONS.items()}
FUNCTIONS["maximum"] = (np.maximum, ("real", "real"))
FUNCTIONS["minimum"] = (np.minimum, ("real", "real"))
FUNCTIONS["hypot"] = (_whole(np.hypot), ("away", "away"))
FUNCTIONS["mod"] = (_mod, ("real", "away"))
FUNCTIONS["power"] = (_whole(np.power), ("positive", "real"))

SHAPES = {
    "same": ((2, 3), (2, 3)),
    "row": ((2, 3), (3,)),
    "column": ((2, 3), (2, 1)),
    "outer": ((2, 1), (1, 3)),
    "both": ((2, 1, 3), (1, 4, 3)),
    "single": ((2, 3), (1,)),
    "long-row": ((3, 1031), (1031,)),
}
NEAR = {"float32": (1e-4, 1e-4)}
_EDGES_A = [-7, 7, -7, 0, -0.0, 3, 0, 2.5, np.nan, 1, np.inf, 1, -np.inf, 0.5, np.nan]
_EDGES_B = [3, -3, -3, 3, 3, 0, 0, 1.5, 1, np.nan, 2, np.inf, 2, 0.5, np.nan]
_INTS_A, _INTS_B = [-7, 2, 5, 0, 3, 3, -1], [2, 3, 1, 2, 3, 0, 0]


def _pair(domains: tuple | None, shapes: tuple, dtype: str = "float32") -> tuple:
    left, right = domains or ("real", "real")
    return In(shapes[0], dtype, left), In(shapes[1], dtype, right)


for _name, (_function, _domains) in FUNCTIONS.items():
    _order = 0 if _domains is None else 2
    _grad: dict = {"forward": _function, "order": _order, "diff": (0, 1), "defined": _order == 0, "tolerance": NEAR}
    for _label, _shapes in SHAPES.items():
        _given = _grad if _label != "long-row" else {"forward": _function, "tolerance": NEAR}
        CASES.append(Case(f"broadcast_{_name}", _label, _pair(_domains, _shapes), **_given))
    for _op in (f"broadcast_{_name}", f"_{_name}"):
        _tie = {"forward": _function, "diff": (0, 1), "defined": True}
        CASES += [
            Case(_op, "float32", _pair(_domains, ((5,), (5,))), **_grad),
            Case(_op, "float64", _pair(_domains, ((3, 4), (3, 4)), "float64"), **_grad),
            Case(_op, "float16", _pair(_domains, ((7,), (7,)), "float16"), forward=_function),
            Case(_op, "left-only", _pair(_domains, ((2, 3), (2, 3))), **{**_grad, "diff": (0,)}),
            Case(_op, "right-only", _pair(_domains, ((2, 3), (2, 3))), **{**_grad, "diff": (1,)}),
            Case(_op, "ties", (In(values=[1.0, 2.0, 2.0]), In(values=[1.0, 2.0, 3.0])), **_tie),
            Case(_op, "edges", (In(values=_EDGES_A), In(values=_EDGES_B)), forward=_function),
            Case(_op, "empty", (In((0, 3)), In((0, 3))), forward=_function, np_shape=True),
            Case(_op, "scalars", _pair(_domains, ((), ())), forward=_function, tolerance=NEAR, np_shape=True),
            Case(_op, "out", _pair(_domains, ((2, 3), (2, 3))), forward=_function, out=(((2, 3), "float32"),)),
            Case(_op, "bool", (In((2,), "bool", "bool"), In((2,), "bool", "bool")), error=True),
            Case(_op, "mixed", (In((2,)), In((2,), "int32", ("int", 1, 4))), error=True),
            Case(_op, "shapes-differ", (In((2, 3)), In((3, 2))), error=True),
            Case(_op, "one-input", (In((2,)),), error=True),
            Case(_op, "unknown-parameter", (In((2,)), In((2,))), {"foo": 1}),
        ]
        for _dtype in ("int8", "int32", "int64", "uint8"):
            _a = np.abs(_INTS_A).tolist() if _dtype == "uint8" else _INTS_A
            CASES.append(
                Case(_op, _dtype, (In(dtype=_dtype, values=_a), In(dtype=_dtype, values=_INTS_B)), forward=_function)
            )
    CASES.append(Case(f"_{_name}", "no-broadcast", (In((2, 3)), In((3,))), error=True))

_LARGE = 2**60
CASES += [
    Case(
        "broadcast_mod",
        "int64-large",
        (In(dtype="int64", values=[_LARGE + 5]), In(dtype="int64", values=[10])),
        forward=_mod,
        oracle="differs: 1.9.1 computes in floating point and loses the last digits",
    ),
    Case(
        "broadcast_mod",
        "int32-overflow",
        (In(dtype="int32", values=[-(2**31)]), In(dtype="int32", values=[-1])),
        forward=lambda a, b: np.zeros_like(a),
    ),
    Case(
        "broadcast_maximum",
        "int64-large",
        (In(dtype="int64", values=[_LARGE + 5]), In(dtype="int64", values=[_LARGE + 4])),
        forward=np.maximum,
    ),
]

#: operator -> (function of array and number, domain of its derivative or None, numbers)
SCALARS: dict = {f"_{name}_scalar": (function, None, (1.5, 0.0)) for name, (function, _) in FUNCTIONS.items()}
SCALARS["_maximum_scalar"] = (np.maximum, "real", (0.3, -0.7))
SCALARS["_minimum_scalar"] = (np.minimum, "real", (0.3, -0.7))
SCALARS["_hypot_scalar"] = (_whole(np.hypot), "away", (2.5, -1.5))
SCALARS["_mod_scalar"] = (_mod, "real", (0.7, -0.7))
SCALARS["_rmod_scalar"] = (lambda x, s: _mod(np.asarray(s), x), "away", (2.3, -2.3))
SCALARS["_rpower_scalar"] = (lambda x, s: _whole(np.power)(np.full_like(x, s), x), "real", (2.5, 0.5))
del SCALARS["_power_scalar"]  # in scalar.py

for _op, (_function, _domain, _numbers) in SCALARS.items():
    _f = typed(_function)
    _order = 0 if _domain is None else 2
    _grad = {"forward": _f, "order": _order, "diff": (0,), "defined": _order == 0, "tolerance": NEAR}
    for _number in _numbers:
        _given = {"scalar": _number}
        CASES += [
            Case(_op, f"float32{_number:+g}", (In((3, 4), domain=_domain or "real"),), _given, **_grad),
            Case(_op, f"float64{_number:+g}", (In((3, 4), "float64", _domain or "real"),), _given, **_grad),
        ]
    CASES += [
        Case(_op, "default", (In((3,), domain=_domain or "real"),), {}, _f, tolerance=NEAR),
        Case(_op, "float16", (In((7,), "float16", _domain or "real"),), {"scalar": 1.5}, _f),
        Case(_op, "tie", (In(values=[2.0, -2.0, 1.0]),), {"scalar": 2.0}, _f, diff=(0,), defined=True, tolerance=NEAR),
        Case(_op, "edges", (In(values=[-7, 0, -0.0, 2.5, np.nan, np.inf, 5]),), {"scalar": 2.5}, _f, tolerance=NEAR),
        Case(_op, "int32", (In(dtype="int32", values=[7, 2, 5, 1]),), {"scalar": 2}, _f),
        Case(_op, "int32-fraction", (In(dtype="int32", values=[7, 2, 5, 1]),), {"scalar": 2.5}, _f),
        Case(_op, "int32-to-float64", (In(dtype="int32", values=[7, 2, 5]),), {"scalar": 2.5, "is_int": False}, _f),
        Case(_op, "int64", (In(dtype="int64", values=[7, 2, 5, 1]),), {"scalar": -2}, _f),
        Case(_op, "int8", (In(dtype="int8", values=[3, 2, 5, 1]),), {"scalar": 2}, _f),
        Case(_op, "uint8", (In(dtype="uint8", values=[3, 2, 5, 1]),), {"scalar": 2}, _f),
        Case(_op, "bool", (In(dtype="bool", values=[1, 0]),), {"scalar": 2}, _f),
        Case(_op, "bool-to-float64", (In(dtype="bool", values=[1, 0]),), {"scalar": 2.5, "is_int": False}, _f),
        Case(_op, "empty", (In((0, 2)),), {"scalar": 2.0}, _f, np_shape=True),
        Case(_op, "zero-dims", (In((), domain=_domain or "real"),), {"scalar": 2.0}, _f, np_shape=True, tolerance=NEAR),
        Case(_op, "out", (In((3,), domain=_domain or "real"),), {"scalar": 2.0}, _f, out=(((3,), "float32"),)),
        Case(_op, "malformed", (In((2,)),), {"scalar": "abc"}, error=True),
        Case(_op, "unknown-parameter", (In((2,)),), {"scalar": 1, "foo": 1}, error=True),
        Case(_op, "two-inputs", (In((2,)), In((2,))), {"scalar": 1}, error=True),
    ]
