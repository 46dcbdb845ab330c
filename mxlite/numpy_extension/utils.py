"""Arrays of `mx.np` in files, which `mx.nd.load` reads too."""

from __future__ import annotations

import os
from typing import Any

from mxlite._public import show as _show
from mxlite.ndarray import files
from mxlite.numpy import ndarray

__all__ = ["load", "save"]


def save(file: str | os.PathLike, arr: Any) -> None:
    """Writes arrays into a file: an array, a list of them, or a dict by name.

    Raises: TypeError: something is no array of mx.np.
    """
    arrays = arr.values() if isinstance(arr, dict) else arr if isinstance(arr, (list, tuple)) else [arr]
    for each in arrays:
        if not isinstance(each, ndarray):
            raise TypeError(f"save: values are arrays of mx.np, got {type(each).__name__}")
    files.save(file, list(arr) if isinstance(arr, tuple) else arr)


def load(file: str | os.PathLike) -> Any:
    """The arrays of a file: a dict where they have names, else a list."""
    loaded = files.load(file)
    if isinstance(loaded, dict):
        return {name: array.as_np_ndarray() for name, array in loaded.items()}
    return [array.as_np_ndarray() for array in loaded]


_show(globals())
