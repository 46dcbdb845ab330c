"""What `x + y` of two 4 x 4 arrays costs from each language of bindings/, beside C and Python.

``make bench-bindings`` runs this. Every language has a process of its own (bindings/*/examples/cost.*, which
tools/bindings.sh builds and starts; c_add.c; worker.py), all of them on one core, and is asked in turns, so that a
ratio, the median of the ratios of one turn, does not see the machine's drift.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from page import fill
from process import Worker

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
CALLS = 10_000  # of one measurement
WARM_UP = 5  # measurements that do not count: compilers at run time need some


@dataclass(frozen=True)
class Row:
    """One way to add: what is run, and what frees the sum."""

    name: str
    how: str
    freed: str
    command: list[str]
    words: tuple[str, ...] = ()


def rows(args: argparse.Namespace, folder: str) -> list[Row]:
    def binding(language: str) -> list[str]:
        return ["sh", str(ROOT / "tools" / "bindings.sh"), "cost", language]

    python = [args.mxlite, "-W", "ignore", str(HERE / "worker.py"), "mxlite"]
    every = [
        Row("C", "`MXLCall2`", "`MXNDArrayFree`", [f"{folder}/c_add"]),
        Row("C, by name", "`MXImperativeInvokeEx`", "`MXNDArrayFree`", [f"{folder}/c_add", "name"]),
        Row("C++", "`x + y`", "end of scope", binding("cpp")),
        Row("Rust", "`&x + &y`", "end of scope", binding("rust")),
        Row("Lua", "`x + y`", "collector", binding("lua")),
        Row("Java", "`x.add(y)`", "`close()`", binding("java")),
        Row("Node.js", "`x.add(y)`", "`dispose()`", binding("node")),
        Row("Perl", "`$x + $y`", "last reference", binding("perl")),
        Row("Python, cffi", "`x + y`", "last reference", ["env", "MXLITE_BINDING=cffi", *python], ("add",)),
        Row("Python, ctypes", "`x + y`", "last reference", ["env", "MXLITE_BINDING=ctypes", *python], ("add",)),
    ]
    wanted = {name.strip() for name in args.only.split(",") if name.strip()}
    return [row for row in every if not wanted or row.name in wanted | {"C"}]


def build_c(args: argparse.Namespace, folder: str) -> None:
    cc = os.environ.get("CC", "cc").split()
    build = pathlib.Path(args.build).resolve()
    link = [f"-L{build}", "-lmxlite", f"-Wl,-rpath,{build}"]
    source = str(HERE / "c/c_add.c")
    subprocess.run([*cc, "-O2", f"-I{ROOT}/include", "-o", f"{folder}/c_add", source, *link], check=True)


def measure(every: list[Row], args: argparse.Namespace) -> dict[str, list[float]]:
    settings = {"BUILD": str(pathlib.Path(args.build).resolve()), "PYTHONPATH": str(ROOT)}
    settings["MXLITE_LIBRARY"] = str(pathlib.Path(args.build).resolve() / "libmxlite.so")
    workers = []
    for row in every:  # one after the other: some are built first
        workers.append((row, Worker(row.name, row.command, **settings)))
        print(f"{row.name}: {workers[-1][1].version}")
    times: dict[str, list[float]] = {row.name: [] for row in every}
    for turn in range(WARM_UP + args.rounds):
        for row, worker in workers:
            spent = worker.nanoseconds(*row.words, CALLS)
            if turn >= WARM_UP:
                times[row.name].append(spent)
    for _, worker in workers:
        worker.close()
    return times


def table(every: list[Row], times: dict[str, list[float]]) -> list[str]:
    lines = ["| language | call | the sum is freed by | ns | of C's |", "| --- | --- | --- | ---: | ---: |"]
    for row in every:
        share = statistics.median(a / b for a, b in zip(times[row.name], times["C"]))
        middle = statistics.median(times[row.name])
        lines.append(f"| {row.name} | {row.how} | {row.freed} | {middle:.0f} | {share:.1f} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxlite", default=sys.executable, help="interpreter that holds mxlite and NumPy")
    parser.add_argument("--build", default=str(ROOT / "build"), help="folder of libmxlite.so")
    parser.add_argument("--only", default="", help="names of rows, with commas; C is always among them")
    parser.add_argument("--rounds", type=int, default=41, help="turns")
    parser.add_argument("--page", type=pathlib.Path, help="bindings/README.md, to fill in the table of")
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # the workers inherit this, and the priority
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    with tempfile.TemporaryDirectory() as folder:
        build_c(args, folder)
        every = rows(args, folder)
        lines = table(every, measure(every, args))
    print("\n" + "\n".join(lines))
    if args.page:
        fill(args.page, "bindings.py", {"cost": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
