"""Loaders over thousands of batches: no process keeps descriptors or shared memory of what has gone."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import time
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd
from mxlite.gluon.data import DataLoader, SimpleDataset

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods() or not sys.platform.startswith("linux"),
    reason="the system cannot fork, or has no /proc",
)

STEPS = 1100


def _files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _shared() -> int:
    """Bytes of shared memory that the process has mapped."""
    with open("/proc/self/maps") as file:
        spans = [line.split()[0].split("-") for line in file if "memfd:mxlite" in line]
    return sum(int(end, 16) - int(begin, 16) for begin, end in spans)


def _settled(files: int) -> bool:
    """Whether the process comes to have that many files or fewer; what objects leave is closed on a thread."""
    gc.collect()
    end = time.monotonic() + 10
    while _files() > files and time.monotonic() < end:
        time.sleep(0.01)
    return _files() <= files


BUFFER = nd.zeros((4, 50))
ROWS = nd.arange(400).reshape((100, 4))


def _refilled(samples: list) -> tuple[Any, ...]:
    BUFFER[:] = samples[0]
    return BUFFER, _files()


def _views(samples: list) -> tuple[Any, ...]:
    first = samples[0] % 90
    return ROWS[first : first + 4], ROWS[first + 1], ROWS[first : first + 4], _files()


def _shared_memory(samples: list) -> tuple[Any, ...]:
    return nd.full((4, 50), samples[0], ctx=mx.Context("cpu_shared", 0)), _files()


def _part_of_shared_memory(samples: list) -> tuple[Any, ...]:
    return nd.full((5, 50), samples[0], ctx=mx.Context("cpu_shared", 0))[1:], _files()


def _of_numpy(samples: list) -> tuple[Any, ...]:
    return np.full(20000, samples[0], np.float32), _files()


def _deferred(samples: list) -> tuple[Any, ...]:
    return nd.full((200, 200), samples[0]) * 1 + 0, _files()


@pytest.mark.parametrize("make", [_refilled, _views, _shared_memory, _part_of_shared_memory, _of_numpy, _deferred])
def test_batches_leave_nothing(make: Callable) -> None:
    loader = DataLoader(SimpleDataset(list(range(STEPS))), 1, num_workers=1, batchify_fn=make)
    before = of_worker = None
    for number, batch in enumerate(loader):
        if make is not _views:
            assert float(batch[0].reshape(-1)[0]) == number
        else:
            assert batch[0].asnumpy()[0, 0] == batch[1].asnumpy()[0] - 4 == 4 * (number % 90)
        if number == 20:
            before, of_worker = _files(), int(batch[-1])
        assert number <= 20 or batch[-1] <= of_worker + 2
    files, shared = _files(), _shared()
    assert files <= before + 4
    assert shared < 4 << 20
    del batch, loader
    assert _settled(files)


def test_a_batch_is_the_parents_own() -> None:
    """An edit of one does not show in the next, of a worker that sends the same array again."""
    constant = nd.ones((3,))
    loader = DataLoader(SimpleDataset([0, 1, 2]), 1, num_workers=1, batchify_fn=lambda samples: constant)
    for batch in loader:
        assert batch.asnumpy().tolist() == [1, 1, 1]
        batch += 5


def test_batches_that_nobody_reads() -> None:
    loader = DataLoader(SimpleDataset(list(range(100))), 1, num_workers=2, prefetch=8, batchify_fn=_refilled)
    next(iter(loader))
    before = _files()
    for _ in range(STEPS // 20):
        next(iter(loader))
    list(loader)
    assert _settled(before + 16)


def test_errors_in_the_middle_of_a_message() -> None:
    def broken(samples: list) -> Any:
        return [nd.zeros(3), np.zeros(20000), _files(), lambda: 0] if samples[0] % 10 else [_files()]

    loader = DataLoader(SimpleDataset(list(range(300))), 1, num_workers=1, batchify_fn=broken)
    batches = iter(loader._begun())
    found = [each for each in batches if isinstance(each, list)]
    assert len(found) == 30
    assert found[-1][0] == found[0][0]


def test_workers_that_are_killed() -> None:
    def die(samples: list) -> Any:
        if samples[0] == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return nd.zeros(3)

    before = _files()
    for _ in range(6):
        with pytest.raises(mx.MXNetError, match="SIGKILL"):
            list(DataLoader(SimpleDataset(list(range(12))), 1, num_workers=2, batchify_fn=die))
    assert _settled(before + 2)


def test_too_few_files_are_an_error() -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    loader = DataLoader(
        SimpleDataset([0, 1]), 1, num_workers=1, batchify_fn=lambda samples: [nd.full(2, each) for each in range(150)]
    )
    batches = iter(loader)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_files() + 40, limits[1]))
        with pytest.raises(mx.MXNetError, match="more open files than this process may have"):
            next(batches)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert [float(each[0]) for each in next(iter(loader))[:3]] == [0, 1, 2]


def test_two_threads_with_a_loader_each() -> None:
    """Messages that are opened at the same time do not take each other's files."""
    import threading

    wrong: list = []

    def run(value: int) -> None:
        for batch in DataLoader(SimpleDataset([value] * 200), 1, num_workers=1, batchify_fn=_many):
            wrong.extend(each for each in batch if (each.asnumpy() != value).any())

    threads = [threading.Thread(target=run, args=(value,)) for value in (1, 2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def _many(samples: list) -> list:
    return [nd.full((2,), samples[0]) for _ in range(20)]
