"""Zeros of both signs, infinities, NaN, subnormal and extreme numbers in every operator that computes with numbers.

The rows have no NumPy function: they say what 1.9.1 says. Where mxlite answers otherwise, the rows are in
`DIFFERENCES`, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from ._case import Case, In

CASES: list = []

FLOATS = ("float32", "float64", "float16")
WIDE = ("int32", "int64")
INTEGERS = (*WIDE, "uint8", "int8")
#: Relative bounds, wide enough for constants that 1.9.1 rounds to float32; absolute ones of a few subnormal numbers.
TOLERANCE = {"float32": (1e-4, 1e-43), "float64": (1e-6, 1e-322), "float16": (1e-2, 3e-7)}
#: Of softmax, whose sums are rounded in another order.
_LOOSE = {"float32": (2e-5, 2e-6), "float64": (1e-11, 1e-12), "float16": (1e-2, 4e-3)}


# ---- the numbers ----


def _floats(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    large = [info.smallest_subnormal, info.tiny, 0.5, 1.0, 2.5, 100.0, info.max, np.inf]
    return np.array([0.0, *large, -0.0, *(-number for number in large), 3.0, np.nan], dtype)


def _integers(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    below = [-1, -2, -7, info.min + 1] if info.min < 0 else []
    return np.array([0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.max // 128 + 2, *below], dtype)


def _values(dtype: str) -> np.ndarray:
    return _integers(dtype) if dtype in INTEGERS else _floats(dtype)


def _pairs(dtype: str) -> list:
    """Two arrays of all pairs."""
    few = _values(dtype)
    if dtype in FLOATS:
        info = np.finfo(dtype)
        large = [1.0, 2.5, info.max, np.inf]
        few = np.array([0.0, -0.0, info.smallest_subnormal, *large, *(-number for number in large), np.nan], dtype)
    return [grid.ravel() for grid in np.meshgrid(few, few, indexing="ij")]


def _rows(dtype: str) -> np.ndarray:
    """All pairs as rows of two."""
    return np.stack(_pairs(dtype), 1)


def _long(dtype: str) -> np.ndarray:
    """Rows of ordinary numbers among which one is none, or two."""
    rows = []
    for special in (np.nan, np.inf, -np.inf, np.finfo(dtype).max, -0.0):
        for places in ((0,), (17,), (39,), (3, 30)):
            row = ((np.arange(40) * 7 % 40 - 19.5) / 4).astype(dtype)
            row[list(places)] = [special, -np.inf if special == np.inf else np.inf][: len(places)]
            rows.append(row)
    return np.array(rows, dtype)


# ---- what mxlite answers otherwise ----


@dataclass(frozen=True)
class Difference:
    """Elements (or rows) that 1.9.1 answers otherwise: `where` finds them, given inputs and parameters.

    forward: what mxlite answers; None: the outputs agree, only gradients differ.
    """

    dtypes: Sequence[str]
    where: Callable[..., np.ndarray]
    why: str
    forward: Callable[..., Any] | None = None


def _beyond(bits: int) -> Callable:
    """Where an array, or a scalar, has more digits than a float of so many."""

    def where(*arrays: np.ndarray, **params) -> np.ndarray:
        large = np.any([np.abs(x.astype("float64")) > 2.0**bits for x in arrays], axis=0)
        large = large.reshape(len(large), -1).any(1)
        return large | (abs(float(params.get("scalar", 0))) > 2.0**bits)

    return where


def _has(function: Callable) -> Callable:
    """Rows with an element that has a property."""
    return lambda x, *others, **params: function(x).any(1)


def _cut(function: Callable) -> Callable:
    """The function in float64, cut to the integers' dtype; the smallest one where it does not fit."""

    def forward(*arrays: np.ndarray, **params) -> np.ndarray:
        info = np.iinfo(arrays[0].dtype)
        exact = np.trunc(function(*(array.astype("float64") for array in arrays), **params))
        fits = (exact >= info.min) & (exact < 2.0 ** (8 * arrays[0].itemsize - 1))
        return np.where(fits, np.where(fits, exact, 0).astype("int64"), info.min).astype(arrays[0].dtype)

    return forward


