"""`torch.autograd.graph`: the nodes of the graph, and where tensors stand in it."""

from __future__ import annotations

from mxlite.autograd.graph import Edge as GradientEdge
from mxlite.autograd.graph import Node, RemovableHandle
from mxlite.torch._tensor import Tensor

__all__ = ["GradientEdge", "Node", "RemovableHandle", "get_gradient_edge"]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where the tensor's gradient goes: a node, and which of its outputs.

    Raises: RuntimeError: no gradient flows to it.
    """
    node, output = tensor._node()
    if node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(node, output)
