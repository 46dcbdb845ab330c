"""Levels of vmap: batched arrays of the library (include/mxlite/mxlite.h, MXLNDArrayBatch), made and taken apart."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mxlite._lib import LIB, check_call
from mxlite.autograd._front_end import FrontEnd


class _Levels(threading.local):
    def __init__(self) -> None:
        self.open: list[Level] = []


_levels = _Levels()

#: How many levels are open on any thread: what runs for each call of a front end asks this alone.
count = [0]

RANDOMNESS = ("error", "different", "same")


class Level:
    """A with-block in which a function runs on all examples of a batch of `size`."""

    def __init__(self, front_end: FrontEnd, size: int, randomness: str) -> None:
        self.front_end, self.size, self.randomness = front_end, size, randomness
        self.number = 0

    def __enter__(self) -> Level:
        self.stack = [*_levels.open, self]
        self.number = len(self.stack)
        _open(self.stack)
        count[0] += 1
        return self

    def __exit__(self, *_: object) -> None:
        _open(self.stack[:-1])
        count[0] -= 1

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A block, perhaps in a backward when the level has ended, in which levels are as they are within it."""
        before = _levels.open
        _open(self.stack)
        count[0] += 1
        try:
            yield
        finally:
            _open(before)
            count[0] -= 1

    def lifted(self, array: Any) -> Any:
        """The array, or a batched one of this level over it."""
        return array if parts_of(self.front_end, array)[0] == self.number else self.batch(array, False)

    def batch(self, whole: Any, has_axis: bool = True) -> Any:
        """The array as the function sees it, without its first axis (`has_axis`), which is that of the batch."""
        return batched(self.front_end, whole, self.number, has_axis)

    def whole(self, array: Any) -> tuple[Any, bool]:
        """The array with all examples, and whether it has their axis in front."""
        number, whole, has_axis = parts_of(self.front_end, array)
        return (whole, has_axis) if number == self.number else (array, False)

    def copies(self, array: Any) -> Any:
        """A batched array with memory of its own for each example, all with the values of an array."""
        with outside(self):
            return self.batch(array.expand((self.size, *array.shape)).clone())

    def with_axis(self, array: Any) -> Any:
        """The array with all examples along its first axis."""
        whole, has_axis = self.whole(array)
        return whole if has_axis else whole.expand((self.size, *whole.shape))


@contextmanager
def outside(level: Level) -> Iterator[None]:
    """A block in which the level is not open, nor are those within it."""
    before = _levels.open
    _open(level.stack[:-1])
    try:
        yield
    finally:
        _open(before)


def _open(levels: list[Level]) -> None:
    """Makes these the open levels of the thread."""
    n = len(levels)
    sizes = (ctypes.c_int64 * max(n, 1))(*(each.size for each in levels))
    kinds = (ctypes.c_int * max(n, 1))(*(RANDOMNESS.index(each.randomness) for each in levels))
    check_call(LIB.MXLBatchLevels(n, sizes, kinds))
    _levels.open = levels


def current() -> Level | None:
    """The innermost open level of this thread."""
    return _levels.open[-1] if _levels.open else None


def batched(front_end: FrontEnd, whole: Any, number: int, has_axis: bool) -> Any:
    """A batched array of a level."""
    handle = ctypes.c_void_p()
    if LIB.MXLNDArrayBatch(whole._h, number, has_axis, ctypes.byref(handle)) != 0:
        raise front_end.last_error()
    return front_end.adopt(handle.value)


def parts_of(front_end: FrontEnd, array: Any) -> tuple[int, Any, bool]:
    """The level of a batched array, the whole array, and whether that has the axis; (0, the array, False) of others."""
    handle, has_axis = ctypes.c_void_p(), ctypes.c_int()
    number = LIB.MXLNDArrayBatchOf(array._h, ctypes.byref(handle), ctypes.byref(has_axis))
    if number < 0:
        raise front_end.last_error()
    return (number, front_end.adopt(handle.value), bool(has_axis.value)) if number else (0, array, False)


def highest(arrays: Any) -> Level | None:
    """The highest level of which one of the arrays is."""
    flag, found = ctypes.c_int(), 0
    for each in arrays:
        found = max(found, LIB.MXLNDArrayBatchOf(each._h, None, ctypes.byref(flag)))
    return _levels.open[found - 1] if 0 < found <= len(_levels.open) else None


def lifted(front_end: FrontEnd, array: Any) -> Any:
    """The array at the innermost level, where a place of it in the graph is the mapped function's own."""
    level = current()
    return array if level is None else level.lifted(array)


def is_traced(front_end: FrontEnd, array: Any) -> bool:
    """Whether a gradient flows to what is outside of the mapped functions."""
    number, whole, _ = parts_of(front_end, array)
    return bool(number) and (whole.requires_grad or is_traced(front_end, whole))


def without_graph(front_end: FrontEnd, array: Any) -> Any:
    """The same memory without a place in any graph, those outside of the mapped functions too."""
    number, whole, has_axis = parts_of(front_end, array)
    return batched(front_end, whole.detach(), number, has_axis) if number else array
