"""Random arrays: answers vary, so each row has a check of range, moments, shape and dtype."""

from __future__ import annotations

import numpy as np

from .._case import Case
from .._rows import filling

CASES: list = []
_MANY = (100, 100)


def _shaped(array: np.ndarray, params, default: str = "float32") -> str:
    shape = params.get("shape", ())
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    dtype = params.get("dtype") or default
    return (
        "" if (array.shape, str(array.dtype)) == (shape, dtype) else f"{array.dtype}{array.shape}, not {dtype}{shape}"
    )


def _near(what: str, value: float, wanted: float, spread: float) -> str:
    return "" if abs(value - wanted) <= spread else f"{what} is {value:.4f}, not within {spread:.4f} of {wanted:.4f}"


def _uniform(outputs, inputs, params) -> str:
    x = outputs[0].astype("float64")
    low, high = float(params.get("low", 0)), float(params.get("high", 1))
    if _shaped(outputs[0], params):
        return _shaped(outputs[0], params)
    if x.size and (x.min() < low or x.max() > high):
        return f"values in [{x.min()}, {x.max()}], not [{low}, {high}]"
    if x.size < 1000:
        return ""
    spread = (high - low) / 12**0.5
    return _near("mean", x.mean(), (low + high) / 2, 6 * spread / x.size**0.5) or _near(
        "deviation", x.std(), spread, 6 * spread / x.size**0.5
    )


def _normal(outputs, inputs, params) -> str:
    x = outputs[0].astype("float64")
    loc, scale = float(params.get("loc", 0)), float(params.get("scale", 1))
    if _shaped(outputs[0], params):
        return _shaped(outputs[0], params)
    if x.size < 1000:
        return "" if np.isfinite(x).all() else "a value is not finite"
    z = (x - loc) / scale
    return (
        _near("mean", z.mean(), 0.0, 6 / x.size**0.5)
        or _near("deviation", z.std(), 1.0, 6 / x.size**0.5)
        or _near("share within one deviation", float((np.abs(z) < 1).mean()), 0.6827, 6 * (0.22 / x.size) ** 0.5)
        or _near("third moment", float((z**3).mean()), 0.0, 6 * (15 / x.size) ** 0.5)
    )


for _op, _check, _sets in (
    ("_random_uniform", _uniform, ({}, {"low": -1.0, "high": 2.0}, {"low": 5.0, "high": 5.5})),
    ("_random_normal", _normal, ({}, {"loc": 5.0}, {"loc": -3.0, "scale": 0.25})),
):
    for _index, _params in enumerate(_sets):
        CASES.append(Case(_op, f"many-{_index}", (), {"shape": _MANY, **_params}, random=True, check=_check))
    for _dtype in ("float16", "float32", "float64"):
        CASES.append(Case(_op, _dtype, (), {"shape": (7, 3), "dtype": _dtype}, random=True, check=_check))
    CASES += [
        Case(_op, "dtype-none", (), {"shape": _MANY, "dtype": None}, random=True, check=_check),
        *filling(_op, _check),
    ]
CASES += [
    Case(
        "_random_uniform",
        "single-point",
        (),
        {"shape": (4,), "low": 2.0, "high": 2.0},
        lambda **p: np.full((4,), 2.0, "float32"),
    ),
    Case("_random_uniform", "crossed", (), {"shape": (4,), "low": 3.0, "high": 1.0}, error=True),
    Case("_random_uniform", "malformed", (), {"shape": (4,), "low": "x"}, error=True),
    Case("_random_normal", "scale-zero", (), {"shape": (4,), "scale": 0.0}, error=True),
    Case("_random_normal", "scale-negative", (), {"shape": (4,), "scale": -1.0}, error=True),
    Case("_random_normal", "malformed", (), {"shape": (4,), "loc": "x"}, error=True),
]
