"""Functions that pick elements by indices or masks, and put them back: gather, scatter, index_select, where, ..."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.torch import _shapes
from mxlite.torch._arithmetic import shape_error
from mxlite.torch._calls import adopt, both, function, functions, method, methods, prepare, run
from mxlite.torch._convert import cast, common_dtype, require_same_dtype
from mxlite.torch._dtypes import BOOL, INTEGER, dtype, int32, int64
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._indexing import Places, edit, index_tensors, slice_dim
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import formula
from mxlite.torch._shapes import along
from mxlite.torch._tensor import Tensor, filled, from_values, full_of, require_fits, zeros_of

# ---- elements by indices ----


def require_integers(index: Tensor, message: str, kinds: tuple[dtype, ...] = (int32, int64)) -> None:
    """Raises: RuntimeError: the message, where the indices are of no dtype that the function takes."""
    if index._dtype not in kinds:
        raise RuntimeError(message)


def _long(name: str, index: Tensor) -> Tensor:
    if index._dtype not in (int32, int64) and index.numel():
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return cast(index, int64)


def _require_within(index: Tensor, extent: int) -> None:
    values = index._values()
    if values.size and not (values.min() >= 0 and values.max() < extent):
        raise IndexError("index out of range in self")


@both()
@along
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The parts of a dimension at indices."""
    place = check_dim(dim, input.ndim)
    require_integers(index, "index_select(): Expected dtype int32 or int64 for index")
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    _require_within(index, input.shape[place])
    call = prepare("IndexSelectBackward0", "take", "axis", slots="0", mode="clip")
    return run(call, [input, index.reshape(-1)], place, kind=input._dtype)


@both()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Elements along a dimension at indices, which have the result's shape."""
    place = check_dim(dim, input.ndim)
    if not input.shape:
        return gather(input.reshape(1), 0, index.reshape(-1)).reshape(index.shape)
    index = _long("gather", index)
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
    shape = tuple(input.shape)

    def compute(x: Tensor, index: Tensor) -> Tensor:
        return run(
            prepare(None, "_mxl_take_along", "axis"), [_corner(x, index.shape, place).contiguous(), index], place
        )

    def rule(grad: Tensor, index: Tensor) -> list:
        return [scatter_add(zeros_of(shape, grad._dtype), place, index, grad)]

    return formula("GatherBackward0", [input], compute, rule, constants=[index])


def _put(grad: Tensor, place: int, index: Tensor, shape: Any) -> Tensor:
    """Zeros of that shape with elements added along a dimension."""
    call = prepare("ScatterAddBackward0", "_mxl_put_along", "axis", "extent", slots="0")
    put = run(call, [grad.contiguous(), index], place, shape[place], kind=grad._dtype)
    pads = []
    for other in range(len(shape) - 1, -1, -1):
        pads += [0, shape[other] - put.shape[other]]
    return functions["constant_pad"](put, pads) if any(pads) else put


