"""Functions of elements: those of `mx.np` under the standard's names, on operands in one dtype."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable

from mxlite import numpy as mnp
from mxlite.array_api._dtypes import array_given, cast, operands
from mxlite.numpy._functions import ARRAYS
from mxlite.numpy.multiarray import ndarray

_Unary = Callable[[ndarray], ndarray]
_Binary = Callable[[Any, Any], ndarray]


def _named(function: Any, name: str, like: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As {like}, of the standard's dtypes."
    return function


def _unary(name: str, kinds: str, like: str = "", same: str = "") -> _Unary:
    """A function of one array.

    Args:
        kinds: of its dtype, as letters of NumPy's.
        like: `mx.np`'s function; "": it has the same name.
        same: kinds of which the result is a copy.
    """
    like = like or name
    call = getattr(mnp, like)

    def function(x: Any, /) -> Any:
        x = array_given(name, x, kinds)
        return x.copy() if x.dtype.kind in same else call(x)

    return _named(function, name, f"mx.np.{like}")  # type: ignore[no-any-return]


def _binary(name: str, kinds: str, like: str = "") -> _Binary:
    """A function of two arrays, or an array and a Python number."""
    like = like or name
    call = getattr(mnp, like)

    def function(x1: Any, x2: Any, /) -> Any:
        return call(*operands(name, kinds, x1, x2))

    return _named(function, name, f"mx.np.{like}")  # type: ignore[no-any-return]


def _shift(name: str, call: Callable[[ndarray, ndarray], ndarray]) -> _Binary:
    """A shift of integers, by the operator of arrays."""

    def function(x1: Any, x2: Any, /) -> Any:
        return call(*operands(name, "iu", x1, x2))

    return _named(function, name, f"{call.__name__} of arrays")  # type: ignore[no-any-return]


# fmt: off
abs = _unary("abs", "iuf")  # noqa: A001
acos = _unary("acos", "f", "arccos")
acosh = _unary("acosh", "f", "arccosh")
add = _binary("add", "iuf")
asin = _unary("asin", "f", "arcsin")
asinh = _unary("asinh", "f", "arcsinh")
atan = _unary("atan", "f", "arctan")
atan2 = _binary("atan2", "f", "arctan2")
atanh = _unary("atanh", "f", "arctanh")
bitwise_and = _binary("bitwise_and", "biu")
bitwise_invert = _unary("bitwise_invert", "biu", "bitwise_not")
bitwise_left_shift = _shift("bitwise_left_shift", operator.lshift)
bitwise_or = _binary("bitwise_or", "biu")
bitwise_right_shift = _shift("bitwise_right_shift", operator.rshift)
bitwise_xor = _binary("bitwise_xor", "biu")
ceil = _unary("ceil", "iuf", same="iu")
conj = _unary("conj", "iuf", "copy")
copysign = _binary("copysign", "f")
cos = _unary("cos", "f")
cosh = _unary("cosh", "f")
divide = _binary("divide", "f")
equal = _binary("equal", "biuf")
exp = _unary("exp", "f")
expm1 = _unary("expm1", "f")
floor = _unary("floor", "iuf", same="iu")
floor_divide = _binary("floor_divide", "iuf")
greater = _binary("greater", "iuf")
greater_equal = _binary("greater_equal", "iuf")
hypot = _binary("hypot", "f")
imag = _unary("imag", "iuf", "zeros_like")
isfinite = _unary("isfinite", "iuf")
isinf = _unary("isinf", "iuf")
isnan = _unary("isnan", "iuf")
less = _binary("less", "iuf")
less_equal = _binary("less_equal", "iuf")
log = _unary("log", "f")
log10 = _unary("log10", "f")
log1p = _unary("log1p", "f")
log2 = _unary("log2", "f")
logical_and = _binary("logical_and", "b")
logical_not = _unary("logical_not", "b")
logical_or = _binary("logical_or", "b")
logical_xor = _binary("logical_xor", "b")
maximum = _binary("maximum", "iuf")
minimum = _binary("minimum", "iuf")
multiply = _binary("multiply", "iuf")
negative = _unary("negative", "iuf")
not_equal = _binary("not_equal", "biuf")
positive = _unary("positive", "iuf")
pow = _binary("pow", "iuf", "power")  # noqa: A001
real = _unary("real", "iuf", "copy")
reciprocal = _unary("reciprocal", "f")
round = _unary("round", "iuf", "rint", same="iu")  # noqa: A001
signbit = _unary("signbit", "f")
sin = _unary("sin", "f")
sinh = _unary("sinh", "f")
sqrt = _unary("sqrt", "f")
square = _unary("square", "iuf")
subtract = _binary("subtract", "iuf")
tan = _unary("tan", "f")
tanh = _unary("tanh", "f")
trunc = _unary("trunc", "iuf", same="iu")
# fmt: on


def clip(x: ndarray, /, min: Any = None, max: Any = None) -> ndarray:  # noqa: A002 - the standard's names
    """Elements between bounds, which are numbers or arrays; None: there is no bound. The dtype is that of `x`."""
    found = array_given("clip", x, "iuf")
    for bound, function in ((min, mnp.maximum), (max, mnp.minimum)):
        if bound is not None:
            found = function(*(cast(each, x.dtype) for each in operands("clip", "iuf", x, bound)[1:]), found)
    return found.copy() if found is x else found


def logaddexp(x1: Any, x2: Any, /) -> ndarray:
    """log(exp(x1) + exp(x2)), also where these are beyond the dtype."""
    x1, x2 = operands("logaddexp", "f", x1, x2)
    is_same = mnp.equal(x1, x2)  # where the maximum has no derivative, and the difference of infinities is NaN
    less_by = mnp.where(is_same, 0.0, mnp.abs(x1 - x2))
    larger = mnp.where(is_same, x1 * 0.5 + x2 * 0.5, mnp.maximum(x1, x2))
    return larger + mnp.log1p(mnp.exp(-less_by))


def nextafter(x1: Any, x2: Any, /) -> ndarray:
    """The next number of the dtype after x1 towards x2."""
    return ARRAYS("_mxl_nextafter", *operands("nextafter", "f", x1, x2))  # type: ignore[no-any-return]


def remainder(x1: Any, x2: Any, /) -> ndarray:
    """What dividing leaves, with the sign of the divisor; NaN of a division by 0."""
    return mnp.divmod(*operands("remainder", "iuf", x1, x2))[1]


def sign(x: ndarray, /) -> ndarray:
    """-1, 0 or 1; NaN of NaN."""
    x = array_given("sign", x, "iuf")
    return mnp.where(mnp.isnan(x), math.nan, mnp.sign(x)) if x.dtype.kind == "f" else mnp.sign(x)


def where(condition: ndarray, x1: Any, x2: Any, /) -> ndarray:
    """Elements of x1 where a condition, of bool, is true, of x2 elsewhere."""
    array_given("where", condition, "b", "condition")
    x1, x2 = operands("where", "biuf", x1, x2)
    return mnp.where(condition, x1, x2)
