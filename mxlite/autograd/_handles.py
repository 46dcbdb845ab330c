"""Handles of arrays: what number an array has, the user's object of a variable, and where a gradient goes."""

from __future__ import annotations

import ctypes
from typing import Any

from mxlite._lib import LIB, ask, check_call, hot, last_error
from mxlite.autograd._front_end import FrontEnd

#: What `hot.gradient` returns for an error.
_ERROR = (1 << 64) - 1

#: register_variable(array): makes it the object that `variable` of its node gives, while a program holds it.
register_variable = hot.register_variable


def array_id(handle: int) -> int:
    """A number that all handles of one array share."""
    number = hot.identity(handle)
    if not number:
        raise last_error()
    return number


def gradient_handle(handle: int) -> int:
    """A new handle of the gradient of a variable; 0: there is none."""
    found = hot.gradient(handle)
    if found == _ERROR:
        raise last_error()
    return found


def variable_for(handle: int, front_end: FrontEnd) -> Any:
    """The user's object for a new handle of a variable; one is made where there is none."""
    known = hot.registered(array_id(handle))
    if known is not None:
        check_call(LIB.MXNDArrayFree(handle))
        return known
    made = front_end.adopt(handle)
    register_variable(made)
    return made


def share(handle: int) -> int:
    """A new handle of the same array."""
    return ask(ctypes.c_void_p, LIB.MXShallowCopyNDArray, handle)


#: What `edge_kind` returns: no gradient flows to the array, it is a leaf that wants one, or it was recorded.
CONSTANT, LEAF, RECORDED = range(3)


def edge_kind(handle: int) -> int:
    """What an array is in the graph."""
    kind = hot.edge_kind(handle)
    if kind < 0:
        raise last_error()
    return kind


def edge_of(handle: int) -> tuple[int, int]:
    """Where the gradient of an array goes: a new handle of a node (0: nowhere) and the output's number."""
    node, output = ctypes.c_void_p(), ctypes.c_int()
    check_call(LIB.MXLNDArrayGetEdge(handle, ctypes.byref(node), ctypes.byref(output)))
    return node.value or 0, output.value
