"""Steps of training written for PyTorch, and attention of long sequences: mxlite.torch beside PyTorch, in turns.

    python benchmarks/step.py --torch PYTHON_WITH_TORCH [--threads 2] [--rounds 9] [--only TEXT]

Started by itself with a library's name (mxlite, torch) it is one of the workers: the lines are the same, those here and
those of networks_torch.py, which imports mxlite.torch as torch. Fails where a step takes more than its share of
PyTorch's time, or attention more memory than grows with the length. `make bench` runs it.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from typing import Any, Callable, NamedTuple


class Case(NamedTuple):
    """A step: the function that makes it and its arguments, steps in one measurement, the largest share."""

    label: str
    make: str
    arguments: tuple[Any, ...]
    count: int
    bar: float


def layers(rows: int, inputs: int, hidden: int, outputs: int, count: int) -> Case:
    return Case(
        f"{rows} rows, {inputs}-{hidden}-{hidden}-{outputs}", "three_layers", (rows, inputs, hidden, outputs), count, 1
    )


#: Of attention's label: 8 heads of 64 at a length.
ATTENTION = "attention of "
CASES = [
    layers(1, 10, 10, 1, 400),
    layers(32, 16, 32, 4, 400),
    layers(64, 64, 64, 10, 300),
    layers(128, 128, 256, 10, 60),
    Case("MLP 784-256-128-10, 64 rows", "mlp", (64,), 60, 0.9),
    Case("LeNet, 64 of 28 x 28", "lenet", (64,), 6, 0.9),
    Case("LSTM 2 x 256, 32 steps of 32", "lstm", (32, 32, 256, 2), 3, 0.9),
    Case("transformer block 8 x 128 x 256", "transformer", (8, 128, 256, 4), 3, 0.9),
    Case("the same, by nn", "encoder", (8, 128, 256, 4), 3, 0.9),
    Case(f"{ATTENTION}2048", "attention", (2048, False), 1, 1),
    Case(f"{ATTENTION}2048, gradients", "attention", (2048, True), 1, 1),
    Case(f"{ATTENTION}8192", "attention", (8192, False), 1, 1),
    Case(f"{ATTENTION}8192, gradients", "attention", (8192, True), 1, 1),
]
#: MB that a step of attention at 8192 may take: 40 arrays as its queries; the scores of one head have 256.
MEMORY = 40 * 8192 * 8 * 64 * 4 / 1e6


def three_layers(draw: Callable, rows: int, inputs: int, hidden: int, outputs: int) -> Callable[[], Any]:
    """Layers as functions, and updates by hand."""
    import torch

    functional = torch.nn.functional
    shapes = [(hidden, inputs), (hidden,), (hidden, hidden), (hidden,), (outputs, hidden), (outputs,)]
    parameters = [(draw(*shape) * 0.1).requires_grad_() for shape in shapes]
    w1, b1, w2, b2, w3, b3 = parameters
    x, y = draw(rows, inputs), draw(rows, outputs)

    def step() -> Any:
        h = functional.relu(functional.linear(x, w1, b1))
        h = functional.relu(functional.linear(h, w2, b2))
        loss = functional.mse_loss(functional.linear(h, w3, b3), y)
        loss.backward()
        with torch.no_grad():
            for parameter in parameters:
                parameter -= 0.01 * parameter.grad
                parameter.grad = None
        return loss

    return step


def encoder(draw: Callable, batch: int, length: int, size: int, heads: int) -> Callable[[], Any]:
    """nn.TransformerEncoderLayer, Adam."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(size, heads, 4 * size, 0.0, "gelu", batch_first=True, norm_first=True)
    adam = torch.optim.Adam(layer.parameters(), lr=1e-4)
    x, target = draw(batch, length, size), draw(batch, length, size)

    def step() -> Any:
        adam.zero_grad()
        loss = torch.nn.functional.mse_loss(layer(x), target)
        loss.backward()
        adam.step()
        return loss

    return step


def attention(draw: Callable, length: int, gradients: bool) -> Callable[[], Any]:
    """scaled_dot_product_attention of 8 heads of 64, and the gradients of its inputs."""
    import torch

    inputs = [draw(1, 8, length, 64) for _ in range(3)]
    head = draw(1, 8, length, 64)
    if gradients:
        inputs = [each.requires_grad_() for each in inputs]

    def step() -> Any:
        y = torch.nn.functional.scaled_dot_product_attention(*inputs)
        return torch.autograd.grad(y, inputs, head)[0].sum() if gradients else y.sum()

    return step


def work(library: str) -> None:
    """Answers the number of a case with the nanoseconds of its step."""
    import numpy as np

    if library == "mxlite":
        import mxlite.torch

        mxlite.torch.install()
    import networks_torch
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    random = np.random.RandomState(1)

    def draw(*shape: int, kind: int | None = None) -> Any:
        made = random.randint(0, kind, shape) if kind else random.standard_normal(shape).astype(np.float32)
        return torch.tensor(made)

    print(torch.__version__, flush=True)
    number, step = -1, None
    for line in sys.stdin:
        if number != int(line):
            number, step = int(line), None
            case = CASES[number]
            make = globals().get(case.make) or getattr(networks_torch, case.make)
            step = make(draw, *case.arguments)
            for _ in range(case.count):
                step()
        assert step is not None
        begin = time.perf_counter_ns()
        for _ in range(case.count):
            value = step()
        if not math.isfinite(value.item()):  # what is deferred is computed here
            raise SystemExit(f"bench: {case.label}: the result is {value.item()}")
        taken = (time.perf_counter_ns() - begin) / case.count
        time.sleep(0.008)  # threads that spin are asleep when the other is measured
        print(taken, flush=True)


def main() -> int:
    from process import Worker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="cases whose label has the text")
    args = parser.parse_args()
    workers = [
        Worker(name, [python, "-W", "ignore", __file__, name], args.threads)
        for name, python in (("mxlite", sys.executable), ("torch", args.torch))
    ]
    print(f"steps, {args.threads} threads; us, and mxlite.torch's share of PyTorch's time")
    missed = 0
    for number, case in enumerate(CASES):
        if args.only not in case.label:
            continue
        before = workers[0].peak()
        turns = [[worker.nanoseconds(number) for worker in workers] for _ in range(args.rounds)]
        own, peer = (statistics.median(column) / 1e3 for column in zip(*turns))
        ratio = statistics.median(ours / theirs for ours, theirs in turns)
        grown = workers[0].peak() - before
        heavy = case.label.startswith(ATTENTION) and grown > MEMORY
        missed += ratio > case.bar or heavy
        note = f"  MISSED {case.bar}" * (ratio > case.bar) + f"  {grown:.0f} MB" * heavy
        print(f"{case.label:34s}{own:12.1f}{peer:12.1f}{ratio:8.2f}{note}", flush=True)
    for worker in workers:
        worker.close()
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        work(sys.argv[1])
    else:
        sys.exit(main())
