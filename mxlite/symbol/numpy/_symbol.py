"""_Symbol, the class of `mx.sym.np`'s symbols: a Symbol with NumPy's operators, keys and methods."""

from __future__ import annotations

import operator as _operator
from collections.abc import Iterator
from typing import Any, Callable, NoReturn

from mxlite.base import NotImplementedForSymbol
from mxlite.error import MXIndexError, WrongTypeError
from mxlite.ndarray.ndarray import FLUENT
from mxlite.numpy import _functions, _table
from mxlite.numpy._arithmetic import ARITHMETIC, COMPARISONS
from mxlite.numpy._methods import Methods
from mxlite.symbol._generate import not_a_symbol
from mxlite.symbol.numpy._front import SYMBOLS, SymbolBase, function
from mxlite.symbol.symbol import Group, Symbol, load_json


class _Symbol(Methods, SymbolBase):
    """A symbol of `mx.sym.np`: what its functions make, and `symbol.as_np_ndarray()`.

    Args:
        handle: an integer or c_void_p that an API function returned as new; the symbol frees it.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment] # `==` makes a node

    _front = SYMBOLS

    def __repr__(self) -> str:
        name = self.name
        names = ", ".join(str(each.name) for each in self._outputs())
        return f"<_Symbol {name}>" if name is not None else f"<_Symbol group [{names}]>"

    def __reduce__(self) -> Any:
        return _from_json, (self.tojson(remove_amp_cast=False),)

    def as_np_ndarray(self) -> _Symbol:
        """Itself."""
        return self

    def as_nd_ndarray(self) -> Symbol:
        """The same outputs, of the same graph, as a Symbol of `mx.sym`."""
        return Symbol(self._shared())

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """The symbol converted to `dtype`."""
        return super().astype(dtype, order, casting, subok)

    # ---- outputs, and keys ----

    def _results(self) -> Any:
        outputs = self._outputs()
        return outputs[0] if len(outputs) == 1 else outputs

    def __len__(self) -> int:
        if self.num_outputs == 1:
            raise TypeError(f"{self} has one output: it is no list")
        return self.num_outputs

    def __iter__(self) -> Iterator[Symbol]:
        if self.num_outputs == 1:
            raise TypeError(f"{self} has one output: there is nothing to iterate over")
        return iter(self._outputs())

    def __getitem__(self, key: Any) -> Any:
        """Of several outputs, one by its number or name, or some by a slice; of one, elements by integers and slices.

        Raises: IndexError: another key, or there is no such output.
        """
        if self.num_outputs > 1:
            if isinstance(key, slice):
                return Group(self._outputs()[key], _Symbol)
            if isinstance(key, int) and key < 0:
                key += self.num_outputs
            return super().__getitem__(key)
        entries = key if isinstance(key, tuple) else (key,)
        parts = [_part(entry, key) for entry in entries]
        begin, end, step = ([part[i] for part in parts] for i in range(3))
        if not entries:
            return self
        taken = SYMBOLS("_npi_slice", self, begin=tuple(begin), end=tuple(end), step=tuple(step))
        if all(isinstance(entry, slice) for entry in entries):
            return taken
        # -3 drops an axis of size 1, -2 keeps one, -4 keeps all others.
        codes = tuple(-2 if isinstance(entry, slice) else -3 for entry in entries)
        return SYMBOLS("_npx_reshape", taken, newshape=(*codes, -4))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise NotImplementedForSymbol(self.__setitem__, "x[key] = value", key, value)

    def __bool__(self) -> NoReturn:
        raise NotImplementedForSymbol(self.__bool__, "bool")


def _part(entry: Any, key: Any) -> tuple[Any, Any, Any]:
    """The begin, end and step of one entry of a key."""
    if isinstance(entry, slice):
        return entry.start, entry.stop, entry.step
    try:
        at = _operator.index(entry)
    except TypeError:
        raise MXIndexError(f"a symbol's key is integers and slices, got {key!r}") from None
    return at, at + 1 or None, 1


def _from_json(text: str) -> Symbol:
    return load_json(text).as_np_ndarray()


def _refused(name: str, alias: str) -> Callable:
    def method(self: _Symbol, *args: Any) -> NoReturn:
        raise NotImplementedForSymbol(method, alias, *args)

    method.__name__ = name
    return method


def _other(name: str) -> Callable[[Any, Any], NoReturn]:
    def refused(one: Any, other: Any) -> NoReturn:
        value = one if isinstance(other, SymbolBase) else other
        if isinstance(value, Symbol):
            raise not_a_symbol(name, "an operand", value, SymbolBase)
        raise WrongTypeError(f"{name}: takes a symbol of mx.sym.np or a number beside one, got {type(value).__name__}")

    return refused


def _operators() -> dict[str, Callable]:
    methods: dict[str, Callable] = {}
    for method, (name, is_in_place) in ARITHMETIC.items():
        of_two = _functions.binary(name, _other(name), SYMBOLS)
        methods[f"__{method}__"] = lambda self, other, of_two=of_two: of_two(self, other)
        methods[f"__r{method}__"] = lambda self, other, of_two=of_two: of_two(other, self)
        if is_in_place:
            methods[f"__i{method}__"] = _refused(f"__i{method}__", f"{method}=")
    for method, name in COMPARISONS.items():
        of_two = _functions.binary(name, _other(name), SYMBOLS)
        methods[f"__{method}__"] = lambda self, other, of_two=of_two: of_two(self, other)
    for old in ("__div__", "__rdiv__", "__idiv__"):
        methods[old] = methods[old.replace("div", "truediv")]
    methods["__neg__"] = lambda self: self * -1
    methods["__matmul__"] = lambda self, other: SYMBOLS.matmul(self, other)
    methods["__rmatmul__"] = lambda self, other: SYMBOLS.matmul(other, self)
    for method, name in {"abs": "abs", "invert": "invert", "floor": "floor", "ceil": "ceil", "trunc": "trunc"}.items():
        methods[f"__{method}__"] = lambda self, name=name: getattr(SYMBOLS, name)(self)
    methods["__round__"] = lambda self, n=0: self.round(n)
    return methods


class _Made:
    """A method that is a function of the table, which is made when it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, symbol: Any, owner: type) -> Any:
        made = function(f"ndarray.{self._name}")
        setattr(_Symbol, self._name, made)
        return made if symbol is None else made.__get__(symbol, owner)


def _lacking(name: str) -> Any:
    """A method that symbols of `mx.sym.np` do not have, as in 1.9.1."""

    def method(self: _Symbol, *args: Any, **kwargs: Any) -> NoReturn:
        raise AttributeError(f"a symbol of mx.sym.np has no {name}; mx.sym.np and mx.sym.npx have functions")

    method.__name__, method.__qualname__ = name, f"_Symbol.{name}"
    return method


def _install() -> None:
    for name, method in _operators().items():
        method.__name__, method.__qualname__ = name, f"_Symbol.{name}"
        setattr(_Symbol, name, method)
    for name in _table.names("ndarray"):
        setattr(_Symbol, name, _Made(name))
    for name in {*FLUENT, "broadcast_axes", "broadcast_like", "expand_dims", "split_v2"} - vars(_Symbol).keys():
        if name not in vars(Methods):
            setattr(_Symbol, name, _lacking(name))


_Symbol.__module__ = "mxlite.symbol.numpy"  # as in 1.9.1
SymbolBase._kind = _Symbol
_install()
