"""Functions that pick elements by indices or masks, and put them back: gather, scatter, index_select, where, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._lib import hot
from mxlite.torch import _shapes
from mxlite.torch._calls import adopt, both, function, functions, method, methods, prepare, run
from mxlite.torch._convert import cast, common_dtype
from mxlite.torch._dtypes import BOOL, int64
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._indexing import Places, edit, index_tensors, slice_dim, sum_to
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import formula, unrecorded
from mxlite.torch._tensor import Tensor, from_values, full_of, zeros_of

# ---- elements by indices ----


def _long(name: str, index: Tensor) -> Tensor:
    if index._dtype is not int64:
        raise RuntimeError(f"{name}(): Expected dtype int64 for index")
    return index


@both()
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The parts of a dimension at indices."""
    place = check_dim(dim, input.ndim)
    if index._dtype.is_floating_point:
        raise RuntimeError(f"index_select(): Expected dtype int32 or int64 for index but got: {index._dtype}")
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    extent = input.shape[place] if input.shape else 1
    values = index._values().reshape(-1)
    if values.size and not (values.min() >= 0 and values.max() < extent):
        raise RuntimeError("index out of range in self")
    call = prepare("IndexSelectBackward0", "take", "axis", slots="0", mode="clip")
    if not input.shape:
        return input.clone()
    return run(call, [input, index.reshape(-1)], place, kind=input._dtype)


@both()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Elements along a dimension at indices, which have the result's shape."""
    place = check_dim(dim, input.ndim)
    _long("gather", index)
    if index.ndim != input.ndim and index.numel():
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    _check_along("gather", input, index, place)
    part = input
    for other in range(input.ndim):
        if other != place and index.shape[other] < input.shape[other]:
            return _gather_part(input, place, index)
    return run(
        prepare("GatherBackward0", "_mxl_take_along", "axis", slots="0"), [part, index], place, kind=input._dtype
    )


def _check_along(name: str, input: Tensor, index: Tensor, place: int) -> None:
    values = index._values()
    extent = input.shape[place] if input.shape else 1
    wrong = values[(values < 0) | (values >= extent)]
    if wrong.size:
        raise RuntimeError(f"index {wrong.flat[0]} is out of bounds for dimension {place} with size {extent}")
    for other in range(input.ndim):
        if other != place and index.shape[other] > input.shape[other]:
            raise RuntimeError(
                f"Size does not match at dimension {other} expected index {list(index.shape)} to be no larger than "
                "self "
                f"{list(input.shape)} apart from dimension {place}"
            )


def _corner(x: Tensor, shape: Any, place: int) -> Tensor:
    """The first elements of all dimensions but one, as many as an index has."""
    for other in range(x.ndim):
        if other != place and shape[other] < x.shape[other]:
            x = slice_dim(x, other, 0, shape[other], 1)
    return x


def _gather_part(input: Tensor, place: int, index: Tensor) -> Tensor:
    def compute(x: Tensor) -> Tensor:
        return run(
            prepare(None, "_mxl_take_along", "axis"), [_corner(x, index.shape, place).contiguous(), index], place
        )

    def rule(grad: Tensor) -> list:
        return [scatter_add(zeros_of(tuple(input.shape), grad._dtype), place, index, grad)]

    return formula("GatherBackward0", [input], compute, rule)


def _put(grad: Tensor, place: int, index: Tensor, like: Tensor) -> Tensor:
    """Zeros of the shape of `like` with elements added along a dimension."""
    call = prepare("ScatterAddBackward0", "_mxl_put_along", "axis", "extent", slots="0")
    put = run(call, [grad.contiguous(), index], place, like.shape[place], kind=grad._dtype)
    pads = []
    for other in range(like.ndim - 1, -1, -1):
        pads += [0, like.shape[other] - put.shape[other]]
    return functions["constant_pad"](put, pads) if any(pads) else put


