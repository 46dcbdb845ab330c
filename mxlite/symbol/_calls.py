"""The C API's functions of symbols in Python's types: handles are integers, names and attributes are strings."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from mxlite._lib import LIB, ask, c_text, c_texts, check_call
from mxlite.error import MXAttributeError

Texts = ctypes.POINTER(ctypes.c_char_p)
Handles = ctypes.POINTER(ctypes.c_void_p)

#: Creators of operators by name, as the library's introspection gives them.
_creators: dict[str, int] = {}


def handles(numbers: Sequence[int]) -> ctypes.Array:
    """An array of handles."""
    return (ctypes.c_void_p * len(numbers))(*numbers)


def text_of(function: Any, *arguments: Any) -> str:
    """A string that a function lends where its last argument points."""
    return (ask(ctypes.c_char_p, function, *arguments) or b"").decode()


def texts_of(function: Any, *arguments: Any, per_entry: int = 1) -> list[str]:
    """A list of strings that a function lends where its last arguments point: their number, then they."""
    count, texts = ctypes.c_uint32(), Texts()
    check_call(function(*arguments, ctypes.byref(count), ctypes.byref(texts)))
    return [(texts[i] or b"").decode() for i in range(count.value * per_entry)]


def found_text(function: Any, *arguments: Any) -> str | None:
    """A string that a function lends, or None: it says in its last argument whether there is one."""
    text, found = ctypes.c_char_p(), ctypes.c_int()
    check_call(function(*arguments, ctypes.byref(text), ctypes.byref(found)))
    return (text.value or b"").decode() if found.value else None


def _creator(operator: str) -> int:
    known = _creators.get(operator)
    if known is None:
        creator = ctypes.c_void_p()
        if LIB.NNGetOpHandle(c_text(operator), ctypes.byref(creator)) != 0:
            raise MXAttributeError(f"there is no operator {operator!r}")
        known = _creators[operator] = creator.value or 0
    return known


def make_node(operator: str, texts: dict[str, str]) -> int:
    """A symbol of an operator without inputs yet; `texts`: its parameters and attributes."""
    given = len(texts), c_texts(texts), c_texts(texts.values())
    return ask(ctypes.c_void_p, LIB.MXSymbolCreateAtomicSymbol, _creator(operator), *given)


def compose(symbol: int, name: str | None, inputs: Sequence[int], names: Iterable[str] | None) -> None:
    """Gives a symbol inputs, by their names or (None) by position, and its node a name (None: that it has)."""
    keys = None if names is None else c_texts(names)
    check_call(LIB.MXSymbolCompose(symbol, None if name is None else c_text(name), len(inputs), keys, handles(inputs)))
