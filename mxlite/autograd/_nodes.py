"""Nodes of the graph whose rule is Python's, for both front ends: what functions of the user's own record."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import Any, Callable

import numpy as np

from mxlite import _backward
from mxlite._lib import LIB, ask, c_text, check_call, hot, lasting
from mxlite.autograd import _graph as graph
from mxlite.autograd import saved
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import array_id, edge_of, share
from mxlite.autograd._hooks import HANDLES, RELEASE, adopted, callback
from mxlite.autograd._run import Edges, run_from_edges


class unrecorded:  # noqa: N801 - used as a word: `with unrecorded(front_end):`
    """A with-block whose operations are not recorded."""

    __slots__ = ("front_end", "before")

    def __init__(self, front_end: FrontEnd) -> None:
        self.front_end = front_end

    def __enter__(self) -> None:
        self.before = self.front_end.set_recording(False)

    def __exit__(self, *_: object) -> None:
        self.front_end.set_recording(self.before)


class recorded(unrecorded):  # noqa: N801
    """A with-block whose operations are recorded."""

    __slots__ = ()

    def __enter__(self) -> None:
        self.before = self.front_end.set_recording(True)


def detached(front_end: FrontEnd, array: Any) -> Any:
    """The same memory, without a place in the graph."""
    handle = hot.detached(array._h)
    if not handle:
        raise front_end.last_error()
    return front_end.adopt(handle)


def pinned(front_end: FrontEnd, array: Any) -> Any:
    """The same memory at the place that the array has now, whatever is written to it later; a variable is itself."""
    handle = ctypes.c_void_p()
    check_call(LIB.MXLNDArrayPin(array._h, ctypes.byref(handle)))
    made = front_end.adopt(handle.value)
    return array if array_id(made._h) == array_id(array._h) else made


def placed(front_end: FrontEnd, array: Any, node: graph.Node, output: int) -> Any:
    """The same memory at an output of a node."""
    handle = ctypes.c_void_p()
    if LIB.MXLNDArrayPlace(array._h, node._h, output, ctypes.byref(handle)) != 0:
        raise front_end.last_error()
    return front_end.adopt(handle.value)


def note_returned(array: Any) -> None:
    """Says that a function of the user's returns the array: edits that would bypass its gradient are then refused."""
    check_call(LIB.MXLNDArrayNoteReturned(array._h))


class Saved:
    """An array that a rule will read: with the version it had, and which output of its node it is (-1: none).

    An output is kept without its edge, an input with the edge it has now: an edit may attach it behind the node, which
    would then keep itself alive. Where saved_tensors_hooks are in force, the result of their `pack` is kept instead,
    with the edge beside it, to which the unpacked array is attached.
    """

    __slots__ = ("front_end", "array", "version", "output", "owner", "hooks", "packed", "place")

    def __init__(self, front_end: FrontEnd, array: Any, output: int = -1, owner: str = "") -> None:
        self.front_end, self.owner = front_end, owner
        self.version = array._version
        self.output = output
        hooks = saved.current()
        self.hooks = None
        self.array = pinned(front_end, array) if output < 0 else detached(front_end, array)
        if hooks is not None:
            self.pack(hooks)

    def pack(self, hooks: saved.SavedHooks) -> None:
        """Keeps what the hooks make of the array instead.

        Raises: what the front_end says where that has been done.
        """
        if self.hooks is not None:
            raise self.front_end.error(f"{self.owner}: the saved array is packed already")
        array, self.array, self.hooks = self.array, None, hooks
        self.place = array._node() if self.output < 0 else (None, 0)
        with unrecorded(self.front_end):
            self.packed = hooks.packed(detached(self.front_end, array))

    def get(self, in_rule: bool = True) -> Any:
        """The array as the rule sees it; an output is attached to its edge within a rule, and detached elsewhere.

        Raises: what the front_end says where it was written to since.
        """
        array = self._checked() if self.hooks is None else self._unpacked(self.hooks)
        if self.output < 0 or not in_rule:
            return array
        handle = LIB.MXLCustomFunctionOutput(array._h, self.output)
        if not handle:
            raise self.front_end.last_error()
        return self.front_end.adopt(handle)

    def _checked(self) -> Any:
        if self.array._version != self.version:
            node, number = self.array._node()
            raise self.front_end.edited(self.owner, self.array, node, number, self.version)
        return self.array

    def _unpacked(self, hooks: saved.SavedHooks) -> Any:
        array = hooks.unpacked(self.packed)
        node, number = self.place
        return detached(self.front_end, array) if node is None else placed(self.front_end, array, node, number)


