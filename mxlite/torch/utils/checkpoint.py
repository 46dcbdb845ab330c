"""`torch.utils.checkpoint`: parts of a program whose intermediate values backward computes again."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd import _recompute
from mxlite.torch._gradient import FRONT_END


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
        determinism_check: "default": a later run that saves another number of values is an error.
        early_stop: Whether a later run ends as soon as it has saved as many values as the first; never with
            use_reentrant=True.
        preserve_rng_state: Whether a later run draws the random numbers of the first.
    Raises: ValueError: keyword arguments with use_reentrant=True; NotImplementedError: `debug`, or another check.
    """
    if debug or determinism_check != "default":
        raise NotImplementedError("mxlite.torch: checkpoint has no debug, and no determinism_check but the default")
    _say_reentrant(use_reentrant)
    if use_reentrant and kwargs:
        raise ValueError("checkpoint: use_reentrant=True takes no keyword arguments, got " + ", ".join(kwargs))
    first, again = context_fn()
    run = function if context_fn is noop_context_fn else _within(function, [first, again])
    return _recompute.checkpoint(FRONT_END, run, args, kwargs, preserve_rng_state, early_stop and not use_reentrant)


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
) -> Any:
    """Functions one after the other, in `segments` parts that are checkpointed, but for the last.

    Args:
        functions: Each gets what the one before it returned; the first gets `input`.
    """
    _say_reentrant(use_reentrant)
    steps = list(functions)
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
