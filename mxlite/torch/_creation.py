"""Tensors from nothing, from Python's numbers and from NumPy."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from mxlite._lib import LIB
from mxlite.torch._calls import adopt, function, last_error, method, prepare, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import (
    DTYPES,
    INTEGER,
    as_dtype,
    dtype,
    dtype_of_numpy,
    get_default_dtype,
    iinfo,
    int64,
    scalar_dtype,
)
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._kinds import Size, extents_of, require_cpu, require_strided
from mxlite.torch._tensor import Tensor, empty_of, filled, from_values, full_of, require_fits, zeros_of


def finish(tensor: Tensor, requires_grad: bool) -> Tensor:
    """A new tensor as the caller of a creating function gets it."""
    if requires_grad:
        if not tensor._dtype.is_floating_point:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        tensor.requires_grad_()
    return tensor


def options(name: str, given: dict[str, Any], default: dtype | None = None) -> tuple[dtype, bool]:
    """The dtype and `requires_grad` of the keyword arguments that all creating functions have.

    Raises: TypeError: an unknown one.
    """
    require_cpu(given.pop("device", None))
    require_strided(given.pop("layout", None))
    for each in ("pin_memory", "memory_format", "generator", "names"):
        if given.pop(each, None):
            raise NotImplementedError(f"mxlite.torch: {name}() has no {each}")
    kind = given.pop("dtype", None)
    requires_grad = bool(given.pop("requires_grad", False))
    if given:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(given))}'")
    if kind is None:
        kind = get_default_dtype() if default is None else default
    return as_dtype(kind), requires_grad


def shape_of(name: str, size: tuple, given: dict[str, Any]) -> tuple[int, ...]:
    """The shape that is given as f(2, 3), f((2, 3)) or f(size=(2, 3)).

    Raises: TypeError: none; RuntimeError: an extent below 0.
    """
    if "size" in given:
        size = (given.pop("size"),)
    elif not size:
        raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
    shape = extents_of(name, size)
    if any(extent < 0 for extent in shape):
        raise RuntimeError(f"{name}: Dimension size must be non-negative.")
    return shape


# ---- from numbers ----


def _leaves(data: Any) -> list:
    """The numbers of nested sequences; tensors within stand for what they hold."""
    if isinstance(data, (list, tuple)):
        return [leaf for each in data for leaf in _leaves(each)]
    return [data]


def _check_regular(data: Any, dim: int = 0) -> None:
    """Raises: ValueError: sequences of different lengths, in PyTorch's words."""
    if not isinstance(data, (list, tuple)) or not data:
        return
    if not isinstance(data[0], (list, tuple)):
        if any(isinstance(each, (list, tuple)) for each in data):
            raise TypeError("must be real number, not list")
        return
    length = len(data[0])
    for each in data:
        if not isinstance(each, (list, tuple)):
            raise TypeError(f"expected a sequence, got {type(each).__name__}")
        if len(each) != length:
            raise ValueError(f"expected sequence of length {length} at dim {dim + 1} (got {len(each)})")
        _check_regular(each, dim + 1)


def values_of(data: Any, kind: dtype | None) -> np.ndarray:
    """A NumPy array, of a dtype that tensors have, of numbers, nested sequences, NumPy arrays and tensors.

    Raises: TypeError, ValueError, RuntimeError, as torch.tensor.
    """
    if isinstance(data, Tensor):
        values = data._values()
    elif isinstance(data, (np.ndarray, np.generic)):
        values = np.asarray(data)
    else:
        return _values_of_python(data, kind)
    return values.astype((dtype_of_numpy(values.dtype) if kind is None else kind).np, copy=False)


