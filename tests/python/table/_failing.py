"""Runs rows of the case table with the k-th allocation failing, for each k; a program of its own.

python _failing.py ROWS: so many rows of each operator, a process for each. Prints the rows that ended their process.
The allocator is set before mxlite is imported, which allocates.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from pathlib import Path

MOST = 400  # allocations of a call
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

_ALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_libc = ctypes.CDLL(None)
_libc.aligned_alloc.restype = ctypes.c_void_p
_libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]

#: Allocations that still succeed (below 0: all), and whether one has failed.
until, failed = -1, False


@_ALLOC
def _alloc(payload: int, size: int, align: int) -> int | None:
    global until, failed
    until -= 1
    if until == -1:
        failed = True
        return None
    return _libc.aligned_alloc(align, -(-size // align) * align)


@_FREE
def _free(payload: int, block: int, size: int) -> None:
    _libc.free(block)


def _walk(row: object, invoke: object, scope: object, arrays: list, mx: object) -> None:
    global until, failed
    for k in range(MOST):
        until, failed = k, False
        try:
            with scope(row), mx.np_shape(row.np_shape):
                invoke(row, arrays)
        except (mx.MXNetError, MemoryError, ValueError, TypeError):
            pass
        until = -1
        if not failed:
            return


def main(rows: int) -> None:
    """Walks through all operators."""
    library = ctypes.CDLL(sys.argv[2])
    if library.MXLSetAllocator(_alloc, _free, None, 0) != 0:
        sys.exit("the allocator cannot be set")
    warnings.simplefilter("ignore")
    from _table import invoke, scope, to_nd
    from cases import CASES, of

    import mxlite as mx

    names = sorted({row.op for row in CASES})
    for name in names:
        chosen = [row for row in of(name) if not row.error and row.out is None][:rows]
        child = os.fork()
        if child == 0:
            for row in chosen:
                _walk(row, invoke, scope, [to_nd(array) for array in row.arrays()], mx)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status != 0:
            print(f"{name}: ended with {status}")
    print(f"{len(names)} operators")


if __name__ == "__main__":
    main(int(sys.argv[1]))
