"""`mx.engine`: how many large element-wise operators run together, in one pass over memory."""

from __future__ import annotations

import ctypes

from mxlite._lib import LIB, ask, c_int
from mxlite._public import show as _show
from mxlite.util import _Scope


def set_bulk_size(size: int) -> int:
    """Sets the bulk size of this thread; returns the size before, initially 24.

    Above 1, element-wise calls on 20,000 elements (`MXLITE_DEFER`) and more are checked and recorded at once, but up
    to `size` of them run together when a result is read. Results have the same bits. At 0 or 1 every call runs at once.

    Raises:
        MXNetError: a negative size. OverflowError: one beyond 32 bits.
    """
    return ask(ctypes.c_int, LIB.MXEngineSetBulkSize, c_int(ctypes.c_int, size))


def bulk(size: int) -> _Scope:
    """A with-block with another bulk size (see `set_bulk_size`)."""
    return _Scope(set_bulk_size, size)


_show(globals())
