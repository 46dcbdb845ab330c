"""Samplers: the numbers of the samples of an epoch, in order, or lists of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable

import numpy as np

from mxlite._public import show


class Sampler:
    """What gives numbers of samples: a class of it defines `__iter__` and `__len__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """The numbers from `start` on, `length` of them."""

    def __init__(self, length: int, start: int = 0) -> None:
        self._length = length
        self._start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """The numbers below `length` in a new order each time, drawn from `numpy.random`."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        numbers = np.arange(self._length)
        np.random.shuffle(numbers)
        return iter(numbers)

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The numbers of the samples of a data set of which `fn(sample)` is true."""

    def __init__(self, fn: Callable[[Any], bool], dataset: Any) -> None:
        self._fn = fn
        self._dataset = dataset
        self._indices = [number for number, sample in enumerate(dataset) if fn(sample)]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers of another sampler.

    Args:
        last_batch: a last list that is shorter is given ("keep"), dropped ("discard"), or begins the next epoch
            ("rollover").
    Raises: ValueError, when it is read: another `last_batch`.
    """

    def __init__(self, sampler: Iterable, batch_size: int, last_batch: str = "keep") -> None:
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._prev: list = []

    def __iter__(self) -> Iterator[list]:
        batch, self._prev = self._prev, []
        for number in self._sampler:
            batch.append(number)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch:
            if self._checked() == "keep":
                yield batch
            elif self._last_batch == "rollover":
                self._prev = batch

    def __len__(self) -> int:
        count = len(self._sampler) + (len(self._prev) if self._checked() == "rollover" else 0)  # type: ignore[arg-type]
        return -(-count // self._batch_size) if self._last_batch == "keep" else count // self._batch_size

    def _checked(self) -> str:
        if self._last_batch not in ("keep", "discard", "rollover"):
            raise ValueError(f"BatchSampler: last_batch is 'keep', 'discard' or 'rollover', not {self._last_batch!r}")
        return self._last_batch


show(globals())
