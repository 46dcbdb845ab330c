"""Element-wise functions of one array that are not in unary.py: powers, trigonometry, roundings, special functions."""

from __future__ import annotations

import math
from typing import Callable

import numpy as np

from .._case import Case, In
from .unary import lift

CASES: list = []


def each(function: Callable, pole: Callable = lambda x: math.nan) -> Callable[[np.ndarray], np.ndarray]:
    """A function of one number for every element; `pole` of it where it raises ValueError."""

    def one(x: float) -> float:
        try:
            return function(float(x))
        except ValueError:
            return pole(x)
        except OverflowError:
            return math.inf

    return lambda x: np.array([one(value) for value in x.ravel()], np.float64).reshape(x.shape)


def _erfinv(y: float) -> float:
    """By bisection: slow, and plainly right."""
    if abs(y) >= 1 or math.isnan(y):
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    low, high = -6.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return (low + high) / 2


def _rint(x: np.ndarray) -> np.ndarray:
    return np.where(x - np.floor(x) <= np.ceil(x) - x, np.floor(x), np.ceil(x))


def _round(x: np.ndarray) -> np.ndarray:
    return np.trunc(x + np.copysign(0.5, x))


#: operator -> (function on float64, domain of its derivative checks)
SMOOTH = {
    "expm1": (np.expm1, "real"),
    "log10": (np.log10, "positive"),
    "log2": (np.log2, "positive"),
    "log1p": (np.log1p, "positive"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), "positive"),
    "cbrt": (np.cbrt, "away"),
    "rcbrt": (lambda x: 1 / np.cbrt(x), "away"),
    "reciprocal": (lambda x: 1 / x, "away"),
    "degrees": (np.degrees, "real"),
    "radians": (np.radians, "real"),
    "sin": (np.sin, "real"),
    "cos": (np.cos, "real"),
    "tan": (np.tan, "unit"),
    "arcsin": (np.arcsin, "half"),
    "arccos": (np.arccos, "half"),
    "arctan": (np.arctan, "real"),
    "sinh": (np.sinh, "real"),
    "cosh": (np.cosh, "real"),
    "arcsinh": (np.arcsinh, "real"),
    "arccosh": (np.arccosh, "above"),
    "arctanh": (np.arctanh, "half"),
    "erf": (each(math.erf), "real"),
    "erfinv": (each(_erfinv), "half"),
    "gamma": (each(math.gamma, lambda x: math.copysign(math.inf, x) if x == 0 else math.nan), "positive"),
    "gammaln": (each(math.lgamma, lambda x: math.inf), "positive"),
    "softsign": (lambda x: x / (1 + np.abs(x)), "away"),
}
STEPS = {
    "sign": lambda x: np.where(np.isnan(x), 0, np.sign(x)),
    "ceil": np.ceil,
    "floor": np.floor,
    "rint": _rint,
    "round": _round,
    "trunc": np.trunc,
    "fix": np.trunc,
    "logical_not": lambda x: (x == 0).astype("float64"),
}
EDGES = (-np.inf, -2.5, -1.5, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5, 40.0, np.inf, np.nan)
#: fixed values for domains that the generator lacks
VALUES = {
    "half": (-0.75, -0.5, -0.125, 0.0, 0.0625, 0.25, 0.5, 0.8125),
    "above": (1.25, 1.5, 2.0, 2.5, 3.0, 5.0, 9.5, 30.0),
}
NEAR = {"float32": (1e-4, 1e-5), "float64": (1e-10, 1e-11)}
#: 1.9.1 rounds constants to float32, for float64 arrays too: of these functions, and of these gradients
ROUGH_VALUES = ("degrees", "radians")
ROUGH_GRADIENTS = (*ROUGH_VALUES, "erf", "erfinv", "gamma", "gammaln")
ROUGH = {"float32": (1e-4, 1e-5), "float64": (1e-5, 1e-6)}


def _in(domain: str, dtype: str = "float32", shape: tuple = (2, 4)) -> In:
    if domain in VALUES:
        count = int(np.prod(shape))
        values = np.resize(np.array(VALUES[domain]), count).reshape(shape)
        return In(values=values.tolist() if shape else float(values), dtype=dtype)
    return In(shape, dtype, domain)


