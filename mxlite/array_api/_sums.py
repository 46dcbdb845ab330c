"""Sums, means, counts, differences, and the least and greatest elements."""

from __future__ import annotations

import builtins
from typing import Any, Callable

import numpy as np

from mxlite import numpy as mnp
from mxlite.array_api._dtypes import DTYPES, INT, array_given, cast, dtype_of, new, operands
from mxlite.array_api._shapes import _axes, concat, expand_dims
from mxlite.error import MXValueError
from mxlite.numpy.multiarray import ndarray

#: What integers are summed in: the widest of their kind that the library has.
_UNSIGNED = DTYPES.get("uint64", INT)


def _summed(name: str, x: ndarray, dtype: Any) -> ndarray:
    """An array in the dtype that it is summed in."""
    array_given(name, x)
    if dtype is not None:
        return cast(x, dtype_of(dtype))
    return cast(x, _UNSIGNED if x.dtype.kind == "u" else INT if x.dtype.kind in "bi" else x.dtype)


def _along(name: str, axis: Any, x: ndarray) -> tuple[int, ...] | None:
    """Axes from 0 on; None: all of them."""
    axes = None if axis is None else _axes(name, axis, x.ndim)
    return None if axes is None or len(axes) == x.ndim else axes


def _reduced(name: str, call: Callable, x: ndarray, axis: Any, keepdims: builtins.bool, **given: Any) -> ndarray:
    """What a function of `mx.np` makes of an array along axes; of none, of each element."""
    axes = _along(name, axis, x)
    if axes == ():
        made = call(mnp.reshape(x, (*x.shape, 1)), axis=-1, **given)
    else:
        made = call(x, axis=axes, keepdims=keepdims, **given)
    return made


def sum(  # noqa: A001 - the standard's name
    x: ndarray, /, *, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False
) -> ndarray:
    """The sums of elements along axes; integers and bool are added in int64."""
    return _reduced("sum", mnp.sum, _summed("sum", x, dtype), axis, keepdims)


def prod(x: ndarray, /, *, axis: Any = None, dtype: Any = None, keepdims: builtins.bool = False) -> ndarray:
    """The products of elements along axes; integers and bool are multiplied in int64."""
    return _reduced("prod", mnp.prod, _summed("prod", x, dtype), axis, keepdims)


def mean(x: ndarray, /, *, axis: Any = None, keepdims: builtins.bool = False) -> ndarray:
    """The means of elements along axes."""
    return _reduced("mean", mnp.mean, array_given("mean", x, "f"), axis, keepdims)


def max(x: ndarray, /, *, axis: Any = None, keepdims: builtins.bool = False) -> ndarray:  # noqa: A001
    """The greatest elements along axes; NaN where there is one. Raises: ValueError: there are none."""
    return _reduced("max", mnp.max, array_given("max", x, "iuf"), axis, keepdims)


def min(x: ndarray, /, *, axis: Any = None, keepdims: builtins.bool = False) -> ndarray:  # noqa: A001
    """The least elements along axes; NaN where there is one. Raises: ValueError: there are none."""
    return _reduced("min", mnp.min, array_given("min", x, "iuf"), axis, keepdims)


def all(x: ndarray, /, *, axis: Any = None, keepdims: builtins.bool = False) -> ndarray:  # noqa: A001
    """Where all elements along axes are true, or not 0."""
    return _reduced("all", mnp.all, array_given("all", x), axis, keepdims)


def any(x: ndarray, /, *, axis: Any = None, keepdims: builtins.bool = False) -> ndarray:  # noqa: A001
    """Where one element along axes is true, or not 0."""
    return _reduced("any", mnp.any, array_given("any", x), axis, keepdims)


def var(x: ndarray, /, *, axis: Any = None, correction: float = 0.0, keepdims: builtins.bool = False) -> ndarray:
    """The variances along axes: squared differences from the mean, summed, by their number less `correction`."""
    made = _reduced("var", mnp.var, array_given("var", x, "f"), axis, keepdims)
    axes = range(x.ndim) if axis is None else _axes("var", axis, x.ndim)
    count = int(np.prod([x.shape[each] for each in axes], dtype=np.int64))
    if not correction or not count:
        return made
    left = builtins.max(count - correction, 0)
    return made * (count / left) if left else made * np.float64(count) / mnp.zeros_like(made)


def std(x: ndarray, /, *, axis: Any = None, correction: float = 0.0, keepdims: builtins.bool = False) -> ndarray:
    """The square roots of the variances."""
    return mnp.sqrt(var(array_given("std", x, "f"), axis=axis, correction=correction, keepdims=keepdims))


