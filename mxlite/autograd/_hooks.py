"""Python functions that the library calls: hooks on nodes and arrays, and what is kept until the library lets it go."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite import _backward, error
from mxlite._lib import LIB, check_call, last_error
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import share, variable_for


class RemovableHandle:
    """A hook that was registered; as a with-block it is removed at the end."""

    __slots__ = ("_handle", "__weakref__")

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def remove(self) -> None:
        """Takes the hook away; nothing happens where it is gone already."""
        handle, self._handle = self._handle, 0
        if handle:
            check_call(LIB.MXLHookRemove(handle))

    def __del__(self) -> None:
        if self._handle:
            LIB.MXLHookFree(self._handle)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


# ---- registering ----


def keep(thing: Any) -> int:
    """A number for something that the library holds, as a payload, until it releases it."""
    number = next(_backward.numbers)
    _backward.recorded[number] = thing
    return number


def add_hook(register: Callable, handle: int, callback: Any, thing: Any, *arguments: Any) -> RemovableHandle:
    """Registers one of the callbacks below, with what it is to work on, by a function of the library."""
    number = keep(thing)
    hook = ctypes.c_void_p()
    if register(handle, callback, *arguments, number, RELEASE, ctypes.byref(hook)) != 0:
        problem = last_error()
        _backward.recorded.pop(number, None)
        raise problem
    return RemovableHandle(hook.value or 0)


def add_array_hook(array: Any, fn: Callable, front_end: FrontEnd, last: bool = False) -> RemovableHandle:
    """Calls fn(grad) when the gradient of an array has arrived; what it returns takes the gradient's place."""
    return add_hook(LIB.MXLNDArrayAddHook, array._h, ON_ARRAY, (fn, front_end), int(last))


def add_accumulated_hook(variable: Any, fn: Callable, front_end: FrontEnd) -> RemovableHandle:
    """Calls fn(variable) when a backward has added to the variable's gradient."""
    return add_hook(LIB.MXLNDArrayAddAccumulatedHook, variable._h, ON_ACCUMULATED, (fn, front_end))


def _arrays(front_end: FrontEnd, count: int, handles: Any) -> tuple:
    return tuple(front_end.adopt(handles[i]) if handles[i] else None for i in range(count))


#: MXL_NO_GRADIENT: none has arrived there.
_NO_GRADIENT = ctypes.c_void_p(-1).value


def give(front_end: FrontEnd, value: Any, results: Any, index: int) -> None:
    """Hands an array to the library as a result: a new handle of it."""
    if not isinstance(value, front_end.array_class):
        raise TypeError(f"hooks must return an array or None, got {type(value).__name__}")
    results[index] = share(value._h)


def _call(number: int, work: Callable) -> int:
    """Runs `work` on the objects recorded under the number; -1 with the exception kept."""
    try:
        with _backward.allowing_interrupts():
            work(*_backward.recorded[number])
        return 0
    except BaseException as problem:
        error.keep_exception(problem)
        return -1


_HANDLES = ctypes.POINTER(ctypes.c_void_p)
_P, _I = ctypes.c_void_p, ctypes.c_int
GRAD_HOOK = ctypes.CFUNCTYPE(_I, _P, _I, _HANDLES, _HANDLES)
NODE_HOOK = ctypes.CFUNCTYPE(_I, _P, _I, _HANDLES, _I, _HANDLES, _HANDLES)
VARIABLE_HOOK = ctypes.CFUNCTYPE(_I, _P, _P)
CALLBACK = ctypes.CFUNCTYPE(_I, _P)


@GRAD_HOOK
def ON_ARRAY(number: int, count: int, grads: Any, results: Any) -> int:  # noqa: N802 - it is a constant
    """A gradient of an array has arrived."""

    def work(fn: Callable, front_end: FrontEnd) -> None:
        (grad,) = _arrays(front_end, count, grads)
        returned = fn(grad)
        if returned is not None:
            give(front_end, returned, results, 0)

    return _call(number, work)


@GRAD_HOOK
def ON_PREPARE(number: int, count: int, grads: Any, results: Any) -> int:  # noqa: N802
    """A node is about to run."""

    def work(fn: Callable, front_end: FrontEnd) -> None:
        _give_all(front_end, fn(_arrays(front_end, count, grads)), results, count)

    return _call(number, work)


@NODE_HOOK
def ON_NODE(number: int, inputs: int, in_grads: Any, outputs: int, out_grads: Any, results: Any) -> int:  # noqa: N802
    """A node has run."""

    def work(fn: Callable, front_end: FrontEnd) -> None:
        given = _arrays(front_end, inputs, in_grads), _arrays(front_end, outputs, out_grads)
        _give_all(front_end, fn(*given), results, inputs)

    return _call(number, work)


def _give_all(front_end: FrontEnd, returned: Any, results: Any, count: int) -> None:
    """What a hook at a node returns: nothing, or a tuple of gradients, of which None means that there is none."""
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
            give(front_end, value, results, index)


@VARIABLE_HOOK
def ON_ACCUMULATED(number: int, variable: int) -> int:  # noqa: N802
    """A variable's gradient was added to."""

    def work(fn: Callable, front_end: FrontEnd) -> None:
        returned = fn(variable_for(variable, front_end))
        if returned is not None and not isinstance(returned, front_end.array_class):
            raise TypeError(f"a hook after accumulation must return None, it returned {type(returned).__name__}")

    return _call(number, work)


@CALLBACK
def ON_END(number: int) -> int:  # noqa: N802
    """A backward that a function was queued in has come to its end."""
    return _call(number, lambda fn: fn())


#: The library lets a payload go.
RELEASE = ctypes.CFUNCTYPE(None, _P)(_backward.recorded.__delitem__)

# The library may call them for as long as it holds a payload, which can be longer than this module lives.
for _callback in (ON_ARRAY, ON_PREPARE, ON_NODE, ON_ACCUMULATED, ON_END, RELEASE):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))
