"""Places of arrays in the graph: arrays at a place of their own, and where gradients flow."""

from __future__ import annotations

from typing import Any

from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import detached, record, recorded
from mxlite.autograd._transforms.levels import count, is_traced, lifted


def placed_anew(front_end: FrontEnd, array: Any) -> tuple[Any, Any]:
    """The same memory at a new place in the graph, where gradients and tangents with respect to it are asked for.

    Returns: the leaf behind that place, None where it is the array's own place; and the array at the new place, which
        may be edited.
    Raises: RuntimeError: it is not floating.
    """
    array = lifted(front_end, array) if count[0] else array
    source = array if array.requires_grad else detached(front_end, array).requires_grad_()
    made = detached(front_end, array)
    with recorded(front_end):
        record(front_end, "ViewBackward0", [source], [made], lambda grads, wanted: list(grads))
    return (None if source is array else source), made


def leads_beyond(arrays: list, own: list) -> bool:
    """Whether a gradient of one of the arrays flows to another leaf than those of `own`."""
    if count[0] and any(is_traced(array._graph_front_end, array) for array in arrays):
        return True
    todo = [array._node()[0] for array in arrays]
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
