"""What nodes of PyTorch's front end keep for their backward, by name: `node._saved_self`, `node._raw_saved_result`.

These are the arrays that the library's operators save, what the front end's table names beside them, and contexts of
functions; other nodes of Python's show none.
"""

from __future__ import annotations

import ast
import ctypes
import math
from typing import Any, Callable

import numpy as np

from mxlite._lib import LIB, ask, check_call
from mxlite.autograd import _graph
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._graph import Node, meta_of, params_of
from mxlite.autograd._handles import variable_for
from mxlite.autograd._nodes import Saved, placed
from mxlite.autograd.saved import SavedHooks


def _sources(node: Node) -> dict[str, str]:
    """Where the values of `_saved_NAME` come from, by NAME; the table of the front end says how that is written."""
    table = node._front_end.saved_names or {}
    if ask(ctypes.c_char_p, LIB.MXLNodeGetOperator, node._h) in (None, b"_Function"):
        return {}  # Python has what it saves
    return table.get(type(node).__name__, table.get("", {}))


def _saved_tensors(node: Node) -> dict[str, int]:
    """The index of each saved tensor, by where it comes from: `i0` an input, `r0` an output."""
    output, position, found = ctypes.c_int(), ctypes.c_int(), {}
    for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumSaved, node._h)):
        check_call(LIB.MXLNodeGetSaved(node._h, index, None, ctypes.byref(output), ctypes.byref(position), None))
        found[f"{'r' if output.value else 'i'}{position.value}"] = index
    return found


def _find(node: Node, source: str) -> int | None:
    """The index of the saved tensor of that source; None: the node needs it not, or the table does not know the node.

    Raises: RuntimeError: a backward has released it.
    """
    if ask(ctypes.c_int, LIB.MXLNodeIsReleased, node._h):
        raise node._front_end.released()
    return _saved_tensors(node).get(source)


def _missing(node: Node, name: str) -> AttributeError:
    return AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


def _number(text: str, params: dict[str, str]) -> Any:
    """The value of a parameter's text; an infinite bound is none, a scalar is a float if it was one."""
    if text in ("inf", "-inf"):
        return None
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return float(value) if params.get("is_int") == "False" else value


def _option(node: Node, name: str, source: str) -> Any:
    """The value of `_saved_NAME` that is no tensor. Raises: AttributeError: the operator does not tell."""
    kind, own = source[0], source[1:]
    if kind in "@#":
        shape, _ = meta_of(node._h, 0, int(own))
        return shape if kind == "@" else math.prod(shape)
    if kind == "/":
        index = _saved_tensors(node).get("i" + own)
        return None if index is None else tuple(_read(node, index, f"i{own}").stride())
    own, _, default = source[1:].partition(":") if kind != ":" else ("", "", own)
    params = params_of(node._h) if own else {}
    text = params.get(own, default)
    if not text:
        raise _missing(node, "_saved_" + name)
    value = _number(text, params)
    if kind == "-" and not isinstance(value, int):
        raise _missing(node, "_saved_" + name)
    return value[0] if kind == "," else value


def _read(node: Node, index: int, source: str) -> Any:
    """A saved tensor, at its place in the graph; a leaf is the leaf itself."""
    front_end, array, position = node._front_end, ctypes.c_void_p(), int(source[1:])
    check_call(LIB.MXLNodeGetSaved(node._h, index, ctypes.byref(array), None, None, None))
    tensor = front_end.adopt(array.value or 0)
    if source[0] == "r":
        return placed(front_end, tensor, node, position)
    slots = (ctypes.c_int * 64)()
    count = min(LIB.MXLNodeGetSlots(node._h, 64, slots), 64)
    maker, output = dict(zip(slots[:count], node.next_functions)).get(position, (None, 0))
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


def _raw(node: Node, source: str) -> SavedTensor | None:
    index = _find(node, source)

    def pack(hooks: SavedHooks) -> None:
        _find(node, source)
        with hooks:
            check_call(LIB.MXLNodePackSaved(node._h, index))

    return None if index is None else SavedTensor._of(node._front_end, lambda: _read(node, index, source), pack)


def raw_of_context(saved: tuple[Saved | None, ...]) -> tuple[SavedTensor | None, ...]:
    """The arrays that a function's context keeps."""
    return tuple(
        None if each is None else SavedTensor._of(each.front_end, lambda s=each: s.get(False), each.pack)
        for each in saved
    )


def _attribute_of(node: Node, attribute: str) -> Any:
    """`_saved_NAME` or `_raw_saved_NAME` of a node. Raises: AttributeError: it has none."""
    kind, _, name = attribute.partition("saved_")
    source = _sources(node).get(name)
    if source is None or (kind == "_raw_" and source[0] not in "ir"):
        raise _missing(node, attribute)
    if source[0] not in "ir":
        return _option(node, name, source)
    index = _find(node, source)
    if index is None and type(node).__name__ not in (node._front_end.saved_names or {}):
        raise _missing(node, attribute)
    if kind == "_raw_":
        return _raw(node, source)
    if index is not None:
        return _read(node, index, source)
    params = params_of(node._h) if source == "i1" else {}
    return node._front_end.array(np.asarray(_number(params["scalar"], params))) if "scalar" in params else None


def _names_of(node: Node) -> list[str]:
    """The names of all that `_attribute_of` gives."""
    found, names = _sources(node), []
    saved = _saved_tensors(node) if type(node).__name__ not in (node._front_end.saved_names or {}) else found.values()
    for name, source in found.items():
        if source[0] not in "ir" or source in saved:
            names += [kind + name for kind in (("_saved_", "_raw_saved_") if source[0] in "ir" else ("_saved_",))]
    return names


_graph.saved_attribute, _graph.saved_names = _attribute_of, _names_of
