"""Functions with a gradient of the user's own in PyTorch's style, for both front ends: static forward and backward.

The classes that users derive from are mxlite.autograd.Function and mxlite.torch.autograd.Function; both call `apply`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Callable

from mxlite._lib import LIB, check_call
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import Saved, detached, note_returned, record, unrecorded
from mxlite.autograd._saved_values import raw_of_context
from mxlite.autograd._transforms.functions import output_of_batch
from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.autograd._transforms.levels import highest

#: How many derivatives forward are being recorded (_derivatives.py).
_transposed = [0]


@contextmanager
def transposed() -> Iterator[None]:
    """A with-block: a backward in it is recorded to be differentiated by its heads, so functions use their `jvp`."""
    _transposed[0] += 1
    try:
        yield
    finally:
        _transposed[0] -= 1


class FunctionCtx:
    """What forward and backward of a function share: saved tensors, and whatever attributes they set."""

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    to_save: tuple = ()
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    _saved: tuple | None = None
    #: What save_for_forward was given; while jvp runs, the arrays that it reads.
    saved_for_forward: tuple = ()
    _pushed: tuple | None = None
    _forgotten = False
    #: How many of its backwards run: then saved outputs have their edge in the graph, else they have none.
    _running = 0
    _front_end: FrontEnd

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps inputs or outputs (or None) for backward, where `saved_tensors` gives them back."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, self._front_end.array_class):
                raise TypeError(f"save_for_backward: takes arrays and None, got {type(tensor)}")
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps inputs or outputs (or None) for `jvp`, where `saved_tensors` gives them back."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, self._front_end.array_class):
                raise TypeError(f"save_for_forward: takes arrays and None, got {type(tensor)}")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Says which inputs forward edits in place. Raises: RuntimeError: one is no array."""
        for each in args:
            if not isinstance(each, self._front_end.array_class):
                raise self._front_end.error(f"mark_dirty: takes arrays, got {type(each).__name__}")
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Says which outputs no gradient flows through."""
        self.non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing, with a warning, as in PyTorch: shared memory is seen."""
        warnings.warn("mark_shared_storage: is not needed any more", FutureWarning, stacklevel=2)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that did not arrive are zeros in backward (so it is at first), or None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple:
        """The arrays that save_for_backward was given; in `jvp` those of save_for_forward, if there are any.

        Raises: RuntimeError: it was released by a backward, or written to since.
        """
        if self._saved is None:
            return tuple(self.to_save)
        if self._pushed is not None:
            return self._pushed
        if self._forgotten:
            raise self._front_end.released()
        return tuple(None if each is None else each.get(self._running > 0) for each in self._saved)

    saved_variables = saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple:
        if self._forgotten:
            raise self._front_end.released()
        return raw_of_context(self._saved or ())


def apply(front_end: FrontEnd, cls: Any, args: tuple, kwargs: dict) -> Any:
    """Runs a class's static forward on `args`, and records it where a gradient flows to one of them."""
    arrays = front_end.array_class
    ctx = _new_context(front_end, cls)
    setup = getattr(cls, "setup_context", None)
    if setup is None or getattr(setup, "_is_default", False):
        forward = functools.partial(cls.forward, ctx, *args, **kwargs)
        args = (*args, *kwargs.values()) if front_end.counts_keywords else args
        setup = None
    else:
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        args = bound.args
        forward = functools.partial(cls.forward, *args)
    inputs = [arg for arg in args if isinstance(arg, arrays)]
    level = highest(inputs) if levels_open[0] else None
    if level is not None:
        args = tuple(level.lifted(arg) if isinstance(arg, arrays) else arg for arg in args)
        inputs = [arg for arg in args if isinstance(arg, arrays)]
        again = functools.partial(_applied, front_end)
        space = functools.partial(_new_context, front_end)
        forward = functools.partial(output_of_batch, level, cls, args, again, space)
    recording = front_end.is_recording()
    ctx.needs_input_grad = tuple(isinstance(arg, arrays) and arg.requires_grad for arg in args)
    wanted = recording and any(ctx.needs_input_grad)
    with nullcontext() if level is not None else unrecorded(front_end):
        output = forward()
    with unrecorded(front_end):
        if setup is not None:
            setup(ctx, args, output)
    if not isinstance(output, (arrays, tuple)):
        return output
    return _Outputs(cls, ctx, args, inputs, output, wanted).finished()


