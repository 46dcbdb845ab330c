"""Large arrays: mxlite beside PyTorch, the real MXNet 1.9.1, NumPy and plain C loops, with 1 and 2 threads.

``make bench`` runs this after run.py. Every library has a process of its own for each number of threads; all are alive
at once and each case is measured in turns, so that a ratio, the median of the ratios of one turn, does not see the
machine's drift. The cases are the table in large_worker.py. Results also go to benchmarks/out/large.json.

One case, for a build that lies elsewhere, beside an older one:

    benchmarks/large.py --only '^sort' --library /tmp/b/libmxlite.so --old build/libmxlite.so --torch ... --mxnet ...
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Callable

import large_worker
from large_worker import Case
from page import fill
from process import Worker

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# What issue 5 asks for: the largest share of the other's time.
OF_TORCH, OF_TORCH_MEDIAN, OF_MXNET, OF_PRODUCT, OF_ONE_THREAD = 1.1, 0.8, 1.0, 1 / 0.95, 1.05
FRESH_MEMORY = ("add", "exp", "tanh", "sigmoid")  # at 1e7 with 2 threads:
OF_TORCH_FRESH = 0.45

LEAST_SECONDS = 0.010  # of one measurement, and at least LEAST_CALLS calls of what is not slow
LEAST_CALLS = 3
SLOW_CALL = 0.1
LEAST_TURNS = 3

Rates = dict[str, dict[str, float]]  # by a number of threads: a figure of the machine, or of all of a table


@dataclass(frozen=True)
class Table:
    """What a program of this kind measures: this one large arrays, layers.py layers and networks.

    Args:
        name: Of the program (NAME.py), of its worker (NAME_worker.py) and of the results (out/NAME.json).
        title: The first word or two that it prints.
        cases: Those of the worker.
        bars: Of a row: the largest share of each peer's time.
        median: The bar of the median of all shares of PyTorch's time.
        rooms: Of the machine's rates and the rows: the lines of each room of the page.
        peers: Of args.peers, those that there are.
        brief: Peers that need not be known as well: they have LEAST_TURNS turns in all cases but products.
        seconds: Of a case: turns end when they are over and there were at least LEAST_TURNS.
    """

    name: str
    title: str
    cases: list[Case]
    bars: Callable[[Row], dict[str, float]]
    median: float
    rooms: Callable[[Rates, list[Row]], dict[str, list[str]]]
    peers: str
    brief: frozenset[str] = frozenset()
    seconds: float = 0.7


def start(args: argparse.Namespace, folder: str) -> list[Worker]:
    script = [str(HERE / f"{args.table.name}_worker.py")]
    trees = {"PYTHONPATH": str(ROOT)}
    libraries = {"mxlite": args.library, "old": args.old}
    made = []
    for threads in args.threads:
        for name, library in libraries.items():
            if name in args.peers and (library or name == "mxlite"):
                env = dict(trees, **({"MXLITE_LIBRARY": os.path.abspath(library)} if library else {}))
                made.append(Worker(name, [args.mxlite, *script, "mxlite", str(threads)], threads, **env))
        for name, python in (("torch", args.torch), ("mxnet", args.mxnet), ("numpy", args.mxlite)):
            if name in args.peers and python:
                made.append(Worker(name, [python, "-W", "ignore", *script, name, str(threads)], threads))
        if "floor" in args.peers:
            made.append(Worker("floor", [f"{folder}/floor", str(threads)], threads))
    return made


def build_floor(folder: str) -> None:
    cc = os.environ.get("CC", "cc").split()
    flags = ["-std=gnu17", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-pthread"]
    subprocess.run([*cc, *flags, "-o", f"{folder}/floor", str(HERE / "c/floor.c"), "-lm"], check=True)


@dataclass(eq=False)
class Row:
    """One case at one size with one number of threads. Ratios are of mxlite's time to the other's."""

    case: str
    size: int
    threads: int
    product: bool
    ms: dict[str, float]
    ratios: dict[str, float]
    misses: list[str] = field(default_factory=list)

    def judge(self, bars: dict[str, float]) -> None:
        for name, bar in bars.items():
            if self.ratios.get(name, 0.0) > bar:
                self.misses.append(f"{name} {self.ratios[name]:.2f} > {bar:.2f}")


def bars_of(row: Row) -> dict[str, float]:
    bars = {"mxnet": OF_MXNET, "torch": OF_TORCH, "1 thread": OF_ONE_THREAD}
    if row.product:
        bars["torch"] = bars["numpy"] = OF_PRODUCT
    if row.case in FRESH_MEMORY and row.size == 10_000_000 and row.threads == 2:
        bars["torch"] = OF_TORCH_FRESH
    return bars


def ratio(mine: list[float], other: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(mine, other))


def calls(ask: Callable[[int], float]) -> int:
    """How many make a measurement; 0 where the library does not have the case."""
    guess = ask(1)
    for _ in range(2):  # the first ones may have found threads asleep, or both on one processor
        if guess < LEAST_SECONDS:
            guess = min(guess, ask(math.ceil(LEAST_SECONDS / 2 / guess)))
    if math.isnan(guess):
        return 0
    return max(LEAST_CALLS if guess < SLOW_CALL else 1, math.ceil(LEAST_SECONDS / guess))


def measure(case: Case, size: int, workers: list[Worker], args: argparse.Namespace) -> list[Row]:
    def ask(w: Worker, count: int) -> float:
        if w.name != "floor":
            return w.nanoseconds(case.name, size, count) / 1e9
        length = size or math.prod(case.inputs.get("a", (large_worker.STEPS * large_worker.STEP_LENGTH,)))
        return w.nanoseconds(case.floor or "-", length, count) / 1e9

    counts = {w: calls(lambda count, w=w: ask(w, count)) for w in workers}
    counts = {w: count for w, count in counts.items() if count}
    times: dict[tuple[str, int], list[float]] = {(w.name, w.threads): [] for w in counts}
    begin = time.monotonic()
    for done in range(args.rounds):
        if done >= LEAST_TURNS and time.monotonic() - begin > args.table.seconds:
            break
        for w, count in counts.items():
            if done >= LEAST_TURNS and w.name in args.table.brief and not case.product:
                continue
            times[w.name, w.threads].append(ask(w, count))
    rows = []
    for threads in args.threads:
        mine = times["mxlite", threads]
        others = {name: t for (name, n), t in times.items() if n == threads}
        row = Row(case.name, size, threads, case.product, {}, {})
        row.ms = {name: statistics.median(t) * 1e3 for name, t in others.items()}
        row.ratios = {name: ratio(mine, t) for name, t in others.items() if name != "mxlite"}
        if threads > 1 and 1 in args.threads:
            row.ratios["1 thread"] = ratio(mine, times["mxlite", 1])
        row.judge(args.table.bars(row))
        rows.append(row)
    return rows


# ---- the tables ----

COLUMNS = {"mxlite": "mxlite", "old": "old", "torch": "torch", "mxnet": "mxnet", "numpy": "numpy", "floor": "C loop"}
SHARES = {"old": "/old", "torch": "/torch", "mxnet": "/mxnet", "numpy": "/numpy", "1 thread": "/1 thr"}


def sized(row: Row) -> str:
    return f"{row.case} 1e{round(math.log10(row.size))}" if row.size else row.case


def shown(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def cells(row: Row, args: argparse.Namespace) -> list[str]:
    found = [shown(row.ms.get(name), 4) for name in COLUMNS if name in args.columns]
    found += [shown(row.ratios.get(name), 2) for name in SHARES if name in args.columns]
    return found


def heads(args: argparse.Namespace) -> list[str]:
    found = [COLUMNS[name] for name in COLUMNS if name in args.columns]
    return found + [SHARES[name] for name in SHARES if name in args.columns]


def print_row(row: Row, args: argparse.Namespace) -> None:
    line = f"{sized(row):{args.width}}{row.threads:3}" + "".join(f"{cell:>10}" for cell in cells(row, args))
    print(line + ("  MISSED " + ", ".join(row.misses) if row.misses else ""), flush=True)


def named(row: Row) -> str:
    return f"**{sized(row)}**" if row.misses else sized(row)


def table(rows: list[Row]) -> list[str]:
    """A line of Markdown for each case: with 1 thread, with 2, and the loop of floor.c if it was measured."""
    floor = any("floor" in row.ms for row in rows)
    lines = [
        "| case | 1: ms | of PyTorch | of MXNet | 2: ms | of PyTorch | of MXNet | of 1 thread |" + " C loop |" * floor,
        "|---|" + "--:|" * (7 + floor),
    ]
    pairs: dict[str, dict[int, Row]] = {}
    for row in rows:
        pairs.setdefault(sized(row), {})[row.threads] = row
    for pair in pairs.values():
        texts = [named(max(pair.values(), key=lambda row: len(row.misses)))]
        for threads in (1, 2):
            row = pair.get(threads, Row("", 0, threads, False, {}, {}))
            texts.append(shown(row.ms.get("mxlite"), 4))
            texts += [shown(row.ratios.get(name), 2) for name in ("torch", "mxnet")]
        texts += [shown(row.ratios.get("1 thread"), 2), *[shown(row.ms.get("floor"), 4)] * floor]
        lines.append("| " + " | ".join(texts) + " |")
    return lines


def bar_line(what: str, name: str, bar: float, rows: list[Row]) -> str:
    """A line of Markdown: how many of the rows are within a bar, and the worst."""
    shares = {row: row.ratios[name] for row in rows if name in row.ratios}
    if not shares:
        return f"| {what} | {bar:.2f} | not measured | |"
    worst = max(shares, key=lambda row: shares[row])
    within = sum(share <= bar for share in shares.values())
    text = f"{within} of {len(shares)}"
    return f"| {what} | {bar:.2f} | {text} | {shares[worst]:.2f}: {sized(worst)}, threads: {worst.threads} |"


def median_line(what: str, name: str, bar: float, rows: list[Row]) -> str:
    shares = [row.ratios[name] for row in rows if name in row.ratios]
    return (
        f"| {what}, median | {bar:.2f} | " + (f"{statistics.median(shares):.2f}" if shares else "not measured") + " | |"
    )


BARS_HEAD = ["| mxlite's time | bar | within it | worst |", "|---|--:|--:|---|"]


def reached(rows: list[Row]) -> list[str]:
    """A line of Markdown for each bar."""
    fresh = [r for r in rows if r.case in FRESH_MEMORY and r.size == 10_000_000 and r.threads == 2]
    products = [r for r in rows if r.product]
    return [
        *BARS_HEAD,
        bar_line("of MXNet 1.9.1's", "mxnet", OF_MXNET, rows),
        bar_line("of PyTorch's", "torch", OF_TORCH, rows),
        median_line("of PyTorch's", "torch", OF_TORCH_MEDIAN, rows),
        bar_line("of PyTorch's, add, exp, tanh, sigmoid 1e7, 2 threads", "torch", OF_TORCH_FRESH, fresh),
        bar_line("of PyTorch's, products", "torch", OF_PRODUCT, products),
        bar_line("of NumPy's, products", "numpy", OF_PRODUCT, products),
        bar_line("of its own with 1 thread", "1 thread", OF_ONE_THREAD, rows),
    ]


def rooms(rates: Rates, rows: list[Row]) -> dict[str, list[str]]:
    machine = [f"- {n} threads: " + ", ".join(f"{v:.1f} {k}" for k, v in r.items()) for n, r in rates.items()]
    return {"machine": machine, "bars": reached(rows), "cases": table(rows)}


def summary(rows: list[Row], median: float) -> str:
    shares = [row.ratios["torch"] for row in rows if "torch" in row.ratios]
    if not shares:
        return ""
    middle = statistics.median(shares)
    missed = [row for row in rows if row.misses]
    text = (
        f"{len(rows)} rows, {len(rows) - len(missed)} of them within every bar; of PyTorch's time: median {middle:.2f}"
    )
    return text + f" (bar {median}), worst {max(shares):.2f}, best {min(shares):.2f}"


def machine(workers: list[Worker]) -> Rates:
    """GB/s of copying and of a = b + s * c through memory, GFLOP/s of multiplications with addition in registers."""
    found: Rates = {}
    for w in workers:
        if w.name == "floor":
            n, n_fma = 10_000_000, 100_000_000
            best = {
                key: min(w.nanoseconds(loop, size, 5) for _ in range(5)) / 1e9
                for key, loop, size in (
                    ("copy GB/s", "copy", n),
                    ("triad GB/s", "triad", n),
                    ("float32 GFLOP/s", "fma32", n_fma),
                    ("float64 GFLOP/s", "fma64", n_fma),
                )
            }
            work = {"copy GB/s": 8 * n, "triad GB/s": 12 * n}
            found[str(w.threads)] = {key: work.get(key, 2 * n_fma) / s / 1e9 for key, s in best.items()}
    return found


LARGE = Table(
    "large",
    "large arrays",
    large_worker.CASES,
    bars_of,
    OF_TORCH_MEDIAN,
    rooms,
    "mxlite,old,torch,mxnet,numpy,floor",
    frozenset({"mxnet", "numpy", "floor"}),
)


def arguments(table: Table, about: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxlite", default=sys.executable, help="interpreter that holds NumPy, for mxlite")
    parser.add_argument("--library", help="libmxlite.so to measure (default: the one of this tree)")
    parser.add_argument("--old", help="another libmxlite.so, measured beside it")
    parser.add_argument("--torch", help="interpreter that holds PyTorch")
    parser.add_argument("--mxnet", help="interpreter that holds MXNet 1.9.1")
    parser.add_argument("--peers", default=table.peers, help=f"which to run, with commas (default: {table.peers})")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cases whose name (add 1e5) matches")
    parser.add_argument("--sizes", help="of the cases with sizes, with commas: 1e5,1e7")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=9, help="turns of a case (fewer where calls are long)")
    parser.add_argument("--page", type=pathlib.Path, help="docs/performance.md, to fill in the tables of")
    parser.add_argument("--read", nargs="*", default=[], help="results of earlier runs, instead of measuring")
    parser.add_argument("--out", default=str(HERE / "out" / f"{table.name}.json"))
    args = parser.parse_args()
    args.table = table
    args.peers = set(args.peers.split(",")) | {"mxlite"}
    args.threads = [int(n) for n in args.threads.split(",")]
    args.sizes = [int(float(n)) for n in args.sizes.split(",")] if args.sizes else None
    args.width = 4 + max(len(case.name) + (4 if case.sizes != (0,) else 0) for case in table.cases)
    return args


def run(args: argparse.Namespace) -> tuple[Rates, list[Row]]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        if "floor" in args.peers:
            build_floor(folder)
        workers = start(args, folder)
        args.columns = {w.name for w in workers} | ({"1 thread"} if len(args.threads) > 1 else set())
        versions = ", ".join(f"{w.name} {w.version}" for w in workers if w.threads == args.threads[0])
        print(f"{args.table.title}: {versions}")
        rates = machine(workers)
        for threads, found in rates.items():
            print(f"the machine, {threads} threads: " + ", ".join(f"{v:.1f} {k}" for k, v in found.items()))
        print("ms of a call, and mxlite's share of the other's time\n")
        print(f"{'case':{args.width}}thr" + "".join(f"{head:>10}" for head in heads(args)))
        for case in args.table.cases:
            for size in case.sizes if case.sizes == (0,) or not args.sizes else args.sizes:
                if re.search(args.only, sized(Row(case.name, size, 0, False, {}, {}))):
                    for row in measure(case, size, workers, args):
                        rows.append(row)
                        print_row(row, args)
        for w in workers:
            w.close()
    return rates, rows


def main(table: Table = LARGE, about: str | None = __doc__, more: Callable[..., Rates] | None = None) -> int:
    """The program of a table. `more` of the arguments are figures that are kept with the rows, beside the machine's."""
    args = arguments(table, about)
    # What else the machine does shall not stop one of two threads that wait for each other; the workers inherit this.
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    if args.read:
        found = [json.loads(pathlib.Path(name).read_text()) for name in args.read]
        rates, rows = found[0]["machine"], [Row(**row) for each in found for row in each["rows"]]
    else:
        rates, rows = run(args)
        if more is not None:
            rates |= more(args)
        out = pathlib.Path(args.out)
        out.parent.mkdir(exist_ok=True)
        out.write_text(json.dumps({"machine": rates, "rows": [vars(row) for row in rows]}, indent=1))
    if args.page:
        fill(args.page, f"{table.name}.py", table.rooms(rates, rows))
    print("\n" + summary(rows, table.median))
    return 0


if __name__ == "__main__":
    sys.exit(main())
