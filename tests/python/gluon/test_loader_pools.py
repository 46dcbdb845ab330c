"""What other packages derive their loaders from: batches of a multiprocessing.Pool."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite.gluon.data import BatchSampler, SequentialSampler
from mxlite.gluon.data.dataloader import _MultiWorkerIter, default_batchify_fn, default_mp_batchify_fn

SAMPLES = [np.full(3, i, dtype="float32") for i in range(7)]
BATCHES = BatchSampler(SequentialSampler(7), 2, "keep")


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    with multiprocessing.get_context("fork").Pool(2) as made:
        yield made


def _firsts(batches: Any) -> list[list[float]]:
    return [batch[:, 0].asnumpy().tolist() for batch in batches]


@pytest.mark.parametrize("prefetch", [0, 1, 3, 100])
@pytest.mark.parametrize("batchify", [default_batchify_fn, default_mp_batchify_fn])
def test_batches_come_in_the_order_of_the_sampler(pool: Any, prefetch: int, batchify: Any) -> None:
    batches = _MultiWorkerIter(pool, batchify, BATCHES, prefetch=prefetch, dataset=SAMPLES)
    assert len(batches) == 4
    assert _firsts(batches) == [[0, 1], [2, 3], [4, 5], [6]]
    with pytest.raises(StopIteration):
        batches.next()


def test_memory_for_a_device(pool: Any) -> None:
    batches = _MultiWorkerIter(pool, default_batchify_fn, BATCHES, pin_memory=True, dataset=SAMPLES)
    assert next(batches).context == mx.cpu_pinned(0)


def _scaled(samples: Any, factor: float) -> bytes:
    return pickle.dumps(mx.nd.array([SAMPLES[i] * factor for i in samples]))


class _Alternating(_MultiWorkerIter):
    """As GluonCV's: other arguments for the worker, batches asked for after the base class is ready."""

    def __init__(self, pool: Any, prefetch: int) -> None:
        super().__init__(pool, None, BATCHES, worker_fn=_scaled, prefetch=0)
        for _ in range(prefetch):
            self._push_next()

    def _push_next(self) -> None:
        indices = next(self._iter, None)
        if indices is None:
            return
        factor = 10 if self._sent_idx % 2 else 1
        self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(self._worker_fn, (indices, factor))
        self._sent_idx += 1


def test_a_class_that_is_derived_from_it(pool: Any) -> None:
    assert _firsts(_Alternating(pool, 2)) == [[0, 1], [20, 30], [4, 5], [60]]


def test_what_a_worker_raises(pool: Any) -> None:
    with pytest.raises(ValueError, match="a worker needs the data set"):
        next(_MultiWorkerIter(pool, default_batchify_fn, BATCHES))
    with pytest.raises(IndexError):
        list(_MultiWorkerIter(pool, default_batchify_fn, [[0], [9]], dataset=SAMPLES))
