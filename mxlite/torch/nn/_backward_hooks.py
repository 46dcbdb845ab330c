"""Hooks of modules on gradients: inputs and outputs of a module pass through nodes, and the hooks are these nodes'."""

from __future__ import annotations

import warnings
from typing import Any, Callable

from mxlite.autograd._nodes import detached, record
from mxlite.torch._errors import warn_of_old
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import is_grad_enabled
from mxlite.torch._tensor import Tensor, zeros_of


def _through_node(values: tuple) -> tuple[Any, tuple]:
    """The tensors among values as outputs of one node that does nothing, and that node; None: no gradient flows."""
    tensors = tuple(each for each in values if isinstance(each, Tensor))
    if not is_grad_enabled() or not any(each.requires_grad for each in tensors):
        return None, values
    made = [detached(FRONT_END, each) for each in tensors]
    given, placed = ([each[place] for place in _floating(tensors)] for each in (tensors, made))
    record(FRONT_END, "BackwardHookFunctionBackward", given, placed, lambda grads, wanted: list(grads))
    found = iter(made)
    return placed[0].grad_fn, tuple(next(found) if isinstance(each, Tensor) else each for each in values)


def _zeros_of(tensors: list[Tensor]) -> Callable[[tuple], tuple]:
    """What puts zeros for gradients that have not arrived, of the shapes and dtypes of tensors."""
    metas = [(tuple(each.shape), each._dtype) for each in tensors]
    return lambda grads: tuple(zeros_of(*meta) if grad is None else grad for grad, meta in zip(grads, metas))


def _floating(values: tuple) -> list[int]:
    """The places of floating tensors, which gradients flow to."""
    return [place for place, each in enumerate(values) if isinstance(each, Tensor) and each.is_floating_point()]


class BackwardHooks:
    """One call of a module that has such hooks."""

    def __init__(self, module: Any, pre_hooks: list[Callable], hooks: list[Callable]) -> None:
        own = module._is_full_backward_hook is not False
        self.module = module
        self.hooks = hooks + list((own and module._backward_hooks or {}).values())
        self.pre_hooks = pre_hooks + list((module._backward_pre_hooks or {}).values())
        self.grads: tuple | None = None
        self.waits = False
        self.places: list[int] = []
        self.count = 0

    def inputs(self, args: tuple) -> tuple:
        """The arguments that forward gets."""
        if not self.hooks:
            return args
        self.count = len(args)
        self.places = _floating(args)
        node, args = _through_node(args)
        if node is not None:
            self.waits = True
            zeros = _zeros_of([args[place] for place in self.places])
            node.register_hook(lambda grad_inputs, _: self._arrived(zeros(grad_inputs)))
        return args

    def outputs(self, result: Any) -> Any:
        """The result that the caller gets."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "backward hooks of a module are called where its result is a tensor or a tuple of them, not "
                f"{type(result).__name__}",
                stacklevel=4,
            )
            return result
        several = isinstance(result, tuple)
        values = result if several else (result,)
        node, made = _through_node(values)
        if node is None:
            return result
        places, count = _floating(values), len(values)
        node.register_prehook(lambda grads: self._arriving(grads, places, count))
        return (type(result)(*made) if hasattr(result, "_fields") else made) if several else made[0]

    def _arriving(self, grads: tuple, places: list[int], count: int) -> tuple | None:
        """Gradients of the outputs are there."""
        whole: list = [None] * count
        for place, grad in zip(places, grads):
            whole[place] = grad
        given = tuple(whole)
        for hook in self.pre_hooks:
            found = hook(self.module, given)
            if found is not None:
                given = found if isinstance(found, tuple) else (found,)
                if len(given) != count:
                    raise RuntimeError(f"a backward pre-hook returns {count} gradients, it returned {len(given)}")
        self.grads = given
        if self.hooks and not self.waits:
            warnings.warn("a backward hook runs of a module none of whose inputs requires a gradient", stacklevel=2)
            for hook in self.hooks:
                if hook(self.module, (None,) * self.count, given) is not None:
                    raise RuntimeError("a backward hook returned gradients, but no input of the module requires one")
        return tuple(given[place] for place in places)

    def _arrived(self, grads: tuple) -> tuple | None:
        """Gradients of the inputs are there."""
        if self.grads is None:  # the result was neither a tensor nor a tuple
            return None
        whole: list = [None] * self.count
        for place, grad in zip(self.places, grads):
            whole[place] = grad
        given = tuple(whole)
        for hook in self.hooks:
            found = hook(self.module, given, self.grads)
            if found is not None:
                given = found if isinstance(found, tuple) else (found,)
                if len(given) != self.count:
                    raise RuntimeError(f"a backward hook returns {self.count} gradients, it returned {len(given)}")
        return tuple(given[place] for place in self.places)


def on_last_node(module: Any, hook: Callable, inputs: tuple, result: Any) -> None:
    """Has hook(module, grad_inputs, grad_outputs) called by the node that made the result, as register_backward_hook
    promises. Warns where that is not the module's only node.
    """
    results = result if isinstance(result, tuple) else (result,)
    before, nodes = ({x.grad_fn for x in each if isinstance(x, Tensor)} - {None} for each in (inputs, results))
    made = next(iter(nodes)) if len(nodes) == 1 else None
    if made is None or {node for node, _ in made.next_functions} != before:
        warn_of_old("register_backward_hook of several nodes", "register_full_backward_hook", FutureWarning)
    while isinstance(result, (tuple, list, dict)):
        result = next((each for each in (result.values() if isinstance(result, dict) else result)), None)
    if isinstance(result, Tensor) and result.grad_fn is not None:
        result.grad_fn.register_hook(lambda inputs, outputs: hook(module, inputs, outputs))
