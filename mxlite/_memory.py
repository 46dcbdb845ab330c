"""Arrays of the library over the memory of NumPy arrays, which are kept until the library releases them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Callable

import numpy as np

from mxlite._lib import LIB
from mxlite._lib.python_api import RELEASE, hold


def over_memory(values: np.ndarray, shape: Sequence[int], flag: int, problem: Callable[[], BaseException]) -> int:
    """A new handle of an array of that shape and dtype over the memory. Raises: `problem`'s exception."""
    payload = hold(values)
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    handle = LIB.MXLNDArrayFromMemory(values.ctypes.data, len(shape), sizes, flag, RELEASE, payload)
    if not handle:
        error = problem()
        LIB.MXLPythonRelease(payload)
        raise error
    return handle
