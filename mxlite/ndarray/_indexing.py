"""The parts of a key, and what a key of integers, slices, None and `...` selects, as the library's slices take it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


class Selection:
    """What the parts of a key without arrays select: begin, end and step of every axis, and the shape that is left.

    `lengths`: how many elements of every axis. `shape`: without the axes that an integer took, with those that None
    added (a scalar has ()).
    """

    __slots__ = ("begin", "end", "step", "lengths", "shape")

    def __init__(self, entries: list, extents: tuple[int, ...]) -> None:
        entries = _expand(entries, len(extents))
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
                begin = check_index(entry, axis, extent)
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


def _expand(entries: list, ndim: int) -> list:
    """One entry (an integer or a slice) per axis, and None for new axes."""
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    check_count(entries, used, ndim)
    position = next((place for place, entry in enumerate(entries) if entry is Ellipsis), len(entries))
    return entries[:position] + [slice(None)] * (ndim - used) + entries[position + 1 :]


def check_index(entry: Any, axis: int, extent: int) -> int:
    """An integer as a position from 0 on. Raises: IndexError."""
    index = operator.index(entry)
    if not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
    return index + extent if index < 0 else index


_PLAIN = (slice, int, np.integer)


def entries_of(key: Any) -> tuple[list, bool]:
    """The parts of a key, and whether one of them is an index array or a mask (a NumPy array then).

    Numbers without axes become integers; booleans without axes are masks of none.
    Raises: ValueError: a part is nothing that indexes; TypeError: a list is no array of numbers.
    """
    entries = list(key) if isinstance(key, tuple) else [key]
    advanced = False
    for position, entry in enumerate(entries):
        if entry is None or entry is Ellipsis or (isinstance(entry, _PLAIN) and not isinstance(entry, bool)):
            continue
        entries[position] = entry = _as_index(entry)
        advanced = advanced or entry.__class__ is not int
    return entries, advanced


def check_count(entries: list, used: int, ndim: int) -> None:
    """Raises: IndexError: the entries take more axes (`used`) than there are, or hold more than one `...`."""
    if used > ndim:
        raise IndexError(f"too many indices ({used}) for array with {ndim} dimensions")
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise IndexError("Cannot use more than one ellipsis (`...`) for indexing")


def _as_index(entry: Any) -> Any:
    """An index array (int64) or a mask (bool) from a list, a NumPy array or an NDArray; an integer if it has no axes.

    Numbers that are no integers are cut towards zero, as 1.9.1 does.
    """
    if hasattr(entry, "asnumpy"):
        values = entry.asnumpy()
    elif isinstance(entry, (np.ndarray, bool, np.bool_)):
        values = np.asarray(entry)
    elif isinstance(entry, (list, tuple, range)):
        values = _as_numbers(entry)
    else:
        raise ValueError(f"NDArray does not support slicing with key {entry} of type {type(entry)}.")
    kind = values.dtype.kind
    if kind == "b":
        return values
    if kind == "f":
        if not np.all(np.abs(values.astype(np.float64)) < 2.0**63):
            raise IndexError("an index is not finite, or does not fit 64 bits")
    elif kind not in "iuO":
        raise ValueError(f"NDArray does not support slicing with key {entry} of type {type(entry)}.")
    if kind == "u" and values.size and int(values.max()) >= 1 << 63:
        raise IndexError(f"an index does not fit 64 bits: {entry}")
    try:
        index = values.astype(np.int64)
    except OverflowError:
        raise IndexError(f"an index does not fit 64 bits: {entry}") from None
    return index if values.ndim else int(index)


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
