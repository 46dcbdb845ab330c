"""Python's operators of `mx.np.ndarray`. Those of two operands are functions of the table: `x + y` is `add(x, y)`."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.error import WrongTypeError
from mxlite.ndarray._operators import Operator, prepare
from mxlite.ndarray.ndarray import NUMBERS, NDArray
from mxlite.numpy import _functions, _table
from mxlite.numpy.multiarray import ndarray

#: method -> the function, and whether it has an in-place form in 1.9.1.
ARITHMETIC = {
    "add": ("add", True),
    "sub": ("subtract", True),
    "mul": ("multiply", True),
    "truediv": ("true_divide", True),
    "mod": ("mod", True),
    "pow": ("power", False),
    "and": ("bitwise_and", True),
    "or": ("bitwise_or", True),
    "xor": ("bitwise_xor", True),
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _other(name: str, other: Any, is_comparison: bool = False) -> Any:
    """What an operator answers to an operand that is neither array nor number: an error where no other class may know
    better."""
    if is_comparison or isinstance(other, (np.ndarray, NDArray, list, tuple)):
        hint = "; as_np_ndarray() gives one" if isinstance(other, NDArray) else "; mx.np.array makes one"
        raise WrongTypeError(
            f"{name}: takes an array of mx.np or a number beside one, got {type(other).__name__}{hint}"
        )
    return NotImplemented


def _forward(name: str, is_comparison: bool = False) -> Callable:
    return _functions.binary(name, lambda _, other: _other(name, other, is_comparison))


def _reflected(name: str) -> Callable:
    """`other op array`; only of a number is it the array's."""
    reflected = Operator(_table.BINARY[name][2])

    def operator(self: ndarray, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            return _functions.run(reflected, [self._h], {"scalar": float(other)}, None)
        return _other(name, other)

    return operator


def _in_place(name: str) -> Callable:
    forward = _forward(name)

    def operator(self: ndarray, other: Any) -> Any:
        if hasattr(self, "_read_only"):
            raise ValueError("trying to write to a readonly ndarray")
        return forward(self, other, self)

    return operator


def _matmul(self: ndarray, other: Any) -> Any:
    if not isinstance(other, ndarray):
        return _other("matmul", other)
    return _functions.ARRAYS("_npi_matmul", self, other)


def _rmatmul(self: ndarray, other: Any) -> Any:
    return _other("matmul", other)


def _imatmul(self: ndarray, other: Any) -> Any:
    product = _matmul(self, other)
    if product is not NotImplemented:
        self[:] = product
        return self
    return product


def _round(self: ndarray, n: int = 0) -> ndarray:
    """The elements rounded."""
    return self.round(n)


def _of_one(name: str) -> tuple[Callable, dict[str, Any]]:
    operator = Operator(name)
    return lambda self: _functions.run(operator, [self._h], {}, None), {"one": prepare(name, {})}


def _negative() -> tuple[Callable, dict[str, Any]]:
    """`-x`, which counts in int64 where x is bool, as in 1.9.1; the function `negative` refuses it."""
    plain, calls = _of_one("_npi_negative")

    def operator(self: ndarray) -> Any:
        return self * -1 if self.dtype == bool else plain(self)

    return operator, {**calls, "failed": operator}


def install() -> None:
    """Gives ndarray its operators."""
    methods: dict[str, tuple[Callable, dict[str, Any]]] = {
        "__abs__": _of_one("_npi_abs"),
        "__ceil__": _of_one("_npi_ceil"),
        "__floor__": _of_one("_npi_floor"),
        "__trunc__": _of_one("_npi_trunc"),
        "__neg__": _negative(),
        "__invert__": _of_one("_npi_bitwise_not"),
        "__matmul__": (_matmul, {"two": prepare("_npi_matmul", {})}),
        "__rmatmul__": (_rmatmul, {}),
        "__imatmul__": (_imatmul, {}),
        "__round__": (_round, {}),
    }
    for method, (name, is_in_place) in ARITHMETIC.items():
        calls = _functions.direct_calls(name)
        methods[f"__{method}__"] = _forward(name), calls
        methods[f"__r{method}__"] = _reflected(name), {"number": prepare(_table.BINARY[name][2], {}, ("scalar",))}
        if is_in_place:
            methods[f"__i{method}__"] = _in_place(name), {**calls, "into": True}
    for method, name in COMPARISONS.items():
        methods[f"__{method}__"] = _forward(name, True), _functions.direct_calls(name)
    for method, (function, calls) in methods.items():
        function.__name__, function.__qualname__ = method, f"ndarray.{method}"
        failed = calls.pop("failed", _functions.raise_refused)
        setattr(ndarray, method, hot.direct(function, failed, ndarray, **calls) if calls else function)
    for name in ("__div__", "__rdiv__", "__idiv__"):
        setattr(ndarray, name, vars(ndarray)[name.replace("div", "truediv")])
