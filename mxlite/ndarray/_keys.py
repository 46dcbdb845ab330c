"""Reading and writing by keys: `x[key] = value`, and `x[key]` with any key that is not an integer or a plain slice.

`install` gives NDArray its methods that read and write parts.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mxlite._index.positions import Positions
from mxlite.ndarray._indexing import Selection, final_shape, parse
from mxlite.ndarray.ndarray import NUMBERS, NDArray, _from_numpy, invoke, new_array
from mxlite.util import is_np_shape


def _parsed(key: Any, sizes: tuple[int, ...]) -> tuple[list[tuple[int, Any]], bool]:
    """The parts of a key, and whether one of them is an array; `:` alone is the whole of an array without axes, too."""
    whole = not sizes and key.__class__ is slice and key == slice(None)
    return parse(() if whole else key, sizes)


def _get(self: NDArray, key: Any) -> NDArray:
    sizes = self.shape
    parts, has_arrays = _parsed(key, sizes)
    if has_arrays:
        return _take(self, Positions(parts, sizes))
    selection = Selection(parts, sizes)
    shape = final_shape(selection.shape, not sizes or is_np_shape())
    if selection.is_empty():
        return _nothing(self, shape)
    run_of = selection.run(sizes)
    if run_of is None:
        begin, end, step = selection.bounds()
        part = invoke("slice", [self], {"begin": begin, "end": end, "step": step})
        return part if part.shape == shape else part.reshape(shape)
    if selection.lengths[1:] == list(sizes[1:]) and sizes:
        view = self[selection.begin[0] : selection.begin[0] + selection.lengths[0]]
    elif sizes:
        view = self.reshape((-1,))[run_of[0] : run_of[1]]
    else:
        view = self
    return view.reshape(shape) if view.shape != shape or view is self else view


def _nothing(array: NDArray, shape: tuple[int, ...]) -> NDArray:
    """An array without elements that is recorded like any part of `array`."""
    part = array.reshape((-1,))[0:0]
    return part if part.shape == shape else invoke("_mxl_reshape_to", [part], {"shape": shape})


def _take(array: NDArray, chosen: Positions) -> NDArray:
    """The elements that index arrays and masks select, copied by the operator `take`."""
    if 0 in chosen.shape:
        return _nothing(array, chosen.shape)
    if chosen.only is None:
        array, index, axis = array.reshape(chosen.rows()), chosen.places(), 0
    else:
        index, axis = chosen.index, chosen.only
    part = invoke("take", [array, _from_numpy(index)], {"axis": axis, "mode": "clip"})
    return part if part.shape == chosen.shape else part.reshape(chosen.shape)


def _set(self: NDArray, key: Any, value: Any) -> None:
    """Assigns a number, an NDArray or anything that NumPy makes an array of, broadcast to what `key` selects.

    While recording, the whole of an array that is not recorded may be assigned (and is recorded), a part of it
    only from what is not recorded. Where a key selects an element twice, the last value stays.
    Raises: IndexError, ValueError (shapes), TypeError (values), MXNetError (the in-place rules).
    """
    if hasattr(self, "_read_only"):
        raise ValueError("trying to write to a readonly NDArray")
    sizes = self.shape
    parts, has_arrays = _parsed(key, sizes)
    if has_arrays:
        _scatter(self, Positions(parts, sizes), value)
        return
    selection = Selection(parts, sizes)
    whole = selection.is_whole(sizes)
    if isinstance(value, NUMBERS):
        if not selection.is_empty():
            _set_number(self, selection, whole, value)
        return
    value = _as_value(value, self, tuple(selection.shape))
    if not selection.is_empty():
        _set_array(self, selection, whole, value)


def _set_number(array: NDArray, selection: Selection, whole: bool, value: Any) -> None:
    if whole:
        _full(array, float(value))
        return
    begin, end, step = selection.bounds()
    given = {"scalar": float(value), "begin": begin, "end": end, "step": step}
    invoke("_slice_assign_scalar", [array], given, array)


def _set_array(array: NDArray, selection: Selection, whole: bool, value: NDArray) -> None:
    lengths = tuple(selection.lengths)
    if value.shape != lengths:
        value = value.reshape(lengths)
    if whole:
        invoke("_copyto", [value], {}, array)
        return
    begin, end, step = selection.bounds()
    invoke("_slice_assign", [array, value], {"begin": begin, "end": end, "step": step}, array)


def _scatter(array: NDArray, chosen: Positions, value: Any) -> None:
    """Writes to what index arrays and masks select, by the operator `_scatter_set_nd`."""
    empty = 0 in chosen.shape
    if not isinstance(value, NUMBERS):
        value = _as_value(value, array, chosen.shape)
    if empty:
        return
    rows, places = chosen.rows(), chosen.places()
    shape = (places.size, *rows[1:])
    if isinstance(value, NDArray):
        value = value.reshape(shape)
    else:
        value = invoke("_full", [], {"shape": shape, "value": float(value), "dtype": array.dtype})
    view = array.reshape(rows)
    invoke("_scatter_set_nd", [view, value, _from_numpy(places.reshape(1, -1))], {"shape": rows}, view)


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
    return invoke("_full", [], {"shape": self.shape, "value": value, "dtype": self.dtype}, self)


def _as_value(value: Any, target: NDArray, shape: tuple[int, ...]) -> NDArray:
    """The value to assign to a part of `target`, as an NDArray of its dtype and of `shape`."""
    if isinstance(value, NDArray):
        if value.dtype != target.dtype:
            value = value.astype(target.dtype)
        if value.shape != shape:
            value = _broadcast(value, shape)
        return value
    try:
        values = np.asarray(value, dtype=target.dtype)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"an NDArray cannot hold {value!r} of type {type(value)}") from problem
    return _from_numpy(np.broadcast_to(values.reshape(_without_ones(values.shape, len(shape))), shape))


def _without_ones(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """The shape of a value without the axes of size 1 in front that it has more than `ndim`."""
    while len(shape) > ndim and shape[0] == 1:
        shape = shape[1:]
    return shape


def _broadcast(value: NDArray, shape: tuple[int, ...]) -> NDArray:
    have = _without_ones(value.shape, len(shape))
    try:
        fits = np.broadcast_shapes(have, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"an array of shape {value.shape} cannot be broadcast to {shape}")
    if 0 in shape:
        return new_array(shape, value.dtype)
    if have != value.shape:
        value = value.reshape(have)
    return value if have == shape else invoke("_mxl_broadcast_to", [value], {"shape": shape})


def install() -> None:
    """Gives NDArray the methods of this module."""
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
