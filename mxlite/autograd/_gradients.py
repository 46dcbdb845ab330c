"""Variables, backward and grad, for NDArrays."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mxlite import _backward
from mxlite._lib import LIB, check_call
from mxlite.autograd._handles import register_variable
from mxlite.ndarray import _gradient
from mxlite.ndarray._gradient import GRAD_REQS
from mxlite.ndarray.ndarray import NDArray, invoke

if TYPE_CHECKING:
    from mxlite.symbol import Symbol


def array_list(value: Any, what: str) -> list[NDArray]:
    arrays = list(value) if isinstance(value, Iterable) and not isinstance(value, NDArray) else [value]
    for array in arrays:
        if not isinstance(array, NDArray):
            raise TypeError(f"{what} must be NDArrays, got {type(array).__name__}")
    return arrays


def handles_of(arrays: Iterable[NDArray | None]) -> ctypes.Array:
    return _backward.handle_array(numbers_of(arrays))


def numbers_of(arrays: Iterable[NDArray | None]) -> list[int | None]:
    return [None if array is None else array._h for array in arrays]


def mark_variables(
    variables: NDArray | list[NDArray], gradients: NDArray | list[NDArray], grad_reqs: str | list[str] = "write"
) -> None:
    """Makes arrays variables whose gradients go to the given arrays, of the same shapes and dtypes.

    Args:
        grad_reqs: "write", "add" or "null"; one for all, or a list.
    Raises: KeyError (an unknown request), ValueError (lists of different lengths), MXNetError (shapes, dtypes).
    """
    variables, gradients = array_list(variables, "variables"), array_list(gradients, "gradients")
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(requests):
        raise ValueError(
            f"mark_variables: {len(variables)} variables, {len(gradients)} gradients and {len(requests)} requests"
        )
    numbers = (ctypes.c_uint32 * len(requests))(*(GRAD_REQS[request] for request in requests))
    check_call(LIB.MXAutogradMarkVariables(len(variables), handles_of(variables), numbers, handles_of(gradients)))
    for variable in variables:
        register_variable(variable)


def _heads(heads: Any, head_grads: Any) -> tuple[list[NDArray], list[int | None] | None]:
    arrays = array_list(heads, "heads")
    if head_grads is None:
        return arrays, None
    grads = [head_grads] if isinstance(head_grads, NDArray) else list(head_grads)
    if len(grads) != len(arrays):
        raise ValueError(f"there are {len(arrays)} heads and {len(grads)} head_grads")
    for grad in grads:
        if grad is not None and not isinstance(grad, NDArray):
            raise TypeError(f"head_grads must be NDArrays or None, got {type(grad).__name__}")
    return arrays, numbers_of(grads)


def backward(
    heads: NDArray | list[NDArray],
    head_grads: NDArray | list[NDArray | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
    create_graph: bool = False,
    inputs: NDArray | list[NDArray] | None = None,
) -> None:
    """Computes the gradients of `heads` into the buffers of the variables they were recorded from.

    Args:
        head_grads: gradients of the heads, of their dtypes and as many elements; None: ones.
        retain_graph: whether the graph can be used again.
        train_mode: the training flag meanwhile.
        create_graph: whether the gradients are recorded themselves (the graph can be used again then).
        inputs: the arrays whose gradients are wanted, variables or computed ones; None: all variables.
    """
    arrays, grads = _heads(heads, head_grads)
    _gradient.backward(arrays, grads, retain_graph, train_mode, create_graph, inputs)


def grad(
    heads: NDArray | list[NDArray],
    variables: NDArray | list[NDArray],
    head_grads: NDArray | list[NDArray | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    is_grads_batched: bool = False,
) -> list[NDArray]:
    """The gradients of `heads` with respect to `variables`, as a list of new arrays; no buffer is touched.

    Args:
        head_grads: gradients of the heads, of their dtypes and as many elements; None: ones.
        retain_graph: whether the graph can be used again; None: as `create_graph`.
        create_graph: whether the gradients are recorded themselves, to be differentiated again.
        train_mode: the training flag meanwhile.
        allow_unused: whether a variable that the heads do not depend on gets None instead of an error.
        materialize_grads: whether it gets zeros instead.
        is_grads_batched: whether `head_grads` have a first axis more, each of whose parts is a gradient of the head;
            so have the results.
    Raises: ValueError (no variables), MXNetError (a variable that the heads do not reach).
    """
    wanted = array_list(variables, "variables")
    if not wanted:
        raise ValueError("grad: there are no variables to differentiate by")
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads gives zeros for variables that are not used: allow_unused is True")
    retain = create_graph if retain_graph is None else retain_graph
    missing = None if not (allow_unused or materialize_grads) else materialize_grads
    if is_grads_batched:
        return _batched(heads, wanted, head_grads, retain, create_graph, train_mode, missing)
    arrays, grads = _heads(heads, head_grads)
    return _grad(arrays, wanted, grads, retain, create_graph, train_mode, missing)


def _grad(
    heads: list[NDArray],
    wanted: list[NDArray],
    head_grads: list[int | None] | None,
    retain: bool,
    create: bool,
    train_mode: bool,
    missing: bool | None,
) -> list[Any]:
    """`missing`: what a variable gets that is not reached: an error (None), None (False), zeros (True)."""
    if missing is None:
        results = _backward.backward(
            numbers_of(heads), head_grads, numbers_of(wanted), retain, create, train_mode
        )  # fmt: skip
        return [array._kind._adopt(result) for array, result in zip(wanted, results)]
    found = _gradient.run_backward(heads, head_grads, wanted, retain, train_mode, create, False)
    return [
        (invoke("zeros_like", [array.detach()], {}) if missing else None)
        if result is None
        else array._kind._adopt(result)
        for array, result in zip(wanted, found)
    ]  # fmt: skip


def _batched(
    heads: Any, wanted: list[NDArray], head_grads: Any, retain: bool, create: bool, train_mode: bool, missing: Any
) -> list[Any]:
    arrays = array_list(heads, "heads")
    batches = [head_grads] if isinstance(head_grads, NDArray) else list(head_grads or ())
    counts = {len(batch) for batch in batches if batch is not None}
    if len(batches) != len(arrays) or len(counts) != 1 or 0 in counts:
        raise ValueError(
            "grad: with is_grads_batched head_grads must be as many as heads, with first axes of one extent above 0; "
            f"got {len(batches)} for {len(arrays)} heads, with extents {sorted(counts)}"
        )
    (count,) = counts
    rows = []
    for place in range(count):
        one = [None if batch is None else batch[place].reshape(head.shape) for batch, head in zip(batches, arrays)]
        keep = retain or place + 1 < count
        rows.append(_grad(arrays, wanted, numbers_of(one), keep, create, train_mode, missing))
    return [
        None if column[0] is None else invoke("stack", list(column), {"axis": 0, "num_args": count})
        for column in zip(*rows)
    ]


def get_symbol(x: NDArray) -> Symbol:
    """The recorded graph that leads to an array, as a Symbol: its variables are var0, var1, ...

    Constants are variables too, called null2 and so on (one count for both); operators are node_0, node_1, ...
    Raises: MXNetError: the array is not part of a recorded graph, or a function of the user's is.
    """
    from mxlite.symbol import Symbol  # which imports autograd

    handle = ctypes.c_void_p()
    check_call(LIB.MXAutogradGetSymbol(x.handle, ctypes.byref(handle)))
    return Symbol(handle)
