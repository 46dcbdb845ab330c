"""The same elements in another shape or order, or repeated: views, which share memory."""

from __future__ import annotations

import ctypes
import math
from functools import wraps
from typing import Any, Callable

from mxlite._lib import LIB, hot
from mxlite.autograd._nodes import recorded, unrecorded
from mxlite.torch._basic import alias, is_dense, with_shape
from mxlite.torch._broadcast import expand_error
from mxlite.torch._calls import (
    adopt,
    as_many,
    both,
    check_call,
    function,
    listed,
    method,
    prepare,
    require_tensor,
    run,
    values,
    with_aliases,
)
from mxlite.torch._convert import clone
from mxlite.torch._dtypes import BOOL, dtype, from_kind
from mxlite.torch._errors import warn
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._kinds import Size, check_dim, check_dims, extents_of
from mxlite.torch._tensor import Tensor

_view = prepare("ViewBackward0", "_mxl_reshape_to", "shape")
_unsafe_view = prepare("UnsafeViewBackward0", "_mxl_reshape_own", "shape")
_t = prepare("TBackward0", "transpose")
_swap = prepare("TransposeBackward0", "SwapAxis", "dim1", "dim2")
_transpose = prepare("TransposeBackward0", "transpose", "axes")
_permute = prepare("PermuteBackward0", "transpose", "axes")
_unsqueeze = prepare("UnsqueezeBackward0", "expand_dims", "axis")
_expand = prepare("ExpandBackward0", "_mxl_broadcast_to", "shape")
_sum_to = prepare("SumBackward1", "_mxl_sum_to", "shape")


def _squeezes(first: int) -> list[int]:
    """The calls of squeeze() of all dimensions, of one, and of several; `first`: the number in the first's label."""
    return [prepare(f"SqueezeBackward{first + more}", "_mxl_reshape_to", "shape") for more in range(3)]


_squeeze = _squeezes(0)
_squeeze_one = prepare("SqueezeBackward1", "squeeze", "axis")


# ---- the same order ----


