"""`torch.autograd`: backward and grad over the graph that operations record, functions, and checks of gradients."""

from __future__ import annotations

import warnings
from typing import Any

from mxlite._lib import LIB
from mxlite.autograd import graph as _graph
from mxlite.autograd._handles import edge_of
from mxlite.autograd._run import run_from_edges
from mxlite.torch._calls import adopt, last_error
from mxlite.torch._convert import cast
from mxlite.torch._tensor import Tensor, full_of, zeros_of
from mxlite.torch.autograd import function, functional, grad_mode, graph
from mxlite.torch.autograd import gradcheck as _checks
from mxlite.torch.autograd.function import Function
from mxlite.torch.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from mxlite.torch.autograd.variable import Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]

gradcheck, gradgradcheck = _checks.gradcheck, _checks.gradgradcheck

_TORCH = 1

_warned_of_cycle = False


def retain_option(retain_graph: bool | None, retain_variables: bool | None) -> bool | None:
    """`retain_graph`, or what its old name says.

    Raises: ValueError: both are given.
    """
    if retain_variables is None:
        return retain_graph
    if retain_graph is not None:
        raise ValueError("only one of retain_graph and retain_variables can be specified")
    warnings.warn(
        "retain_variables option is deprecated and will be removed in 0.3. Use retain_graph instead.", stacklevel=3
    )
    return retain_variables


def _tuple(value: Any) -> tuple:
    return (value,) if isinstance(value, (Tensor, _graph.Edge)) else tuple(value)


def _edge(value: Any, owned: list[int]) -> tuple[int, int]:
    """The node that the gradient of a tensor (or an edge) goes to, 0: nowhere; and which of its outputs.

    A handle that is new is put into `owned`.
    """
    if isinstance(value, _graph.Edge):
        return value.node._handle, value.output_nr
    handle, output = edge_of(value._h)
    if handle:
        owned.append(handle)
    return handle, output


def _heads(tensors: tuple, given: tuple) -> list[Tensor | None]:
    """The gradients of the tensors, as the library takes them.

    Raises: RuntimeError: another shape, or none for a tensor of more than one element; TypeError: no tensor.
    """
    heads: list[Tensor | None] = []
    for number, (tensor, grad) in enumerate(zip(tensors, given)):
        if isinstance(tensor, _graph.Edge):
            heads.append(grad)
            continue
        if isinstance(grad, Tensor):
            if grad.shape != tensor.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{number}] has a shape of {grad.shape} and output[{number}] has a "
                    f"shape of {tensor.shape}."
                )
            heads.append(cast(grad, tensor._dtype))
        elif grad is None:
            if tensor.requires_grad:
                if tensor.numel() != 1:
                    raise RuntimeError("grad can be implicitly created only for scalar outputs")
                heads.append(full_of(tuple(tensor.shape), 1, tensor._dtype))
            else:
                heads.append(None)
        else:
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    return heads


def run_backward(
    tensors: tuple,
    grad_tensors: tuple,
    keep_graph: bool,
    create_graph: bool,
    inputs: tuple = (),
    allow_unreachable: bool = False,
    accumulate_grad: bool = False,
) -> tuple | None:
    """Runs the engine: from tensors with their gradients to all leaves, or to `inputs`.

    Args:
        allow_unreachable: Whether inputs that the tensors do not lead to get None instead of an error.
        accumulate_grad: Whether the gradients of `inputs` are added to theirs instead of returned.
    Returns: the gradients of `inputs`, () where they are added up, None without inputs.
    Raises: RuntimeError: no gradient flows to a tensor, or to an input.
    """
    tensors, inputs, given = tuple(tensors), tuple(inputs), tuple(grad_tensors)
    if len(tensors) != len(given):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(given)} gradients")
    if create_graph and accumulate_grad and not inputs:
        _warn_of_cycle()
    roots: list[tuple[int, int]] = []
    wanted: list[tuple[int, int]] = []
    owned: list[int] = []
    try:
        for number, tensor in enumerate(tensors):
            roots.append(_edge(tensor, owned))
            if not roots[-1][0]:
                raise RuntimeError(f"element {number} of tensors does not require grad and does not have a grad_fn")
        for each in inputs:
            wanted.append(_edge(each, owned))
            if not wanted[-1][0]:
                raise RuntimeError("One of the differentiated Tensors does not require grad")
        if not roots:
            return (None,) * len(inputs) if inputs else None
        made = _run(roots, given, wanted, keep_graph, create_graph, allow_unreachable, accumulate_grad)
    finally:
        for handle in owned:
            LIB.MXLNodeFree(handle)
    if not inputs:
        return None
    if accumulate_grad:
        return ()
    return tuple(None if handle is None else adopt(handle) for handle in made)