@both()
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with elements of `src` added along a dimension, at indices."""
    place = check_dim(dim, input.ndim)
    _check_along("scatter_add", input, _long("scatter_add", index), place)

    def compute(x: Tensor, y: Tensor) -> Tensor:
        return x + _put(_crop(y, index.shape), place, index, x)

    def rule(grad: Tensor) -> list:
        return [grad, _uncrop(gather(grad, place, index), src.shape)]

    return formula("ScatterAddBackward0", [input, src], compute, rule)


def _crop(x: Tensor, shape: Any) -> Tensor:
    for dim in range(x.ndim):
        if shape[dim] < x.shape[dim]:
            x = slice_dim(x, dim, 0, shape[dim], 1)
    return x


def _uncrop(x: Tensor, shape: Any) -> Tensor:
    pads = []
    for dim in range(x.ndim - 1, -1, -1):
        pads += [0, shape[dim] - x.shape[dim]]
    return functions["constant_pad"](x, pads) if any(pads) else x


@both()
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """`input` with elements of `src` (or a number) written along a dimension, at indices."""
    if reduce is not None:
        raise NotImplementedError("mxlite.torch: scatter has no reduce")
    src = value if src is None else src
    place = check_dim(dim, input.ndim)
    _check_along("scatter", input, _long("scatter", index), place)
    is_tensor = isinstance(src, Tensor)

    def compute(x: Tensor, *others: Tensor) -> Tensor:
        numbers = x._values()
        where = list(np.indices(tuple(index.shape)))
        where[place] = index._values()
        numbers[tuple(where)] = _crop(src.detach(), index.shape)._values() if is_tensor else src
        return from_values(numbers)

    def rule(grad: Tensor) -> list:
        kept = grad * cast(_put(full_of(tuple(index.shape), 1, grad._dtype), place, index, input) == 0, grad._dtype)
        return [kept, _uncrop(gather(grad, place, index), src.shape)] if is_tensor else [kept]

    inputs = [input, src] if is_tensor else [input]
    return formula("ScatterBackward0" if is_tensor else "ScatterBackward1", inputs, compute, rule)


@both()
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """`input` with parts of `source` added along a dimension, at indices."""
    place = check_dim(dim, input.ndim)
    wide_shape = tuple(source.shape)

    def wide() -> Tensor:
        return index.reshape(tuple(-1 if d == place else 1 for d in range(input.ndim))).expand(wide_shape).contiguous()

    def compute(x: Tensor, y: Tensor) -> Tensor:
        return x + _put(y * alpha, place, wide(), x)

    return formula(
        "IndexAddBackward0",
        [input, source],
        compute,
        lambda grad: [grad, index_select(grad, place, index) * alpha],
    )


@both()
def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the tensor as one row, at indices."""
    flat = input.reshape(-1)
    places = Places(flat, dict(enumerate(index_tensors(flat, 0, _long("take", index)))))
    return formula(
        "TakeBackward0",
        [input],
        lambda x: places.get(x.reshape(-1)),
        lambda grad: [places.add(grad, (input.numel(),)).reshape(input.shape)],
    )


@both()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements along a dimension at indices."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    return gather(input, dim, indices)


@both()
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A number in the parts of a dimension at indices, elsewhere the tensor's elements."""
    place = check_dim(dim, input.ndim)
    flags = np.zeros(input.shape[place], bool)
    flags[index._values()] = True
    mask = from_values(flags).reshape(tuple(-1 if d == place else 1 for d in range(input.ndim)))
    number = full_of((), value, input._dtype)

    def rule(grad: Tensor) -> list:
        return [grad * cast(mask, grad._dtype).neg().add(1)]

    return formula("IndexFillBackward0", [input], lambda x: choose(mask, number, x), rule)


# ---- by masks ----


def _mask(name: str, mask: Any) -> Tensor:
    if not isinstance(mask, Tensor) or mask._dtype.kind != BOOL:
        found = mask._dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise RuntimeError(f"{name}: expected BoolTensor for mask, but got {found}")
    return mask


