"""A sampler that takes every k-th sample."""

from __future__ import annotations

from collections.abc import Iterator

from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.gluon.data.sampler import Sampler


class IntervalSampler(Sampler):
    """The numbers 0, interval, 2 interval, ... below `length`; then those from 1 on, and so forth.

    Args:
        rollover: False: only those from 0 on.
    Raises: ValueError: an interval above the length.
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if interval > length:
            raise WrongValueError(f"IntervalSampler: interval {interval} is larger than length {length}")
        self._length = length
        self._interval = interval
        self._rollover = rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length


show(globals())
