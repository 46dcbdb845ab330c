"""The engine as PyTorch's programs call it: run_backward, which backward and grad are made of, and its callbacks."""

from __future__ import annotations

import ctypes
import warnings
from typing import Any, Callable

from mxlite import _backward
from mxlite._lib import LIB, ask, hot
from mxlite.autograd import graph
from mxlite.autograd._graph import meta_of as node_meta
from mxlite.autograd._hooks import call_at_end
from mxlite.autograd._nodes import recorded, unrecorded
from mxlite.autograd._run import Edges, run_from_edges
from mxlite.torch._calls import adopt
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import OF_FLAG, dtype
from mxlite.torch._gradient import FRONT_END, Gradient
from mxlite.torch._kinds import Size, can_sum_to
from mxlite.torch._shape.shapes import sum_to
from mxlite.torch._tensor import Tensor

_warned_of_cycle = False

#: Whether each backward keeps its graph, as tangents are found in it (forward_ad.py), and is recorded if it returns.
_keeps_all = False


def keep_all(flag: bool) -> None:
    """Says so, for all threads."""
    global _keeps_all
    _keeps_all = flag


def meta_of(head: Tensor | graph.Edge) -> tuple[Size, dtype]:
    """Shape and dtype of what a gradient flows from."""
    if isinstance(head, Tensor):
        return head.shape, head._dtype
    shape, flag = node_meta(head.node._h, 1, head.output_nr)
    return Size(shape), OF_FLAG[flag]


def _edge(value: Tensor | graph.Edge, edges: Edges) -> tuple[int, int]:
    """The node that the gradient of a tensor (or an edge) goes to, 0: nowhere; and which of its outputs."""
    return (value.node._h, value.output_nr) if isinstance(value, graph.Edge) else edges.of(value)


def _roots(tensors: tuple, grads: tuple, edges: Edges) -> list[tuple[int, int]]:
    """The edges of the heads.

    Raises: RuntimeError: no head, one that no gradient flows to, or a gradient that is none.
    """
    roots = []
    for number, (head, grad) in enumerate(zip(tensors, grads)):
        is_edge = isinstance(head, graph.Edge)
        if not is_edge and not isinstance(head, Tensor):
            raise RuntimeError(f"tensor {number} is no Tensor and no GradientEdge")
        roots.append(_edge(head, edges))
        if not roots[-1][0]:
            raise RuntimeError(f"tensor {number} has no grad_fn and requires no gradient")
        if grad is None:
            raise RuntimeError(f"gradient {number} is None; {'a GradientEdge' if is_edge else 'its tensor'} takes one")
        if not isinstance(grad, Tensor):
            raise RuntimeError(f"gradient {number} is no Tensor and not None")
    return roots


def _wanted(inputs: tuple, accumulate_grad: bool, edges: Edges) -> list[tuple[int, int]]:
    """The edges of the inputs; those whose gradients are added up keep them from now on.

    Raises: RuntimeError: no tensor, or one that no gradient flows to.
    """
    wanted = []
    for each in inputs:
        if not isinstance(each, (Tensor, graph.Edge)):
            raise RuntimeError(f"inputs are Tensors or GradientEdges, got {type(each).__name__}")
        if accumulate_grad and isinstance(each, Tensor):
            each.retain_grad()
        wanted.append(_edge(each, edges))
        if not wanted[-1][0]:
            raise RuntimeError("inputs: a tensor requires no gradient")
    return wanted


def _fitted(number: int, grad: Tensor, head: Tensor | graph.Edge, create_graph: bool) -> Tensor:
    """A head gradient as the library takes it: with the head's dtype, summed to its shape.

    Raises: RuntimeError: it is not of a shape that the head's could be broadcast to.
    """
    shape, kind = meta_of(head)
    if grad.shape == shape and grad._dtype is kind:
        return grad
    if not can_sum_to(grad.shape, shape):
        raise RuntimeError(
            f"the gradient of tensor {number} has shape {list(grad.shape)}, which cannot be summed to {list(shape)}"
        )
    with (recorded if create_graph else unrecorded)(FRONT_END):
        return cast(grad if grad.shape == shape else sum_to(grad, shape), kind)


