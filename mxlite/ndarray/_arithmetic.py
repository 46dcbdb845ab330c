"""Python's operators of NDArray, and its methods that are operators of the library (`x.exp()`).

The operators are flat functions made by the small factories below: what happens between Python's `+` and the library
is one foreign call and one object.
"""

from __future__ import annotations

from typing import Any, Callable

from mxlite._lib import hot, last_error
from mxlite.error import MXNetError, MXNotImplementedError
from mxlite.ndarray._operators import prepare
from mxlite.ndarray.ndarray import FLUENT, NUMBERS, NDArray


def _prepared(name: str, arguments: tuple[str, ...] = ()) -> int:
    """A prepared call, or 0 where the library has no such operator."""
    try:
        return prepare(name, {}, arguments)
    except MXNetError:
        return 0


def _refuse(symbol: str, other: Any) -> Any:
    """What an operator without a call answers: unsupported by us, or not ours."""
    if isinstance(other, (NDArray, *NUMBERS)):
        raise MXNotImplementedError(f"NDArray: operator {symbol} with {type(other).__name__} is not supported yet")
    if symbol in ("==", "!=", "<", "<=", ">", ">="):
        raise TypeError(f"NDArray: operator {symbol} with {type(other)} is not supported")
    return NotImplemented


def _binary(symbol: str, array_name: str, scalar_name: str) -> Callable:
    """`array symbol other`."""
    call2, call1_float, new, cls = hot.call2, hot.call1_float, object.__new__, NDArray
    of_arrays, of_scalar = _prepared(array_name), _prepared(scalar_name, ("scalar",))

    def operator(self: NDArray, other: Any) -> Any:
        kind = other.__class__
        if kind is cls and of_arrays:
            handle = call2(of_arrays, self._h, other._h)
        elif kind is float and of_scalar:
            handle = call1_float(of_scalar, self._h, other)
        elif isinstance(other, NUMBERS) and of_scalar:
            handle = call1_float(of_scalar, self._h, float(other))
        elif isinstance(other, cls) and of_arrays:
            handle = call2(of_arrays, self._h, other._h)
        else:
            return _refuse(symbol, other)
        if handle:
            array = new(cls)
            array._h = handle
            return array
        raise last_error()

    return operator


def _reflected(symbol: str, scalar_name: str) -> Callable:
    """`number symbol array`."""
    call1_float, new, cls = hot.call1_float, object.__new__, NDArray
    of_scalar = _prepared(scalar_name, ("scalar",))

    def operator(self: NDArray, other: Any) -> Any:
        if isinstance(other, NUMBERS) and of_scalar:
            handle = call1_float(of_scalar, self._h, float(other))
        else:
            return _refuse(symbol, other)
        if handle:
            array = new(cls)
            array._h = handle
            return array
        raise last_error()

    return operator


def _in_place(symbol: str, array_name: str, scalar_name: str) -> Callable:
    """`array symbol= other`: the same array with new values; an error where the in-place rules forbid it."""
    into2, into1_float, cls = hot.into2, hot.into1_float, NDArray
    of_arrays, of_scalar = _prepared(array_name), _prepared(scalar_name, ("scalar",))

    def operator(self: NDArray, other: Any) -> Any:
        if hasattr(self, "_read_only"):
            raise ValueError("trying to write to a readonly NDArray")
        if isinstance(other, cls) and of_arrays:
            status = into2(of_arrays, self._h, other._h, self._h)
        elif isinstance(other, NUMBERS) and of_scalar:
            status = into1_float(of_scalar, self._h, float(other), self._h)
        else:
            return _refuse(symbol, other)
        if status != 0:
            raise last_error()
        return self

    return operator


def _unary(symbol: str, name: str) -> Callable:
    call1, new, cls = hot.call1, object.__new__, NDArray
    call = _prepared(name)

    def operator(self: NDArray) -> NDArray:
        if not call:
            return _refuse(symbol, self)
        handle = call1(call, self._h)
        if handle:
            array = new(cls)
            array._h = handle
            return array
        raise last_error()

    return operator


#: method -> (symbol, operator for two arrays, operator for array and number, operator for number and array)
_ARITHMETIC = {
    "add": ("+", "broadcast_add", "_plus_scalar", "_plus_scalar"),
    "sub": ("-", "broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "mul": ("*", "broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "truediv": ("/", "broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "mod": ("%", "broadcast_mod", "_mod_scalar", "_rmod_scalar"),
    "pow": ("**", "broadcast_power", "_power_scalar", "_rpower_scalar"),
}

_COMPARISONS = {
    "eq": ("==", "broadcast_equal", "_equal_scalar"),
    "ne": ("!=", "broadcast_not_equal", "_not_equal_scalar"),
    "lt": ("<", "broadcast_lesser", "_lesser_scalar"),
    "le": ("<=", "broadcast_lesser_equal", "_lesser_equal_scalar"),
    "gt": (">", "broadcast_greater", "_greater_scalar"),
    "ge": (">=", "broadcast_greater_equal", "_greater_equal_scalar"),
}


def _install_operators() -> None:
    methods: dict[str, Callable] = {"__neg__": _unary("-", "negative"), "__abs__": _unary("abs", "abs")}
    for name, (symbol, of_arrays, of_scalar, reflected) in _ARITHMETIC.items():
        methods[f"__{name}__"] = _binary(symbol, of_arrays, of_scalar)
        methods[f"__r{name}__"] = _reflected(symbol, reflected)
        methods[f"__i{name}__"] = _in_place(symbol + "=", of_arrays, of_scalar)
    NDArray.T = property(_unary("T", "transpose"), doc="A copy with the axes in reverse order.")
    del methods["__ipow__"]  # as in 1.9.1: x **= 2 makes a new array
    for name in ("__div__", "__rdiv__", "__idiv__"):  # as in 1.9.1, which ran on Python 2 too
        setattr(NDArray, name, methods[name.replace("div", "truediv")])
    NDArray.__nonzero__ = NDArray.__bool__
    for name, (symbol, of_arrays, of_scalar) in _COMPARISONS.items():
        methods[f"__{name}__"] = _binary(symbol, of_arrays, of_scalar)
    for name, method in methods.items():
        method.__name__ = name
        method.__qualname__ = f"NDArray.{name}"
        setattr(NDArray, name, method)


_install_operators()


class _Fluent:
    """A method that is an operator's function; the function is made when the method is first asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, array: NDArray | None, owner: type) -> Any:
        from mxlite.ndarray._generate import make_function

        function = make_function(self.name)
        setattr(NDArray, self.name, function)
        return function if array is None else function.__get__(array, owner)


def install_fluent_methods(names: set[str]) -> None:
    """Gives NDArray those methods whose operators there are."""
    for name in FLUENT & names:
        setattr(NDArray, name, _Fluent(name))
