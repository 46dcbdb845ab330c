"""add, sub and rsub with `alpha`, a factor of the second operand: one node of the graph, as in PyTorch."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.torch._calls import both, function, method, methods
from mxlite.torch._convert import as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL
from mxlite.torch._edits import edit
from mxlite.torch._math.arithmetic import require_no_truths, require_operands
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor


def _check_alpha(operand: Any, alpha: Any) -> None:
    if isinstance(alpha, bool) and operand._dtype.kind != BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and not operand._dtype.is_floating_point:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


def _combined(label: str, input: Any, other: Any, sign: int, alpha: Any) -> Tensor:
    """input + sign * alpha * other."""
    kind = common_dtype(input, other)
    first, second = as_tensor_of(input, kind), as_tensor_of(other, kind)
    if sign < 0:
        require_no_truths(kind, input, other)
    _check_alpha(first, alpha)
    if kind.kind == BOOL:
        return first + second if alpha else first.clone()
    by = sign * alpha
    return formula(label, [first, second], lambda x, y: x + y * by, lambda grad: [grad, grad * by])


@both("add")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input + alpha * other."""
    require_operands("add", input, other)
    if alpha.__class__ is int and alpha == 1:
        return input + other
    return _combined("AddBackward0", input, other, 1, alpha)


@both("sub", "subtract")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """input - alpha * other."""
    require_operands("sub", input, other)
    if alpha.__class__ is int and alpha == 1:
        return input - other
    return _combined("SubBackward0", input, other, -1, alpha)


@function("rsub")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return sub(other, input, alpha=alpha)


def _in_place(name: str, label: str, plain: Callable, sign: int) -> None:
    def function(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        if not isinstance(other, Tensor):
            done = plain(self, other if alpha == 1 else other * alpha)
            if done is NotImplemented:
                raise TypeError(f"{name}(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
            return done
        if alpha.__class__ is int and alpha == 1:
            return plain(self, other)
        if sign < 0:
            require_no_truths(self._dtype, self, other)
        _check_alpha(self, alpha)
        by = sign * alpha
        if common_dtype(self, other).kind == BOOL:
            return plain(self, other & bool(alpha))

        def compute(x: Tensor, y: Tensor) -> Tensor:
            return plain(x.clone(), cast(y, x._dtype) * alpha if x._dtype.is_floating_point else y * alpha)

        return edit(label, [self, other], compute, lambda grad: [grad, grad * by])

    function.__name__ = name
    function.__doc__ = f"As {name[:-1]}, into the tensor itself, which is returned."
    method(name)(function)


_in_place("add_", "AddBackward0", methods["__iadd__"], 1)
_in_place("sub_", "SubBackward0", methods["__isub__"], -1)
methods["subtract_"] = methods["sub_"]
