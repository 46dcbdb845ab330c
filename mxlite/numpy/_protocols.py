"""NumPy's functions and ufuncs of arrays of `mx.np`: `numpy.sin(x)`, `numpy.concatenate([x, y])`.

Those that `mx.np` has are its own, and recorded. Others answer on the arrays' values, with arrays of `mx.np` where there
are such; what `mx.np` leaves to NumPy by name (`_table.LEFT`) does the same. `install` gives ndarray the two methods by
which NumPy asks.
"""

from __future__ import annotations

import inspect
import warnings
from functools import cache
from importlib import import_module
from typing import Any, Callable

import numpy as np

from mxlite.base import DTYPE_OF_FLAG
from mxlite.error import MXTypeError, MXValueError
from mxlite.ndarray._gradient import FRONT_END
from mxlite.ndarray._numpy import _leaves, _replaced
from mxlite.ndarray.ndarray import NDArray
from mxlite.numpy import _functions, _table
from mxlite.numpy._functions import ARRAYS
from mxlite.numpy.multiarray import ndarray

_COMPARISONS = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
_DTYPES = frozenset(np.dtype(each) for each in DTYPE_OF_FLAG.values())
#: The functions that the program has been told of.
_told: set[str] = set()


def on_values(name: str, call: Callable, args: Any, kwargs: dict[str, Any]) -> Any:
    """The answer of `call`, which is NumPy's and has this name, on the values of arrays; arrays in it are of `mx.np`,
    unless their dtype is none of its.

    Raises: ValueError (and MXNetError): recording is on; TypeError: `out` is an array of `mx.np`.
    """
    if FRONT_END.is_recording():
        raise MXValueError(
            f"{name} is computed by NumPy, which records nothing; call it outside autograd.record(), or in"
            " autograd.pause()"
        )
    if any(isinstance(each, NDArray) for each in _leaves(kwargs.get("out"))):
        raise MXTypeError(f"{name}: out is an array of mx.np, NumPy writes to its own; write x[:] = the result")
    if name not in _told:
        _told.add(name)
        text = f"{name} is computed by NumPy on the arrays' values, and refused while recording (this is said once)"
        warnings.warn(text, UserWarning, stacklevel=4)
    args, kwargs = _replaced((args, kwargs), np.asarray)
    return _as_ours(call(*args, **kwargs))


def _as_ours(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype in _DTYPES:
        return ARRAYS.array_from(value, None, None)
    if isinstance(value, tuple):
        return tuple(map(_as_ours, value))
    return [_as_ours(each) for each in value] if value.__class__ is list else value


class _Function:
    """A function of `mx.np` that takes its arguments as NumPy's function of that name does."""

    def __init__(self, function: Callable, names: list[str]) -> None:
        self._function = function
        own = list(inspect.signature(function).parameters)
        #: NumPy's name of an argument -> the function's: the same, or what the function has at that place.
        self._names = {
            name: name if name in own or place >= len(own) or own[place] in names else own[place]
            for place, name in enumerate(names)
        }
        #: Where arguments begin to have other places.
        orders = enumerate(zip(names, own))
        self._places = next((k for k, (name, mine) in orders if self._names[name] != mine), min(len(names), len(own)))
        self._order = names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        named = {self._names.get(name, name): value for name, value in kwargs.items()}
        if self._order and len(args) > self._places:
            rest = zip(self._order[self._places :], args[self._places :])
            named.update((self._names[name], value) for name, value in rest)
            args = args[: self._places]
        return self._function(*args, **named)


@cache
def _function(func: Callable) -> _Function | None:
    """What `mx.np` has for a function of NumPy's; None: nothing."""
    module, name = func.__module__, func.__name__
    if module not in ("numpy", "numpy.linalg"):
        return None
    name = _table.RENAMED.get(name, name)
    own = getattr(import_module(f"mxlite.{module}"), name, None) if name in _public(module) else None
    if own is None:
        return None
    try:
        rows = inspect.signature(func).parameters.values()
    except ValueError:
        return _Function(own, [])
    # What takes any number of arrays has no places.
    is_counted = any(each.kind is each.VAR_POSITIONAL for each in rows)
    return _Function(own, [] if is_counted else [each.name for each in rows])


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
    if own is not None:
        return own(*args, **kwargs)
    return on_values(f"{func.__module__}.{func.__name__}", func, args, kwargs)


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
        return on_values(f"numpy.{name}{suffix}", getattr(ufunc, method), inputs, kwargs)
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
