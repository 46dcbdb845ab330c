"""Basic indexing: what a key selects of a shape, as the library's views and slices take it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from mxlite.error import MXNotImplementedError


class Selection:
    """What a key selects: begin, end and step of every axis, and the shape that is left.

    `lengths`: how many elements of every axis. `shape`: without the axes that an integer took, with those that None
    added (a scalar has ()).
    """

    __slots__ = ("begin", "end", "step", "lengths", "shape")

    def __init__(self, key: Any, extents: tuple[int, ...]) -> None:
        entries = _expand(key, len(extents))
        self.begin: list[int] = []
        self.end: list[int] = []
        self.step: list[int] = []
        self.lengths: list[int] = []
        self.shape: list[int] = []
        for entry in entries:
            if entry is None:
                self.shape.append(1)
                continue
            axis = len(self.begin)
            extent = extents[axis]
            if isinstance(entry, slice):
                begin, end, step = entry.indices(extent)
                length = len(range(begin, end, step))
                self.shape.append(length)
            else:
                begin = _check_index(entry, axis, extent)
                end, step, length = begin + 1, 1, 1
            self.begin.append(begin)
            self.end.append(end)
            self.step.append(step)
            self.lengths.append(length)

    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return 0 in self.lengths

    def is_whole(self, extents: tuple[int, ...]) -> bool:
        """Whether every element is selected, in order."""
        return all(
            length == extent and (step == 1 or extent <= 1)
            for length, extent, step in zip(self.lengths, extents, self.step)
        )

    def run(self, extents: tuple[int, ...]) -> tuple[int, int] | None:
        """First element and one past the last, where what is selected lies in one run of the array's elements."""
        first = 0
        spread = False  # an axis before this one selects more than one element
        for begin, step, length, extent in zip(self.begin, self.step, self.lengths, extents):
            if spread and length != extent:
                return None
            if length > 1:
                if step != 1:
                    return None
                spread = True
            first = first * extent + begin
        size = 1
        for length in self.lengths:
            size *= length
        return first, first + size

    def bounds(self) -> tuple[tuple, tuple, tuple]:
        """begin, end and step as the slice operators take them: an end before the first element is None."""
        ends = tuple(None if end < 0 else end for end in self.end)
        return tuple(self.begin), ends, tuple(self.step)


def _check_index(entry: Any, axis: int, extent: int) -> int:
    index = operator.index(entry)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return index + extent if index < 0 else index


def _expand(key: Any, ndim: int) -> list:
    """The key as one entry per axis (an integer or a slice) and None for new axes."""
    entries = list(key) if isinstance(key, tuple) else [key]
    for entry in entries:
        _check_entry(entry)
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if used > ndim:
        raise IndexError(f"too many indices ({used}) for array with {ndim} dimensions")
    dots = [position for position, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexError("Cannot use more than one ellipsis (`...`) for indexing")
    position = dots[0] if dots else len(entries)
    entries[position : position + len(dots)] = [slice(None)] * (ndim - used)
    return entries


def _check_entry(entry: Any) -> None:
    if entry is None or entry is Ellipsis or isinstance(entry, (slice, int, np.integer)):
        return
    if isinstance(entry, (list, tuple, np.ndarray)) or hasattr(entry, "asnumpy"):
        raise MXNotImplementedError(
            f"indexing with {type(entry).__name__} is not supported yet; integers, slices, None and ... are; "
            "for a list of rows see mx.nd.take"
        )
    raise ValueError(f"NDArray does not support slicing with key {entry} of type {type(entry)}.")


def final_shape(shape: list[int], numpy_mode: bool) -> tuple[int, ...]:
    """The shape of a result; without numpy-shape mode a scalar has (1,)."""
    return tuple(shape) if shape or numpy_mode else (1,)
