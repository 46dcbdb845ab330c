"""Places of tensors in the graph: tensors at a place of their own, and where gradients flow."""

from __future__ import annotations

from mxlite.autograd._nodes import detached, record, recorded
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._tensor import Tensor


def placed_anew(tensor: Tensor) -> tuple[Tensor | None, Tensor]:
    """The same memory at a new place in the graph, where gradients and tangents with respect to it are asked for.

    Returns: the leaf behind that place, None where it is the tensor's own place; and the tensor at the new place, which
        may be edited.
    Raises: RuntimeError: it is not floating.
    """
    source = tensor if tensor.requires_grad else detached(FRONT_END, tensor).requires_grad_()
    made = detached(FRONT_END, tensor)
    with recorded(FRONT_END):
        record(FRONT_END, "AliasBackward0", [source], [made], lambda grads, wanted: list(grads))
    return (None if source is tensor else source), made


def leads_beyond(tensors: list[Tensor], own: list[Tensor]) -> bool:
    """Whether a gradient of one of the tensors flows to another leaf than those of `own`."""
    todo = [tensor._node()[0] for tensor in tensors]
    seen = set()
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.is_accumulating():
            if all(node.variable is not each for each in own):
                return True
        else:
            todo += [below for below, _ in node.next_functions]
    return False