def known_shape(input: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape in which -1 is replaced by what remains.

    Raises: RuntimeError: another number of elements.
    """
    count = input.numel()
    if math.prod(shape) == count and (not shape or min(shape) >= 0):
        return shape
    if -1 in shape:
        unknown = shape.index(-1)
        others = Size(shape[:unknown] + shape[unknown + 1 :])
        if -1 in others:
            raise RuntimeError(f"a shape has -1 once at most, got {list(shape)}")
        rest = others.numel()
        if rest == 0 and count == 0 and all(size >= 0 for size in others):
            raise RuntimeError(f"-1 in shape {list(shape)} could be any size: there are no elements")
        if rest > 0 and count % rest == 0:
            return shape[:unknown] + (count // rest,) + shape[unknown + 1 :]
    negative = next((size for size in shape if size < -1), None)
    if negative is not None:
        raise RuntimeError(f"a shape has sizes from 0 on, and -1, got {list(shape)}")
    raise RuntimeError(f"{count} elements do not fill shape {list(shape)}")


def is_viewable(input: Tensor, shape: tuple[int, ...]) -> bool:
    """Whether the elements can be seen in another shape without being moved."""
    if input.is_contiguous() or not input.numel():
        return True
    # Dimensions that lie as one in memory; the size of each run must be a product of new sizes.
    runs: list[int] = []
    previous = None
    for size, stride in zip(input.shape, input._strides()):
        if size == 1:
            continue
        if previous is not None and previous == stride * size:
            runs[-1] *= size
        else:
            runs.append(size)
        previous = stride
    at, left = 0, runs[0] if runs else 1
    for size in shape:
        if size == 1:
            continue
        if left == 1:
            at += 1
            if at == len(runs):
                return False
            left = runs[at]
        if left % size:
            return False
        left //= size
    return left == 1 and at >= len(runs) - 1


@method(calls={"list": _view, "contiguous": True, "again": True, **from_kind(BOOL)})
def view(self: Tensor, *size: Any) -> Tensor:
    """The same memory in another shape, of which one size may be -1: view(2, -1).

    Raises: RuntimeError: another number of elements, or strides cannot say it.
    """
    if len(size) == 1 and isinstance(size[0], dtype):
        raise NotImplementedError("mxlite.torch has no Tensor.view(dtype)")
    sizes = known_shape(self, extents_of("view", size))
    if not is_viewable(self, sizes):
        raise RuntimeError(
            f"view: a tensor of shape {list(self.shape)} with strides {list(self._strides())} cannot be seen in shape "
            f"{list(sizes)}; reshape() copies it"
        )
    return with_shape(_view, self, sizes)


@both(calls={"list": _view, "contiguous": True, "again": True, **from_kind(BOOL)})
def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Another shape, of which one size may be -1; the same memory where strides can say it, else a copy."""
    require_tensor("reshape", 1, "input", input)
    sizes = known_shape(input, extents_of("reshape", shape))
    if is_viewable(input, sizes):
        return with_shape(_view, input, sizes)
    return with_shape(_unsafe_view, clone(input), sizes)


def along(made: Callable) -> Callable:
    """Makes a function along a dimension, f(input, dim, ...), take tensors without dimensions, which count as (1,)."""

    @wraps(made)
    def lifted(input: Tensor, dim: int, *given: Any, **named: Any) -> Tensor:
        return lift(made, input, dim, *given, **named)

    return lifted


def lift(made: Callable, input: Tensor, dim: int, *given: Any, **named: Any) -> Tensor:
    """What made(input, dim, ...) returns; tensors without dimensions are given to it as rows."""
    if not isinstance(input, Tensor) or input.shape:
        return made(input, dim, *given, **named)
    check_dim(dim, 0)
    row = reshape(input, (1,))
    done = made(row, 0, *map(_as_row, given), **{name: _as_row(each) for name, each in named.items()})
    return input if done is row else reshape(done, ())  # a row that was edited is a view of the tensor


def _as_row(value: Any) -> Any:
    return reshape(value, (-1,)) if isinstance(value, Tensor) else value


@method()
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """view with the shape of another tensor."""
    return view(self, other.shape)


@method()
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """reshape with the shape of another tensor."""
    return reshape(self, other.shape)


@both(
    calls={
        "one": prepare("ViewBackward0", "Reshape", shape="(-1,)"),
        "contiguous": True,
        "least": 2,
        "again": True,
        **from_kind(BOOL),
    }
)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from one to another as one."""
    shape = input.shape
    start, end = check_dim(start_dim, len(shape)), check_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError(f"flatten: start_dim {start_dim} lies behind end_dim {end_dim}")
    if not shape:
        return reshape(input, (1,))
    if start == end:
        return input
    sizes = tuple(shape)
    return reshape(input, sizes[:start] + (math.prod(sizes[start : end + 1]),) + sizes[end + 1 :])


@both()
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension: a view of a contiguous tensor, else a copy."""
    return view(input.contiguous(), (-1,))


@both()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several; one size may be -1."""
    dim = check_dim(dim, input.ndim)
    sizes = tuple(sizes)
    known = 1
    for size in sizes:
        known *= size if size != -1 else 1
    sizes = tuple(input.shape[dim] // known if size == -1 else size for size in sizes)
    return view(input, input.shape[:dim] + sizes + input.shape[dim + 1 :])


@both(calls={"axis": _unsqueeze, "new_axis": True, "again": True, **from_kind(BOOL)})
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a new dimension of size 1."""
    require_tensor("unsqueeze", 1, "input", input)
    return _unsqueezed(input, dim, _unsqueeze)


def _unsqueezed(input: Tensor, dim: int, call: int) -> Tensor:
    return adopt(hot.call1_int(call, input._h, check_dim(dim, len(input.shape) + 1)), input._dtype)


@both(calls={"axes": _squeeze_one, "least": 2, "again": True, **from_kind(BOOL)})
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without dimensions of size 1: all, one of them, or those of a tuple."""
    return _squeezed(input, dim, _squeeze)


def _squeezed(input: Tensor, dim: Any, calls: list[int]) -> Tensor:
    shape = input.shape
    if dim is None:
        return with_shape(calls[0], input, tuple(size for size in shape if size != 1))
    dims, sizes = check_dims(dim, len(shape)), tuple(shape)
    if len(dims) == 1 and sizes:
        left = sizes if sizes[dims[0]] != 1 else sizes[: dims[0]] + sizes[dims[0] + 1 :]
    else:
        left = tuple(size for number, size in enumerate(sizes) if number not in dims or size != 1)
    return with_shape(calls[2 if isinstance(dim, tuple) else 1], input, left)


# ---- another order ----


@both(calls={"one": _t, "least": 2, "most": 2, "again": True, **from_kind(BOOL)})
def t(input: Tensor) -> Tensor:
    """The transposed matrix; of a tensor of fewer dimensions itself."""
    return _t_of(input, _t)


def _t_of(input: Tensor, call: int) -> Tensor:
    ndim = len(input.shape)
    if ndim > 2:
        raise RuntimeError(f"t: the tensor has 2 dimensions at most, got {ndim}")
    return run(call, [input], kind=input._dtype)


@both(
    "transpose",
    "swapdims",
    calls={"one": _swap, "num_inputs": 1, "values": values(dim0=int, dim1=int), "again": True, **from_kind(BOOL)},
)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """With two dimensions changed for each other."""
    return _swapped(input, dim0, dim1)


@both(calls={"one": _swap, "num_inputs": 1, "values": values(axis0=int, axis1=int), "again": True, **from_kind(BOOL)})
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """As transpose."""
    return _swapped(input, axis0, axis1)


def _swapped(input: Tensor, dim0: int, dim1: int) -> Tensor:
    ndim = len(input.shape)
    first, second = check_dim(dim0, ndim), check_dim(dim1, ndim)
    if not ndim:
        return with_shape(_transpose, input, ())
    return run(_swap, [input], first, second, kind=input._dtype)


def _transposed(input: Tensor, dim0: int, dim1: int, call: int) -> Tensor:
    ndim = len(input.shape)
    first, second = check_dim(dim0, ndim), check_dim(dim1, ndim)
    order = list(range(ndim))
    if order:
        order[first], order[second] = second, first
    return with_shape(call, input, tuple(order))


def _order(name: str, input: Tensor, dims: tuple) -> tuple[int, ...]:
    ndim = len(input.shape)
    if len(dims) != ndim:
        raise RuntimeError(f"{name}: {len(dims)} dims for {ndim} dimensions; each must be named once")
    order = tuple(check_dim(dim, ndim) for dim in dims)
    if len(set(order)) != ndim:
        raise RuntimeError(f"{name}: each dimension is named once, got {list(dims)}")
    return order


@both(calls={"list": _permute, "again": True, **from_kind(BOOL)})
def permute(input: Tensor, *dims: Any) -> Tensor:
    """With the dimensions in another order."""
    require_tensor("permute", 1, "input", input)
    order = _order("permute", input, extents_of("permute", dims))
    return with_shape(_permute, input, order) if order else alias(input)


_moved = prepare("PermuteBackward0", "_np_moveaxis", "source", "destination")


@both(
    "movedim",
    "moveaxis",
    calls={"one": _moved, "values": values(source=listed, destination=as_many), "num_inputs": 1, "again": True,
           **from_kind(BOOL)},
)  # fmt: skip
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """With some dimensions moved, the others in their order."""
    ndim = len(input.shape)
    source, destination = check_dims(source, ndim), check_dims(destination, ndim)
    return run(_moved, [input], source, destination, kind=input._dtype) if ndim else alias(input)


def _reversed(self: Tensor) -> Tensor:
    """The dimensions in reverse order."""
    if self.ndim != 2:
        warn("T: it is for matrices; mT is of a batch of them, permute() puts dimensions in any order")
    return permute(self, tuple(reversed(range(len(self.shape)))))


def _matrix_transposed(name: str) -> Callable:
    def transposed(self: Tensor) -> Tensor:
        """The last two dimensions changed for each other."""
        ndim = len(self.shape)
        if ndim == 1:
            raise RuntimeError(f"{name}: takes matrices, one or a batch, got {ndim} dimension")
        return transpose(self, -2, -1) if ndim else alias(self)

    return transposed


method("T")(property(_reversed, doc=_reversed.__doc__))
method("mT")(property(_matrix_transposed("mT"), doc="The last two dimensions changed for each other."))
function("adjoint")(_matrix_transposed("adjoint"))


@method(calls={"list": _expand, "again": True, **from_kind(BOOL)})
def expand(self: Tensor, *size: Any, implicit: bool = False) -> Tensor:
    """The same memory, with dimensions of size 1 repeated and new ones in front; -1 keeps a size.

    Raises: RuntimeError: a size that is neither 1 nor the one asked for.
    """
    sizes = extents_of("expand", size)
    shape = self.shape
    added = len(sizes) - len(shape)
    if added < 0:
        raise RuntimeError(
            f"expand: {len(sizes)} sizes for {len(shape)} dimensions; there must be one for each, or more"
        )
    if -1 in sizes[:added]:
        raise RuntimeError(f"expand: -1 keeps the size of a dimension, but dimension {sizes.index(-1)} is new")
    wanted = list(sizes)
    for dim, old in enumerate(shape, added):
        if wanted[dim] == -1:
            wanted[dim] = old
        elif old not in (1, wanted[dim]):
            raise expand_error(wanted[dim], old, dim, sizes, shape)
    return with_shape(_expand, self, tuple(wanted))


@both()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of a shape over steps in memory."""
    own = input.storage_offset()
    skip = 0 if storage_offset is None else storage_offset - own
    if skip < 0 or not (input.is_contiguous() or is_dense(input)):
        raise NotImplementedError(
            "mxlite.torch: as_strided of a tensor with gaps between its elements, or before its first element"
        )
    if not input.is_contiguous():  # its elements as they lie in memory
        strides = input._strides()
        input = permute(input, *sorted(range(input.ndim), key=lambda dim: -strides[dim]))
    call = prepare("AsStridedBackward0", "_mxl_as_strided", "shape", "strides", "skip")
    return run(call, [input], tuple(size), tuple(stride), skip, kind=input._dtype)


def _in_place_view(name: str, change: Callable) -> None:
    """A method that gives the tensor itself another shape.

    Args:
        change: Of the tensor and the method's arguments: the view that it becomes.
    """
    change = with_aliases(change)

    @method(name, document=f"As {name[:-1]}, of the tensor itself, which is returned.")
    def function(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_call(LIB.MXLNDArrayCheckEdit(self._h))
        kept = ctypes.c_int()
        # A variable stays what it is. What was computed keeps its gradient where nothing is recorded, too.
        with (unrecorded if self.is_leaf and self.requires_grad else recorded)(FRONT_END):
            made = change(self, *args, **kwargs)
        check_call(LIB.MXLNDArrayTurn(self._h, made._h, ctypes.byref(kept)))
        self._h, made._h = (self._h, made._h) if kept.value else (made._h, self._h)  # set: Owner forgets the shape
        if hasattr(self, "_shape"):
            del self._shape
        return self


_t_, _transpose_ = prepare("TBackward1", "transpose"), prepare("TransposeBackward1", "transpose", "axes")
_unsqueeze_ = prepare("UnsqueezeBackward1", "expand_dims", "axis")
_squeeze_ = _squeezes(3)

_in_place_view("t_", lambda self: _t_of(self, _t_))
_in_place_view("squeeze_", lambda self, dim=None: _squeezed(self, dim, _squeeze_))
_in_place_view("unsqueeze_", lambda self, dim: _unsqueezed(self, dim, _unsqueeze_))
for _name in ("transpose_", "swapdims_"):
    _in_place_view(_name, lambda self, dim0, dim1: _transposed(self, dim0, dim1, _transpose_))
_in_place_view("swapaxes_", lambda self, axis0, axis1: _transposed(self, axis0, axis1, _transpose_))


def sum_to(input: Tensor, target: tuple[int, ...]) -> Tensor:
    """Summed to a shape that can be broadcast to its own; itself where it has that."""
    if input.shape == target:
        return input
    return with_shape(_sum_to, input, tuple(target))
