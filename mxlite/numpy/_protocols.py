"""NumPy's functions and ufuncs of arrays of `mx.np`: `numpy.sin(x)`, `numpy.concatenate([x, y])`.

Those that `mx.np` has are its own, and recorded. Others answer on the arrays' values, with arrays of `mx.np` where
there are such; so does what `mx.np` leaves to NumPy by name (`_table.LEFT`). `install` gives ndarray the two methods
by which NumPy asks.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from typing import Any, Callable

import numpy as np

from mxlite.error import MXNotImplementedError
from mxlite.ndarray._gradient import FRONT_END
from mxlite.ndarray.ndarray import NDArray
from mxlite.numpy import _functions, _table
from mxlite.numpy._functions import ARRAYS
from mxlite.numpy._values import on_values
from mxlite.numpy.multiarray import ndarray

_COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)


class _Function:
    """A function of `mx.np` that is called as NumPy's of that name.

    Args:
        function: it.
        func: NumPy's.
    """

    def __init__(self, function: Callable, func: Callable) -> None:
        self._function = function
        self._own = list(inspect.signature(function).parameters)
        rows = _parameters(func)
        #: Whether it takes any number of arrays.
        self.is_counted = any(each.kind is each.VAR_POSITIONAL for each in rows)
        self._order = [each.name for each in rows if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        self._defaults = {each.name: each.default for each in rows}
        #: NumPy's name of an argument -> the function's, which has another name for it at the same place.
        self._names = {
            name: own
            for name, own in zip(self._order, self._own)
            if name not in self._own and own not in self._order and own not in ("out", "ctx")
        }
        #: Where arguments begin to have other places.
        self._places = len(self._order)
        for place, name in enumerate(self._order):
            if self._own[place : place + 1] != [self._names.get(name, name)]:
                self._places = place
                break

    def bound(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
        """The function's arguments for those of NumPy's; None: it has no such argument."""
        if self.is_counted or not self._order:
            return args, kwargs
        given = {**dict(zip(self._order[self._places :], args[self._places :])), **kwargs}
        named = {}
        for name, value in given.items():
            own = self._names.get(name, name)
            if own in self._own or "kwargs" in self._own:
                named[own] = value
            elif value is not self._defaults.get(name, named):
                return None
        return args[: self._places], named

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def _parameters(func: Callable) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(func).parameters.values())
    except ValueError:  # of a function in C
        return []


@cache
def _function(func: Callable) -> _Function | None:
    """What `mx.np` has for a function of NumPy's; None: nothing."""
    module, name = func.__module__, _table.RENAMED.get(func.__name__, func.__name__)
    if module not in ("numpy", "numpy.linalg") or name not in _public(module):
        return None
    return _Function(getattr(import_module(f"mxlite.{module}"), name), func)


@cache
def _public(module: str) -> frozenset[str]:
    """The functions that answer for NumPy's of one of its modules."""
    part = module.partition(".")[2]
    known = {name for name in _functions.names(part) if f"{part}{part and '.'}{name}" not in _table.OTHERS}
    return frozenset(known - _table.LEFT | ({"ndim", "size", "real"} if not part else set()))


def _array_function(self: ndarray, func: Callable, types: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """NumPy's functions of the array: those of `mx.np`, or on its values.

    Raises: ValueError (and MXNetError): recording is on, and `mx.np` has no such function.
    """
    if not all(issubclass(each, (NDArray, np.ndarray)) for each in types):
        return NotImplemented
    own = _function(func)
    # Numbers and NumPy's arrays among any number of arrays are converted by NumPy.
    if own is not None and not (own.is_counted and not all(isinstance(each, (ndarray, str)) for each in args)):
        bound = own.bound(args, kwargs)
        try:
            if bound is not None:
                return own(*bound[0], **bound[1])
        except MXNotImplementedError:
            if FRONT_END.is_recording():
                raise
    return on_values(ARRAYS.array_from, f"{func.__module__}.{func.__name__}", func, args, kwargs)


def _knows(value: Any) -> bool:
    """Whether no other class than ours and NumPy's has a say in an operand."""
    return isinstance(value, (NDArray, np.ndarray, np.generic)) or not hasattr(value, "__array_ufunc__")


def _array_ufunc(self: ndarray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy's ufuncs of the array: those of `mx.np`, or on its values.

    Raises: ValueError (and MXNetError): recording is on, and `mx.np` has no such function; TypeError: arrays of NumPy's
    are operands of one that it has.
    """
    if not all(map(_knows, inputs)):
        return NotImplemented
    name = ufunc.__name__
    if method != "__call__" or name not in _public("numpy"):
        suffix = "" if method == "__call__" else f".{method}"
        return on_values(ARRAYS.array_from, f"numpy.{name}{suffix}", getattr(ufunc, method), inputs, kwargs)
    if ufunc in _COMPARISONS:  # NumPy's scalars on the left hand themselves over as arrays
        inputs = tuple(each[()] if isinstance(each, np.ndarray) and not each.ndim else each for each in inputs)
    out = kwargs.pop("out", None)
    if out is not None:
        kwargs["out"] = out[0] if len(out) == 1 else out
    return ARRAYS.__getattr__(name)(*inputs, **kwargs)


def install() -> None:
    """Gives ndarray the methods of this module."""
    for name, method in {"__array_function__": _array_function, "__array_ufunc__": _array_ufunc}.items():
        method.__name__, method.__qualname__ = name, f"ndarray.{name}"
        setattr(ndarray, name, method)
