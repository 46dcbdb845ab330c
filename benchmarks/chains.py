"""Chains of element-wise operators, written in PyTorch's style: mxlite.torch, the same with every call run at once,
PyTorch eager and compiled, JAX compiled, NumPy, and a fused loop in C, in turns, with 1 and 2 threads.

    python benchmarks/chains.py --torch PYTHON_WITH_TORCH [--only PATTERN] [--threads 1,2] [--page docs/performance.md]

Started by itself with a library's name it is one of the workers. `make bench` runs it. The Python of `--torch` may have
JAX too. Compilers are named with the seconds that they took for the case; mxlite and PyTorch eager compile nothing.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Callable

SECONDS = 0.03  # of one measurement, at least


@dataclass
class Case:
    """A function of arrays that runs on mxlite.torch, PyTorch, jax.numpy and NumPy.

    Args:
        compute: Of the library's functions and the arrays: an array.
        shapes: Of the arrays; "n" is one of the sizes.
        gradient: Whether the sum of the result is differentiated by all arrays.
        bars: The largest share of a peer's time.
    """

    name: str
    compute: Callable
    shapes: list
    gradient: bool
    bars: dict[str, float]
    sizes: tuple[int, ...] = (0,)


def chain(m: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    return m.relu(a * b + c) * d - a


def gelu(m: Any, a: Any) -> Any:
    return a * (m.erf(a * math.sqrt(0.5)) + 1) * 0.5


def layer_norm(m: Any, x: Any, scale: Any, shift: Any) -> Any:
    centred = x - m.mean(x)
    return centred * m.rsqrt(m.mean(centred * centred) + 1e-5) * scale + shift


def adam(m: Any, w: Any, g: Any, mean: Any, var: Any) -> Any:
    mean = mean * 0.9 + g * 0.1
    var = var * 0.999 + g * g * 0.001
    return w - mean * 0.01 / (m.sqrt(var) + 1e-8)


def lstm_gates(m: Any, i: Any, f: Any, o: Any, g: Any, c: Any) -> Any:
    c = m.sigmoid(f) * c + m.sigmoid(i) * m.tanh(g)
    return m.sigmoid(o) * m.tanh(c)


def cross_entropy(m: Any, x: Any, target: Any) -> Any:
    shifted = x - m.max(x)
    return (m.log(m.sum(m.exp(shifted))) - m.sum(shifted * target)) / x.shape[0]


SIZES = (100_000, 1_000_000, 10_000_000)
MATRIX, ROW, GATE = (1024, 1024), (1024,), (64, 256)
CASES = [
    Case("chain", chain, ["n"] * 4, False, {"floor": 1.5, "torch": 0.4, "compile": 1.1}, SIZES),
    Case("chain, gradient", chain, ["n"] * 4, True, {"torch": 0.4, "compile": 1.2}, SIZES),
    Case("gelu", gelu, ["n"], False, {"torch": 0.3}, SIZES),
    Case("gelu, gradient", gelu, ["n"], True, {"torch": 0.3}, SIZES),
    Case("layer norm, gradient", layer_norm, [MATRIX, ROW, ROW], True, {"torch": 0.5}),
    Case("adam", adam, [(1_000_000,)] * 4, False, {"torch": 0.35}),
    Case("LSTM gates, gradient", lstm_gates, [GATE] * 5, True, {"torch": 0.7}),
    Case("cross-entropy, gradient", cross_entropy, [(1024, 1000)] * 2, True, {"torch": 0.5}),
]


# ---- workers ----


class Library:
    """A library's functions under one set of names; reductions are along the last axis, which stays."""

    def __init__(self, names: dict[str, Callable]) -> None:
        self.__dict__.update(names)


def torch_library(torch: Any) -> Library:
    names = "relu erf sqrt rsqrt sigmoid tanh exp log".split()
    return Library(
        {
            **{name: getattr(torch, name) for name in names},
            "mean": lambda x: x.mean(-1, keepdim=True),
            "sum": lambda x: x.sum(-1, keepdim=True),
            "max": lambda x: x.amax(-1, keepdim=True),
        }
    )


def eager(torch: Any, case: Case, arrays: list, finish: Callable[[], None], compiled: bool = False) -> Callable:
    """A call of the case on mxlite.torch or PyTorch."""
    library = torch_library(torch)
    compute = lambda *given: case.compute(library, *given)  # noqa: E731
    if case.gradient:
        inner = compute
        compute = lambda *given: inner(*given).sum()  # noqa: E731
    if compiled:
        compute = torch.compile(compute)
    given = [torch.tensor(each).requires_grad_(case.gradient) for each in arrays]

    def call() -> Any:
        result = compute(*given)
        if case.gradient:
            for each in given:
                each.grad = None
            result.backward()
        finish()
        return result

    return call


def jax_call(case: Case, arrays: list) -> Callable:
    import jax

    names = {name: getattr(jax.numpy, name) for name in "sqrt tanh exp log".split()}
    library = Library(
        {
            **names,
            **{"erf": jax.scipy.special.erf, "relu": jax.nn.relu, "sigmoid": jax.nn.sigmoid, "rsqrt": jax.lax.rsqrt},
            **{
                name: (lambda f: lambda x: f(x, -1, keepdims=True))(getattr(jax.numpy, name))
                for name in ("mean", "sum", "max")
            },
        }
    )
    compute = lambda *given: case.compute(library, *given)  # noqa: E731
    if case.gradient:
        inner = compute
        compute = jax.value_and_grad(lambda *given: inner(*given).sum(), tuple(range(len(arrays))))
    run, given = jax.jit(compute), [jax.numpy.asarray(each) for each in arrays]
    return lambda: jax.block_until_ready(run(*given))


