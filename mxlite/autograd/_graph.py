"""The graph that is recorded, node by node: what a node is called, where its gradients go, hooks on nodes and arrays.

One class of nodes serves both front ends; a `FrontEnd` says how each makes arrays of handles. A node is the same Python
object for as long as anyone holds it.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any, Callable

from mxlite._lib import LIB, Handle, ask, check_call, hot
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import variable_for
from mxlite.autograd._hooks import ON_NODE, ON_PREPARE, RELEASE, RemovableHandle, add_hook

#: Held while a payload is asked for, or set, so that no other thread replaces it.
_payloads = threading.RLock()

_nodes: weakref.WeakValueDictionary[int, Node] = weakref.WeakValueDictionary()
_classes: dict[tuple[str, str], type] = {}

#: Gives an attribute of a node for what it saves, and the names of all such; _saved_values.py sets them.
saved_attribute: Callable[[Any, str], Any] = getattr
saved_names: Callable[[Any], list[str]] = list


def node_for(handle: int, front_end: FrontEnd) -> Node:
    """The node of a new handle, which is the node's from then on."""
    number = ask(ctypes.c_uint64, LIB.MXLNodeGetId, handle)
    known = _nodes.get(number)
    if known is not None:
        check_call(LIB.MXLNodeFree(handle))
        return known
    text, module = ask(ctypes.c_char_p, LIB.MXLNodeGetName, handle).decode(), ""
    context = _context(handle)
    if context is not None:
        kind = type(context)
        text, module = getattr(kind, "_node_name", text), getattr(kind, "_node_module", "builtins")
    node = object.__new__(_class_named(text, module))
    node._own(handle, LIB.MXLNodeFree)
    node._front_end = front_end
    _nodes[number] = node
    return node


def inputs_of(handle: int) -> list[tuple[int, int]]:
    """The edges of a node's inputs: a new handle of a node (0: none) and the number of its output each."""
    node, output, found = ctypes.c_void_p(), ctypes.c_int(), []
    for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumInputs, handle)):
        check_call(LIB.MXLNodeGetInput(handle, index, ctypes.byref(node), ctypes.byref(output)))
        found.append((node.value or 0, output.value))
    return found


def meta_of(handle: int, which: int, index: int) -> tuple[tuple[int, ...], int]:
    """Shape, and number of the dtype, of an input (`which` 0) or output (1) of a node's operator."""
    shape, dtype = (ctypes.c_int64 * 32)(), ctypes.c_int()
    ndim = LIB.MXLNodeGetInfo(handle, which, index, 32, shape, ctypes.byref(dtype))
    if ndim < 0:
        check_call(ndim)
    return tuple(shape[:ndim]), dtype.value


def params_of(handle: int) -> dict[str, str]:
    """The parameters of a node's operator that differ from their defaults, as texts."""
    count = ctypes.c_int()
    keys, values = ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(LIB.MXLNodeGetParams(handle, ctypes.byref(count), ctypes.byref(keys), ctypes.byref(values)))
    return {(keys[i] or b"").decode(): (values[i] or b"").decode() for i in range(count.value)}


class _Metadata(dict):
    """The payload of a node: the user's `metadata`, and the context of a function's node."""

    context: Any = None


def payload_of(handle: int) -> _Metadata | None:
    """The node's payload, if it has one."""
    with _payloads:
        return hot.kept(ask(ctypes.c_void_p, LIB.MXLNodeGetPayload, handle))


def _context(handle: int) -> Any:
    found = payload_of(handle)
    return None if found is None else found.context


def _kept_metadata(handle: int) -> _Metadata:
    """The node's metadata, made where it has none."""
    with _payloads:
        found = payload_of(handle)
        if found is None:
            found = _Metadata()
            check_call(LIB.MXLNodeSetPayload(handle, hot.keep(found), RELEASE))
    return found


def _class_named(name: str, module: str) -> type:
    """The class of the nodes of that name, so that they print as `<AddBackward0 object at 0x...>`."""
    known = _classes.get((name, module))
    if known is None:
        known = type(name, (Node,), {"__slots__": (), "__module__": module or "builtins"})
        _classes[name, module] = known
    return known


