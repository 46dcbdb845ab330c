"""A step of training three layers, written in PyTorch's style: mxlite.torch beside PyTorch, in turns.

    python benchmarks/step.py --torch PYTHON_WITH_TORCH [--threads 2] [--rounds 9]

Started by itself with a library's name (mxlite, torch) it is one of the workers. Fails where a step takes longer than
PyTorch's. `make bench` runs it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import Any, Callable

#: Rows of a batch, inputs, hidden units of both layers, outputs; steps in one measurement.
CASES = [(1, 10, 10, 1, 400), (32, 16, 32, 4, 400), (64, 64, 64, 10, 300), (128, 128, 256, 10, 60)]


def make_step(torch: Any, rows: int, inputs: int, hidden: int, outputs: int) -> Callable[[], None]:
    """The same lines for both libraries."""
    functional = torch.nn.functional
    shapes = [(hidden, inputs), (hidden,), (hidden, hidden), (hidden,), (outputs, hidden), (outputs,)]
    parameters = [(torch.randn(*shape) * 0.1).requires_grad_() for shape in shapes]
    w1, b1, w2, b2, w3, b3 = parameters
    x, y = torch.randn(rows, inputs), torch.randn(rows, outputs)

    def step() -> None:
        h = functional.relu(functional.linear(x, w1, b1))
        h = functional.relu(functional.linear(h, w2, b2))
        functional.mse_loss(functional.linear(h, w3, b3), y).backward()
        with torch.no_grad():
            for parameter in parameters:
                parameter -= 0.01 * parameter.grad
                parameter.grad = None

    return step


def work(library: str) -> None:
    """Answers the number of a case with the nanoseconds of its step."""
    if library == "torch":
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        version = torch.__version__
    else:
        import mxlite.torch as torch
        from mxlite import __version__ as version
    steps: dict[int, Callable[[], None]] = {}
    print(version, flush=True)
    for line in sys.stdin:
        number = int(line)
        *shape, count = CASES[number]
        if number not in steps:
            steps[number] = make_step(torch, *shape)
            for _ in range(count):
                steps[number]()
        begin = time.perf_counter_ns()
        for _ in range(count):
            steps[number]()
        taken = (time.perf_counter_ns() - begin) / count
        time.sleep(0.008)  # threads that spin are asleep when the other is measured
        print(taken, flush=True)


def main() -> int:
    from process import Worker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    workers = [
        Worker(name, [python, __file__, name], args.threads)
        for name, python in (("mxlite", sys.executable), ("torch", args.torch))
    ]
    print(f"a step of three layers, {args.threads} threads; us, and mxlite.torch's share of PyTorch's time")
    missed = 0
    for number, (*shape, _) in enumerate(CASES):
        turns = [[worker.nanoseconds(number) for worker in workers] for _ in range(args.rounds)]
        own, peer = (statistics.median(column) / 1e3 for column in zip(*turns))
        ratio = statistics.median(ours / theirs for ours, theirs in turns)
        missed += ratio > 1
        label = f"{shape[0]} rows, {shape[1]}-{shape[2]}-{shape[2]}-{shape[3]}"
        print(f"{label:28s}{own:9.1f}{peer:9.1f}{ratio:8.2f}{'  MISSED' if ratio > 1 else ''}", flush=True)
    for worker in workers:
        worker.close()
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        work(sys.argv[1])
    else:
        sys.exit(main())
