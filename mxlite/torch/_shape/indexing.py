"""Keys of tensors, x[0, 1:, None, mask], read and assigned.

Integers, slices, None and `...` give views, one node of the graph each, as in PyTorch. Index tensors and masks copy.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mxlite._index.keys import WHOLE, KeyReader
from mxlite._index.positions import Positions
from mxlite._lib import hot
from mxlite.torch._basic import alias, from_values, full_of, require_fits, zeros_of
from mxlite.torch._calls import adopt, method, prepare, require_tensor, run, run_into
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, bool_, float16, from_kind, int64, uint8
from mxlite.torch._edits import assign, edit, without_first_ones
from mxlite.torch._errors import wrong_argument
from mxlite.torch._make.data import values_of
from mxlite.torch._nodes import formula
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._shape.slices import select_at, slice_dim
from mxlite.torch._shape.where import masked
from mxlite.torch._tensor import Tensor

_first = prepare("SelectBackward0", "_mxl_select", "index", axis=0)
_slice = prepare("SliceBackward0", "slice_axis", "axis", "begin", "end")
_take = prepare("IndexBackward0", "take", "axis", slots="0", mode="clip")
_rows = prepare(None, "take", axis=0, mode="clip")
_add = prepare("IndexPutBackward0", "_mxl_scatter_nd_add", "shape")
_set = prepare(None, "_scatter_set_nd", "shape")
_fill = prepare("FillBackward3", "_mxl_fill", "scalar", slots="0-")

_SCALAR = "a tensor without dimensions has no positions for a key; item() gives its number"


#: Of NumPy's integers, those that tensors do not have.
_OTHER_INTEGERS = ("int16", "uint16", "uint32", "uint64")
#: Entries that make PyTorch read a list as a tuple of indices.
_PARTS = (Tensor, np.ndarray, list, tuple, range, slice, type(None), type(...))


def _entries(key: Any) -> Any:
    """The key as PyTorch reads it: x[[[0, 1], [1, 2]]] is x[[0, 1], [1, 2]]."""
    is_tuple = isinstance(key, list) and len(key) < 32 and any(isinstance(each, _PARTS) for each in key)
    return tuple(key) if is_tuple else key


class _Reader(KeyReader):
    """Keys as PyTorch has them."""

    axis_word = "dimension"

    def read(self, entry: Any) -> Any:
        if isinstance(entry, range) or (isinstance(entry, np.ndarray) and entry.dtype.name in _OTHER_INTEGERS):
            values = np.asarray(entry, np.int64)
        elif isinstance(entry, (np.ndarray, list, tuple, bool, np.bool_)):
            values = values_of(entry, int64 if isinstance(entry, (list, tuple)) and not entry else None)
        elif not isinstance(entry, Tensor):
            return _as_index(entry)
        elif not entry.shape and not entry._dtype.is_floating_point and entry._dtype not in (bool_, uint8):
            return entry.item()
        else:
            values = entry._values()
        if values.dtype.kind == "f" or values.dtype == np.int8:
            raise IndexError("an index tensor is of whole numbers (int64, int32) or a mask (bool, uint8)")
        if values.dtype == np.uint8:
            values = np.asarray(values != 0)
        return values if values.ndim == 0 or values.dtype == bool else values.astype(np.int64)

    def check_count(self, entries: list, used: int, ndim: int) -> None:
        if used > ndim:
            is_scalar = not ndim and not any(isinstance(entry, np.ndarray) for entry in entries)
            raise IndexError(
                _SCALAR if is_scalar else f"the key has more entries than the tensor has dimensions ({ndim})"
            )

    def wrong_mask(self, mask: np.ndarray, sizes: tuple[int, ...], axis: int) -> IndexError:
        wrong = next((n for n in range(mask.ndim) if sizes[axis + n : axis + n + 1] != mask.shape[n : n + 1]), 0)
        return IndexError(
            f"a mask of shape {list(mask.shape)} does not fit a tensor of shape {list(sizes)}: dimension {wrong} of "
            f"the mask is dimension {axis + wrong} of the tensor"
        )


KEYS = _Reader()


def _as_index(entry: Any) -> int:
    try:
        return operator.index(entry)
    except TypeError:
        kind = TypeError if isinstance(entry, str) else IndexError
        raise kind(
            f"a key consists of integers, slices, None, `...` and index tensors, got {type(entry).__name__}"
        ) from None


def _as_bound(entry: Any) -> int:
    try:
        return operator.index(entry)
    except TypeError:
        raise TypeError(f"bounds of a slice are integers or None, not {type(entry).__name__}") from None


@method("__getitem__", calls={"subscript": True, "one": _first, "two": _slice, **from_kind(BOOL)}, quick=True)
def getitem(self: Tensor, key: Any) -> Tensor:
    """Elements by integers, slices, None, `...` (views), index tensors, lists and masks (copies), mixed."""
    if key.__class__ is int:
        shape = self.shape
        if not shape:
            raise IndexError(_SCALAR)
        size = shape[0]
        if not -size <= key < size:
            raise KEYS.out_of_bounds(key, 0, size)
        return adopt(hot.call1_int(_first, self._h, key + size if key < 0 else key), self._dtype)
    if key is None:
        return _shapes.unsqueeze(self, 0)
    if key.__class__ is Tensor and self.shape and 0 not in self.shape:
        found = _chosen(self, key)
        if found is not None:
            return found
    view, indices = _applied(self, key)
    return _gathered(view, indices) if indices else view


def _chosen(self: Tensor, key: Tensor) -> Tensor | None:
    """The rows that an index tensor names, from 0 on, or the elements of a mask of the same shape; else None."""
    if key._dtype is int64 and key.shape:
        index = key._values()
        if index.size and index.min() >= 0 and index.max() < self.shape[0]:
            return run(_take, (self, key), 0, kind=self._dtype)
    elif key._dtype.kind == BOOL and key.shape == self.shape:
        return masked("IndexBackward0", self, key)
    return None


def _applied(self: Tensor, key: Any) -> tuple[Tensor, dict[int, np.ndarray]]:
    """The view that the parts of a key without arrays give, and the positions in others by dimension of the view."""
    view, dim, indices = self, 0, {}
    key = _entries(key)
    for _, part in KEYS.parse(key, self.shape)[0]:
        kind = part.__class__
        if kind is int:
            view = select_at(view, dim, part)
            continue
        if part is Ellipsis:
            continue
        if kind is slice:
            view = _sliced(view, dim, part, key)
        elif part is None or not part.ndim and part.dtype == bool:
            view = _shapes.unsqueeze(view, dim)
            if part is not None:
                indices[dim] = np.zeros(int(part), np.int64)
        elif part.dtype == bool:
            indices.update(enumerate(np.nonzero(part), dim))
            dim += part.ndim - 1
        else:
            indices[dim] = part
        dim += 1
    return (alias(self) if view is self and not indices else view), indices


def _sliced(view: Tensor, dim: int, part: slice, key: Any) -> Tensor:
    if part is WHOLE:
        return view
    start, end, step = (None if each is None else _as_bound(each) for each in (part.start, part.stop, part.step))
    if step is not None and step <= 0:
        raise ValueError(f"a slice has a step of 1 or more, got {step}")
    if start is None and end is None and step is None and key.__class__ is not slice:
        return view
    size = view.shape[dim]
    return slice_dim(view, dim, *slice(start, end, step).indices(size)) if size else alias(view)


class Selected:
    """The elements of a view that index arrays, by dimension, select: rows of the view seen as (rows, ...)."""

    def __init__(self, view: Tensor, indices: dict[int, np.ndarray]) -> None:
        try:
            chosen = Positions([(dim, indices.get(dim, WHOLE)) for dim in range(view.ndim)], view.shape)
        except ValueError:
            listed = ", ".join(str(list(each.shape)) for each in indices.values())
            raise IndexError(f"index tensors of shapes {listed} have no common shape") from None
        #: The shape of what `get` gives.
        self.shape = chosen.shape
        self.view_shape, self.rows = tuple(view.shape), chosen.rows()
        self.positions = from_values(chosen.places())

    def get(self, view: Tensor) -> Tensor:
        """The elements."""
        if 0 in self.shape:
            return slice_dim(view.reshape(-1), 0, 0, 0, 1).reshape(self.shape).clone()
        return run(_rows, [view.reshape(self.rows), self.positions], kind=view._dtype).reshape(self.shape)

    def add(self, values: Tensor) -> Tensor:
        """Zeros of the view's shape, with values added at the selected elements."""
        if 0 in self.shape:
            return zeros_of(self.view_shape, values._dtype)
        return run(_add, self._written(values), self.rows).reshape(self.view_shape)

    def put(self, view: Tensor, values: Tensor) -> Tensor:
        """The view's elements, with values written over the selected ones."""
        if 0 in self.shape:
            return view.clone()
        return run(_set, [view.reshape(self.rows), *self._written(values)], self.rows).reshape(self.view_shape)

    def _written(self, values: Tensor) -> list[Tensor]:
        """Values as rows, and the rows' numbers."""
        return [values.reshape((-1, *self.rows[1:])), self.positions.reshape(1, -1)]


