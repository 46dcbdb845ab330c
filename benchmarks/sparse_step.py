"""A step of training an embedding whose gradient has the rows of a batch: forward, backward, lazy Adam.

    python benchmarks/sparse_step.py --torch PYTHON_WITH_TORCH --mxnet PYTHON_WITH_MXNET [--threads 2] [--rounds 9]

mxlite beside the real MXNet 1.9.1 (Embedding with sparse_grad, adam_update) and PyTorch (Embedding with sparse, and
SparseAdam), in turns. Started by itself with a library's name it is one of the workers. Fails where a step takes more
than its share of a peer's time. `make bench` runs it. (Memory: tests/c/sparse/test_sparse_steps.c.)
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import Any, Callable

#: The numbers of rows of the embedding and of a batch; the length of a row; steps in one measurement.
CASES = [(10_000, 64, 64, 100), (10_000, 4096, 64, 20), (1_000_000, 64, 64, 100), (1_000_000, 4096, 64, 10)]
#: The largest shares of the peers' times.
OF_MXNET, OF_TORCH = 0.8, 1.0
#: How many batches a case has, in turns.
BATCHES = 10


def batches(vocabulary: int, batch: int) -> Any:
    import numpy as np

    return np.random.RandomState(0).randint(0, vocabulary, (BATCHES, batch))


def mxnet_step(mx: Any, vocabulary: int, batch: int, columns: int) -> Callable[[int], None]:
    """The same lines for mxlite and 1.9.1."""
    nd = mx.nd
    weight = nd.random.normal(shape=(vocabulary, columns))
    weight.attach_grad(stype="row_sparse")
    mean, var = nd.zeros((vocabulary, columns)), nd.zeros((vocabulary, columns))
    head = nd.ones((batch, columns))
    rows = [nd.array(each, dtype="int64") for each in batches(vocabulary, batch)]

    def step(i: int) -> None:
        with mx.autograd.record():
            y = nd.Embedding(rows[i % BATCHES], weight, vocabulary, columns, sparse_grad=True)
        y.backward(head)
        nd.adam_update(weight, weight.grad, mean, var, out=weight, lr=0.01)
        nd.waitall()

    return step


def torch_step(torch: Any, vocabulary: int, batch: int, columns: int) -> Callable[[int], None]:
    layer = torch.nn.Embedding(vocabulary, columns, sparse=True)
    adam = torch.optim.SparseAdam(layer.parameters(), lr=0.01)
    head = torch.ones(batch, columns)
    rows = [torch.from_numpy(each) for each in batches(vocabulary, batch)]

    def step(i: int) -> None:
        adam.zero_grad()
        layer(rows[i % BATCHES]).backward(head)
        adam.step()

    return step


def work(library: str) -> None:
    """Answers the number of a case with the nanoseconds of its step."""
    if library == "torch":
        import torch as module

        module.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    elif library == "mxnet":
        import mxnet as module
    else:
        import mxlite as module
    make = torch_step if library == "torch" else mxnet_step
    print(module.__version__, flush=True)
    number, step = -1, None
    for line in sys.stdin:
        if number != int(line):
            number, step = int(line), None
            *shape, count = CASES[number]
            step = make(module, *shape)
            for i in range(count):
                step(i)
        assert step is not None
        begin = time.perf_counter_ns()
        for i in range(count):
            step(i)
        taken = (time.perf_counter_ns() - begin) / count
        time.sleep(0.008)  # threads that spin are asleep when the other is measured
        print(taken, flush=True)


def main() -> int:
    from process import Worker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--mxnet", required=True, help="a Python that has MXNet 1.9.1")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    peers = {"mxlite": sys.executable, "mxnet": args.mxnet, "torch": args.torch}
    workers = [Worker(name, [peers[name], "-W", "ignore", __file__, name], args.threads) for name in peers]
    print(f"a step of an embedding with lazy Adam, {args.threads} threads; us, and mxlite's shares of the peers' time")
    missed = 0
    for number, (vocabulary, batch, columns, _) in enumerate(CASES):
        turns = [[worker.nanoseconds(number) for worker in workers] for _ in range(args.rounds)]
        times = [statistics.median(column) / 1e3 for column in zip(*turns)]
        shares = [statistics.median(turn[0] / turn[peer] for turn in turns) for peer in (1, 2)]
        over = shares[0] > OF_MXNET or shares[1] > OF_TORCH
        missed += over
        label = f"{batch} of {vocabulary} rows of {columns}"
        print(f"{label:28s}" + "".join(f"{each:10.1f}" for each in times), end="")
        print("".join(f"{each:8.3f}" for each in shares) + ("  MISSED" if over else ""), flush=True)
    for worker in workers:
        worker.close()
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        work(sys.argv[1])
    else:
        sys.exit(main())
