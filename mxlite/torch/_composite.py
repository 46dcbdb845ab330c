"""composite: a function composed of differentiable operations that is one node of the graph, under its own name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Callable

from mxlite.torch._indexing import edit
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor


class composite:  # noqa: N801 - used as a word: `@composite("MishBackward0")`
    """Decorates a function of tensors, then of constants, with parameters given by name.

        @composite("MishBackward0")
        def mish(x):
            return x * softplus(x).tanh()

    Called, the function runs unrecorded and makes one node; its gradient is that of the operations it is composed of,
    of any order (mxlite/autograd/_composition.py). `mish.into(x)` writes the result into its first tensor.

    Args:
        label: What the nodes are called.
        saves: The inputs whose values derivatives depend on, "02"; or those for the gradient of each input. None: all.
        slots: What the node's inputs are, as in `formula`.
    """

    def __init__(self, label: str, saves: str | tuple[str, ...] | None = None, slots: str | None = None) -> None:
        self.label, self.saves, self.slots = label, saves, slots

    def __call__(self, compute: Callable) -> Composed:
        return Composed(self, compute)


class Composed:
    """A function that `composite` decorates."""

    def __init__(self, options: composite, compute: Callable) -> None:
        self.options, self.compute = options, compute
        self.__name__, self.__doc__ = compute.__name__, compute.__doc__

    def __call__(self, *inputs: Tensor, constants: Sequence[Tensor] = (), **parameters: Any) -> Any:
        return self._made(formula, inputs, constants, parameters)

    def into(self, *inputs: Tensor, constants: Sequence[Tensor] = (), **parameters: Any) -> Tensor:
        """Writes the result over the first tensor, which is returned."""
        return self._made(edit, inputs, constants, parameters)

    def _made(self, made: Callable, inputs: tuple, constants: Sequence[Tensor], parameters: dict) -> Any:
        compute = partial(self.compute, **parameters) if parameters else self.compute
        options = self.options
        return made(options.label, inputs, compute, slots=options.slots, saves=options.saves, constants=constants)
