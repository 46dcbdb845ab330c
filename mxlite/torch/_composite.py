"""composite: a function composed of differentiable operations that is one node of the graph, under its own name."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial, wraps
from typing import Any, Callable

from mxlite.torch._broadcast import require_into
from mxlite.torch._calls import both, method, run, run_into
from mxlite.torch._edits import edit
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor


class Composed:
    """A function that `composite` decorates."""

    def __init__(self, compute: Callable, label: str, **options: Any) -> None:
        self.compute, self.label, self.options = compute, label, options
        self.__name__, self.__doc__ = compute.__name__, compute.__doc__

    def __call__(self, *inputs: Tensor, constants: Sequence[Tensor] = (), **parameters: Any) -> Any:
        compute = partial(self.compute, **parameters)
        return formula(self.label, inputs, compute, constants=constants, **self.options)

    def into(self, *inputs: Tensor, constants: Sequence[Tensor] = (), **parameters: Any) -> Tensor:
        """Writes the result over the first tensor, which is returned."""
        compute = partial(self.compute, **parameters)
        return edit(self.label, inputs, compute, constants=constants, **self.options)


def composite(
    label: str, saves: str | tuple[str, ...] | None = None, slots: str | None = None
) -> Callable[[Callable], Composed]:
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
    return partial(Composed, label=label, saves=saves, slots=slots)


def in_place_too(function: Callable, calls: dict[str, Any] | None = None) -> Callable:
    """Decorates `f(made, input, ...)`, where `made` is formula or edit: what becomes f, and f_ in place.

    Both are registered, f as a function of the module and a method, f_ as a method. `calls`: as of `both`.
    """
    name = function.__name__

    def bind(made: Callable) -> Callable:
        @wraps(function)
        def bound(*args: Any, **kwargs: Any) -> Any:
            return function(made, *args, **kwargs)

        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        bound.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return bound

    into = bind(edit)
    into.__name__ = name + "_"
    into.__doc__ = f"As {name}, into the tensor itself, which is returned."
    method(name + "_", calls=calls and {**calls, "into": True})(into)
    return both(name, calls=calls)(bind(formula))


def by_operator(made: Callable, call: int, inputs: list[Tensor], *values: Any) -> Tensor:
    """Runs a prepared call where `made` is formula, and into the first tensor where it is edit."""
    if made is formula:
        return run(call, inputs, *values, kind=inputs[0]._dtype)
    for each in inputs[1:]:
        require_into(inputs[0], each)
    return run_into(call, inputs[0], inputs, *values)