@both()
@along
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with elements of `src` added along a dimension, at indices."""
    place = check_dim(dim, input.ndim)
    index = _long("scatter", index)
    _check_along("scatter_add", input, index, place)
    require_same_dtype("scatter_add", input, src)

    shape = tuple(src.shape)

    def compute(x: Tensor, y: Tensor, index: Tensor) -> Tensor:
        return x + _put(_crop(y, index.shape), place, index, x.shape)

    def rule(grad: Tensor, index: Tensor) -> list:
        return [grad, _uncrop(gather(grad, place, index), shape)]

    return formula("ScatterAddBackward0", [input, src], compute, rule, constants=[index])


def _crop(x: Tensor, shape: Any) -> Tensor:
    """The first elements of all dimensions, as many as an index has."""
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
@along
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """`input` with elements of `src` (or a number) written along a dimension, at indices."""
    if reduce is not None:
        raise NotImplementedError("mxlite.torch: scatter has no reduce")
    src = value if src is None else src
    place = check_dim(dim, input.ndim)
    index = _long("scatter", index)
    _check_along("scatter", input, index, place)
    is_tensor = isinstance(src, Tensor)
    part = tuple(src.shape) if is_tensor else ()
    if is_tensor:
        require_same_dtype("scatter", input, src)
    else:
        src = filled((), src, input._dtype)

    def compute(x: Tensor, *_: Tensor) -> Tensor:
        numbers = x._values()
        where = list(np.indices(tuple(index.shape)))
        where[place] = index._values()
        numbers[tuple(where)] = _crop(src.detach(), index.shape)._values()
        return from_values(numbers)

    def rule(grad: Tensor, index: Tensor) -> list:
        written = _put(full_of(tuple(index.shape), 1, grad._dtype), place, index, grad.shape)
        kept = choose(written == 0, grad, full_of((), 0, grad._dtype))
        return [kept, _uncrop(gather(grad, place, index), part)] if is_tensor else [kept]

    inputs = [input, src] if is_tensor else [input]
    return formula("ScatterBackward0" if is_tensor else "ScatterBackward1", inputs, compute, rule, constants=[index])


@both()
@along
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """`input` with parts of `source` added along a dimension, at indices."""
    place = check_dim(dim, input.ndim)
    require_same_dtype("index_add", input, source)
    require_integers(index, f"index_add_(): Expected dtype int32/int64 for index but got: {index._dtype.word}")
    _require_within(index, input.shape[place])
    if not input.shape and index.numel() != 1:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    count = input.shape[:place] + (index.numel(),) + input.shape[place + 1 :]
    if tuple(source.shape) != count:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.numel()}) should be equal to the source's extents but for the "
            f"indexed one those of self: {list(source.shape)} and {list(input.shape)}"
        )
    kind = input._dtype

    def scaled(y: Tensor) -> Tensor:
        if kind.kind == INTEGER:
            return y * int(require_fits(alpha, kind))
        return cast(y * alpha, kind)

    def compute(x: Tensor, y: Tensor, index: Tensor) -> Tensor:
        rows = cast(index, int64).reshape(tuple(-1 if d == place else 1 for d in range(x.ndim)))
        return x + _put(scaled(y), place, rows.expand(count).contiguous(), x.shape)

    return formula(
        "IndexAddBackward0",
        [input, source],
        compute,
        lambda grad, index: [grad, scaled(index_select(grad, place, index))],
        constants=[index],
    )


@both()
def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the tensor as one row, at indices."""
    shape, count = input.shape, input.numel()
    flat = input.reshape(-1)
    require_integers(index, f"take(): Expected a long tensor for index, but got {index._dtype.word}", (int64,))
    places = Places(flat, dict(enumerate(index_tensors(flat, 0, index))))
    return formula(
        "TakeBackward0",
        [input],
        lambda x: places.get(x.reshape(-1)),
        lambda grad: [places.add(grad, (count,)).reshape(shape)],
    )


@both()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements along a dimension at indices, which count round its extent; elsewhere the shapes are broadcast."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    if not input.shape:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if indices.ndim != input.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    place = check_dim(dim, input.ndim)
    problem = shape_error(_without(input.shape, place), _without(indices.shape, place))
    if problem is not None:
        raise problem
    shape = _shapes.broadcast_shapes(_without(input.shape, place), _without(indices.shape, place))
    require_integers(
        indices, f"torch.take_along_dim(): dtype of indices should be Long but got {indices._dtype.word}", (int64,)
    )
    wide = [shape[:place] + (each.shape[place],) + shape[place + 1 :] for each in (input, indices)]
    if not input.shape[place] and indices.numel():
        raise RuntimeError(f"take_along_dim(): dimension {place} has no elements to take")
    within = from_values(indices._values() % max(1, input.shape[place]))
    return gather(_shapes.expand(input, wide[0]), place, _shapes.expand(within, wide[1]).contiguous())


