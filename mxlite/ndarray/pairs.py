"""Functions of two operands, each an array or a number: `mx.nd.maximum`, comparisons, logical functions, `modulo`."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np

from mxlite._public import offer as _offer
from mxlite.ndarray.ndarray import NDArray, invoke

_NUMBERS = (int, float, np.generic)


def _pair(
    function: str, name: str, mirrored: str, numbers: Callable[[Any, Any], Any], document: str
) -> Callable[[Any, Any], Any]:
    """`broadcast_name` of two arrays, `_name_scalar` or `_mirrored_scalar` with one number, `numbers` of two."""

    def pair(lhs: Any, rhs: Any) -> Any:
        for operand in (lhs, rhs):
            if not isinstance(operand, (NDArray, *_NUMBERS)):
                raise TypeError(f"{name}: takes NDArrays and numbers, got {type(operand).__name__}")
        if isinstance(lhs, NDArray):
            if isinstance(rhs, NDArray):
                return invoke(f"broadcast_{name}", [lhs, rhs], {})
            return invoke(f"_{name}_scalar", [lhs], {"scalar": float(rhs)})
        if isinstance(rhs, NDArray):
            return invoke(f"_{mirrored}_scalar", [rhs], {"scalar": float(lhs)})
        return numbers(lhs, rhs)

    pair.__name__ = pair.__qualname__ = function
    pair.__doc__ = f"{document}; arrays or numbers."
    return pair


def _flag(name: str, mirrored: str, numbers: Callable[[Any, Any], Any], when: str) -> Callable[[Any, Any], Any]:
    """The same for a function that is 1 or 0."""
    return _pair(name, name, mirrored, lambda a, b: int(numbers(a, b)), f"1 where {when}, else 0, in the arrays' dtype")


maximum = _pair(
    "maximum", "maximum", "maximum", lambda a, b: a if a > b else b, "The larger of two elements, with broadcasting"
)
minimum = _pair(
    "minimum", "minimum", "minimum", lambda a, b: a if a < b else b, "The smaller of two elements, with broadcasting"
)
modulo = _pair("modulo", "mod", "rmod", operator.mod, "lhs % rhs, element-wise with broadcasting")

equal = _flag("equal", "equal", operator.eq, "both are equal")
not_equal = _flag("not_equal", "not_equal", operator.ne, "both differ")
greater = _flag("greater", "lesser", operator.gt, "lhs > rhs")
greater_equal = _flag("greater_equal", "lesser_equal", operator.ge, "lhs >= rhs")
lesser = _flag("lesser", "greater", operator.lt, "lhs < rhs")
lesser_equal = _flag("lesser_equal", "greater_equal", operator.le, "lhs <= rhs")
logical_and = _flag("logical_and", "logical_and", lambda a, b: bool(a) and bool(b), "neither is 0")
logical_or = _flag("logical_or", "logical_or", lambda a, b: bool(a) or bool(b), "not both are 0")
logical_xor = _flag("logical_xor", "logical_xor", lambda a, b: bool(a) != bool(b), "one of the two is 0")

_offer(globals())