class Node(Handle):
    """A node of the graph: an operator that was recorded, or the place where a variable's gradient is added up."""

    __slots__ = ("_front_end",)

    def __new__(cls, *_: Any, **__: Any) -> Node:
        raise TypeError("nodes are made by recording")

    def __repr__(self) -> str:
        kind = type(self)
        place = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        return f"<{place}{kind.__name__} object at {id(self):#x}>"

    def is_accumulating(self) -> bool:
        """Whether the node is where a variable's gradient is added up."""
        return type(self).__name__ == "AccumulateGrad"

    def name(self) -> str:
        """The name of the node: "AddBackward0"."""
        name = type(self).__name__
        return self._front_end.names.get(name, name)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where the gradients of the node's inputs go: (node, output number) each; (None, 0) is nowhere."""
        return tuple(
            (node_for(handle, self._front_end), output) if handle else (None, 0)
            for handle, output in inputs_of(self._h)
        )

    @property
    def variable(self) -> Any:
        """The variable that gradients are added up for.

        Raises: AttributeError: the node is an operator's.
        """
        if not self.is_accumulating():
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'variable'")
        return variable_for(ask(ctypes.c_void_p, LIB.MXLNodeGetVariable, self._h), self._front_end)

    @property
    def metadata(self) -> dict:
        """A dictionary of the user's, kept as long as the node."""
        return _kept_metadata(self._h)

    def __getattr__(self, name: str) -> Any:
        # A function's node has what its forward left in the context.
        context = _context(self._h)
        if context is None and name.startswith(("_saved_", "_raw_saved_")) and self._front_end.saved_names is not None:
            return saved_attribute(self, name)
        if context is None or name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(context, name)

    def __dir__(self) -> list[str]:
        """The attributes: `variable` only of a node that accumulates; those of its context, if it is a function's."""
        context = _context(self._h)
        own = dir(context) if context is not None else saved_names(self) if self._front_end.saved_names else ()
        names = {*super().__dir__(), *own} - {"_front_end", *vars(Handle)}
        return sorted(names if self.is_accumulating() else names - {"variable"})

    @property
    def saved(self) -> tuple[Any, ...]:
        """The arrays that the node keeps for its backward; none once it is released. They lead nowhere.

        Raises: MXNetError or RuntimeError: one was edited since.
        """
        if self.is_accumulating():
            return ()
        array, arrays = ctypes.c_void_p(), []
        for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumSaved, self._h)):
            check_call(LIB.MXLNodeGetSaved(self._h, index, ctypes.byref(array), None, None, None))
            arrays.append(self._front_end.adopt(array.value or 0))
        return tuple(arrays)

    def _sequence_nr(self) -> int:
        return ask(ctypes.c_uint64, LIB.MXLNodeGetSequence, self._h)

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Calls fn(grad_inputs, grad_outputs) when the node has run; what it returns takes the place of grad_inputs.

        It returns nothing, or a tuple of as many; None in it: there is no gradient.
        Returns: a handle whose `remove()` takes the hook away.
        """
        return add_hook(LIB.MXLNodeAddHook, self._h, ON_NODE, (fn, self._front_end))

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Calls fn(grad_outputs) before the node runs; what it returns takes their place.

        It returns nothing, or a tuple of as many; None in it: there is no gradient.
        """
        return add_hook(LIB.MXLNodeAddPreHook, self._h, ON_PREPARE, (fn, self._front_end))


def set_context(handle: int, context: Any) -> None:
    """Sets the context of a function's node, from which the node takes attributes."""
    _kept_metadata(handle).context = context


class Edge:
    """A gradient edge: a node and the number of its output."""

    __slots__ = ("node", "output_nr")

    def __init__(self, node: Node, output_nr: int) -> None:
        self.node, self.output_nr = node, output_nr

    def __iter__(self) -> Any:
        return iter((self.node, self.output_nr))
