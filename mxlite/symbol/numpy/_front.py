"""The front of symbols: how functions of `mx.np`'s table, and composed ones, make nodes.

A function whose operator has its name, `_np_sum`, is made from introspection, as in 1.9.1: it takes `name` and `attr`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from mxlite._public import defined, show
from mxlite.context import require_cpu
from mxlite.error import MXTypeError, WrongTypeError
from mxlite.ndarray._operators import Operator, operator_names
from mxlite.numpy import _functions
from mxlite.symbol._generate import make_function, node_of, not_a_symbol
from mxlite.symbol.symbol import Symbol

_operator = cache(Operator)
_PREFIXES = ("_npi_", "_npx_", "_np_", "_")


class SymbolBase(Symbol):
    """The base class of `mx.sym.np`'s symbols, for what makes their functions, which come before it."""

    __slots__ = ()


def _hint(operator: str) -> str:
    """How the name of a node begins."""
    return next(operator[len(each) :] for each in _PREFIXES if operator.startswith(each)).lower()


class Symbols:
    """As `mxlite.numpy._functions.Arrays`, for symbols."""

    base = SymbolBase
    knows_shapes = False
    tuples: frozenset[str] = frozenset()
    modules = {
        "": "mxlite.symbol.numpy",
        "linalg": "mxlite.symbol.numpy.linalg",
        "ndarray": "mxlite.symbol.numpy",
        "npx.random": "mxlite.symbol.numpy_extension.random",
        "random": "mxlite.symbol.numpy.random",
    }

    def __call__(self, operator: str, *inputs: Any, out: Any = None, **given: Any) -> Any:
        """Makes a node of an operator. None as an input: it is left out.

        Raises: TypeError: an input is no symbol of `mx.sym.np`.
        """
        found = _operator(operator)
        symbols = [each for each in inputs if each is not None]
        for each in symbols:
            if not isinstance(each, SymbolBase):
                raise not_a_symbol(_hint(operator), "an input", each, SymbolBase)
        if found.counted:
            given[found.counted] = len(symbols)
        return self.run(found, [each._h for each in symbols], given, out)

    def __getattr__(self, name: str) -> Any:
        return function(name)

    @staticmethod
    def run(operator: Operator, inputs: list[int], given: dict[str, Any], out: Any) -> Any:
        """The node of an operator on handles of symbols, several outputs as a list. `out` has no meaning."""
        return node_of(operator.name, _hint(operator.name), inputs, None, dict(given), SymbolBase._kind)._results()

    @staticmethod
    def handle_of(name: str, argument: str, symbol: Any) -> int:
        """The handle of a symbol. Raises: TypeError (and AssertionError): it is none of `mx.sym.np`."""
        if not isinstance(symbol, SymbolBase):
            raise not_a_symbol(name, argument, symbol, SymbolBase)
        return symbol._h

    @staticmethod
    def not_an_array(name: str, argument: str, value: Any) -> WrongTypeError:
        """The error of an argument that is no symbol of `mx.sym.np`."""
        return not_a_symbol(name, argument, value, SymbolBase)

    @staticmethod
    def number(value: Any) -> dict[str, Any]:
        """The parameters of an operator of a symbol and a number."""
        return {"scalar": float(value), "is_int": isinstance(value, int)}

    @staticmethod
    def is_array(value: Any) -> bool:
        """Whether a value is a symbol of this front."""
        return isinstance(value, SymbolBase)

    @staticmethod
    def array_from(values: Any, dtype: Any, ctx: Any) -> NoReturn:
        """Raises: TypeError (and MXNetError): a symbol holds no values."""
        raise MXTypeError(f"a symbol of mx.sym.np was expected, which holds no values, got {values!r}")

    @staticmethod
    def context(ctx: Any) -> str:
        """The parameter `ctx` of an operator that makes arrays."""
        return str(require_cpu(ctx))


SYMBOLS = Symbols()


@cache
def _own_operators() -> dict[str, str]:
    return {name[len("_np_") :]: name for name in operator_names() if name.startswith("_np_")}


@cache
def function(name: str) -> Any:
    """The function of that name (`sum`, `linalg.det`); of "ndarray" the method. Raises: AttributeError."""
    if name in _own_operators():
        return make_function(_own_operators()[name], SymbolBase._kind, name, SYMBOLS.modules[""])
    return _functions.function(name, SYMBOLS)


def of_operator(name: str, operator: str, module: str) -> Any:
    """A function of `mx.sym.npx`, by its name and those of its operator and module."""
    return make_function(operator, SymbolBase._kind, name, module)


def show_functions(module: dict[str, Any], part: str) -> None:
    """Gives a module, by its `globals()`, the functions of "" (`mx.sym.np`), "linalg" or "random"."""
    prefix = part and f"{part}."
    known = set(_functions.names_for_symbols(part))
    module["__all__"] = sorted({*defined(module), *module.get("__all__", ()), *known})
    show(module, lambda name: function(prefix + name) if name in known else None)
