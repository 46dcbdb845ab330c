"""`torch.nn.parameter`: Parameter, a tensor that a module counts among its own."""

from __future__ import annotations

from typing import Any

from mxlite._lib import hot
from mxlite._public import show as _show
from mxlite.torch._dtypes import get_default_dtype
from mxlite.torch._make.creation import empty_of
from mxlite.torch._tensor import Tensor


class Parameter(Tensor):
    """A tensor that wants a gradient unless it is told otherwise."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        tensor = empty_of((0,), get_default_dtype()) if data is None else data.detach()
        return Tensor._as_class(cls, tensor).requires_grad_(requires_grad)

    def __deepcopy__(self, memo: dict) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


hot.set_plain(Tensor, Parameter)


class _Buffers(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and "_persistent" in value.__dict__


class Buffer(metaclass=_Buffers):
    """Buffer(tensor) is the tensor itself, which a module that gets it as an attribute registers as a buffer."""

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        made = empty_of((0,), get_default_dtype()) if data is None else data.detach().requires_grad_(data.requires_grad)
        made._persistent = persistent  # type: ignore[attr-defined]
        return made


class UninitializedParameter(Parameter):
    """A parameter whose shape is not known yet."""

    def __repr__(self) -> str:
        return "<UninitializedParameter>"

    __str__ = __repr__


_show(globals())