def _values_of_python(data: Any, kind: dtype | None) -> np.ndarray:
    leaves = _leaves(data)
    found = None
    for leaf in leaves:
        if isinstance(leaf, str):
            raise TypeError("new(): invalid data type 'str'")
        if isinstance(leaf, (Tensor, np.ndarray, np.generic)):
            one = leaf._dtype if isinstance(leaf, Tensor) else dtype_of_numpy(leaf.dtype)
        elif isinstance(leaf, (bool, int, float)):
            one = scalar_dtype(leaf)
        elif hasattr(leaf, "__array__"):
            one = dtype_of_numpy(np.asarray(leaf).dtype)
        else:
            raise RuntimeError(f"Could not infer dtype of {type(leaf).__name__}")
        if found is None or one.kind > found.kind or (one.kind == found.kind and one.itemsize > found.itemsize):
            found = one
    kind = kind or found or get_default_dtype()
    _check_regular(data)
    if any(isinstance(leaf, Tensor) for leaf in leaves):
        data = _plain(data)
    if kind.kind != INTEGER:
        return np.array(data, dtype=kind.np)
    values = np.array(data)
    if values.dtype == object:
        raise ValueError("Overflow when unpacking long long")
    lowest = -iinfo(kind).max if kind is _uint8 else iinfo(kind).min
    if values.size and (values.max() > iinfo(kind).max or values.min() < lowest):
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow")
    return values.astype(kind.np)


def _plain(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.item() if data.numel() == 1 else data.tolist()
    return [_plain(each) for each in data] if isinstance(data, (list, tuple)) else data


@function()
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **other: Any) -> Tensor:
    """A tensor with a copy of numbers, nested sequences of them, a NumPy array or a tensor.

    Args:
        dtype: None: float32 (the default dtype) for Python's floats, int64 for its integers, bool; NumPy's own.
        requires_grad: Whether it wants a gradient.
    """
    options("tensor", {"device": device, **other})
    kind = None if dtype is None else as_dtype(dtype)
    return finish(from_values(values_of(data, kind)), requires_grad)


@function("as_tensor", "asarray")
def as_tensor(data: Any, dtype: Any = None, device: Any = None, **other: Any) -> Tensor:
    """`data` itself where it is a tensor of that dtype; shares the memory of a NumPy array; else as torch.tensor."""
    options("as_tensor", {"device": device, **other})
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(data, Tensor):
        return data if kind is None else cast(data, kind)
    if isinstance(data, np.ndarray) and (kind is None or kind.np == data.dtype) and data.flags.c_contiguous:
        return from_numpy(data)
    return tensor(data, dtype=kind)


@function()
def scalar_tensor(s: Any, **given: Any) -> Tensor:
    """A tensor without dimensions, of the default dtype."""
    kind, requires_grad = options("scalar_tensor", given)
    return finish(filled((), s, kind), requires_grad)


_holders: dict[int, np.ndarray] = {}
_RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_holders.__delitem__)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_RELEASE))


