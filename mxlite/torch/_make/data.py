"""Tensors from Python's numbers, nested sequences and NumPy: torch.tensor, as_tensor, from_numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._memory import over_memory
from mxlite.torch._basic import empty_of, from_values, meta_of
from mxlite.torch._calls import adopt, function, last_error, method, prepare, run
from mxlite.torch._convert import cast, moved
from mxlite.torch._dtypes import (
    DTYPES,
    INTEGER,
    OF_NUMPY,
    as_dtype,
    dtype,
    dtype_of_numpy,
    get_default_dtype,
    iinfo,
    scalar_dtype,
)
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._errors import warn, wrong_argument
from mxlite.torch._kinds import Size, extents_of, on_meta, require_cpu
from mxlite.torch._make.creation import finish, options
from mxlite.torch._tensor import Tensor

_as_strided = prepare(None, "_mxl_as_strided", "shape", "strides", "skip")


def _leaves(data: Any) -> list:
    """The numbers of nested sequences; tensors within count as their values."""
    return [leaf for each in data for leaf in _leaves(each)] if isinstance(data, (list, tuple)) else [data]


def _listed(data: Any) -> Any:
    """Nested sequences with a list in the place of each range."""
    if isinstance(data, (list, tuple)) and any(isinstance(each, (list, tuple, range)) for each in data):
        return [_listed(each) for each in data]
    return list(data) if isinstance(data, range) else data


def _plain(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.item() if data.numel() == 1 else data.tolist()
    return [_plain(each) for each in data] if isinstance(data, (list, tuple)) else data


def _check_regular(data: Any, dim: int = 0) -> None:
    """Raises: ValueError: sequences of different lengths; TypeError: sequences beside numbers."""
    if not isinstance(data, (list, tuple)) or not data:
        return
    if not isinstance(data[0], (list, tuple)):
        if any(isinstance(each, (list, tuple)) for each in data):
            raise TypeError(f"numbers and sequences are side by side in dimension {dim}")
        return
    length = len(data[0])
    for each in data:
        if not isinstance(each, (list, tuple)):
            raise TypeError(f"numbers and sequences are side by side in dimension {dim}")
        if len(each) != length:
            raise ValueError(f"sequences are of one length in dimension {dim + 1}, got {length} and {len(each)}")
        _check_regular(each, dim + 1)


def _dtype_of(leaf: Any) -> dtype:
    if isinstance(leaf, str):
        raise TypeError("an element is a number, got str")
    if isinstance(leaf, Tensor):
        return leaf._dtype
    if isinstance(leaf, (bool, int, float)) and not isinstance(leaf, np.generic):
        return scalar_dtype(leaf)
    if hasattr(leaf, "__array__"):
        return dtype_of_numpy(np.asarray(leaf).dtype)
    raise RuntimeError(f"an element is a number, got {type(leaf).__name__}")


def values_of(data: Any, kind: dtype | None) -> np.ndarray:
    """A NumPy array, of a dtype that tensors have, of numbers, nested sequences, NumPy arrays and tensors.

    Raises: TypeError, ValueError, RuntimeError, as torch.tensor.
    """
    if isinstance(data, (Tensor, np.ndarray, np.generic)):
        values = data._values() if isinstance(data, Tensor) else np.asarray(data)
        return values.astype((dtype_of_numpy(values.dtype) if kind is None else kind).np, copy=False)
    if data.__class__ is list and set(map(type, data)) == {float} and (kind is None or kind.is_floating_point):
        return np.array(data, dtype=(kind or get_default_dtype()).np)
    if data.__class__ is list and data and all(isinstance(each, np.ndarray) for each in data):
        warn("tensor: a list of NumPy arrays is slow; np.array() of it is not")
    data = _listed(data)
    leaves = _leaves(data)
    found = max(map(_dtype_of, leaves), key=lambda each: (each.kind, each.itemsize), default=None)
    kind = kind or found or get_default_dtype()
    _check_regular(data)
    if any(isinstance(leaf, Tensor) for leaf in leaves):
        data = _plain(data)
    if kind.kind != INTEGER:
        return np.array(data, dtype=kind.np)
    values = np.array(data)
    if values.dtype == object:
        raise ValueError("an element does not fit in 64 bits")
    lowest = -iinfo(kind).max if kind is _uint8 else iinfo(kind).min
    if values.size and (values.max() > iinfo(kind).max or values.min() < lowest):
        wrong = values[(values > iinfo(kind).max) | (values < lowest)]
        raise RuntimeError(f"the number {wrong.flat[0]} is outside the range of dtype {kind.word}")
    return values.astype(kind.np)


@function()
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **other: Any) -> Tensor:
    """A tensor with a copy of numbers, nested sequences of them, a NumPy array or a tensor.

    Args:
        dtype: None: float32 (the default dtype) for Python's floats, int64 for its integers, bool; NumPy's own.
        requires_grad: Whether it wants a gradient.
    """
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(data, Tensor):
        warn("tensor: to copy a tensor, use clone().detach(), and requires_grad_() where a gradient is wanted")
        if data.is_meta:
            return finish(meta_of(data.shape, kind or data._dtype), bool(requires_grad))
    wish = options("tensor", {"device": device, **other})[1] if other else 2 * on_meta(device)
    return finish(from_values(values_of(data, kind), kind), wish | bool(requires_grad))


@method()
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """As torch.tensor, with the dtype of this tensor unless `dtype` says otherwise."""
    kind, where = self._dtype if dtype is None else dtype, self.device if device is None else device
    return tensor(data, dtype=kind, device=where, requires_grad=requires_grad)


@function("as_tensor", "asarray")
def as_tensor(data: Any, dtype: Any = None, device: Any = None, **other: Any) -> Tensor:
    """`data` itself where it is a tensor of that dtype; shares the memory of a NumPy array; else as torch.tensor."""
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(data, Tensor):
        return data if kind is None and device is None else moved(data if kind is None else cast(data, kind), device)
    _, wish = options("as_tensor", {"device": device, **other})
    if wish:
        return tensor(data, dtype=kind, device=device, **other)
    if isinstance(data, np.ndarray) and (kind is None or OF_NUMPY.get(data.dtype) is kind) and data.flags.c_contiguous:
        return from_numpy(data)
    return tensor(data, dtype=kind)


@function()
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array, with its strides (a copy, where it may not be written).

    Raises: TypeError: no NumPy array, or of a dtype that tensors have not; ValueError: a stride below 0, or one of
        parts of elements, or another byte order.
    """
    if not isinstance(ndarray, np.ndarray):
        raise wrong_argument("from_numpy", "ndarray", 1, "numpy.ndarray", ndarray)
    if not ndarray.dtype.isnative:
        raise ValueError("from_numpy: the byte order of the array is not this machine's")
    kind = dtype_of_numpy(ndarray.dtype)
    if not ndarray.flags.writeable:
        warn("from_numpy: the array may not be written, and tensors may: this one has a copy")
    if any(stride < 0 for stride in ndarray.strides):
        raise ValueError("from_numpy: a stride of the array is negative; copy() has none")
    if any(stride % kind.itemsize for stride in ndarray.strides):
        raise ValueError("from_numpy: a stride of the array is not whole elements")
    if not ndarray.flags.aligned or not ndarray.flags.writeable or ndarray.size == 0:
        return from_values(ndarray)
    steps = tuple(stride // kind.itemsize for stride in ndarray.strides)
    last = sum(step * (size - 1) for step, size in zip(steps, ndarray.shape))
    flat = adopt(over_memory(ndarray, (last + 1,), kind.flag, last_error), kind)
    # The library's memory is in C order: what is not is a view of all that lies between the first and the last element.
    return run(_as_strided, [flat], ndarray.shape, steps, 0, kind=kind)


# ---- classes of tensors, called ----


@method("__new__")
@staticmethod
def _new(cls: type, *args: Any, **kwargs: Any) -> Tensor:
    """The result of calling the class Tensor: a tensor of a sequence, or of a shape with any values."""
    require_cpu(kwargs.pop("device", None))
    if kwargs:
        raise TypeError(f"Tensor: there is no argument {next(iter(kwargs))!r}")
    shared = len(args) == 1 and isinstance(args[0], Tensor)
    return Tensor._as_class(cls, args[0].detach() if shared else of_class("new", get_default_dtype(), args))


def of_class(name: str, kind: dtype, args: tuple) -> Tensor:
    """A tensor of a dtype: of a sequence, or of a shape with any values."""
    if len(args) == 1 and not isinstance(args[0], (int, Size)):
        return tensor(args[0], dtype=kind)
    return empty_of(extents_of(name, args or (0,)), kind)


class _Typed(type):
    """The class of torch.FloatTensor and its kin: called they make a tensor; instances are tensors of the dtype."""

    of_elements: dtype

    def __call__(cls, *args: Any) -> Tensor:
        return of_class(cls.__name__, cls.of_elements, args)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance._dtype is cls.of_elements


for _kind in DTYPES:
    _document = f"A tensor of {_kind}, of a sequence, or with any values of a shape."
    _name = f"{_kind.word}Tensor"
    function(_name)(_Typed(_name, (), {"__doc__": _document, "__module__": "mxlite.torch", "of_elements": _kind}))
