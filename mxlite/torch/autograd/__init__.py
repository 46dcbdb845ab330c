"""`torch.autograd`: backward and grad over the graph that operations record, functions, and checks of gradients."""

# ruff: noqa: F401 - what is imported here is what the module offers

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from mxlite._public import defined as _defined
from mxlite._public import show as _show
from mxlite.autograd import graph as _graph
from mxlite.autograd._transforms.batches import mapped as _mapped
from mxlite.torch._basic import placed
from mxlite.torch._calls import method
from mxlite.torch._gradient import FRONT_END as _FRONT_END
from mxlite.torch._tensor import Tensor, full_of, zeros_of
from mxlite.torch.autograd import _saved, anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler
from mxlite.torch.autograd import gradcheck as _checks
from mxlite.torch.autograd._engine import backward_of_loss as _backward_of_loss
from mxlite.torch.autograd._engine import meta_of as _meta_of
from mxlite.torch.autograd._engine import run_backward as _run_backward
from mxlite.torch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from mxlite.torch.autograd.function import Function as Function
from mxlite.torch.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mxlite.torch.autograd.variable import Variable

gradcheck, gradgradcheck = _checks.gradcheck, _checks.gradgradcheck


def _retain_option(retain_graph: bool | None, retain_variables: bool | None) -> bool | None:
    """`retain_graph`, or what its old name says.

    Raises: ValueError: both are given.
    """
    if retain_variables is None:
        return retain_graph
    if retain_graph is not None:
        raise ValueError("backward: retain_variables is the old name of retain_graph; give one of them")
    warnings.warn("retain_variables is an old name of retain_graph", stacklevel=3)
    return retain_variables


def _tuple(value: Any, caller: str = "") -> tuple:
    if isinstance(value, (Tensor, _graph.Edge)):
        return (value,)
    if type(value) is dict:
        return tuple(value.values())
    if caller and isinstance(value, Mapping):
        raise TypeError(f"{caller}: `inputs` may be a dict, but no other mapping, got {type(value).__name__}")
    return tuple(value)


