"""CachedOp: a symbol as a function of arrays, recorded like an operator."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Callable

from mxlite._lib import LIB, Handle, ask, c_texts, check_call, hot, last_error
from mxlite.error import keep_exception, raise_kept
from mxlite.ndarray._kinds import of_numpy
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import _calls
from mxlite.symbol.symbol import Symbol

_MONITOR = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)


class CachedOp(Handle):
    """Runs a symbol on arrays, one for each variable in the order of `Symbol.list_inputs()`.

    Args:
        flags: pairs of names and values that 1.9.1 knows (`static_alloc`, ...); `mxlite help gluon` says what they do.

    Raises: TypeError: `sym` is no symbol; MXNetError: there is no such flag.
    """

    __slots__ = ("_monitor", "is_np_sym")

    #: Whether it gives arrays of `mx.np`: the symbol is one of `mx.sym.np`.
    is_np_sym: bool

    def __init__(self, sym: Symbol, flags: Sequence[tuple[str, Any]] = ()) -> None:
        if not isinstance(sym, Symbol):
            raise TypeError(f"CachedOp: sym is a Symbol, not {type(sym).__name__}")
        names, values = c_texts([name for name, _ in flags]), c_texts([str(value) for _, value in flags])
        made = ask(ctypes.c_void_p, LIB.MXCreateCachedOpEx, sym._h, len(flags), names, values)
        self._own(made, LIB.MXFreeCachedOp)
        self.is_np_sym = sym._kind is not Symbol
        self._monitor: Any = None

    @property
    def handle(self) -> ctypes.c_void_p:
        """The handle, for the C API. It stays this object's."""
        return ctypes.c_void_p(self._h)

    def run_one(self, handles: list[int], kind: type[NDArray] = NDArray) -> NDArray:
        """The output of a graph that has one, an array of a class, for the handles of its inputs; without hooks.

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
        outputs = [kind._adopt(each) for each in made]
        if self._monitor is not None:
            raise_kept()
        return outputs

    def __call__(self, *args: NDArray, out: Any = None) -> Any:
        """The outputs: an array, or a list of them; `out`, an array or a list, gets them where it is given.

        Raises: TypeError: no arrays; MXNetError: another number of them, or shapes that do not fit.
        """
        given = [] if out is None else [out] if isinstance(out, NDArray) else list(out)
        for each in (*args, *given):
            if not isinstance(each, NDArray):
                raise TypeError(f"a CachedOp takes NDArrays, got {type(each).__name__}")
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
        kind = of_numpy() if self.is_np_sym else NDArray
        made = [] if given else [kind._adopt(results[i]) for i in range(count.value)]
        if self._monitor is not None:
            raise_kept()
        if given:
            return out
        return made[0] if len(made) == 1 else made

    def _register_op_hook(self, callback: Callable[[bytes, bytes, int], Any], monitor_all: bool = False) -> None:
        """Calls `callback(name, operator, handle)` with what operators compute, and (`monitor_all`) what they get.

        The handle is the callback's own: `NDArray(handle)` frees it.
        """

        def call(name: bytes, operator: bytes, array: int) -> None:
            try:
                callback(name, operator, array)
            except BaseException as error:  # noqa: BLE001 - raised when C has returned
                keep_exception(error)

        monitor = _MONITOR(call)
        check_call(LIB.MXCachedOpRegisterOpHook(self._h, monitor, bool(monitor_all)))
        self._monitor = monitor
