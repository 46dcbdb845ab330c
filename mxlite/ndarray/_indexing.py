"""The parts of a key, and what a key of integers, slices, None and `...` selects, as the library's slices take it."""

from __future__ import annotations

import math
import operator
import sys
import warnings
from typing import Any

import numpy as np

from mxlite._index.keys import KeyReader


class Selection:
    """What the parts of a key without arrays select: begin, end and step of every axis, and the shape that is left.

    `lengths`: how many elements of every axis. `shape`: without the axes that an integer took, with those that None
    added (a scalar has ()).
    """

    __slots__ = ("begin", "end", "step", "lengths", "shape")

    def __init__(self, parts: list[tuple[int, Any]], sizes: tuple[int, ...]) -> None:
        self.begin: list[int] = []
        self.end: list[int] = []
        self.step: list[int] = []
        self.lengths: list[int] = []
        self.shape: list[int] = []
        for axis, part in parts:
            if part is None:
                self.shape.append(1)
                continue
            if part is Ellipsis:
                continue
            if isinstance(part, slice):
                begin, end, step = part.indices(sizes[axis])
                length = len(range(begin, end, step))
                self.shape.append(length)
            else:
                begin, end, step, length = part, part + 1, 1, 1
            self.begin.append(begin)
            self.end.append(end)
            self.step.append(step)
            self.lengths.append(length)

    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return 0 in self.lengths

    def is_whole(self, sizes: tuple[int, ...]) -> bool:
        """Whether every element is selected, in order."""
        return all(
            length == size and (step == 1 or size <= 1) for length, size, step in zip(self.lengths, sizes, self.step)
        )

    def run(self, sizes: tuple[int, ...]) -> tuple[int, int] | None:
        """First element and one past the last, where what is selected lies in one run of the array's elements."""
        first = 0
        several = False  # an axis before this one selects more than one element
        for begin, step, length, size in zip(self.begin, self.step, self.lengths, sizes):
            if several and length != size:
                return None
            if length > 1:
                if step != 1:
                    return None
                several = True
            first = first * size + begin
        return first, first + math.prod(self.lengths)

    def bounds(self) -> tuple[tuple, tuple, tuple]:
        """begin, end and step as the slice operators take them: an end before the first element is None."""
        ends = tuple(None if end < 0 else end for end in self.end)
        return tuple(self.begin), ends, tuple(self.step)


class _Comparison(np.ndarray):
    """Positions 0 and 1 of a float NDArray: what `x > 0` gives, which a program may mean as a mask."""

    #: Whether the program has been told.
    is_known = False

    @classmethod
    def tell(cls) -> None:
        """Warns where the program has the key, once for the process."""
        cls.is_known = True
        depth, frame = 2, sys._getframe(1)
        while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("mxlite."):
            depth, frame = depth + 1, frame.f_back
        warnings.warn(
            "x[key]: the key holds the floats 0 and 1 and has the shape of x, as the result of x > 0; it is no mask:"
            " elements 0 and 1 are taken, as in MXNet 1.9.1. Where a mask is meant, write"
            " x[(x > 0).astype('bool')], mx.nd.contrib.boolean_mask(x, key) or mx.nd.where(key, x, other);"
            " where positions are, key.astype('int32') (this is said once)",
            UserWarning,
            stacklevel=depth,
        )


class _Reader(KeyReader):
    """Keys as MXNet 1.9.1 has them."""

    def read(self, entry: Any) -> Any:
        """Of a list, a NumPy array or an NDArray; numbers that are no integers are cut towards zero, as 1.9.1 does.

        Raises: ValueError: nothing that indexes; TypeError: a list is no array of numbers.
        """
        if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
            return operator.index(entry)
        if hasattr(entry, "asnumpy"):
            values = entry.asnumpy()
        elif isinstance(entry, (np.ndarray, bool, np.bool_)):
            values = np.asarray(entry)
        elif isinstance(entry, (list, tuple, range)):
            values = _as_numbers(entry)
        else:
            raise ValueError(f"an NDArray has no key {entry} of type {type(entry)}")
        kind = values.dtype.kind
        if kind == "b":
            return values
        if kind == "f":
            if not np.all(np.abs(values.astype(np.float64)) < 2.0**63):
                raise IndexError("an index is not finite, or does not fit 64 bits")
        elif kind not in "iuO":
            raise ValueError(f"an NDArray has no key {entry} of type {type(entry)}")
        if kind == "u" and values.size and int(values.max()) >= 1 << 63:
            raise IndexError(f"an index does not fit 64 bits: {entry}")
        try:
            index = values.astype(np.int64)
        except OverflowError:
            raise IndexError(f"an index does not fit 64 bits: {entry}") from None
        if kind == "f" and not _Comparison.is_known and hasattr(entry, "asnumpy") and set(np.unique(values)) <= {0, 1}:
            return index.view(_Comparison)
        return index if values.ndim else int(index)

    def _within(self, entry: np.ndarray, axis: int, sizes: tuple[int, ...]) -> np.ndarray:
        if entry.__class__ is _Comparison:
            if entry.size > 1 and entry.shape == tuple(sizes[axis : axis + entry.ndim]):
                _Comparison.tell()
            entry = entry.view(np.ndarray)
        return super()._within(entry, axis, sizes)

    def check_count(self, entries: list, used: int, ndim: int) -> None:
        if used > ndim:
            raise IndexError(f"too many indices ({used}) for array with {ndim} dimensions")
        if sum(entry is Ellipsis for entry in entries) > 1:
            raise IndexError("a key has at most one ...")

    def wrong_mask(self, mask: np.ndarray, sizes: tuple[int, ...], axis: int) -> IndexError:
        fitting = tuple(sizes[axis : axis + mask.ndim])
        return IndexError(f"a mask of shape {mask.shape} does not fit axes of {fitting}")


#: The parts of a key, and whether one of them is an index array or a mask: `parse(key, sizes)`.
parse = _Reader().parse


def _as_numbers(entry: Any) -> np.ndarray:
    try:
        values = np.asarray(entry)
    except ValueError as problem:
        raise TypeError(f"a list of indices must be an array of numbers: {problem}") from None
    if values.dtype.kind not in "biuf":
        if values.dtype.kind == "O" and all(isinstance(each, int) for each in values.flat):
            raise IndexError(f"an index does not fit 64 bits: {entry}")
        raise TypeError(f"a list of indices must be an array of numbers, got {entry}")
    return values


def final_shape(shape: list[int], numpy_mode: bool) -> tuple[int, ...]:
    """The shape of a result; without numpy-shape mode a scalar has (1,)."""
    return tuple(shape) if shape or numpy_mode else (1,)