#: What a rule gets: the outputs' gradients (None where none arrived), and whose gradients are wanted. What it returns:
#: a gradient for each input, or None. A method `forget`, where it has one, is called when a backward lets go
#: of what was saved.
Rule = Callable[[list, list], list]


@cache
def _labelled(dialect: int, label: str, slots: str | None) -> int:
    """A prepared call that tells MXLFunctionRecord what nodes are called."""
    texts = [None if text is None else c_text(text) for text in (label, slots)]
    return ask(ctypes.c_void_p, LIB.MXLPrepareAs, dialect, *texts, b"_copy", 0, None, None, 0, None)


def record(
    front_end: FrontEnd,
    label: str,
    inputs: list,
    outputs: list,
    rule: Rule,
    slots: str | None = None,
    context: Any = None,
) -> None:
    """Gives the outputs, computed unrecorded, their places as the results of a node.

    Nothing happens where no gradient flows to an input. An output that is an input, edited in place, gets a new place.

    Args:
        context: What the node takes its attributes from.
    """
    call = _labelled(front_end.dialect, label, slots)
    number = hot.keep((rule, front_end))
    taken = ctypes.c_int()
    status = LIB.MXLFunctionRecord(
        call, len(inputs), _handles(inputs), len(outputs), _handles(outputs), _RULE, number,
        _FORGET if hasattr(rule, "forget") else None, RELEASE, ctypes.byref(taken),
    )  # fmt: skip
    if status != 0 or not taken.value:
        hot.drop(number)
    if status != 0:
        raise front_end.last_error()
    if taken.value and context is not None:
        handle, _ = edge_of(outputs[0]._h)
        graph.set_context(handle, context)
        LIB.MXLNodeFree(handle)


def _handles(arrays: list) -> ctypes.Array:
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array._h for array in arrays))


@callback(ctypes.c_int, HANDLES, ctypes.c_int, ctypes.POINTER(ctypes.c_int), HANDLES)
def _RULE(kept: Any, outputs: int, heads: Any, inputs: int, wanted: Any, results: Any) -> None:  # noqa: N802
    """The library's call for the gradients of a node."""
    rule, front_end = kept
    flags = [bool(wanted[i]) for i in range(inputs)]
    given = _backward.call_user(rule, list(adopted(front_end, outputs, heads)), flags)
    for index, (grad, flag) in enumerate(zip(given, flags)):
        if flag and grad is not None:
            results[index] = share(grad._h)


@lasting
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _FORGET(number: int, kept: Any = hot.kept) -> None:  # noqa: N802
    """A backward has released what a node's rule saved."""
    rule, _ = kept(number)
    rule.forget()


# ---- backward, for what is made of it ----


def gradients(
    front_end: FrontEnd, outputs: list, inputs: list, heads: list, create_graph: bool = False, retain_graph: bool = True
) -> list:
    """Gradients of `outputs`, of which constants are left out, with respect to `inputs`; None where there is none.

    Args:
        heads: Gradients of the outputs; None: ones.
    """
    training = front_end.set_training(False)
    front_end.set_training(training)
    with Edges() as edges:
        roots = [(edge, head) for edge, head in zip(map(edges.of, outputs), heads) if edge[0]]
        wanted = list(map(edges.of, inputs))
        reached = [edge for edge in wanted if edge[0]]
        if not roots or not reached:
            return [None] * len(inputs)
        made = run_from_edges(
            front_end,
            [edge for edge, _ in roots],
            [None if head is None else head._h for _, head in roots],
            reached,
            keep_graph=retain_graph or create_graph,
            create_graph=create_graph,
            training=training,
        )
    found = (front_end.adopt(handle) if handle else None for handle in made)
    return [next(found) if edge[0] else None for edge in wanted]


def rows_of_jacobian(front_end: FrontEnd, output: Any, inputs: list, create_graph: bool = False) -> Iterator[list]:
    """The gradients with respect to `inputs` of each element of an output, one element after the other."""
    values = front_end.values(output)
    for element in range(values.size):
        head = np.zeros(values.shape, values.dtype)
        head.reshape(-1)[element] = 1
        with recorded(front_end):
            grads = gradients(front_end, [output], inputs, [front_end.array(head)], create_graph)
        yield grads
