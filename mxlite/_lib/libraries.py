"""What the libraries of operators that are loaded brought (mx.library); their back ends are refused."""

from __future__ import annotations

import ctypes

from mxlite._lib import LIB, check_call
from mxlite.error import MXNotImplementedError

#: What MXLLibraryNames numbers.
KINDS = ("operators", "partitioners", "passes")


def names(kind: str = "operators") -> list[str]:
    """The names of what loaded libraries brought, in the order of loading.

    Args:
        kind: "operators", "partitioners" or "passes". Of these only operators can be used.
    Raises: ValueError: another `kind`.
    """
    if kind not in KINDS:
        raise ValueError(f"library: kind must be one of {', '.join(KINDS)}, got {kind!r}")
    count = ctypes.c_uint32()
    listed = ctypes.POINTER(ctypes.c_char_p)()
    check_call(LIB.MXLLibraryNames(KINDS.index(kind), ctypes.byref(count), ctypes.byref(listed)))
    return [listed[i].decode() for i in range(count.value)]


def refuse_backend(function: str, backend: object) -> None:
    """Raises: NotImplementedError: `backend` is a partitioner or a graph pass of a library that is loaded."""
    for kind, what in (("partitioners", "partitioner"), ("passes", "graph pass")):
        if backend in names(kind):
            raise MXNotImplementedError(
                f"{function}: backend {backend!r} is a {what} of a loaded library; mxlite runs only the operators of "
                "libraries"
            )
