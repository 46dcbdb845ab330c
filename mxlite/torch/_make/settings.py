"""Names that have one answer for real numbers on the CPU; settings; windows; tensors of given strides."""

from __future__ import annotations

import math
import os
from typing import Any, Callable

import numpy as np

from mxlite._lib import LIB
from mxlite.torch import _dtypes
from mxlite.torch._basic import from_values, full_of, meta_of, zeros_of
from mxlite.torch._calls import both, check_call, function, functions, method, methods
from mxlite.torch._convert import as_float, cast
from mxlite.torch._errors import warn
from mxlite.torch._gradient import exchange
from mxlite.torch._kinds import check_dim, extents_of, here, set_default_device
from mxlite.torch._make.creation import finish, options
from mxlite.torch._math.norms import vector_norm
from mxlite.torch._math.products import diff
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import cat
from mxlite.torch._shape.shapes import as_strided, permute
from mxlite.torch._shape.slices import narrow
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor

for _name in ("real", "resolve_neg", "resolve_conj", "conj"):
    both(_name, document="The tensor itself, of real numbers.")(lambda input: input)
for _name in ("is_neg", "is_conj"):
    both(_name, document="False, of real numbers.")(lambda input: False)
for _name in ("is_pinned", "is_shared"):
    method(_name, document="False: memory is the process's own.")(lambda self: False)
method("real")(property(lambda self: self, doc="The tensor itself."))
method("is_cpu")(property(lambda self: not self.is_meta, doc="Whether it is on the CPU."))
both("isreal", document="True for each element.")(lambda input: (input == input) | True)
both("is_same_size", document="Whether two tensors have one shape.")(lambda input, other: input.shape == other.shape)
function("is_signed", document="Whether numbers of the dtype may be negative.")(lambda input: input.is_signed())
function("fill", document="A tensor of one number, as `input`.")(lambda input, value: input.clone().fill_(value))
function("typename", document="The name of a thing's type.")(
    lambda obj: obj.type() if isinstance(obj, Tensor) else f"{type(obj).__module__}.{type(obj).__qualname__}"
)
function("norm_except_dim", document="The norms of the parts along a dimension.")(
    lambda v, pow=2, dim=0: vector_norm(v, pow, tuple(k for k in range(v.ndim) if k != dim % v.ndim), True)
)


@both()
def angle(input: Tensor) -> Tensor:
    """0, of numbers below 0 pi; NaN of NaN."""
    compute = lambda x: choose(x == x, cast(x < 0, x._dtype) * math.pi, x)  # noqa: E731
    return formula("AngleBackward0", [as_float(input)], compute, lambda grad: [grad * 0])


# ---- settings ----

_settings: dict[str, Any] = {
    "threads": os.cpu_count() or 1,
    "between": 1,
    "matmul": "highest",
    "deterministic": False,
    "warn": False,
}


def _setting(key: str, get: str, put: str, document: str, kinds: Any) -> None:
    """A setting that is kept; the number of threads alone has an effect."""

    def setter(value: Any, **_: Any) -> None:
        if not isinstance(value, kinds) or (kinds is int and value < 1):
            raise (RuntimeError if isinstance(value, kinds) else TypeError)(f"{put}: got {value!r}")
        _settings[key] = value
        if key == "threads":
            check_call(LIB.MXSetNumOMPThreads(value))

    function(get, document=document)(lambda: _settings[key])
    function(put, document=f"Sets what {get} says.")(setter)


_setting("matmul", "get_float32_matmul_precision", "set_float32_matmul_precision", "The precision of products.", str)
_setting("deterministic", "are_deterministic_algorithms_enabled", "use_deterministic_algorithms", "A flag.", bool)
_setting("warn", "is_warn_always_enabled", "set_warn_always", "A flag.", bool)
_setting("between", "get_num_interop_threads", "set_num_interop_threads", "Operators at a time.", int)
_setting("threads", "get_num_threads", "set_num_threads", "Threads of one operator.", int)
function("is_deterministic_algorithms_warn_only_enabled", document="False.")(lambda: False)
function("get_deterministic_debug_mode", document="0, or 2: operations may, or must not, differ from run to run.")(
    lambda: 2 * _settings["deterministic"]
)
function("get_default_device", document="Where functions that create tensors put them.")(here)
function("set_default_device")(set_default_device)
function("set_flush_denormal", document="False: numbers near 0 stay what they are.")(lambda mode: False)


# ---- windows ----


def _window(name: str, make: Callable, *defaults: float) -> None:
    @function(f"{name}_window", document=f"The window {name} of a length; periodic: its first part of one more.")
    def window(window_length: int, periodic: bool = True, *args: float, **given: Any) -> Tensor:
        keys = ("beta",) if name == "kaiser" else ("alpha", "beta")
        named = [given.pop(key, value) for key, value in zip(keys, defaults)]
        kind, requires_grad = options(f"{name}_window", given)
        if window_length < 0:
            raise RuntimeError(f"{name}_window: the length is 0 or more, got {window_length}")
        values = (
            make(window_length + bool(periodic), *(*args, *named[len(args) :])) if window_length > 1 else np.ones(1)
        )
        return finish(from_values(np.asarray(values[:window_length]), kind), requires_grad)


