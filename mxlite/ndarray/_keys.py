"""Reading and writing by keys: `x[key] = value`, and `x[key]` with any key that is not an integer or a plain slice.

`install` gives NDArray its methods that read and write parts. Arrays of `mx.np` have them too, with keys of their own.
"""

from __future__ import annotations

import operator
from functools import cache
from inspect import unwrap
from typing import Any, Callable

import numpy as np

from mxlite._lib import hot, last_error, raise_last_error
from mxlite.base import BFLOAT16, as_elements, dtype_name, needs_array
from mxlite.ndarray._indexing import array_of, is_whole, parse
from mxlite.ndarray._operators import prepare
from mxlite.ndarray.ndarray import NUMBERS, NDArray, invoke


class Keys:
    """How a class of arrays takes keys.

    Args:
        rules: whose rules the library follows (capi/ops/index/key.h).
        parse: of an array and a key: the key as the operators take it, and its index arrays.
    """

    def __init__(self, rules: str, parse: Callable[[Any, Any], tuple[tuple[int, ...], list]]) -> None:
        self.parse = parse
        self.read = prepare("_mxl_index", {"rules": rules}, ("key",))
        self.put = prepare("_mxl_index_put", {"rules": rules}, ("key",))
        self.put_number = prepare("_mxl_index_put", {"rules": rules, "fill": "True"}, ("key", "scalar"))

    def install(self, cls: type) -> None:
        """Makes the usual calls of `__getitem__` and `__setitem__` of a class in C."""
        read, write = cls.__getitem__, unwrap(cls.__setitem__)  # type: ignore[attr-defined]
        cls.__getitem__ = hot.direct(read, raise_last_error, cls, subscript=True, many=self.read)  # type: ignore
        put = {"one": self.put_number, "two": self.put, "many": _copy()}
        cls.__setitem__ = hot.direct(write, raise_last_error, cls, put=True, **put)  # type: ignore


def _parsed(array: NDArray, key: Any) -> tuple[tuple[int, ...], list[NDArray]]:
    """The key, and its index arrays; `:` alone is the whole of an array without axes, too."""
    whole = key.__class__ is slice and key == slice(None) and not array.shape
    return parse(array, () if whole else key)


def _get(self: NDArray, key: Any) -> NDArray:
    keys = self._keys
    numbers, arrays = keys.parse(self, key)
    made = hot.run(self._kind, keys.read, (self, *arrays), (numbers,), None)
    if made is None:
        raise last_error()
    return made


def _set(self: NDArray, key: Any, value: Any) -> None:
    """Assigns a number, an NDArray or anything that NumPy makes an array of, broadcast to what `key` selects.

    While recording, the whole of an array that is not recorded may be assigned (and is recorded), a part of it
    only from what is not recorded. Where a key selects an element twice, the last value stays.
    Raises: IndexError, ValueError (shapes), TypeError (values), MXNetError (the in-place rules).
    """
    if hasattr(self, "_read_only"):
        raise ValueError("trying to write to a readonly NDArray")
    keys = self._keys
    numbers, arrays = keys.parse(self, key)
    whole = not arrays and is_whole(key, self.shape)
    if isinstance(value, NUMBERS) and not needs_array(value, self.dtype):
        if whole:
            _full(self, float(value))
        else:
            _into(keys.put_number, self, [self._h, *(array._h for array in arrays)], [numbers, float(value)])
        return
    if not isinstance(value, NDArray):
        value = _as_value(value, self.dtype)
    elif value.stype != "default":
        raise TypeError(f"a {value.stype} array cannot be assigned to a part of a dense one; copyto writes all of it")
    if whole:
        invoke("_copyto", [value if value.shape == self.shape else _broadcast(value, self.shape)], {}, self)
    else:
        _into(keys.put, self, [self._h, value._h, *(array._h for array in arrays)], [numbers])


def _into(call: int, out: NDArray, inputs: list[int], arguments: list) -> None:
    if hot.call_into(call, inputs, arguments, [out._h]) is None:
        raise last_error()


def _slice_assign(self: NDArray, rhs: NDArray, begin: tuple, end: tuple, step: tuple) -> NDArray:
    """Writes an array of exactly that shape to a part given as the operator `slice` takes it; the array itself."""
    return invoke("_slice_assign", [self, rhs], {"begin": begin, "end": end, "step": step or ()}, self)


def _slice_assign_scalar(self: NDArray, value: float, begin: tuple, end: tuple, step: tuple) -> NDArray:
    """Writes a number to a part given as the operator `slice` takes it; the array itself."""
    given = {"scalar": float(value), "begin": begin, "end": end, "step": step or ()}
    return invoke("_slice_assign_scalar", [self], given, self)


def _at(self: NDArray, idx: int) -> NDArray:
    """A row, `x[idx]`. Raises: IndexError."""
    return self[operator.index(idx)]


def _slice(self: NDArray, start: int | None, stop: int | None) -> NDArray:
    """Rows, `x[start:stop]`: a view."""
    return self[slice(start, stop)]


def _full(self: NDArray, value: float) -> NDArray:
    """Writes a number to all elements; the array itself."""
    kind = dtype_name(self.dtype)
    _into(_fill(kind), self, [], [self.shape, float(value)])
    return self


@cache
def _copy() -> int:
    """The prepared call that copies an array into another of its shape."""
    return prepare("_copyto", {}, ())


@cache
def _fill(dtype: str) -> int:
    """The prepared call that makes an array of one number."""
    return prepare("_full", {"dtype": dtype}, ("shape", "value"))


def _as_value(value: Any, dtype: Any) -> NDArray:
    """A value to assign, as an NDArray."""
    try:
        values = as_elements(np.asarray(value), dtype) if dtype is BFLOAT16 else np.asarray(value, dtype=dtype)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"an NDArray cannot hold {value!r} of type {type(value)}") from problem
    return array_of(values)


def _broadcast(value: NDArray, shape: tuple[int, ...]) -> NDArray:
    """The value in another shape; axes of size 1 in front that it has more go."""
    have = value.shape
    while len(have) > len(shape) and have[0] == 1:
        have = have[1:]
    try:
        fits = np.broadcast_shapes(have, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"an array of shape {value.shape} cannot be broadcast to {shape}")
    value = value if have == value.shape else value.reshape(have)
    return value if have == shape else invoke("_mxl_broadcast_to", [value], {"shape": shape})


def install() -> None:
    """Gives NDArray the methods of this module."""
    NDArray._keys = Keys("mxnet", _parsed)
    for name, method in {
        "_get": _get,
        "__setitem__": _set,
        "slice_assign": _slice_assign,
        "slice_assign_scalar": _slice_assign_scalar,
        "_full": _full,
        "_at": _at,
        "_slice": _slice,
    }.items():
        method.__name__, method.__qualname__ = name, f"NDArray.{name}"
        setattr(NDArray, name, method)
    NDArray._keys.install(NDArray)
