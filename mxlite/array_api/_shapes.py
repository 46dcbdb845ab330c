"""Arrays in other shapes, joined, repeated, and parts of them."""

from __future__ import annotations

import builtins
import math
import operator as _operator
from typing import Any

import numpy as np

from mxlite import numpy as mnp
from mxlite.array_api._dtypes import array_given, cast, matrices_given, new, result_type
from mxlite.error import MXIndexError, MXTypeError, MXValueError
from mxlite.numpy._functions import ArrayBase
from mxlite.numpy.multiarray import ndarray


def _tuple(value: Any) -> tuple[int, ...]:
    return tuple(map(_operator.index, value)) if isinstance(value, (tuple, list)) else (_operator.index(value),)


def _axes(name: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes from 0 on. Raises: IndexError: there is none such; ValueError: one is there twice."""
    axes = _tuple(axis)
    for each in axes:
        if not -ndim <= each < ndim:
            raise MXIndexError(f"{name}: axis {each} is out of bounds for an array of {ndim} axes")
    found = tuple(each % ndim for each in axes)
    if len(set(found)) < len(found):
        raise MXValueError(f"{name}: an axis is given twice in {axis!r}")
    return found


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together. Raises: ValueError: they have none."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: ndarray, /, shape: Any) -> ndarray:
    """An array repeated to a shape."""
    return mnp.broadcast_to(array_given("broadcast_to", x), shape)


def broadcast_arrays(*arrays: ndarray) -> tuple[ndarray, ...]:
    """Arrays repeated to their common shape."""
    return tuple(mnp.broadcast_arrays(*(array_given("broadcast_arrays", each) for each in arrays)))


def _joined(name: str, arrays: Any) -> list[ndarray]:
    if isinstance(arrays, ArrayBase):
        raise MXTypeError(f"{name}: takes a tuple or list of arrays, got one array")
    if not len(arrays):
        raise MXValueError(f"{name}: takes one array or more, got none")
    dtype = result_type(*(array_given(name, each) for each in arrays))
    return [cast(each, dtype) for each in arrays]


def concat(arrays: Any, /, *, axis: int | None = 0) -> ndarray:
    """Arrays one after another along an axis; None: their elements."""
    return mnp.concatenate(_joined("concat", arrays), axis)


def stack(arrays: Any, /, *, axis: int = 0) -> ndarray:
    """Arrays beside each other along a new axis."""
    return mnp.stack(_joined("stack", arrays), axis)


def unstack(x: ndarray, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """The parts of an array at each place of an axis."""
    (axis,) = _axes("unstack", axis, array_given("unstack", x).ndim)
    return tuple(part(x, axis, place) for place in range(x.shape[axis]))


def part(x: ndarray, axis: int, place: int) -> ndarray:
    """An array's elements at one place of an axis; of a vector one without axes, in each mode of shapes."""
    one = x[(slice(None),) * axis + (slice(place, place + 1),)]
    return mnp.reshape(one, x.shape[:axis] + x.shape[axis + 1 :])


def expand_dims(x: ndarray, /, axis: Any) -> ndarray:
    """An array with further axes of size 1."""
    ndim = array_given("expand_dims", x).ndim + len(_tuple(axis))
    axes, sizes = _axes("expand_dims", axis, ndim), iter(x.shape)
    return mnp.reshape(x, tuple(1 if each in axes else next(sizes) for each in range(ndim)))


def squeeze(x: ndarray, /, axis: Any) -> ndarray:
    """An array without axes of size 1. Raises: ValueError: one has another size."""
    axes = _axes("squeeze", axis, array_given("squeeze", x).ndim)
    if any(x.shape[each] != 1 for each in axes):
        raise MXValueError(f"squeeze: axes {axis} of shape {x.shape} are not all of size 1")
    return mnp.reshape(x, tuple(size for each, size in enumerate(x.shape) if each not in axes))


def flip(x: ndarray, /, *, axis: Any = None) -> ndarray:
    """An array with its elements backwards along axes; None: along all."""
    axes = range(x.ndim) if axis is None else _axes("flip", axis, x.ndim)
    return mnp.flip(array_given("flip", x), tuple(axes)) if axes else x.copy()


def moveaxis(x: ndarray, source: Any, destination: Any, /) -> ndarray:
    """An array with axes at other places."""
    ndim = array_given("moveaxis", x).ndim
    sources, places = _axes("moveaxis", source, ndim), _axes("moveaxis", destination, ndim)
    if len(sources) != len(places):
        raise MXValueError(f"moveaxis: takes as many places as axes, got {destination!r} for {source!r}")
    return mnp.moveaxis(x, sources, places) if ndim else x.copy()


def permute_dims(x: ndarray, /, axes: tuple[int, ...]) -> ndarray:
    """An array with its axes in another order."""
    if sorted(_axes("permute_dims", axes, array_given("permute_dims", x).ndim)) != list(range(x.ndim)):
        raise MXValueError(f"permute_dims: takes each of {x.ndim} axes once, got {axes}")
    return mnp.transpose(x, axes) if x.ndim else x.copy()


def matrix_transpose(x: ndarray, /) -> ndarray:
    """Matrices with rows for columns."""
    return mnp.swapaxes(matrices_given("matrix_transpose", x, kinds="biuf"), -2, -1)


def _sizes(shape: Any, count: int) -> tuple[int, ...]:
    """The sizes of so many elements, of which one may be -1. Raises: ValueError: they are of another number."""
    sizes = _tuple(shape)
    known = math.prod(each for each in sizes if each != -1)
    if sizes.count(-1) == 1 and known:
        sizes = tuple(count // known if each == -1 else each for each in sizes)
    if min(sizes, default=0) < 0 or math.prod(sizes) != count:
        raise MXValueError(f"reshape: {count} elements have no shape {shape}")
    return sizes


def reshape(x: ndarray, /, shape: Any, *, copy: builtins.bool | None = None) -> ndarray:
    """The elements in another shape, in order; a size of -1 follows from the others.

    Args:
        copy: None, True: a copy; False: an array that shares the memory.
    """
    sizes = _sizes(shape, array_given("reshape", x).size)
    return x.reshape_view(sizes) if copy is False and x.size else mnp.reshape(x, sizes)


def roll(x: ndarray, /, shift: Any, *, axis: Any = None) -> ndarray:
    """The elements further along axes, from the end to the front; None: of all in order."""
    if axis is None or not array_given("roll", x).ndim:
        return mnp.roll(x, shift) if x.ndim else x.copy()
    axes = _tuple(axis)
    shifts = np.broadcast_to(_tuple(shift), (len(axes),)).tolist()
    for each, by in zip(axes, shifts):  # an axis may be there twice
        x = mnp.roll(x, by, axis=_axes("roll", each, x.ndim)[0])
    return x


def tile(x: ndarray, repetitions: tuple[int, ...], /) -> ndarray:
    """An array so many times along each axis."""
    ndim = max(array_given("tile", x).ndim, len(repetitions))
    times = (1,) * (ndim - len(repetitions)) + _tuple(repetitions)
    if 0 in times:
        sizes = (1,) * (ndim - x.ndim) + x.shape
        return mnp.full(tuple(size * each for size, each in zip(sizes, times)), mnp.array(0, dtype=x.dtype))
    return mnp.tile(x, times) if times else x.copy()


def repeat(x: ndarray, repeats: Any, /, *, axis: int | None = None) -> ndarray:
    """Each element, or part along an axis, so many times; `repeats` is a number, or an array of one for each."""
    x, axis = (mnp.reshape(array_given("repeat", x), (-1,)), 0) if axis is None else (x, axis)
    (axis,) = _axes("repeat", axis, x.ndim)
    counts = repeats.asnumpy() if isinstance(repeats, ArrayBase) else np.asarray(repeats)
    if counts.dtype.kind not in "iu":
        raise MXTypeError(f"repeat: repeats are integers, got {counts.dtype}")
    if counts.min(initial=0) < 0:
        raise MXValueError("repeat: repeats are not below 0")
    if counts.ndim > 1 or counts.size not in (1, x.shape[axis]):
        raise MXValueError(f"repeat: takes a number, or {x.shape[axis]}, got shape {counts.shape}")
    places = np.repeat(np.arange(x.shape[axis]), counts)
    return mnp.take(x, new(places), axis=axis)


def take(x: ndarray, indices: ndarray, /, *, axis: int | None = None) -> ndarray:
    """Parts of an array along an axis at indices; below 0 they count from the end.

    Raises: ValueError: no axis is given, and there are more or less than one; IndexError: an index is out of bounds.
    """
    array_given("take", indices, "iu", "indices")
    if axis is None and array_given("take", x).ndim != 1:
        raise MXValueError(f"take: axis is missing for an array of {x.ndim} axes")
    (axis,) = _axes("take", 0 if axis is None else axis, array_given("take", x).ndim)
    places, size = indices.asnumpy(), x.shape[axis]
    if places.size and not -size <= int(places.min()) <= int(places.max()) < size:
        raise MXIndexError(f"take: an index is out of bounds for an axis of size {size}")
    return mnp.take(x, new(np.where(places < 0, places + size, places)), axis=axis)


def take_along_axis(x: ndarray, indices: ndarray, /, *, axis: int = -1) -> ndarray:
    """The elements at positions along an axis, given for each place of the others."""
    array_given("take_along_axis", indices, "iu", "indices")
    return mnp.take_along_axis(array_given("take_along_axis", x), indices, axis)
