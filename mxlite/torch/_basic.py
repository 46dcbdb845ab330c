"""Functions that the class Tensor itself uses: new tensors, casts, aliases and views in another shape."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mxlite._lib import LIB, ask, buffer_address, c_ints, hot
from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.autograd._transforms.levels import parts_of
from mxlite.torch._calls import adopt, check_call, prepare, run, run_into
from mxlite.torch._dtypes import BOOL, DTYPES, INTEGER, bfloat16, dtype, dtype_of_numpy
from mxlite.torch._kinds import on_meta

if TYPE_CHECKING:
    from mxlite.torch._tensor import Tensor

casts = {kind: prepare("ToCopyBackward0", "Cast", dtype=kind.name) for kind in DTYPES}
_zeros = {kind: prepare(None, "_zeros", "shape", dtype=kind.name) for kind in DTYPES}
full_calls = {kind: prepare(None, "_full", "shape", "value", dtype=kind.name) for kind in DTYPES}
_alias = prepare("AliasBackward0", "_mxl_reshape_to", "shape")
_copy_over = prepare(None, "_mxl_copy_over")
_turn = prepare("PermuteBackward0", "transpose", "axes")
stack_call = prepare("StackBackward0", "stack", "axis")


def has_values(tensor: Tensor) -> bool:
    """Whether the values of a tensor can be read; a batched tensor, which vmap passes to its function, has none."""
    return not levels_open[0] or LIB.MXLNDArrayBatchOf(tensor._h, None, ctypes.byref(ctypes.c_int())) == 0


def of_all(tensor: Tensor) -> Tensor:
    """The tensor, or with all examples of vmap the one that it is a part of: its values can be read."""
    while not has_values(tensor):
        tensor = parts_of(tensor._graph_front_end, tensor)[1]
    return tensor


def holds(condition: Tensor) -> bool:
    """Whether all elements are True, under vmap in every example. A meta tensor has no values and gives True."""
    return condition.is_meta or bool(of_all(condition).all())


def cast(tensor: Tensor, kind: dtype) -> Tensor:
    """The tensor with that dtype: itself where it has it."""
    if tensor._dtype is kind:
        return tensor
    return adopt(hot.call1(casts[kind], tensor._h), kind)


def with_shape(call: int, input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Runs a call that has a shape as its argument."""
    return run(call, (input,), tuple(shape), kind=input._dtype)


def alias(input: Tensor) -> Tensor:
    """A view of everything."""
    return with_shape(_alias, input, input.shape)


def stacked(tensors: list[Tensor], place: int) -> Tensor:
    """Tensors of one shape and dtype side by side along a new dimension."""
    return run(stack_call, tensors, place, kind=tensors[0]._dtype)


def address_of(tensor: Tensor) -> int:
    """The address of the first element."""
    return ask(ctypes.c_void_p, LIB.MXLNDArrayGetAddress, tensor._h) or 0


def laid_as(made: Callable[..., Tensor], input: Tensor, *arguments: Any) -> Tensor:
    """A new tensor, `made(shape, *arguments)`, of a tensor's shape and with its dimensions in the same order in memory.

    It has no place in the graph.
    """
    if hot.contiguous(input._h) == 1:
        return made(input.shape, *arguments)
    order = inner_first(input._strides(), input.shape)[::-1]
    laid = made(tuple(input.shape[dim] for dim in order), *arguments)
    back = tuple(order.index(dim) for dim in range(input.ndim))
    return run(_turn, [laid], back, kind=laid._dtype).detach()


