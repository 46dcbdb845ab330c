"""The recorded graph as plain data, for those who show it: what a node is, in the order in which it was computed."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mxlite._lib import LIB, ask, check_call
from mxlite.autograd import _graph as graph
from mxlite.autograd._handles import array_id, edge_of
from mxlite.base import DTYPE_OF_FLAG

_NAMES = {flag: np.dtype(dtype).name for flag, dtype in DTYPE_OF_FLAG.items()}


@dataclass
class Value:
    """An input or output of an operator."""

    shape: tuple[int, ...]
    dtype: str


@dataclass
class Record:
    """A node. Positions are those in the list that walk() gives; (None, 0) leads nowhere: a constant, or nothing."""

    name: str
    #: The operator's; None for a variable.
    operator: str | None
    #: By slot, as `next_functions`.
    inputs: list[tuple[int | None, int]]
    #: By input of the operator: where its gradient goes, and what it is.
    arguments: list[tuple[int | None, int, Value]]
    outputs: list[Value]
    params: dict[str, str] = field(default_factory=dict)
    saved_bytes: int = 0
    released: bool = False
    #: Where the user's code recorded it, where that is kept: file, line, function.
    location: tuple[str, int, str] | None = None
    #: What a variable is called, where the caller said so.
    label: str = ""


def heads_of(y: Any) -> list[Any]:
    """`y` as a list: an array, a node, or several of them."""
    return [y] if hasattr(y, "_h") or isinstance(y, graph.Node) else list(y)


def walk(y: Any, names: Mapping[str, Any] | None = None) -> tuple[list[Record], list[tuple[int, int]]]:
    """The nodes that lead to `y`, each behind those it leads to, and where `y` is: (position, output) each.

    Args:
        y: An array or a node, or several.
        names: What variables are called: name to array.
    Raises: ValueError: an array was not recorded and is no variable.
    """
    called = {array_id(array._h): name for name, array in (names or {}).items()}
    stack: list[_Step] = []
    try:
        for each in heads_of(y):
            stack.append(_step_to(each))
        heads = [(_id(step.handle), step.output) for step in stack]
        if not heads:
            raise ValueError("graph: at least one array or node is needed")
        records, positions = _visit(stack, called)
        return records, [(positions[number], output) for number, output in heads]
    finally:
        for step in stack:
            step.free()


class _Step:
    """A node to be visited; `inputs`, once what it leads to is to be visited before: ids and outputs."""

    __slots__ = ("handle", "output", "owned", "inputs")

    def __init__(self, handle: int, output: int, owned: bool = True) -> None:
        self.handle, self.output, self.owned = handle, output, owned
        self.inputs: list[tuple[int | None, int]] | None = None

    def free(self) -> None:
        if self.owned:
            LIB.MXLNodeFree(self.handle)


def _step_to(y: Any) -> _Step:
    if isinstance(y, graph.Node):
        return _Step(y._h, 0, False)
    if not hasattr(y, "_h"):
        raise TypeError(f"graph: arrays or nodes are shown, got {type(y).__name__}")
    handle, output = edge_of(y._h)
    if not handle:
        raise ValueError("graph: the array is a constant: it is no variable, and no operator that made it was recorded")
    return _Step(handle, output)


def _visit(stack: list[_Step], called: dict[int, str]) -> tuple[list[Record], dict[int, int]]:
    """Depth first, with a stack of its own: chains may be longer than Python's stack is deep."""
    records: list[Record] = []
    positions: dict[int, int] = {}
    stack.reverse()
    while stack:
        step = stack[-1]
        number = _id(step.handle)
        if number not in positions and step.inputs is None:
            found = graph.inputs_of(step.handle)
            stack.extend(_Step(handle, output) for handle, output in reversed(found) if handle)
            step.inputs = [(_id(handle) if handle else None, output) for handle, output in found]
            continue
        if number not in positions:
            positions[number] = len(records)
            inputs = [(None if each is None else positions[each], output) for each, output in step.inputs or ()]
            records.append(_record(step.handle, inputs, called))
        stack.pop().free()
    return records, positions


def _id(handle: int) -> int:
    return ask(ctypes.c_uint64, LIB.MXLNodeGetId, handle)


def _value(handle: int, which: int, index: int) -> Value:
    shape, dtype = graph.meta_of(handle, which, index)
    return Value(shape, _NAMES[dtype])


def _record(handle: int, inputs: list[tuple[int | None, int]], called: dict[int, str]) -> Record:
    name, operator = (ask(ctypes.c_char_p, each, handle) for each in (LIB.MXLNodeGetName, LIB.MXLNodeGetOperator))
    outputs = [_value(handle, 1, index) for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumOutputs, handle))]
    record = Record(name.decode(), None, inputs, [], outputs)
    if operator is None:
        record.label = called.get(_variable_id(handle), "")
        return record
    record.operator = operator.decode()
    record.arguments = _arguments(handle, inputs)
    record.params = graph.params_of(handle)
    record.saved_bytes = _saved_bytes(handle)
    record.released = bool(ask(ctypes.c_int, LIB.MXLNodeIsReleased, handle))
    record.location = next(iter((graph.payload_of(handle) or {}).get("traceback_", ())), None)  # of detect_anomaly
    return record


def _variable_id(handle: int) -> int:
    array = ask(ctypes.c_void_p, LIB.MXLNodeGetVariable, handle)
    try:
        return array_id(array)
    finally:
        LIB.MXNDArrayFree(array)


def _arguments(handle: int, inputs: list[tuple[int | None, int]]) -> list[tuple[int | None, int, Value]]:
    slots = (ctypes.c_int * max(1, len(inputs)))()
    count = LIB.MXLNodeGetSlots(handle, len(inputs), slots)
    if count < 0:
        check_call(count)
    leads: dict[int, tuple[int | None, int]] = dict(zip(slots, inputs))
    return [(*leads.get(index, (None, 0)), _value(handle, 0, index)) for index in range(count)]


def _saved_bytes(handle: int) -> int:
    total, size = 0, ctypes.c_int64()
    for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumSaved, handle)):
        check_call(LIB.MXLNodeGetSaved(handle, index, None, None, None, ctypes.byref(size)))
        total += size.value
    return total
