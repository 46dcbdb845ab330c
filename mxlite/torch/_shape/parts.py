"""Parts of tensors and tensors joined: split, unbind, cat, stack, flip, roll, meshgrid."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, Callable

from mxlite.torch._basic import stack_call, stacked
from mxlite.torch._calls import as_many, both, function, listed, prepare, run, run_many, values
from mxlite.torch._convert import cast, clone
from mxlite.torch._dtypes import BOOL, from_kind, promote_types
from mxlite.torch._errors import warn, wrong_argument
from mxlite.torch._kinds import check_dim, check_dims, extents_of
from mxlite.torch._shape.shapes import expand, reshape, view
from mxlite.torch._tensor import Tensor

_split = prepare("SplitBackward0", "_split_v2", "indices", "axis")
_split_with_sizes = prepare("SplitWithSizesBackward0", "_split_v2", "indices", "axis")
_unbind = prepare("UnbindBackward0", "_split_v2", "indices", "axis", squeeze_axis="True")
_cat = prepare("CatBackward0", "Concat", "dim")


def _require_dimension(name: str, tensor: Tensor) -> None:
    if not tensor.shape:
        raise RuntimeError(f"{name}: a tensor without dimensions has no parts")


@both("split", "split_with_sizes")
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts along a dimension, of one size (the last may be smaller) or of those of a list."""
    _require_dimension("split", tensor)
    dim = check_dim(dim, tensor.ndim)
    length = tensor.shape[dim]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size < 0 or (size == 0 and length):
            raise RuntimeError(f"split: a size is above 0, or 0 where there is nothing to split, got {size}")
        return _parts(_split, tensor, dim, range(0, length, size) if size and length else (0,))
    else:
        sizes = list(split_size_or_sections)
        if sum(sizes) != length:
            raise RuntimeError(
                f"split: sizes {sizes} add up to {sum(sizes)}, expected {length}, the size of dimension {dim}"
            )
        return _parts(_split_with_sizes, tensor, dim, (0, *accumulate(sizes[:-1])))


def _parts(call: int, tensor: Tensor, dim: int, bounds: Any) -> tuple[Tensor, ...]:
    """Views of the parts along a dimension that begin at bounds."""
    return tuple(run_many(call, [tensor], tuple(bounds), dim, kinds=[tensor._dtype] * len(bounds)))


@both()
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most so many parts of one size along a dimension; the last may be smaller."""
    _require_dimension("chunk", input)
    if chunks < 1:
        raise RuntimeError(f"chunk: chunks is 1 or more, got {chunks}")
    dim = check_dim(dim, input.ndim)
    size = input.shape[dim]
    if not size:
        return split(input, [0] * chunks, dim)
    return _parts(_split, input, dim, range(0, size, -(-size // chunks)))


@both()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of all parts along a dimension, without it."""
    if not input.shape:
        raise IndexError("unbind: a tensor without dimensions has no parts")
    dim = check_dim(dim, input.ndim)
    size = input.shape[dim]
    return _parts(_unbind, input, dim, range(size)) if size else ()


