"""`torch.utils.checkpoint`: parts of a program whose intermediate values backward computes again."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd import _recompute
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import is_grad_enabled, unrecorded
from mxlite.torch._tensor import Tensor

__all__ = ["CheckpointError", "check_backward_validity", "checkpoint", "checkpoint_sequential", "noop_context_fn"]
__all__ += ["set_checkpoint_debug_enabled", "set_checkpoint_early_stop"]


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
        use_reentrant: Of PyTorch's two ways; here is one, which does what False asks for. It should be said all the
            same; with True a later run goes to its end, and keyword arguments are refused, as there.
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
        if is_grad_enabled() and not any(isinstance(each, Tensor) and each.requires_grad for each in args):
            check_backward_validity(args)
            with unrecorded():
                return function(*args)
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
        stops and use_reentrant is False,
        determinism_check == "default",
        _explained if explains else lambda text, *_: CheckpointError(text),
    )


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
