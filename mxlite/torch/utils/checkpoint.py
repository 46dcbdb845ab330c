"""`torch.utils.checkpoint`: parts of a program whose intermediate values backward computes again."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd import _recompute
from mxlite.autograd._nodes import recorded
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._make.generator import random_state
from mxlite.torch._tensor import Tensor
from mxlite.torch.autograd import backward
from mxlite.torch.autograd._engine import is_checkpoint_valid
from mxlite.torch.autograd.function import Function

__all__ = """CheckpointError CheckpointFunction check_backward_validity checkpoint checkpoint_sequential detach_variable
    noop_context_fn set_checkpoint_debug_enabled set_checkpoint_early_stop""".split()


class CheckpointError(RuntimeError):
    """A later run does not do what the first did."""


class _Settings:
    """What blocks have set; None: the arguments of checkpoint hold."""

    debug: bool | None = None
    early_stop: bool | None = None


@contextmanager
def _set(name: str, value: Any) -> Iterator[None]:
    before = getattr(_Settings, name)
    setattr(_Settings, name, value)
    try:
        yield
    finally:
        setattr(_Settings, name, before)


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager:
    """A block in which this holds for all checkpoints, in the place of `early_stop`."""
    return _set("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> AbstractContextManager:
    """A block in which this holds for all checkpoints, in the place of `debug`; None: `debug` holds."""
    return _set("debug", enabled)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warns if none of the inputs is a tensor that requires a gradient."""
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        warnings.warn("checkpoint: no input requires a gradient, so the result requires none", stacklevel=3)


def noop_context_fn() -> tuple[AbstractContextManager, AbstractContextManager]:
    """Two blocks that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[AbstractContextManager, AbstractContextManager]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """function(*args, **kwargs), whose intermediate values backward computes again instead of keeping them.

    Args:
        function: It must do the same each time.
        use_reentrant: Whether the later run has a backward of its own within the first (CheckpointFunction): then
            nothing of the first run is recorded, the later one goes to its end; keyword arguments are refused, as are
            `autograd.grad` and `inputs` of backward. It should be said; False is the better choice.
        context_fn: Makes two context managers: one around the first run, one around a later run.
        determinism_check: "default": a later run that saves values of other shapes or dtypes is an error, as is one
            that saves another number of them; "none": only the latter.
        debug: Whether such an error lists what both runs have saved.
        early_stop: Whether a later run ends as soon as it has saved as many values as the first; never with
            use_reentrant=True.
        preserve_rng_state: Whether a later run draws the random numbers of the first.
    Raises: ValueError: keyword arguments, context_fn or debug with use_reentrant=True, or another check; in backward
        CheckpointError.
    """
    _say_reentrant(use_reentrant)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"checkpoint: determinism_check is 'default' or 'none', got {determinism_check!r}")
    if use_reentrant is not False:
        if kwargs:
            raise ValueError("checkpoint: use_reentrant=True takes no keyword arguments, got " + ", ".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("checkpoint: context_fn and debug need use_reentrant=False")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    stops = early_stop if _Settings.early_stop is None else _Settings.early_stop
    explains = debug if _Settings.debug is None else _Settings.debug
    first, again = context_fn()
    run = function if context_fn is noop_context_fn else _within(function, [first, again])
    return _recompute.checkpoint(
        FRONT_END,
        run,
        args,
        kwargs,
        preserve_rng_state,
        stops,
        determinism_check == "default",
        _explained if explains else lambda text, *_: CheckpointError(text),
    )


def detach_variable(inputs: tuple) -> tuple:
    """The same, tensors without their graph, which require a gradient where they did.

    Raises: RuntimeError: no tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"detach_variable: takes a tuple, got {type(inputs).__name__}")
    return tuple(
        each.detach().requires_grad_(each.requires_grad) if isinstance(each, Tensor) else each for each in inputs
    )


class CheckpointFunction(Function):
    """A function whose backward runs it again, recorded, and a backward of its own through that."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable, preserve_rng_state: bool, *args: Any) -> Any:  # noqa: D102
        check_backward_validity(args)
        ctx.run_function, ctx.random = run_function, random_state() if preserve_rng_state else None
        ctx.given = [None if isinstance(each, Tensor) else each for each in args]
        ctx.places = [place for place, each in enumerate(args) if isinstance(each, Tensor)]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple:  # noqa: D102
        if not is_checkpoint_valid():
            raise RuntimeError(
                "checkpoint: use_reentrant=True does not go with autograd.grad, and inputs= of backward: "
                "they ask for a part of the gradients; use_reentrant=False does"
            )
        args = list(ctx.given)
        for place, tensor in zip(ctx.places, ctx.saved_tensors):
            args[place] = tensor
        args, before = detach_variable(tuple(args)), random_state()
        try:
            if ctx.random is not None:
                random_state(ctx.random)
            with recorded(FRONT_END):
                made = ctx.run_function(*args)
        finally:
            if ctx.random is not None:
                random_state(before)
        made = (made,) if isinstance(made, Tensor) else made
        heads = [(each, grad) for each, grad in zip(made, grads) if isinstance(each, Tensor) and each.requires_grad]
        if not heads:
            raise RuntimeError("checkpoint: nothing that the function returned requires a gradient")
        backward(*zip(*heads))
        return (None, None, *(each.grad if isinstance(each, Tensor) else None for each in args))


def _explained(text: str, first: list, again: list) -> CheckpointError:
    """The error with all that both runs have saved."""
    lists = [[f"  {place}: {list(shape)} {kind}" for place, (shape, kind) in enumerate(run)] for run in (first, again)]
    return CheckpointError("\n".join([text, "saved first:", *lists[0], "saved again:", *lists[1]]))


def _say_reentrant(use_reentrant: bool | None) -> None:
    if use_reentrant is None:
        warnings.warn(
            "checkpoint: say use_reentrant=True or use_reentrant=False (the better choice)",
            stacklevel=3,
        )


def _within(function: Callable, blocks: list[AbstractContextManager]) -> Callable:
    """The function in the first block when it is called first, then in the last."""

    def run(*args: Any, **kwargs: Any) -> Any:
        block = blocks.pop(0) if len(blocks) > 1 else blocks[0]
        with block:
            return function(*args, **kwargs)

    return run


def checkpoint_sequential(
    functions: Iterable[Callable],
    segments: int,
    input: Any,  # noqa: A002 - PyTorch's name
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Functions one after the other, in `segments` parts that are checkpointed, but for the last.

    Args:
        functions: Each gets what the one before it returned; the first gets `input`.
    Raises: ValueError: there are fewer functions than parts, or another argument is given.
    """
    _say_reentrant(use_reentrant)
    if kwargs:
        raise ValueError("checkpoint_sequential: there is no argument " + ", ".join(kwargs))
    steps = list(functions)
    if not 0 < segments <= len(steps):
        raise ValueError(f"checkpoint_sequential: {len(steps)} functions cannot be {segments} parts")
    size = len(steps) // segments

    def part(start: int, end: int) -> Callable:
        def run(value: Any) -> Any:
            for step in steps[start:end]:
                value = step(value)
            return value

        return run

    for number in range(segments - 1):
        run = part(number * size, (number + 1) * size)
        options = {"use_reentrant": bool(use_reentrant), "preserve_rng_state": preserve_rng_state}
        input = checkpoint(run, input, **options)  # noqa: A001
    return part((segments - 1) * size, len(steps))(input)


_show(globals())
