"""Loaders with worker processes: order, errors, kills, Ctrl-C, and what is left behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
from mxlite.gluon.data import ArrayDataset, DataLoader, SimpleDataset

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods() or sys.platform == "win32", reason="the system cannot fork"
)

ROOT = Path(__file__).resolve().parents[3]


def _gone(pid: int, seconds: float = 30) -> bool:
    """Whether a process ends in time; one that nobody waited for counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            stat = Path(f"/proc/{pid}/stat")
            if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def _files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _run(program: str, **more: object) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(program)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def _pids(loader: DataLoader) -> list[int]:
    return [worker.process.pid for worker in loader._worker_pool.workers]


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("prefetch", [None, 0, 1, 7, 40])
def test_order_is_kept(workers: int, prefetch: int | None) -> None:
    loader = DataLoader(SimpleDataset(list(range(101))), 3, num_workers=workers, prefetch=prefetch)
    for _ in range(2):
        assert [value for batch in loader for value in batch.asnumpy()] == list(range(101))


def test_workers_are_kept_for_the_next_epoch() -> None:
    loader = DataLoader(SimpleDataset(list(range(9))), 3, num_workers=2)
    list(loader)
    before = _pids(loader)
    list(loader)
    assert _pids(loader) == before


def test_two_iterators_at_once() -> None:
    loader = DataLoader(SimpleDataset(list(range(30))), 3, num_workers=2)
    for one, other in zip(loader, loader):
        assert one.asnumpy().tolist() == other.asnumpy().tolist()


def test_arrays_of_the_package_in_the_data_set() -> None:
    x = mx.nd.arange(40).reshape((10, 4))
    y = mx.nd.arange(10) * 2  # perhaps still to be computed when the workers are forked
    got = list(DataLoader(ArrayDataset(x, y), 4, num_workers=2))
    assert str(got[0][0].context) == "cpu_shared(0)"
    np.testing.assert_array_equal(np.concatenate([a.asnumpy() for a, _ in got]), x.asnumpy())
    np.testing.assert_array_equal(np.concatenate([b.asnumpy() for _, b in got]), y.asnumpy())


def test_batches_of_other_things() -> None:
    def batchify(samples: list) -> dict:
        return {"names": [str(each) for each in samples], "large": np.full((300, 300), samples[0], "float32")}

    for number, batch in enumerate(DataLoader(SimpleDataset(list(range(8))), 2, num_workers=2, batchify_fn=batchify)):
        assert batch["names"] == [str(2 * number), str(2 * number + 1)]
        assert batch["large"].shape == (300, 300)
        assert (batch["large"] == 2 * number).all()
        batch["large"][:] = 0


def test_many_arrays_in_a_batch() -> None:
    def batchify(samples: list) -> list:
        return [mx.nd.full((2,), number) for number in range(450)]

    (batch,) = DataLoader(SimpleDataset([1, 2]), 2, num_workers=1, batchify_fn=batchify)
    assert [int(each.asnumpy()[0]) for each in batch] == list(range(450))


def test_large_messages_both_ways() -> None:
    lists = [[*range(100_000)]] * 6
    loader = DataLoader(SimpleDataset(range(100_000)), batch_sampler=lists, batchify_fn=tuple, num_workers=1)
    for batch in loader:
        assert len(batch) == 100_000
        assert batch[-1] == 99_999


def test_more_batches_are_held_than_files_may_be_open() -> None:
    batches = list(DataLoader(SimpleDataset(list(range(2400))), 2, num_workers=2))
    assert [int(batch.asnumpy()[0]) for batch in batches] == list(range(0, 2400, 2))


def test_no_files_are_left() -> None:
    loader = DataLoader(SimpleDataset(list(range(60))), 2, num_workers=2, prefetch=10)
    list(loader)
    before = _files()
    for _ in range(3):
        list(loader)
        next(iter(loader))
    list(loader)
    gc.collect()
    end = time.monotonic() + 10  # a thread closes those of what is gone
    while _files() > before + 1 and time.monotonic() < end:
        time.sleep(0.05)
    assert _files() <= before + 1


class _Fails:
    def __len__(self) -> int:
        return 9

    def __getitem__(self, index: int) -> int:
        if index == 4:
            raise KeyError("number four")
        return index


def test_an_error_in_a_worker() -> None:
    loader = DataLoader(_Fails(), 3, num_workers=2)
    batches = iter(loader)
    next(batches)
    with pytest.raises(KeyError, match="number four") as caught:
        next(batches)
    assert "__getitem__" in str(caught.value.__cause__)
    assert len(next(iter(loader))) == 3  # the workers live on


