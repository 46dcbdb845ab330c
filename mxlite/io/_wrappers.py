"""Iterators over iterators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

from mxlite._ends import destructor, uninterrupted
from mxlite.error import WrongStateError, WrongValueError
from mxlite.io._ahead import Task, Threads
from mxlite.io._base import DataBatch, DataDesc, DataIter, HeldBatch

_Renames = Optional[list[dict[str, str]]]

_LOST = "PrefetchingIter: the process was forked while a thread took the next batch; call reset in the forked process"


class ResizeIter(HeldBatch):
    """Gives `size` batches of another iterator, which begins anew where it ends.

    Args:
        reset_internal: Whether `reset` also resets the other iterator.
    """

    def __init__(self, data_iter: DataIter, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.cur = 0
        self.provide_data, self.provide_label = data_iter.provide_data, data_iter.provide_label  # type: ignore
        if hasattr(data_iter, "default_bucket_key"):
            self.default_bucket_key = data_iter.default_bucket_key

    def reset(self) -> None:
        """Begins anew."""
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def iter_next(self) -> bool:
        """Goes to the next batch; False after `size` of them."""
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True


class PrefetchingIter(HeldBatch):
    """Takes batches of one or more iterators, each on a thread of its own, one batch ahead, and joins them.

    What an iterator raises, `next` raises. In a forked child it goes on, with threads of its own, unless a thread was
    taking a batch when the process was forked: then `next` raises MXNetError until `reset` has been called.

    Args:
        rename_data, rename_label: A dictionary for each iterator, of new names for its arrays.
    """

    def __init__(
        self, iters: DataIter | list[DataIter], rename_data: _Renames = None, rename_label: _Renames = None
    ) -> None:
        self.iters = iters if isinstance(iters, list) else [iters]
        self.n_iter = len(self.iters)
        if self.n_iter == 0:
            raise WrongValueError("there must be an iterator")
        self.rename_data, self.rename_label = rename_data, rename_label
        super().__init__(self.provide_data[0][1][0])
        self._threads = Threads(self.n_iter, "mxlite-prefetch")
        self._coming: list[Task] = []
        self._fetch()

    @destructor
    def __del__(self) -> None:
        if hasattr(self, "_threads"):
            with uninterrupted(destructor=True):
                self._coming = []  # what no thread has begun is left out
                self._threads.end()  # waits, as 1.9.1: a thread holds its iterator until it is done
                del self._threads

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the arrays of all iterators."""
        return _renamed((each.provide_data for each in self.iters), self.rename_data)  # type: ignore[attr-defined]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of all iterators."""
        return _renamed((each.provide_label for each in self.iters), self.rename_label)  # type: ignore[attr-defined]

    def _fetch(self) -> None:
        self._coming = [self._threads.submit(_next_or_none, each, lost=_LOST) for each in self.iters]

    def reset(self) -> None:
        """Resets all iterators."""
        for each in self._coming:
            each.wait()
        for one in self.iters:
            one.reset()
        with uninterrupted():
            self._fetch()

    def iter_next(self) -> bool:
        """Goes to the next batch; False at the end.

        Raises: MXNetError: not all iterators are at their end.
        """
        for each in self._coming:
            each.wait()
        batches = [each.result() for each in self._coming]
        got = [each for each in batches if each is not None]
        if not got:
            return False
        if len(got) != self.n_iter:
            raise WrongStateError("PrefetchingIter: the iterators do not have equally many batches")
        first = got[0]
        if any(each.pad != first.pad for each in got):
            raise WrongStateError("PrefetchingIter: the iterators do not have equally many batches")
        batch = DataBatch(
            sum((list(each.data) for each in got), []),
            sum((list(each.label or ()) for each in got), []),
            first.pad,
            first.index,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )
        with uninterrupted():
            self.current_batch = batch
            self._fetch()
        return True


def _next_or_none(each: DataIter) -> DataBatch | None:
    try:
        return each.next()
    except StopIteration:
        return None


def _renamed(lists: Iterable[list[Any]], names: list[dict[str, str]] | None) -> list[DataDesc]:
    if names is None:
        return [desc for each in lists for desc in each]
    return [
        DataDesc(new.get(desc.name, desc.name), desc.shape, desc.dtype, desc.layout)
        for each, new in zip(lists, names)
        for desc in (one if isinstance(one, DataDesc) else DataDesc(*one) for one in each)
    ]
