"""A step of training by several workers over MPI on this machine, beside one process: time, bytes, and what MPI can do.

    python benchmarks/distributed.py [--workers 1 2 4] [--steps 30] [--page docs/performance.md]

Every worker has one thread and a batch of its own, so without communication a step would take as long as that of one
process, as long as there is a processor for each. Started by itself through `mxlite run` it is one of the workers.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

#: Name: rows of a batch, inputs, hidden units and number of hidden layers.
CASES = {
    "3 layers of 1024": (64, 512, 1024, 3),
    "8 layers of 256": (64, 256, 256, 8),
    "2 layers of 64": (32, 64, 64, 2),
}
_ROW = "| {:18} | {:>7} | {:>9} | {:>9} | {:>9} | {:>9} | {:>9} | {:>9} |"
_HEAD = ("network", "workers", "step, ms", "alone, ms", "MB sent", "early", "sum, ms", "model, ms")


def seconds(work: Callable[[], Any], steps: int, wait: Callable[[], Any]) -> float:
    """The median time of a call, which all workers begin together."""
    found = []
    for _ in range(steps):
        wait()
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def point_to_point(comm: Any, count: int, rounds: int = 20) -> float:
    """Seconds that a message of so many bytes takes from worker 0 to worker 1."""
    import numpy as np

    buffer = np.zeros(count, np.uint8)
    comm.Barrier()
    begin = time.perf_counter()
    for _ in range(rounds):
        if comm.rank == 0:
            comm.Send(buffer, 1)
            comm.Recv(buffer, 1)
        elif comm.rank == 1:
            comm.Recv(buffer, 0)
            comm.Send(buffer, 0)
    return (time.perf_counter() - begin) / (2 * rounds)


def work(name: str, steps: int) -> None:
    """One worker: prints, if it is worker 0, what it has measured as JSON."""
    import numpy as np

    import mxlite as mx
    from mxlite import autograd, gluon

    rows, inputs, units, layers = CASES[name]
    kv = mx.kv.create("dist_sync")
    net = gluon.nn.HybridSequential()
    for _ in range(layers):
        net.add(gluon.nn.Dense(units, activation="relu"))
    net.add(gluon.nn.Dense(10))
    net.initialize()
    net.hybridize(static_alloc=True)
    x, y = mx.nd.random.normal(shape=(rows, inputs)), mx.nd.zeros((rows,))
    net(x)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()

    def make(store: Any) -> Callable[[], None]:
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01}, store, update_on_kvstore=False)

        def step() -> None:
            with autograd.record():
                loss = loss_of(net(x), y)
            loss.backward()
            trainer.step(rows * kv.num_workers)
            mx.nd.waitall()

        return step

    found: dict[str, float] = {}
    for key, store in (("alone", None), ("step", kv)):
        step = make(store)
        for _ in range(5):
            step()
        found[key] = seconds(step, steps, kv.barrier)
    buckets = kv._sums._buckets
    found["bytes"] = sum(each.values.nbytes for each in buckets)
    found["early"] = sum(each.values.nbytes for each in buckets if each.early) / found["bytes"]
    world = kv._world
    values = np.zeros(int(found["bytes"]) // 4, np.float32)
    found["sum"] = seconds(lambda: world.wait(world.start_sum(values, world.comm)), steps, kv.barrier)
    if kv.num_workers > 1:
        small, large = point_to_point(world.comm, 8), point_to_point(world.comm, 4 << 20)
        found.update(latency=small, bandwidth=(4 << 20) / (large - small))
    if kv.rank == 0:
        print(json.dumps(found), flush=True)


def row(name: str, workers: int, steps: int) -> str:
    """Measures a network with so many workers; a row of the table."""
    command = [sys.executable, "-m", "mxlite", "run", "-n", str(workers), __file__, "--case", name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, "--steps", str(steps)], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout)
    share = 2 * (workers - 1) / workers * found["bytes"]
    model = share / found["bandwidth"] + 2 * (workers - 1) * found["latency"] if workers > 1 else 0.0
    times = (f"{1e3 * each:.2f}" for each in (found["step"], found["alone"], found["sum"], model))
    step, alone, total, model_ = times
    return _ROW.format(name, workers, step, alone, f"{share / 1e6:.2f}", f"{found['early']:.0%}", total, model_)


def main() -> None:
    """Prints a table, or writes it between the marks of a page."""
    parser = argparse.ArgumentParser(description="Steps of several workers over MPI, on this machine")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--page", help="a file with the marks <!-- distributed.py --> and <!-- distributed: end -->")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        work(given.case, given.steps)
        return
    lines = [_ROW.format(*_HEAD), _ROW.format(*["---", *["---:"] * 7])]
    lines += [row(name, count, given.steps) for name in CASES for count in given.workers]
    table = "\n".join(lines)
    print(table)
    if given.page:
        page = Path(given.page)
        before, rest = page.read_text(encoding="utf-8").split("<!-- distributed.py -->")
        _, after = rest.split("<!-- distributed: end -->")
        page.write_text(f"{before}<!-- distributed.py -->\n\n{table}\n\n<!-- distributed: end -->{after}", "utf-8")


if __name__ == "__main__":
    main()
