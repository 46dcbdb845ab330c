"""Keys of tensors, x[0, 1:, None, mask], read and assigned; and the functions that pick elements by indices.

Integers, slices, None and `...` give views, one node of the graph each, as in PyTorch. Index tensors and masks copy.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite._lib import LIB, hot
from mxlite.autograd._nodes import pinned
from mxlite.torch import _shapes
from mxlite.torch._arithmetic import shape_error
from mxlite.torch._calls import adopt, both, check_call, functions, method, methods, prepare, run, run_into
from mxlite.torch._convert import cast, clone
from mxlite.torch._creation import values_of
from mxlite.torch._dtypes import BOOL, int8, int64
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._gradient import STYLE
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import Saved, formula, is_grad_enabled, record, rule_of, saved_of, unrecorded
from mxlite.torch._tensor import Tensor, from_values, full_of, require_fits, zeros_of

_select = prepare("SelectBackward0", "_mxl_select", "axis", "index")
_first = prepare("SelectBackward0", "_mxl_select", "index", axis=0)
_slice = prepare("SliceBackward0", "slice", "begin", "end", "step")


def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """A view of one position of a dimension, without it."""
    shape = input.shape
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place = check_dim(dim, len(shape))
    index = operator.index(index)
    extent = shape[place]
    if not -extent <= index < extent:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {place}")
    return run(_select, [input], place, index + extent if index < 0 else index, kind=input._dtype)


def slice_dim(input: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    """A view of positions of a dimension: from 0 on, start <= end."""
    none = (None,) * dim
    call = prepare("SliceBackward0", "slice_axis", "axis", "begin", "end")
    if step == 1 and start < end:
        return run(call, [input], dim, start, end, kind=input._dtype)
    if start >= end:
        return _empty_slice(input, dim)
    bounds = [(*none, each) for each in (start, end, step)]
    return adopt(
        hot.call_n(_slice, [input._h], [_bounds(each, hole) for each, hole in zip(bounds, (None, None, 1))]),
        input._dtype,
    )


def _bounds(entries: tuple, hole: Any) -> tuple:
    return tuple((_NONE if hole is None else hole) if each is None else each for each in entries)


_NONE = -(1 << 63)


def _empty_slice(input: Tensor, dim: int) -> Tensor:
    whole = tuple(input.shape)
    shape = whole[:dim] + (0,) + whole[dim + 1 :]
    return formula(
        "SliceBackward0", [input], lambda x: zeros_of(shape, x._dtype), lambda grad: [zeros_of(whole, grad._dtype)]
    )


functions["slice_dim"] = slice_dim
both("select")(select)


# ---- keys ----


def _is_tensor_index(entry: Any) -> bool:
    return isinstance(entry, (Tensor, np.ndarray, list, tuple, bool, np.bool_))


def getitem(self: Tensor, key: Any) -> Tensor:
    """Elements by integers, slices, None, `...` (views), index tensors, lists and masks (copies), mixed."""
    if key.__class__ is int:
        shape = self.shape
        if not shape:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a "
                "0-dim tensor to a number"
            )
        extent = shape[0]
        if not -extent <= key < extent:
            raise IndexError(f"index {key} is out of bounds for dimension 0 with size {extent}")
        return adopt(hot.call1_int(_first, self._h, key + extent if key < 0 else key), self._dtype)
    view, indices = _applied(self, key)
    return view if indices is None else _gathered(view, indices)


def _entries(self: Tensor, key: Any) -> list:
    entries = list(key) if isinstance(key, tuple) else [key]
    used = 0
    for entry in entries:
        if entry is None or entry is Ellipsis or isinstance(entry, (bool, np.bool_)):
            continue
        if (
            isinstance(entry, Tensor)
            and entry._dtype.kind == BOOL
            or isinstance(entry, Tensor)
            and entry._dtype is _uint8
        ):
            used += entry.ndim
        elif isinstance(entry, np.ndarray) and entry.dtype.kind == "b":
            used += entry.ndim
        elif isinstance(entry, (list, tuple)) and entry:
            used += max(1, np.asarray(_plain(entry)).ndim) if _is_mask_list(entry) else 1
        else:
            used += 1
    if used > self.ndim:
        if not self.shape and not any(map(_is_tensor_index, entries)):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a "
                "0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    place = next((number for number, entry in enumerate(entries) if entry is Ellipsis), None)
    if place is not None:
        entries[place : place + 1] = [slice(None)] * (self.ndim - used) or [Ellipsis]
        entries = [
            slice(None) if entry is Ellipsis and number != place else entry for number, entry in enumerate(entries)
        ]
    return entries


def _is_truth(entry: Any) -> bool:
    """Whether an entry is a mask without dimensions, which is as True or False."""
    return isinstance(entry, Tensor) and not entry.shape and entry._dtype.kind == BOOL


def _is_mask_list(entry: Any) -> bool:
    while isinstance(entry, (list, tuple)) and entry:
        entry = entry[0]
    return isinstance(entry, (bool, np.bool_))


def _plain(entry: Any) -> Any:
    if isinstance(entry, Tensor):
        return entry._values()
    return [_plain(each) for each in entry] if isinstance(entry, (list, tuple)) else entry


def _applied(self: Tensor, key: Any) -> tuple[Tensor, dict[int, Tensor] | None]:
    """The view that the parts of a key without index tensors give, and the index tensors by dimension of the view."""
    view, dim, indices = self, 0, {}
    entries = _entries(self, key)
    for entry in entries:
        kind = entry.__class__
        if kind is slice:
            view, dim = _sliced(view, dim, entry, whole=key), dim + 1
        elif entry is None:
            view, dim = _shapes.unsqueeze(view, dim), dim + 1
        elif entry is Ellipsis:
            continue
        elif isinstance(entry, (bool, np.bool_)) or _is_truth(entry):
            view = _shapes.unsqueeze(view, dim)
            indices[dim] = from_values(np.zeros(1 if entry else 0, np.int64))
            dim += 1
        elif isinstance(entry, Tensor) and not entry.shape and not entry._dtype.is_floating_point:
            view = _selected(view, dim, entry.item())
        elif isinstance(entry, (Tensor, np.ndarray, list, tuple)):
            for index in index_tensors(view, dim, entry):
                indices[dim] = index
                dim += 1
        else:
            view = _selected(view, dim, _as_index(entry))
    if not indices and view is self:
        return _shapes.alias(self), None
    return view, indices or None


def _as_index(entry: Any) -> int:
    if isinstance(entry, str):
        raise TypeError("new(): invalid data type 'str'")
    try:
        return operator.index(entry)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type(entry).__name__})"
        ) from None


def _selected(view: Tensor, dim: int, index: int) -> Tensor:
    extent = view.shape[dim]
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {extent}")
    return run(_select, [view], dim, index + extent if index < 0 else index, kind=view._dtype)


def _sliced(view: Tensor, dim: int, entry: slice, whole: Any) -> Tensor:
    start, end, step = (None if each is None else _as_index(each) for each in (entry.start, entry.stop, entry.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    extent = view.shape[dim]
    if start is None and end is None and step is None and whole.__class__ is not slice:
        return view
    start, end, step = slice(start, end, step).indices(extent)
    if start >= end and extent:
        return _empty_slice(view, dim)
    return slice_dim(view, dim, start, end, step) if extent else _shapes.alias(view)


def index_tensors(view: Tensor, dim: int, entry: Any) -> list[Tensor]:
    """Index tensors of int64, one for each dimension that a mask covers."""
    if not isinstance(entry, Tensor):
        entry = from_values(values_of(entry, int64 if isinstance(entry, (list, tuple)) and not entry else None))
    kind = entry._dtype
    if kind.is_floating_point or kind is int8:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if kind.kind != BOOL and kind is not _uint8:
        extent = view.shape[dim]
        values = entry._values()
        if values.size:
            wrong = values[(values < -extent) | (values >= extent)]
            if wrong.size:
                raise IndexError(f"index {wrong.flat[0]} is out of bounds for dimension {dim} with size {extent}")
        return [from_values(np.where(values < 0, values + extent, values).astype(np.int64))]
    if tuple(view.shape[dim : dim + entry.ndim]) != tuple(entry.shape):
        wrong = next((n for n in range(entry.ndim) if view.shape[dim + n : dim + n + 1] != entry.shape[n : n + 1]), 0)
        raise IndexError(
            f"The shape of the mask {list(entry.shape)} at index {wrong} does not match the shape of the indexed "
            "tensor "
            f"{list(view.shape)} at index {dim + wrong}"
        )
    return [from_values(each.astype(np.int64)) for each in np.nonzero(entry._values())]


class Places:
    """Index tensors of several dimensions, as the library's gather_nd takes them: in front, in one array."""

    def __init__(self, view: Tensor, indices: dict[int, Tensor]) -> None:
        dims = sorted(indices)
        shape = ()
        for dim in dims:
            try:
                shape = _shapes.broadcast_shapes(shape, indices[dim].shape)
            except RuntimeError:
                listed = ", ".join(str(list(each.shape)) for each in indices.values())
                raise IndexError(
                    f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
                ) from None
        together = dims == list(range(dims[0], dims[-1] + 1))
        rest = [dim for dim in range(view.ndim) if dim not in indices]
        #: Dimensions in front of the indexed ones: in the result the new dimensions stand there.
        self.lead = [dim for dim in rest if dim < dims[0]] if together else []
        self.order = (*dims, *rest)
        self.shape = tuple(shape)
        self.rest = tuple(view.shape[dim] for dim in rest)
        self.whole = tuple(view.shape[dim] for dim in self.order)
        self.places = from_values(
            np.stack([np.broadcast_to(indices[dim]._values(), shape) for dim in dims]).reshape(len(dims), -1)
        )
        count = int(np.prod(shape, dtype=np.int64))
        self.flat = (count, *self.rest)

    def get(self, view: Tensor) -> Tensor:
        """The elements."""
        front = _shapes.permute(view, self.order).contiguous()
        if 0 in self.flat:
            found = zeros_of(self.flat, view._dtype)
        else:
            found = run(prepare(None, "gather_nd"), [front, self.places], kind=view._dtype)
        return self._out(found.reshape(self.shape + self.rest))

    def _out(self, found: Tensor) -> Tensor:
        """The new dimensions, from the front to where they belong."""
        count, lead = len(self.shape), len(self.lead)
        if not lead:
            return found
        rest = range(count + lead, found.ndim)
        return _shapes.permute(found, (*range(count, count + lead), *range(count), *rest)).contiguous()

    def _in(self, values: Tensor) -> Tensor:
        """The other way round: as one row per index."""
        count, lead = len(self.shape), len(self.lead)
        if lead:
            rest = range(count + lead, values.ndim)
            values = _shapes.permute(values, (*range(lead, lead + count), *range(lead), *rest))
        return values.reshape(self.flat)

    def result_shape(self) -> tuple[int, ...]:
        """The shape of what `get` gives."""
        lead = len(self.lead)
        return self.rest[:lead] + self.shape + self.rest[lead:]

    def add(self, values: Tensor, shape: Any) -> Tensor:
        """Zeros of the view's shape, with values added at the places."""
        rows = self._in(values)
        if 0 in self.flat:
            return zeros_of(tuple(shape), values._dtype)
        put = run(
            prepare("IndexPutBackward0", "_mxl_scatter_nd_add", "shape"), [rows.contiguous(), self.places], self.whole
        )
        back = [0] * len(self.order)
        for place, dim in enumerate(self.order):
            back[dim] = place
        return _shapes.permute(put, tuple(back)).contiguous()


