"""The elements that a key with index arrays or masks selects, as positions of rows; for keys of both front ends.

A key selects rows of the array seen as (rows, ...): the axes up to the last one that the key cuts are rolled into one,
those after it stay whole. So reading is one `take` and writing one `_scatter_set_nd`, whatever the key; NumPy works out
the positions, without a loop over elements.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Positions:
    """The elements that the parts of a key select; at least one part is an index array or a mask.

    `shape`: of the result. `only`: the axis of the one index array, where every other axis is whole, else None.
    `index`: that array, its positions in bounds and from 0 on.
    Raises: ValueError: index arrays do not fit each other.
    """

    __slots__ = ("shape", "only", "index", "_sizes", "_arrays", "_ranges", "_ahead", "_last", "_rolled")

    def __init__(self, parts: list[tuple[int, Any]], sizes: tuple[int, ...]) -> None:
        self._sizes = sizes
        self._arrays: list[tuple[int, np.ndarray]] = []  # axis (of a mask, its last; -1: of none), positions
        self._ranges: list[tuple[int, range]] = []  # axis, positions: what slices select
        self._rolled = False  # whether a mask's axes, none or several, are counted as one
        before, others = self._read(parts)
        try:
            shape = np.broadcast_shapes(*(index.shape for _, index in self._arrays))
        except ValueError:
            shapes = " ".join(str(index.shape) for _, index in self._arrays)
            raise ValueError(f"index arrays of the shapes {shapes} cannot be broadcast together") from None
        self.shape = (*others[:before], *shape, *others[before:])
        cut = [axis for axis, chosen in self._ranges if chosen != range(sizes[axis])]
        self._last = max([axis for axis, _ in self._arrays] + cut)
        alone = len(self._arrays) == 1 and not cut and not self._rolled
        self.only, self.index = self._arrays[0] if alone else (None, None)

    def _read(self, parts: list[tuple[int, Any]]) -> tuple[int, list[int]]:
        """Goes through the parts of the key.

        Returns the sizes of the result but for those of the index arrays, and how many of them come before those.
        The index arrays' sizes come first, unless the indices (integers among them) are side by side.
        """
        others: list[int] = []
        groups: list[tuple[int, int]] = []  # of indices side by side: how many of `others` and `_ranges` are before
        is_index = False
        for axis, part in parts:
            was_index, is_index = is_index, isinstance(part, (int, np.ndarray))
            if is_index:
                if not was_index:
                    groups.append((len(others), len(self._ranges)))
                self._add_index(axis, np.asarray(part))
            elif part is None:
                others.append(1)
            elif part is not Ellipsis:
                chosen = range(*part.indices(self._sizes[axis]))
                self._ranges.append((axis, chosen))
                others.append(len(chosen))
        before, self._ahead = groups[0] if len(groups) == 1 else (0, 0)
        return before, others

    def _add_index(self, axis: int, index: np.ndarray) -> None:
        if index.dtype == bool:
            self._arrays.append((axis + index.ndim - 1 if index.ndim else -1, np.flatnonzero(index)))
            self._rolled = self._rolled or index.ndim != 1
        else:
            self._arrays.append((axis, index))

    def rows(self) -> tuple[int, ...]:
        """The shape in which the array is seen: rows, and the axes that stay whole."""
        return (math.prod(self._sizes[: self._last + 1]), *self._sizes[self._last + 1 :])

    def places(self) -> np.ndarray:
        """Which rows are selected, in the order of the result."""
        weights = [math.prod(self._sizes[axis + 1 : self._last + 1]) for axis in range(self._last + 1)]
        weights.append(0)  # of what is on no axis
        places = sum(index * weights[axis] for axis, index in self._arrays)
        ranges = [(axis, chosen) for axis, chosen in self._ranges if axis <= self._last]
        middle = places.ndim
        places = places.reshape((*places.shape, *(1,) * (len(ranges) - self._ahead)))
        for position, (axis, chosen) in enumerate(ranges):
            after = len(ranges) - 1 - position + (middle if position < self._ahead else 0)
            steps = np.arange(chosen.start, chosen.stop, chosen.step, dtype=np.int64) * weights[axis]
            places = places + steps.reshape(-1, *(1,) * after)
        return places.reshape(-1)