def _check_tuples(tensors: Any, grad_tensors: Any, inputs: Any) -> None:
    for name, value in (("tensors", tensors), ("grad_tensors", grad_tensors)):
        if not isinstance(value, tuple):
            raise RuntimeError(f"{name} is a tuple, got {type(value).__name__}")
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"inputs is a tuple, got {type(inputs).__name__}")
    if len(tensors) != len(grad_tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")


def run_backward(
    tensors: tuple,
    grad_tensors: tuple,
    keep_graph: bool,
    create_graph: bool,
    inputs: tuple = (),
    allow_unreachable: bool = False,
    accumulate_grad: bool = False,
) -> tuple | None:
    """Runs backward from tensors (or edges) with their gradients to all leaves, or to `inputs`.

    Args:
        tensors, grad_tensors: As many of both. A gradient of a larger shape is summed to that of its tensor.
        keep_graph: Whether the graph can be used again.
        create_graph: Whether gradients are recorded themselves.
        allow_unreachable: Whether inputs that the tensors do not lead to get None instead of an error.
        accumulate_grad: Whether gradients are added to those of the leaves, or of `inputs`, instead of returned.
    Returns: the gradients of `inputs`; None where they are added up.
    Raises: RuntimeError: what is given is no tuple, no gradient flows to a tensor or from it to an input, a shape is
        wrong, or gradients are to be returned and there are no inputs.
    """
    _check_tuples(tensors, grad_tensors, inputs)
    with Edges() as edges:
        roots = _roots(tensors, grad_tensors, edges)
        wanted = _wanted(inputs, accumulate_grad, edges)
        if create_graph and accumulate_grad:
            _warn_of_cycle()
        keep_graph, create_graph = keep_graph or _keeps_all, create_graph or (_keeps_all and not accumulate_grad)
        if not accumulate_grad and not inputs:
            raise RuntimeError("run_backward: gradients are to be returned (accumulate_grad=False): give inputs")
        heads = [_fitted(k, grad, tensors[k], create_graph) for k, grad in enumerate(grad_tensors)]
        made = run_from_edges(
            FRONT_END,
            roots,
            [each._h for each in heads],
            wanted,
            keep_graph=keep_graph,
            create_graph=create_graph,
            training=True,
            accumulate_grad=accumulate_grad,
        ) if roots else [None] * len(inputs)  # fmt: skip
    if accumulate_grad:
        return None
    found = tuple(None if handle is None else adopt(handle) for handle in made)
    if not allow_unreachable and None in made:
        raise RuntimeError(
            f"input {made.index(None)} is not used in the graph of the outputs; allow_unused=True gives None for it"
        )
    return found


def backward_of_loss(loss: Tensor, keep_graph: bool) -> bool:
    """The usual backward: to all leaves, from a tensor of one element that requires a gradient, in one call.

    Returns: whether the tensor is one; for another nothing has been done, and run_backward says why.
    """
    if _keeps_all:
        return False
    with _backward.noting_interrupts():
        status = hot.backward_of_one(loss._h, keep_graph, FRONT_END.dialect)
    if status < 0:
        raise _backward.failed(FRONT_END.last_error())
    return status == 0


def _warn_of_cycle() -> None:
    global _warned_of_cycle
    if not _warned_of_cycle:
        _warned_of_cycle = True
        warnings.warn(
            "backward: with create_graph=True a parameter and its .grad hold each other in memory, until .grad "
            "is set to None; autograd.grad does not do so",
            stacklevel=4,
        )


def queue_callback(fn: Callable[[], Any]) -> None:
    """Calls fn() at the end of the backward that runs on this thread.

    Raises: RuntimeError: none runs.
    """
    call_at_end(fn, lambda: RuntimeError("queue_callback: there is no backward under way"))


def is_checkpoint_valid() -> bool:
    """Whether a backward for all leaves runs on this thread, or none: then a recomputed part is complete."""
    return ask(ctypes.c_int, LIB.MXLBackwardState) != 2


class ImperativeEngine:
    """The engine that runs backward, as an object."""

    run_backward = staticmethod(run_backward)
    queue_callback = staticmethod(queue_callback)
    is_checkpoint_valid = staticmethod(is_checkpoint_valid)


#: What `tensor._execution_engine` is.
engine = ImperativeEngine()
Gradient._execution_engine = engine