@function()
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array, with its strides (a copy, where it may not be written).

    Raises: TypeError: no NumPy array, or of a dtype that tensors have not; ValueError: a stride below 0, or one of
        parts of elements, or another byte order.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if not ndarray.dtype.isnative:
        raise ValueError("given numpy array has byte order different from the native byte order.")
    kind = dtype_of_numpy(ndarray.dtype)
    if any(stride < 0 for stride in ndarray.strides):
        raise ValueError("At least one stride in the given numpy array is negative: make a copy of it with .copy()")
    if any(stride % kind.itemsize for stride in ndarray.strides):
        raise ValueError("given numpy array strides not a multiple of the element byte size.")
    if not ndarray.flags.aligned or not ndarray.flags.writeable or ndarray.size == 0:
        return from_values(ndarray)
    steps = tuple(stride // kind.itemsize for stride in ndarray.strides)
    last = sum(step * (extent - 1) for step, extent in zip(steps, ndarray.shape))
    flat = _over_memory(ndarray, kind, last + 1)
    # The library's memory is in C order: what is not is a view of all that lies between the first and the last element.
    return run(prepare(None, "_mxl_as_strided", "shape", "strides", "skip"), [flat], ndarray.shape, steps, 0, kind=kind)


def _over_memory(ndarray: np.ndarray, kind: dtype, count: int) -> Tensor:
    """A tensor of one dimension over an array's memory, which it keeps."""
    number = id(ndarray)
    while number in _holders:
        number += 1
    _holders[number] = ndarray
    handle = LIB.MXLNDArrayFromMemory(ndarray.ctypes.data, 1, (ctypes.c_int64 * 1)(count), kind.flag, _RELEASE, number)
    if not handle:
        problem = last_error()
        del _holders[number]
        raise problem
    return adopt(handle, kind)


@method("__new__")
@staticmethod
def _new(cls: type, *args: Any, **kwargs: Any) -> Tensor:
    """What calling the class Tensor makes: of a sequence, or any values of a shape."""
    require_cpu(kwargs.pop("device", None))
    if kwargs:
        raise TypeError(f"new() received an invalid keyword argument: {next(iter(kwargs))}")
    if not args:
        made = empty_of((0,), get_default_dtype())
    elif len(args) == 1 and not isinstance(args[0], (int, Size)):
        made = args[0].detach() if isinstance(args[0], Tensor) else tensor(args[0], dtype=get_default_dtype())
    else:
        made = empty_of(extents_of("new", args), get_default_dtype())
    return Tensor._as_class(cls, made)


# ---- of one number ----


@function()
def zeros(*size: Any, **given: Any) -> Tensor:
    """Zeros: zeros(2, 3), zeros((2, 3))."""
    shape = shape_of("zeros", size, given)
    kind, requires_grad = options("zeros", given)
    return finish(zeros_of(shape, kind), requires_grad)


@function()
def ones(*size: Any, **given: Any) -> Tensor:
    """Ones: ones(2, 3), ones((2, 3))."""
    shape = shape_of("ones", size, given)
    kind, requires_grad = options("ones", given)
    return finish(full_of(shape, 1, kind), requires_grad)


@function()
def empty(*size: Any, **given: Any) -> Tensor:
    """Any values: empty(2, 3), empty((2, 3))."""
    shape = shape_of("empty", size, given)
    kind, requires_grad = options("empty", given)
    return finish(empty_of(shape, kind), requires_grad)


@function()
def full(size: Any, fill_value: Any, **given: Any) -> Tensor:
    """One number; its dtype is that of the number unless `dtype` says otherwise."""
    kind, requires_grad = options("full", given, scalar_dtype(fill_value))
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return finish(filled(shape_of("full", (size,), {}), value, kind), requires_grad)


def _like(name: str, make: Any) -> None:
    def like(input: Tensor, *values: Any, **given: Any) -> Tensor:
        kind, requires_grad = options(name, given, input._dtype)
        return finish(make(tuple(input.shape), *values, kind), requires_grad)

    like.__name__ = name
    like.__doc__ = f"As {name[:-5]}, with the shape and, unless `dtype` says otherwise, the dtype of `input`."
    function(name)(like)

    def new(self: Tensor, *size: Any, **given: Any) -> Tensor:
        count = 1 if name == "full_like" else 0
        values = size[len(size) - count :] if count and "fill_value" not in given else ()
        if count and "fill_value" in given:
            values = (given.pop("fill_value"),)
        else:
            size = size[: len(size) - count]
        shape = shape_of(name, size, given)
        kind, requires_grad = options(name, given, self._dtype)
        return finish(make(shape, *values, kind), requires_grad)

    new.__name__ = f"new_{name[:-5]}"
    new.__doc__ = f"As torch.{name[:-5]}, with the dtype of this tensor unless `dtype` says otherwise."
    method(new.__name__)(new)


_like("zeros_like", zeros_of)
_like("ones_like", lambda shape, kind: full_of(shape, 1, kind))
_like("empty_like", empty_of)
_like("full_like", filled)


@method()
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """As torch.tensor, with the dtype of this tensor unless `dtype` says otherwise."""
    return tensor(data, dtype=self._dtype if dtype is None else dtype, device=device, requires_grad=requires_grad)


# ---- ranges ----


@function()
def arange(*bounds: Any, **given: Any) -> Tensor:
    """From a start (0) to before an end, by steps (1): arange(5), arange(1, 5), arange(0, 1, 0.25)."""
    start, end, step = _bounds(bounds, given)
    numbers = [number.item() if isinstance(number, Tensor) else number for number in (start, end, step)]
    whole = all(isinstance(number, (int, np.integer)) for number in numbers)
    kind, requires_grad = options("arange", given, int64 if whole else None)
    start, end, step = numbers
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = -((start - end) // step) if whole else math.ceil((end - start) / step)
    if kind.is_floating_point:
        values = (start + np.arange(count, dtype=np.float64) * step).astype(kind.np)
    else:
        values = (np.arange(count) * step + start).astype(kind.np)
    return finish(from_values(values), requires_grad)


def _bounds(bounds: tuple, given: dict[str, Any]) -> tuple:
    start, step = given.pop("start", 0), given.pop("step", 1)
    if "end" in given:
        bounds = (*bounds, given.pop("end")) if not bounds else (bounds[0], given.pop("end"), *bounds[1:])
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"arange() takes from 1 to 3 positional arguments but {len(bounds)} were given")
    if len(bounds) == 1:
        return start, bounds[0], step
    return bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else step


@function()
def linspace(start: Any, end: Any, steps: int, **given: Any) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, equally far apart."""
    kind, requires_grad = options("linspace", given)
    _require_steps("linspace", kind)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if not kind.is_floating_point:
        start, end = _integers(start, end, steps, kind)
    # Counted from the nearer end, so that both ends are exact.
    step = (end - start) / (steps - 1) if steps > 1 else 0.0
    place = np.arange(steps, dtype=np.float64)
    values = np.where(place < steps // 2, start + step * place, end - step * (steps - 1 - place))
    if steps == 1:
        values = np.array([start], np.float64)
    return finish(from_values(values.astype(kind.np)), requires_grad)


@function()
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **given: Any) -> Tensor:
    """`steps` powers of `base`, with exponents from `start` to `end`."""
    kind, requires_grad = options("logspace", given)
    _require_steps("logspace", kind)
    if not kind.is_floating_point:
        start, end = _integers(start, end, steps, kind)
    exponents = linspace(start, end, steps, dtype=dtype_of_numpy(np.dtype("float64")))._values()
    return finish(from_values((base**exponents).astype(kind.np)), requires_grad)


def _integers(start: Any, end: Any, steps: int, kind: Any) -> tuple[int, int]:
    """Both ends as integers; the second one counts where there are several steps.

    Raises: RuntimeError: the dtype cannot hold one.
    """
    first = _wrapped(start, kind)
    return first, _wrapped(end, kind) if steps > 1 else first


def _wrapped(value: Any, kind: Any) -> int:
    return int(np.array(int(require_fits(value, kind))).astype(kind.np))


def _require_steps(name: str, kind: Any) -> None:
    if kind.name == "bool":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")


@function()
def eye(n: int, m: int | None = None, **given: Any) -> Tensor:
    """Ones on the diagonal of an n x m (m: n) matrix of zeros."""
    kind, requires_grad = options("eye", given)
    return finish(from_values(np.eye(n, m, dtype=kind.np)), requires_grad)


def _triangle_indices(name: str, find: Any) -> None:
    def indices(row: int, col: int, offset: int = 0, **given: Any) -> Tensor:
        kind, requires_grad = options(name, given, int64)
        return finish(from_values(np.stack(find(row, offset, col)).astype(kind.np)), requires_grad)

    indices.__name__ = name
    indices.__doc__ = "The rows and columns of the places of a triangle of a row x col matrix."
    function(name)(indices)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)


def _typed(name: str, kind: dtype) -> None:
    def make(*args: Any) -> Tensor:
        if len(args) == 1 and not isinstance(args[0], (int, Size)):
            return tensor(args[0], dtype=kind)
        return empty_of(extents_of(name, args or (0,)), kind)

    make.__name__ = name
    make.__doc__ = f"A tensor of {kind}, of a sequence, or with any values of a shape."
    function(name)(make)


for _name in ("Float", "Double", "Half", "Byte", "Char", "Int", "Long", "Bool"):
    _typed(_name + "Tensor", next(kind for kind in DTYPES if kind.word == _name))