def _joined(name: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise wrong_argument(name, "tensors", 1, "tuple of Tensors", tensors)
    listed = list(tensors)
    if not listed:
        raise (ValueError if name == "cat" else RuntimeError)(f"{name}: there are no tensors, 1 or more are expected")
    for number, each in enumerate(listed):
        if not isinstance(each, Tensor):
            raise wrong_argument(name, f"tensors[{number}]", 0, "Tensor", each)
    kind = listed[0]._dtype
    if all(each._dtype is kind for each in listed):
        return listed
    for each in listed:
        kind = promote_types(kind, each._dtype)
    return [cast(each, kind) for each in listed]


@function("cat", "concat", "concatenate", calls={"join": True, "axis": _cat, "again": True, **from_kind(BOOL)})
def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors one behind the other along a dimension. Those of shape (0,) count for nothing."""
    listed = _joined("cat", tensors)
    full = [each for each in listed if each.shape != (0,)] or listed[:1]
    shape = full[0].shape
    if not shape:
        raise RuntimeError("cat: the first tensor has no dimensions, 1 or more are expected")
    dim = check_dim(dim, len(shape))
    for number, each in enumerate(full):
        if each.shape != shape:
            _require_joins(shape, each.shape, dim, number)
    return run(_cat, full, dim, kind=full[0]._dtype)


def _require_joins(shape: tuple[int, ...], other: tuple[int, ...], dim: int, number: int) -> None:
    """Raises: RuntimeError: the shapes differ in another dimension."""
    if len(other) != len(shape):
        raise RuntimeError(f"cat: tensor {number} has {len(other)} dimensions, expected {len(shape)} as in the first")
    for place, (expected, size) in enumerate(zip(shape, other)):
        if place != dim and size != expected:
            raise RuntimeError(
                f"cat: tensor {number} has size {size} in dimension {place}, expected {expected}; only dimension {dim} "
                "may differ"
            )


@function(calls={"join": True, "axis": stack_call, "new_axis": True, "again": True, **from_kind(BOOL)})
def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors of one shape side by side along a new dimension."""
    listed = _joined("stack", tensors)
    dim = check_dim(dim, listed[0].ndim + 1)
    for number, each in enumerate(listed):
        if each.shape != listed[0].shape:
            raise RuntimeError(
                f"stack: tensor {number} has shape {list(each.shape)}, expected {list(listed[0].shape)} as the first"
            )
    return stacked(listed, dim)


def _at_least(ndim: int, shape: Callable[[tuple], tuple]) -> Callable:
    @function(f"atleast_{ndim}d", document=f"Tensors with {ndim} dimensions at least.")
    def at_least(*tensors: Any) -> Any:
        listed = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
        made = tuple(each if each.ndim >= ndim else reshape(each, shape(tuple(each.shape))) for each in listed)
        return made[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else made

    return at_least


atleast_1d = _at_least(1, lambda shape: (1,))
atleast_2d = _at_least(2, lambda shape: (1, *shape) if shape else (1, 1))


@function()
def hstack(tensors: Any) -> Tensor:
    """cat along dimension 1, of vectors along 0."""
    listed = atleast_1d(_joined("hstack", tensors))
    return cat(listed, 0 if listed[0].ndim == 1 else 1)


@function("vstack", "row_stack")
def vstack(tensors: Any) -> Tensor:
    """cat along dimension 0, with vectors as rows."""
    return cat(atleast_2d(_joined("vstack", tensors)), 0)


_flip = prepare("FlipBackward0", "reverse", "axis")


@both(calls={"list": _flip, "different": True, "again": True, **from_kind(BOOL)})
def flip(input: Tensor, *dims: Any) -> Tensor:
    """A copy with dimensions in reverse order."""
    dims = check_dims(extents_of("flip", dims), input.ndim)
    if not dims or not input.shape:
        return clone(input)
    return run(_flip, [input], dims, kind=input._dtype)


def _flipped(name: str, dim: int) -> None:
    @function(name, document=f"As flip, of dimension {dim}.")
    def flipped(input: Tensor) -> Tensor:
        if input.ndim <= dim:
            raise RuntimeError(f"{name}: the tensor has {input.ndim} dimensions, expected {dim + 1} or more")
        return flip(input, dim)


_flipped("fliplr", 1)
_flipped("flipud", 0)


@function()
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid: a tensor of all positions for each; indexing: "ij" or "xy"."""
    if indexing is None:
        warn("meshgrid: say indexing='ij', which is meant without it")
    listed = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors)
    if len({each._dtype for each in listed}) > 1:
        raise RuntimeError(f"meshgrid: takes vectors of one dtype, got {[each._dtype.word for each in listed]}")
    if any(each.ndim > 1 for each in listed):
        raise RuntimeError(f"meshgrid: takes vectors, got shapes {[list(each.shape) for each in listed]}")
    if indexing == "xy" and len(listed) > 1:
        made = list(meshgrid(listed[1], listed[0], *listed[2:], indexing="ij"))
        made[0], made[1] = made[1], made[0]
        return tuple(made)
    shape = tuple(each.numel() for each in listed)
    dims = range(len(listed))
    return tuple(
        expand(view(each, tuple(shape[dim] if dim == mine else 1 for dim in dims)), shape)
        for mine, each in enumerate(listed)
    )


_roll = prepare("RollBackward0", "_np_roll", "shift", "axis")


@both(calls={"one": _roll, "values": values(shifts=listed, dims=as_many), "num_inputs": 1, "again": True,
             **from_kind(BOOL)})  # fmt: skip
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """A copy whose elements are moved along dimensions, the last ones to the front; without any, along all as one.

    Raises: RuntimeError: not as many shifts as dimensions.
    """
    steps = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
    along = () if dims is None else tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if not steps:
        raise RuntimeError("roll: there are no shifts")
    if len(steps) == 1 and not along:
        return roll(reshape(input, -1), steps, 0).reshape(input.shape)
    if len(steps) != len(along):
        raise RuntimeError(f"roll: {len(steps)} shifts for {len(along)} dims; there must be one for each")
    if not input.shape:
        raise IndexError(f"roll: a tensor without dimensions has no dimension {along[0]}")
    if not input.numel():
        return clone(input)
    return run(_roll, [input], steps, tuple(check_dim(dim, input.ndim) for dim in along), kind=input._dtype)
