"""Elements put at indices along a dimension, over those that are there or reduced with them: scatter, index_add, ..."""

from __future__ import annotations

import math
from functools import partial, wraps
from typing import Any, Callable

from mxlite._index.keys import ARRAY, WHOLE
from mxlite.torch._basic import filled, full_calls, of_all
from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import both, functions, method, prepare, run, run_into
from mxlite.torch._composite import in_place_too
from mxlite.torch._convert import cast, clone, require_same_dtype
from mxlite.torch._dtypes import BOOL, INTEGER, bool_, from_kind, int32, int64
from mxlite.torch._edits import copy_, edit
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import formula
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._shape.indexing import index_put_
from mxlite.torch._shape.picking import (
    _check_along,
    _check_indices,
    _long,
    _run_along,
    _with,
    gather,
    index_select,
    require_integers,
    require_within,
)
from mxlite.torch._shape.shapes import lift
from mxlite.torch._shape.slices import select, slice_dim
from mxlite.torch._shape.where import _mask, choose, fill_where
from mxlite.torch._tensor import Tensor, full_of, require_fits

_flag = prepare(None, "_mxl_index_put", "key", rules="torch", fill=True, scalar=1)
_scatter = prepare("ScatterBackward0", "_mxl_scatter", "axis", slots="02")
_scatter_number = prepare("ScatterBackward1", "_mxl_scatter", "axis", slots="0")
_scatter_add = prepare("ScatterAddBackward0", "_mxl_scatter_add", "axis", slots="02")
_put = prepare(None, "_mxl_scatter", "axis")
_add = prepare(None, "_mxl_scatter_add", "axis")


def _in_place_along(function: Callable, call: int = 0, number: int = 0) -> Callable:
    """in_place_too, of a function f(made, input, dim, ...) that takes tensors without dimensions as `along` does.

    Args:
        call, number: What usual calls are: of the dimension, the tensor, indices and a source, or a number as that.
    """

    @wraps(function)
    def lifted(made: Callable, *args: Any, **named: Any) -> Tensor:
        return lift(partial(function, made), *args, **named)

    calls = {"many": call, "number": number, "makes": full_calls, "num_inputs": 3, "index": int64, "again": True}
    calls |= from_kind(BOOL)
    return in_place_too(lifted, calls if call else None)


