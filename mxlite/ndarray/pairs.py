"""Functions of two operands, each an array or a number: `mx.nd.maximum`, comparisons, logical functions, `modulo`."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite._public import offer as _offer
from mxlite.ndarray.ndarray import NDArray, invoke

_NUMBERS = (int, float, np.generic)


def _pair(name: str, mirrored: str, numbers: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
    """`broadcast_name` of two arrays, `_name_scalar` or `_mirrored_scalar` with one number, `numbers` of two."""
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


def maximum(lhs: Any, rhs: Any) -> Any:
    """The larger of two elements, with broadcasting; arrays or numbers."""
    return _pair("maximum", "maximum", lambda a, b: a if a > b else b, lhs, rhs)


def minimum(lhs: Any, rhs: Any) -> Any:
    """The smaller of two elements, with broadcasting; arrays or numbers."""
    return _pair("minimum", "minimum", lambda a, b: a if a < b else b, lhs, rhs)


def modulo(lhs: Any, rhs: Any) -> Any:
    """lhs % rhs, element-wise with broadcasting; arrays or numbers."""
    return _pair("mod", "rmod", lambda a, b: a % b, lhs, rhs)


def equal(lhs: Any, rhs: Any) -> Any:
    """1 where both are equal, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("equal", "equal", lambda a, b: int(a == b), lhs, rhs)


def not_equal(lhs: Any, rhs: Any) -> Any:
    """1 where both differ, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("not_equal", "not_equal", lambda a, b: int(a != b), lhs, rhs)


def greater(lhs: Any, rhs: Any) -> Any:
    """1 where lhs > rhs, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("greater", "lesser", lambda a, b: int(a > b), lhs, rhs)


def greater_equal(lhs: Any, rhs: Any) -> Any:
    """1 where lhs >= rhs, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("greater_equal", "lesser_equal", lambda a, b: int(a >= b), lhs, rhs)


def lesser(lhs: Any, rhs: Any) -> Any:
    """1 where lhs < rhs, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("lesser", "greater", lambda a, b: int(a < b), lhs, rhs)


def lesser_equal(lhs: Any, rhs: Any) -> Any:
    """1 where lhs <= rhs, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("lesser_equal", "greater_equal", lambda a, b: int(a <= b), lhs, rhs)


def logical_and(lhs: Any, rhs: Any) -> Any:
    """1 where neither is 0, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("logical_and", "logical_and", lambda a, b: int(bool(a) and bool(b)), lhs, rhs)


def logical_or(lhs: Any, rhs: Any) -> Any:
    """1 where not both are 0, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("logical_or", "logical_or", lambda a, b: int(bool(a) or bool(b)), lhs, rhs)


def logical_xor(lhs: Any, rhs: Any) -> Any:
    """1 where one of the two is 0, else 0, in the arrays' dtype; arrays or numbers."""
    return _pair("logical_xor", "logical_xor", lambda a, b: int(bool(a) != bool(b)), lhs, rhs)


_offer(globals())
