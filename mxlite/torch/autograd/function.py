"""Functions with a gradient of the user's own, in PyTorch's style: static forward and backward, called by apply."""

from __future__ import annotations

import warnings
from typing import Any

from mxlite._public import show as _show
from mxlite.autograd import _static
from mxlite.autograd._static import FunctionCtx, default, once_differentiable
from mxlite.torch._gradient import FRONT_END

__all__ = ["Function", "FunctionCtx", "once_differentiable"]

_LEGACY = "a Function is called by its class: make forward and backward static and call NAME.apply(...)"


class Function(FunctionCtx):
    """A function with a gradient of its own. Subclass it, and call the subclass's `apply`:

        class MulConstant(Function):
            @staticmethod
            def forward(ctx, tensor, constant):
                ctx.constant = constant
                return tensor * constant

            @staticmethod
            def backward(ctx, grad_output):
                return grad_output * ctx.constant, None

    forward runs unrecorded. backward gets a gradient for each output and returns one (or None) for each argument of
    forward; it is made of recorded operations, so the function can be differentiated again. Where the class has
    setup_context(ctx, inputs, output), forward gets no ctx.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        warnings.warn(
            f"{type(self)}: a Function has no objects; call apply of the class",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(_LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The outputs, for forward(ctx, *inputs), or forward(*inputs) beside setup_context."""
        raise NotImplementedError("Function: a subclass defines forward")

    @staticmethod
    @default
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Keeps in `ctx` what backward needs; called after forward."""
        raise NotImplementedError("Function: setup_context is not defined")

    @staticmethod
    @default
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs for those of the outputs."""
        raise NotImplementedError("Function: backward needs a method backward (or vjp) of the subclass")

    vjp = backward

    #: Whether vmap runs forward and backward on batched tensors, where there is no static method `vmap`.
    generate_vmap_rule = False

    @staticmethod
    @default
    def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
        """(outputs, their dimensions of the batch) of whole tensors, of which `in_dims` says where they have it."""
        raise NotImplementedError("Function: vmap is not defined")

    @staticmethod
    @default
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents of the outputs for those of the inputs; without it they are made of `backward`."""
        raise NotImplementedError("Function: jvp is not defined")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs forward on `args`, and records it where a gradient flows to one of them."""
        return _static.apply(FRONT_END, cls, args, kwargs)


_show(globals())
