"""Keys of arrays, `x[0, 1:, None, mask]`, parsed for both front ends, which read index arrays and word errors."""

from __future__ import annotations

from typing import Any

import numpy as np

#: An axis that is taken whole: the key does not name it, or `...` covers it.
WHOLE = slice(None)


class KeyReader:
    """How a front end reads keys."""

    #: The word for an axis in errors.
    axis_word = "axis"

    def read(self, entry: Any) -> Any:
        """An integer, an array of integers (int64) or a mask (bool), of what is no slice, None or `...`.

        A boolean is a mask without axes. Raises: the entry indexes nothing.
        """
        raise NotImplementedError

    def check_count(self, entries: list, used: int, ndim: int) -> None:
        """Raises: IndexError: the entries take more axes (`used`) than there are, or hold too many `...`."""
        raise NotImplementedError

    def wrong_mask(self, mask: np.ndarray, sizes: tuple[int, ...], axis: int) -> IndexError:
        """The error of a mask that has not the sizes from an axis on."""
        raise NotImplementedError

    def parse(self, key: Any, sizes: tuple[int, ...]) -> tuple[list[tuple[int, Any]], bool]:
        """The parts of a key for an array of these sizes, and whether one of them is an array.

        Returns: (axis, part) in order, where every axis is covered. A part is a position from 0 on, a slice, None (a
            new axis), an array of positions from 0 on, a mask of the axes from that one on, or an `...` of no axes.
        """
        entries = list(key) if isinstance(key, tuple) else [key]
        used, has_arrays = 0, False
        for number, entry in enumerate(entries):
            if entry.__class__ is int or entry.__class__ is slice:
                used += 1
            elif entry is not None and entry is not Ellipsis:
                entries[number] = entry = self.read(entry)
                used += _axes_of(entry)
                has_arrays = has_arrays or isinstance(entry, np.ndarray)
        self.check_count(entries, used, len(sizes))
        parts, axis = [], 0
        for entry in _expanded(entries, len(sizes) - used):
            if entry.__class__ is int:
                if not -sizes[axis] <= entry < sizes[axis]:
                    raise self.out_of_bounds(entry, axis, sizes[axis])
                parts.append((axis, entry + sizes[axis] if entry < 0 else entry))
                axis += 1
            elif isinstance(entry, np.ndarray):
                parts.append((axis, self._within(entry, axis, sizes)))
                axis += _axes_of(entry)
            else:
                parts.append((axis, entry))
                axis += entry.__class__ is slice
        return parts, has_arrays

    def _within(self, entry: np.ndarray, axis: int, sizes: tuple[int, ...]) -> np.ndarray:
        if entry.dtype != bool:
            return self.positions(entry, axis, sizes[axis])
        if entry.shape != tuple(sizes[axis : axis + entry.ndim]):
            raise self.wrong_mask(entry, sizes, axis)
        return entry

    def positions(self, index: np.ndarray, axis: int, size: int) -> np.ndarray:
        """Positions from 0 on for those of an index array, which may count from the end. Raises: IndexError."""
        if index.size == 0:
            return index
        lowest, highest = int(index.min()), int(index.max())
        if lowest < -size or highest >= size:
            raise self.out_of_bounds(index[(index < -size) | (index >= size)].flat[0], axis, size)
        return np.where(index < 0, index + size, index) if lowest < 0 else index

    def out_of_bounds(self, index: int, axis: int, size: int) -> IndexError:
        """The error of an index that an axis does not have."""
        return IndexError(f"index {index} is outside {self.axis_word} {axis}, which has size {size}")


def _axes_of(entry: Any) -> int:
    """How many axes of the array an integer, an index array or a mask takes."""
    return entry.ndim if isinstance(entry, np.ndarray) and entry.dtype == bool else 1


def _expanded(entries: list, count: int) -> list:
    """The entries with `count` whole axes in the place of the first `...`, or behind them; a further `...` has none."""
    if not count:
        return entries
    place = next((number for number, entry in enumerate(entries) if entry is Ellipsis), len(entries))
    return [*entries[:place], *[WHOLE] * count, *entries[place + 1 :]]
