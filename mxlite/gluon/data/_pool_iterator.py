"""Batches from a `multiprocessing.Pool`: what loaders of other packages derive from (GluonCV's random transforms).

mxlite's own loader has workers of another kind (_processes.py). Subclasses read and replace the attributes here, so
they have 1.9.1's names.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable

from mxlite import context
from mxlite.ndarray.ndarray import NDArray


def as_in_context(data: Any, ctx: context.Context) -> Any:
    """A batch in a context; lists and tuples become lists."""
    if isinstance(data, NDArray):
        return data.as_in_context(ctx)
    return [as_in_context(each, ctx) for each in data] if isinstance(data, (list, tuple)) else data


def worker_fn(samples: Any, batchify_fn: Callable, dataset: Any = None) -> bytes:
    """Runs in a worker: the batch of these samples, pickled.

    Raises: ValueError: there is no data set.
    """
    if dataset is None:
        raise ValueError("a worker needs the data set: give it to _MultiWorkerIter, or give a worker_fn of your own")
    buffer = io.BytesIO()
    ForkingPickler(buffer, pickle.HIGHEST_PROTOCOL).dump(batchify_fn([dataset[i] for i in samples]))
    return buffer.getvalue()


class MultiWorkerIter:
    """One epoch: the batches of `batch_sampler`, in its order, made by the pool's processes.

    Args:
        worker_pool: a pool with `apply_async(function, arguments)`.
        batchify_fn: makes a batch of a list of samples.
        batch_sampler: gives a list of indices for each batch.
        pin_memory, pin_device_id: whether batches are copied to memory for a device, and which.
        worker_fn: called in a worker with (indices, batchify_fn, dataset); returns the pickled batch.
        prefetch: how many batches are asked for before the first is taken.
        dataset: what the samples are taken from.
        data_loader: kept for as long as the iterator.
        timeout: seconds to wait for a batch.
    """

    def __init__(
        self,
        worker_pool: Any,
        batchify_fn: Callable,
        batch_sampler: Any,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        worker_fn: Callable = worker_fn,
        prefetch: int = 0,
        dataset: Any = None,
        data_loader: Any = None,
        timeout: float = 120,
    ) -> None:
        self._worker_pool = worker_pool
        self._batchify_fn = batchify_fn
        self._batch_sampler = batch_sampler
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._worker_fn = worker_fn
        self._dataset = dataset
        self._data_loader = data_loader
        self._timeout = timeout
        self._iter = iter(batch_sampler)
        self._data_buffer: dict[int, Any] = {}
        self._sent_idx = self._rcvd_idx = 0
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def _push_next(self) -> None:
        indices = next(self._iter, None)
        if indices is None:
            return
        given = (indices, self._batchify_fn, self._dataset)
        self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(self._worker_fn, given)
        self._sent_idx += 1

    def __next__(self) -> Any:
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        batch = pickle.loads(self._data_buffer.pop(self._rcvd_idx).get(self._timeout))
        self._rcvd_idx += 1
        return as_in_context(batch, context.cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    def next(self) -> Any:
        """The next batch. Raises: StopIteration: there is none; what a worker raised."""
        return self.__next__()

    def __iter__(self) -> Iterator:
        return self