def _without(shape: tuple[int, ...], place: int) -> tuple[int, ...]:
    """The shape with extent 1 at one place."""
    return tuple(shape[:place]) + (1,) + tuple(shape[place + 1 :])


@both()
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) in the parts of a dimension at indices, elsewhere the tensor's elements."""
    place = check_dim(dim, input.ndim)
    if index._dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise IndexError("Index has to be a vector/scalar")
    flags = np.zeros(input.shape[place] if input.shape else 1, bool)
    flags[index._values()] = True
    mask = from_values(flags).reshape(tuple(-1 if d == place else 1 for d in range(input.ndim)))
    return _masked_fill(formula, input, mask, value, "IndexFill")


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
    if not shape:
        return masked_select(input.reshape(1), mask.reshape(1))
    indices = dict(enumerate(from_values(each.astype(np.int64)) for each in np.nonzero(wide._values())))

    def compute(x: Tensor) -> Tensor:
        return places.get(_shapes.expand(x, shape))

    places = Places(_shapes.expand(input.detach(), shape), indices)
    return formula("MaskedSelectBackward0", [input], compute, lambda grad: [places.add(grad, shape)])


@both()
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) where a mask is True, elsewhere the tensor's elements."""
    _mask("masked_fill", mask)
    return _masked_fill(formula, input, mask, value)


def _number_of(value: Any, kind: dtype) -> Tensor:
    """A number, or a tensor of one, as a tensor of that dtype without dimensions."""
    if not isinstance(value, Tensor):
        return filled((), value, kind)
    if value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    return cast(value, kind)


def _masked_fill(made: Callable, input: Tensor, mask: Tensor, value: Any, label: str = "MaskedFill") -> Tensor:
    number = _number_of(value, input._dtype)
    more = int(isinstance(value, Tensor))
    inputs = [input, number][: 1 + more]

    def compute(x: Tensor, *others: Tensor) -> Tensor:
        return choose(others[-1], number.detach(), x)

    def rule(grad: Tensor, mask: Tensor) -> list:
        zero = full_of((), 0, grad._dtype)
        return [choose(mask, zero, grad), choose(mask, grad, zero).sum()][: 1 + more]

    return made(f"{label}Backward{more}", inputs, compute, rule, constants=[mask])


@method()
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) where a mask is True; returns the tensor."""
    _mask("masked_fill_", mask)
    return _masked_fill(edit, self, mask, value)


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
    for each in (condition, input, other):
        if not isinstance(each, (Tensor, int, float)) or (each is condition and not isinstance(each, Tensor)):
            raise TypeError(f"where() received an invalid combination of arguments - got {type(each).__name__}")
    if condition._dtype.kind != BOOL and condition._dtype is not _uint8:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}"
        )
    kind = common_dtype(input, other)
    given = [cast(each, kind) if isinstance(each, Tensor) else full_of((), each, kind) for each in (input, other)]
    shape = _shapes.broadcast_shapes(condition.shape, *(each.shape for each in given))
    flags = cast(condition, _uint8)
    if all(each.shape == shape for each in (condition, *given)):
        return adopt(hot.call_n(_where, [flags._h, given[0]._h, given[1]._h], []), kind)

    def rule(grad: Tensor, condition: Tensor) -> list:
        zero = full_of((), 0, grad._dtype)
        return [choose(condition, grad, zero), choose(condition, zero, grad)]

    return formula(
        "WhereBackward0", given, lambda x, y, condition: choose(condition, x, y), rule, constants=[condition]
    )


methods["where"] = lambda self, condition, other: where(condition, self, other)


@both()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements differ from 0: a row of indices each, or a tensor of indices for each dimension."""
    found = np.nonzero(np.atleast_1d(input._values()))
    if as_tuple:
        return tuple(from_values(each.astype(np.int64)) for each in found)
    rows = np.stack(found, 1).astype(np.int64)
    return from_values(rows if input.shape else rows[:, :0])
