"""Python functions that the library calls: hooks on nodes and arrays, and the objects that it holds as payloads."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite import _backward, error
from mxlite._lib import LIB, Handle, check_call, hot, last_error, lasting
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import share, variable_for


class RemovableHandle(Handle):
    """A hook that was registered; as a with-block it is removed at the end."""

    __slots__ = ()

    def __init__(self, handle: int) -> None:
        self._own(handle, LIB.MXLHookFree)

    def remove(self) -> None:
        """Takes the hook away; nothing happens where it is gone already."""
        handle = self._disown()
        if handle:
            check_call(LIB.MXLHookRemove(handle))

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


# ---- registering ----


def hand_over(
    thing: Any, register: Callable[[int, Any], int], problem: Callable[[], BaseException] = last_error
) -> None:
    """Gives the library an object as a payload, by register(its number, the function that releases it).

    Raises: `problem`'s exception, if register fails.
    """
    number = hot.keep(thing)
    if register(number, RELEASE) != 0:
        hot.drop(number)
        raise problem()


def add_hook(register: Callable, handle: int, callback: Any, thing: Any, *arguments: Any) -> RemovableHandle:
    """Registers one of the callbacks below, with what it is to work on, by a function of the library."""
    hook = ctypes.c_void_p()
    hand_over(thing, lambda *payload: register(handle, callback, *arguments, *payload, ctypes.byref(hook)))
    return RemovableHandle(hook.value or 0)


def add_array_hook(array: Any, fn: Callable, front_end: FrontEnd, last: bool = False) -> RemovableHandle:
    """Calls fn(grad) when the gradient of an array has arrived; what it returns takes the gradient's place."""
    return add_hook(LIB.MXLNDArrayAddHook, array._h, _ON_ARRAY, (fn, front_end), int(last))


def add_accumulated_hook(variable: Any, fn: Callable, front_end: FrontEnd) -> RemovableHandle:
    """Calls fn(variable) when a backward has added to the variable's gradient."""
    return add_hook(LIB.MXLNDArrayAddAccumulatedHook, variable._h, _ON_ACCUMULATED, (fn, front_end))


def call_at_end(fn: Callable[[], Any], problem: Callable[[], BaseException]) -> None:
    """Calls fn() at the end of the backward that runs on this thread. Raises: `problem`'s exception: none runs."""
    hand_over((fn,), lambda *payload: LIB.MXLBackwardQueue(_ON_END, *payload), problem)


# ---- callbacks ----


#: The library releases a payload.
RELEASE = hot.release

HANDLES = ctypes.POINTER(ctypes.c_void_p)
_P, _I = ctypes.c_void_p, ctypes.c_int


def callback(*kinds: Any) -> Callable[[Callable], Any]:
    """Decorates a function that the library calls with a payload's number and arguments of these ctypes types.

    The function gets the payload, and takes over handles among the arguments before it runs code of the user's by
    `call_user`. The library gets 0, or -1 after an exception, which is kept for the caller.
    """

    def decorate(work: Callable) -> Any:
        def call(number: int, *arguments: Any) -> int:
            try:
                work(hot.kept(number), *arguments)
                return 0
            except BaseException as problem:
                error.keep_exception(problem)
                return -1

        return lasting(ctypes.CFUNCTYPE(_I, _P, *kinds)(call))

    return decorate


def adopted(front_end: FrontEnd, count: int, handles: Any) -> tuple:
    """The arrays of a list of new handles; None for 0."""
    return tuple(front_end.adopt(handles[i]) if handles[i] else None for i in range(count))


#: MXL_NO_GRADIENT: none has arrived there.
_NO_GRADIENT = ctypes.c_void_p(-1).value


def _give(front_end: FrontEnd, value: Any, results: Any, index: int) -> None:
    """Hands an array to the library as a result: a new handle of it."""
    if not isinstance(value, front_end.array_class):
        raise TypeError(f"hooks must return an array or None, got {type(value).__name__}")
    results[index] = share(value._h)


@callback(_I, HANDLES, HANDLES)
def _ON_ARRAY(hook: Any, count: int, grads: Any, results: Any) -> None:  # noqa: N802 - it is a constant
    """A gradient of an array has arrived."""
    fn, front_end = hook
    returned = _backward.call_user(fn, *adopted(front_end, count, grads))
    if returned is not None:
        _give(front_end, returned, results, 0)


@callback(_I, HANDLES, HANDLES)
def ON_PREPARE(hook: Any, count: int, grads: Any, results: Any) -> None:  # noqa: N802
    """A node is about to run."""
    fn, front_end = hook
    _give_all(front_end, _backward.call_user(fn, adopted(front_end, count, grads)), results, count)


@callback(_I, HANDLES, _I, HANDLES, HANDLES)
def ON_NODE(hook: Any, inputs: int, in_grads: Any, outputs: int, out_grads: Any, results: Any) -> None:  # noqa: N802
    """A node has run."""
    fn, front_end = hook
    given = adopted(front_end, inputs, in_grads), adopted(front_end, outputs, out_grads)
    _give_all(front_end, _backward.call_user(fn, *given), results, inputs)


def _give_all(front_end: FrontEnd, returned: Any, results: Any, count: int) -> None:
    """Gives the library the result of a hook at a node: None, or a tuple of gradients; None in it is no gradient."""
    if returned is None:
        return
    if not isinstance(returned, tuple):
        raise TypeError(f"a hook at a node must return a tuple or None, it returned {type(returned).__name__}")
    if len(returned) != count:
        raise RuntimeError(f"a hook at a node must return {count} gradients, it returned {len(returned)}")
    for index, value in enumerate(returned):
        if value is None:
            results[index] = _NO_GRADIENT
        else:
            _give(front_end, value, results, index)


@callback(_P)
def _ON_ACCUMULATED(hook: Any, variable: int) -> None:  # noqa: N802
    """A variable's gradient was added to."""
    fn, front_end = hook
    returned = _backward.call_user(fn, variable_for(variable, front_end))
    if returned is not None and not isinstance(returned, front_end.array_class):
        raise TypeError(f"a hook after accumulation must return None, it returned {type(returned).__name__}")


@callback()
def _ON_END(queued: Any) -> None:  # noqa: N802
    """A backward that a function was queued in has come to its end."""
    _backward.call_user(queued[0])
