"""What nodes keep for their backward, by PyTorch's names: `node._saved_self`, `node._raw_saved_result`.

These are the tensors that the library's operators save, and contexts of functions; formulas (_nodes.py) show none.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite._lib import LIB, ask
from mxlite.autograd._graph import Node
from mxlite.autograd._handles import variable_for
from mxlite.autograd._nodes import Saved, placed
from mxlite.autograd.saved import SavedHooks
from mxlite.torch import _calls
from mxlite.torch._gradient import FRONT_END

#: PyTorch's names of an operator's inputs, by the name of its nodes; of others they are `self` and `other`.
_INPUTS = {
    "AddmmBackward0": "self mat1 mat2",
    "BmmBackward0": "self mat2",
    "ConvolutionBackward0": "input weight bias",
    "DotBackward0": "self tensor",
    "EmbeddingBackward0": "weight indices",
    "GatherBackward0": "self index",
    "IndexSelectBackward0": "self index",
    "MmBackward0": "self mat2",
    "MseLossBackward0": "self target",
    "NativeLayerNormBackward0": "input weight bias",
    "PowBackward1": "self exponent",
    "WhereBackward0": "condition self other",
}


def _find(node: Node, name: str) -> tuple[int, bool, int]:
    """Which saved tensor has that name, whether it is an output of the operator, and its position there.

    Raises: AttributeError: none has; RuntimeError: a backward has released them.
    """
    inputs = _INPUTS.get(type(node).__name__, "self other").split()
    found, position = ctypes.c_int(), ctypes.c_int()
    if ask(ctypes.c_int, LIB.MXLNodeIsReleased, node._h) and name in (*inputs, "result"):
        raise FRONT_END.released()
    for index in range(ask(ctypes.c_int, LIB.MXLNodeGetNumSaved, node._h)):
        _calls.check_call(LIB.MXLNodeGetSaved(node._h, index, None, ctypes.byref(found), ctypes.byref(position), None))
        at = position.value
        if name == (f"result{at or ''}" if found.value else inputs[at] if at < len(inputs) else ""):
            return index, bool(found.value), at
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


def _read(node: Node, index: int, is_output: bool, position: int) -> Any:
    """A saved tensor, at its place in the graph; a leaf is the leaf itself."""
    array = ctypes.c_void_p()
    _calls.check_call(LIB.MXLNodeGetSaved(node._h, index, ctypes.byref(array), None, None, None))
    tensor = _calls.adopt(array.value or 0)
    if is_output:
        return placed(FRONT_END, tensor, node, position)
    maker, output = node.next_functions[position] if position < len(node.next_functions) else (None, 0)
    if maker is None:
        return tensor
    if maker.is_accumulating():
        leaf = variable_for(ask(ctypes.c_void_p, LIB.MXLNodeGetVariable, maker._h), FRONT_END)
        return leaf if leaf.data_ptr() == tensor.data_ptr() else tensor
    return placed(FRONT_END, tensor, maker, output)


class SavedTensor:
    """A tensor that a node, or a function's context, keeps for backward; `read` gives it, `pack` packs it."""

    def __init__(self, *_: Any) -> None:
        raise RuntimeError("a SavedTensor is an attribute of a node, and is not made otherwise")

    @staticmethod
    def _of(read: Callable[[], Any], pack: Callable[[SavedHooks], None]) -> SavedTensor:
        made = object.__new__(SavedTensor)
        made._read, made._pack = read, pack
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
        self._pack(SavedHooks(pack_hook, unpack_hook, FRONT_END))


def _raw(node: Node, name: str) -> SavedTensor:
    index, is_output, position = _find(node, name)

    def pack(hooks: SavedHooks) -> None:
        _find(node, name)
        with hooks:
            _calls.check_call(LIB.MXLNodePackSaved(node._h, index))

    return SavedTensor._of(lambda: _read(node, index, is_output, position), pack)


def raw_of_context(saved: tuple[Saved | None, ...]) -> tuple[SavedTensor | None, ...]:
    """The tensors that a function's context keeps."""
    return tuple(None if each is None else SavedTensor._of(lambda s=each: s.get(False), each.pack) for each in saved)


def attribute_of(node: Node, name: str) -> Any:
    """An attribute of a node that only PyTorch's have. Raises: AttributeError: there is none."""
    if name.startswith("_raw_saved_"):
        return _raw(node, name[len("_raw_saved_") :])
    if name.startswith("_saved_"):
        return _read(node, *_find(node, name[len("_saved_") :]))
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


FRONT_END.attribute_of, FRONT_END.raw_saved = attribute_of, raw_of_context  # type: ignore[method-assign]
