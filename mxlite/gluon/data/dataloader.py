"""The loader of batches, and the functions that make a batch of samples."""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator
from multiprocessing import TimeoutError as ProcessTimeoutError
from multiprocessing.reduction import ForkingPickler as ForkingPickler  # GluonNLP imports it from here
from typing import Any, Callable

import numpy as np

from mxlite import context, ndarray
from mxlite._ends import uninterrupted
from mxlite._public import show
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.gluon.data import _processes
from mxlite.gluon.data._pool_iterator import MultiWorkerIter as _MultiWorkerIter  # noqa: F401 - GluonCV derives from it
from mxlite.gluon.data._pool_iterator import as_in_context as _as_in_context  # GluonNLP imports it
from mxlite.gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from mxlite.io._ahead import Task, Threads
from mxlite.ndarray._kinds import answering
from mxlite.ndarray.ndarray import NDArray
from mxlite.util import within_modes


def default_batchify_fn(data: Any) -> Any:
    """A batch of samples: arrays along a new first axis; of samples that are tuples, a list with a batch per entry."""
    return _batch(data, None)


def default_mp_batchify_fn(data: Any) -> Any:
    """As `default_batchify_fn`, in memory that processes share (cpu_shared)."""
    return _batch(data, context.Context("cpu_shared", 0))


@answering
def _batch(data: Any, where: Context | None) -> Any:
    first = data[0]
    if isinstance(first, NDArray):
        batch = ndarray.stack(*data)
        return batch if where is None else batch.as_in_context(where)
    if isinstance(first, tuple):
        return [_batch(entries, where) for entries in zip(*data)]
    values = np.asarray(data)
    return ndarray.array(values, dtype=values.dtype, ctx=where)


class DataLoader:
    """Batches of the samples of a data set.

    for data, label in DataLoader(dataset, batch_size=32, shuffle=True, num_workers=2): ...

    Args:
        batch_size: how many samples a batch has.
        shuffle: in a new order for each epoch.
        sampler: gives the numbers of the samples, instead of `shuffle`.
        last_batch: "keep", "discard" or "rollover": see BatchSampler.
        batch_sampler: gives a list of numbers per batch, instead of all of the above.
        batchify_fn: makes a batch of a list of samples; default_batchify_fn, or default_mp_batchify_fn with workers.
        num_workers: how many processes (threads, with `thread_pool`) make batches; 0: who asks for them. They are
            forked when they are first needed and kept until the loader is gone.
        pin_memory, pin_device_id: batches are put into `cpu_pinned(pin_device_id)`.
        prefetch: how many batches are made ahead, by workers; twice their number.
        timeout: seconds after which a batch that a worker has not made is an error.
        auto_reload: the next epoch is begun as soon as one ends.
    Raises: ValueError: arguments that exclude each other; ValueError: a timeout that is not positive. In an epoch:
        what a data set raises in a worker, with the worker's traceback as its cause; MXNetError: a worker was killed.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ) -> None:
        if not timeout > 0:
            raise WrongValueError(f"DataLoader: timeout is a number of seconds above 0, not {timeout}")
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = _batch_sampler(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler)
        self._num_workers = max(0, num_workers)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        default = default_mp_batchify_fn if self._num_workers else default_batchify_fn
        self._batchify_fn = default if batchify_fn is None else batchify_fn
        self._worker_pool: Any = None
        self.auto_reload = auto_reload
        self._iter: Iterator | None = None
        if auto_reload:
            self.refresh()

    def __iter__(self) -> Iterator[Any]:
        batches, self._iter = self._iter, None
        if batches is None or (isinstance(batches, _processes.Batches) and not batches.here):
            batches = self._begun()
        return self._epoch(batches)

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def refresh(self) -> None:
        """Begins the next epoch: its first batches are made from now on."""
        self._iter = self._begun()

    def clean(self) -> None:
        """Forgets an epoch that was begun ahead."""
        self._iter = None

    def _epoch(self, batches: Iterator) -> Iterator:
        pinned = context.cpu_pinned(self._pin_device_id) if self._pin_memory else None
        for batch in batches:
            if type(batch) is _processes.Raised:
                batch.again()
            yield batch if pinned is None else _as_in_context(batch, pinned)
        if self.auto_reload:
            self.refresh()

    def _begun(self) -> Iterator:
        if not self._num_workers:
            return map(self._made, self._batch_sampler)
        if self._thread_pool:
            if self._worker_pool is None:
                self._worker_pool = Threads(self._num_workers, "mxlite-loader")
            made = within_modes(self._made)
            return _ThreadBatches(self._worker_pool, made, self._batch_sampler, self._prefetch, self._timeout)
        pool = self._worker_pool
        if pool is None or pool.broken is not None or pool.owner != os.getpid():
            self._worker_pool = _processes.Pool(self._num_workers, self._dataset, self._batchify_fn)
        return _processes.Batches(self._worker_pool, self._batch_sampler, self._prefetch, self._timeout)

    def _made(self, indices: Any) -> Any:
        return self._batchify_fn([self._dataset[index] for index in indices])


class _ThreadBatches:
    """The batches of one epoch, in order, which threads make ahead."""

    def __init__(self, threads: Threads, made: Callable, lists: Any, prefetch: int, timeout: float) -> None:
        self._threads, self._made, self._lists = threads, made, iter(lists)
        self._ahead, self._timeout = max(1, prefetch), timeout
        self._waiting: collections.deque[Task] = collections.deque()

    def __iter__(self) -> _ThreadBatches:
        return self

    def __next__(self) -> Any:
        while len(self._waiting) < self._ahead:
            indices = next(self._lists, None)
            if indices is None:
                break
            with uninterrupted():
                self._waiting.append(self._threads.submit(self._made, indices))
        if not self._waiting:
            raise StopIteration
        try:
            self._waiting[0].wait(self._timeout)
        except TimeoutError:
            raise ProcessTimeoutError("a thread of the DataLoader has not made its batch in time") from None
        return self._waiting.popleft().result()


def _batch_sampler(
    dataset: Any, batch_size: int | None, shuffle: bool, sampler: Any, last_batch: str | None, batch_sampler: Any
) -> Any:
    """The sampler of batches that the arguments of a loader ask for."""
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and last_batch")
        return batch_sampler
    if batch_size is None:
        raise ValueError("DataLoader: batch_size or batch_sampler must be given")
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    elif shuffle:
        raise ValueError("DataLoader: sampler decides the order; shuffle cannot be given too")
    return BatchSampler(sampler, batch_size, last_batch or "keep")


show(globals())
