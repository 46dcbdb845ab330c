"""Arithmetic of arrays of any storage type: `add`, `subtract`, `multiply`, `divide`; and operators of sparse arrays."""

from __future__ import annotations

import operator
from typing import Any, Callable

from mxlite.base import numeric_types
from mxlite.ndarray._make import invoke
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.sparse._array import BaseSparseNDArray


def _combine(
    lhs: Any, rhs: Any, of_numbers: Callable[[Any, Any], Any], same: str, broadcast: str, scalar: str, reflected: str
) -> Any:
    """The operator for two operands: of arrays of the same shape, of others, of an array and a number.

    Raises: TypeError: an operand is neither.
    """
    for each in (lhs, rhs):
        if not isinstance(each, (NDArray, *numeric_types)):
            raise TypeError(f"{of_numbers.__name__}: operands are arrays and numbers, not {type(each)}")
    if isinstance(lhs, NDArray) and isinstance(rhs, NDArray):
        return invoke(same if lhs.shape == rhs.shape else broadcast, [lhs, rhs], {})
    if isinstance(lhs, NDArray):
        return invoke(scalar, [lhs], {"scalar": float(rhs)})
    if isinstance(rhs, NDArray):
        return invoke(reflected, [rhs], {"scalar": float(lhs)})
    return of_numbers(lhs, rhs)


def add(lhs: Any, rhs: Any) -> Any:
    """lhs + rhs, element-wise with broadcasting; arrays of any storage type, or numbers."""
    return _combine(lhs, rhs, operator.add, "elemwise_add", "broadcast_add", "_plus_scalar", "_plus_scalar")


def subtract(lhs: Any, rhs: Any) -> Any:
    """lhs - rhs, element-wise with broadcasting; arrays of any storage type, or numbers."""
    return _combine(lhs, rhs, operator.sub, "elemwise_sub", "broadcast_sub", "_minus_scalar", "_rminus_scalar")


def multiply(lhs: Any, rhs: Any) -> Any:
    """lhs * rhs, element-wise with broadcasting; arrays of any storage type, or numbers."""
    return _combine(lhs, rhs, operator.mul, "elemwise_mul", "broadcast_mul", "_mul_scalar", "_mul_scalar")


def divide(lhs: Any, rhs: Any) -> Any:
    """lhs / rhs, element-wise with broadcasting; arrays of any storage type, or numbers."""
    return _combine(lhs, rhs, operator.truediv, "elemwise_div", "broadcast_div", "_div_scalar", "_rdiv_scalar")


def _in_place(name: str) -> Callable[[BaseSparseNDArray, Any], BaseSparseNDArray]:
    """`array symbol= other`: the same array, of the same storage type, with the operator's values."""
    compute: Callable[[Any, Any], Any] = getattr(operator, name)

    def method(self: BaseSparseNDArray, other: Any) -> BaseSparseNDArray:
        if not self.writable:
            raise ValueError(f"trying to write to a readonly {type(self).__name__}")
        made = compute(self, other)
        if made is NotImplemented:
            return made
        invoke("_copyto", [made], {}, self)
        return self

    return method


def _install() -> None:
    methods: dict[str, Callable] = {"__add__": add, "__sub__": subtract, "__mul__": multiply, "__div__": divide}
    for name, function in list(methods.items()):
        methods[name] = lambda self, other, function=function: function(self, other)
    for name in ("add", "sub", "mul", "truediv"):
        methods[f"__i{name}__"] = _in_place(name)
    methods["__idiv__"] = methods["__itruediv__"]
    for name, method in methods.items():
        method.__name__, method.__qualname__ = name, f"BaseSparseNDArray.{name}"
        setattr(BaseSparseNDArray, name, method)


_install()
