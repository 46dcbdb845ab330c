"""Helpers of 1.9.1's that need what mxlite lacks: each says so when it is called."""

from __future__ import annotations

from typing import Any, Callable, NoReturn

from mxlite.error import MXNotImplementedError

_SPARSE = "sparse arrays are not in mxlite yet"
_WHY = {
    "create_sparse_array": _SPARSE,
    "create_sparse_array_zd": _SPARSE,
    "rand_sparse_ndarray": _SPARSE,
    "shuffle_csr_column_indices": _SPARSE,
}


def missing_helper(name: str) -> Callable[..., NoReturn] | None:
    """A function that raises NotImplementedError with the reason; None: `name` is no such helper."""
    if name not in _WHY:
        return None

    def helper(*args: Any, **kwargs: Any) -> NoReturn:
        raise MXNotImplementedError(f"test_utils.{name}: {_WHY[name]}")

    helper.__name__ = helper.__qualname__ = name
    helper.__module__ = "mxlite.test_utils"
    helper.__doc__ = f"Is missing: {_WHY[name]}. Raises: NotImplementedError."
    return helper
