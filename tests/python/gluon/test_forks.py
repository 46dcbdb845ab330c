"""Iterators and loaders in a forked child: they go on or say why not, never hang, and leave the parent's alone."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd
from mxlite.gluon.data import DataLoader, SimpleDataset

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods() or sys.platform == "win32", reason="the system cannot fork"
)

COUNT, BATCH = 60, 5
FIRSTS = list(range(0, COUNT, BATCH))


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("records") / "x.rec"
    writer = mx.recordio.MXRecordIO(path, "w")
    for number in range(COUNT):
        header = mx.recordio.IRHeader(0, [4, 5, 12, 12, number, 0.1, 0.1, 0.5, 0.5], number, 0)
        writer.write(mx.recordio.pack_img(header, np.full((12, 12, 3), number, np.uint8), img_fmt=".png"))
    writer.close()
    return path


def _images(path: Path) -> Any:
    return mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 8, 8), batch_size=BATCH, label_width=9)


def _boxes(path: Path) -> Any:
    return mx.io.ImageDetRecordIter(path_imgrec=path, data_shape=(3, 12, 12), batch_size=BATCH)


def _prefetched(path: Path) -> Any:
    return mx.io.PrefetchingIter(mx.io.NDArrayIter(nd.arange(COUNT), batch_size=BATCH))


def _prefetched_images(path: Path) -> Any:
    return mx.io.PrefetchingIter([_images(path), _images(path)])


def _threads(path: Path) -> Any:
    return iter(DataLoader(SimpleDataset(list(range(COUNT))), BATCH, num_workers=2, thread_pool=True))


def _processes(path: Path) -> Any:
    return iter(DataLoader(SimpleDataset(list(range(COUNT))), BATCH, num_workers=2))


def _first(batch: Any) -> int:
    """The number of the first sample of a batch: it is its value, or that of all its pixels."""
    data = batch.data[0] if isinstance(batch, mx.io.DataBatch) else batch
    return int(data.asnumpy().reshape(-1)[0])


def _in_a_child(function: Callable[[], Any]) -> str:
    """What a function returns in a forked child, as text, or the exception's class and text; dead after 20 s."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(20)
            os.close(reading)
            try:
                text = repr(function())
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
            os.write(writing, text.encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    assert os.waitpid(pid, 0)[1] == 0, "the child was ended by a signal: it hung, or crashed"
    return text


def _reset(iterator: Any) -> list[int]:
    iterator.reset()
    return [_first(each) for each in iterator]


def _drop(held: list) -> str:
    held.clear()
    gc.collect()
    return "gone"


ALL = [_images, _boxes, _prefetched, _prefetched_images, _threads, _processes]
LOST = (
    "MXNetError: PrefetchingIter: the process was forked",
    "MXNetError: DataLoader: this epoch was begun in process",
)


@pytest.mark.parametrize("pause", [0, 0.002])  # while a thread reads, and when it is done
@pytest.mark.parametrize("make", ALL)
def test_the_child_goes_on_and_so_does_the_parent(make: Callable, pause: float, records: Path) -> None:
    for begun in range(1, 4):
        iterator = make(records)
        assert [_first(next(iterator)) for _ in range(begun)] == FIRSTS[:begun]
        time.sleep(pause)
        got = _in_a_child(lambda it=iterator: [_first(each) for each in it])
        if not got.startswith(LOST) or make not in (_prefetched, _prefetched_images, _processes):
            assert got == repr(FIRSTS[begun:])
        assert [_first(each) for each in iterator] == FIRSTS[begun:]


@pytest.mark.parametrize("make", [_images, _boxes, _prefetched, _prefetched_images])
def test_both_begin_again(make: Callable, records: Path) -> None:
    iterator = make(records)
    next(iterator)
    assert _in_a_child(lambda: _reset(iterator)) == repr(FIRSTS)
    assert _reset(iterator) == FIRSTS


@pytest.mark.parametrize("make", ALL)
def test_a_child_drops_it(make: Callable, records: Path) -> None:
    held = [make(records)]
    next(held[0])
    assert _in_a_child(lambda: _drop(held)) == "'gone'"
    assert [_first(each) for each in held[0]] == FIRSTS[1:]


def test_parent_and_child_read_one_file_at_once(records: Path) -> None:
    """They share the descriptor, whose position is nobody's."""
    iterator = _images(records)
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(30)
            right = all(_reset(iterator) == FIRSTS for _ in range(20))
            os._exit(0 if right else 7)
        finally:
            os._exit(8)
    assert all(_reset(iterator) == FIRSTS for _ in range(20))
    assert os.waitpid(pid, 0)[1] == 0


def test_a_loader_of_the_parent_begins_an_epoch_in_the_child() -> None:
    loader = DataLoader(SimpleDataset(list(range(COUNT))), BATCH, num_workers=2, auto_reload=True)
    pids = [worker.process.pid for worker in loader._worker_pool.workers]
    assert _in_a_child(lambda: [_first(each) for each in loader]) == repr(FIRSTS)
    assert [_first(each) for each in loader] == FIRSTS
    assert [worker.process.pid for worker in loader._worker_pool.workers] == pids


def test_children_of_children(records: Path) -> None:
    iterator = _images(records)
    next(iterator)

    def again() -> str:
        next(iterator)
        return _in_a_child(lambda: [_first(each) for each in iterator])

    assert _in_a_child(again) == repr(repr(FIRSTS[2:]))


def test_forks_while_threads_read(records: Path) -> None:
    """No lock is held in any child, and no batch is lost."""
    iterator = _images(records)
    for number, first in enumerate(FIRSTS[:-1]):
        assert _first(next(iterator)) == first
        assert _in_a_child(lambda: _first(next(iterator))) == repr(FIRSTS[number + 1])


def test_computations_in_children_of_a_busy_process(tmp_path: Path) -> None:
    """Threads of the library, calls that wait, products, random numbers and the profiler, while a thread computes."""
    done = threading.Event()
    large = nd.array(np.random.RandomState(0).rand(600, 600))

    def busy() -> None:
        while not done.is_set():
            nd.dot(large, large).exp().sum().asscalar()

    def compute() -> float:
        made = nd.dot(large, large) + kept  # kept waits still
        net = mx.gluon.nn.Dense(2)
        net.initialize()
        net.hybridize()
        return round(float(made.sum().asscalar()) + float(net(large).shape[1]) + nd.random.uniform(shape=(9,)).size, 2)

    mx.profiler.set_config(filename=str(tmp_path / "profile.json"))
    mx.profiler.set_state("run")
    thread = threading.Thread(target=busy)
    thread.start()
    try:
        for _ in range(5):
            kept = large * 2 + 1
            assert _in_a_child(compute) == repr(compute())
    finally:
        done.set()
        thread.join()
        mx.profiler.set_state("stop")


def test_an_exit_of_the_child_is_quiet(records: Path) -> None:
    program = """
        import os, sys, warnings
        import mxlite as mx
        from mxlite.gluon.data import DataLoader, SimpleDataset
        warnings.filterwarnings("ignore", "This process .* is multi-threaded")  # of Python 3.12 on, in the parent
        alive = [mx.io.ImageRecordIter(path_imgrec=sys.argv[1], data_shape=(3, 8, 8), batch_size=5, label_width=9)]
        alive.append(mx.io.PrefetchingIter(mx.io.NDArrayIter(mx.nd.arange(60), batch_size=5)))
        alive.append(iter(DataLoader(SimpleDataset(list(range(60))), 5, num_workers=2)))
        alive.append(iter(DataLoader(SimpleDataset(list(range(60))), 5, num_workers=2, thread_pool=True)))
        for each in alive: next(each)
        pid = os.fork()
        if pid:
            assert os.waitpid(pid, 0)[1] == 0
            for each in alive: next(each)
    """
    run = _run(program, str(records))
    assert run == (0, "", "")


def _run(program: str, *arguments: str) -> tuple[int, str, str]:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    return run.returncode, run.stdout, run.stderr
