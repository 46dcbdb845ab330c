"""A small front end of the C API's symbols over ctypes, for any library that has it: ours, or the real 1.9.1's."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

_VOID = ctypes.c_void_p
_UINT = ctypes.c_uint32
_INT = ctypes.c_int
_TEXTS = ctypes.POINTER(ctypes.c_char_p)


class GraphError(Exception):
    """What MXGetLastError says."""


def _texts(values: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(values))(*[value.encode() for value in values])


class Library:
    """A library, whose functions raise GraphError."""

    def __init__(self, path: str) -> None:
        self.lib = ctypes.CDLL(path)
        self.lib.MXGetLastError.restype = ctypes.c_char_p
        self.call("MXListAllOpNames", ctypes.byref(_UINT()), ctypes.byref(_TEXTS()))  # 1.9.1 registers old ones here

    def call(self, function: str, *args: Any) -> None:
        if getattr(self.lib, function)(*args) != 0:
            raise GraphError(self.lib.MXGetLastError().decode(errors="replace"))

    def made(self, function: str, *args: Any) -> Symbol:
        handle = _VOID()
        self.call(function, *args, ctypes.byref(handle))
        return Symbol(self, handle)

    def variable(self, name: str, **attrs: str) -> Symbol:
        symbol = self.made("MXSymbolCreateVariable", name.encode())
        for key, value in attrs.items():
            symbol.set_attr(key, value)
        return symbol

    def atomic(self, op: str, **params: str) -> Symbol:
        creator = _VOID()
        self.call("NNGetOpHandle", op.encode(), ctypes.byref(creator))
        keys, values = _texts(list(params)), _texts(list(params.values()))
        return self.made("MXSymbolCreateAtomicSymbol", creator, _UINT(len(params)), keys, values)

    def op(self, op: str, name: str, *inputs: Symbol, named: dict[str, Symbol] | None = None, **params: str) -> Symbol:
        """An operator applied to inputs, by position or by name."""
        symbol = self.atomic(op, **params)
        symbol.compose(name, *inputs, **(named or {}))
        return symbol

    def group(self, *symbols: Symbol) -> Symbol:
        handles = (_VOID * len(symbols))(*[symbol.handle for symbol in symbols])
        return self.made("MXSymbolCreateGroup", _UINT(len(symbols)), handles)

    def read(self, json: str) -> Symbol:
        return self.made("MXSymbolCreateFromJSON", json.encode())


class Symbol:
    """A handle, freed with this object."""

    def __init__(self, library: Library, handle: Any) -> None:
        self.library, self.handle = library, handle

    def __del__(self) -> None:
        self.library.lib.MXSymbolFree(self.handle)

    def compose(self, name: str, *inputs: Symbol, **named: Symbol) -> None:
        args = [*inputs, *named.values()]
        handles = (_VOID * len(args))(*[arg.handle for arg in args])
        keys = _texts(list(named)) if named else None
        self.library.call("MXSymbolCompose", self.handle, name.encode(), _UINT(len(args)), keys, handles)

    def _list(self, function: str, factor: int = 1) -> list[str]:
        count, texts = _UINT(), _TEXTS()
        self.library.call(function, self.handle, ctypes.byref(count), ctypes.byref(texts))
        return [texts[i].decode() for i in range(factor * count.value)]

    def arguments(self) -> list[str]:
        return self._list("MXSymbolListArguments")

    def auxiliary(self) -> list[str]:
        return self._list("MXSymbolListAuxiliaryStates")

    def outputs(self) -> list[str]:
        return self._list("MXSymbolListOutputs")

    def attrs(self, deep: bool = True) -> dict[str, str]:
        pairs = self._list("MXSymbolListAttr" if deep else "MXSymbolListAttrShallow", 2)
        return dict(sorted(zip(pairs[::2], pairs[1::2])))

    def _text(self, function: str, *args: Any) -> str | None:
        text, success = ctypes.c_char_p(), _INT()
        self.library.call(function, self.handle, *args, ctypes.byref(text), ctypes.byref(success))
        return text.value.decode() if success.value and text.value is not None else None

    def name(self) -> str | None:
        return self._text("MXSymbolGetName")

    def attr(self, key: str) -> str | None:
        return self._text("MXSymbolGetAttr", key.encode())

    def set_attr(self, key: str, value: str) -> None:
        self.library.call("MXSymbolSetAttr", self.handle, key.encode(), value.encode())

    def json(self) -> str:
        text = ctypes.c_char_p()
        self.library.call("MXSymbolSaveToJSON", self.handle, ctypes.byref(text))
        return (text.value or b"").decode()

    def printed(self) -> str:
        text = ctypes.c_char_p()
        self.library.call("MXSymbolPrint", self.handle, ctypes.byref(text))
        return (text.value or b"").decode()

    def internals(self) -> Symbol:
        return self.library.made("MXSymbolGetInternals", self.handle)

    def copy(self) -> Symbol:
        return self.library.made("MXSymbolCopy", self.handle)

    def children(self) -> Symbol:
        return self.library.made("MXSymbolGetChildren", self.handle)

    def output(self, index: int) -> Symbol:
        return self.library.made("MXSymbolGetOutput", self.handle, _UINT(index))

    def shapes(self, partial: bool = False, wide: bool = False, **known: Sequence[int]) -> list:
        """Whether all shapes are known, and those of arguments, outputs and states; `wide`: sizes have 64 bits."""
        number, count, place = (ctypes.c_int64, ctypes.c_size_t, ctypes.c_int64) if wide else (_INT, _UINT, _UINT)
        index, sizes = [0], []
        for shape in known.values():
            sizes += list(shape)
            index.append(len(sizes))
        counts = [count() for _ in range(3)]
        ndims = [ctypes.POINTER(_INT)() for _ in range(3)]
        data = [ctypes.POINTER(ctypes.POINTER(number))() for _ in range(3)]
        complete = _INT()
        outs = [ctypes.byref(each) for three in zip(counts, ndims, data) for each in three]
        self.library.call(
            f"MXSymbolInferShape{'Partial' if partial else ''}Ex{'64' if wide else ''}",
            self.handle,
            _UINT(len(known)),
            _texts(list(known)),
            (place * len(index))(*index),
            (number * len(sizes))(*sizes),
            *outs,
            ctypes.byref(complete),
        )
        if not complete.value:
            return [False]
        lists = [[[at[i][k] for k in range(n[i])] for i in range(c.value)] for c, n, at in zip(counts, ndims, data)]
        return [True, *lists]

    def dtypes(self, partial: bool = False, **known: int) -> list:
        """The same of dtypes, by their numbers."""
        counts = [_UINT() for _ in range(3)]
        data = [ctypes.POINTER(_INT)() for _ in range(3)]
        complete = _INT()
        outs = [ctypes.byref(each) for pair in zip(counts, data) for each in pair]
        self.library.call(
            "MXSymbolInferTypePartial" if partial else "MXSymbolInferType",
            self.handle,
            _UINT(len(known)),
            _texts(list(known)),
            (_INT * len(known))(*known.values()),
            *outs,
            ctypes.byref(complete),
        )
        return [bool(complete.value), *[[at[i] for i in range(c.value)] for c, at in zip(counts, data)]]