class _NoPickle(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__("does not come back")


def test_an_error_that_does_not_pickle() -> None:
    def fails(sample: int) -> None:
        raise _NoPickle(1, 2)

    with pytest.raises(mx.MXNetError, match="_NoPickle: does not come back"):
        list(DataLoader(SimpleDataset([1]).transform(fails), 1, num_workers=1))


def test_a_batch_that_does_not_pickle() -> None:
    with pytest.raises(Exception, match=r"(?i)pickle"):
        list(DataLoader(SimpleDataset([1]), 1, num_workers=1, batchify_fn=lambda samples: lambda: 0))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed(number: int) -> None:
    def die(sample: int) -> int:
        if sample == 5:
            os.kill(os.getpid(), number)
        return sample

    loader = DataLoader(SimpleDataset(list(range(12))).transform(die), 2, num_workers=2)
    with pytest.raises(mx.MXNetError, match=rf"worker \d .*{signal.Signals(number).name}"):
        list(loader)
    assert len(next(iter(loader))) == 2  # with new workers


def test_a_worker_that_exits() -> None:
    loader = DataLoader(SimpleDataset([1]).transform(lambda sample: os._exit(3)), 1, num_workers=1)
    with pytest.raises(mx.MXNetError, match="exit code 3"):
        list(loader)


def test_a_worker_that_takes_too_long() -> None:
    loader = DataLoader(SimpleDataset([1]).transform(lambda sample: time.sleep(600)), 1, num_workers=1, timeout=0.5)
    batches = iter(loader)
    pids = _pids(loader)
    with pytest.raises(multiprocessing.TimeoutError, match="timeout"):
        next(batches)
    assert all(_gone(pid) for pid in pids)


def test_a_loader_that_is_dropped_ends_its_workers() -> None:
    loader = DataLoader(SimpleDataset(list(range(1000))), 2, num_workers=2)
    batches = iter(loader)
    next(batches)
    pids = _pids(loader)
    del loader, batches
    gc.collect()
    assert all(_gone(pid) for pid in pids)


def test_an_iterator_outlives_its_loader() -> None:
    batches = iter(DataLoader(SimpleDataset(list(range(20))), 2, num_workers=2))
    gc.collect()
    assert len(list(batches)) == 10


def test_workers_draw_different_numbers() -> None:
    dataset = SimpleDataset([0, 1]).transform(lambda sample: np.random.randint(1 << 30))
    first, second = DataLoader(dataset, 1, num_workers=2)
    assert first.asnumpy() != second.asnumpy()


def test_threads() -> None:
    loader = DataLoader(SimpleDataset(list(range(31))), 3, num_workers=2, thread_pool=True)
    assert [value for batch in loader for value in batch.asnumpy()] == list(range(31))
    loader = DataLoader(_Fails(), 3, num_workers=2, thread_pool=True)
    with pytest.raises(KeyError, match="number four"):
        list(loader)
    loader._worker_pool.end()  # a thread may still be making its batch


_ENDLESS = """
    import signal, time
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits one that is ignored
    import mxlite as mx
    from mxlite.gluon.data import DataLoader, SimpleDataset
    def slow(sample):
        time.sleep(0.01 if sample < 8 else 600)
        return sample
    loader = DataLoader(SimpleDataset(list(range(64))).transform(slow), 2, num_workers=2)
    batches = iter(loader)
    next(batches)
    print(*[worker.process.pid for worker in loader._worker_pool.workers])
    for batch in batches: pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_the_parent_is_ended(number: int) -> None:
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    with _run(_ENDLESS, start_new_session=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        time.sleep(0.3)
        if number == signal.SIGINT:
            os.killpg(parent.pid, number)  # as a terminal does
        else:
            parent.send_signal(number)
        assert all(_gone(pid) for pid in pids)  # though they sleep in the data set
        assert parent.wait(60) != 0
        if number == signal.SIGINT:
            assert "KeyboardInterrupt" in parent.stderr.read()
    if shared:
        assert not {name for name in set(os.listdir("/dev/shm")) - shared if "mxlite" in name}


def test_idle_workers_end_with_a_killed_parent() -> None:
    program = """
        import time
        import mxlite as mx
        from mxlite.gluon.data import DataLoader, SimpleDataset
        loader = DataLoader(SimpleDataset(list(range(8))), 2, num_workers=2)
        list(loader)
        print(*[worker.process.pid for worker in loader._worker_pool.workers])
        time.sleep(600)
    """
    with _run(program) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
        assert all(_gone(pid) for pid in pids)


def test_a_program_that_ends_in_the_middle() -> None:
    program = """
        from mxlite.gluon.data import DataLoader, SimpleDataset
        batches = iter(DataLoader(SimpleDataset(list(range(800))), 2, num_workers=2))
        next(batches)
    """
    with _run(program) as parent:
        output, errors = parent.communicate(timeout=60)
    assert (parent.returncode, output, errors) == (0, "", "")
