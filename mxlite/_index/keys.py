"""Keys of arrays, `x[0, 1:, None, mask]`, as the library's operators take them: numbers that say the parts, and index
arrays (capi/ops/index/key.h). The operators know sizes, bounds and shapes; a front end says what may be a part."""

from __future__ import annotations

import operator
from typing import Any

#: No bound of a slice.
_NONE = -(1 << 63)
#: A further axis; `...`; the next index array.
_NEW, _DOTS, _ARRAY = (2,), (3,), (4,)


class KeyReader:
    """How a front end reads keys."""

    def read(self, entry: Any) -> Any:
        """An integer, or an index array or mask of the front end; a boolean is a mask without axes.

        Args:
            entry: What is no slice, None or `...`.
        Raises: the entry indexes nothing.
        """
        raise NotImplementedError

    def bound(self, entry: Any) -> int:
        """A bound or the step of a slice that is not None. Raises: it is no integer."""
        return operator.index(entry)

    def parse(self, key: Any) -> tuple[tuple[int, ...], list]:
        """A key as the operators' parameter `key`, and its index arrays in order."""
        numbers: list[int] = []
        arrays: list[Any] = []
        for entry in key if key.__class__ is tuple else (key,):
            kind = entry.__class__
            if kind is slice:
                numbers += (1, self._bound(entry.start), self._bound(entry.stop), self._bound(entry.step))
            elif entry is None:
                numbers += _NEW
            elif entry is Ellipsis:
                numbers += _DOTS
            else:
                if kind is not int:
                    entry = self.read(entry)
                    kind = entry.__class__
                if kind is int:
                    if not _NONE <= entry < -_NONE:
                        raise IndexError(f"index {entry} does not fit 64 bits")
                    numbers += (0, entry)
                else:
                    numbers += _ARRAY
                    arrays.append(entry)
        return tuple(numbers), arrays

    def _bound(self, entry: Any) -> int:
        if entry is None:
            return _NONE
        number = entry if entry.__class__ is int else self.bound(entry)
        return number if _NONE < number < -_NONE else _NONE + 1 if number < 0 else -_NONE - 1
