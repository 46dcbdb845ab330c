"""Special functions of mxlite.torch, gcd, nextafter, frexp: operators that 1.9.1 has not."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

import numpy as np

from ._case import Case, In
from .elementwise import _special
from .own import _FLOATS, _INTEGERS, _SPECIAL, _SQUARE, _pair, _refuses
from .own_norms import CASES

# ---- special functions of one number ----


def _each(function: Callable[[float], float]) -> Callable:
    return np.vectorize(function, otypes=[np.float64])


def _log_ndtr(x: float) -> float:
    if x > -5:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)
    tail = sum((-1) ** k * math.prod(range(1, 2 * k, 2)) / x ** (2 * k) for k in range(20 if x < -9 else 8))
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log(tail)


_ONE: dict[str, Callable] = {
    **{f"bessel_{letter}{n}": partial(getattr(_special, f"bessel_{letter}"), n) for letter in "jy" for n in (0, 1)},
    **{
        f"modified_bessel_{letter}{n}": partial(getattr(_special, f"bessel_{letter}"), n)
        for letter in "ik"
        for n in (0, 1)
    },
    **{f"scaled_modified_bessel_k{n}": partial(_special.bessel_k_scaled, n) for n in (0, 1)},
    **{f"i{n}e": partial(_special.bessel_i_scaled, n) for n in (0, 1)},
    "spherical_bessel_j0": _special.spherical_bessel_j0,
    "airy_ai": _special.airy_ai,
    "erfc": _each(math.erfc),
    "erfcx": _special.erfcx,
    "log_ndtr": _each(_log_ndtr),
    "ndtri": _special.ndtri,
}
_DERIVED = ("modified_bessel_i0", "modified_bessel_i1", "i0e", "i1e", "erfc", "erfcx", "log_ndtr", "ndtri")
_WHOLE_LINE = [0.0, -0.0, 1e-9, 0.3, -0.3, 1.0, -1.0, 1.9, 2.1, -2.1, 5.5, -7.0, 9.5, 14.25, -20.0, 24.9, 25.1, 60.0]
_UNIT = [1e-300, 1e-9, 0.01, 0.09, 0.11, 0.25, 0.5, 0.6, 0.89, 0.91, 0.999]
_NEAR: dict[str, Any] = {"float64": (3e-12, 1e-13), "float32": (1e-6, 1e-7), "float16": (2e-3, 1e-3)}


def _one(x: np.ndarray, function: str) -> np.ndarray:
    return np.asarray(_ONE[function](x.astype(np.float64))).astype(x.dtype)


for _name in _ONE:
    _values = _UNIT if _name == "ndtri" else [x for x in _WHOLE_LINE if x > -6 or _name != "log_ndtr"]
    _some: dict = {"order": 2, "diff": (0,)} if _name in _DERIVED else {}
    _domain = "positive" if "_y" in _name or "_k" in _name else "unit"
    _inputs = (In(values=[0.1, 0.3, 0.55, 0.8]) if _name == "ndtri" else In((3, 4), domain=_domain),)
    for _dtype in ("float64", "float32"):
        _given = (In(dtype=_dtype, values=_values),)
        CASES.append(Case("_mxl_special", f"{_name}-{_dtype}", _given, {"function": _name}, _one, tolerance=_NEAR))
    _given = (In((5, 7), "float16", _domain),)
    CASES += [
        Case("_mxl_special", f"{_name}-some", _inputs, {"function": _name}, _one, tolerance=_NEAR, **_some),
        Case("_mxl_special", f"{_name}-float16", _given, {"function": _name}, _one, tolerance=_NEAR),
    ]
_LIMITS = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e300, -1e300, 1.0]
#: What they are there.
_AT_LIMITS = {
    "bessel_j0": [0, 0, np.nan, 1, 1, None, None, None],
    "bessel_y0": [0, np.nan, np.nan, -np.inf, -np.inf, None, np.nan, None],
    "modified_bessel_i1": [np.inf, -np.inf, np.nan, 0, -0.0, np.inf, -np.inf, None],
    "i0e": [0, 0, np.nan, 1, 1, None, None, None],
    "modified_bessel_k0": [0, np.nan, np.nan, np.inf, np.inf, 0, np.nan, None],
    "scaled_modified_bessel_k1": [0, np.nan, np.nan, np.inf, np.inf, None, np.nan, None],
    "spherical_bessel_j0": [0, 0, np.nan, 1, 1, None, None, None],
    "airy_ai": [0, np.nan, np.nan, None, None, 0, None, None],
    "erfc": [0, 2, np.nan, 1, 1, 0, 2, None],
    "erfcx": [0, np.inf, np.nan, 1, 1, None, np.inf, None],
    "log_ndtr": [0, -np.inf, np.nan, None, None, 0, -np.inf, None],
    "ndtri": [np.nan, np.nan, np.nan, -np.inf, -np.inf, np.nan, np.nan, np.inf],
}


def _chosen(values: list, known: list) -> list:
    return [value for value, each in zip(values, known) if each is not None]


for _name, _known in _AT_LIMITS.items():
    _expected = np.array([each for each in _known if each is not None], np.float64)
    CASES.append(
        Case(
            "_mxl_special",
            f"{_name}-special",
            (In(dtype="float64", values=_chosen(_LIMITS, _known)),),
            {"function": _name},
            lambda x, function, expected=_expected: expected,
        )
    )
CASES += [
    Case("_mxl_special", "long", (In((1037,), "float32"),), {"function": "erfc"}, _one, tolerance=_NEAR),
    Case("_mxl_special", "number", (In(()),), {"function": "i0e"}, _one, tolerance=_NEAR, np_shape=True),
    Case("_mxl_special", "empty", (In((0, 3)),), {"function": "i1e"}, lambda x, **_: x, np_shape=True),
    Case(
        "_mxl_special",
        "ndtri-tails",
        (In(dtype="float64", values=[5e-324, 1e-308, 1e-200, 1 - 2.0**-53, 0.5 + 2.0**-40]),),
        {"function": "ndtri"},
        lambda x, function: np.array(
            [-38.467405617144344, -37.54067492154594, -30.20559571288535, 8.209536151601387, 2.279765420e-12]
        ),
        tolerance={"float64": (1e-5, 0)},
    ),
]
_refuses(
    "_mxl_special",
    integers=((In((3,), "int32", ("int", 0, 5)),), {"function": "erfc"}),
    name=((In((3,)),), {"function": "erf"}),
    none=((In((3,)),),),
)

# ---- of two numbers ----

_POLYNOMIALS = ["chebyshev_t", "chebyshev_u", "chebyshev_v", "chebyshev_w", "hermite_h", "hermite_he", "laguerre_l"]
_TWO: dict[str, Callable] = {
    "igamma": _special.igamma,
    "igammac": partial(_special.igamma, upper=True),
    "igamma_slope": lambda a, x: x ** (a - 1) * np.exp(-x) / _each(math.gamma)(a),
    "zeta": _special.zeta,
}
for _name in (*_POLYNOMIALS, "legendre_p"):
    _long = _name.replace("_", "_polynomial_")
    _TWO[_long] = partial(_special.polynomial, _name)
    if _name[0] == "c":
        _TWO[f"shifted_{_long}"] = lambda x, n, of=_TWO[_long]: of(2 * x - 1.0, n)


def _two(x: np.ndarray, y: np.ndarray, function: str) -> np.ndarray:
    return np.asarray(_TWO[function](x.astype(np.float64), y.astype(np.float64))).astype(x.dtype)


for _name in _TWO:
    _orders = In((4,), "float64", ("int", -1, 7))
    _other = _orders if "poly" in _name else In((4,), "float64", "positive")
    _first = In((3, 1), "float64", "positive")
    if _name == "zeta":
        _first = In(dtype="float64", values=[[1.25], [3.5], [11.0]])
    _some = {} if "poly" in _name else {"order": 2, "diff": (0, 1) if "slope" in _name else (1,)}
    _given = (_first, _other)
    CASES.append(Case("_mxl_special_pair", _name, _given, {"function": _name}, _two, tolerance=_NEAR, **_some))
    for _dtype in ("float32", "float16"):
        _given = (In((2, 5), _dtype, "positive"), In((2, 5), _dtype, ("int", 1, 4)))
        _row = Case("_mxl_special_pair", f"{_name}-{_dtype}", _given, {"function": _name}, _two, tolerance=_NEAR)
        CASES.append(_row)
_WIDE = {"float64": (1e-10, 1e-13)}
_large = (In(dtype="float64", values=[30.0, 80, 200, 5, 0.25]), In(dtype="float64", values=[29.0, 95, 150, 40, 1e-9]))
CASES += [
    Case("_mxl_special_pair", f"{_name}-large", _large, {"function": _name}, _two, tolerance=_WIDE)
    for _name in ("igamma", "igammac")
]
_edges = [[0.0, 1, np.inf, 1, np.nan, 0, np.inf, -1, 1], [1.0, 0, 1, np.inf, 1, 0, np.inf, 1, -1]]
for _name, _lower in (("igamma", 1.0), ("igammac", 0.0)):
    _nan, _upper = np.nan, 1 - _lower
    _expected = np.array([_lower, _upper, _upper, _lower, _nan, _nan, _nan, _nan, _nan])
    CASES.append(
        Case(
            "_mxl_special_pair",
            f"{_name}-special",
            tuple(In(dtype="float64", values=each) for each in _edges),
            {"function": _name},
            lambda x, y, function, expected=_expected: expected,
        )
    )
_edges = [[1.0, 0.5, 2, 2.5, 2, np.inf, np.inf, np.nan], [2.0, 1, -1, -0.5, 0, 1, 2, 1]]
CASES.append(
    Case(
        "_mxl_special_pair",
        "zeta-special",
        tuple(In(dtype="float64", values=each) for each in _edges),
        {"function": "zeta"},
        lambda x, q, function: np.array([np.inf, np.nan, np.inf, np.nan, np.inf, 1, 0, np.nan]),
    )
)
_given = (In((0, 3)), In((3,)))
CASES.append(Case("_mxl_special_pair", "empty", _given, {"function": "zeta"}, lambda x, y, **_: x, np_shape=True))
_refuses(
    "_mxl_special_pair",
    integers=((In((3,), "int32", ("int", 0, 5)),) * 2, {"function": "zeta"}),
    shapes=((In((3,)), In((4,))), {"function": "zeta"}),
)

# ---- floating-point numbers ----


def _next(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.nextafter(x, y)


def _frexp(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """C leaves the exponents of infinities and NaN open; on Linux they are 0."""
    mantissa, exponent = np.frexp(x)
    return mantissa, np.where(np.isfinite(x), exponent, 0).astype(np.int32)


for _dtype in _FLOATS:
    CASES += [
        Case("_mxl_nextafter", _dtype, _pair(_dtype), {}, _next, tolerance={_dtype: (0, 0)}),
        Case(
            "_mxl_nextafter",
            f"{_dtype}-special",
            tuple(In(dtype=_dtype, values=each) for each in _SQUARE),
            {},
            _next,
            tolerance={_dtype: (0, 0)},
        ),
        Case("_mxl_signbit", _dtype, (In(dtype=_dtype, values=[*_SPECIAL, -np.nan, -2.0]),), {}, np.signbit),
        Case("_mxl_frexp", _dtype, (In((3, 5), _dtype),), {}, _frexp, tolerance={_dtype: (0, 0)}),
        Case("_mxl_frexp", f"{_dtype}-special", (In(dtype=_dtype, values=_SPECIAL),), {}, _frexp),
    ]
CASES += [
    Case("_mxl_frexp", "small", (In(dtype="float64", values=[5e-324, -1e-310, 1e308]),), {}, _frexp),
    Case("_mxl_nextafter", "gradient", _pair("float64"), {}, _next, order=2, diff=(0, 1)),
    Case("_mxl_nextafter", "empty", _pair("float32", shapes=((0, 3), (3,))), {}, _next, np_shape=True),
    Case("_mxl_frexp", "empty", (In((0, 2)),), {}, _frexp, np_shape=True),
]
_refuses("_mxl_nextafter", integers=((In((3,), "int32", ("int", 0, 5)),) * 2,))
CASES.append(Case("_mxl_signbit", "empty", (In((0, 2)),), {}, np.signbit, np_shape=True))
_refuses("_mxl_signbit", integers=((In((3,), "int32", ("int", 0, 5)),),))
_refuses("_mxl_frexp", integers=((In((3,), "int32", ("int", 0, 5)),),))

for _dtype, _domain in _INTEGERS.items():
    _near_0 = ("int", 0, 30)
    CASES += [
        Case("_mxl_gcd", _dtype, (In((3, 4), _dtype, _near_0), In((4,), _dtype, _near_0)), {}, np.gcd),
        Case("_mxl_gcd", f"{_dtype}-any", _pair(_dtype, _domain, ((1037,), (1037,))), {}, np.gcd),
    ]
    _least, _most = np.iinfo(_dtype).min, np.iinfo(_dtype).max
    _ends = (In(dtype=_dtype, values=[_least, _most, _least, 0]), In(dtype=_dtype, values=[_most, 0, 0, 0]))
    CASES.append(Case("_mxl_gcd", f"{_dtype}-ends", _ends, {}, np.gcd))
_given = (In((0, 3), "int32", ("int", 0, 5)), In((3,), "int32", ("int", 0, 5)))
CASES.append(Case("_mxl_gcd", "empty", _given, {}, np.gcd, np_shape=True))
_refuses("_mxl_gcd", floats=(_pair("float32"),))


# ---- numbers in a row ----


def _evenly(start, stop, num, dtype="float32", ctx=""):
    """From the nearer end, so that a row around 0 has it exactly."""
    place, step = np.arange(num), (stop - start) / max(1, num - 1)
    made = np.where((place < num // 2) | (num == 1), start + place * step, stop - (num - 1 - place) * step)
    return made.astype(dtype)


CASES += [
    Case("_mxl_linspace", label, (), dict(zip(("start", "stop", "num", "dtype"), given)), _evenly, np_shape=True)
    for label, given in {
        "five": (0, 1, 5), "one": (2, 7, 1), "none": (0, 1, 0), "down": (1, -1, 4), "same": (1, 1, 3),
        "long": (0, 7, 301), "int32": (0, 10, 4, "int32"), "float64": (-0.3, 0.3, 7, "float64"),
        "float16": (0, 8, 5, "float16"),
    }.items()
]  # fmt: skip
_refuses(
    "_mxl_linspace",
    negative=((), {"start": 0, "stop": 1, "num": -1}),
    none=((), {"start": 0, "stop": 1}),
    endpoint=((), {"start": 0, "stop": 1, "num": 3, "endpoint": True}),
)
