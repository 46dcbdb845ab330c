"""Nodes that differentiate themselves: one node for a function that is composed of differentiable operations.

The node saves the function's inputs. Its backward runs the function again, recorded, and differentiates that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Callable

from mxlite._lib import LIB, check_call
from mxlite.autograd import saved
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import Saved, detached, gradients, recorded
from mxlite.autograd._transforms.levels import lifted


class Composition:
    """The backward rule of a node whose outputs `compute` made of arrays.

    Args:
        compute: Of the inputs and the constants: an array or a tuple of arrays, by recorded operations that are
            differentiable. It does the same each time.
        inputs: What gives the inputs again, by `get()`: Saved, or a stand-in of the same shape and dtype for an input
            whose value no derivative depends on.
        constants: The same for arrays that no gradient flows to.
    """

    __slots__ = ("front_end", "compute", "inputs", "constants")

    def __init__(
        self, front_end: FrontEnd, compute: Callable, inputs: Sequence[Any], constants: Sequence[Any] = ()
    ) -> None:
        self.front_end, self.inputs, self.constants = front_end, inputs, constants
        self.compute: Callable | None = compute

    def __call__(self, grads: list, wanted: list[bool]) -> list:
        if self.compute is None:
            raise self.front_end.released()
        create_graph = self.front_end.is_recording()
        constants = [each.get() for each in self.constants]
        with recorded(self.front_end):
            given = [self._input(each.get(), flag, create_graph) for each, flag in zip(self.inputs, wanted)]
            with nullcontext() if create_graph else _unpacked(self.front_end):
                made = self.compute(*given, *constants)
        outputs = made if isinstance(made, tuple) else (made,)
        pairs = [(output, grad) for output, grad in zip(outputs, grads) if grad is not None]
        variables = [array for array, flag in zip(given, wanted) if flag]
        found = iter(
            gradients(
                self.front_end,
                [output for output, _ in pairs],
                variables,
                [grad for _, grad in pairs],
                create_graph=create_graph,
                retain_graph=create_graph,
            )
        )
        return [next(found) if flag else None for flag in wanted]

    def _input(self, array: Any, wanted: bool, create_graph: bool) -> Any:
        """An input of the second run: where its gradient is wanted an alias, as inputs may depend on one another."""
        array = lifted(self.front_end, array)
        if create_graph and (not wanted or array.requires_grad):
            return self.front_end.alias(array) if wanted else array
        alone = detached(self.front_end, array)
        if wanted:
            check_call(LIB.MXLNDArraySetRequiresGrad(alone._h, 1))
        return alone

    def forget(self) -> None:
        """Releases the saved arrays. What saved none may run again."""
        if any(isinstance(each, Saved) for each in (*self.inputs, *self.constants)):
            self.compute, self.inputs, self.constants = None, (), ()


def _unpacked(front_end: FrontEnd) -> AbstractContextManager:
    """A block in which saved_tensors_hooks of the caller's do not see what the second run saves for itself."""
    if saved.current() is None:
        return nullcontext()
    return saved.SavedHooks(lambda array: array, lambda array: array, front_end)
