"""Elements by their rank or number: mode, kthvalue, quantile, nanmedian; cummax, logcumsumexp; unique, histograms.

Positions are operators' that have no derivative; the elements there are taken.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite.torch._basic import from_values, holds, of_all, zeros_of
from mxlite.torch._calls import both, function, functions, prepare, run, run_many
from mxlite.torch._convert import as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL, INTEGER, bool_, float16, float32, float64, int32, int64
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import check_dim
from mxlite.torch._math.order import _gathered, _require_elements, median, pair, picked, require_extent, shared, sort
from mxlite.torch._math.pairs import constant, lerp
from mxlite.torch._math.reductions import nansum, sum
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import cat
from mxlite.torch._shape.shapes import along
from mxlite.torch._shape.where import choose, where
from mxlite.torch._tensor import Tensor, full_of


def _order(x: Tensor, place: int) -> Tensor:
    return functions["argsort"](x, place, stable=True)


def _kth(x: Tensor, place: int, k: int) -> Tensor:
    if not 1 <= k <= x.shape[place]:
        raise RuntimeError(f"kthvalue: k is from 1 to {x.shape[place]}, got {k}")
    return _order(x, place).narrow(place, k - 1, 1)


def _middle(x: Tensor, place: int) -> Tensor:
    """Where the lower median of each row's numbers is; of NaN alone, the first."""
    counts = sum(x == x, place, True)
    return _order(x, place).gather(place, (counts - 1).clamp_min(0) // 2)


def _most_frequent(x: Tensor, place: int) -> Tensor:
    return run(prepare(None, "_mxl_mode", "axis"), [x], place, kind=int64)


def _ranked(name: str, find: Callable, label: str = "Backward0") -> Callable:
    """A function that takes an element of each row along a dimension; `find`: of values and an axis, where it is."""
    results = pair(name)

    def ranked(input: Tensor, *given: Any, dim: int, keepdim: bool) -> Any:
        place = check_dim(dim, input.ndim)
        require_extent(name, input, place)
        if input._dtype.kind == BOOL and name != "mode" and (input.shape or name == "nanmedian"):
            raise none_of(name, input._dtype)
        values = input.detach() if input.shape else input.detach().reshape(1)
        return results(*picked(name.title() + label, input, place, find(values, place, *given), keepdim))

    return ranked


_kthvalue, _mode, _nanmedian = (_ranked("kthvalue", _kth), _ranked("mode", _most_frequent),
                                _ranked("nanmedian", _middle, "Backward1"))  # fmt: skip


@both()
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along a dimension, and where it is."""
    return _kthvalue(input, k, dim=dim, keepdim=keepdim)


@both()
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dimension (of several the smallest), and where it is last."""
    return _mode(input, dim=dim, keepdim=keepdim)


@both()
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle (the lower one of two) of those that are not NaN: of all, or along a dimension."""
    if dim is not None:
        return _nanmedian(input, dim=dim, keepdim=keepdim)
    if not input.numel():
        return full_of((), True, bool_) if input._dtype.kind == BOOL else median(input)
    if input._dtype.kind == BOOL:
        raise none_of("nanmedian", input._dtype)
    place = _middle(input.detach().reshape(-1), 0)
    return shared("NanmedianBackward0", input, lambda x: x.reshape(-1).gather(0, place).reshape(()))


@both()
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not NaN."""
    if not (input._dtype if dtype is None else dtype).is_floating_point:
        raise RuntimeError(f"nanmean: the dtype is floating, got {input._dtype.word}")
    return nansum(input, dim, keepdim, dtype=dtype) / sum(input.detach() == input.detach(), dim, keepdim)


@both()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest element: of all, or along a dimension."""
    if dim is None:
        _require_elements("aminmax", input)
    return _aminmax(*(each(() if dim is None else dim, keepdim) for each in (input.amin, input.amax)))


_aminmax, _histogram = pair("aminmax", "min", "max"), pair("histogram", "hist", "bin_edges")
_histogramdd = pair("histogramdd", "hist", "bin_edges")
both("msort", document="The elements in order along the first dimension.")(lambda input: sort(input, 0).values)


def _quantile(name: str, without_nan: bool) -> None:
    @both(name, document=f"Below which parts q, from 0 to 1, of the elements lie{' that are no NaN' * without_nan}.")
    def quantile(
        input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Tensor:
        kind, rounded = input._dtype, {"lower": "floor", "higher": "ceil", "nearest": "round"}.get(interpolation)
        parts = q if isinstance(q, Tensor) else full_of((), float(q), kind)
        if kind not in (float32, float64) or parts._dtype is not kind or parts.ndim > 1:
            raise RuntimeError(f"{name}: takes float32 or float64, and q of that in 1 dimension or none")
        if interpolation not in ("linear", "midpoint") and rounded is None:
            raise RuntimeError(f"{name}: there is no interpolation {interpolation!r}")
        if not input.numel() or not holds((parts >= 0) & (parts <= 1)):
            raise RuntimeError(f"{name}: takes tensors with elements, and q from 0 to 1")
        place = 0 if dim is None else check_dim(dim, input.ndim)
        rows = sort(input.reshape(-1) if dim is None or not input.shape else input.movedim(place, -1)).values
        counts, most = sum(rows == rows, -1, True), full_of((), rows.shape[-1] - 1, kind)
        last = cast(counts - 1, kind).clamp_min(0) if without_nan else most
        ranks = parts.reshape(-1) * last
        if not without_nan:  # a row with NaN ends with it
            ranks = where(counts == rows.shape[-1], ranks, most)
        ranks = ranks.expand(*rows.shape[:-1], parts.numel())
        ranks = getattr(ranks, rounded)() if rounded else ranks
        low = ranks.detach().floor()
        made = rows.gather(-1, cast(low, int64))
        if not rounded:
            share = full_of((), 0.5, kind) if interpolation == "midpoint" else ranks - low
            made = lerp(made, rows.gather(-1, cast(ranks.detach().ceil(), int64)), share.expand(made.shape))
        made = made.movedim(-1, 0) if parts.ndim else made.squeeze(-1)
        kept = [1 if dim is None or k == place else size for k, size in enumerate(input.shape)]
        return made.reshape((*parts.shape, *kept)) if keepdim else made


_quantile("quantile", False)
_quantile("nanquantile", True)


# ---- cumulative ----


def _running(name: str) -> None:
    results, call = pair(name), prepare(None, "_mxl_running_place", "axis", largest=name == "cummax")

    @both(name, document=f"The {name[3:]}imum of the elements up to each one along a dimension, and where it is last.")
    def running(input: Tensor, dim: int) -> Any:
        place = check_dim(dim, input.ndim)
        if not input.shape or not input.numel():
            return results(input.clone(), zeros_of(input.shape, int64))
        indices = run(call, [input.detach()], place, kind=int64)
        return results(_gathered(f"{name.title()}Backward0", input, place, indices), indices)


_running("cummax")
_running("cummin")


@both()
@along
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The logarithm of the sum of exponentials of the elements up to each one, along a dimension."""
    place, kind = check_dim(dim, input.ndim), input._dtype
    if not kind.is_floating_point:
        raise none_of("logcumsumexp", kind)

    compute = lambda x: run(prepare(None, "_mxl_logcumsumexp", "axis"), [x], place, kind=kind)  # noqa: E731

    def rule(grad: Tensor, x: Tensor, result: Tensor) -> list:  # sums from the end, each by the part that it is of one
        size, zero = x.shape[place], full_of((), 0, kind)
        before = cat([result.narrow(place, 0, min(size, 1)), result.narrow(place, 0, max(size - 1, 0))], place)
        shares = choose(before == result, zero, before - result).exp()
        sums = run(prepare(None, "_mxl_scan_linear", "axis", reverse=True), [grad, shares], place, kind=kind)
        return [sums * choose(x == result, zero, x - result).exp()]

    return formula("LogcumsumexpBackward0", [input], compute, rule, saves="0r")


# ---- sets ----


def _axis_of(input: Tensor, dim: int) -> int:
    place = check_dim(dim, input.ndim)
    if not input.shape:
        raise IndexError("unique: a tensor without dimensions has no parts")
    if input.shape[place] and not input.numel():
        raise RuntimeError(f"unique: the parts of dimension {dim} have no elements")
    return place


def _chosen(input: Tensor, dim: Any, values: Tensor, inverse: Tensor, counts: Tensor, *returned: bool) -> Any:
    others = inverse.reshape(input.shape if dim is None else -1), counts
    found = [each for each, is_wanted in zip(others, returned) if is_wanted]
    values = constant("unique", [input], values, NotImplementedError)
    return (values, *found) if found else values


@both()
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The different elements (parts along `dim`), in order; which one each is, and how many there are of each."""
    given = {} if dim is None else {"axis": _axis_of(input, dim)}
    call = prepare(None, "_npi_unique", return_inverse="1", return_counts="1", **given)
    values, inverse, counts = run_many(call, [input.detach()], kinds=[input._dtype, int64, int64])
    more = int(counts[-1]) - 1 if counts.numel() and dim is None else 0
    if more > 0 and bool(values[-1] != values[-1]):  # each NaN is another one
        values, counts = cat([values, values[-1:].expand(more)]), cat([counts[:-1], full_of((more + 1,), 1, int64)])
        last = inverse == inverse.max()
        inverse = where(last, inverse + last.cumsum(0) - 1, inverse)
    return _chosen(input, dim, values, inverse, counts, return_inverse, return_counts)


@both()
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements (parts along `dim`) that differ from the one before; which one each is, and how long its run is."""
    place = 0 if dim is None else _axis_of(input, dim)
    rows = input.detach().reshape(-1) if dim is None else input.detach()
    line = rows.movedim(place, 0)
    apart = line[1:] != line[:-1]
    apart = apart.reshape(len(apart), math.prod(apart.shape[1:])).any(1)
    starts = cat([full_of((min(len(line), 1),), True, bool_), apart])
    first = starts.nonzero().reshape(-1)
    counts = cat([first[1:], full_of((min(len(line), 1),), len(line), int64)]) - first
    return _chosen(
        input, dim, rows.index_select(place, first), starts.cumsum(0) - 1, counts, return_inverse, return_counts
    )


def _of_one_dtype(*given: Any) -> list[Tensor]:
    kind = common_dtype(*given)
    return [as_tensor_of(each, kind).detach() for each in given]


@function()
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Which elements are among the others; `invert`: which are not."""
    given = _of_one_dtype(elements, test_elements)
    if given[0]._dtype.kind == BOOL:
        raise RuntimeError("isin: takes no truth values")
    found = run(prepare(None, "_mxl_isin"), given, kind=bool_)
    return ~found if invert else found


@function()
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values would be in rows in order: before equal ones, or behind (`right`, side="right").

    Args:
        sorter: The indices that put each row in order.
    """
    rows, values = _of_one_dtype(sorted_sequence, input)
    if rows._dtype.kind == BOOL and values.numel():
        raise none_of("searchsorted", rows._dtype)
    if side not in (None, "left", "right") or (side == "left" and right):
        raise RuntimeError(f"searchsorted: side is 'left' or 'right', got {side!r} beside right={right}")
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape or sorter._dtype is not int64:
            raise RuntimeError("searchsorted: the sorter has the shape of the rows and dtype int64")
        rows = rows.gather(-1, sorter)
    call = prepare(None, "_mxl_searchsorted", right=right or side == "right", nan_below=True)
    return cast(run(call, [rows, values], kind=int64), int32 if out_int32 else int64)


@function()
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """The bucket between boundaries of each element; `right`: elements equal to one are in the bucket behind it."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"bucketize: boundaries are a vector, got {boundaries.ndim} dimensions")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# ---- counts ----


@both()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each integer occurs, or the sum of its weights."""
    if input._dtype.kind != INTEGER:
        raise none_of("bincount", input._dtype)
    if input.ndim != 1 or minlength < 0 or (input.numel() and int(of_all(input).min()) < 0):
        raise RuntimeError(f"bincount: takes a vector of integers from 0 on and minlength from 0 on, got {input.dtype}")
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError(f"bincount: there are {input.numel()} integers and weights of shape {list(weights.shape)}")
    kind = int64 if weights is None else weights._dtype if weights._dtype is float32 else float64
    if not input.numel():
        return zeros_of((minlength,), int64)
    call = prepare(None, "_npi_bincount", minlength=minlength, has_weights=str(weights is not None))
    inputs = [input] if weights is None else [input, cast(weights.detach(), kind)]
    return constant("bincount", [weights], cast(run(call, inputs), kind))


def _edges(low: float, high: float, bins: int, kind: Any) -> Tensor:
    """Edges of equal bins, in the arithmetic of the dtype: from the nearer end."""
    start, end, place = full_of((), low, kind), full_of((), high, kind), functions["arange"](bins + 1, dtype=kind)
    step = (end - start) / bins
    return where(place < (bins + 1) // 2, start + step * place, end - step * (bins - place))


def _counted(
    name: str,
    input: Tensor,
    bins: Any,
    low: float,
    high: float,
    by: float,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    """Counts and edges of bins; `by`: how far the edges are from elements that are all equal."""
    kind, ends = input._dtype, None
    if not kind.is_floating_point or (name == "histogram" and kind is float16):
        raise none_of(name, kind)
    if not isinstance(bins, Tensor):
        if low == high and input.numel():
            low, high = (float(each()) for each in (input.detach().min, input.detach().max))
        near = by if input.numel() or low else 0
        ends = (low - near, high + (near or 1)) if low == high else (low, high)
    finite = ends is None or all(map(math.isfinite, ends))
    if bins._dtype is not kind if ends is None else bins < 1 or ends[0] > ends[1] or not finite:
        raise RuntimeError(f"{name}: takes bins above 0 and finite ends in order, or edges of the input's dtype")
    x, edges = input.detach().reshape(-1), bins.detach() if ends is None else _edges(*ends, bins, kind)
    low, high = edges[0], edges[-1]
    inside, most = ((x >= low) & (x <= high)).nonzero().reshape(-1), len(edges) - 1
    x, weight = x[inside], None if weight is None else weight.detach().reshape(-1)[inside]
    if ends is None:
        at = searchsorted(edges, x, right=True) - 1
    elif bool(low == high):  # which are so large
        at = full_of(x.shape, most // 2 if name == "histc" else min(1, most), int64)
    else:  # by the width, and for "histogram" then by the edges beside
        at = cast((x - low) * most / (high - low), int64)
        if name == "histogram":
            at = at - cast(edges[at] > x, int64)
            at = at + cast(edges[(at + 1).clamp_max(most)] <= x, int64)
    at = at.clamp(0, most - 1)
    counts = cast(bincount(at, weight, most), kind)
    if density:
        counts = counts / (counts.sum() * edges.diff())
    return [counts] if name == "histc" else [constant(name, [input], each) for each in (counts, edges)]


both("histc", document="How many elements are in each of `bins` equal bins from `min` to `max`.")(
    lambda input, bins=100, min=0.0, max=0.0: _counted("histc", input, bins, float(min), float(max), 1)[0]
)


@function()
def histogramdd(input: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """As histogram, of rows as points: `bins` of each of their dimensions (numbers, or edges); `range`: their ends."""
    if input.ndim < 2 or not input._dtype.is_floating_point:
        raise (RuntimeError if input.ndim < 2 else NotImplementedError)("histogramdd: takes rows of floating numbers")
    count, points = input.shape[-1], input.detach()._values().reshape(-1, input.shape[-1])
    bins = [bins] * count if isinstance(bins, int) else [_plain(each) for each in bins]
    if len(bins) != count or (range is not None and len(range) != 2 * count):
        raise RuntimeError(f"histogramdd: one number of bins, and two ends, for each of {count} dimensions")
    ends = None if range is None else list(zip(range[::2], range[1::2]))
    weights = None if weight is None else weight._values().reshape(-1)
    try:
        found, edges = np.histogramdd(points, bins, ends, density, weights)
    except ValueError as problem:
        raise RuntimeError(f"histogramdd: {problem}") from None
    made = [constant("histogramdd", [input], from_values(each, input._dtype)) for each in (found, *edges)]
    return _histogramdd(made[0], tuple(made[1:]))


def _plain(value: Any) -> Any:
    return value._values() if isinstance(value, Tensor) else value


@both()
def histogram(input: Tensor, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements (or what sum of weights) each bin has, and the bins' edges; `bins`: a number, or edges."""
    if not input._dtype.is_floating_point:
        raise none_of("histogram", input._dtype)
    if weight is not None and (weight._dtype is not input._dtype or (weight.shape != input.shape and input.numel())):
        raise RuntimeError("histogram: weights are of the input's dtype and shape")
    return _histogram(*_counted("histogram", input, bins, *(range or (0.0, 0.0)), 0.5, weight, density))
