"""The two classes of symbols: `mx.sym` for those of `mx.sym.np`, which blocks of the package compute with."""

from __future__ import annotations

import importlib
from functools import cache, wraps
from types import ModuleType
from typing import Any, Callable

from mxlite.ndarray._kinds import Functions
from mxlite.symbol._generate import make_function
from mxlite.symbol.symbol import Symbol, of_numpy


def as_kind(value: Any, kind: type[Symbol]) -> Any:
    """A value whose symbols, in nested lists, tuples and dictionaries too, are of a class; the same graph."""
    if isinstance(value, Symbol):
        if value._kind is kind:
            return value
        return value.as_nd_ndarray() if kind is Symbol else value.as_np_ndarray()
    if value.__class__ in (list, tuple):
        return value.__class__(as_kind(each, kind) for each in value)
    if value.__class__ is dict:
        return {name: as_kind(each, kind) for name, each in value.items()}
    return value


def first_kind(values: Any) -> type[Symbol]:
    """The class of the first symbol in nested lists."""
    for each in values:
        if isinstance(each, Symbol):
            return each._kind
        if isinstance(each, (list, tuple)):
            found = first_kind(each)
            if found is not Symbol:
                return found
    return Symbol


class _Functions(Functions):
    """A module of `mx.sym` whose functions take and give symbols of `mx.sym.np`."""

    def _made(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            is_numpy = found.__name__.startswith(("mxlite.symbol.numpy", "mxlite.symbol.numpy_extension"))
            return found if is_numpy else _Functions(found)
        if hasattr(found, "for_both"):
            return found
        operator = getattr(found, "_operator", None)
        if operator is not None:
            return make_function(operator, of_numpy(), name, found.__module__)
        return _giving(found) if callable(found) and not isinstance(found, type) else found


def _giving(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `mx.sym` for symbols of `mx.sym.np`; it gives such whatever it takes."""

    @wraps(function)
    def give(*args: Any, **kwargs: Any) -> Any:
        return as_kind(function(*as_kind(args, Symbol), **as_kind(kwargs, Symbol)), of_numpy())

    return give


def of_both_classes(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `mx.sym` that calls functions of the user's, for both classes: what it gives them, and gets, is of
    its inputs'."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        kind = first_kind([*args, *kwargs.values()])
        if kind is Symbol:
            return function(*args, **kwargs)

        def turned(value: Any) -> Any:
            if isinstance(value, (list, tuple, dict, Symbol)) or not callable(value):
                return as_kind(value, Symbol)
            return lambda *given: as_kind(value(*as_kind(given, kind)), Symbol)

        made = function(*map(turned, args), **{name: turned(value) for name, value in kwargs.items()})
        return as_kind(made, kind)

    call.for_both = True  # type: ignore[attr-defined] # for `_Functions`
    return call


@cache
def numpy_functions() -> _Functions:
    """`mx.sym` for symbols of `mx.sym.np`."""
    return _Functions(importlib.import_module("mxlite.symbol"))


def functions_for(kind: type[Symbol]) -> Any:
    """`mx.sym` for symbols of a class: itself, or `numpy_functions()`."""
    return importlib.import_module("mxlite.symbol") if kind is Symbol else numpy_functions()
