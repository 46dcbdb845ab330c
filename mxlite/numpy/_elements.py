"""Functions of `mx.np` that 1.9.1 leaves to the installed NumPy: of elements, their order, sets and positions.

See `_composed.py` for the first parameter, and `_table.py` for how they are called. What they answer has NumPy's
dtypes. Positions are found by NumPy on the arrays' values, for they have no derivative; the elements there are taken by
operators, which are recorded.
"""

from __future__ import annotations

import math
import operator as _operator
from typing import Any

import numpy as _numpy

from mxlite.base import BFLOAT16
from mxlite.numpy._composed import _is_number, _shape

#: The functions of this module.
FUNCTIONS = frozenset(
    """
    allclose alltrue apply_along_axis apply_over_axes argpartition array_equal array_equiv choose compress
    count_nonzero cumprod digitize divmod extract fill_diagonal flatnonzero float_power floor_divide frexp heaviside
    in1d intersect1d isclose isin ix_ lexsort logical_and logical_or logical_xor modf msort packbits partition piecewise
    positive rollaxis searchsorted select setdiff1d setxor1d signbit spacing take_along_axis tril_indices_from
    trim_zeros triu triu_indices_from union1d unpackbits
    """.split()
)
#: Those that take what NumPy makes arrays of, too; without an array of the front they answer as NumPy.
OF_VALUES = FUNCTIONS


def _values(value: Any) -> Any:
    """The values of an array of any kind, a list of them, or a number, for NumPy."""
    if isinstance(value, (list, tuple)):
        return _numpy.asarray([_values(each) for each in value])
    return value.asnumpy() if hasattr(value, "asnumpy") else _numpy.asarray(value)


def _given(f: Any, value: Any) -> Any:
    """An array of the front: itself, or of what NumPy makes an array of; in a list arrays of the front are stacked.

    One of bfloat16, which is none of NumPy's dtypes, in float32.
    """
    if f.is_array(value):
        return value.astype("float32") if f.knows_shapes and value.dtype == BFLOAT16 else value
    if isinstance(value, (list, tuple)) and any(map(f.is_array, value)):
        return f.stack(_common(f, *(_given(f, each) for each in value)))
    return f.array_from(_numpy.asarray(value), None, None)


def _new(f: Any, values: Any) -> Any:
    """An array of the front of what NumPy has found; of a tuple, of each."""
    if isinstance(values, tuple):
        return tuple(_new(f, each) for each in values)
    return f.array_from(_numpy.asarray(values), None, None)


def _cast(a: Any, dtype: Any) -> Any:
    return a if a.dtype == dtype else a.astype(dtype)


def _common(f: Any, *arrays: Any) -> list[Any]:
    """Arrays in the dtype that NumPy gives to all of them together."""
    dtype = _numpy.result_type(*(each.dtype for each in arrays))
    return [_cast(each, dtype) for each in arrays]


def _floating(a: Any) -> Any:
    """An array of fractions: of integers one of float64."""
    return a if a.dtype.kind == "f" else a.astype("float64")


def _inexact(a: Any) -> Any:
    """An array of fractions: of integers one of the smallest dtype that NumPy finds for them."""
    return _cast(a, _numpy.result_type(a.dtype, _numpy.float16))


def _summed(a: Any, dtype: Any) -> Any:
    """An array to be added up or multiplied: of integers one of int64."""
    return _cast(a, dtype) if dtype is not None else a if a.dtype.kind == "f" else _cast(a, "int64")


def _axis(axis: Any, ndim: int) -> int:
    """An axis from 0 on. Raises: ValueError: there is none."""
    found = _operator.index(axis)
    if not -ndim <= found < ndim:
        raise ValueError(f"axis {found} is out of bounds for an array of {ndim} axes")
    return found % ndim


def _part(a: Any, axis: int, begin: Any, end: Any, step: Any = None) -> Any:
    """A slice of one axis."""
    return a[(*(slice(None),) * axis, slice(begin, end, step))]


# ---- elements ----