def _applied(front_end: FrontEnd, cls: Any, args: list) -> Any:
    return apply(front_end, cls, tuple(args), {})


def _new_context(front_end: FrontEnd, cls: Any) -> Any:
    return object.__new__(_context_class(cls, front_end))


def _context_class(cls: type, front_end: FrontEnd) -> type:
    """The class of the function's contexts, `<Name>Backward`."""
    known = cls.__dict__.get("_context_class")
    if known is None:
        space = {"_forward_cls": cls, "_front_end": front_end, "__module__": front_end.module}
        known = type(cls.__name__ + "Backward", (FunctionCtx,), space)
        known._node_module = front_end.module
        cls._context_class = known  # a function's context class is released with the function
    return known


class _Outputs:
    """What forward returned, on its way to the caller."""

    def __init__(self, cls: type, ctx: Any, args: tuple, inputs: list, output: Any, wanted: bool) -> None:
        self.cls, self.ctx, self.args, self.inputs, self.wanted = cls, ctx, args, inputs, wanted
        self.front_end = ctx._front_end
        self.several = isinstance(output, tuple)
        self.given = list(output) if self.several else [output]

    def finished(self) -> Any:
        """The outputs with their places in the graph, as the caller gets them."""
        ctx, front_end = self.ctx, self.front_end
        dirty = {id(each) for each in ctx.dirty_tensors}
        plain = {id(each) for each in ctx.non_differentiable}
        if dirty and front_end.is_recording():
            for each in ctx.dirty_tensors:
                if each.is_leaf and each.requires_grad:
                    raise front_end.error("a leaf that requires a gradient was edited in place")
        if any(all(each is not value for value in self.given) for each in ctx.dirty_tensors):
            raise front_end.error("mark_dirty: an array that forward edits in place is one of its outputs; one is not")
        if self.wanted and any(all(each is not value for value in self.inputs) for each in ctx.dirty_tensors):
            warnings.warn("mark_dirty: is for inputs that forward edits in place; one is no input", stacklevel=4)
        result, places, originals = [], [], []
        for value in self.given:
            if not isinstance(value, front_end.array_class):
                result.append(value)
                continue
            made = value
            if id(value) in plain:
                made = value.detach() if value.requires_grad else value
            elif id(value) in dirty:
                check_call(LIB.MXLNDArrayBumpVersion(value._h))
                made = value if self.wanted or not value.requires_grad else value.detach()
            elif any(value is each for each in self.inputs):
                with unrecorded(front_end):  # an input that is returned as it is: a view of it with a place of its own
                    made = front_end.alias(value)
            if all(made is not each for each in self.inputs):
                note_returned(made)
            if id(value) not in plain and front_end.is_floating(made):
                places.append(made)
                originals.append(value)
            result.append(made)
        self._save(originals)
        if self.wanted and places:
            rule = _Rule(self, [any(made is each for each in places) for made in result], result)
            record(front_end, type(ctx).__name__, self.inputs, places, rule, context=ctx)
        return tuple(result) if self.several else result[0]

    def _save(self, outputs: list) -> None:
        ctx = self.ctx
        pushes = self.wanted and _own(self.cls, "jvp")
        ctx.saved_for_forward = self._kept(ctx.saved_for_forward, outputs) if pushes else ()
        ctx._saved = self._kept(ctx.to_save, outputs)
        ctx.to_save = ()
        ctx.dirty_tensors = ctx.non_differentiable = ()

    def _kept(self, tensors: tuple, outputs: list) -> tuple[Saved | None, ...]:
        kept: list[Saved | None] = []
        for tensor in tensors:
            number = next((place for place, each in enumerate(outputs) if each is tensor), -1)
            is_input = any(tensor is each for each in self.inputs)
            if tensor is None:
                kept.append(None)
            else:
                dirty = any(tensor is each for each in self.ctx.dirty_tensors)
                place = number if self.wanted and (not is_input or dirty) else -1
                kept.append(Saved(self.front_end, tensor, place, type(self.ctx).__name__))
        return tuple(kept)


