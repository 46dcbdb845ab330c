"""Deferred calls give the same bits as calls at once, whatever is read, edited, viewed, freed or shared meanwhile."""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import re
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import autograd, nd
from mxlite._lib import LIB, check_call

SHAPES = ((258, 256), (131, 513))
DTYPES = ("float32", "float64")
UNARY = (nd.exp, nd.relu, nd.tanh, nd.sigmoid, nd.abs, nd.negative, nd.square, nd.sin, nd.identity)
UNARY += (nd.softmax, nd.log_softmax, lambda a: nd.softmax(a, axis=0), lambda a: nd.softmin(a, temperature=0.5))
BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (nd.abs(b) + 1),
    nd.maximum,
    nd.broadcast_lesser,
)
REDUCTIONS = (nd.sum, nd.mean, nd.max, nd.min, nd.norm, nd.prod, lambda a, **along: nd.norm(a, ord=1, **along))
SCALAR = (lambda a, s: a * s, lambda a, s: s - a, lambda a, s: a + s, lambda a, s: a / (1 + abs(s)), lambda a, s: a > s)


class Program:
    """Random calls on large arrays. The same seed makes the same calls."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.shape, self.dtype = SHAPES[seed % 2], DTYPES[seed // 2 % 2]
        numbers = np.random.RandomState(seed)
        rows, columns = self.shape
        shapes = [self.shape] * 3 + [(1, columns), (rows, 1), (1,)]
        self.arrays = [nd.array(numbers.randn(*shape), dtype=self.dtype) for shape in shapes]
        self.variables = [nd.array(numbers.randn(*self.shape), dtype=self.dtype) for _ in range(2)]
        for variable, request in zip(self.variables, ("write", "add")):
            variable.attach_grad(request)
        self.seen: list[bytes] = []

    def any(self) -> nd.NDArray:
        return self.choose.choice(self.arrays + self.variables)

    def full(self) -> nd.NDArray:
        return self.choose.choice([each for each in self.arrays + self.variables if each.shape == self.shape])

    def own(self) -> nd.NDArray:
        return self.choose.choice([each for each in self.arrays if each.shape == self.shape])

    def run(self, steps: int) -> list[bytes]:
        for _ in range(steps):
            step = self.choose.choice(
                [self.call] * 6
                + [self.reduce] * 2
                + [self.edit, self.edit, self.view, self.read, self.drop, self.train]
            )
            step()
        return [*self.seen, *(each.asnumpy().tobytes() for each in self.arrays)]

    def call(self) -> None:
        kind = self.choose.randrange(5)
        if kind == 0:
            made = self.choose.choice(UNARY)(self.any())
        elif kind == 1:
            made = self.choose.choice(BINARY)(self.full(), self.any())
        elif kind == 2:
            made = self.choose.choice(BINARY)(self.any(), self.full())
        elif kind == 3:
            made = self.choose.choice(SCALAR)(self.any(), self.choose.uniform(-2, 2))
        else:
            made = self.any().astype("float64").astype(self.dtype) if self.choose.random() < 0.5 else self.any().copy()
        self.arrays.append(nd.clip(made, -100, 100))

    def reduce(self) -> None:
        """Of something that dies, is kept, or is already there. Some sums overflow in float32."""
        full = self.full()
        source = self.choose.choice([full, full * 2, full - self.any(), nd.relu(full) * 1e36, full * self.own() * 1e35])
        if self.choose.random() < 0.3:
            self.arrays.append(source)
        axis = self.choose.choice([{}, {"axis": 0}, {"axis": 1}])
        made = self.choose.choice(REDUCTIONS)(source, keepdims=True, **axis)
        if self.choose.random() < 0.3:
            made = made * 1e-3
        self.arrays.append(made)

    def edit(self) -> None:
        kind, to = self.choose.randrange(7), self.own()
        if kind == 0:
            to += self.any()
        elif kind == 1:
            to *= 0.5
        elif kind == 2:
            to[:] = self.full() * 0.25
        elif kind == 3:
            to[:] = to * 0.5 + self.full() * 0.125
        elif kind == 4:
            to[self.choose.randrange(self.shape[0])] = 3
        elif kind == 5:
            nd.elemwise_add(self.full(), self.full(), out=to)
        else:
            to[10:20] *= 2

    def view(self) -> None:
        row = self.choose.randrange(self.shape[0])
        made = self.full()
        self.arrays.append(made[row : row + 1] if self.choose.random() < 0.5 else made.reshape(self.shape[::-1]).T)

    def read(self) -> None:
        kind, array = self.choose.randrange(4), self.any()
        if kind == 0:
            self.seen.append(array.asnumpy().tobytes())
        elif kind == 1:
            self.seen.append(nd.sum(array).asnumpy().tobytes())
        elif kind == 2:
            array.wait_to_read()
        else:
            nd.waitall()

    def drop(self) -> None:
        if len(self.arrays) > 12:
            del self.arrays[self.choose.randrange(6, len(self.arrays))]

    def train(self) -> None:
        a, b = self.variables
        with autograd.record():
            y = nd.tanh(a * self.own() + b) * self.any()
            y = y + self.choose.choice(UNARY)(a - b)
            loss = y.sum() if self.choose.random() < 0.5 else y
        loss.backward()
        if self.choose.random() < 0.5:
            self.arrays.append(a.grad * 0.5)
        self.seen.extend(each.grad.asnumpy().tobytes() for each in self.variables)
        if self.choose.random() < 0.3:
            b.grad[:] = 0


@pytest.fixture(autouse=True)
def deferred() -> Iterator[None]:
    """Calls are deferred, in this thread."""
    with mx.engine.bulk(24):
        yield


@pytest.mark.parametrize("seed", range(60))
def test_random_programs_have_the_same_bits(seed: int) -> None:
    with mx.engine.bulk(0):
        at_once = Program(seed).run(60)
    assert Program(seed).run(60) == at_once


def passed(x: nd.NDArray) -> tuple[nd.NDArray, ...]:
    """Reductions of results that die, whose tiles suit each other or do not."""
    y = x * 2
    z = nd.exp(y)
    kept = z - x
    made = y.sum(), nd.sum(z, axis=1), nd.sum(kept * y, axis=0), nd.max(z), nd.mean(kept, axis=1), nd.norm(kept, axis=1)
    return *made, kept, nd.sum(nd.square(made[1]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(70000,), (1024, 1024), (700, 100), (100, 700), (513, 129), (9, 65536), (64, 9000), (33, 50, 60)]
)
def test_reductions_take_tiles(shape: tuple, dtype: str) -> None:
    x = nd.array(np.random.RandomState(1).randn(*shape), dtype=dtype)
    if len(shape) == 1:
        x = x.reshape((1, -1))
    with mx.engine.bulk(0):
        at_once = [each.asnumpy().tobytes() for each in passed(x)]
    for first in (0, 2, 4, 6):
        made = passed(x)
        made[first].wait_to_read()
        assert [each.asnumpy().tobytes() for each in made] == at_once


def softened(x: nd.NDArray) -> tuple[nd.NDArray, ...]:
    """Softmax of results that die or are kept, with reductions that suit it or do not, and what reads it."""
    kept = x - 0.5
    of_kept, logarithms = nd.softmax(kept), nd.log_softmax(x * 3 + kept)
    y = nd.relu(x) * x
    low, total, columns = nd.softmin(y, temperature=2), nd.sum(y, axis=-1), nd.sum(y, axis=0)
    edited = nd.softmax(x * 0.5)
    edited *= 2
    into = nd.zeros_like(x)
    nd.softmax(nd.exp(x) * 0.1, out=into)
    return of_kept, logarithms, low, total, columns, edited, into, kept, of_kept * x + low, nd.sum(logarithms * x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    "shape", [(700, 100), (513, 1), (66000, 1), (70, 1000), (1024, 1024), (70, 999), (9, 8192), (8, 8193), (7, 33, 307)]
)
def test_softmax_takes_tiles(shape: tuple, dtype: str) -> None:
    x = nd.array(np.random.RandomState(1).randn(*shape), dtype=dtype)
    with mx.engine.bulk(0):
        at_once = [each.asnumpy().tobytes() for each in softened(x)]
    for first in (0, 1, 2, 6, 8):
        made = softened(x)
        made[first].wait_to_read()
        assert [each.asnumpy().tobytes() for each in made] == at_once


def test_what_softmax_takes_is_not_stored(tmp_path: pathlib.Path) -> None:
    """The pass computes the product and its softmax together, once the product has died."""
    x = nd.ones((300, 256))
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename=str(tmp_path / "trace.json"))
    mx.profiler.set_state("run")
    y = nd.softmax(x * 2 + 1)
    z = y * 3
    z.wait_to_read()
    mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True)
    assert re.search(r"FusedPass\(_mul_scalar,_plus_scalar,softmax\)", text), text


@pytest.mark.parametrize("axis", [(), (0,), (1,)])
def test_sums_that_overflow_are_computed_again(axis: tuple) -> None:
    """A pass runs twice if a float32 sum is not finite: the second time its input is stored."""
    x = nd.ones((256, 300)) * 3e38
    x[::2] *= -1
    x[3, 5] = np.inf
    sums = [nd.sum(each, axis=axis) for each in (x * 0.75, x * 2, x + 1, nd.relu(x))]
    kept = x * 0.75
    copied = nd.zeros((256, 300))
    copied[:] = kept - 1
    sums.append(nd.mean(kept - 1, axis=axis))
    found = [each.asnumpy().tobytes() for each in (*sums, kept, copied)]
    with mx.engine.bulk(0):
        sums = [nd.sum(each, axis=axis) for each in (x * 0.75, x * 2, x + 1, nd.relu(x))]
        sums.append(nd.mean(x * 0.75 - 1, axis=axis))
        assert found == [each.asnumpy().tobytes() for each in (*sums, x * 0.75, x * 0.75 - 1)]


def test_what_a_reduction_reads_may_be_edited() -> None:
    x, y = nd.ones((300, 256)), nd.ones((300, 256))
    x *= 2
    total = nd.sum(x * y)
    columns, rows = nd.sum(x, axis=0), nd.sum(x - y, axis=1)
    x += 1
    y[:] = x * 2
    more = nd.sum(y)
    total[:] = total + 1
    assert total.asscalar() == 300 * 256 * 2 + 1
    assert (columns.asnumpy() == 600).all()
    assert (rows.asnumpy() == 256).all()
    assert more.asscalar() == 300 * 256 * 6


def test_errors_are_raised_by_the_call() -> None:
    x, y = nd.ones((256, 300)), nd.ones((255, 300))
    z = x * 2
    with pytest.raises(mx.MXNetError, match="broadcast"):
        z + y
    assert (z.asnumpy() == 2).all()


def test_an_address_is_never_written_or_read_late() -> None:
    x = nd.ones((70000,))
    y = x + 1
    address = ctypes.c_void_p()
    check_call(LIB.MXNDArrayGetData(x._h, ctypes.byref(address)))
    seen = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (70000,))
    seen[:] = 7
    z = x + 1
    seen[:] = 9
    assert (y.asnumpy() == 2).all()
    assert (z.asnumpy() == 8).all()
    assert ((x + 1).asnumpy() == 10).all()


def test_memory_of_others_is_read_at_once() -> None:
    mine = np.ones(70000, dtype="float32")
    x = nd.from_numpy(mine, zero_copy=True) if hasattr(nd, "from_numpy") else nd.array(mine)
    y = x * 3
    shown = nd.to_dlpack_for_write(nd.ones((70000,)) * 2)
    z = nd.from_dlpack(shown)
    assert (y.asnumpy() == 3).all()
    assert (z.asnumpy() == 2).all()


def test_results_that_nobody_reads_are_dropped() -> None:
    x = nd.ones((70000,))
    for _ in range(300):
        x * 2 + 1
        (x * 2).sum()
    y = x
    for _ in range(300):
        y = y + 1
    x[:] = 5
    assert (y.asnumpy() == 301).all()


def test_arrays_do_not_keep_themselves_alive() -> None:
    def edited() -> None:
        x = nd.ones((70000,))
        y = x * 2
        x[:] = y  # waits for y, which waits for what x was
        y *= x
        x[:] = x * 2 + y

    edited()
    before = raw_bytes()
    for _ in range(5):
        edited()
    assert raw_bytes() - before < 70000


def raw_bytes() -> int:
    """Bytes that the library counts as allocated, with those of what waits."""
    count = ctypes.c_int64()
    check_call(LIB.MXLGetLiveBytes(ctypes.byref(count)))
    return count.value


def test_sums_that_nobody_reads_keep_few_inputs() -> None:
    before = raw_bytes()
    losses = []
    for k in range(100):
        x = nd.full((70000,), k)
        losses.append(nd.sum(nd.square(x - 1)))
        del x
    assert raw_bytes() - before < 6 * 4 * 70000 * 3
    assert [loss.asscalar() for loss in losses] == [70000 * (k - 1) ** 2 for k in range(100)]


def test_threads_read_write_and_free() -> None:
    x = nd.ones((8000,))
    y = x * 2 + 1
    z = y * y
    failed = []

    def work(k: int) -> None:
        mx.engine.set_bulk_size(24)
        for _ in range(50):
            own = y + k
            mine = nd.relu(own * z) - k
            if not (mine.asnumpy() == (3 + k) * 9 - k).all() or not (z.asnumpy() == 9).all():
                failed.append(k)
            own += 1
            if own.asnumpy()[0] != 4 + k:
                failed.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_what_waits() -> None:
    x = nd.ones((8000,)) * 3
    y = x + 1
    child = os.fork()
    if child == 0:
        os._exit(0 if (y.asnumpy() == 4).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert (y.asnumpy() == 4).all()


def test_saved_values_that_were_edited_are_found() -> None:
    x = nd.ones((70000,))
    x.attach_grad()
    with autograd.record():
        y = nd.exp(x * 2)
        z = y * y
    y[:] = 0
    with pytest.raises(mx.MXNetError, match="edited in place"):
        z.backward()


def test_anomaly_mode_runs_at_once() -> None:
    x = nd.zeros((70000,))
    x.attach_grad()
    with autograd.detect_anomaly(), pytest.raises(mx.MXNetError, match="nan|NaN"):
        with autograd.record():
            y = nd.sqrt(x * 0) * 0
        y.backward()


@pytest.mark.parametrize("shape", [(1, 1), (256, 1), (1, 300)])
def test_expanded_operands_with_numbers(shape: tuple) -> None:
    """Neither operand of the loop advances within a row, or within the whole array."""
    values = np.random.RandomState(3).randn(*shape).astype("float32")
    x, number = (torch.tensor(values) * 1).expand(256, 300), torch.tensor([0.5]) * 1  # of memory that nobody sees
    wanted = np.broadcast_to(values, (256, 300))
    assert ((x > number).numpy() == (wanted > 0.5)).all()
    assert ((number - x).numpy() == np.float32(0.5) - wanted).all()
    assert (torch.maximum(x, number).numpy() == np.maximum(wanted, 0.5)).all()
    assert ((x * 2 + number).numpy() == wanted * 2 + np.float32(0.5)).all()
