"""Keys of arrays, `x[0, 1:, None, mask]`, as the library's operators take them: numbers that say the parts, and index
arrays (capi/ops/index/key.h). The operators know sizes, bounds and shapes; a front end says what may be a part."""

from __future__ import annotations

import operator
from typing import Any

#: None as an argument of an operator, alone or in a list of bounds: MXL_NONE.
NONE = -(1 << 63)
#: The parts of a key as the operators' parameter `key` has them: an integer and a slice, which their operands follow,
#: a new axis, `...`, the next index array; and the slice that takes an axis whole.
_INTEGER, SLICE, _NEW, _DOTS, ARRAY = ((kind,) for kind in range(5))
WHOLE = (*SLICE, NONE, NONE, NONE)


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
                start, stop, step = entry.start, entry.stop, entry.step
                if start is stop is step is None:
                    numbers += WHOLE
                else:
                    numbers += (*SLICE, self._bound(start), self._bound(stop), self._bound(step))
            elif entry is None:
                numbers += _NEW
            elif entry is Ellipsis:
                numbers += _DOTS
            else:
                if kind is not int:
                    entry = self.read(entry)
                    kind = entry.__class__
                if kind is int:
                    if not NONE <= entry < -NONE:
                        raise IndexError(f"index {entry} does not fit 64 bits")
                    numbers += (*_INTEGER, entry)
                else:
                    numbers += ARRAY
                    arrays.append(entry)
        return tuple(numbers), arrays

    def _bound(self, entry: Any) -> int:
        if entry is None:
            return NONE
        number = entry if entry.__class__ is int else self.bound(entry)
        return number if NONE < number < -NONE else NONE + 1 if number < 0 else -NONE - 1
