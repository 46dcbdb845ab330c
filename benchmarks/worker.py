"""One library in one process: times the cases that run.py names, one line in, one line out.

Run by run.py under the interpreter that holds the library: ``worker.py PEER`` with PEER one of mxlite,
torch, mxnet, numpy. Each request is ``CASE COUNT``, each answer the nanoseconds of one operator.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import Any, Callable

SCALARS = [1.0 + i / 1024 for i in range(1000)]
BOUNDS = [(i % 3, i % 3 + 1 + i % 2) for i in range(1000)]
SHAPES = [(2, 8), (8, 2), (16, 1), (1, 16), (4, 4)] * 200
VALUES = [[0.01 * (4 * i + j) + 0.5 for j in range(4)] for i in range(4)]
CHAIN = 1000


class Peer:
    """What differs between the libraries; x, y, w and b are 4 x 4 float32."""

    name = "numpy"
    records = False

    def __init__(self) -> None:
        import numpy

        self.lib: Any = numpy
        self.version = numpy.__version__
        self.exp, self.dot = numpy.exp, numpy.dot
        self.x, self.y, self.w, self.b = (self.array() for _ in range(4))

    def array(self) -> Any:
        return self.lib.array(VALUES, dtype="float32")

    def want_gradients(self, wanted: bool) -> None:
        raise NotImplementedError

    def wait(self) -> None:
        """Until everything that was asked for has been computed."""

    def backward(self, y: Any) -> None:
        raise NotImplementedError


class Torch(Peer):
    name = "torch"
    records = True

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.lib, self.version, self.exp, self.dot = torch, torch.__version__, torch.exp, torch.mm
        self.x, self.y, self.w, self.b = (self.array() for _ in range(4))

    def array(self) -> Any:
        return self.lib.tensor(VALUES, dtype=self.lib.float32)

    def want_gradients(self, wanted: bool) -> None:
        for a in (self.x, self.w, self.b):
            a.requires_grad_(wanted)
            a.grad = None

    def backward(self, y: Any) -> None:
        y.backward(self.lib.ones_like(y))


class MXNet(Peer):
    """The real one and mxlite: the same code, another import."""

    records = True

    def __init__(self, name: str) -> None:
        self.name = name
        self.lib = __import__(name)
        self.version = self.lib.__version__
        self.exp, self.dot = self.lib.nd.exp, self.lib.nd.dot
        self.x, self.y, self.w, self.b = (self.array() for _ in range(4))

    def array(self) -> Any:
        return self.lib.nd.array(VALUES, dtype="float32")

    def want_gradients(self, wanted: bool) -> None:
        if wanted:
            for a in (self.x, self.w, self.b):
                a.attach_grad()
        else:
            self.x, self.w, self.b = (self.array() for _ in range(3))
        self.lib.autograd.set_recording(wanted)

    def wait(self) -> None:
        self.lib.nd.waitall()

    def backward(self, y: Any) -> None:
        y.backward()


# ---- cases: each runs n operators; `z` keeps a result until the next replaces it ----


def case_add(p: Peer, n: int) -> None:
    x, y = p.x, p.y
    for _ in range(n):
        z = x + y  # noqa: F841


def case_scalar(p: Peer, n: int) -> None:
    x = p.x
    for _ in range(n // 1000):
        for s in SCALARS:
            z = x * s  # noqa: F841


def case_exp(p: Peer, n: int) -> None:
    x, exp = p.x, p.exp
    for _ in range(n):
        z = exp(x)  # noqa: F841


def case_sum(p: Peer, n: int) -> None:
    x = p.x
    for _ in range(n):
        z = x.sum()  # noqa: F841


def case_dot(p: Peer, n: int) -> None:
    x, y, dot = p.x, p.y, p.dot
    for _ in range(n):
        z = dot(x, y)  # noqa: F841


def case_reshape(p: Peer, n: int) -> None:
    x = p.x
    for _ in range(n // 1000):
        for shape in SHAPES:
            z = x.reshape(shape)  # noqa: F841


def case_slice(p: Peer, n: int) -> None:
    x = p.x
    for _ in range(n // 1000):
        for i, j in BOUNDS:
            z = x[i:j]  # noqa: F841


PLAIN: dict[str, Callable[[Peer, int], None]] = {
    "add": case_add,
    "scalar": case_scalar,
    "exp": case_exp,
    "sum": case_sum,
    "dot": case_dot,
    "reshape": case_reshape,
    "slice": case_slice,
}


def time_plain(p: Peer, name: str, n: int) -> float:
    run = PLAIN[name]
    p.wait()
    begin = time.perf_counter_ns()
    run(p, n)
    p.wait()
    return (time.perf_counter_ns() - begin) / n


def time_recorded(p: Peer, name: str, n: int) -> float:
    p.want_gradients(True)
    try:
        return time_plain(p, name, n)
    finally:
        p.want_gradients(False)


def time_chain(p: Peer, half: str, n: int) -> float:
    """y = y * w + b, CHAIN times: nanoseconds of an operator, forward without release, or backward."""
    spent = 0
    rounds = max(n // (2 * CHAIN), 1)
    for _ in range(rounds):
        p.want_gradients(True)
        y, w, b = p.y, p.w, p.b
        p.wait()
        begin = time.perf_counter_ns()
        for _ in range(CHAIN):
            y = y * w + b
        p.wait()
        middle = time.perf_counter_ns()
        p.backward(y)
        p.wait()
        end = time.perf_counter_ns()
        spent += middle - begin if half == "forward" else end - middle
        p.want_gradients(False)
        del y
    return spent / (rounds * 2 * CHAIN)


def measure(p: Peer, case: str, n: int) -> float:
    if case.startswith("chain "):
        return time_chain(p, case.split()[1], n)
    if case.startswith("recorded "):
        return time_recorded(p, case.split()[1], n)
    return time_plain(p, case, n)


def main() -> None:
    peers: dict[str, Callable[[], Peer]] = {
        "numpy": Peer,
        "torch": Torch,
        "mxnet": lambda: MXNet("mxnet"),
        "mxlite": lambda: MXNet("mxlite"),
    }
    if hasattr(os, "sched_setaffinity"):
        # All peers on one core, in turns: whatever else the machine does hits each alike.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    peer = peers[sys.argv[1]]()
    gc.disable()
    print(peer.version, flush=True)
    for line in sys.stdin:
        case, count = line.rstrip("\n").split("\t")
        if not peer.records and " " in case:
            print("nan", flush=True)
            continue
        nanoseconds = measure(peer, case, int(count))
        gc.collect()  # before the answer: after it, another process is measured
        print(nanoseconds, flush=True)


if __name__ == "__main__":
    main()