def inner_first(strides: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """The dimensions in the order in which a result of such a tensor has them: as capi/engine/run/layout.c."""
    order = list(range(len(shape)))[::-1]
    for start in range(1, len(order)):
        at = start
        for inner in range(start - 1, -1, -1):
            a, b = order[inner], order[at]
            if strides[a] == 0 or strides[b] == 0 or (strides[a] == strides[b] and shape[a] <= shape[b]):
                continue
            if strides[a] < strides[b]:
                break
            order[inner], order[at] = b, a
            at = inner
    return order


def relaid(result: Tensor, input: Tensor) -> Tensor:
    """A new result without a place in the graph, laid in memory as an input of the same shape."""
    if input.is_contiguous() or not result.is_contiguous() or result.shape != input.shape or not has_values(input):
        return result
    laid = laid_as(placed(empty_of, input.device), input, result._dtype)
    return run_into(_copy_over, laid, [laid, result])


def is_dense(input: Tensor) -> bool:
    """Whether the elements fill their memory without gaps, in any order of the dimensions."""
    found = sorted((stride, size) for stride, size in zip(input._strides(), input.shape) if size > 1)
    return not input.numel() or all(
        stride == math.prod(size for _, size in found[:place]) for place, (stride, _) in enumerate(found)
    )


def from_values(values: np.ndarray, as_kind: dtype | None = None) -> Tensor:
    """A new tensor with a copy of a NumPy array's elements, perhaps converted."""
    if as_kind is not None and as_kind.np != values.dtype:
        values = values.astype(as_kind.np)
    kind = dtype_of_numpy(values.dtype)
    if as_kind is bfloat16:
        return cast(from_values(values), bfloat16)
    straight = np.ascontiguousarray(values)
    return adopt(hot.array_of(buffer_address(straight), values.shape, kind.flag), kind)


def empty_of(shape: tuple[int, ...], kind: dtype) -> Tensor:
    """A new tensor with any values."""
    if not shape or 0 in shape:
        # MXNet's function takes () and 0 for sizes that are not known yet.
        return zeros_of(shape, kind)
    return _created(1, shape, kind)


def meta_of(shape: tuple[int, ...], kind: dtype) -> Tensor:
    """A new tensor on the device meta."""
    return _created(_META, shape, kind)


#: Its number in MXNDArrayCreateEx64.
_META = 6


def _created(where: int, shape: tuple[int, ...], kind: dtype) -> Tensor:
    handle = ctypes.c_void_p()
    sizes = c_ints(ctypes.c_int64, shape)
    check_call(LIB.MXNDArrayCreateEx64(sizes, len(shape), where, 0, 0, kind.flag, ctypes.byref(handle)))
    return adopt(handle.value, kind)


def placed(make: Callable[..., Tensor], device: Any) -> Callable[..., Tensor]:
    """`make`, of a shape, perhaps more, and a dtype, as it is for a device, or (None) where new tensors go."""
    if not on_meta(device):
        return make
    return lambda shape, *more: meta_of(shape, next(each for each in more if isinstance(each, dtype)))


def zeros_of(shape: tuple[int, ...], kind: dtype) -> Tensor:
    """A new tensor of zeros."""
    return run(_zeros[kind], [], tuple(shape), kind=kind)


def full_of(shape: tuple[int, ...], value: Any, kind: dtype) -> Tensor:
    """A new tensor of one number."""
    if kind.kind != BOOL and isinstance(value, int) and abs(value) >= 1 << 53:
        return from_values(np.full(shape, value, kind.np), kind)  # more digits than a double has
    return run(full_calls[kind], [], tuple(shape), float(value), kind=kind)


def require_fits(value: Any, kind: dtype) -> Any:
    """The number itself, where a tensor of that dtype can hold it (of uint8: it or its negative).

    Raises: RuntimeError: it cannot.
    """
    if kind.kind == BOOL or 0 <= value <= 127:
        return value
    limits = (np.iinfo if kind.kind == INTEGER else np.finfo)(kind.np)
    lowest, highest = (each if isinstance(each, int) else each.item() for each in (limits.min, limits.max))
    if kind.kind == INTEGER and isinstance(value, int):
        lowest = min(lowest, -highest)
    endless = isinstance(value, float) and not math.isfinite(value)
    if not (kind.is_floating_point if endless else lowest <= value <= highest):
        raise RuntimeError(f"the number {value} is outside the range of dtype {kind.word}")
    return value


def wrapped(value: Any, kind: dtype) -> Any:
    """An integer modulo 2^bits, as a dtype of integers stores it. Other numbers and other dtypes: the value itself."""
    if kind.kind != INTEGER or value.__class__ is not int or 0 <= value < 128:
        return value
    return int(np.int64(value).astype(kind.np)) if -(1 << 63) <= value < 1 << 63 else value


def filled(shape: tuple[int, ...], value: Any, kind: dtype) -> Tensor:
    """As full_of, of a number that the dtype must be able to hold."""
    return full_of(shape, require_fits(value, kind), kind)
