"""composite: a function composed of differentiable operations that is one node of the graph, under its own name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial, wraps
from typing import Any, Callable

from mxlite.torch._calls import both, method
from mxlite.torch._edits import edit
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


def in_place_too(function: Callable) -> Callable:
    """Decorates `f(made, input, ...)`, where `made` is formula or edit: what becomes f, and f_ in place.

    Both are registered, f as a function of the module and a method, f_ as a method.
    """
    name = function.__name__

    def bind(made: Callable) -> Callable:
        @wraps(function)
        def bound(*args: Any, **kwargs: Any) -> Any:
            return function(made, *args, **kwargs)

        signature = inspect.signature(function)
        bound.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
        return bound

    into = method(name + "_")(bind(edit))
    into.__name__ = name + "_"
    into.__doc__ = f"As {name}, into the tensor itself, which is returned."
    return both(name)(bind(formula))
