"""NumPy's functions and ufuncs of NDArrays: `np.mean(x)`, `np.sin(x)`, `values + x`.

They answer on the arrays' values, and refuse where a gradient would be lost by that. What NumPy calls for Python's
operators (np.add for `values + x`) and what MXNet 1.9.1 answers by a method of the array (np.sum) gives an NDArray, and
is recorded. `install` gives NDArray the two methods by which NumPy asks.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite.error import MXTypeError
from mxlite.ndarray._gradient import FRONT_END
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.shapes import moveaxis, split_v2

#: ufunc -> the operator's method of an array on the left, and of one on the right.
_OPERATORS = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
    np.true_divide: ("__truediv__", "__rtruediv__"),
    np.remainder: ("__mod__", "__rmod__"),
    np.power: ("__pow__", "__rpow__"),
    np.matmul: ("__matmul__", "__rmatmul__"),
    np.equal: ("__eq__", "__eq__"),
    np.not_equal: ("__ne__", "__ne__"),
    np.less: ("__lt__", "__gt__"),
    np.less_equal: ("__le__", "__ge__"),
    np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__"),
}


_LISTS = (list, np.ndarray, NDArray)
#: Arguments that NumPy's functions take, and the methods do not.
_NUMPYS = frozenset(("dtype", "out", "where", "initial"))


def _by_method(name: str) -> Callable[..., Any]:
    def call(array: NDArray, *args: Any, **kwargs: Any) -> Any:
        if _NUMPYS & kwargs.keys() or any(isinstance(each, _LISTS) for each in (*args, *kwargs.values())):
            return NotImplemented
        return getattr(array, name)(*args, **kwargs)

    return call


def _flip(array: NDArray, axis: Any = None) -> NDArray:
    return array.flip(axis=tuple(range(array.ndim)) if axis is None else axis)


def _split(array: NDArray, places: Any, axis: int = 0) -> list[NDArray]:
    parts = split_v2(array, places if isinstance(places, int) else tuple(places), axis)
    return parts if isinstance(parts, list) else [parts]


def _transpose(array: NDArray, axes: Any = None) -> NDArray:
    return array.transpose() if axes is None else array.transpose(axes)


#: The functions whose result is an NDArray, by name; NotImplemented: on values after all, with these arguments.
_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _by_method(name) for name in "sum prod max min argmax argmin clip repeat squeeze swapaxes".split()},
    "amax": _by_method("max"),
    "amin": _by_method("min"),
    "flip": _flip,
    "moveaxis": moveaxis,
    "split": _split,
    "transpose": _transpose,
}
#: Functions with results of floating dtypes that do not depend on the elements.
_CONSTANT = frozenset(("np.empty_like", "np.full_like", "np.ones_like", "np.zeros_like"))

#: The function of mx.nd to write instead, where its name is another one.
_INSTEAD = {"absolute": "abs", "concatenate": "concat", "matmul": "dot", "around": "round", "round_": "round"}


def replaced(value: Any, convert: Callable[[NDArray], Any]) -> Any:
    """The value with NDArrays converted, also those in lists, tuples and dicts."""
    if isinstance(value, NDArray):
        return convert(value)
    if value.__class__ in (list, tuple):
        return value.__class__(replaced(each, convert) for each in value)
    if value.__class__ is dict:
        return {key: replaced(each, convert) for key, each in value.items()}
    return value


def leaves(value: Any) -> list[Any]:
    """The value, or those in lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for each in value for leaf in leaves(each)] if isinstance(value, (list, tuple)) else [value]


def _has_fractions(value: Any) -> bool:
    return isinstance(value, (float, complex)) or (
        isinstance(value, (np.ndarray, np.generic)) and issubclass(value.dtype.type, np.inexact)
    )


def _refuse(called: str, array: NDArray) -> None:
    """Raises the error for a function of an array whose gradient would be lost."""
    name = called.rpartition(".")[2]
    name = _INSTEAD.get(name, name)
    instead = f"write mx.nd.{name}, or " if _is_function(name) else "write it with functions of mx.nd, or "
    raise MXTypeError(
        f"{called} of an array of shape {array.shape} that is being recorded would lose its gradient: {instead}"
        f"{called}(x.detach()) for the values alone"
    )


def _answer(name: str, call: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of `call`, a function of NumPy's with this name, for the values of the arguments.

    Raises: TypeError (and MXNetError): a gradient would be lost, or `out` is an NDArray; ValueError: the function would
    write to another argument that is one.
    """
    views: list[np.ndarray] = []

    def look(array: NDArray) -> np.ndarray:
        views.append(np.asarray(array))  # to be read alone
        return views[-1]

    out = leaves(kwargs.get("out"))
    if any(isinstance(each, NDArray) for each in out):
        raise MXTypeError(f"{name}: out is an NDArray, NumPy writes to its own; write x[:] = the result")
    recorded = []
    if FRONT_END.is_recording():
        recorded = [each for each in leaves((args, kwargs)) if isinstance(each, NDArray) and each.requires_grad]
    if recorded and any(map(_has_fractions, out)):
        _refuse(name, recorded[0])
    read = replaced((args, kwargs), look)
    if not views:  # they are within something that is no list
        return NotImplemented
    result = call(*read[0], **read[1])
    if recorded and name not in _CONSTANT and any(map(_has_fractions, leaves(result))):
        _refuse(name, recorded[0])
    if any(np.may_share_memory(part, view) for part in _arrays(result) for view in views):
        args, kwargs = replaced((args, kwargs), NDArray.asnumpy)
        result = call(*args, **kwargs)
    return result


def _arrays(value: Any) -> list[np.ndarray]:
    return [each for each in leaves(value) if isinstance(each, np.ndarray)]


def _array_function(self: NDArray, func: Callable, types: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """NumPy's functions of the array: on its values; those that are its methods in 1.9.1 give an NDArray.

    Raises: TypeError (and MXNetError): recording is on, and the array's gradient would be lost.
    """
    method = _METHODS.get(func.__name__) if func.__module__ == "numpy" else None
    if method is not None and args and isinstance(args[0], NDArray):
        result = method(*args, **kwargs)
        if result is not NotImplemented:
            return result
    return _answer(f"{func.__module__.replace('numpy', 'np', 1)}.{func.__name__}", func, args, kwargs)


def _array_ufunc(self: NDArray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """NumPy's ufuncs of the array: those of Python's operators give an NDArray, others answer on its values.

    Raises: TypeError (and MXNetError): recording is on, and the array's gradient would be lost.
    """
    if method == "__call__" and ufunc in _OPERATORS and not kwargs:
        left, right = _OPERATORS[ufunc]
        one, two = inputs
        result = getattr(one, left)(two) if isinstance(one, NDArray) else getattr(two, right)(one)
        if result is not NotImplemented:
            return result
    name = f"np.{ufunc.__name__}" + f".{method}" * (method != "__call__")
    return _answer(name, getattr(ufunc, method), inputs, kwargs)


#: Whether mx.nd has a function of that name; `install` sets it.
_is_function: Callable[[str], bool]


def install(is_function: Callable[[str], bool]) -> None:
    """Gives NDArray the methods of this module; `is_function`: whether mx.nd has a function of that name."""
    global _is_function
    _is_function = is_function
    for name, method in {"__array_function__": _array_function, "__array_ufunc__": _array_ufunc}.items():
        method.__name__, method.__qualname__ = name, f"NDArray.{name}"
        setattr(NDArray, name, method)