class _Rule:
    """The rule of a function's node: calls the user's backward and checks what it returns."""

    __slots__ = ("cls", "ctx", "front_end", "placed", "metas", "arguments", "shapes")

    def __init__(self, outputs: _Outputs, placed: list[bool], result: list) -> None:
        self.cls, self.ctx, self.front_end, self.placed = outputs.cls, outputs.ctx, outputs.front_end, placed
        arrays = self.front_end.array_class
        #: Shape and dtype of each output that is a tensor.
        self.metas = [(each.shape, each.dtype) if isinstance(each, arrays) else None for each in result]
        #: Which arguments of forward are tensors; their shapes and dtypes.
        self.arguments = [isinstance(arg, arrays) for arg in outputs.args]
        self.shapes = [(each.shape, each.dtype) for each in outputs.inputs]

    def __call__(self, grads: list, wanted: list) -> list:
        if _transposed[0] and _own(self.cls, "jvp"):
            return self._transposed(grads, wanted)
        arrived = iter(grads)
        heads = []
        for placed, meta in zip(self.placed, self.metas):
            grad = next(arrived) if placed else None
            if grad is None and meta is not None and self.ctx.materialize_grads:
                grad = self.front_end.zeros(tuple(meta[0]), meta[1])
            heads.append(grad)
        self.ctx._running += 1
        try:
            returned = _backward_of(self.cls)(self.ctx, *heads)
        finally:
            self.ctx._running -= 1
        return self.checked(returned if isinstance(returned, tuple) else (returned,))

    def _transposed(self, grads: list, wanted: list) -> list:
        """Zeros for gradients, at the outputs of a node whose own gradients, of the moves of the inputs, are jvp's."""
        front_end = self.front_end
        heads = [each for each in grads if each is not None]
        made = [front_end.zeros(tuple(shape), kind) for shape, kind in self.shapes]
        kept = self.ctx.saved_for_forward or self.ctx._saved or ()
        read = tuple(None if each is None else each.get() for each in kept)

        def push(moves: list, _: list) -> list:
            found = zip(grads, self._pushed([None if each is None else each * 1 for each in moves], read))
            return [move for grad, move in found if grad is not None]

        record(front_end, type(self.ctx).__name__, heads, made, push)
        return [each if flag else None for each, flag in zip(made, wanted)]

    def _pushed(self, moves: list, read: tuple) -> list:
        """The moves of the outputs that have a place, by jvp, whose saved tensors are `read`.

        Raises: RuntimeError: it returned too few or too many, no tensor, or another shape.
        """
        ctx, name, front_end = self.ctx, type(self.ctx).__name__, self.front_end
        if ctx.materialize_grads:
            pairs = zip(moves, self.shapes)
            moves = [front_end.zeros(tuple(at), kind) if each is None else each for each, (at, kind) in pairs]
        left = iter(moves)
        ctx._pushed = read
        try:
            found = self.cls.jvp(ctx, *(next(left) if is_tensor else None for is_tensor in self.arguments))
        finally:
            ctx._pushed = None
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != len(self.metas):
            raise front_end.error(f"{name}: jvp returned {len(found)} tangents, expected {len(self.metas)}")
        for number, (move, meta) in enumerate(zip(found, self.metas)):
            if move is not None and not isinstance(move, front_end.array_class):
                raise front_end.error(f"{name}: a tangent is an array or None, got {type(move).__name__}")
            if move is not None and meta is not None and tuple(move.shape) != tuple(meta[0]):
                raise front_end.error(
                    f"{name}: the tangent of output {number} has shape {list(move.shape)}, the output {list(meta[0])}"
                )
        return [move for move, placed in zip(found, self.placed) if placed]

    def forget(self) -> None:
        """Lets the saved tensors go: a backward has used them."""
        if self.ctx._saved:
            self.ctx._saved, self.ctx._forgotten = (), True
        self.ctx.saved_for_forward = ()

    def checked(self, returned: tuple) -> list:
        """The gradients of those arguments that are tensors.

        Raises: RuntimeError: too few or too many, no tensor, or another shape.
        """
        name, expected = type(self.ctx).__name__, len(self.arguments)
        extra = returned[expected:]
        if len(returned) < expected or any(each is not None for each in extra):
            raise self.front_end.error(f"{name}: backward returned {len(returned)} gradients, expected {expected}")
        result = []
        shapes = iter(self.shapes)
        for place, (is_tensor, grad) in enumerate(zip(self.arguments, returned)):
            if not is_tensor:
                if grad is not None:
                    raise self.front_end.error(
                        f"{name}: backward returned a gradient at position {place + 1}, but that input is no array; "
                        "expected None"
                    )
                continue
            shape, kind = next(shapes)
            if grad is None:
                result.append(None)
                continue
            if not isinstance(grad, self.front_end.array_class):
                raise self.front_end.error(f"{name}: a gradient is an array or None, got {type(grad).__name__}")
            if not self.front_end.takes(grad.shape, shape):
                raise self.front_end.error(
                    f"{name}: the gradient of input {place} has shape {list(grad.shape)}, which does not fit the "
                    f"input's {list(shape)}"
                )
            result.append(self.front_end.cast(grad, kind))
        return result