def _gathered(view: Tensor, indices: dict[int, Tensor]) -> Tensor:
    if len(indices) == 1:
        ((dim, index),) = indices.items()
        if 0 not in view.shape and index.numel():
            call = prepare("IndexBackward0", "take", "axis", slots="0", mode="clip")
            return run(call, [view, index], dim, kind=view._dtype)
    places = Places(view, indices)
    shape = tuple(view.shape)
    return formula("IndexBackward0", [view], places.get, lambda grad: [places.add(grad, shape)])


# ---- assignment ----

_copy_over = prepare("CopyBackwards", "_mxl_copy_over")
_fill = prepare("FillBackward2", "_mxl_fill", "scalar")
_fill_all = prepare("FillBackward3", "_mxl_fill", "scalar", slots="0-")


def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Writes a number, a tensor or what torch.tensor takes, broadcast, to the elements that a key selects."""
    number = isinstance(value, (int, float, np.generic))
    whole = key is Ellipsis or (key.__class__ is slice and key == slice(None))
    if number and whole:
        run_into(_fill_all, self, [self], float(value))
        return
    view, indices = (self, None) if whole else _applied(self, key)
    if not isinstance(value, Tensor):
        if number:
            value = full_of((), value.item() if isinstance(value, np.generic) else value, self._dtype)
        else:
            raise TypeError(f"can't assign a {type(value).__name__} to a {self.type()}")
    if indices is not None:
        index_put_into(view, indices, _without_first_ones(value), False)
    elif not value.shape or value.shape == view.shape:
        copy_(view, value)
    else:
        value = _without_first_ones(value)
        _check_fits(view, value.shape)
        copy_(view, value if value.shape == view.shape else _shapes.expand(value, view.shape))


def _without_first_ones(value: Tensor) -> Tensor:
    """The value as PyTorch assigns it: without dimensions of extent 1 in front."""
    shape = tuple(value.shape)
    start = next((place for place, extent in enumerate(shape) if extent != 1), len(shape))
    return _shapes.view(value, shape[start:]) if start else value


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Takes over the values of a tensor, broadcast and converted; returns the tensor."""
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    while src.ndim > self.ndim and src.shape[0] == 1:
        src = src.squeeze(0)
    _check_fits(self, src.shape)
    if self._dtype is src._dtype or not src.requires_grad:
        src = cast(src, self._dtype)
    return run_into(_copy_over, self, [self, src])


