#!/usr/bin/env python3
"""Sparse arrays: mxlite beside the real MXNet 1.9.1 and SciPy, with 1 and 2 threads.

    .venv/bin/python benchmarks/sparse.py --mxnet .venvs/mxnet/bin/python --scipy .venvs/array-api/bin/python

Every library has a process of its own, all alive at once, and each case is measured in turns; a share is the median of
those of one turn. Matrices are of float32, 1 % of their elements stored. `--only TEXT` measures the cases whose names
hold it. Ends with 1 where a share of the last table is above its bar.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

Case = Callable[[], Any]

ROWS, COLUMNS, WIDTH = 2000, 20000, 64
VOCABULARY, BATCH = 200_000, 4096
#: Seconds of one measurement, turns, and the largest shares of the peers' times.
SECONDS, TURNS = 0.05, 9
OF_MXNET, OF_SCIPY = 0.8, 1.0
NAMES = (
    "csr x dense",
    "csr' x dense",
    "csr x column",
    "dense x csr",
    "csr x dense, backward",
    "csr + csr",
    "csr * csr",
    "csr * dense",
    "csr * 2",
    "sin(csr)",
    "sum of rows",
    "sum of columns",
    "rows of csr",
    "slice of csr",
    "row_sparse + row_sparse",
    "row_sparse: retain",
)


def matrix(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices and indptr of a csr matrix: as many elements in each row, at random columns."""
    random = np.random.default_rng(seed)
    stored = COLUMNS // 100
    columns = np.sort(np.argsort(random.random((ROWS, COLUMNS)), axis=1)[:, :stored], axis=1)
    data = random.standard_normal(ROWS * stored).astype("f")
    return data, columns.ravel().astype("int64"), np.arange(ROWS + 1, dtype="int64") * stored


def dense(seed: int, *shape: int) -> np.ndarray:
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype("f")


def of_scipy() -> dict[str, Case]:
    """SciPy's calls; it has no arrays by rows, and no gradients."""
    sparse = importlib.import_module("scipy.sparse")
    a, b = (sparse.csr_matrix(matrix(seed), shape=(ROWS, COLUMNS)) for seed in (1, 2))
    right, left, flat = dense(3, COLUMNS, WIDTH), dense(4, ROWS, WIDTH), dense(5, COLUMNS, 1)
    turned, whole = dense(4, WIDTH, ROWS), dense(6, ROWS, COLUMNS)
    rows = np.random.default_rng(7).integers(0, ROWS, 500)
    return {
        "csr x dense": lambda: a @ right,
        "csr' x dense": lambda: a.T @ left,
        "csr x column": lambda: a @ flat,
        "dense x csr": lambda: turned @ a,
        "csr + csr": lambda: a + b,
        "csr * csr": lambda: a.multiply(b),
        "csr * dense": lambda: a.multiply(whole).tocsr(),
        "csr * 2": lambda: a * 2,
        "sin(csr)": a.sin,
        "sum of rows": lambda: a.sum(axis=1),
        "sum of columns": lambda: a.sum(axis=0),
        "rows of csr": lambda: a[rows],
        "slice of csr": lambda: a[200:1200],
    }


