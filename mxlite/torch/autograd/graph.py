"""`torch.autograd.graph`: the nodes of the graph, the edges of tensors, hooks, and what is saved for backward."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Callable

from mxlite._lib import LIB
from mxlite._public import show as _show
from mxlite.autograd._several import Copies, add_hook_of_several
from mxlite.autograd.graph import Edge as GradientEdge
from mxlite.autograd.graph import Node, RemovableHandle
from mxlite.autograd.saved import Refusal, SavedHooks
from mxlite.torch._calls import check_call
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._tensor import Tensor

__all__ = ["GradientEdge", "Node", "RemovableHandle", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks"]
__all__ += ["get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks"]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the tensor's gradient goes: a node, and which of its outputs.

    Raises: RuntimeError: no gradient flows to it.
    """
    node, output = tensor._node()
    if node is None:
        raise RuntimeError("get_gradient_edge: the tensor requires no gradient")
    return GradientEdge(node, output)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Says that a tensor, or each of several, was edited in a way that mxlite does not see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        check_call(LIB.MXLNDArrayBumpVersion(each._h))


# ---- what is saved ----


class saved_tensors_hooks(SavedHooks):  # noqa: N801 - PyTorch's name
    __doc__ = SavedHooks.__doc__

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__(pack_hook, unpack_hook, FRONT_END)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """A with-block that keeps what is saved on the CPU, where it is; `pin_memory` has no effect."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


def disable_saved_tensors_hooks(error_message: str) -> Refusal:
    """A with-block in which saved_tensors_hooks, and what is made of them, raise RuntimeError(error_message)."""
    return Refusal(error_message, FRONT_END)


_mutation = threading.local()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Copies]:
    """A block in which what is saved may be edited before backward, which runs within the block, too.

    What is saved is copied at once, also where it will not be edited.

    Raises: RuntimeError: such a block is open already.
    """
    if getattr(_mutation, "open", False):
        raise RuntimeError("allow_mutation_on_saved_tensors: a block is open already")
    copies = Copies(FRONT_END)
    with saved_tensors_hooks(copies.pack, copies.unpack):
        _mutation.open = True
        try:
            yield copies
        finally:
            _mutation.open = copies.open = False
            copies.clear()


# ---- a hook of several gradients ----


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all"
) -> RemovableHandle:
    """Calls a function once in each backward that comes to one of several tensors.

    Args:
        mode: "all": fn(gradients) at the end of the backward, None for those that did not arrive; "any": fn(gradient)
            with the first that arrives.
    Raises: ValueError: there is no such mode; AssertionError: no gradient flows to a tensor.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: mode is 'all' or 'any', got {mode!r}")
    if not all(each.requires_grad for each in tensors):
        raise AssertionError("register_multi_grad_hook: a tensor requires no gradient")
    return add_hook_of_several(tensors, fn, mode == "any", FRONT_END)


_show(globals())
