"""What nodes of PyTorch's front end keep for their backward, by name: `node._saved_self`, `node._raw_saved_result`.

These are the arrays that the library's operators save, and contexts of functions; other nodes of Python's show none.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite._lib import LIB, ask, check_call
from mxlite.autograd import _graph
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._graph import Node
from mxlite.autograd._handles import variable_for
from mxlite.autograd._nodes import Saved, placed
from mxlite.autograd.saved import SavedHooks


def _find(node: Node, name: str) -> tuple[int, bool, int]:
    """Which saved tensor has that name, whether it is an output of the operator, and its position there.

    Raises: AttributeError: none has; RuntimeError: a backward has released them.
    """
    inputs = (node._front_end.saved_names or {}).get(type(node).__name__, "self other").split()
    found, position = ctypes.c_int(), ctypes.c_int()
    if ask(ctypes.c_int, LIB.MXLNodeIsReleased, node._h) and name in (*inputs, "result"):
        raise node._front_end.released()
    for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumSaved, node._h)):
        check_call(LIB.MXLNodeGetSaved(node._h, index, None, ctypes.byref(found), ctypes.byref(position), None))
        at = position.value
        if name == (f"result{at or ''}" if found.value else inputs[at] if at < len(inputs) else ""):
            return index, bool(found.value), at
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


def _read(node: Node, index: int, is_output: bool, position: int) -> Any:
    """A saved tensor, at its place in the graph; a leaf is the leaf itself."""
    front_end, array = node._front_end, ctypes.c_void_p()
    check_call(LIB.MXLNodeGetSaved(node._h, index, ctypes.byref(array), None, None, None))
    tensor = front_end.adopt(array.value or 0)
    if is_output:
        return placed(front_end, tensor, node, position)
    maker, output = node.next_functions[position] if position < len(node.next_functions) else (None, 0)
    if maker is None:
        return tensor
    if maker.is_accumulating():
        leaf = variable_for(ask(ctypes.c_void_p, LIB.MXLNodeGetVariable, maker._h), front_end)
        return leaf if leaf.data_ptr() == tensor.data_ptr() else tensor.detach().requires_grad_()
    return placed(front_end, tensor, maker, output)


class SavedTensor:
    """A tensor that a node, or a function's context, keeps for backward; `read` gives it, `pack` packs it."""

    def __init__(self, *_: Any) -> None:
        raise RuntimeError("a SavedTensor is an attribute of a node, and is not made otherwise")

    @staticmethod
    def _of(front_end: FrontEnd, read: Callable[[], Any], pack: Callable[[SavedHooks], None]) -> SavedTensor:
        made = object.__new__(SavedTensor)
        made._front_end, made._read, made._pack = front_end, read, pack
        return made

    @property
    def data(self) -> Any:
        """The tensor, without a place in the graph."""
        return self._read().detach()

    def unpack(self) -> Any:
        """The tensor."""
        return self._read()

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Has it packed now by one function, and unpacked by another each time it is read.

        Raises: RuntimeError: it is packed, or a backward has released it; TypeError: one is no function.
        """
        if not callable(pack_hook) or not callable(unpack_hook):
            raise TypeError("register_hooks: takes two functions")
        self._pack(SavedHooks(pack_hook, unpack_hook, self._front_end))


def _raw(node: Node, name: str) -> SavedTensor:
    index, is_output, position = _find(node, name)

    def pack(hooks: SavedHooks) -> None:
        _find(node, name)
        with hooks:
            check_call(LIB.MXLNodePackSaved(node._h, index))

    return SavedTensor._of(node._front_end, lambda: _read(node, index, is_output, position), pack)


def raw_of_context(saved: tuple[Saved | None, ...]) -> tuple[SavedTensor | None, ...]:
    """The arrays that a function's context keeps."""
    return tuple(
        None if each is None else SavedTensor._of(each.front_end, lambda s=each: s.get(False), each.pack)
        for each in saved
    )


def _attribute_of(node: Node, name: str) -> Any:
    """`_saved_NAME` or `_raw_saved_NAME` of a node. Raises: AttributeError: it saves no such array."""
    kind, _, own = name.partition("saved_")
    return _raw(node, own) if kind == "_raw_" else _read(node, *_find(node, own))


_graph.saved_attribute = _attribute_of