@partial(_in_place_along, call=_scatter_add)
def scatter_add(made: Callable, input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with elements of `src` added along a dimension, at indices."""
    dim = check_dim(dim, input.ndim)
    index = _long("scatter", index)
    _check_along(input, index, dim)
    require_same_dtype("scatter_add", input, src)
    return _run_along(_scatter_add, [input, index, src], dim, made is edit)


@partial(_in_place_along, call=_scatter, number=_scatter_number)
def scatter(
    made: Callable,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Tensor:
    """`input` with elements of `src` (or a number) written along a dimension, at indices."""
    src = value if src is None else src
    dim = check_dim(dim, input.ndim)
    if reduce is not None:
        return _scatter_reduced(made, input, dim, index, src, reduce)
    index = _long("scatter", index)
    _check_along(input, index, dim)
    if isinstance(src, Tensor):
        require_same_dtype("scatter", input, src)
        return _run_along(_scatter, [input, index, src], dim, made is edit)
    number = _shapes.expand(filled((), src, input._dtype), index.shape)
    return _run_along(_scatter_number, [input, index, number], dim, made is edit)


@_in_place_along
def index_add(made: Callable, input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """`input` with parts of `source` added along a dimension, at indices."""
    dim = check_dim(dim, input.ndim)
    require_same_dtype("index_add", input, source)
    require_integers("index_add", index)
    require_within("index_add", index, input.shape[dim])
    shape = _with(input.shape, dim, index.numel())
    if tuple(source.shape) != shape:
        raise RuntimeError(
            f"index_add: the source has shape {list(source.shape)}, expected {list(shape)}: {index.numel()} indices "
            f"along dimension {dim}"
        )
    kind = input._dtype
    factor = int(require_fits(alpha, kind)) if kind.kind == INTEGER else alpha

    def compute(x: Tensor, y: Tensor, index: Tensor) -> Tensor:
        rows = cast(index, int64).reshape(_with((1,) * x.ndim, dim, -1))
        return run(_add, [x, rows.expand(shape), cast(y * factor, kind)], dim, kind=kind)

    def rule(grad: Tensor, index: Tensor) -> list:  # 1.3 times as fast as the composition
        return [grad, cast(index_select(grad, dim, index) * factor, kind)]

    return made("IndexAddBackward0", [input, source], compute, rule, constants=[index])


@in_place_too
def index_fill(made: Callable, input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) in the parts of a dimension at indices, elsewhere the tensor's elements."""
    dim = check_dim(dim, input.ndim)
    if index._dtype is not int64:
        raise IndexError(f"index_fill: the index is of dtype int64, got {index._dtype.word}")
    if index.ndim > 1:
        raise IndexError(f"index_fill: the index is a number or a vector, got {index.ndim} dimensions")
    size = input.shape[dim] if input.shape else 1
    mask = index.new_zeros(_with((1,) * input.ndim, dim, size) if input.shape else (1,), dtype=bool_)
    if input.numel():
        run_into(_flag, mask, [mask, index], WHOLE * dim + ARRAY)
    mask = mask if input.shape else mask.reshape(())
    return fill_where(made, "IndexFill", input, mask, value)


# ---- reduced with what is there ----


def _within(src: Tensor, index: Tensor) -> Tensor:
    """The part of `src` that the index is of."""
    for dim, size in enumerate(index.shape):
        src = src if src.shape[dim] == size else slice_dim(src, dim, 0, size, 1)
    return src


def _without_self(x: Tensor, index: Tensor, dim: int, value: float = 0) -> Tensor:
    """The elements with a number where others go to."""
    return run(_put, [x, index, full_of(index.shape, value, x._dtype)], dim, kind=x._dtype)


def _reduced(
    made: Callable, label: str, reduce: str, dim: int, include_self: bool, input: Tensor, src: Tensor, index: Tensor
) -> Tensor:
    """`input`, whose elements are reduced with those of `src` at the places that `index` says."""
    kind, src = input._dtype, _within(src, index)
    if kind.kind == BOOL and (reduce == "mean" or label[0] == "I"):
        raise none_of(f"{label[:-9]} {reduce}", kind)

    def added(x: Tensor, src: Tensor, index: Tensor) -> Tensor:
        base = x if include_self else _without_self(x, index, dim)
        return run(_add, [base, index, src], dim, kind=kind)

    def mean(x: Tensor, src: Tensor, index: Tensor) -> Tensor:
        ones = full_of(index.shape, 1, kind)
        count = added(full_of(x.shape, 1, kind), ones, index).clamp_min(1)
        total = added(x, src, index)
        return total / count if kind.is_floating_point else total.div(count, rounding_mode="floor")

    def product(x: Tensor, src: Tensor, index: Tensor) -> Tensor:
        return _reduced(formula, label, "prod", dim, include_self, x, src, index)

    def rule(grad: Tensor, x: Tensor, src: Tensor, result: Tensor, index: Tensor) -> list:
        one, zero = full_of((), 1, kind), full_of((), 0, kind)
        if reduce == "prod":  # the product of the others; of several zeros none has a derivative
            is_zero = src.detach() == 0
            count = gather(added(x.detach() * 0, cast(is_zero, kind), index), dim, index)
            whole_x, whole_src = choose(x == 0, one, x), choose(is_zero, one, src)
            from_x = grad * product(whole_x, src, index) / whole_x
            others = gather(grad * product(x, choose(is_zero & (count == 1), one, src), index), dim, index)
            from_src = choose(is_zero, choose(count == 1, others, zero), gather(grad * result, dim, index) / whole_src)
        else:  # equal ones share it
            by_x, by_src = cast(x == result, kind), cast(src == gather(result, dim, index), kind)
            grad = grad / added(by_x, by_src, index)
            from_x, from_src = grad * by_x, gather(grad, dim, index) * by_src
        return [from_x if include_self else _without_self(from_x, index, dim), from_src]

    if reduce in ("sum", "mean"):
        return made(label, [input, src], added if reduce == "sum" else mean, saves="", constants=[index])
    call = prepare(None, "_mxl_scatter_reduce", "axis", reduce=reduce, include_self=include_self)
    met = lambda x, src, index: run(call, [x, index, src], dim, kind=kind)  # noqa: E731
    return made(label, [input, src], met, rule, saves="01r", constants=[index])


def _require_reduce(name: str, reduce: Any, *known: str) -> None:
    if reduce not in known:
        raise RuntimeError(f"{name}: reduce is one of {', '.join(known)}, got {reduce!r}")


def _reduced_along(
    made: Callable, name: str, reduce: str, input: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool
) -> Tensor:
    _check_along(input, index, dim)
    _check_along(src, index, -1)
    require_same_dtype(name, input, src)
    if index.numel():
        _check_indices(input, index, dim)
    return _reduced(made, "ScatterReduceBackward0", reduce, dim, include_self, input, src, index)


def _scatter_reduced(made: Callable, input: Tensor, dim: int, index: Tensor, src: Any, reduce: str) -> Tensor:
    """scatter with `reduce`."""
    _require_reduce("scatter", reduce, "add", "multiply")
    if not isinstance(src, Tensor):
        src = _shapes.expand(filled((), src, input._dtype), index.shape)
    return _reduced_along(made, "scatter", "sum" if reduce == "add" else "prod", input, dim, index, src, True)


@_in_place_along
def scatter_reduce(
    made: Callable, input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` reduced ("sum", "prod", "mean", "amax", "amin") with elements of `src` along a dimension, at indices;
    without `include_self` the elements of `input` do not count where others go to."""
    _require_reduce("scatter_reduce", reduce, "sum", "prod", "mean", "amax", "amin")
    index = _long("scatter_reduce", index)
    return _reduced_along(made, "scatter_reduce", reduce, input, check_dim(dim, input.ndim), index, src, include_self)


def _rows_of(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """The index of parts as one of elements, which `source` has."""
    require_integers(name, index, (int64,) if name == "index_copy" else (int32, int64))
    require_same_dtype(name, input, source)
    require_within(name, index, input.shape[dim])
    shape = _with(input.shape, dim, index.numel())
    if tuple(source.shape) != shape or index.ndim > 1:
        kind = IndexError if index.ndim > 1 or name == "index_copy" else RuntimeError
        raise kind(f"{name}: the source has shape {list(source.shape)}, expected {list(shape)}")
    return cast(index, int64).reshape(_with((1,) * input.ndim, dim, -1)).expand(shape)


@_in_place_along
def index_copy(made: Callable, input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """`input` with parts of `source` in the place of its own along a dimension, at indices."""
    dim = check_dim(dim, input.ndim)
    rows = _rows_of("index_copy", input, dim, index, source)
    compute = lambda x, source, rows: run(_put, [x, rows, source], dim, kind=x._dtype)  # noqa: E731
    return made("IndexCopyBackward0", [input, source], compute, saves="", constants=[rows])


@_in_place_along
def index_reduce(
    made: Callable, input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` reduced ("prod", "mean", "amax", "amin") with parts of `source` along a dimension, at indices."""
    dim = check_dim(dim, input.ndim)
    _require_reduce("index_reduce", reduce, "prod", "mean", "amax", "amin")
    rows = _rows_of("index_reduce", input, dim, index, source)
    return _reduced(made, "IndexReduceBackward0", reduce, dim, include_self, input, source, rows)


@in_place_too
def masked_scatter(made: Callable, input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """`input` with the elements of `source`, in order, where a mask is True."""
    require_same_dtype("masked_scatter", input, source)
    shape = input.shape if made is edit else broadcast_shapes(input.shape, _mask("masked_scatter", mask).shape)
    places = mask.expand(shape).reshape(-1).cumsum(0)
    taken = int(of_all(places[-1]).max()) if places.numel() and not places.is_meta else 0
    if taken > source.numel():
        raise RuntimeError(f"masked_scatter: source has {source.numel()} elements, the mask takes {taken}")
    places = (places - 1).clamp_min(0).reshape(shape)

    def compute(x: Tensor, source: Tensor, mask: Tensor, places: Tensor) -> Tensor:
        x = _shapes.expand(x, shape)
        return choose(mask, source.take(places), x) if source.numel() else clone(x)

    return made("MaskedScatterBackward0", [input, source], compute, saves="", constants=[mask, places])


def _writing(label: str, input: Tensor, source: Tensor, write: Callable, *constants: Tensor) -> Tensor:
    """A copy of the tensor that a function of it, `source` and the constants has written to."""

    def compute(x: Tensor, source: Tensor, *constants: Tensor) -> Tensor:
        whole = clone(x)
        write(whole, source, *constants)
        return whole

    return formula(label, [input, source], compute, saves="", constants=constants)


@in_place_too
def put(made: Callable, input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """`input` with the elements of `source` (`accumulate`: added) at indices into all elements as one row."""
    require_integers("put", index, (int64,))
    require_same_dtype("put", input, source)
    if index.numel() != source.numel():
        raise IndexError(f"put: {index.numel()} indices for {source.numel()} elements")

    def compute(x: Tensor, source: Tensor, index: Tensor) -> Tensor:
        row = clone(_shapes.reshape(x, (-1,)))
        return index_put_(row, (index.reshape(-1),), source.reshape(-1), accumulate).reshape(x.shape)

    return made("PutBackward0", [input, source], compute, saves="", constants=[index])


@both()
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with values at the elements that a tuple of index tensors selects."""
    write = lambda x, values, *indices: index_put_(x, indices, values, accumulate)  # noqa: E731
    return _writing("IndexPutBackward0", input, values, write, *indices)


functions["index_put_"] = index_put_


def scattered_over(name: str, document: str, view: Callable) -> None:
    """Registers `name`_scatter: a copy whose view, `view(x, ...)`, has other elements."""
    label = f"{name.title().replace('_', '')}ScatterBackward0"

    @both(f"{name}_scatter", document=f"A copy with the elements of `src` in the place of {document}.")
    def function(input: Tensor, src: Tensor, *args: Any, **named: Any) -> Tensor:
        if view(input, *args, **named).shape != src.shape:
            raise RuntimeError(f"{name}_scatter: `src` has shape {list(src.shape)}, not that of {document}")
        return _writing(label, input, src, lambda x, src: copy_(view(x, *args, **named), src))


def sliced(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A view of positions of a dimension, as Python's slices have them."""
    return input[(slice(None),) * check_dim(dim, input.ndim) + (slice(start, end, step),)]


scattered_over("slice", "a slice of a dimension", sliced)
scattered_over("select", "one position of a dimension", select)


@method()
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """A number on the main diagonal; `wrap`: of a tall matrix again below it. Returns the tensor."""
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise RuntimeError(f"fill_diagonal_: takes a matrix, or dimensions of one size, got {list(self.shape)}")
    places, columns = functions["arange"](self.numel()), self.shape[-1]
    flags = places % sum(math.prod(self.shape[k:]) for k in range(1, self.ndim + 1)) == 0
    if self.ndim == 2 and not wrap:
        flags = flags & (places < columns * columns)
    return fill_where(edit, "FillDiagonal", self, flags.reshape(self.shape), fill_value)
