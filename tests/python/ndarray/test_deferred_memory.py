"""Deferred calls need little more memory than calls at once: the peak of ordinary programs, in both front ends."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import autograd, nd
from mxlite._lib import LIB, check_call

MB = 1 << 20
Steps = Iterator[list]


class Nd:
    """The calls of the programs below in `mx.nd`."""

    full = staticmethod(nd.full)
    relu = staticmethod(nd.relu)
    record = staticmethod(autograd.record)

    @staticmethod
    def pixels(shape: tuple, value: int) -> nd.NDArray:
        return nd.full(shape, value, dtype="uint8").astype("float32")

    @staticmethod
    def log_softmax(a: nd.NDArray) -> nd.NDArray:
        return nd.log_softmax(a)

    @staticmethod
    def best(a: nd.NDArray) -> nd.NDArray:
        return nd.max(a, axis=1, keepdims=True)

    @staticmethod
    def columns(a: nd.NDArray) -> nd.NDArray:
        return a.sum(axis=0)

    @staticmethod
    def variable(shape: tuple, value: float) -> nd.NDArray:
        made = nd.full(shape, value)
        made.attach_grad()
        return made

    @staticmethod
    def number(a: nd.NDArray) -> float:
        return float(a.sum().asscalar())


class Torch:
    """The same in `mxlite.torch`."""

    relu = staticmethod(torch.relu)
    record = staticmethod(contextlib.nullcontext)

    @staticmethod
    def full(shape: tuple, value: float) -> torch.Tensor:
        return torch.full(shape, float(value))

    @staticmethod
    def pixels(shape: tuple, value: int) -> torch.Tensor:
        return torch.full(shape, value, dtype=torch.uint8).float()

    @staticmethod
    def log_softmax(a: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax(a, -1)

    @staticmethod
    def best(a: torch.Tensor) -> torch.Tensor:
        return a.max(1, keepdim=True)[0]

    @staticmethod
    def columns(a: torch.Tensor) -> torch.Tensor:
        return a.sum(0)

    @staticmethod
    def variable(shape: tuple, value: float) -> torch.Tensor:
        return Torch.full(shape, value).requires_grad_()

    @staticmethod
    def number(a: torch.Tensor) -> float:
        return a.sum().item()


# Each program yields where its memory is looked at, and at last its results. `n` is the size of its large arrays.


def kept_rows(f: type, n: int, steps: int) -> Steps:
    kept = []
    for k in range(steps):
        big = f.full((50, n // 50), k)
        yield []
        kept.append(big[0] * 2)
        del big
        yield []
    yield kept


def rows_of_a_dropped_list(f: type, n: int, steps: int) -> Steps:
    kept = []
    for _ in range(3):
        bigs = []
        for k in range(steps // 3):
            bigs.append(f.full((50, n // 50), k))
            yield []
        kept += [big[0] * 2 for big in bigs]
        del bigs
        yield []
    yield kept


def kept_losses(f: type, n: int, steps: int) -> Steps:
    losses = []
    for k in range(steps):
        x = f.full((n,), k)
        yield []
        losses.append(((x - 1) ** 2).sum())
        del x
        yield []
    yield losses


def kept_sums_of_columns(f: type, n: int, steps: int) -> Steps:
    sums = []
    for k in range(steps):
        x = f.full((n // 256, 256), k)
        yield []
        sums.append(f.columns((x - 1) * (x + 1)))
        del x
        yield []
    yield sums


def recorded_losses(f: type, n: int, steps: int) -> Steps:
    w, losses = f.variable((n,), 0.5), []
    for k in range(steps // 3):
        x = f.full((n,), k)
        yield []
        with f.record():
            losses.append(((w * x + 1) ** 2).mean())
        yield []
    yield losses


def training(f: type, n: int, steps: int) -> Steps:
    w, losses = f.variable((n,), 0.5), []
    for k in range(steps // 2):
        x = f.full((n,), k)
        yield []
        with f.record():
            h = f.relu(w * x + 1)
            yield []
            h = h * h - x
            loss = (h * h).mean()
        yield []
        if k % 2:
            losses.append(f.number(loss.detach()))
        loss.backward()
        yield []
        losses.append(loss.detach())
        del h, loss, x
        yield []
    yield [loss for loss in losses if not isinstance(loss, float)] + [w.grad]


def running_mean(f: type, n: int, steps: int) -> Steps:
    mean = f.full((n,), 0)
    for k in range(steps):
        x = f.full((n,), k)
        yield []
        mean = mean * 0.9 + x * 0.1
        del x
        yield []
    yield [mean]


def moving_averages(f: type, n: int, steps: int) -> Steps:
    averages = [f.full((n,), k) for k in range(6)]
    for k in range(steps // 6):
        x = f.full((n,), k) * 0.5
        yield []
        for i, average in enumerate(averages):
            averages[i] = average * 0.9 + x
            yield []
        del x, average
        yield []
    yield averages


def moving_window(f: type, n: int, steps: int) -> Steps:
    window, kept = collections.deque(maxlen=4), []
    for k in range(steps):
        window.append(f.full((n,), k) * 0.25)
        yield []
        total = window[0]
        for each in list(window)[1:]:
            total = total + each
            yield []
        kept.append(total[: n // 32] * 1)
        del total
        yield []
    yield kept


def beam_search(f: type, n: int, steps: int) -> Steps:
    scores, kept = f.full((8, 1), 0), []
    for k in range(steps):
        logits = f.full((8, n // 8), k) * 0.1
        yield []
        step = f.log_softmax(logits) + scores
        scores = f.best(step)
        yield []
        kept.append(step[0] * 1)
        kept = kept[-8:]
        del logits, step
        yield []
    yield [*kept, scores]


def replay_buffer(f: type, n: int, steps: int) -> Steps:
    buffer = collections.deque(maxlen=30)
    for k in range(steps):
        frames = f.pixels((n // 128, 128), k) / 255 - 0.5
        yield []
        buffer.append((frames[: n // 1024] * 1, (frames * frames).sum()))
        del frames
        yield []
    yield [each for pair in buffer for each in pair]


def chains(f: type, n: int, steps: int) -> Steps:
    a, b, kept = f.full((n,), 1), f.full((n,), 0.5), []
    for _ in range(steps // 8):
        y = a
        for _ in range(10):
            y = f.relu(y * b + a) - b
            yield []
        kept.append(y)
        yield []
    yield kept


PROGRAMS = (
    kept_rows,
    rows_of_a_dropped_list,
    kept_losses,
    kept_sums_of_columns,
    recorded_losses,
    training,
    running_mean,
    moving_averages,
    moving_window,
    beam_search,
    replay_buffer,
    chains,
)


def live() -> int:
    """Bytes that the library has allocated."""
    count = ctypes.c_int64()
    check_call(LIB.MXLGetLiveBytes(ctypes.byref(count)))
    return count.value


def peak(program: Callable[[type, int, int], Steps], front: type, n: int, steps: int) -> tuple[int, list[float]]:
    before, most, results = live(), 0, []
    for seen in program(front, n, steps):
        most, results = max(most, live() - before), seen
    return most, [front.number(each.detach() if front is Torch else each) for each in results]


@pytest.fixture
def at_once() -> Iterator[Callable]:
    """Runs a function while no call is deferred."""

    def run(function: Callable, *args: object) -> tuple:
        with mx.engine.bulk(0):
            return function(*args)

    with mx.engine.bulk(24):
        yield run


@pytest.mark.parametrize(
    "n, steps",
    [pytest.param(1_500_000, 30, id="6 MB", marks=pytest.mark.whole), pytest.param(400_000, 70, id="1.6 MB")],
)
@pytest.mark.parametrize("front", [Nd, Torch])
@pytest.mark.parametrize("program", PROGRAMS)
def test_peaks(program: Callable, front: type, n: int, steps: int, at_once: Callable) -> None:
    least, results = at_once(peak, program, front, n, steps)
    most, deferred = peak(program, front, n, steps)
    assert deferred == results
    assert most <= 1.1 * least + 64 * MB


def resident(program: str, front: str, defer: str) -> int:
    """The most memory in MB that a process has with a program, beyond what it has before."""
    run = subprocess.run(
        [sys.executable, __file__, program, front],
        env={**os.environ, "MXLITE_DEFER": defer},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("program", [kept_sums_of_columns])
def test_pages_that_the_process_has(program: Callable) -> None:
    assert resident(program.__name__, "Torch", "20000") <= 1.1 * resident(program.__name__, "Torch", "0") + 64


def test_losses_over_thousands_of_steps() -> None:
    before, losses = live(), []
    for k in range(3000):
        x = nd.full((25000,), k % 7)
        losses.append(nd.sum(nd.square(x - 1)))
    assert live() - before < 8 * MB
    assert [loss.asscalar() for loss in losses] == [25000 * (k % 7 - 1) ** 2 for k in range(3000)]


def main(name: str, front: str) -> None:
    def most() -> int:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmHWM"))

    before = most()
    peak(globals()[name], globals()[front], 4_000_000, 24)
    print(most() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
