"""Sorting, searching, and sets: positions are found on the values, elements are taken by operators."""

from __future__ import annotations

import builtins
from typing import Any, NamedTuple

import numpy as np

from mxlite import numpy as mnp
from mxlite.array_api._dtypes import array_given, new, operands
from mxlite.array_api._shapes import _axes
from mxlite.error import MXValueError
from mxlite.numpy.multiarray import ndarray


class UniqueAllResult(NamedTuple):
    """What unique_all() gives."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """What unique_counts() gives."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """What unique_inverse() gives."""

    values: ndarray
    inverse_indices: ndarray


def _places(values: np.ndarray, axis: int, descending: builtins.bool) -> np.ndarray:
    """The positions that sort; equal elements stay in their order."""
    if not descending:
        return np.argsort(values, axis, kind="stable")
    backwards = np.argsort(np.flip(values, axis), axis, kind="stable")
    return np.flip(values.shape[axis] - 1 - backwards, axis)


def argsort(
    x: ndarray, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True
) -> ndarray:
    """The positions that sort along an axis; equal elements stay in their order, whether `stable` or not."""
    (axis,) = _axes("argsort", axis, array_given("argsort", x, "iuf").ndim)
    return new(_places(x.asnumpy(), axis, descending))


def sort(x: ndarray, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> ndarray:
    """The elements sorted along an axis; equal ones stay in their order, whether `stable` or not."""
    (axis,) = _axes("sort", axis, array_given("sort", x, "iuf").ndim)
    return mnp.take_along_axis(x, _places(x.asnumpy(), axis, descending), axis)


def nonzero(x: ndarray, /) -> tuple[ndarray, ...]:
    """Where elements are not 0: the positions along each axis. Raises: ValueError: an array without axes."""
    if not array_given("nonzero", x).ndim:
        raise MXValueError("nonzero: an array without axes has no positions")
    return tuple(map(new, np.nonzero(x.asnumpy())))


def searchsorted(x1: ndarray, x2: Any, /, *, side: str = "left", sorter: ndarray | None = None) -> ndarray:
    """Where values would be in a sorted vector; `sorter`: the positions that sort it."""
    x1, x2 = operands("searchsorted", "iuf", array_given("searchsorted", x1, argument="x1"), x2)
    return mnp.searchsorted(x1, x2, side, sorter)


def isin(x1: Any, x2: Any, /, *, invert: builtins.bool = False) -> ndarray:
    """Which elements are among the others; `invert`: which are not."""
    x1, x2 = operands("isin", "biuf", x1, x2)
    return mnp.isin(x1, x2, invert=invert)


def unique_all(x: ndarray, /) -> UniqueAllResult:
    """The different elements, in order, where each is first, of which each is, and how many there are.

    Each NaN differs from the others.
    """
    line = array_given("unique_all", x).asnumpy().ravel()
    order = np.argsort(line, kind="stable")
    ordered = line[order]
    is_new = np.ones(line.size, bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_new)
    inverse = np.empty(line.size, np.int64)
    inverse[order] = np.cumsum(is_new) - 1
    counts = np.diff(np.append(starts, line.size))
    first = order[starts]
    return UniqueAllResult(
        mnp.take(mnp.reshape(x, (-1,)), new(first), axis=0), new(first), new(inverse.reshape(x.shape)), new(counts)
    )


def unique_counts(x: ndarray, /) -> UniqueCountsResult:
    """The different elements, in order, and how many there are of each."""
    made = unique_all(x)
    return UniqueCountsResult(made.values, made.counts)


def unique_inverse(x: ndarray, /) -> UniqueInverseResult:
    """The different elements, in order, and of which each is."""
    made = unique_all(x)
    return UniqueInverseResult(made.values, made.inverse_indices)


def unique_values(x: ndarray, /) -> ndarray:
    """The different elements, in order."""
    return unique_all(x).values
