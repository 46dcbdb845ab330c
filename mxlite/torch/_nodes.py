"""Nodes of the graph whose rule is Python's: what autograd.Function records, and functions of the module that the
library has no operator for, whose gradients are formulas over tensors.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable

from mxlite import _backward, error
from mxlite._lib import LIB
from mxlite.autograd import graph
from mxlite.torch._calls import AGAIN, adopt, check_call, prepare
from mxlite.torch._tensor import Tensor


class _Running(threading.local):
    """Whether the rule that runs on this thread belongs to a node whose saved values were released."""

    released = False


running = _Running()


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded."""
    flag = ctypes.c_int()
    check_call(LIB.MXLGetGradMode(ctypes.byref(flag)))
    return bool(flag.value)


def set_grad_mode(enabled: bool) -> bool:
    """Switches recording for this thread; what it was before."""
    before = ctypes.c_int()
    check_call(LIB.MXLSetGradMode(int(enabled), ctypes.byref(before)))
    return bool(before.value)


class unrecorded:  # noqa: N801 - used as a word: `with unrecorded():`
    """A with-block whose operations are not recorded."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before = set_grad_mode(False)

    def __exit__(self, *_: object) -> None:
        set_grad_mode(self.before)


class Saved:
    """A tensor that a rule will read: with the version it had, and which output of its node it is (-1: none).

    An output is kept without its place in the graph, or the node would keep itself alive.
    """

    __slots__ = ("tensor", "version", "output")

    def __init__(self, tensor: Tensor, output: int = -1) -> None:
        self.tensor = tensor if output < 0 else tensor.detach()
        self.version = tensor._version
        self.output = output

    def get(self) -> Tensor:
        """The tensor as the rule sees it; within a rule an output stands where it did in the graph.

        Raises: RuntimeError: it was released, or written to since.
        """
        if running.released:
            raise RuntimeError(AGAIN)
        tensor = self.tensor
        version = tensor._version
        if version != self.version:
            node, number = tensor._node()
            maker = "" if node is None else f", which is output {number} of {type(node).__name__},"
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{tensor.type()} {list(tensor.shape)}]{maker} is at version {version}; expected version "
                f"{self.version} instead. Hint: enable anomaly detection to find the operation that failed to compute "
                "its gradient, with torch.autograd.set_detect_anomaly(True)."
            )
        if self.output < 0:
            return tensor
        return adopt(LIB.MXLCustomFunctionOutput(tensor._h, self.output), tensor._dtype)


#: What a rule gets: the outputs' gradients (None where none arrived), and whose gradients are wanted. What it returns:
#: a gradient for each input, or None.
Rule = Callable[[list, list], list]


def record(
    label: str, inputs: list[Tensor], outputs: list[Tensor], rule: Rule, slots: str | None = None, context: Any = None
) -> None:
    """Gives the outputs, computed unrecorded, their places as the results of a node.

    Nothing happens where no gradient flows to an input. An output that is an input, edited in place, gets a new place.

    Args:
        context: What the node takes its attributes from.
    """
    call = prepare(label, "_copy", slots=slots)
    number = graph.keep(rule)
    taken = ctypes.c_int()
    status = LIB.MXLFunctionRecord(
        call, len(inputs), _handles(inputs), len(outputs), _handles(outputs), _RULE, number, graph.RELEASE,
        ctypes.byref(taken),
    )  # fmt: skip
    if status != 0 or not taken.value:
        _backward.recorded.pop(number, None)
    check_call(status)
    if taken.value and context is not None:
        handle, _ = graph.edge_of(outputs[0]._h)
        graph.set_context(handle, context)
        LIB.MXLNodeFree(handle)


def _handles(tensors: list[Tensor]) -> ctypes.Array:
    return (ctypes.c_void_p * max(1, len(tensors)))(*(tensor._h for tensor in tensors))


def formula(
    label: str,
    inputs: list[Tensor],
    compute: Callable,
    rule: Callable,
    slots: str | None = None,
    saves: str | tuple[str, ...] = "",
) -> Any:
    """A function of tensors whose gradient is a formula.

    Args:
        compute: Of `inputs`, without recording: the result.
        rule: Of the result's gradient and of what is saved: a list of gradients of `inputs`.
        saves: What the rule reads: a digit for an input, "r" for the result; or that for the gradient of each input.
            The rule gets it in order, the result last; None for what only gradients that nobody wants need.
    """
    with unrecorded():
        result = compute(*inputs)
    if is_grad_enabled() and any(each.requires_grad for each in inputs):
        kept = _saved(inputs, result, saves)

        def run_rule(grads: list, wanted: list) -> list:
            return rule(grads[0], *(None if each is None else each.get() for each in kept))

        record(label, inputs, [result], run_rule, slots)
    return result


def _saved(inputs: list[Tensor], result: Tensor, saves: str | tuple[str, ...]) -> list[Saved | None]:
    if isinstance(saves, str):
        named = needed = sorted(saves)
    else:
        named = sorted(set("".join(saves)))
        needed = [name for each, names in zip(inputs, saves) if each.requires_grad for name in names]
    return [
        None if name not in needed else Saved(result, 0) if name == "r" else Saved(inputs[int(name)]) for name in named
    ]


_HANDLES = ctypes.POINTER(ctypes.c_void_p)
_INTS = ctypes.POINTER(ctypes.c_int)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, _HANDLES, ctypes.c_int, _INTS, ctypes.c_int, _HANDLES)
def _RULE(number: int, outputs: int, heads: Any, inputs: int, wanted: Any, released: int, results: Any) -> int:  # noqa: N802
    """The library's call for the gradients of a node. 0, or -1 with the exception kept."""
    outer = running.released
    try:
        grads = [adopt(heads[i]) if heads[i] else None for i in range(outputs)]
        with _backward.allowing_interrupts():
            running.released = bool(released)
            flags = [bool(wanted[i]) for i in range(inputs)]
            given = _backward.recorded[number](grads, flags)
        for index, (grad, flag) in enumerate(zip(given, flags)):
            if flag and grad is not None:
                results[index] = graph.share(grad._h)
        return 0
    except BaseException as problem:
        error.keep_exception(problem)
        return -1
    finally:
        running.released = outer


ctypes.pythonapi.Py_IncRef(ctypes.py_object(_RULE))
