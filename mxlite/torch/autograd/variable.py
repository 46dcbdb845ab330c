"""Variable, which is what tensors with gradients were once called; and the engine as programs call it directly."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite import _backward
from mxlite._lib import LIB
from mxlite.autograd import graph
from mxlite.autograd._hooks import ON_END, RELEASE, keep
from mxlite.torch._calls import check_call
from mxlite.torch._gradient import Gradient
from mxlite.torch._tensor import Tensor


class ImperativeEngine:
    """The engine that runs backward."""

    def run_backward(
        self,
        tensors: Any,
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: Any = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple:
        """Runs backward from tensors with their gradients to all leaves, or to `inputs`.

        Args:
            keep_graph: Whether the graph can be used again.
            create_graph: Whether gradients are recorded themselves.
            allow_unreachable: Whether inputs that the tensors do not lead to get None instead of an error.
            accumulate_grad: Whether the gradients of `inputs` are added to theirs instead of returned.
        """
        from mxlite.torch import autograd

        heads = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        for number, each in enumerate(heads):
            if not isinstance(each, (Tensor, graph.Edge)):
                raise TypeError(f"element {number} of tensors tuple is not a Tensor or a GradientEdge")
        given = (grad_tensors,) if isinstance(grad_tensors, Tensor) else tuple(grad_tensors)
        if len(given) != len(heads):
            raise RuntimeError(f"got {len(heads)} tensors and {len(given)} gradients")
        for number, (tensor, each) in enumerate(zip(heads, given)):
            if each is None and isinstance(tensor, Tensor) and tensor.requires_grad:
                raise RuntimeError(
                    f"element {number} of gradients tuple is None, but the corresponding Tensor requires grad"
                )
            if each is not None and not isinstance(each, Tensor):
                raise RuntimeError(f"element {number} of gradients tuple is not a Tensor or None")
        wanted = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs or ())
        return autograd.run_backward(heads, given, keep_graph, create_graph, wanted, allow_unreachable, accumulate_grad)

    def queue_callback(self, fn: Callable[[], Any]) -> None:
        """Calls fn() at the end of the backward that runs on this thread.

        Raises: RuntimeError: none runs.
        """
        number = keep((fn,))
        if LIB.MXLBackwardQueue(ON_END, number, RELEASE) != 0:
            _backward.recorded.pop(number, None)
            LIB.MXGetLastError()
            raise RuntimeError("Final callbacks can only be installed during backward pass.")

    def is_checkpoint_valid(self) -> bool:
        """Whether a backward for all leaves runs on this thread, or none: then a recomputed part is complete."""
        state = ctypes.c_int()
        check_call(LIB.MXLBackwardState(ctypes.byref(state)))
        return state.value != 2


class _VariableMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """Variable(tensor, requires_grad=True) is the tensor itself, as one that wants a gradient."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None) -> Any:
        if data is None:
            return Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        variable = data.detach()
        return variable.requires_grad_() if requires_grad else variable


# `tensor._execution_engine` too.
Gradient._execution_engine = Variable._execution_engine