def _gathered(view: Tensor, indices: dict[int, np.ndarray]) -> Tensor:
    if len(indices) == 1:
        ((dim, index),) = indices.items()
        if 0 not in view.shape and index.size:
            return run(_take, [view, from_values(index)], dim, kind=view._dtype)
    return formula("IndexBackward0", [view], Selected(view, indices).get, saves="")


# ---- assignment ----


@method("__setitem__")
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Writes a number, a tensor or what torch.tensor takes, broadcast, to the elements that a key selects."""
    number = isinstance(value, (int, float, np.generic))
    if isinstance(value, complex):
        raise RuntimeError(f"a tensor of {self._dtype} cannot hold the complex number {value}")
    if not number and not isinstance(value, Tensor):
        raise TypeError(f"the value of an assignment is a tensor or a number, got {type(value).__name__}")
    whole = key is Ellipsis or (key.__class__ is slice and key == slice(None))
    if number:
        value = value.item() if isinstance(value, np.generic) else value
        if self._dtype is not float16:  # of which PyTorch writes infinities for numbers beyond it
            require_fits(value, self._dtype)
    view, indices = (self, {}) if whole else _applied(self, key)
    if number:
        if not indices and abs(value) < 1 << 53:
            run_into(_fill, view, [view], float(value))
            return
        value = full_of((), value, self._dtype)
    if indices:
        _require_dtype(self, _entries(key), value, False)
        index_put_into(view, indices, without_first_ones(value), False)
    else:
        assign(view, value)


def _require_dtype(target: Tensor, key: Any, value: Tensor, accumulate: bool) -> None:
    """Raises: RuntimeError: another dtype; but for one number at the elements of one mask, and for x[True]."""
    if isinstance(key, bool):
        return
    parts = key if isinstance(key, tuple) else (key,)
    is_mask = len(parts) == 1 and getattr(parts[0], "dtype", None) in (bool_, np.dtype(bool)) and parts[0].ndim > 0
    if value._dtype is not target._dtype and not (is_mask and value.numel() == 1 and not accumulate):
        raise RuntimeError(
            f"values of dtype {value._dtype.word} are assigned by index to elements of dtype {target._dtype.word}; "
            "both dtypes must be equal"
        )


def index_put_into(view: Tensor, indices: dict[int, np.ndarray], value: Tensor, accumulate: bool) -> Tensor:
    """Writes (or adds) a tensor, broadcast, at the elements that index tensors select."""
    selected = Selected(view, indices)
    try:
        fits = np.broadcast_shapes(selected.shape, value.shape) == selected.shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"a value of shape {list(value.shape)} does not fit the selected elements, of shape {list(selected.shape)}"
        )
    value = cast(value, view._dtype)

    def add(view: Tensor, value: Tensor) -> Tensor:
        return view + selected.add(_shapes.expand(value, selected.shape))

    def put(view: Tensor, value: Tensor) -> Tensor:
        return selected.put(view, _shapes.expand(value, selected.shape))

    def put_rule(grad: Tensor) -> list:  # a composition's gives a gradient to the last of values at one position only
        zeros = zeros_of(selected.shape, grad._dtype)
        return [selected.put(grad, zeros), selected.get(grad)]

    if accumulate:
        return edit("IndexPutBackward0", [view, value], add, saves="")
    return edit("IndexPutBackward0", [view, value], put, put_rule)


@method()
def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Writes values at the elements that a tuple of index tensors selects; returns the tensor."""
    if not isinstance(indices, (tuple, list)) or not all(each is None or isinstance(each, Tensor) for each in indices):
        raise wrong_argument("index_put_", "indices", 1, "tuple of Tensors", indices)
    require_tensor("index_put_", 2, "values", values)
    if not indices:
        raise RuntimeError("index_put_: there are no indices")
    _require_dtype(self, tuple(indices), values, accumulate)
    masks = [isinstance(each, Tensor) and each._dtype in (bool_, uint8) for each in indices]
    if any(mask and not each.shape for mask, each in zip(masks, indices)):
        key = tuple(indices)
        self[key] = self[key] + values if accumulate else values
        return self
    listed = tuple(each.reshape(1) if isinstance(each, Tensor) and not each.shape else each for each in indices)
    index_put_into(*_applied(self, listed), values, accumulate)
    return self