def _backward_of(cls: Any) -> Callable:
    """The class's backward, or its vjp, which is another name for it.

    Raises: RuntimeError: it has both.
    """
    backward, vjp = cls.backward, getattr(cls, "vjp", None)
    if vjp is None or vjp is backward or getattr(vjp, "_is_default", False):
        return backward
    if not getattr(backward, "_is_default", False):
        raise RuntimeError(f"{cls.__name__}: a Function defines backward or vjp, not both")
    return vjp


def _own(cls: Any, name: str) -> bool:
    """Whether the class, or one that it derives from, defines a method that the base leaves open."""
    method = getattr(cls, name, None)
    return method is not None and not getattr(method, "_is_default", False)


def default(function: Callable) -> Callable:
    """Decorates what a base class has and a subclass is to replace."""
    function._is_default = True  # type: ignore[attr-defined]
    return function


def once_differentiable(fn: Callable) -> Callable:
    """Decorates a backward that is not to be differentiated: it runs unrecorded, and a backward that comes to its
    results is an error. (Where no gradient flows to the gradients that it gets, they are constants.)
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        front_end = ctx._front_end
        with unrecorded(front_end):
            returned = fn(ctx, *args)
        if not front_end.is_recording() or not any(
            isinstance(each, front_end.array_class) and each.requires_grad for each in args
        ):
            return returned
        results = returned if isinstance(returned, tuple) else (returned,)
        made = _refusing(front_end, results)
        return made if isinstance(returned, tuple) else made[0]

    return wrapper


def _refusing(front_end: FrontEnd, results: tuple) -> tuple:
    """The same arrays as results of a node whose rule is an error."""

    def rule(grads: list, wanted: list) -> list:
        raise front_end.error("backward of this function is @once_differentiable: it cannot be differentiated")

    arrays = [each for each in results if isinstance(each, front_end.array_class)]
    made = [detached(front_end, each) for each in arrays]
    record(front_end, "Error", [detached(front_end, each).requires_grad_() for each in arrays], made, rule)
    left = iter(made)
    return tuple(next(left) if isinstance(each, front_end.array_class) else each for each in results)
