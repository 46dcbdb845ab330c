"""Reading and writing by keys: `x[key] = value`, and `x[key]` with any key that is not an integer or a plain slice.

`install` gives NDArray the methods `_get` and `__setitem__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.ndarray._indexing import Selection, final_shape
from mxlite.ndarray.ndarray import NUMBERS, NDArray, _from_numpy, invoke, new_array
from mxlite.util import is_np_shape


def _get(self: NDArray, key: Any) -> NDArray:
    extents = self.shape
    selection = Selection(key, extents)
    shape = final_shape(selection.shape, bool(selection.shape) or is_np_shape())
    run_of = selection.run(extents)
    if run_of is None or selection.is_empty():
        return _get_apart(self, selection, shape)
    if selection.lengths[1:] == list(extents[1:]) and extents:
        view = self[selection.begin[0] : selection.begin[0] + selection.lengths[0]]
    elif extents:
        view = self.reshape((-1,))[run_of[0] : run_of[1]]
    else:
        view = self
    return view.reshape(shape) if view.shape != shape or view is self else view


def _get_apart(array: NDArray, selection: Selection, shape: tuple[int, ...]) -> NDArray:
    """A selection that is not one run of memory, or is empty: copied by the operator `slice`."""
    lengths = tuple(selection.lengths)
    if selection.is_empty():
        for axis, length in enumerate(lengths):
            if length == 0:
                selection.end[axis], selection.step[axis] = selection.begin[axis], 1
    begin, end, step = selection.bounds()
    part = invoke("slice", [array], {"begin": begin, "end": end, "step": step})
    if part.shape == shape:
        return part
    if 0 in shape:
        return new_array(shape, part.dtype)
    return part.reshape(shape)


def _set(self: NDArray, key: Any, value: Any) -> None:
    """Assigns a number, an NDArray or anything that NumPy makes an array of, broadcast to what `key` selects.

    While recording, the whole of an array that is not recorded may be assigned (and is recorded), a part of it
    only from what is not recorded.
    Raises: IndexError, ValueError (shapes), TypeError (values), MXNetError (the in-place rules).
    """
    if hasattr(self, "_read_only"):
        raise ValueError("trying to write to a readonly NDArray")
    extents = self.shape
    selection = Selection(key, extents)
    if selection.is_empty():
        return
    whole = selection.is_whole(extents)
    if isinstance(value, NUMBERS):
        _set_number(self, selection, whole, value)
    else:
        _set_array(self, selection, whole, _as_value(value, self, tuple(selection.shape)))


def _set_number(array: NDArray, selection: Selection, whole: bool, value: Any) -> None:
    if whole:
        given = {"shape": array.shape, "value": float(value), "dtype": array.dtype}
        invoke("_full", [], given, array)
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


def _as_value(value: Any, target: NDArray, shape: tuple[int, ...]) -> NDArray:
    """What is assigned to a part of `target`, as an NDArray of its dtype and of `shape`."""
    if isinstance(value, NDArray):
        if value.dtype != target.dtype:
            value = value.astype(target.dtype)
        if value.shape != shape:
            value = _broadcast(value, shape)
        return value
    try:
        values = np.asarray(value, dtype=target.dtype)
    except (TypeError, ValueError) as problem:
        raise TypeError(f"NDArray does not support assignment of {value!r} of type {type(value)}") from problem
    return _from_numpy(np.broadcast_to(values, shape))


def _broadcast(value: NDArray, shape: tuple[int, ...]) -> NDArray:
    have = value.shape
    while len(have) > len(shape) and have[0] == 1:  # x[0] = an array of shape (1, n)
        have = have[1:]
    if have != value.shape:
        value = value.reshape(have)
    if have == shape:
        return value
    try:
        fits = np.broadcast_shapes(have, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"an array of shape {value.shape} cannot be broadcast to {shape}")
    return invoke("_mxl_broadcast_to", [value], {"shape": shape})


def install() -> None:
    """Gives NDArray the methods of this module."""
    NDArray._get = _get
    _set.__name__, _set.__qualname__ = "__setitem__", "NDArray.__setitem__"
    NDArray.__setitem__ = _set
