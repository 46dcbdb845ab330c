"""Variable, which is what tensors with gradients were once called; its `_execution_engine` is the engine."""

from __future__ import annotations

from typing import Any

from mxlite._public import show as _show
from mxlite.torch._errors import warn
from mxlite.torch._tensor import Tensor
from mxlite.torch.autograd._engine import ImperativeEngine, engine

__all__ = ["ImperativeEngine", "Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """Variable(tensor, requires_grad=True) is the tensor itself, as one that wants a gradient."""

    _execution_engine = engine

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        if data is None:
            return Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable: data is a tensor, got {type(data).__name__}")
        if volatile is not None:
            warn("Variable: volatile has no effect; use no_grad()")
        variable = data.detach()
        return variable.requires_grad_() if requires_grad else variable


_show(globals())
