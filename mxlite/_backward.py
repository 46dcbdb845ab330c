"""Calls of MXAutogradBackwardEx, and Ctrl-C while they run: used by NDArray.backward and mxlite.autograd.

Python raises KeyboardInterrupt between any two of its instructions, also between the library's call of a user's
gradient function and that function's first `try`, where no handler could catch it: the gradient would be lost. So while
a backward runs that may call such functions, SIGINT is noted only, and delivered where it arrives whole: inside the
user's code, or when the backward has returned.
"""

from __future__ import annotations

import ctypes
from _signal import getsignal, signal  # not of `signal`, whose wrappers make enumerations of handlers: 4 us each
from contextlib import nullcontext
from signal import SIGINT
from typing import Any, Callable

from mxlite._ends import Noting, in_main_thread
from mxlite._lib import LIB, hot, last_error


class Interrupts(Noting):
    """A with-block of the main thread in which SIGINT is noted; `allowed()` within it lets it through."""

    #: The innermost block, or None.
    current: Interrupts | None = None

    def __init__(self) -> None:
        super().__init__()
        self.outer: Interrupts | None = None

    def __enter__(self) -> Interrupts:
        self.outer = Interrupts.current
        super().__enter__()
        Interrupts.current = self
        return self

    def __exit__(self, *_: object) -> None:
        Interrupts.current = self.outer
        super().__exit__()

    def allowed(self) -> _Allowed:
        """A with-block in which the handler from before is in force again."""
        return _Allowed(self)


class _Allowed:
    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts

    def __enter__(self) -> None:
        signal(SIGINT, self.interrupts.handler)
        self.interrupts._deliver()

    def __exit__(self, *_: object) -> None:
        signal(SIGINT, self.interrupts._note)


_NOTHING = nullcontext()


def noting_interrupts(certain: bool = False) -> Any:
    """Interrupts() where functions of the user's may be called (`certain`: will be) and signals can be handled, else
    nothing.
    """
    if (hot.num_kept() or certain) and in_main_thread() and callable(getsignal(SIGINT)):
        return Interrupts()
    return _NOTHING


def allowing_interrupts() -> Any:
    """A with-block, within a callback, for code of the user's."""
    current = Interrupts.current
    return current.allowed() if current is not None and in_main_thread() else _NOTHING


def call_user(function: Callable, *arguments: Any) -> Any:
    """Calls a function of the user's within a callback; a noted Ctrl-C arrives here, where no handle can be lost."""
    with allowing_interrupts():
        return function(*arguments)


def handle_array(numbers: list[int | None]) -> ctypes.Array:
    """Handles as the C API takes a list of them."""
    return (ctypes.c_void_p * len(numbers))(*numbers)


def backward(
    heads: list[int],
    head_grads: list[int | None] | None,
    variables: list[int],
    retain_graph: bool,
    create_graph: bool,
    train_mode: bool,
) -> list[int]:
    """MXAutogradBackwardEx on handles. Returns the new gradients of `variables`; raises what went wrong."""
    results, stypes = ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_int)()
    with noting_interrupts():
        status = LIB.MXAutogradBackwardEx(
            len(heads),
            handle_array(heads),
            None if head_grads is None else handle_array(head_grads),
            len(variables),
            handle_array(variables) if variables else None,
            bool(retain_graph),
            bool(create_graph),
            bool(train_mode),
            ctypes.byref(results),
            ctypes.byref(stypes),
        )
        gradients = [results[i] for i in range(len(variables))] if status == 0 else []
    if status != 0:
        raise failed(last_error())
    return gradients


#: Explains the exception of a failed backward, in anomaly mode (mxlite/autograd/anomaly.py).
explain: Callable[[BaseException], BaseException] | None = None


def failed(problem: BaseException) -> BaseException:
    """The exception to raise for one that a backward came back with."""
    return problem if explain is None else explain(problem)
