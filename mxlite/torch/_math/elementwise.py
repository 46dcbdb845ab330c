"""Functions of each element: exp, sin, relu, round, ..., as functions of the module, methods, and in place."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.torch._calls import both, functions, last_error, method, methods, new, prepare, require_tensor
from mxlite.torch._convert import as_float
from mxlite.torch._dtypes import BOOL, FLOATING, dtype, get_default_dtype
from mxlite.torch._tensor import Tensor, from_values

#: name, and other names -> (operator, label). Integers become floats first.
_FLOATS = {
    "exp": ("exp", "ExpBackward0"),
    "log": ("log", "LogBackward0"),
    "log2": ("log2", "Log2Backward0"),
    "log10": ("log10", "Log10Backward0"),
    "log1p": ("log1p", "Log1PBackward0"),
    "expm1": ("expm1", "Expm1Backward0"),
    "sqrt": ("sqrt", "SqrtBackward0"),
    "rsqrt": ("rsqrt", "RsqrtBackward0"),
    "sin": ("sin", "SinBackward0"),
    "cos": ("cos", "CosBackward0"),
    "tan": ("tan", "TanBackward0"),
    "asin arcsin": ("arcsin", "AsinBackward0"),
    "acos arccos": ("arccos", "AcosBackward0"),
    "atan arctan": ("arctan", "AtanBackward0"),
    "sinh": ("sinh", "SinhBackward0"),
    "cosh": ("cosh", "CoshBackward0"),
    "tanh": ("tanh", "TanhBackward0"),
    "asinh arcsinh": ("arcsinh", "AsinhBackward0"),
    "acosh arccosh": ("arccosh", "AcoshBackward0"),
    "atanh arctanh": ("arctanh", "AtanhBackward0"),
    "sigmoid": ("sigmoid", "SigmoidBackward0"),
    "erf": ("erf", "ErfBackward0"),
    "reciprocal": ("reciprocal", "ReciprocalBackward0"),
    "deg2rad": ("radians", "Deg2RadBackward0"),
    "rad2deg": ("degrees", "Rad2DegBackward0"),
}

#: The same; integers stay what they are.
_ANY = {
    "neg negative": ("negative", "NegBackward0"),
    "abs absolute": ("abs", "AbsBackward0"),
    "sign": ("sign", "SignBackward0"),
    "sgn": ("sign", "SgnBackward0"),
    "relu": ("_mxl_relu", "ReluBackward0"),
    "floor": ("floor", "FloorBackward0"),
    "ceil": ("ceil", "CeilBackward0"),
    "trunc fix": ("trunc", "TruncBackward0"),
}


def require_floats(name: str, kind: dtype) -> None:
    """Raises: NotImplementedError: a dtype of integers or truth values."""
    if not kind.is_floating_point:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind.word}'")


def unary(name: str, operator: str, label: str, floats: bool, document: str, **constants: Any) -> Callable:
    """A function of one tensor over an operator; `floats`: whether integers become floats first."""
    call1, cls = hot.call1, Tensor
    call = prepare(label, operator, **constants)
    lowest = FLOATING if floats else BOOL

    def function(input: Tensor) -> Tensor:
        try:
            kind = input._dtype
        except AttributeError:
            require_tensor(name, 1, "input", input)
            raise
        if kind.kind < lowest:
            return function(as_float(input))
        if kind.kind == BOOL:
            return _of_bool(name, input).clone()
        handle = call1(call, input._h)
        if handle:
            tensor = new(cls)
            tensor._h = handle
            tensor._dtype = kind
            return tensor
        raise last_error()

    def in_place(self: Tensor) -> Tensor:
        if self._dtype.kind < lowest:
            wanted = get_default_dtype().word
            raise RuntimeError(f"result type {wanted} can't be cast to the desired output type {self._dtype.word}")
        if self._dtype.kind == BOOL:
            return _of_bool(name, self)
        if hot.into1(call, self._h, self._h) != 0:
            raise last_error()
        return self

    function.__name__ = function.__qualname__ = name
    function.__doc__ = document
    in_place.__name__ = in_place.__qualname__ = name + "_"
    in_place.__doc__ = f"As {name}, into the tensor itself, which is returned."
    methods[name + "_"] = in_place
    return function


def _of_bool(name: str, input: Tensor) -> Tensor:
    """The tensor of bool itself, where the function leaves it as it is.

    Raises: RuntimeError, NotImplementedError: there is no such function of truth values.
    """
    if name in ("sign", "sgn"):
        return input
    if name == "neg":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    if name == "relu":
        raise RuntimeError("Boolean inputs not supported for relu")
    raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")


for _table, _floats in ((_FLOATS, True), (_ANY, False)):
    for _names, (_name, _label) in _table.items():
        _first, *_others = _names.split()
        _made = unary(_first, _name, _label, _floats, f"{_first} of each element.")
        both(_first, *_others)(_made)
        for _other in _others:
            methods[_other + "_"] = methods[_first + "_"]

methods["__neg__"] = functions["neg"]
methods["__abs__"] = functions["abs"]


@method("__pos__")
@both("positive")
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    if input._dtype.kind == BOOL:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def _predicate(name: str, test: Callable[[Tensor], Tensor], document: str) -> None:
    def function(input: Tensor) -> Tensor:
        require_tensor(name, 1, "input", input)
        return test(input.detach())

    function.__name__ = name
    function.__doc__ = document
    both(name)(function)


def _finite(x: Tensor) -> Tensor:
    return x.abs() < _INF if x._dtype.is_floating_point else x == x


def _infinite(x: Tensor) -> Tensor:
    return x.abs() == _INF if x._dtype.is_floating_point else x != x


def _negative(x: Tensor) -> Tensor:
    """-0 is negative, and a NaN with that sign."""
    return from_values(np.signbit(x._values())) if x._dtype.is_floating_point else x < 0


_INF = float("inf")


_predicate("isnan", lambda x: x != x, "Where elements are no numbers: a tensor of bool.")
_predicate("isinf", _infinite, "Where elements are infinite: a tensor of bool.")
_predicate("isfinite", _finite, "Where elements are numbers that are finite: a tensor of bool.")
_predicate("isposinf", lambda x: x == _INF, "Where elements are positive infinity: a tensor of bool.")
_predicate("isneginf", lambda x: x == -_INF, "Where elements are negative infinity: a tensor of bool.")
_predicate("signbit", _negative, "Where elements have a minus sign: a tensor of bool.")