def _check_fits(target: Tensor, shape: Any) -> None:
    problem = shape_error(tuple(target.shape), tuple(shape))
    if problem is not None or _shapes.broadcast_shapes(target.shape, shape) != target.shape:
        fitting = list(shape)
        for back in range(1, len(fitting) + 1):
            have = target.shape[-back] if back <= target.ndim else None
            if fitting[-back] not in (1, have):
                dim = target.ndim - back
                raise RuntimeError(
                    f"The expanded size of the tensor ({have if have is not None else 1}) must match the existing size "
                    f"({fitting[-back]}) at non-singleton dimension {max(dim, 0)}.  "
                    f"Target sizes: {list(target.shape)}.  "
                    ""
                    f"Tensor sizes: {fitting}"
                )
        raise problem or RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape "
            f"{list(_shapes.broadcast_shapes(target.shape, shape))}"
        )


def edit(
    label: str,
    inputs: Sequence[Tensor],
    compute: Callable,
    rule: Callable | None = None,
    slots: str | None = None,
    saves: str | tuple[str, ...] | None = None,
    constants: Sequence[Tensor] = (),
) -> Tensor:
    """A formula (_nodes.py) whose result is written over the first of its inputs, which is returned."""
    target, *others = inputs
    check_call(LIB.MXLNDArrayCheckEdit(target._h))
    with unrecorded():
        values = compute(*inputs, *constants)
    _check_result(target, values)
    if not is_grad_enabled() or not any(each.requires_grad for each in inputs):
        return copy_(target, values)
    # Before the write: it moves what shows the same memory, and views learn their place when asked.
    before = clone(target) if (rule is None and saves is None) or "0" in "".join(saves or "") else target
    kept = saved_of([before, *others], None, saves, rule)
    kind = target._dtype
    again = compute if values._dtype is kind else lambda *given: cast(compute(*given), kind)
    made = rule_of(again, rule, inputs, kept, constants)
    inputs = [target, *(pinned(STYLE, each) if each.requires_grad else each for each in others)]
    with unrecorded():
        copy_(target, values)
    if rule and "r" in (saves or ""):
        made.kept[sorted(saves).index("r")] = Saved(target, 0)
    record(label, inputs, [target], made, slots)
    return target


