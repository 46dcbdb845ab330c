"""Python's operators of Symbol, its methods that are operators of the library, and functions of symbols and numbers."""

from __future__ import annotations

import math
from typing import Any, Callable, NoReturn

from mxlite._public import offer as _offer
from mxlite.base import NotImplementedForSymbol, numeric_types
from mxlite.ndarray.ndarray import FLUENT
from mxlite.symbol import op
from mxlite.symbol._generate import node
from mxlite.symbol.creation import split_v2
from mxlite.symbol.symbol import Symbol


def _with_number(name: str, symbol: Symbol, number: Any) -> Symbol:
    return node(name, name.lower(), [symbol], {"scalar": str(number)})


def _binary(of_symbols: str, with_number: str) -> Callable:
    def operator(self: Symbol, other: Any) -> Symbol:
        if isinstance(other, Symbol):
            return node(of_symbols, of_symbols.lower(), [self, other], {})
        if isinstance(other, numeric_types):
            return _with_number(with_number, self, other)
        raise TypeError(f"type {type(other)} not supported")

    return operator


def _reflected(with_number: str) -> Callable:
    def operator(self: Symbol, other: Any) -> Symbol:
        if isinstance(other, numeric_types):
            return _with_number(with_number, self, other)
        raise TypeError(f"type {type(other)} not supported")

    return operator


def _matrix_product(self: Symbol, other: Any) -> Symbol:
    """`symbol @ other`, which MXNet 1.9.1 does not have: np.matmul of two symbols."""
    if not isinstance(other, Symbol):
        raise TypeError(f"Symbol: operator @ takes symbols, got {type(other).__name__}")
    return node("_npi_matmul", "matmul", [self, other], {})


#: method -> (operator of two symbols, of symbol and number, of number and symbol), by the names that nodes get.
_ARITHMETIC = {
    "add": ("_Plus", "_PlusScalar", "_PlusScalar"),
    "sub": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "mul": ("_Mul", "_MulScalar", "_MulScalar"),
    "truediv": ("_Div", "_DivScalar", "_RDivScalar"),
    "div": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"),
    "pow": ("_Power", "_PowerScalar", "_rpower_scalar"),
}
_COMPARISONS = {
    "eq": "_equal",
    "ne": "_not_equal",
    "lt": "_lesser",
    "le": "_lesser_equal",
    "gt": "_greater",
    "ge": "_greater_equal",
}

#: Methods that are operators, beside those that NDArray has by its table.
_METHODS = {"astype": "cast"}
_METHODS |= {name: name for name in ("broadcast_to", "expand_dims", "flatten", "reshape", "squeeze", *FLUENT)}

#: Methods that want values.
_OF_ARRAYS = "as_in_context asnumpy asscalar backward copy detach wait_to_read".split()


def _method(name: str, operator: str) -> Callable:
    def method(self: Symbol, *args: Any, **kwargs: Any) -> Symbol:
        return getattr(op, operator)(self, *args, **kwargs)

    method.__doc__ = f"`mx.sym.{operator}` of this symbol."
    method._operator = operator  # type: ignore[attr-defined] # for tools/make_pyi.py
    return method


def _refused(name: str, alias: str | None = None) -> Callable:
    def method(self: Symbol, *args: Any) -> NoReturn:
        raise NotImplementedForSymbol(method, alias, *args)

    method.__name__ = name
    method.__doc__ = "Raises: MXNetError: a symbol holds no values."
    return method


def _install() -> None:
    methods: dict[str, Callable] = {}
    for name, (of_symbols, with_number, reflected) in _ARITHMETIC.items():
        methods[f"__{name}__"] = _binary(of_symbols, with_number)
        methods[f"__r{name}__"] = _reflected(reflected)
    for name, operator in _COMPARISONS.items():
        methods[f"__{name}__"] = _binary(operator, f"{operator}_scalar")
    methods["__matmul__"] = _matrix_product
    methods["__neg__"] = lambda self: _with_number("_MulScalar", self, -1.0)
    methods["__abs__"] = lambda self: op.abs(self)
    for name, sign in {"add": "+=", "sub": "-=", "mul": "*=", "truediv": "/=", "div": "/="}.items():
        methods[f"__i{name}__"] = _refused(f"__i{name}__", sign)
    methods |= {name: _refused(name) for name in _OF_ARRAYS}
    methods |= {name: _method(name, operator) for name, operator in _METHODS.items()}
    methods["split_v2"] = split_v2
    for name, method in methods.items():
        setattr(Symbol, name, method)


_install()


def _of_two(left: Any, right: Any, name: str, of_numbers: Callable, reflected: str | None = None) -> Any:
    """An operator of two symbols, of a symbol and a number, or a number's function of two numbers."""
    for first, second, with_number in ((left, right, f"{name}Scalar"), (right, left, reflected or f"{name}Scalar")):
        if isinstance(first, Symbol) and isinstance(second, numeric_types):
            return _with_number(with_number, first, second)
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return node(name, name.lower(), [left, right], {})
    if isinstance(left, numeric_types) and isinstance(right, numeric_types):
        return of_numbers(left, right)
    raise TypeError(f"types ({type(left)}, {type(right)}) not supported")


def pow(base: Any, exp: Any) -> Any:  # noqa: A001 - 1.9.1's name
    """base ** exp, element-wise, of symbols of one shape or numbers."""
    return _of_two(base, exp, "_Power", lambda a, b: a**b, "_RPowerScalar")


power = pow


def maximum(left: Any, right: Any) -> Any:
    """The greater of each two elements, of symbols of one shape or numbers."""
    return _of_two(left, right, "_Maximum", lambda a, b: a if a > b else b)


def minimum(left: Any, right: Any) -> Any:
    """The lesser of each two elements, of symbols of one shape or numbers."""
    return _of_two(left, right, "_Minimum", lambda a, b: a if a < b else b)


def hypot(left: Any, right: Any) -> Any:
    """sqrt(left ** 2 + right ** 2), element-wise, of symbols of one shape or numbers."""
    return _of_two(left, right, "_Hypot", math.hypot)


_offer(globals())
