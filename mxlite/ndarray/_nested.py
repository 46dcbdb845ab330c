"""Nested lists of arrays, which the loops of `mx.nd.contrib` take and return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mxlite.ndarray.ndarray import NDArray, invoke


def flat(nested: Any, what: str) -> list[NDArray]:
    """The arrays of a nested list, from left to right.

    Raises:
        AssertionError: something in it is neither an array nor a list; `what` names it.
    """
    if isinstance(nested, NDArray):
        return [nested]
    if not isinstance(nested, (list, tuple)):
        raise AssertionError(f"{what} must be NDArrays in (nested) lists, got {nested!r} of {type(nested)}")
    return [array for each in nested for array in flat(each, what)]


def _like(nested: Any, arrays: Iterator[Any]) -> Any:
    if isinstance(nested, NDArray):
        return next(arrays)
    return [_like(each, arrays) for each in nested]


def like(nested: Any, arrays: list[Any]) -> Any:
    """Other arrays, as many, in the lists of a nested list; tuples become lists."""
    return _like(nested, iter(arrays))


def stacked(steps: list[list[NDArray]], padded_to: int = 0) -> list[NDArray]:
    """Of each array of a step one array of all steps, behind which are zeros up to so many."""
    results = []
    for arrays in zip(*steps):
        result = invoke("stack", list(arrays), {"axis": 0, "num_args": len(arrays)})
        if padded_to > len(steps):
            shape = (padded_to - len(steps), *arrays[0].shape)
            zeros = invoke("_zeros", [], {"shape": shape, "dtype": arrays[0].dtype, "ctx": str(arrays[0].context)})
            result = invoke("Concat", [result, zeros], {"dim": 0, "num_args": 2})
        results.append(result)
    return results
