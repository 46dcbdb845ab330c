"""Tensors of other libraries' memory and of files, and tensors like a tensor under older names."""

from __future__ import annotations

import math
import os
from importlib import import_module
from typing import Any

import numpy as np

from mxlite._lib import LIB
from mxlite.torch._basic import alias, from_values
from mxlite.torch._calls import adopt, check_call, function, functions, method
from mxlite.torch._dtypes import as_dtype, float64, get_default_dtype, set_default_dtype
from mxlite.torch._errors import warn_of_old, wrong_argument
from mxlite.torch._make.creation import finish, options
from mxlite.torch._make.data import from_numpy, of_class
from mxlite.torch._tensor import Tensor


@function()
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor over the memory of another library's array, or of a DLPack capsule, which can be taken once.

    Raises: BufferError: the array is not on the CPU.
    """
    if isinstance(ext_tensor, Tensor):
        made = ext_tensor.detach()
    elif isinstance(ext_tensor, np.ndarray):
        made = from_numpy(ext_tensor)
    elif not hasattr(ext_tensor, "__dlpack__") and type(ext_tensor).__name__ != "PyCapsule":
        raise RuntimeError(f"from_dlpack: takes an array with __dlpack__, or a capsule, got {ext_tensor!r}")
    else:
        taken = import_module("mxlite.ndarray.exchange").from_dlpack(ext_tensor)
        made = adopt(taken._h)
        taken._h = 0  # `made` has it
    return made.clone() if copy else made


@function()
def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of the tensor's memory. One consumer can take it, and may write to the memory."""
    if tensor.is_meta:
        raise BufferError("to_dlpack: a tensor on the meta device has no memory")
    check_call(LIB.MXLNDArrayBumpVersion(tensor._h))
    return import_module("mxlite.ndarray._capsules").to_dlpack_for_read(tensor)


@method("__dlpack__")
def _dlpack(
    self: Tensor, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
) -> Any:
    """As torch.to_dlpack; copy: of a copy. Raises: BufferError: the tensor requires a gradient."""
    if stream is not None or (dl_device is not None and tuple(dl_device) != (1, 0)):
        raise BufferError("__dlpack__: tensors are on the CPU, (1, 0), which has no streams")
    if self.requires_grad:
        raise BufferError("__dlpack__: the tensor requires a gradient; give detach()")
    return to_dlpack(self.clone() if copy else self)


method("__dlpack_device__", document="(1, 0): the CPU.")(lambda self: (1, 0))


@function()
def from_file(filename: str, shared: bool | None = None, size: int = 0, *, dtype: Any = None, **given: Any) -> Tensor:
    """A tensor of `size` elements over a file; shared: writes go to the file, which is made where there is none."""
    kind = get_default_dtype() if dtype is None else as_dtype(dtype)
    if shared:
        with open(filename, "ab") as file:
            file.truncate(max(os.path.getsize(filename), size * kind.itemsize))
    return from_numpy(np.memmap(filename, kind.np, "r+" if shared else "c", 0, (size,)))


@function("range")
def _range(start: Any, end: Any, step: Any = 1, **given: Any) -> Tensor:
    """From start to end, which is in it, by steps."""
    warn_of_old("range", "arange, which ends before its end")
    kind, requires_grad = options("range", given)
    if step == 0 or (end - start) * step < 0 or not math.isfinite(end - start):
        raise RuntimeError(f"range: steps of {step} do not lead from {start} to {end}")
    places = np.arange(int((end - start) / step) + 1)
    whole = not kind.is_floating_point
    return finish(from_values((start + places * step).astype(kind.np if whole else float64.np), kind), requires_grad)


method("new", document="A tensor of this dtype: of a shape with any values, of a sequence, or over another tensor.")(
    lambda self, *args: args[0].detach() if args and isinstance(args[0], Tensor) else of_class("new", self._dtype, args)
)
method("new_empty_strided", document="As torch.empty_strided, of this dtype unless `dtype` says otherwise.")(
    lambda self, size, stride, **given: functions["empty_strided"](size, stride, **{"dtype": self._dtype, **given})
)


@method()
def as_subclass(self: Tensor, cls: type) -> Tensor:
    """The same memory as an object of a subclass of Tensor, recorded as a view."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise wrong_argument("as_subclass", "cls", 1, "subclass of Tensor", cls)
    return Tensor._as_class(cls, alias(self))


@function()
def set_default_tensor_type(t: Any) -> None:
    """The dtype of floats that are given none, by a class as torch.DoubleTensor, or its name."""
    warn_of_old("set_default_tensor_type", "set_default_dtype and set_default_device")
    named = functions.get(t.rsplit(".", 1)[-1]) if isinstance(t, str) else t
    if not hasattr(named, "of_elements"):
        raise TypeError(f"set_default_tensor_type: {t!r} is no class of tensors")
    set_default_dtype(named.of_elements)
