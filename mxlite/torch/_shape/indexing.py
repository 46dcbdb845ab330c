"""Keys of tensors, x[0, 1:, None, mask], read and assigned.

One operator of the library reads a key, another one assigns by it: index tensors and masks are its inputs. Integers,
slices, None and `...` give views, index tensors and masks copy. What is recorded has a node for each part of the key.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from mxlite._index.keys import ARRAY, KeyReader
from mxlite.torch._basic import alias, from_values, full_of, has_values, require_fits
from mxlite.torch._calls import method, prepare, require_tensor, run, run_into
from mxlite.torch._dtypes import BOOL, bool_, float16, float32, float64, from_kind, int64, uint8
from mxlite.torch._edits import assign, without_first_ones
from mxlite.torch._errors import wrong_argument
from mxlite.torch._make.data import values_of
from mxlite.torch._nodes import is_grad_enabled
from mxlite.torch._shape.shapes import unsqueeze
from mxlite.torch._tensor import Tensor

_first = prepare("SelectBackward0", "_mxl_select", "index", axis=0)
_slice = prepare("SliceBackward0", "slice_axis", "axis", "begin", "end")
_read = prepare(None, "_mxl_index_parts", "key", rules="torch")
#: Assignment of numbers and of tensors; to a part of a view, or to what index tensors select of all dimensions.
_fills, _puts, _adds = (
    {
        label: prepare(label, "_mxl_index_put", *arguments, rules="torch", slots=slots, **flags)
        for label in ("CopySlices", "IndexPutBackward0")
    }
    for arguments, slots, flags in (
        (("key", "scalar"), "0-", {"fill": True}),
        (("key",), "01", {}),
        (("key",), "01", {"accumulate": True}),
    )
)
_fill = prepare("FillBackward3", "_mxl_fill", "scalar", slots="0-")
_WHOLE = slice(None)
#: Of NumPy's integers, those that tensors do not have.
_OTHER_INTEGERS = ("int16", "uint16", "uint32", "uint64")
#: Index tensors and masks, in whatever form; entries that make PyTorch read a list as a tuple of indices.
_INDICES = (Tensor, np.ndarray, list, tuple, range)
_PARTS = (*_INDICES, slice, type(None), type(...))


def _entries(key: Any) -> Any:
    """The key as PyTorch reads it: x[[[0, 1], [1, 2]]] is x[[0, 1], [1, 2]]."""
    is_tuple = isinstance(key, list) and len(key) < 32 and any(isinstance(each, _PARTS) for each in key)
    return tuple(key) if is_tuple else key


class _Reader(KeyReader):
    """Keys as PyTorch has them."""

    def read(self, entry: Any) -> Any:
        if isinstance(entry, Tensor):
            kind = entry._dtype
            if kind is uint8:
                warnings.warn("a mask of dtype uint8 as an index is deprecated: take one of bool", stacklevel=5)
            is_number = not entry.shape and not kind.is_floating_point and kind not in (bool_, uint8)
            return entry.item() if is_number and has_values(entry) else entry
        if isinstance(entry, range) or (isinstance(entry, np.ndarray) and entry.dtype.name in _OTHER_INTEGERS):
            return from_values(np.asarray(entry, np.int64))
        if isinstance(entry, (np.ndarray, list, tuple, bool, np.bool_)):
            is_empty = isinstance(entry, (list, tuple)) and not entry
            return from_values(values_of(entry, int64 if is_empty else None))
        return _as_index(entry)

    def bound(self, entry: Any) -> int:
        return _as_bound(entry)


_parse = _Reader().parse


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


@method(
    "__getitem__", calls={"subscript": True, "one": _first, "two": _slice, "many": _read, **from_kind(BOOL)}, quick=True
)
def getitem(self: Tensor, key: Any) -> Tensor:
    """Elements by integers, slices, None, `...` (views), index tensors, lists and masks (copies), mixed."""
    if key is None:
        return unsqueeze(self, 0)
    key = _entries(key)
    if key.__class__ is not slice and _is_all(self, key):
        return alias(self)
    numbers, arrays = _parse(key)
    return run(_read, (self, *arrays), numbers, kind=self._dtype)


def _is_all(self: Tensor, key: Any) -> bool:
    """Whether a key is nothing but `...` and `:`."""
    if key.__class__ is not tuple:
        return _is_whole(key)
    return (not key or _is_whole(key[-1])) and all(map(_is_whole, key)) and len(key) <= max(self.ndim, 1)


def _is_whole(part: Any) -> bool:
    return part is Ellipsis or (part.__class__ is slice and part == _WHOLE)


# ---- assignment ----


@method(
    "__setitem__",
    calls={"put": True, "one": _fills["CopySlices"], "two": _puts["CopySlices"], "dtypes": (float32, float64)},
)
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Writes a number, a tensor or what torch.tensor takes, broadcast, to the elements that a key selects."""
    number = isinstance(value, (int, float, np.generic))
    if isinstance(value, complex):
        raise RuntimeError(f"a tensor of {self._dtype} cannot hold the complex number {value}")
    if not number and not isinstance(value, Tensor):
        raise TypeError(f"the value of an assignment is a tensor or a number, got {type(value).__name__}")
    if number:
        value = value.item() if isinstance(value, np.generic) else value
        if self._dtype is not float16:  # of which PyTorch writes infinities for numbers beyond it
            require_fits(value, self._dtype)
        if abs(value) >= 1 << 53 and value.__class__ is int:
            number, value = False, full_of((), value, self._dtype)
    key = _entries(key)
    if _is_all(self, key):
        if number:
            run_into(_fill, self, [self], float(value))
        else:
            assign(self, value)
        return
    numbers, arrays = _parse(key)
    label = _written_by(key) if arrays else "CopySlices"
    if arrays and not number:
        _require_dtype(self, key, value, False)
        value = without_first_ones(value) if value.requires_grad else value
    # The graph shows how a value was broadcast.
    if number or arrays or not (value.shape and value.requires_grad and is_grad_enabled()):
        try:
            if number:
                run_into(_fills[label], self, [self, *arrays], numbers, float(value))
            else:
                run_into(_puts[label], self, [self, value, *arrays], numbers)
            return
        except RuntimeError:  # the tensor may repeat elements (stride 0) where the part that is assigned does not
            if arrays:
                raise
    view = getitem(self, key)
    if number:
        run_into(_fill, view, [view], float(value))
    else:
        assign(view, value)


def _written_by(key: Any) -> str:
    """The name of the node of an assignment: index tensors beside whole slices alone are no part of a view.

    (PyTorch takes those without dimensions for integers, or new dimensions.)
    """
    if key.__class__ is int:
        return "CopySlices"
    parts = key if key.__class__ is tuple else (key,)
    are_indices = all(
        getattr(each, "shape", None) != () if isinstance(each, _INDICES) else _is_whole(each) for each in parts
    )
    return "IndexPutBackward0" if are_indices else "CopySlices"


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


@method()
def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Writes values at the elements that a tuple of index tensors selects; returns the tensor."""
    if not isinstance(indices, (tuple, list)) or not all(isinstance(each, Tensor) for each in indices):
        raise wrong_argument("index_put_", "indices", 1, "tuple of Tensors", indices)
    require_tensor("index_put_", 2, "values", values)
    if not indices:
        raise RuntimeError("index_put_: there are no indices")
    _require_dtype(self, tuple(indices), values, accumulate)
    calls = _adds if accumulate else _puts
    return run_into(calls["IndexPutBackward0"], self, [self, values, *indices], ARRAY * len(indices))
