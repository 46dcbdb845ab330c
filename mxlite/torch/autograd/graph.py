"""`torch.autograd.graph`: the nodes of the graph, and the edges of tensors."""

from __future__ import annotations

from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd.graph import Edge as GradientEdge
from mxlite.autograd.graph import Node, RemovableHandle
from mxlite.autograd.saved import SavedHooks
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._tensor import Tensor

__all__ = ["GradientEdge", "Node", "RemovableHandle", "get_gradient_edge", "saved_tensors_hooks"]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the tensor's gradient goes: a node, and which of its outputs.

    Raises: RuntimeError: no gradient flows to it.
    """
    node, output = tensor._node()
    if node is None:
        raise RuntimeError("get_gradient_edge: the tensor requires no gradient")
    return GradientEdge(node, output)


class saved_tensors_hooks(SavedHooks):  # noqa: N801 - PyTorch's name
    __doc__ = SavedHooks.__doc__

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__(pack_hook, unpack_hook, FRONT_END)


_show(globals())