def _check_result(target: Tensor, values: Tensor) -> None:
    """Raises: RuntimeError: values of another shape, or with fractions that the target cannot hold."""
    if values.shape != target.shape:
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(values.shape)}"
        )
    if values._dtype.is_floating_point and not target._dtype.is_floating_point:
        raise RuntimeError(
            f"result type {values._dtype.word} can't be cast to the desired output type {target._dtype.word}"
        )


def index_put_into(view: Tensor, indices: dict[int, Tensor], value: Tensor, accumulate: bool) -> Tensor:
    """Writes (or adds) a tensor, broadcast, at the places that index tensors name."""
    places = Places(view, indices)
    shape = places.result_shape()
    try:
        fits = _shapes.broadcast_shapes(shape, value.shape) == shape
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of "
            "shape "
            f"{list(shape)}"
        )
    value = cast(value, view._dtype) if value._dtype is not view._dtype else value
    whole = tuple(view.shape)

    def compute(view: Tensor, value: Tensor) -> Tensor:
        wide = _shapes.expand(value, shape)
        if accumulate:
            return view + places.add(wide, whole)
        numbers = np.moveaxis(view._values(), places.order[: len(indices)], range(len(indices))).copy()
        numbers[tuple(places.places._values())] = places._in(wide)._values()
        return from_values(np.moveaxis(numbers, range(len(indices)), places.order[: len(indices)]).copy())

    def rule(grad: Tensor) -> list:
        kept = grad
        if not accumulate:
            ones = full_of(places.result_shape(), 1, grad._dtype)
            kept = functions["masked_fill"](grad, places.add(ones, whole) != 0, 0)
        return [kept, places.get(grad)]

    return edit("IndexPutBackward0", [view, value], compute, rule)