_window("hann", np.hanning)
_window("bartlett", np.bartlett)
_window("blackman", np.blackman)
_window("kaiser", np.kaiser, 12.0)
_window("hamming", lambda n, a, b: a - b * np.cos(2 * np.pi * np.arange(n) / (n - 1)), 0.54, 0.46)


# ---- memory ----


@function()
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A tensor over the memory of an object of bytes."""
    if memoryview(buffer).readonly:
        warn("frombuffer: the memory may not be written, and tensors may: this one has a copy")
    values = np.frombuffer(buffer, _dtypes.as_dtype(dtype).np, count, offset)
    return finish(functions["from_numpy"](values if values.flags.writeable else values.copy()), requires_grad)


@function()
def empty_strided(size: Any, stride: Any, **given: Any) -> Tensor:
    """A tensor of any values with steps in memory."""
    kind, requires_grad = options("empty_strided", given)
    span = 1 + sum((extent - 1) * step for extent, step in zip(size, stride)) if math.prod(size) else 0
    made = (zeros_of if requires_grad < 2 else meta_of)((span,), kind)
    return finish(as_strided(made, size, stride), requires_grad & 1)


@function()
def empty_permuted(size: Any, physical_layout: Any, **given: Any) -> Tensor:
    """A tensor of any values whose dimensions lie in memory in an order, the outermost first."""
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(f"empty_permuted: each of {len(size)} dimensions has a place, got {physical_layout}")
    kind, wish = options("empty_permuted", given)
    made = (zeros_of if wish < 2 else meta_of)(tuple(size[dim] for dim in physical_layout), kind)
    return finish(permute(made, [physical_layout.index(dim) for dim in range(len(size))]).detach(), wish & 1)


@method()
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Gives the tensor another shape; its first elements stay. (Larger ones are in new memory.)"""
    shape = extents_of("resize_", sizes)
    if self.requires_grad:
        raise RuntimeError("resize_: a tensor that requires a gradient keeps its shape")
    if shape == tuple(self.shape):
        return self
    row, count = self.reshape(-1), math.prod(shape)
    if count > row.numel():
        row = cat([row, zeros_of((count - row.numel(),), self._dtype)])
    exchange(self, narrow(row, 0, 0, count).reshape(shape))
    return self


@both()
def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Makes the tensor a view of its memory in a shape over steps. Raises: RuntimeError: it requires a gradient."""
    if self.requires_grad:
        raise RuntimeError("as_strided_: a tensor that requires a gradient keeps its shape")
    exchange(self, as_strided(self, size, stride, storage_offset))
    return self


method("resize_as_", document="resize_ to the shape of another.")(lambda self, other: resize_(self, *other.shape))
functions["resize_as_"] = methods["resize_as_"]


def _mapped(name: str, document: str) -> None:
    @method(name, document=document)
    def mapped(self: Tensor, *given: Any) -> Tensor:
        *others, call = given
        if self.requires_grad:
            raise RuntimeError(f"{name}: what a Python function makes of elements has no gradient; detach() the tensor")
        values = (each._values().ravel().tolist() for each in (self, *(each.expand(self.shape) for each in others)))
        try:
            found = np.array([call(*each) for each in zip(*values)], self._dtype.np).reshape(tuple(self.shape))
        except OverflowError as problem:
            raise ValueError(f"{name}: a result is beyond {self._dtype.word}") from problem
        return self.copy_(from_values(found))


_mapped("apply_", "What a Python function makes of each element, in its place.")
_mapped("map_", "What a Python function makes of each element and that of another tensor, in its place.")
_mapped("map2_", "What a Python function makes of each element and those of two tensors, in its place.")


# ---- slopes ----


def _slope(x: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    size = x.shape[dim]
    if size <= edge_order:
        raise RuntimeError(f"gradient: dimension {dim} has {size} elements, expected more than {edge_order}")
    if isinstance(step, Tensor):
        widths = diff(step).reshape(tuple(-1 if k == dim else 1 for k in range(x.ndim)))
    else:
        widths = full_of(tuple(size - 1 if k == dim else 1 for k in range(x.ndim)), step, x._dtype)
    slopes = diff(x, 1, dim) / widths
    part = lambda t, start, count: narrow(t, dim, start, count)  # noqa: E731
    (a, b), (before, after) = ([part(t, k, size - 2) for k in (0, 1)] for t in (widths, slopes))
    ends = [part(slopes, 0, 1), part(slopes, size - 2, 1)]
    if edge_order == 2:
        for k, (near, far) in enumerate(((0, 1), (size - 2, size - 3))):
            near_width, far_width = part(widths, near, 1), part(widths, far, 1)
            ends[k] = ends[k] + (ends[k] - part(slopes, far, 1)) * near_width / (near_width + far_width)
    return cat([ends[0], (b * before + a * after) / (a + b), ends[1]], dim)


@function()
def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> list[Tensor]:
    """The slopes along each dimension (or some), of neighbours; `spacing`: their distances, or places."""
    dims = range(input.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    if edge_order not in (1, 2) or not input.shape:
        raise (RuntimeError if input.shape else IndexError)(f"gradient: edge_order is 1 or 2, got {edge_order}")
    steps = spacing if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    x = input if input._dtype.is_floating_point else input * 1.0
    return [_slope(x, check_dim(each, input.ndim), step, edge_order) for each, step in zip(dims, steps)]