def count_nonzero(x: ndarray, /, *, axis: Any = None, keepdims: builtins.bool = False) -> ndarray:
    """How many elements along axes are not 0."""
    axes = None if axis is None else _axes("count_nonzero", axis, array_given("count_nonzero", x).ndim)
    return new(np.count_nonzero(array_given("count_nonzero", x).asnumpy(), axes, keepdims=keepdims))


def _cumulative(name: str, call: Callable, first: int, x: ndarray, axis: Any, dtype: Any, initial: Any) -> ndarray:
    x = _summed(name, x, dtype)
    if x.ndim != 1 and axis is None or not x.ndim:
        raise MXValueError(f"{name}: axis is missing for an array of {x.ndim} axes")
    (axis,) = _axes(name, 0 if axis is None else axis, x.ndim)
    made = call(x, axis=axis, dtype=x.dtype)
    if not initial:
        return made
    shape = tuple(1 if each == axis else size for each, size in enumerate(x.shape))
    return mnp.concatenate([mnp.full(shape, mnp.array(first, dtype=x.dtype)), made], axis)


def cumulative_sum(
    x: ndarray, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> ndarray:
    """The sums of the elements up to each, along an axis; `include_initial`: 0 before them."""
    return _cumulative("cumulative_sum", mnp.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: ndarray, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> ndarray:
    """The products of the elements up to each, along an axis; `include_initial`: 1 before them."""
    return _cumulative("cumulative_prod", mnp.cumprod, 1, x, axis, dtype, include_initial)


def diff(
    x: ndarray, /, *, axis: int = -1, n: int = 1, prepend: ndarray | None = None, append: ndarray | None = None
) -> ndarray:
    """The differences of neighbours along an axis, `n` times; of arrays before and after, too."""
    (axis,) = _axes("diff", axis, array_given("diff", x, "iuf").ndim)
    if n < 0:
        raise MXValueError(f"diff: n is not below 0, got {n}")
    parts = [each for each in (prepend, x, append) if each is not None]
    made = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        whole = (slice(None),) * axis
        made = mnp.subtract(made[(*whole, slice(1, None))], made[(*whole, slice(None, -1))])
    return made


def _extreme(name: str, call: Callable, x: ndarray, axis: int | None, keepdims: builtins.bool) -> ndarray:
    array_given(name, x, "iuf")
    places = None if axis is None else _axes(name, axis, x.ndim)
    made = call(x, axis=None if places is None else places[0])
    if not keepdims:
        return made
    return mnp.reshape(made, (1,) * x.ndim) if places is None else expand_dims(made, places[0])


def argmax(x: ndarray, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> ndarray:
    """The positions of the greatest elements along an axis, the first of several; None: of all in order."""
    return _extreme("argmax", mnp.argmax, x, axis, keepdims)


def argmin(x: ndarray, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> ndarray:
    """The positions of the least elements along an axis, the first of several; None: of all in order."""
    return _extreme("argmin", mnp.argmin, x, axis, keepdims)


def _integers(call: Callable, *arrays: ndarray, **given: Any) -> ndarray:
    """A product of integers, which NumPy computes on the values; it has no derivative."""
    return new(call(*(each.asnumpy() for each in arrays), **given))


def matmul(x1: ndarray, x2: ndarray, /) -> ndarray:
    """Products of matrices; the first and last may be vectors."""
    x1, x2 = _arrays("matmul", x1, x2)
    return mnp.matmul(x1, x2) if x1.dtype.kind == "f" else _integers(np.matmul, x1, x2)


def _arrays(name: str, x1: ndarray, x2: ndarray) -> list[ndarray]:
    return operands(name, "iuf", array_given(name, x1, argument="x1"), array_given(name, x2, argument="x2"))


def tensordot(x1: ndarray, x2: ndarray, /, *, axes: Any = 2) -> ndarray:
    """Products summed over the last axes of one array and the first of the other, or over lists of axes of both."""
    x1, x2 = _arrays("tensordot", x1, x2)
    if not isinstance(axes, int):
        axes = tuple(_axes("tensordot", list(each), x.ndim) for each, x in zip(axes, (x1, x2)))
    return mnp.tensordot(x1, x2, axes) if x1.dtype.kind == "f" else _integers(np.tensordot, x1, x2, axes=axes)


def vecdot(x1: ndarray, x2: ndarray, /, *, axis: int = -1) -> ndarray:
    """Products of vectors along an axis, which counts from the end, summed."""
    x1, x2 = _arrays("vecdot", x1, x2)
    if not -builtins.min(x1.ndim, x2.ndim) <= axis < 0:
        raise MXValueError(f"vecdot: axis is from -{builtins.min(x1.ndim, x2.ndim)} to -1, got {axis}")
    if x1.shape[axis] != x2.shape[axis]:
        raise MXValueError(f"vecdot: vectors are equally long, got {x1.shape[axis]} and {x2.shape[axis]}")
    return mnp.sum(mnp.multiply(x1, x2), axis=axis)
