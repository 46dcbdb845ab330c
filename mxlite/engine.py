"""`mx.engine`: how many operators MXNet would join. Here operators run as they are called, and nothing changes."""

from __future__ import annotations

import ctypes

from mxlite._lib import LIB, ask
from mxlite._public import show as _show
from mxlite.util import _Scope


def set_bulk_size(size: int) -> int:
    """Remembers a bulk size, which changes no result; the size before.

    Raises:
        MXNetError: a negative size.
    """
    return ask(ctypes.c_int, LIB.MXEngineSetBulkSize, size)


def bulk(size: int) -> _Scope:
    """A with-block with another bulk size."""
    return _Scope(set_bulk_size, size)


_show(globals())