def _run(
    roots: list,
    given: tuple,
    wanted: list,
    keep_graph: bool,
    create_graph: bool,
    allow_unreachable: bool,
    accumulate_grad: bool,
) -> list[int | None]:
    return run_from_edges(
        roots,
        [None if grad is None else grad._h for grad in given],
        wanted,
        keep_graph=keep_graph,
        create_graph=create_graph,
        allow_unreachable=allow_unreachable,
        accumulate_grad=accumulate_grad,
        training=True,
        dialect=_TORCH,
        problem=last_error,
    )


def _warn_of_cycle() -> None:
    global _warned_of_cycle
    if not _warned_of_cycle:
        _warned_of_cycle = True
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
            "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
            "after use to break the cycle and avoid the leak.",
            stacklevel=4,
        )


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
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                "use `grad_tensors`."
            )
        grad_tensors = grad_variables
    retain_graph = retain_option(retain_graph, retain_variables)
    wanted = () if inputs is None else _tuple(inputs)
    if inputs is not None and not wanted:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    heads = _tuple(tensors)
    for each in heads:
        if not isinstance(each, (Tensor, _graph.Edge)):
            raise AssertionError("Expected output to be a torch.Tensor")
    for each in wanted:
        if isinstance(each, Tensor) and not each.is_leaf:
            each.retain_grad()
        elif isinstance(each, Tensor) and not each.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    given = _given(grad_tensors, len(heads))
    keep = create_graph if retain_graph is None else retain_graph
    run_backward(heads, _heads(heads, given), keep, create_graph, wanted, True, True)


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
) -> tuple:
    """The gradients of `outputs` with respect to `inputs`, as a tuple of new tensors.

    Args:
        outputs, inputs: One tensor, or a sequence of them.
        grad_outputs: Gradients of the outputs; None: 1, of tensors of one element.
        retain_graph: Whether the graph can be used again; None: as `create_graph`.
        create_graph: Whether gradients are recorded themselves.
        only_inputs: Once said whether other leaves get gradients too; of no meaning.
        allow_unused: Whether inputs that the outputs do not depend on get None instead of an error.
        is_grads_batched: Whether `grad_outputs` have a first dimension more, each of whose parts is a gradient; so have
            the results.
        materialize_grads: Whether inputs that the outputs do not depend on get zeros.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient "
            "for other "
            "parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    heads, wanted = _tuple(outputs), _tuple(inputs)
    for each in (*heads, *wanted):
        if not isinstance(each, (Tensor, _graph.Edge)):
            raise AssertionError("Expected output to be a torch.Tensor")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given = _given(grad_outputs, len(heads))
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(heads, wanted, given, keep, create_graph, allow_unused, materialize_grads)
    found = run_backward(heads, _heads(heads, given), keep, create_graph, wanted, True, False)
    return _finished(found, wanted, allow_unused, materialize_grads)


def _finished(found: tuple, wanted: tuple, allow_unused: bool, materialize: bool) -> tuple:
    if not allow_unused:
        for number, each in enumerate(found):
            if each is None:
                raise RuntimeError(
                    f"The differentiated Tensor at index {number} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
    if not materialize:
        return found
    return tuple(
        zeros_of(tuple(wanted[number].shape), wanted[number]._dtype) if each is None else each
        for number, each in enumerate(found)
    )


def _batched(
    heads: tuple, wanted: tuple, given: tuple, keep: bool, create: bool, allow_unused: bool, materialize: bool
) -> tuple:
    from mxlite.torch._parts import stack

    count = next(len(each) for each in given if each is not None)
    rows = []
    for place in range(count):
        one = tuple(None if each is None else each[place] for each in given)
        last = place == count - 1
        found = run_backward(heads, _heads(heads, one), keep or not last, create, wanted, True, False)
        rows.append(_finished(found, wanted, allow_unused, materialize))
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows))