def _order(x: np.ndarray, is_ascend: int) -> np.ndarray:
    """NaN is larger than every number."""
    if is_ascend:
        return np.argsort(x, axis=1, kind="stable")
    return np.array([np.lexsort((-row, ~np.isnan(row))) for row in x])


def _sort(x: np.ndarray, axis: int, is_ascend: int) -> np.ndarray:
    return np.take_along_axis(x, _order(x, is_ascend), 1)


def _argsort(x: np.ndarray, axis: int, is_ascend: int) -> np.ndarray:
    return _order(x, is_ascend).astype("float32")


def _topk(x: np.ndarray, axis: int, k: int, ret_typ: str, is_ascend: int) -> tuple:
    return _sort(x, axis, is_ascend)[:, :k], _argsort(x, axis, is_ascend)[:, :k]


def _quotients(x: np.ndarray, scalar: int) -> np.ndarray:
    return np.array([abs(scalar) // abs(int(v)) * (1 if (scalar < 0) == (v < 0) else -1) for v in x], x.dtype)


def _mod(x: np.ndarray, y: np.ndarray | None = None, scalar: int = 0) -> np.ndarray:
    y = np.full_like(x, scalar) if y is None else y
    return np.where(y == 0, 0, np.mod(x, np.where(y == 0, 1, y)))


def _mod_is_rounded(*arrays: np.ndarray, scalar: int = 0) -> np.ndarray:
    """Not by -1: nothing is left of any number."""
    return _beyond(53)(*arrays, scalar=scalar) & (scalar != -1)


def _integer_powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([int(a) ** (int(b) if b >= 0 else int(b) % 2) for a, b in zip(x, y)], object)


def _power_is_rounded(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where the power fits the dtype and float64, but float32 rounds it or its exponent."""
    small = (y >= 0) & (y < 64)
    exact = _integer_powers(np.where(small, x, 0), np.where(small, y, 0))
    large = np.array([2**24 < abs(value) <= min(np.iinfo(x.dtype).max, 2**53) for value in exact])
    far = np.abs(y.astype("float64"))
    return large | (x == -1) & (far > 2**23) & (far < 2**53)


def _softmax(x: np.ndarray, *label: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype("float64") - x.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).astype(x.dtype)


def _norm(x: np.ndarray, axis: int, ord: int) -> np.ndarray:
    wide = np.abs(x if x.dtype.kind == "i" else x.astype("float64"))
    return (wide.sum(1) if ord == 1 else np.sqrt((wide * wide).sum(1))).astype(x.dtype)


def _moments(x: np.ndarray, axes: tuple) -> tuple:
    wide = x.astype("longdouble")
    return wide.mean(1).astype(x.dtype), wide.var(1).astype(x.dtype)


def _extreme(x: np.ndarray) -> np.ndarray:
    return ~np.isnan(x) & (np.abs(x) >= np.finfo(x.dtype).max)


def _tiny(x: np.ndarray) -> np.ndarray:
    return (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)


def _is_nan(x: np.ndarray, **params) -> np.ndarray:
    return np.isnan(x)


_SINGLE = "1.9.1 computes integers in float32, or with constants of float32"
_DOUBLE = "1.9.1 goes through float64, where the largest integers are rounded up and wrap"
_LOST = "1.9.1 answers NaN where an infinity is added"
_SMALLEST = "the smallest integer stands for NaN"
_ROUNDED = "gradient of float16: the saved output is rounded, 1.9.1 does not round it"
_NAN_ORDER = "1.9.1 leaves rows with NaN in no order"
_SOFTMAX = Difference(
    ("float32",),
    lambda x, *label: (~(x < np.inf)).any(1) | (x == -np.inf).all(1),
    "1.9.1 answers 0 in rows with NaN",
    _softmax,
)
_WHOLE = Difference(("int64",), _beyond(53), _DOUBLE, lambda x: x)
_HYPOT = (
    Difference(WIDE, _beyond(23), _SINGLE, _cut(lambda x, y=0.0, scalar=0: np.hypot(x, y + scalar))),
    Difference(("float16",), lambda x, y: _tiny(x) & _tiny(y) | _extreme(x) & _extreme(y), _ROUNDED),
)
_DIVIDE = Difference(
    FLOATS,
    lambda a, b: _extreme(a) & _extreme(b) | (a == 0) & _tiny(b),
    "gradient of the divisor: the square of 1.9.1's overflows",
)
_MOD = (Difference(("int64",), _mod_is_rounded, _DOUBLE, _mod),)
_POWER = (
    Difference(FLOATS, lambda x, y: (x == 0) | (y == 0) | (x < 0) & (x.itemsize == 2), "gradient at zeros: NaN"),
    Difference(WIDE, _power_is_rounded, _SINGLE, lambda x, y: _integer_powers(x, y).astype(x.dtype)),
)


def _indivisible(function: Callable) -> Callable:
    """Whether a product is none, or has less than its full precision in a dtype."""

    def where(x: np.ndarray, axis: int) -> np.ndarray:
        info = np.finfo(x.dtype)
        with np.errstate(all="ignore"):
            product = np.abs(function(x.astype("float64"), axis))
        return ~((product >= info.tiny) & (product <= info.max))

    return where


DIFFERENCES = {
    **dict.fromkeys(("broadcast_mod", "_mod", "_mod_scalar"), _MOD),
    **dict.fromkeys(("broadcast_power", "_power"), _POWER),
    "LeakyReLU": (
        Difference(
            FLOATS,
            lambda x, act_type: _extreme(x) & ((act_type == "gelu") | (act_type == "leaky") & (x.itemsize == 8)),
            "1.9.1 goes through larger numbers, or multiplies infinity by 0",
            lambda x, act_type: np.where(x > 0, x, x / 4 if act_type == "leaky" else -0.0).astype(x.dtype),
        ),
        Difference(("float32",), lambda x, act_type: np.isnan(x), "gradient at NaN: that at 0"),
    ),
    "sigmoid": (Difference(WIDE, lambda x: x == np.iinfo(x.dtype).min, "1.9.1 negates it", lambda x: 0 * x),),
    "square": (Difference(WIDE, lambda x: x.astype("float64") ** 2 > np.iinfo(x.dtype).max, _DOUBLE, lambda x: x * x),),
    "abs": (
        Difference(FLOATS, np.isnan, "gradient at NaN: 1.9.1's is 0"),
        Difference(("int64",), _beyond(53), _DOUBLE, np.abs),
    ),
    "degrees": (Difference(WIDE, _beyond(23), _SINGLE, _cut(lambda x: x * np.degrees(1.0))),),
    "radians": (Difference(("int64",), _beyond(53), _SINGLE, _cut(lambda x: x / np.degrees(1.0))),),
    "erfinv": (
        Difference(WIDE, lambda x: (x < -1) | (x > 1), _SMALLEST, lambda x: np.full_like(x, np.iinfo(x.dtype).min)),
    ),
    "expm1": (Difference(FLOATS, lambda x: x == -100, "gradient far below 0: y + 1 of the output that is saved"),),
    "arccosh": (Difference(("float16",), _extreme, "gradient: the square of x overflows"),),
    "rsqrt": (Difference(FLOATS, lambda x: (x == 0) & np.signbit(x), "gradient at -0: the other infinity"),),
    "gamma": (Difference(("float64",), lambda x: x == -0.5, "gradient: 1.9.1's digamma has 5 digits"),),
    "gammaln": (
        Difference(
            FLOATS,
            lambda x: _extreme(x) | (x < 0) & (x == np.floor(x)) | (x == -0.5),
            "gradient at poles and extremes: 1.9.1's overflows",
        ),
    ),
    **dict.fromkeys(("ceil", "floor", "rint", "round", "trunc", "fix", "_contrib_round_ste"), (_WHOLE,)),
    "smooth_l1": (Difference(("int32",), _beyond(24), _SINGLE, _cut(lambda x: np.abs(x) - 0.5)),),
    **dict.fromkeys(("broadcast_hypot", "_hypot"), _HYPOT),
    "_hypot_scalar": (
        Difference(("int32",), _beyond(23), _SINGLE, _HYPOT[0].forward),
        Difference(("int64",), lambda x, scalar: np.full(len(x), abs(scalar) > 2**23), _SINGLE, _HYPOT[0].forward),
    ),
    **dict.fromkeys(("broadcast_div", "elemwise_div"), (_DIVIDE,)),
    "_rdiv_scalar": (
        Difference(
            WIDE,
            lambda x, scalar: np.full(len(x), abs(scalar) > 2**24),
            _SINGLE,
            _quotients,
        ),
        Difference(("float16",), lambda x, scalar: _extreme(x) & np.isinf(float(scalar)), "gradient of inf / x"),
    ),
    "mean": (
        Difference(
            ("float32", "float16"),
            lambda x, axis: (np.abs(x) == np.finfo(x.dtype).max).all(1) & (x[:, 0] == x[:, 1]),
            "the sum of 1.9.1's overflows",
            lambda x, axis: x[:, 0],
        ),
    ),
    "moments": (
        Difference(
            FLOATS,
            lambda x, axes: _extreme(x).any(1) & ~((x == x[:, :1]).all(1) & np.isfinite(x[:, 0]) & (x.itemsize == 8)),
            _LOST,
            _moments,
        ),
    ),
    **{
        op: (Difference(FLOATS, _indivisible(function), "its gradient divides the result by the element"),)
        for op, function in (("prod", np.prod), ("nanprod", np.nanprod))
    },
    "nansum": (Difference(FLOATS, _has(np.isinf), _LOST, lambda x, axis: np.nansum(x, axis)),),
    "norm": (
        Difference(FLOATS, _has(_extreme), _LOST, _norm),
        Difference(FLOATS, _has(lambda x: np.isnan(x) | _tiny(x)), "gradient at NaN, and at subnormal norms"),
        Difference(("int64",), _beyond(53), _DOUBLE, _norm),
    ),
    "sort": (Difference(FLOATS, _has(np.isnan), _NAN_ORDER, _sort),),
    "argsort": (Difference(FLOATS, _has(np.isnan), _NAN_ORDER, _argsort),),
    "topk": (Difference(FLOATS, _has(np.isnan), _NAN_ORDER, _topk),),
    "softmax": (_SOFTMAX,),
    "SoftmaxOutput": (_SOFTMAX,),
    "log_softmax": (
        Difference(
            ("float32",), _SOFTMAX.where, "1.9.1 answers numbers in rows with NaN", lambda x: np.log(_softmax(x))
        ),
    ),
    "Activation": (
        Difference(
            ("float32",),
            lambda x, act_type: np.isnan(x) & (act_type == "relu"),
            "1.9.1 answers 0 for NaN",
            lambda x, act_type: x,
        ),
    ),
}


# ---- the rows ----


def _add(op: str, label: str, arrays: list, params: dict | None = None, diff: tuple = ()) -> None:
    """A row of what is as in 1.9.1, and one of each difference."""
    params = params or {}
    dtype = arrays[0].dtype
    common = {"defined": True, "tolerance": _LOOSE if "soft" in op else TOLERANCE}
    diff = diff if dtype.kind == "f" else ()
    for number, difference in enumerate(DIFFERENCES.get(op, ())):
        hit = dtype.name in difference.dtypes and difference.where(*arrays, **params)
        if not np.any(hit):
            continue
        inputs = tuple(In(dtype=array.dtype.name, values=array[hit]) for array in arrays)
        name, forward = f"special-{label}-otherwise{number}", difference.forward
        if forward is None:
            CASES.append(Case(op, name, inputs, params, diff=diff, oracle=f"forward: {difference.why}", **common))
        else:
            CASES.append(Case(op, name, inputs, params, forward, oracle=f"differs: {difference.why}", **common))
        arrays = [array[~hit] for array in arrays]
    if len(arrays[0]):
        inputs = tuple(In(dtype=array.dtype.name, values=array) for array in arrays)
        CASES.append(Case(op, f"special-{label}", inputs, params, diff=diff, **common))


_UNARY = """
    exp log tanh sigmoid relu sqrt square negative abs expm1 log10 log2 log1p rsqrt cbrt rcbrt reciprocal
    degrees radians sin cos tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh erf erfinv gamma
    gammaln softsign sign ceil floor rint round trunc fix logical_not _contrib_quadratic _contrib_round_ste
    _contrib_sign_ste _contrib_div_sqrt_dim smooth_l1 zeros_like ones_like
""".split()
for _op in _UNARY:
    for _dtype in (*FLOATS, *INTEGERS):
        _add(_op, _dtype, [_values(_dtype)], diff=(0,))

_BINARY = """
    broadcast_add broadcast_sub broadcast_mul broadcast_div elemwise_add elemwise_sub elemwise_mul
    elemwise_div broadcast_equal broadcast_not_equal broadcast_greater broadcast_greater_equal
    broadcast_lesser broadcast_lesser_equal broadcast_mod broadcast_power _mod _power broadcast_logical_and
    broadcast_logical_or broadcast_logical_xor broadcast_maximum broadcast_minimum broadcast_hypot _equal
    _not_equal _greater _greater_equal _lesser _lesser_equal _logical_and _logical_or _logical_xor _maximum
    _minimum _hypot
""".split()
for _op in _BINARY:
    for _dtype in (*FLOATS, *INTEGERS):
        _a, _b = _pairs(_dtype)
        if "div" in _op and _dtype in INTEGERS:  # 1.9.1 ends the process
            _possible = (_b != 0) & ((_a != np.iinfo(_dtype).min) | (_b.astype("int64") != -1))
            _a, _b = _a[_possible], _b[_possible]
        _add(_op, _dtype, [_a, _b], diff=(0, 1))

_SCALAR = """
    plus minus rminus mul div rdiv equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or
    logical_xor maximum minimum hypot mod
""".split()
_SCALARS = {
    "float32": (0.0, -0.0, 2.5, -3.0, "inf", "-inf", "nan"),
    "float64": (0.0, 2.5, "inf", "nan"),
    "float16": (2.5, "inf"),
    "int32": (0, 1, -1, 3, 2147483647),
    "int64": (-1, 3, -2147483648),
    "uint8": (0, 3, -1),
    "int8": (3, -1),
}
for _op in _SCALAR:
    for _dtype, _numbers in _SCALARS.items():
        for _number in _numbers:
            _x = _values(_dtype)
            if _op == "rdiv" and _dtype in INTEGERS:
                _x = _x[(_x != 0) & (_x.astype("int64") != -1)]
            if _op != "div" or _dtype in FLOATS or _number not in (0, -1):
                _add(f"_{_op}_scalar", f"{_dtype}{_number}", [_x], {"scalar": _number}, (0,))

for _op in "sum mean max min prod nansum nanprod argmax argmin".split():
    for _dtype in (*FLOATS, *INTEGERS):
        _diff = () if _op.startswith("arg") else (0,)
        _add(_op, _dtype, [_rows(_dtype)], {"axis": 1}, _diff)
        if _dtype in FLOATS and (_dtype, "prod") != ("float16", _op[-4:]):  # a product of so many overflows
            _add(_op, f"{_dtype}-long", [_long(_dtype)], {"axis": 1}, _diff)
for _dtype in (*FLOATS, *INTEGERS):
    _add("norm", f"{_dtype}-1", [_rows(_dtype)], {"axis": 1, "ord": 1}, (0,))

for _dtype in FLOATS:
    for _label, _x in ((_dtype, _rows(_dtype)), (f"{_dtype}-long", _long(_dtype))):
        _classes = (np.arange(len(_x)) % 2).astype(_dtype)
        _add("norm", f"{_label}-2", [_x], {"axis": 1, "ord": 2}, (0,))
        _add("moments", _label, [_x], {"axes": (1,)}, (0,))
        _add("_np_cumsum", _label, [_x], {"axis": 1}, (0,))
        _add("argmax_channel", _label, [_x])
        for _op in ("softmax", "softmin", "log_softmax"):
            _add(_op, _label, [_x], diff=(0,))
        _add("softmin", f"{_label}-temperature", [_x], {"temperature": 0.5}, (0,))
        _add("SoftmaxOutput", _label, [_x, _classes], diff=(0,))
        for _ascend in (0, 1):
            _way = {"axis": 1, "is_ascend": _ascend}
            _add("topk", f"{_label}-{_ascend}", [_x], {**_way, "k": 2, "ret_typ": "both"}, (0,))
            if _dtype != "float16":
                _add("sort", f"{_label}-{_ascend}", [_x], _way, (0,))
                _add("argsort", f"{_label}-{_ascend}", [_x], _way)
    for _op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"):
        _add(_op, _dtype, [one[:, None] for one in _pairs(_dtype)], diff=(0,))
    for _limits in ((-1, 1), (0, "inf"), ("-inf", "nan"), ("nan", 1), (-0.0, 0.0), (2, -2)):
        _params = dict(zip(("a_min", "a_max"), _limits))
        _add("clip", f"{_dtype}-{_limits[0]}-{_limits[1]}", [_values(_dtype)], _params, (0,))
    _add("hard_sigmoid", _dtype, [_values(_dtype)], diff=(0,))
    for _name in ("relu", "sigmoid", "tanh", "softrelu", "softsign"):
        _add("Activation", f"{_dtype}-{_name}", [_values(_dtype)], {"act_type": _name}, (0,))
    _v = _values(_dtype)
    _v = _v[~(np.abs(_v) <= np.finfo(_dtype).tiny) & (_v != -100)]  # oneDNN's subnormal results are 0
    for _name in ("leaky", "elu", "gelu"):
        _add("LeakyReLU", f"{_dtype}-{_name}", [_v], {"act_type": _name}, (0,))
    _v, _m = _values(_dtype), _rows(_dtype)[::9]
    _add("where", _dtype, [(np.arange(len(_v)) % 2).astype(_dtype), _v, _v[::-1]], diff=(1, 2))
    _add("where", f"{_dtype}-condition", [_v, np.ones_like(_v), np.zeros_like(_v)], diff=(1, 2))
    _add("add_n", _dtype, [_v, _v[::-1], np.ones_like(_v)], diff=(0, 1, 2))
    if _dtype != "float16":  # 1.9.1 has none
        _m = _m[~(np.abs(_m) == np.finfo(_dtype).max).any(1)]  # sums of these overflow in one order, not in another
        _add("dot", f"{_dtype}-sums", [_m, _m[:2]], diff=(0, 1))
    _add("sgd_update", _dtype, [_v, _v[::-1]], {"lr": 0.1, "wd": 0.1})
    _add("sgd_update", f"{_dtype}-clip", [_v, _v[::-1]], {"lr": 0.1, "wd": 0.1, "clip_gradient": 0.5})
for _dtype in INTEGERS:
    _v, _m = _values(_dtype), _rows(_dtype)
    for _limits in ((-1, 1), (0, 5), (2, -2)):
        _params = dict(zip(("a_min", "a_max"), _limits))
        _add("clip", f"{_dtype}-{_limits[0]}-{_limits[1]}", [_v], _params)
    for _ascend in (0, 1):
        _way = {"axis": 1, "is_ascend": _ascend}
        _add("sort", f"{_dtype}-{_ascend}", [_m], _way)
        _add("argsort", f"{_dtype}-{_ascend}", [_m], _way)
        _add("topk", f"{_dtype}-{_ascend}", [_m], {**_way, "k": 2, "ret_typ": "both"})
    _add("where", f"{_dtype}-condition", [_v, np.ones_like(_v), np.zeros_like(_v)])
    _add("add_n", _dtype, [_v, _v[::-1]])
for _from in (*FLOATS, *INTEGERS):
    for _to in (*FLOATS, *INTEGERS, "bool"):
        _add("Cast", f"{_from}-{_to}", [_values(_from)], {"dtype": _to}, (0,) if _to in FLOATS else ())
