"""Arrays of the library over the memory of NumPy arrays, which are kept until the library releases them."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from typing import Callable

import numpy as np

from mxlite._lib import LIB, lasting

#: By the number that the library was given for each.
_lent: dict[int, np.ndarray] = {}
_numbers = itertools.count(1)

# No Python code of ours runs in it.
_RELEASE = lasting(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_lent.__delitem__))


def over_memory(values: np.ndarray, shape: Sequence[int], flag: int, problem: Callable[[], BaseException]) -> int:
    """A new handle of an array of that shape and dtype over the memory. Raises: `problem`'s exception."""
    number = next(_numbers)
    _lent[number] = values
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    handle = LIB.MXLNDArrayFromMemory(values.ctypes.data, len(shape), sizes, flag, _RELEASE, number)
    if not handle:
        error = problem()
        del _lent[number]
        raise error
    return handle