def _common(op: str, function: Callable, domain: str, order: int) -> list:
    """The rows that every function of one array has."""
    forward = lift(function)
    kept: dict = {"forward": forward, "tolerance": ROUGH if op in ROUGH_VALUES else NEAR}
    made = {**kept, "order": order, "diff": (0,), "defined": order == 0}
    made["tolerance"] = ROUGH if op in ROUGH_GRADIENTS else NEAR
    return [
        Case(op, "float32", (_in(domain),), **made),
        Case(op, "float64", (_in(domain, "float64"),), **made),
        Case(op, "float16", (_in(domain, "float16"),), **kept),
        Case(op, "odd-length", (_in(domain, shape=(1037,)),), **kept),
        Case(op, "one", (_in(domain, shape=(1,)),), **made),
        Case(op, "edges", (In(values=EDGES),), **kept),
        Case(op, "edges-float64", (In(values=EDGES, dtype="float64"),), **kept),
        Case(op, "empty", (In((0, 3)),), forward=forward, np_shape=True),
        Case(op, "scalar", (_in(domain, shape=()),), np_shape=True, **kept),
        Case(op, "out", (_in(domain),), out=(((2, 4), "float32"),), **kept),
        Case(op, "bool", (In((3,), "bool", "bool"),), error=True),
        Case(op, "no-input", (), error=True),
        Case(op, "two-inputs", (In((2,)), In((2,))), error=True),
        Case(op, "unknown-parameter", (In((2,)),), {"foo": 1}),
    ]


for _op, (_function, _domain) in SMOOTH.items():
    _f = lift(_function)
    CASES += _common(_op, _function, _domain, 2)
    _values = [1] if _op in ("arcsin", "arccos") else [0] if _op in ("arctanh", "erfinv") else [1, 2, 3, 4]
    for _dtype in ("uint8", "int8", "int32", "int64"):
        CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=_values),), forward=_f))

for _op, _function in STEPS.items():
    CASES += _common(_op, _function, "real", 0)
    for _dtype in ("uint8", "int8", "int32", "int64"):
        _signed = [0, 1, 2, 100] if _dtype == "uint8" else [-100, -1, 0, 1, 2, 100]
        CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=_signed),), forward=lift(_function)))

for _op in ("ceil", "floor", "rint", "round", "trunc", "fix"):
    CASES.append(
        Case(
            _op,
            "int64-large",
            (In(dtype="int64", values=[2**60 + 5, -(2**53) - 1]),),
            forward=lambda x: x,
            oracle="skip: 1.9.1 computes in floating point and loses the last digits",
        )
    )

#: Beyond what the loops of sin, cos and tan do themselves, in some of a row's tiles.
_FAR = [1e22, 3.0, -1e6, 1e6, 1000001.0, -123456789.0, 0.5, 3e38] + [float(x) for x in range(2500)] + [-7e30, 2.0]
for _op, _function in (("sin", np.sin), ("cos", np.cos), ("tan", np.tan)):
    for _dtype in ("float32", "float64"):
        _inputs = (In(values=_FAR, dtype=_dtype),)
        CASES.append(Case(_op, f"far-{_dtype}", _inputs, forward=lift(_function), tolerance=NEAR))

#: The functions of negative numbers, and their gradients, where lift's domain has none.
for _op, _function in (("gamma", math.gamma), ("gammaln", math.lgamma)):
    CASES.append(
        Case(
            _op,
            "negative",
            (In(values=[-0.5, -1.25, -2.75, -3.5], dtype="float64"),),
            forward=lift(each(_function)),
            order=2,
            diff=(0,),
            tolerance=ROUGH,
        )
    )
CASES += [
    Case(
        "softsign",
        "at-zero",
        (In(values=[0.0]),),
        forward=lift(lambda x: x),
        diff=(0,),
        defined=True,
    ),
]
CASES.append(
    Case(
        "erfinv",
        "int32-beyond",
        (In(dtype="int32", values=[-5, -1, 0, 2]),),
        forward=lambda x: np.array([-(2**31), -(2**31), 0, -(2**31)], "int32"),
        oracle="differs: 1.9.1 answers 0 for what lies beyond 1",
    )
)
for _op, _point in (("sqrt", 0.0), ("rsqrt", 0.0), ("cbrt", 0.0), ("rcbrt", 0.0), ("reciprocal", 0.0), ("arcsin", 1.0)):
    CASES.append(Case(_op, "gradient-at-pole", (In(values=[_point]),), diff=(0,), defined=True))
for _op, _point in (("arctanh", -1.0), ("erfinv", 1.0), ("log1p", -1.0), ("log2", 0.0), ("gammaln", -2.0)):
    CASES.append(Case(_op, "gradient-at-pole", (In(values=[_point]),), diff=(0,), defined=True))
