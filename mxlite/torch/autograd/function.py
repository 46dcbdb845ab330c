"""Functions with a gradient of the user's own, in PyTorch's style: static forward and backward, called by apply."""

from __future__ import annotations

import functools
import warnings
from typing import Any, Callable

from mxlite.torch import _nodes
from mxlite.torch._convert import cast
from mxlite.torch._creation import zeros_of
from mxlite.torch._nodes import Saved, is_grad_enabled, set_grad_mode, unrecorded
from mxlite.torch._shapes import alias
from mxlite.torch._tensor import Tensor

_LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
    "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)


class FunctionCtx:
    """What forward and backward of a function share: saved tensors, and whatever attributes they set."""

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    to_save: tuple = ()
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    _saved: tuple | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps inputs or outputs (or None) for backward, where `saved_tensors` gives them back."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument is of type {type(tensor)}")
        self.to_save = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Says which inputs forward edits in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Says which outputs no gradient flows through."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that did not arrive are zeros in backward (so it is at first), or None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """What save_for_backward was given.

        Raises: RuntimeError: it was released by a backward, or written to since.
        """
        if self._saved is None:
            return tuple(self.to_save)
        return tuple(None if each is None else each.get() for each in self._saved)

    saved_variables = saved_tensors


class _Meta(type):
    def __init__(cls, name: str, bases: tuple, space: dict) -> None:
        super().__init__(name, bases, space)
        cls._static = all(
            isinstance(space.get(each, staticmethod(None)), (staticmethod, classmethod))
            for each in ("forward", "backward", "vjp")
        )


class Function(FunctionCtx, metaclass=_Meta):
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
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(_LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The outputs, for forward(ctx, *inputs), or forward(*inputs) beside setup_context."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> Any:
        """Keeps in `ctx` what backward needs; called after forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs for those of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs forward on `args`, and records it where a gradient flows to one of them."""
        ctx = object.__new__(_context_class(cls))
        inputs = [arg for arg in args if isinstance(arg, Tensor)]
        recorded = is_grad_enabled()
        ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        wanted = recorded and any(ctx.needs_input_grad)
        with unrecorded():
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args, **kwargs)
            else:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
        if not isinstance(output, (Tensor, tuple)):
            return output
        return _Outputs(cls, ctx, args, inputs, output, wanted).finished()


_contexts: dict[type, type] = {}


def _context_class(cls: type) -> type:
    """The class of the function's contexts, `<Name>Backward`."""
    known = _contexts.get(cls)
    if known is None:
        known = _contexts[cls] = type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})
        known.__module__ = "torch.autograd.function"
    return known


class _Outputs:
    """What forward returned, on its way to the caller."""

    def __init__(self, cls: type, ctx: Any, args: tuple, inputs: list[Tensor], output: Any, wanted: bool) -> None:
        self.cls, self.ctx, self.args, self.inputs, self.wanted = cls, ctx, args, inputs, wanted
        self.several = isinstance(output, tuple)
        self.given = list(output) if self.several else [output]

    def finished(self) -> Any:
        """The outputs with their places in the graph, as the caller gets them."""
        ctx = self.ctx
        dirty = {id(each) for each in ctx.dirty_tensors}
        plain = {id(each) for each in ctx.non_differentiable}
        if dirty and is_grad_enabled():
            for each in ctx.dirty_tensors:
                if each.is_leaf and each.requires_grad:
                    raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        result, places, originals = [], [], []
        for value in self.given:
            if not isinstance(value, Tensor):
                result.append(value)
                continue
            made = value
            if id(value) in plain:
                made = value.detach() if value.requires_grad else value
            elif any(value is each for each in self.inputs) and id(value) not in dirty:
                with unrecorded():  # an input that is returned as it is: a view of it with a place of its own
                    made = alias(value)
            if id(value) not in plain and made._dtype.is_floating_point:
                places.append(made)
                originals.append(value)
            result.append(made)
        self._save(originals)
        if self.wanted and places:
            rule = _Rule(self, [any(made is each for each in places) for made in result], result)
            _nodes.record(type(ctx).__name__, self.inputs, places, rule, context=ctx)
        return tuple(result) if self.several else result[0]

    def _save(self, outputs: list[Tensor]) -> None:
        kept: list[Saved | None] = []
        for tensor in self.ctx.to_save:
            number = next((place for place, each in enumerate(outputs) if each is tensor), -1)
            is_input = any(tensor is each for each in self.inputs)
            if tensor is None:
                kept.append(None)
            else:
                dirty = any(tensor is each for each in self.ctx.dirty_tensors)
                kept.append(Saved(tensor, number if self.wanted and (not is_input or dirty) else -1))
        self.ctx._saved = tuple(kept)
        self.ctx.to_save = ()
        self.ctx.dirty_tensors = self.ctx.non_differentiable = ()


class _Rule:
    """The rule of a function's node: calls the user's backward and checks what it returns."""

    __slots__ = ("cls", "ctx", "placed", "metas", "arguments", "shapes")

    def __init__(self, outputs: _Outputs, placed: list[bool], result: list) -> None:
        self.cls, self.ctx, self.placed = outputs.cls, outputs.ctx, placed
        #: Shape and dtype of each output that is a tensor.
        self.metas = [(each.shape, each._dtype) if isinstance(each, Tensor) else None for each in result]
        #: Which arguments of forward are tensors; their shapes and dtypes.
        self.arguments = [isinstance(arg, Tensor) for arg in outputs.args]
        self.shapes = [(each.shape, each._dtype) for each in outputs.inputs]

    def __call__(self, grads: list, wanted: list) -> list:
        arrived = iter(grads)
        heads = []
        for placed, meta in zip(self.placed, self.metas):
            grad = next(arrived) if placed else None
            if grad is None and meta is not None and self.ctx.materialize_grads:
                grad = zeros_of(tuple(meta[0]), meta[1])
            heads.append(grad)
        backward = self.cls.backward
        if backward is Function.backward and self.cls.vjp is not Function.vjp:
            backward = self.cls.vjp
        returned = backward(self.ctx, *heads)
        return self.checked(returned if isinstance(returned, tuple) else (returned,))

    def checked(self, returned: tuple) -> list:
        """The gradients of those arguments that are tensors.

        Raises: RuntimeError: too few or too many, no tensor, or another shape.
        """
        name, expected = type(self.ctx).__name__, len(self.arguments)
        extra = returned[expected:]
        if len(returned) < expected or any(each is not None for each in extra):
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {expected}, got {len(returned)})"
            )
        result = []
        shapes = iter(self.shapes)
        for place, (is_tensor, grad) in enumerate(zip(self.arguments, returned)):
            if not is_tensor:
                if grad is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {place + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            shape, kind = next(shapes)
            if grad is None:
                result.append(None)
                continue
            if not isinstance(grad, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
            if grad.shape != shape:
                raise RuntimeError(
                    f"Function {name} returned an invalid gradient at index {place} - got {list(grad.shape)} but "
                    f"expected shape compatible with {list(shape)}"
                )
            result.append(cast(grad, kind))
        return result


def once_differentiable(fn: Callable) -> Callable:
    """Decorates a backward that is not to be differentiated: it runs unrecorded, and its results are constants."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        before = set_grad_mode(False)
        try:
            outputs = fn(ctx, *args)
        finally:
            set_grad_mode(before)
        return outputs

    return wrapper