@both()
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask is True, in one row."""
    shape = _shapes.broadcast_shapes(input.shape, _mask("masked_select", mask).shape)
    wide = _shapes.expand(mask, shape)
    indices = dict(enumerate(from_values(each.astype(np.int64)) for each in np.nonzero(wide._values())))

    def compute(x: Tensor) -> Tensor:
        return places.get(_shapes.expand(x, shape))

    if not shape:
        return input.reshape(1) if bool(mask) else zeros_of((0,), input._dtype)
    places = Places(_shapes.expand(input.detach(), shape), indices)
    return formula(
        "MaskedSelectBackward0", [input], compute, lambda grad: [sum_to(places.add(grad, shape), input.shape)]
    )


@both()
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) where a mask is True, elsewhere the tensor's elements."""
    _mask("masked_fill", mask)
    shape = _shapes.broadcast_shapes(input.shape, mask.shape)
    is_tensor = isinstance(value, Tensor)
    number = cast(value, input._dtype) if is_tensor else full_of((), value, input._dtype)

    def compute(x: Tensor, *_: Tensor) -> Tensor:
        return choose(mask, number.detach(), x)

    def rule(grad: Tensor) -> list:
        kept = sum_to(grad * cast(mask, grad._dtype).neg().add(1), input.shape)
        return [kept, (grad * cast(mask, grad._dtype)).sum()] if is_tensor else [kept]

    del shape
    inputs = [input, number] if is_tensor else [input]
    return formula("MaskedFillBackward1" if is_tensor else "MaskedFillBackward0", inputs, compute, rule)


@method()
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number where a mask is True; returns the tensor."""
    _mask("masked_fill_", mask)
    number = cast(value, self._dtype) if isinstance(value, Tensor) else full_of((), value, self._dtype)
    with unrecorded():
        values = choose(mask, number.detach(), self.detach()).clone()

    def rule(grad: Tensor) -> list:
        return [grad * cast(mask, grad._dtype).neg().add(1)]

    return edit("MaskedFillBackward0", self, [], values, rule)


_where = prepare("WhereBackward0", "where", slots="12")


def choose(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """x where a condition holds, else y; of one dtype, broadcast."""
    shape = _shapes.broadcast_shapes(condition.shape, x.shape, y.shape)
    condition, x, y = (_shapes.expand(each, shape) if each.shape != shape else each for each in (condition, x, y))
    flags = cast(condition, _uint8)
    return adopt(hot.call_n(_where, [flags._h, x._h, y._h], []), x._dtype)


@function()
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where a condition holds, else `other`; with neither, where it holds, as nonzero(as_tuple=True)."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if not isinstance(condition, Tensor) or condition._dtype.kind != BOOL and condition._dtype is not _uint8:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
        )
    kind = common_dtype(input, other)
    given = [cast(each, kind) if isinstance(each, Tensor) else full_of((), each, kind) for each in (input, other)]
    shape = _shapes.broadcast_shapes(condition.shape, *(each.shape for each in given))
    flags = cast(condition, _uint8)
    if all(each.shape == shape for each in (condition, *given)):
        return adopt(hot.call_n(_where, [flags._h, given[0]._h, given[1]._h], []), kind)

    def rule(grad: Tensor) -> list:
        zero = full_of((), 0, grad._dtype)
        return [
            sum_to(choose(condition, grad, zero), given[0].shape),
            sum_to(choose(condition, zero, grad), given[1].shape),
        ]

    return formula("WhereBackward0", given, lambda x, y: choose(condition, x, y), rule)


methods["where"] = lambda self, condition, other: where(condition, self, other)


@both()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements differ from 0: a row of indices each, or a tensor of indices for each dimension."""
    found = np.nonzero(np.atleast_1d(input._values()))
    if as_tuple:
        return tuple(from_values(each.astype(np.int64)) for each in found)
    rows = np.stack(found, 1).astype(np.int64)
    return from_values(rows if input.shape else rows[:, :0])