def numpy_call(case: Case, arrays: list) -> Callable | None:
    import numpy as np

    library = Library({"relu": lambda x: np.maximum(x, 0), "sqrt": np.sqrt})
    return None if case.gradient or case.compute is gelu else lambda: case.compute(library, *arrays)


def call_of(name: str, case: Case, arrays: list) -> Callable | None:
    if name in ("torch", "compile"):
        import torch

        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        return eager(torch, case, arrays, lambda: None, name == "compile")
    if name == "jax":
        return jax_call(case, arrays)
    if name == "numpy":
        return numpy_call(case, arrays)
    import mxlite.torch
    from mxlite import nd

    return eager(mxlite.torch, case, arrays, nd.waitall)


def work(name: str) -> None:
    """Answers the number of a case and a size with the nanoseconds of a call; negative: those of the first call."""
    import numpy as np

    print(name, flush=True)
    at, call, count = None, None, 1
    for line in sys.stdin:
        number, size, first = map(int, line.split("\t"))
        if at != (number, size):
            at, call, count, random = (number, size), None, 1, np.random.RandomState(0)
            shapes = [(size,) if shape == "n" else shape for shape in CASES[number].shapes]
            call = call_of(name, CASES[number], [random.rand(*shape).astype("float32") for shape in shapes])
        if call is None:
            print("nan", flush=True)
            continue
        for _ in range(0 if first else 1 + count // 8):
            call()
        begin = time.perf_counter_ns()
        for _ in range(1 if first else count):
            call()
        taken = time.perf_counter_ns() - begin
        print(taken / (1 if first else count), flush=True)
        if not first:
            count = max(1, round(count * SECONDS * 1e9 / taken))
        time.sleep(0.008)  # threads that spin are asleep when the next is measured


# ---- the comparison ----

COLUMNS = {"mxlite": "mxlite", "once": "at once", "torch": "PyTorch", "compile": "compiled", "jax": "jax.jit"}
COLUMNS |= {"numpy": "NumPy", "floor": "C loop"}


def start(args: argparse.Namespace, threads: int, folder: str) -> dict[str, Any]:
    from process import Worker

    trees = {"PYTHONPATH": str(pathlib.Path(__file__).resolve().parent.parent)}
    own, peer = [sys.executable, __file__], [args.torch, __file__]
    workers = {
        "mxlite": Worker("mxlite", [*own, "mxlite"], threads, **trees),
        "once": Worker("once", [*own, "mxlite"], threads, MXLITE_DEFER="0", **trees),
        "numpy": Worker("numpy", [*own, "numpy"], threads),
        "floor": Worker("floor", [f"{folder}/floor", str(threads)], threads),
    }
    flags = {
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        "XLA_FLAGS": f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}",
    }
    workers |= {name: Worker(name, [*peer, name], threads, **flags) for name in args.peers.split(",")}
    return workers


def measure(workers: dict[str, Any], number: int, size: int, rounds: int) -> tuple[dict[str, float], dict, dict]:
    """Milliseconds of a call, mxlite's share of each peer's time, and seconds of the first call of compilers."""

    def ask(name: str, first: int) -> float:
        if name == "floor":
            fused = CASES[number].name == "chain"
            return workers[name].nanoseconds("chain", size, max(1, 20_000_000 // size)) if fused else math.nan
        return workers[name].nanoseconds(number, size, first)

    compiling = {name: ask(name, 1) / 1e9 for name in workers if name != "floor"}
    for name in workers:
        for _ in range(2):
            ask(name, 0)
    turns = [{name: ask(name, 0) for name in workers} for _ in range(rounds)]
    ms = {name: statistics.median(turn[name] for turn in turns) / 1e6 for name in workers}
    shares = {name: statistics.median(turn["mxlite"] / turn[name] for turn in turns) for name in workers}
    return ms, shares, compiling


def main() -> int:
    from large import build_floor

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch, and JAX")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument(
        "--peers", default="torch,compile,jax", help="of PyTorch eager and compiled and JAX, with commas"
    )
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--page", type=pathlib.Path, help="docs/performance.md, to fill in the table of")
    args = parser.parse_args()
    lines, missed = [], 0
    columns = [name for name in COLUMNS if name not in ("torch", "compile", "jax") or name in args.peers.split(",")]
    lines.append("| case | threads | ms | share of " + " | ".join(COLUMNS[name] for name in columns[1:]) + " |")
    lines.append("|---|--:|--:|" + "--:|" * (len(columns) - 1))
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        build_floor(folder)
        for threads in map(int, args.threads.split(",")):
            workers = start(args, threads, folder)
            for number, case in enumerate(CASES):
                for size in case.sizes if re.search(args.only, case.name) else ():
                    ms, shares, compiling = measure(workers, number, size, args.rounds)
                    text = {name: "" if math.isnan(shares[name]) else f"{shares[name]:.2f}" for name in columns}
                    for name in text.keys() & {"compile", "jax"}:
                        text[name] += f" ({compiling[name]:.1f} s)"
                    for name in text.keys() & case.bars.keys():
                        if shares[name] > case.bars[name]:
                            text[name], missed = f"**{text[name]}**", missed + 1
                    label = f"{case.name} {size:.0e}".replace("e+0", "e") if size else case.name
                    shown = [label, str(threads), f"{ms['mxlite']:.3f}", *(text[name] for name in columns[1:])]
                    lines.append("| " + " | ".join(shown) + " |")
                    print(lines[-1], flush=True)
            for worker in workers.values():
                worker.close()
    print(f"{missed} shares are above their bars (in bold)")
    if args.page is not None:
        from page import fill

        fill(args.page, "chains.py", {"chains": lines})
    return 1 if missed else 0


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        work(sys.argv[1])
    else:
        sys.exit(main())
