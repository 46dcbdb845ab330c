"""Functions of `mx.np` that 1.9.1 leaves to the installed NumPy: statistics, sums without NaN, lines and polynomials.

See `_elements.py`.
"""

from __future__ import annotations

import math
import operator as _operator
from typing import Any

import numpy as _numpy

from mxlite.error import MXNotImplementedError
from mxlite.numpy._composed import _is_number, _shape
from mxlite.numpy._elements import (
    _axis,
    _cast,
    _common,
    _floating,
    _given,
    _new,
    _ordered,
    _part,
    _summed,
    _values,
    cumprod,
    take_along_axis,
)
from mxlite.numpy._linalg import lstsq

#: The functions of this module.
FUNCTIONS = frozenset(
    """
    convolve corrcoef correlate cov cross gradient interp median mirr nanargmax nanargmin nancumprod nancumsum nanmax
    nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar npv pmt poly polyadd polydiv polyfit
    polyint polymul polysub ppmt ptp pv rate trapz unwrap vander
    """.split()
)
#: As in `_elements.py`.
OF_VALUES = FUNCTIONS


# ---- statistics ----


def ptp(f: Any, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The largest element less the smallest."""
    return f.subtract(f.max(a, axis=axis, keepdims=bool(keepdims)), f.min(a, axis=axis, keepdims=bool(keepdims)), out)


def median(
    f: Any, a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The element in the middle, or the mean of the two there."""
    a = _floating(_given(f, a))
    made = f("_npi_percentile", a, q_scalar=50.0, axis=axis, keepdims=bool(keepdims))
    found = _numpy.isnan(_values(a)).any(axis=axis, keepdims=bool(keepdims))
    made = f.where(_new(f, _numpy.asarray(found)), math.nan, made) if found.any() else made
    return made if out is None else f("_np_copy", made, out=out)


def cov(
    f: Any,
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariances of variables, whose observations are rows, or columns without `rowvar`.

    Args:
        y: more variables.
        bias, ddof: the sum is divided by the number of observations less `ddof`: 0 with `bias`, else 1.
        fweights, aweights: how often each observation occurs, and how much it counts.
    """
    dtype = dtype or _numpy.result_type("float64", *(_given(f, each).dtype for each in (m, y) if f.is_array(each)))
    x = _observations(f, m, rowvar, dtype)
    if y is not None:
        x = f.concatenate([x, _observations(f, y, rowvar, dtype)])
    weights = _weights(fweights, aweights, x.shape[1])
    ddof = (0 if bias else 1) if ddof is None else _operator.index(ddof)
    total = x.shape[1] if weights is None else weights.sum()
    if weights is not None and ddof and aweights is not None:
        less = ddof * (weights * _values(aweights)).sum() / total
    else:
        less = ddof
    scale = 1.0 if weights is None else _cast(_new(f, weights.astype("float64")), dtype)
    x = x - f.sum(x * scale, axis=1, keepdims=True) / float(total)
    made = f.dot(x * scale, x.T) * (1.0 / (total - less) if total > less else math.inf)
    return f.reshape(made, ()) if made.shape == (1, 1) else f.squeeze(made)


def _observations(f: Any, m: Any, rowvar: bool, dtype: Any) -> Any:
    m = _cast(_given(f, m), dtype)
    if m.ndim > 2:
        raise ValueError(f"cov: takes a matrix or a vector, got {m.ndim} axes")
    if m.ndim < 2:
        return f.reshape(m, (1, -1))
    return m if rowvar or m.shape[0] == 1 else m.T


def _weights(frequencies: Any, others: Any, count: int) -> Any:
    """The product of both kinds of weights; None: there are none."""
    found = None
    for name, given in (("fweights", frequencies), ("aweights", others)):
        if given is None:
            continue
        values = _values(given)
        if values.shape != (count,) or (values < 0).any():
            raise ValueError(f"cov: {name} are {count} numbers, none below 0, got shape {values.shape}")
        if name == "fweights" and (values != _numpy.rint(values)).any():
            raise TypeError("cov: fweights are integers")
        found = values if found is None else found * values
    return found


def corrcoef(
    f: Any, x: Any, y: Any = None, rowvar: bool = True, bias: Any = None, ddof: Any = None, *, dtype: Any = None
) -> Any:
    """The correlations of variables, as cov() takes them; `bias` and `ddof` have no effect."""
    found = cov(f, x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    roots = f.sqrt(f.diag(found))
    return f.clip(found / f.reshape(roots, (-1, 1)) / roots, -1.0, 1.0)


def correlate(f: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    """The sums of products of one vector with another at every place: "valid" where it lies within, "same", "full"."""
    return _slid(f, "correlate", a, v, mode, False)


def convolve(f: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """As correlate() with the second vector backwards."""
    return _slid(f, "convolve", a, v, mode, True)


def _slid(f: Any, name: str, a: Any, v: Any, mode: str, is_reversed: bool) -> Any:
    a, v = _common(f, _given(f, a), _given(f, v))
    n, m = (each.shape[0] if each.ndim == 1 else 0 for each in (a, v))
    if not n or not m:
        raise ValueError(f"{name}: takes two vectors with elements, got shapes {a.shape} and {v.shape}")
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"{name}: mode is 'valid', 'same' or 'full', got {mode!r}")
    small, large = sorted((n, m))
    begin, end = 0, n + m - 1
    if mode == "valid":
        begin, end = small - 1, large
    elif mode == "same":
        begin = small // 2 if n < m and not is_reversed else small - 1 - small // 2
        end = begin + large
    none = f.zeros((m - 1,), a.dtype)
    places = _numpy.arange(begin, end)[:, None] + _numpy.arange(m)
    products = f.concatenate([none, a, none])[places] * (v[::-1] if is_reversed else v)
    inside = _new(f, (places >= m - 1) & (places < m - 1 + n))  # NaN counts only where it is
    return _cast(f.sum(f.where(inside, products, f.zeros_like(products)), axis=1), a.dtype)


def interp(f: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Any:
    """The line through points (xp, fp), at x.

    Args:
        left, right: for x before the first point and after the last; None: fp there.
        period: x and xp are angles of this period.
    """
    x, xp, fp = (_cast(_given(f, each), "float64") for each in (x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape or not xp.shape[0]:
        raise ValueError(f"interp: xp and fp are vectors of one length, got shapes {xp.shape} and {fp.shape}")
    if period is not None:
        if not period:
            raise ValueError("interp: period is not 0")
        period, left, right = abs(float(period)), None, None
        x, xp = f.mod(x, period), f.mod(xp, period)
        order = _numpy.argsort(_values(xp), kind="stable")
        xp, fp = xp[order], fp[order]
        xp = f.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = f.concatenate([fp[-1:], fp, fp[:1]])
    values, points = _values(x), _values(xp)
    last = points.size - 1
    if not last:
        made = x * 0.0 + fp[0]
    else:
        at = f.clip(f("_mxl_searchsorted", xp.detach(), x.detach(), right=True) - 1, 0, last - 1)
        next_ = at + 1
        x0, x1, y0, y1 = (f.take(of, where, axis=0) for of in (xp, fp) for where in (at, next_))
        made = (y1 - y0) / (x1 - x0) * (x - x0) + y0
    for outside, value, end in ((values < points[0], left, 0), (values > points[-1], right, last)):
        if outside.any():
            given = fp[end] if value is None else _cast(_given(f, value), "float64")
            made = f.where(_new(f, _numpy.asarray(outside)), f.broadcast_to(given, made.shape), made)
    return made


def trapz(f: Any, y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral along an axis, by trapezoids; of points at `x`, or `dx` apart."""
    y = _floating(_given(f, y))
    axis = _axis(axis, y.ndim)
    heights = _part(y, axis, 1, None) + _part(y, axis, None, -1)
    if x is None:
        return f.sum(heights * (dx / 2.0), axis=axis)
    x = _given(f, x)
    if x.ndim == 1:
        x = f.reshape(x, tuple(-1 if k == axis else 1 for k in range(y.ndim)))
    widths = _part(x, axis if x.ndim == y.ndim else x.ndim - 1, 1, None) - _part(x, axis, None, -1)
    heights, widths = _common(f, heights, _floating(widths))
    return f.sum(heights * widths / 2.0, axis=axis)


def gradient(f: Any, array: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The derivative along each axis (of several a list), by differences of neighbours.

    Args:
        varargs: nothing, or how far apart the elements are, a number or for each axis a number or their places.
        edge_order: 1 or 2, of the differences at both ends.
    """
    array = _floating(_given(f, array))
    axes = tuple(range(array.ndim)) if axis is None else tuple(_axis(each, array.ndim) for each in _shape(axis))
    steps = list(varargs) or [1.0]
    if len(steps) == 1 and (_is_number(steps[0]) or len(axes) == 1):
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"gradient: takes one distance, or one for each of {len(axes)} axes, got {len(steps)}")
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is 1 or 2, got {edge_order!r}")
    made = [_slope(f, array, step, each, edge_order) for step, each in zip(steps, axes)]
    return made[0] if len(made) == 1 else made


def _slope(f: Any, array: Any, step: Any, axis: int, edge_order: int) -> Any:
    size = array.shape[axis]
    if size < edge_order + 1:
        raise ValueError(f"gradient: an axis has {edge_order + 1} elements at least, got {size}")
    is_even = _is_number(step) or not _given(f, step).ndim
    if is_even:
        widths = _new(f, _numpy.full(size - 1, float(_values(step)), array.dtype))
    else:
        places = _given(f, step)
        if places.shape != (size,):
            raise ValueError(f"gradient: places of {size} elements are a vector of {size}, got shape {places.shape}")
        widths = _cast(places[1:] - places[:-1], array.dtype)
    widths = f.reshape(widths, tuple(-1 if k == axis else 1 for k in range(array.ndim)))
    slopes = (_part(array, axis, 1, None) - _part(array, axis, None, -1)) / widths
    before, after = _part(widths, axis, None, -1), _part(widths, axis, 1, None)
    first, second = _part(slopes, axis, None, -1), _part(slopes, axis, 1, None)
    if is_even:  # without the element between, which may be NaN
        middle = (_part(array, axis, 2, None) - _part(array, axis, None, -2)) / (before + after)
    else:
        middle = (after * first + before * second) / (before + after)
    begin, end = _part(slopes, axis, None, 1), _part(slopes, axis, -1, None)
    if edge_order == 2:
        begin, end = (_bent(slopes, widths, axis, *each) for each in ((0, 1, 2), (-1, -2, None)))
    return f.concatenate([begin, middle, end] if size > 2 else [begin, end], axis=axis)


def _bent(slopes: Any, widths: Any, axis: int, near: int, far: int, end: int | None) -> Any:
    """The differences of second order at an end, by the two slopes there."""
    near_width, far_width, near_slope, far_slope = (
        _part(each, axis, place, place + 1 or None) for each in (widths, slopes) for place in (near, far)
    )
    return near_slope + (near_slope - far_slope) * near_width / (near_width + far_width)


def cross(f: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """The cross product of vectors of 3 or 2 elements; of two of 2 the third element alone."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _common(f, _given(f, a), _given(f, b))
    a, b = f.moveaxis(a, axisa, -1), f.moveaxis(b, axisb, -1)
    sizes = a.shape[-1], b.shape[-1]
    if not {2, 3} >= set(sizes):
        raise ValueError(f"cross: vectors have 2 or 3 elements, got {sizes[0]} and {sizes[1]}")
    x, y = ([each[..., k] if k < each.shape[-1] else None for k in range(3)] for each in (a, b))
    third = x[0] * y[1] - x[1] * y[0]
    if sizes == (2, 2):
        return third
    parts = [_less(x[1], y[2], x[2], y[1]), _less(x[2], y[0], x[0], y[2]), third]
    shape = third.shape
    return f.moveaxis(f.stack([f.broadcast_to(each, shape) for each in parts], axis=-1), -1, axisc)


def _less(a: Any, b: Any, c: Any, d: Any) -> Any:
    """a * b - c * d; None is 0, of one of both products."""
    if a is None or b is None:
        return -(c * d)
    return a * b if c is None or d is None else a * b - c * d


def unwrap(f: Any, p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    """Angles made continuous: where neighbours differ by more than `discont`, by multiples of the period."""
    p = _floating(_given(f, p))
    values = _values(p)
    return p + _new(f, (_numpy.unwrap(values, discont, axis, period=period) - values).astype(values.dtype))


# ---- without NaN ----


def _without(f: Any, a: Any, value: float) -> Any:
    """An array with a number for NaN."""
    a = _given(f, a)
    return f.where(f.isnan(a), value, a) if a.dtype.kind == "f" else a


def nansum(f: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The sum; NaN counts as 0."""
    return f.sum(_summed(_without(f, a, 0.0), dtype), axis=axis, keepdims=bool(keepdims), out=out)


def nanprod(f: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The product; NaN counts as 1."""
    return f.prod(_summed(_without(f, a, 1.0), dtype), axis=axis, keepdims=bool(keepdims), out=out)


def nancumsum(f: Any, a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The sums of the elements up to each; NaN counts as 0."""
    return f.cumsum(_summed(_without(f, a, 0.0), dtype), axis=axis, out=out)


def nancumprod(f: Any, a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """The products of the elements up to each; NaN counts as 1."""
    return cumprod(f, _without(f, a, 1.0), axis, dtype, out)


def _extreme(f: Any, reduce: Any, a: Any, worst: float, axis: Any, out: Any, keepdims: Any) -> Any:
    a = _given(f, a)
    made = reduce(_without(f, a, worst), axis=axis, keepdims=bool(keepdims))
    if a.dtype.kind == "f":
        lacking = f.isnan(a).all(axis=axis, keepdims=bool(keepdims))
        made = f.where(lacking, math.nan, made)
    return made if out is None else f("_np_copy", made, out=out)


def nanmax(f: Any, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The largest element that is not NaN; NaN where all are."""
    return _extreme(f, f.max, a, -math.inf, axis, out, keepdims)


def nanmin(f: Any, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The smallest element that is not NaN; NaN where all are."""
    return _extreme(f, f.min, a, math.inf, axis, out, keepdims)


def nanargmax(f: Any, a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Where the largest element is that is not NaN. Raises: ValueError: all are."""
    return _place(f, _numpy.nanargmax, a, axis, out, keepdims)


def nanargmin(f: Any, a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Any:
    """Where the smallest element is that is not NaN. Raises: ValueError: all are."""
    return _place(f, _numpy.nanargmin, a, axis, out, keepdims)


def _place(f: Any, find: Any, a: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    made = _new(f, _numpy.asarray(find(_values(a), axis, keepdims=bool(keepdims))))
    return made if out is None else f("_np_copy", made, out=out)


def nanmean(f: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The mean of the elements that are not NaN."""
    a = _floating(_given(f, a))
    return f.divide(nansum(f, a, axis, dtype, None, keepdims), _count(f, a, axis, keepdims), out)


def _count(f: Any, a: Any, axis: Any, keepdims: Any, less: float = 0) -> Any:
    """How many elements are not NaN, less a number; NaN where that leaves none."""
    found = _numpy.sum(~_numpy.isnan(_values(a)), axis=axis, keepdims=bool(keepdims)) - less
    return _new(f, _numpy.where(found > 0, found, _numpy.nan).astype(a.dtype))


def nanvar(
    f: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False
) -> Any:
    """The variance of the elements that are not NaN; the sum is divided by their number less `ddof`."""
    a = _floating(_given(f, a)) if dtype is None else _cast(_given(f, a), dtype)
    centred = _without(f, a - nanmean(f, a, axis, None, None, True), 0.0)
    squares = f.sum(centred * centred, axis=axis, keepdims=bool(keepdims))
    return f.divide(squares, _count(f, a, axis, keepdims, ddof), out)


def nanstd(
    f: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False
) -> Any:
    """The standard deviation of the elements that are not NaN."""
    return f.sqrt(nanvar(f, a, axis, dtype, None, ddof, keepdims), out)


def nanquantile(
    f: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: Any = None,
) -> Any:
    """The numbers that a part q, from 0 to 1, of the elements that are not NaN is not above."""
    a, parts = _floating(_given(f, a)), _values(q)
    a = _cast(a, "float64") if parts.ndim else a
    if not ((parts >= 0) & (parts <= 1)).all():
        raise ValueError(f"nanquantile: q is from 0 to 1, got {q}")
    method = method if interpolation is None else interpolation
    if method not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise MXNotImplementedError(f"nanquantile: method={method!r} is not supported")
    axes = tuple(range(a.ndim)) if axis is None else tuple(_axis(each, a.ndim) for each in _shape(axis))
    others = tuple(k for k in range(a.ndim) if k not in axes)
    left = tuple(a.shape[k] for k in others)
    rows = f.reshape(f.transpose(a, others + axes), (*left, math.prod(a.shape[k] for k in axes)))
    values = _values(rows)
    rows = _ordered(f, rows, -1, _numpy.argsort(values, axis=-1))
    counts = (~_numpy.isnan(values)).sum(axis=-1, keepdims=True)
    places = _numpy.maximum(counts - 1, 0) * parts.ravel()
    low = _numpy.floor(places).astype(_numpy.int64)
    high = _numpy.minimum(low + 1, _numpy.maximum(counts - 1, 0))
    share = {
        "linear": places - low,
        "lower": 0.0 * places,
        "higher": (places > low) * 1.0,
        "midpoint": (places > low) * 0.5,
        "nearest": _numpy.rint(places) - low,
    }[method]
    first, second = (take_along_axis(f, rows, each, -1) for each in (low, high))
    made = first + (second - first) * _new(f, share.astype(a.dtype))
    shape = tuple(1 if k in axes else size for k, size in enumerate(a.shape)) if keepdims else left
    made = f.reshape(f.moveaxis(made, -1, 0), parts.shape + shape)
    return made if out is None else f("_np_copy", made, out=out)


def nanpercentile(
    f: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    interpolation: Any = None,
) -> Any:
    """The numbers that so many hundredths of the elements that are not NaN are not above."""
    return nanquantile(f, a, _values(q) / 100, axis, out, False, method, keepdims, interpolation=interpolation)


def nanmedian(
    f: Any, a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The element in the middle of those that are not NaN, or the mean of the two there."""
    return nanquantile(f, a, 0.5, axis, out, False, "midpoint", keepdims)


# ---- polynomials: vectors of coefficients, that of the highest power first ----


def _coefficients(f: Any, *given: Any) -> list[Any]:
    return _common(f, *(f.reshape(_given(f, each), (-1,)) for each in given))


def _longer(f: Any, p: Any, size: int) -> Any:
    """Coefficients with zeros before them."""
    return f.concatenate([f.zeros((size - p.shape[0],), p.dtype), p]) if p.shape[0] < size else p


def polyadd(f: Any, a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    p, q = _coefficients(f, a1, a2)
    size = max(p.shape[0], q.shape[0])
    return _longer(f, p, size) + _longer(f, q, size)


def polysub(f: Any, a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    p, q = _coefficients(f, a1, a2)
    size = max(p.shape[0], q.shape[0])
    return _longer(f, p, size) - _longer(f, q, size)


def polymul(f: Any, a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
    return convolve(f, *(each[_first(each) :] for each in _coefficients(f, a1, a2)))


def _first(p: Any) -> int:
    """The place of the highest power that is there; without one the last."""
    found = _numpy.flatnonzero(_values(p))
    return int(found[0]) if found.size else p.shape[0] - 1


def polydiv(f: Any, u: Any, v: Any) -> tuple[Any, Any]:
    """The quotient and the remainder of two polynomials."""
    u, v = _coefficients(f, *(_floating(_given(f, each)) for each in (u, v)))
    m, n = u.shape[0], v.shape[0]
    if m < n:
        return f.zeros((1,), u.dtype), u
    quotient = []
    for _ in range(m - n + 1):
        quotient.append(u[:1] / v[:1])
        u = f.concatenate([u[1:n] - quotient[-1] * v[1:], u[n:]]) if u.shape[0] > 1 else u[1:]
    u = u if u.shape[0] else f.zeros((1,), v.dtype)
    found = _numpy.flatnonzero(~_numpy.isclose(_values(u), 0, rtol=1e-14))
    return f.concatenate(quotient), u[int(found[0] if found.size else u.shape[0] - 1) :]


def polyint(f: Any, p: Any, m: int = 1, k: Any = None) -> Any:
    """The integral of a polynomial, m times, with these constants; None: 0."""
    p = _cast(*_coefficients(f, p), "float64")
    constants = _numpy.zeros(m) if k is None else _numpy.broadcast_to(_values(k).ravel(), (m,))
    for constant in constants:
        powers = _new(f, _numpy.arange(p.shape[0], 0, -1).astype(p.dtype))
        p = f.concatenate([p / powers, _new(f, _numpy.array([constant], p.dtype))])
    return p


def poly(f: Any, seq_of_zeros: Any) -> Any:
    """The polynomial with these zeros, or the characteristic polynomial of a matrix."""
    zeros = _floating(_given(f, seq_of_zeros))
    if zeros.ndim == 2:
        zeros = f("_npi_eigvals", zeros)
    made = f.ones((1,), zeros.dtype)
    for k in range(zeros.shape[0]):
        made = convolve(f, made, f.concatenate([f.ones((1,), zeros.dtype), -zeros[k : k + 1]]))
    return made


def vander(f: Any, x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803 - NumPy's name
    """The powers of each element as a row, the highest first unless `increasing`."""
    x = _given(f, x)
    if x.ndim != 1:
        raise ValueError(f"vander: takes a vector, got {x.ndim} axes")
    x = _cast(x, _numpy.promote_types(x.dtype, int))
    powers = [f.ones_like(x)]
    for _ in range(1, x.shape[0] if N is None else N):
        powers.append(powers[-1] * x)
    powers = powers[: x.shape[0] if N is None else N]
    return f.stack(powers if increasing else powers[::-1], axis=1) if powers else f.zeros((x.shape[0], 0), x.dtype)


def polyfit(
    f: Any, x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """The polynomial of a degree that is nearest to points, by least squares.

    Args:
        w: weights of the points' distances.
        full: with the residuals, the rank, the singular values, and `rcond`, below which singular values count as 0.
        cov: with the covariances; "unscaled": of distances whose variances are 1 / w ** 2.
    """
    x, y = (_cast(_given(f, each), "float64") for each in (x, y))
    order = _operator.index(deg) + 1
    if x.ndim != 1 or not x.shape[0] or y.ndim not in (1, 2) or y.shape[0] != x.shape[0] or order < 1:
        raise ValueError(f"polyfit: takes a vector and values for it, got shapes {x.shape} and {y.shape}, degree {deg}")
    rcond = x.shape[0] * _numpy.finfo("float64").eps if rcond is None else rcond
    rows = vander(f, x, order)
    if w is not None:
        w = _cast(_given(f, w), "float64")
        rows, y = rows * f.reshape(w, (-1, 1)), y * (f.reshape(w, (-1, 1)) if y.ndim == 2 else w)
    scale = f.sqrt(f.sum(rows * rows, axis=0))
    found, residuals, rank, values = lstsq(f, rows / scale, y, rcond)
    if int(rank) != order and not full:
        from warnings import warn

        warn("polyfit: the points do not say the polynomial, several are as near", UserWarning, stacklevel=3)
    found = found / (f.reshape(scale, (-1, 1)) if y.ndim == 2 else scale)
    if full:
        return found, residuals, rank, values, rcond
    if not cov:
        return found
    made = f("_npi_inv", f.dot(rows.T, rows))
    if cov != "unscaled":
        if x.shape[0] <= order:
            raise ValueError(f"polyfit: covariances take more points than {order}, got {x.shape[0]}")
        made = (f.reshape(made, (order, order, 1)) if y.ndim == 2 else made) * (residuals / (x.shape[0] - order))
    return found, made


# ---- finances, which NumPy itself has dropped ----


def _dropped(name: str) -> Any:
    def function(f: Any, *args: Any, **kwds: Any) -> Any:
        raise MXNotImplementedError(f"{name}: NumPy has no such function any more; the package numpy_financial has")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "Raises NotImplementedError (and RuntimeError): NumPy has dropped it, as it has for 1.9.1."
    return function


mirr, npv, pmt, ppmt, pv, rate = map(_dropped, ("mirr", "npv", "pmt", "ppmt", "pv", "rate"))
