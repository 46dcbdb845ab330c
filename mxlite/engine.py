"""`mx.engine`: how many operators MXNet would join. Here operators run as they are called, and nothing changes."""

from __future__ import annotations

import ctypes

from mxlite._lib import LIB, ask
from mxlite._public import show as _show


def set_bulk_size(size: int) -> int:
    """Remembers a bulk size, which changes no result; the size before.

    Raises:
        MXNetError: a negative size.
    """
    return ask(ctypes.c_int, LIB.MXEngineSetBulkSize, size)


class _BulkScope:
    def __init__(self, size: int) -> None:
        self._size = size
        self._before: list[int] = []

    def __enter__(self) -> _BulkScope:
        self._before.append(set_bulk_size(self._size))
        return self

    def __exit__(self, *_: object) -> None:
        set_bulk_size(self._before.pop())


def bulk(size: int) -> _BulkScope:
    """A with-block with another bulk size."""
    return _BulkScope(size)


_show(globals())