def _heads(tensors: tuple, given: tuple) -> tuple[Tensor | None, ...]:
    """The gradients of the tensors; those that are left out are 1.

    Raises: RuntimeError: another shape, or none for a tensor of more than one element; TypeError: no tensor.
    """
    heads: list[Tensor | None] = []
    for number, (tensor, grad) in enumerate(zip(tensors, given)):
        if not isinstance(tensor, (Tensor, _graph.Edge)):
            raise AssertionError(f"backward: an output is a tensor, got {type(tensor).__name__}")
        shape, kind = _meta_of(tensor)
        if isinstance(grad, Tensor):
            if grad.shape != shape:
                raise RuntimeError(f"the gradient of output {number} has shape {grad.shape}, the output {shape}")
        elif grad is not None:
            raise TypeError(f"the gradient of an output is a tensor or None, got {type(grad).__name__}")
        elif isinstance(tensor, _graph.Edge) or tensor.requires_grad:
            if shape.numel() != 1:
                raise RuntimeError(
                    f"an output of shape {shape} takes a gradient; only one of one element has 1 by itself"
                )
            where = tensor.device if isinstance(tensor, Tensor) else "cpu"
            grad = placed(full_of, where)(tuple(shape), 1, kind)
        heads.append(grad)
    return tuple(heads)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
    retain_variables: bool | None = None,
) -> None:
    """Adds the gradients of `tensors` to those of the leaves they were computed from.

    Args:
        tensors: One tensor, or a sequence of them.
        grad_tensors: Their gradients, of their shapes; None (also in the sequence): 1, of tensors of one element.
        retain_graph: Whether the graph can be used again; None: as `create_graph`.
        create_graph: Whether gradients are recorded themselves.
        grad_variables: grad_tensors, as they were called once.
        inputs: The tensors whose gradients are wanted; None: all leaves.
        retain_variables: retain_graph, as it was called once.
    """
    if grad_variables is not None:
        warnings.warn("grad_variables is an old name of grad_tensors", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("backward: grad_variables is the old name of grad_tensors; give one of them")
        grad_tensors = grad_variables
    retain_graph = _retain_option(retain_graph, retain_variables)
    if isinstance(tensors, Tensor) and grad_tensors is inputs is None and not create_graph:
        if _backward_of_loss(tensors, bool(retain_graph)):
            return
    wanted = () if inputs is None else _tuple(inputs, "backward")
    if inputs is not None and not wanted:
        raise RuntimeError("backward: `inputs` is empty")
    heads = _tuple(tensors)
    given = _given(grad_tensors, len(heads))
    keep = create_graph if retain_graph is None else retain_graph
    _run_backward(heads, _heads(heads, given), keep, create_graph, wanted, True, True)


@method("backward")
def _backward_of(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    retain_variables: bool | None = None,
) -> None:
    """As torch.autograd.backward, of this tensor and its `gradient`."""
    given = _retain_option(retain_graph, retain_variables)
    backward(self, gradient, given, create_graph, inputs=inputs)


def _given(grads: Any, count: int) -> tuple:
    if grads is None:
        return (None,) * count
    return (grads,) if isinstance(grads, Tensor) else tuple(grads)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, as a tuple of new tensors, or a dict for a dict.

    Args:
        outputs, inputs: One tensor, or a sequence of them; inputs also as the values of a dict.
        grad_outputs: Gradients of the outputs; None: 1, of tensors of one element.
        retain_graph: Whether the graph can be used again; None: as `create_graph`.
        create_graph: Whether gradients are recorded themselves.
        only_inputs: Once said whether other leaves get gradients too; of no meaning.
        allow_unused: Whether inputs that the outputs do not depend on get None instead of an error.
        is_grads_batched: Whether `grad_outputs` have a first dimension more, each of whose parts is a gradient; so have
            the results.
        materialize_grads: Whether inputs that the outputs do not depend on get zeros, which require a gradient under
            `create_graph`.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "grad: materialize_grads=True gives zeros for what is not used, so that allow_unused=False contradicts it"
        )
    if not only_inputs:
        warnings.warn(
            "grad: only_inputs does nothing; torch.autograd.backward adds gradients to other leaves",
            FutureWarning,
            stacklevel=2,
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    heads, wanted = _tuple(outputs), _tuple(inputs, "grad")
    if not wanted:
        raise RuntimeError("grad: `inputs` is empty")
    given = _given(grad_outputs, len(heads))
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = _batched(heads, wanted, given, keep, create_graph, allow_unused)
    else:
        found = _run_backward(heads, _heads(heads, given), keep, create_graph, wanted, allow_unused, False)
    if materialize_grads:
        found = tuple(_zeros(wanted[k], create_graph) if each is None else each for k, each in enumerate(found))
    return dict(zip(inputs, found)) if type(inputs) is dict else found


def _zeros(like: Any, requires_grad: bool) -> Tensor:
    shape, kind = _meta_of(like)
    return zeros_of(tuple(shape), kind).requires_grad_(requires_grad)


def _batched(heads: tuple, wanted: tuple, given: tuple, keep: bool, create: bool, allow_unused: bool) -> tuple:
    found: list = []

    def run(*grads: Tensor | None) -> tuple:
        found[:] = _run_backward(heads, _heads(heads, grads), keep, create, wanted, allow_unused, False) or ()
        return tuple(each for each in found if each is not None)

    dims = tuple(None if each is None else 0 for each in given)
    made = iter(_mapped(_FRONT_END, run, dims, 0, "different")(*given))
    return tuple(None if each is None else next(made) for each in found)


__all__ = [*_defined(globals()), "anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph"]
__all__ += ["profiler"]
__all__ += ["gradcheck", "gradgradcheck", "is_grad_enabled"]

_show(globals())
