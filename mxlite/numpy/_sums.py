"""Averages, counts, quantiles and products of `mx.np` that are more than one operator; see `_composed.py`."""

from __future__ import annotations

import operator as _operator
from typing import Any

from mxlite.error import MXNotImplementedError
from mxlite.numpy._composed import _is_number, _shape

#: The functions of this module.
FUNCTIONS = frozenset(
    """
    average bincount ediff1d einsum histogram inner outer percentile quantile tensordot vdot
    """.split()
)


def average(f: Any, a: Any, axis: Any = None, weights: Any = None, returned: bool = False, out: Any = None) -> Any:
    """The mean, or the weighted mean; `returned`: with the sum of the weights."""
    inputs = [a] if weights is None else [a, weights]
    made = f("_npi_average", *inputs, axis=axis, returned=returned, weighted=weights is not None, out=out)
    return made[0] if isinstance(made, list) and not returned else made


def bincount(f: Any, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each integer occurs, or the sum of its weights."""
    if minlength < 0:
        raise ValueError(f"bincount: minlength is not below 0, got {minlength}")
    return f("_npi_bincount", x, weights, minlength=minlength, has_weights=weights is not None)


def histogram(
    f: Any, a: Any, bins: Any = 10, range: Any = None, normed: Any = None, weights: Any = None, density: Any = None
) -> Any:  # noqa: A002 - NumPy's name
    """How many elements are in each bin, and the bins' edges."""
    for name, value in (("normed", normed), ("weights", weights), ("density", density)):
        if value is not None and value is not False:
            raise MXNotImplementedError(f"histogram: {name} is not supported")
    if f.is_array(bins):
        return f("_npi_histogram", a, bins)
    if range is None and not f.knows_shapes:
        raise MXNotImplementedError("histogram: range is missing; a symbol does not know its values")
    if range is None:
        range = float(a.min()), float(a.max())
    return f("_npi_histogram", a, bin_cnt=_operator.index(bins), range=tuple(range))


def _percentile(f: Any, a: Any, q: Any, axis: Any, out: Any, overwrite: Any, interpolation: str, keepdims: bool) -> Any:
    if overwrite is not None:
        raise MXNotImplementedError("percentile: overwrite_input is not supported")
    given = {"axis": axis, "interpolation": interpolation, "keepdims": keepdims, "out": out}
    if _is_number(q):
        return f("_npi_percentile", a, q_scalar=q, **given)
    return f("_npi_percentile", a, q, **given)


def percentile(
    f: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = None,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The numbers that so many hundredths of the elements are not above."""
    return _percentile(f, a, q, axis, out, overwrite_input, interpolation, keepdims)


def quantile(
    f: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = None,
    interpolation: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The numbers that a part q, from 0 to 1, of the elements is not above."""
    return _percentile(f, a, q * 100, axis, out, overwrite_input, interpolation, keepdims)


def ediff1d(f: Any, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of elements that follow each other, with numbers or arrays before and after them."""
    inputs, given = [ary], {}
    for name, value in (("to_begin", to_begin), ("to_end", to_end)):
        given[f"{name}_arr_given"] = f.is_array(value)
        if f.is_array(value):
            inputs.append(value)
        else:
            given[f"{name}_scalar"] = value
    return f("_npi_ediff1d", *inputs, **given)


def tensordot(f: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """Products summed over the last axes of one array and the first of the other, or over lists of axes of both."""
    if _is_number(axes):
        return f("_npi_tensordot_int_axes", a, b, axes=_operator.index(axes))
    if len(axes) != 2:
        raise ValueError(f"tensordot: axes is a number or a pair of lists, got {axes!r}")
    first, second = map(_shape, axes)
    if len(first) != len(second):
        raise ValueError(f"tensordot: the lists of axes are equally long, got {axes!r}")
    return f("_npi_tensordot", a, b, a_axes_summed=first, b_axes_summed=second)


def inner(f: Any, a: Any, b: Any) -> Any:
    """Products summed over the last axis of both."""
    return tensordot(f, a, b, [-1, -1])


def outer(f: Any, a: Any, b: Any) -> Any:
    """The product of each element with each."""
    return tensordot(f, f.reshape(a, (-1,)), f.reshape(b, (-1,)), 0)


def vdot(f: Any, a: Any, b: Any) -> Any:
    """Products of the elements in order, summed."""
    return tensordot(f, f.reshape(a, (-1,)), f.reshape(b, (-1,)), 1)


def einsum(f: Any, *operands: Any, **kwargs: Any) -> Any:
    """Products of arrays summed over axes, which letters name: `einsum("ij,jk->ik", x, y)`."""
    subscripts, *arrays = operands
    out, optimize = kwargs.pop("out", None), kwargs.pop("optimize", False)
    if kwargs:
        raise TypeError(f"einsum: there is no parameter {next(iter(kwargs))!r}")
    if not isinstance(subscripts, str):
        raise ValueError(f"einsum: the first argument is a text, got {type(subscripts).__name__}")
    return f("_npi_einsum", *arrays, subscripts=subscripts, optimize=int(optimize), out=out)
