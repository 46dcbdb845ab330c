"""Python's operators of NDArray, and its methods that are operators of the library (`x.exp()`).

Over cffi `hot.direct` makes the usual calls of the operators in C; the functions below are the definition, and run for
all other operands.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Callable

import numpy as np

from mxlite._lib import hot, last_error, raise_last_error
from mxlite.ndarray._known import direct_cast
from mxlite.ndarray._operators import prepare
from mxlite.ndarray.ndarray import FLUENT, NUMBERS, NDArray, _from_numpy, as_value_error
from mxlite.util import is_np_shape

#: A function, and what `hot.direct` is told of it.
_Made = tuple[Callable, dict[str, Any]]


def _is_number(other: Any) -> bool:
    """Whether an operand is a number, or a NumPy array without axes: NumPy's scalars hand themselves over as one where
    they are on the left of a comparison."""
    return isinstance(other, NUMBERS) or (
        isinstance(other, np.ndarray) and other.ndim == 0 and other.dtype.kind in "biuf"
    )


def _operand(array: NDArray, symbol: str, other: Any) -> NDArray | None:
    """The operand `other` of an operator with `array` as an NDArray; None where the operator is not ours.

    A NumPy array is taken in the dtype of `array`, as numbers are, unless that would change the kind of its numbers
    (fractions to integers).
    """
    if isinstance(other, NDArray):
        return other
    if not isinstance(other, np.ndarray):
        if symbol in ("==", "!=", "<", "<=", ">", ">="):
            raise TypeError(f"NDArray: operator {symbol} with {type(other)} is not supported")
        return None
    dtype = array.dtype
    if not np.can_cast(other.dtype, dtype, "same_kind"):
        raise TypeError(
            f"NDArray: operator {symbol} of {np.dtype(dtype)} and a NumPy array of {other.dtype}, which is of another "
            "kind; convert one of them with astype"
        )
    return _from_numpy(other.astype(dtype, copy=False))


def _adopted(handle: int) -> NDArray:
    if not handle:
        raise last_error()
    return NDArray._adopt_result(handle)


def _binary(symbol: str, array_name: str, scalar_name: str) -> _Made:
    """`array symbol other`."""
    of_arrays, of_scalar = prepare(array_name, {}), prepare(scalar_name, {}, ("scalar",))

    def operator(self: NDArray, other: Any) -> Any:
        if _is_number(other):
            return _adopted(hot.call1_float(of_scalar, self._h, float(other)))
        operand = _operand(self, symbol, other)
        return NotImplemented if operand is None else _adopted(hot.call2(of_arrays, self._h, operand._h))

    return operator, {"two": of_arrays, "number": of_scalar}


def _reflected(symbol: str, array_name: str, scalar_name: str) -> _Made:
    """`other symbol array`, of a number or a NumPy array."""
    of_arrays, of_scalar = prepare(array_name, {}), prepare(scalar_name, {}, ("scalar",))

    def operator(self: NDArray, other: Any) -> Any:
        if _is_number(other):
            return _adopted(hot.call1_float(of_scalar, self._h, float(other)))
        operand = _operand(self, symbol, other)
        return NotImplemented if operand is None else _adopted(hot.call2(of_arrays, operand._h, self._h))

    return operator, {"number": of_scalar}


def _in_place(symbol: str, array_name: str, scalar_name: str) -> _Made:
    """`array symbol= other`: the same array with new values; an error where the in-place rules forbid it."""
    of_arrays, of_scalar = prepare(array_name, {}), prepare(scalar_name, {}, ("scalar",))

    def operator(self: NDArray, other: Any) -> Any:
        if hasattr(self, "_read_only"):
            raise ValueError("trying to write to a readonly NDArray")
        if _is_number(other):
            status = hot.into1_float(of_scalar, self._h, float(other), self._h)
        else:
            operand = _operand(self, symbol, other)
            if operand is None:
                return NotImplemented
            status = hot.into2(of_arrays, self._h, operand._h, self._h)
        if status != 0:
            raise last_error()
        return self

    return operator, {"two": of_arrays, "number": of_scalar, "into": True}


@cache
def _matmul() -> int:
    """The prepared call; a build without the part "numpy" has none, which it says when it is asked for."""
    return prepare("_npi_matmul", {})


def _matrix_product(left: NDArray, right: NDArray) -> NDArray:
    """As np.matmul: products of matrices, of stacks of them that are broadcast, and of vectors.

    The product of two vectors has the shape (1,), as other scalars, but in numpy-shape mode.
    """
    if left.dtype == right.dtype and np.dtype(left.dtype).kind in "biu":
        if left.requires_grad or right.requires_grad:
            raise TypeError(f"NDArray: operator @ of {np.dtype(left.dtype)} has no gradient; write it with floats")
        product = _from_numpy(np.asarray(np.matmul(left.asnumpy(), right.asnumpy())))
    else:
        product = _adopted(hot.call2(_matmul(), left._h, right._h))
    return product if left.ndim > 1 or right.ndim > 1 or is_np_shape() else product.reshape((1,))


def _product(reflected: bool) -> Callable:
    """`array @ other`, which MXNet 1.9.1 does not have; or `other @ array`, of a NumPy array."""

    def operator(self: NDArray, other: Any) -> Any:
        if _is_number(other):
            raise TypeError("NDArray: operator @ takes arrays; write * for the product with a number")
        operand = _operand(self, "@", other)
        if operand is None:
            return NotImplemented
        return _matrix_product(operand, self) if reflected else _matrix_product(self, operand)

    return operator


def _unary(name: str) -> _Made:
    call = prepare(name, {})
    return lambda self: _adopted(hot.call1(call, self._h)), {"one": call}


#: method -> (symbol, operator of two arrays, of array and number, of number and array)
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


def _refuse_shape(*_: Any) -> None:
    raise as_value_error(last_error())


def _install_operators() -> None:
    methods: dict[str, _Made] = {"__neg__": _unary("negative"), "__abs__": _unary("abs")}
    for name, (symbol, of_arrays, of_scalar, reflected) in _ARITHMETIC.items():
        methods[f"__{name}__"] = _binary(symbol, of_arrays, of_scalar)
        methods[f"__r{name}__"] = _reflected(symbol, of_arrays, reflected)
        methods[f"__i{name}__"] = _in_place(symbol + "=", of_arrays, of_scalar)
    for name in ("__matmul__", "__rmatmul__"):
        methods[name] = _product(name == "__rmatmul__"), {}
    reverse, calls = _unary("transpose")
    reverse = hot.direct(reverse, raise_last_error, NDArray, **calls)
    NDArray.T = property(reverse, doc="A copy with the axes in reverse order.")
    del methods["__ipow__"]  # as in 1.9.1: x **= 2 makes a new array
    for name, (symbol, of_arrays, of_scalar) in _COMPARISONS.items():
        methods[f"__{name}__"] = _binary(symbol, of_arrays, of_scalar)
    for name, (method, calls) in methods.items():
        method.__name__ = name
        method.__qualname__ = f"NDArray.{name}"
        setattr(NDArray, name, hot.direct(method, raise_last_error, NDArray, **calls) if calls else method)
    for name in ("__div__", "__rdiv__", "__idiv__"):  # as in 1.9.1, which ran on Python 2 too
        setattr(NDArray, name, vars(NDArray)[name.replace("div", "truediv")])
    NDArray.__nonzero__ = NDArray.__bool__
    NDArray.reshape = hot.direct(NDArray.reshape, _refuse_shape, NDArray, reshape=True)
    NDArray.astype = direct_cast(NDArray.astype, raise_last_error, NDArray, "Cast")
    NDArray.copy = hot.direct(NDArray.copy, raise_last_error, NDArray, one=prepare("_copy", {}), num_inputs=1)


_install_operators()


class _Fluent:
    """A method that is an operator's function; the function is made when the method is first asked for.

    Raises: AttributeError (and MXNetError): this build lacks the operator.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, array: NDArray | None, owner: type) -> Any:
        from mxlite.ndarray._generate import make_function

        function = make_function(self.name)
        function.__qualname__ = f"NDArray.{self.name}"
        setattr(NDArray, self.name, function)
        return function if array is None else function.__get__(array, owner)


def install_fluent_methods() -> None:
    """Gives NDArray the methods that are operators."""
    for name in FLUENT:
        setattr(NDArray, name, _Fluent(name))