def of_mxnet(mx: Any) -> dict[str, Case]:
    """The calls of mxlite, and of the real one."""
    nd = mx.nd
    a, b = (nd.sparse.csr_matrix(matrix(seed), shape=(ROWS, COLUMNS), dtype="float32") for seed in (1, 2))
    right, left, flat = (nd.array(dense(*it)) for it in ((3, COLUMNS, WIDTH), (4, ROWS, WIDTH), (5, COLUMNS, 1)))
    turned, whole = nd.array(dense(4, WIDTH, ROWS)), nd.array(dense(6, ROWS, COLUMNS))
    random = np.random.default_rng(7)
    rows = nd.array(random.integers(0, ROWS, 500), dtype="int64")
    ids = [np.sort(random.permutation(VOCABULARY)[:BATCH]) for _ in range(2)]
    x, y = (
        nd.sparse.row_sparse_array((dense(8, BATCH, WIDTH), it), shape=(VOCABULARY, WIDTH), dtype="float32")
        for it in ids
    )
    kept = nd.array(ids[0][::2], dtype="int64")
    weight = nd.array(dense(3, COLUMNS, WIDTH)).tostype("row_sparse")
    weight.attach_grad(stype="row_sparse")

    def backward() -> Any:
        with mx.autograd.record():
            product = nd.sparse.dot(a, weight)
        product.backward()
        return weight.grad.data

    return {
        "csr x dense": lambda: nd.sparse.dot(a, right),
        "csr' x dense": lambda: nd.sparse.dot(a, left, transpose_a=True),
        "csr x column": lambda: nd.sparse.dot(a, flat),
        "dense x csr": lambda: nd.sparse.dot(turned, a),
        "csr x dense, backward": backward,
        "csr + csr": lambda: nd.elemwise_add(a, b),
        "csr * csr": lambda: nd.elemwise_mul(a, b),
        "csr * dense": lambda: nd.elemwise_mul(a, whole),
        "csr * 2": lambda: a * 2,
        "sin(csr)": lambda: nd.sin(a),
        "sum of rows": lambda: nd.sum(a, axis=1),
        "sum of columns": lambda: nd.sum(a, axis=0),
        "rows of csr": lambda: nd.take(a, rows),
        "slice of csr": lambda: nd.slice(a, begin=(200,), end=(1200,)),
        "row_sparse + row_sparse": lambda: nd.elemwise_add(x, y),
        "row_sparse: retain": lambda: nd.sparse.retain(x, kept),
    }


def seconds(call: Case, wait: Callable[[Any], Any]) -> float:
    """Of one call."""
    count, start = 0, time.perf_counter()
    while count < 3 or time.perf_counter() - start < SECONDS:
        wait(call())
        count += 1
    return (time.perf_counter() - start) / count


def work(name: str) -> None:
    """What the process of a peer does: nanoseconds of each case that it is asked for."""
    cases: dict[str, Case]
    wait: Callable[[Any], Any]
    if name == "scipy":
        cases, wait = of_scipy(), lambda result: None
    else:
        mx = importlib.import_module(name)
        cases, wait = of_mxnet(mx), lambda result: result.wait_to_read()
    for call in cases.values():
        wait(call())
    print("ready", flush=True)
    for line in sys.stdin:
        case = line.strip()
        print(seconds(cases[case], wait) * 1e9 if case in cases else "nan", flush=True)


def measured(peers: dict[str, str], threads: int, only: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Case, and of each library the microseconds; of peers the share that mxlite takes of theirs, too."""
    from process import Worker

    here = str(pathlib.Path(__file__).resolve())
    fallback = {"MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0", "PYTHONWARNINGS": "ignore"}
    workers = {
        name: Worker(name, [python, here, "--work", name], threads, **fallback) for name, python in peers.items()
    }
    for case in (name for name in NAMES if only in name):
        turns = [{name: worker.nanoseconds(case) for name, worker in workers.items()} for _ in range(TURNS)]
        row = {name: statistics.median(turn[name] for turn in turns) / 1000 for name in workers}
        for name in workers:
            row["/" + name] = statistics.median(turn["mxlite"] / turn[name] for turn in turns)
        yield case, row
    for worker in workers.values():
        worker.close()


def main() -> int:
    """Prints a table for each number of threads."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mxnet", help="a Python that has the real MXNet 1.9.1")
    parser.add_argument("--scipy", help="a Python that has SciPy")
    parser.add_argument("--torch", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument("--only", default="", help="a part of the names of cases")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work)
        return 0
    peers = {"mxlite": sys.executable}
    peers.update({name: vars(options)[name] for name in ("mxnet", "scipy") if vars(options)[name]})
    above, bars = 0, {"mxnet": OF_MXNET, "scipy": OF_SCIPY}
    for threads in (1, min(2, os.cpu_count() or 1)):
        above = 0
        print(f"| {threads} thread{'s'[: threads > 1]}, us | mxlite |" + "".join(f" {n} | share |" for n in bars))
        print("|---|--:|" + "--:|--:|" * len(bars))
        for case, row in measured(peers, threads, options.only):
            cells = ""
            for name, bar in bars.items():
                share = row.get("/" + name, float("nan"))
                above += share > bar
                cells += " | |" if share != share else f" {row[name]:.0f} | {'**' * (share > bar)}{share:.2f} |"
            print(f"| {case} | {row['mxlite']:.0f} |{cells}", flush=True)
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
