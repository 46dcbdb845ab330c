"""CachedOp: a symbol as a function of arrays, recorded like an operator."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from mxlite._lib import LIB, Handle, ask, c_texts, check_call, hot, last_error
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import _calls
from mxlite.symbol.symbol import Symbol


class CachedOp(Handle):
    """Runs a symbol on arrays, one for each variable in the order of `Symbol.list_inputs()`.

    Args:
        flags: pairs of names and values that 1.9.1 knows (`static_alloc`, ...); `mxlite help gluon` says what they do.
    """

    __slots__ = ()

    def __init__(self, sym: Symbol, flags: Sequence[tuple[str, Any]] = ()) -> None:
        names, values = c_texts([name for name, _ in flags]), c_texts([str(value) for _, value in flags])
        made = ask(ctypes.c_void_p, LIB.MXCreateCachedOpEx, sym._h, len(flags), names, values)
        self._own(made, LIB.MXFreeCachedOp)

    def run_one(self, handles: list[int], kind: type[NDArray] = NDArray) -> NDArray:
        """The output of a graph that has one, an array of a class, for the handles of its inputs.

        Raises: MXNetError: as a call.
        """
        made = hot.graph1(self._h, handles)
        if not made:
            raise last_error()
        return kind._adopt(made)

    def run(self, handles: list[int], count: int, kind: type[NDArray] = NDArray) -> list[NDArray]:
        """The outputs of a graph that has `count`, arrays of a class."""
        made = hot.graph_n(self._h, handles, count)
        if made is None:
            raise last_error()
        return [kind._adopt(each) for each in made]

    def __call__(self, *args: NDArray, out: Any = None, default_ctx: Any = None) -> Any:
        """The outputs: an array, or a list of them; `out` gets them where it is given.

        Raises: TypeError: no arrays; MXNetError: another number of them, or shapes that do not fit.
        """
        for each in args:
            if not isinstance(each, NDArray):
                raise TypeError(f"a CachedOp takes NDArrays, got {type(each).__name__}")
        given = [] if out is None else [out] if isinstance(out, NDArray) else list(out)
        count = ctypes.c_int(len(given))
        slots = _calls.handles([each._h for each in given]) if given else None
        results = ctypes.cast(slots, _calls.Handles)
        stypes = ctypes.POINTER(ctypes.c_int)()
        inputs = _calls.handles([each._h for each in args])
        check_call(
            LIB.MXInvokeCachedOpEx(
                self._h, len(args), inputs, ctypes.byref(count), ctypes.byref(results), ctypes.byref(stypes)
            )
        )
        if out is not None:
            return out
        made = [NDArray._adopt(results[i]) for i in range(count.value)]
        return made[0] if len(made) == 1 else made