def isclose(f: Any, a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements differ by no more than atol + rtol * |b|."""
    a, b = _common(f, _given(f, a), _given(f, b))
    if a.dtype.kind != "f":
        a, b = a.astype("float64"), b.astype("float64")
    return f("_mxl_isclose", a, b, rtol=float(rtol), atol=float(atol), equal_nan=equal_nan).astype("bool")


def allclose(f: Any, a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements differ by no more than atol + rtol * |b|."""
    return bool(_numpy.allclose(_values(a), _values(b), rtol, atol, equal_nan))


def array_equal(f: Any, a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether two arrays have the same shape and elements; `equal_nan`: NaN is NaN."""
    return bool(_numpy.array_equal(_values(a1), _values(a2), equal_nan))


def array_equiv(f: Any, a1: Any, a2: Any) -> bool:
    """Whether two arrays have the same elements when broadcast."""
    return bool(_numpy.array_equiv(_values(a1), _values(a2)))


def alltrue(f: Any, *args: Any, **kwargs: Any) -> Any:
    """As `all`."""
    return f.all(*(_given(f, each) for each in args[:1]), *args[1:], **kwargs)


def count_nonzero(f: Any, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not 0: of all an integer."""
    found = _numpy.count_nonzero(_values(a), axis, keepdims=keepdims)
    return int(found) if axis is None and not keepdims else _new(f, found)


def positive(f: Any, x: Any) -> Any:
    """The elements, in a new array."""
    return f("_np_copy", x)


def signbit(f: Any, x: Any) -> Any:
    """Where elements are below 0, or -0."""
    given = _given(f, x)
    return f("_mxl_signbit", given.detach()) if given.dtype.kind == "f" else _new(f, _numpy.signbit(_values(x)))


def spacing(f: Any, x: Any) -> Any:
    """How far the next floating point number is from each element."""
    return _new(f, _numpy.spacing(_values(x)))


def _logical(f: Any, name: str, x1: Any, x2: Any) -> Any:
    return _new(f, getattr(_numpy, name)(_values(x1), _values(x2)))


def logical_and(f: Any, x1: Any, x2: Any) -> Any:
    """Where both are not 0."""
    return _logical(f, "logical_and", x1, x2)


def logical_or(f: Any, x1: Any, x2: Any) -> Any:
    """Where one of both is not 0."""
    return _logical(f, "logical_or", x1, x2)


def logical_xor(f: Any, x1: Any, x2: Any) -> Any:
    """Where one alone is not 0."""
    return _logical(f, "logical_xor", x1, x2)


def heaviside(f: Any, x1: Any, x2: Any) -> Any:
    """0 below 0, 1 above it, and x2 where x1 is 0."""
    x1, x2 = map(_inexact, _operands(f, x1, x2))
    shape = _numpy.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = f.broadcast_to(x1, shape), f.broadcast_to(x2, shape)
    return f.where(x1 < 0, 0.0, f.where(x1 > 0, 1.0, f.where(x1 == 0, x2, x1)))


def float_power(f: Any, x1: Any, x2: Any) -> Any:
    """Powers, in float64."""
    return f.power(*(each if _is_number(each) else _cast(_given(f, each), "float64") for each in (x1, x2)))


def floor_divide(f: Any, x1: Any, x2: Any) -> Any:
    """The quotients, rounded down."""
    return divmod(f, x1, x2)[0]


def _operands(f: Any, x1: Any, x2: Any) -> list[Any]:
    """Two arrays of one dtype; a number has the dtype of the array beside it, where that holds it."""
    arrays = [_given(f, each) if f.is_array(each) else _numpy.asarray(each) for each in (x1, x2)]
    for k in (0, 1):
        if _is_number((x1, x2)[k]) and f.is_array(arrays[1 - k]):
            dtype = arrays[1 - k].dtype
            is_held = dtype.kind == "f" or (dtype.kind in "iu" and arrays[k].dtype.kind in "iub")
            arrays[k] = arrays[k].astype(dtype) if is_held else arrays[k]
    one, two = _common(f, *(_given(f, each) for each in arrays))
    return [_cast(each, "int8") if each.dtype == bool else each for each in (one, two)]


def divmod(f: Any, x1: Any, x2: Any) -> tuple[Any, Any]:  # noqa: A001 - NumPy's name
    """floor_divide() and mod()."""
    x1, x2 = _operands(f, x1, x2)
    rest = f.mod(x1, x2)
    if rest.dtype.kind == "f":
        rest = f.where(f.broadcast_to(x2, rest.shape) == 0, math.nan, rest)
    return f("_mxl_floor_divide", x1, x2), rest


def modf(f: Any, x: Any) -> tuple[Any, Any]:
    """The parts after and before the point, both with the sign of the element."""
    x = _inexact(_given(f, x))
    whole = f.trunc(x)
    return f.copysign(f.where(f.isinf(x), 0.0, x - whole), x), whole


def frexp(f: Any, x: Any) -> tuple[Any, Any]:
    """Fractions from 0.5 to 1, and exponents: x is fraction * 2 ** exponent."""
    x = _inexact(_given(f, x))
    return tuple(f("_mxl_frexp", x))


def cumprod(f: Any, a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The products of the elements up to each, along an axis; None: of all elements in order."""
    a = _summed(_given(f, a), dtype)
    return f("_mxl_cumprod", f.reshape(a, (-1,)) if axis is None else a, axis=axis or 0, out=out)


def triu(f: Any, m: Any, k: int = 0) -> Any:
    """Matrices with 0 below the diagonal, or one beside it."""
    mask = _new(f, _numpy.triu(_numpy.ones(m.shape[-2:], bool), k))
    return f.where(f.broadcast_to(mask, m.shape), m, f.zeros_like(m))


# ---- order ----


def take_along_axis(f: Any, arr: Any, indices: Any, axis: int | None) -> Any:
    """The elements at positions along an axis, given for each place of the others; None: of all in order."""
    if axis is None:
        arr, axis = f.reshape(arr, (-1,)), 0
    axis, places = _axis(axis, arr.ndim), _values(indices)
    if places.dtype.kind not in "iu":
        raise IndexError(f"take_along_axis: indices are integers, got {places.dtype}")
    if places.ndim != arr.ndim:
        raise ValueError(f"take_along_axis: indices have {arr.ndim} axes as the array, got {places.ndim}")
    grid = [
        places if k == axis else _numpy.arange(size).reshape(tuple(-1 if n == k else 1 for n in range(arr.ndim)))
        for k, size in enumerate(arr.shape)
    ]
    return arr[tuple(grid)]


def _ordered(f: Any, a: Any, axis: int | None, places: Any) -> Any:
    """An array's elements along an axis at positions that NumPy has found."""
    a, axis = (f.reshape(a, (-1,)), 0) if axis is None else (a, axis)
    return take_along_axis(f, a, places, axis)


def partition(f: Any, a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """The elements, of which the kth is where sorting puts it; those before are not above it, those after not below."""
    return _ordered(f, a, axis, _numpy.argpartition(_values(a), kth, axis, kind, order))


def argpartition(f: Any, a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """The positions of partition()'s elements."""
    return _new(f, _numpy.argpartition(_values(a), kth, axis, kind, order))


def msort(f: Any, a: Any) -> Any:
    """The elements sorted along the first axis."""
    return f.sort(_given(f, a), axis=0)


def lexsort(f: Any, keys: Any, axis: int = -1) -> Any:
    """The positions that sort by the last key, then by the one before, and so on."""
    return _new(f, _numpy.lexsort(_values(keys), axis))


def searchsorted(f: Any, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where values would be in a sorted array."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', got {side!r}")
    rows, values = (each.detach() for each in _common(f, _given(f, a), _given(f, v)))
    if rows.ndim != 1:
        raise ValueError(f"searchsorted: takes a vector to search, got {rows.ndim} dimensions")
    return f("_mxl_searchsorted", rows if sorter is None else rows[sorter], values, right=side == "right")


def digitize(f: Any, x: Any, bins: Any, right: bool = False) -> Any:
    """The bin of each element, between edges; `right`: edges belong to the bin below."""
    bins = _given(f, bins)
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins are a vector, got {bins.ndim} dimensions")
    falls = bins.shape[0] > 1 and bool(bins[0] > bins[-1])
    bins = f.flip(bins, 0) if falls else bins
    if bins.shape[0] > 1 and not bool((bins[1:] >= bins[:-1]).all()):
        raise ValueError("digitize: bins rise, or fall")
    found = searchsorted(f, bins, x, "left" if right else "right")
    return bins.shape[0] - found if falls else found


# ---- sets ----


def isin(f: Any, element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """Which elements are among the others."""
    found = f("_mxl_isin", *(each.detach() for each in _common(f, _given(f, element), _given(f, test_elements))))
    return f.logical_not(found) if invert else found


def in1d(f: Any, ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """isin() of all elements in order."""
    return isin(f, f.reshape(_given(f, ar1), (-1,)), ar2, assume_unique, invert)


def _at(f: Any, a: Any, places: Any) -> Any:
    """Elements in order at positions that NumPy has found."""
    return f.reshape(a, (-1,))[places]


def union1d(f: Any, ar1: Any, ar2: Any) -> Any:
    """The different elements of two arrays, in order."""
    joined = f.concatenate(_common(f, *(f.reshape(_given(f, each), (-1,)) for each in (ar1, ar2))))
    return _at(f, joined, _numpy.unique(_values(joined), return_index=True)[1])


def intersect1d(f: Any, ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The different elements that two arrays have in common, in order, and their positions in both."""
    ar1, ar2 = _given(f, ar1), _given(f, ar2)
    _, first, second = _numpy.intersect1d(_values(ar1), _values(ar2), assume_unique, return_indices=True)
    common = _cast(_at(f, ar1, first), _numpy.result_type(ar1.dtype, ar2.dtype))
    return (common, _new(f, first), _new(f, second)) if return_indices else common


def setdiff1d(f: Any, ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The different elements of one array that the other lacks, in order."""
    line = _values(ar1).ravel()
    places = _numpy.arange(line.size) if assume_unique else _numpy.unique(line, return_index=True)[1]
    return _at(f, _given(f, ar1), places[_numpy.isin(line[places], _values(ar2), invert=True)])


def setxor1d(f: Any, ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The elements that only one of two arrays has, in order."""
    joined = f.concatenate(_common(f, *(f.reshape(_given(f, each), (-1,)) for each in (ar1, ar2))))
    line, size = _values(joined), math.prod(_values(ar1).shape)
    places = [_numpy.unique(part, return_index=True)[1] for part in (line[:size], line[size:])]
    found = _numpy.concatenate([places[0], places[1] + size])
    found = found[_numpy.argsort(line[found], kind="stable")]
    is_new = _numpy.concatenate([[True], line[found[1:]] != line[found[:-1]], [True]])
    return _at(f, joined, found[is_new[1:] & is_new[:-1]])


# ---- parts and positions ----


def compress(f: Any, condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """The elements, or parts along an axis, where a condition is true."""
    places = _numpy.flatnonzero(_values(condition))
    a = _given(f, a)
    return f.take(f.reshape(a, (-1,)) if axis is None else a, _new(f, places), axis=axis or 0, out=out)


def extract(f: Any, condition: Any, arr: Any) -> Any:
    """The elements where a condition is true, in order."""
    return _at(f, _given(f, arr), _numpy.flatnonzero(_values(condition)))


def flatnonzero(f: Any, a: Any) -> Any:
    """The positions of elements that are not 0, in order."""
    return _new(f, _numpy.flatnonzero(_values(a)))


def choose(f: Any, a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Elements of arrays, by their numbers; `mode`: numbers beyond the end are errors, cut, or wrapped."""
    numbers = _values(a)
    arrays = _common(f, *(_given(f, each) for each in choices))
    shape = _numpy.broadcast_shapes(numbers.shape, *(each.shape for each in arrays))
    stacked = f.stack([f.broadcast_to(each, shape) for each in arrays])
    if mode == "raise" and (numbers.min(initial=0) < 0 or numbers.max(initial=0) >= len(arrays)):
        raise ValueError(f"choose: numbers are from 0 to {len(arrays) - 1}, got {numbers.min()} to {numbers.max()}")
    numbers = numbers % len(arrays) if mode == "wrap" else numbers.clip(0, len(arrays) - 1)
    chosen = take_along_axis(f, stacked, _numpy.broadcast_to(numbers, shape)[None], 0)[0]
    return chosen if out is None else f("_np_copy", chosen, out=out)


def select(f: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Of each place the choice whose condition is the first that is true, or the default."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"select: takes as many conditions as choices, got {len(condlist)} and {len(choicelist)}")
    if _is_number(default):  # a number has no dtype of its own
        default = _numpy.asarray(default, _numpy.result_type(default, *(_zero(f, each) for each in choicelist)))
    *choices, chosen = _common(f, *(_given(f, each) for each in (*choicelist, default)))
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        shape = _numpy.broadcast_shapes(condition.shape, choice.shape, chosen.shape)
        arrays = (f.broadcast_to(each, shape) for each in (_cast(_given(f, condition), bool), choice, chosen))
        chosen = f.where(*arrays)
    return chosen


def _zero(f: Any, value: Any) -> Any:
    return _numpy.zeros(1, value.dtype) if f.is_array(value) else value


def piecewise(f: Any, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Of each element what the function (or number) beside the last condition that is true makes of it.

    A function more than conditions is for elements where none is true, which are 0 else.
    """
    x = _given(f, x)
    masks = [_values(each) for each in condlist]
    if x.ndim and masks and not masks[0].ndim:
        masks = [_values(condlist)]
    if len(funclist) not in (len(masks), len(masks) + 1):
        raise ValueError(f"piecewise: {len(masks)} conditions take {len(masks)} functions or one more")
    numbers = _numpy.full(x.shape, len(masks))
    for k, mask in enumerate(masks):
        numbers[mask.astype(bool)] = k
    line, parts, places = f.reshape(x, (-1,)), [], []
    for k in range(len(masks) + 1):
        found = _numpy.flatnonzero(numbers == k)
        if not found.size:
            continue
        function = funclist[k] if k < len(funclist) else 0
        made = function(line[found], *args, **kw) if callable(function) else function
        parts.append(f.broadcast_to(_cast(_given(f, made), x.dtype), (found.size,)))
        places.append(found)
    order = _numpy.argsort(_numpy.concatenate(places)) if places else []
    return f.reshape(f.concatenate(parts)[order], x.shape) if places else f("_np_copy", x)


def ix_(f: Any, *args: Any) -> tuple[Any, ...]:
    """Index arrays, each along its own axis, that take the parts where all of them meet."""
    made = []
    for k, each in enumerate(args):
        line = _numpy.flatnonzero(_values(each)) if _given(f, each).dtype == bool else each
        made.append(f.reshape(_given(f, line), tuple(-1 if n == k else 1 for n in range(len(args)))))
    return tuple(made)


def tril_indices_from(f: Any, arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Where the elements of a matrix on and below a diagonal are."""
    return _new(f, _numpy.tril_indices(arr.shape[-2], k, arr.shape[-1]))


def triu_indices_from(f: Any, arr: Any, k: int = 0) -> tuple[Any, ...]:
    """Where the elements of a matrix on and above a diagonal are."""
    return _new(f, _numpy.triu_indices(arr.shape[-2], k, arr.shape[-1]))


def fill_diagonal(f: Any, a: Any, val: Any, wrap: bool = False) -> None:
    """Writes a number, or the elements of an array in turn, to the diagonal, in place."""
    if a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1):
        raise ValueError(f"fill_diagonal: takes a matrix, or an array whose axes have one size, got shape {a.shape}")
    key: tuple = (_numpy.arange(min(a.shape)),) * a.ndim
    if wrap and a.ndim == 2:
        key = _numpy.unravel_index(_numpy.arange(0, math.prod(a.shape), a.shape[1] + 1), a.shape)
    line = val if _is_number(val) else f.reshape(_given(f, val), (-1,))
    a[key] = line if _is_number(val) else line[_numpy.arange(len(key[0])) % line.shape[0]]


def trim_zeros(f: Any, filt: Any, trim: str = "fb") -> Any:
    """A vector without the zeros at its front ("f") and back ("b")."""
    found, trim = _numpy.flatnonzero(_values(filt)), trim.lower()
    begin = (found[0] if found.size else filt.shape[0]) if "f" in trim else 0
    end = (found[-1] + 1 if found.size else begin) if "b" in trim else filt.shape[0]
    return filt[int(begin) : int(end)]


def rollaxis(f: Any, a: Any, axis: int, start: int = 0) -> Any:
    """An array with one axis moved before another; as many as there are: to the end."""
    axis = _axis(axis, a.ndim)
    start = a.ndim if start == a.ndim else _axis(start, a.ndim)
    axes = [k for k in range(a.ndim) if k != axis]
    axes.insert(start - (start > axis), axis)
    return f.transpose(a, tuple(axes))


def apply_along_axis(f: Any, func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function makes of each vector along an axis, in its place."""
    axis, last = _axis(axis, arr.ndim), arr.ndim - 1
    moved = f.transpose(arr, tuple(k for k in range(arr.ndim) if k != axis) + (axis,))
    rows = f.reshape(moved, (-1, arr.shape[axis]))
    if not rows.shape[0]:
        raise ValueError(f"apply_along_axis: there is no vector along axis {axis} of shape {arr.shape}")
    made = f.stack(_common(f, *(_given(f, func1d(rows[k], *args, **kwargs)) for k in range(rows.shape[0]))))
    own = made.shape[1:]
    made = f.reshape(made, (*moved.shape[:-1], *own))
    axes = [*range(axis), *range(last, last + len(own)), *range(axis, last)]
    return f.transpose(made, tuple(axes)) if axes != sorted(axes) else made


def apply_over_axes(f: Any, func: Any, a: Any, axes: Any) -> Any:
    """What a function of an array and an axis makes of it, for one axis after the other; axes stay, with size 1."""
    for axis in _shape(axes):
        axis = _axis(axis, a.ndim)
        made = func(a, axis)
        a = made if made.ndim == a.ndim else f.expand_dims(made, axis)
    return a


def packbits(f: Any, a: Any, axis: int | None = None, bitorder: str = "big") -> Any:
    """Each eight elements as the bits of a uint8."""
    return _new(f, _numpy.packbits(_values(a), axis, bitorder))


def unpackbits(f: Any, a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Any:
    """The bits of uint8 as elements."""
    return _new(f, _numpy.unpackbits(_values(a), axis, count, bitorder))