methods["__getitem__"] = getitem
methods["__setitem__"] = setitem
methods["copy_"] = copy_


@method()
def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Writes values at the places that a tuple of index tensors names; returns the tensor."""
    if any(each._dtype.kind == BOOL and not each.shape for each in indices if isinstance(each, Tensor)):
        key = tuple(indices)
        self[key] = self[key] + values if accumulate else values
        return self
    masks = all(isinstance(each, Tensor) and each._dtype.kind == BOOL for each in indices)
    if self._dtype is not values._dtype and not masks:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {self._dtype.word} for the destination "
            f"and {values._dtype.word} for the source."
        )
    listed = tuple(each.reshape(1) if isinstance(each, Tensor) and not each.shape else each for each in indices)
    view, found = _applied(self, listed)
    index_put_into(view, found or {}, values, accumulate)
    return self


@method()
def fill_(self: Tensor, value: Any) -> Tensor:
    """One number in every element; returns the tensor."""
    if isinstance(value, Tensor):
        if value.shape:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
            )
        return copy_(self, value)
    require_fits(value, self._dtype)
    once = _once(self)
    run_into(_fill, once, [once], float(value))
    return self


def _once(self: Tensor) -> Tensor:
    """The tensor, or of one that shows elements several times (an expanded one) a view that shows each once."""
    view = self
    for dim, (extent, stride) in enumerate(zip(self.shape, self._strides())):
        if extent > 1 and stride == 0:
            view = slice_dim(view, dim, 0, 1, 1)
    return view


_zero = prepare("ZeroBackward0", "_mxl_fill", "scalar")


@method()
def zero_(self: Tensor) -> Tensor:
    """Zeros in every element; returns the tensor."""
    once = _once(self)
    run_into(_zero, once, [once], 0.0)
    return self
