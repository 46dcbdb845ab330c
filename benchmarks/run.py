"""What one small operator costs: mxlite beside PyTorch, the real MXNet 1.9.1 and NumPy.

``make bench`` runs this with the interpreters that hold the peers. Every library has a process of its own;
each case is measured in turns, and a ratio is the median of the ratios of one turn: the machine's
speed drifts, but not within a turn. Results also go to benchmarks/out/small.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from process import Worker

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

# case -> the largest share of PyTorch's time allowed for mxlite over cffi
BARS = {
    "add": 0.25,
    "scalar": 0.25,
    "exp": 0.25,
    "sum": 0.4,
    "dot": 0.3,
    "reshape": 0.9,
    "slice": 0.25,
    "recorded add": 0.3,
    "recorded scalar": 0.3,
    "recorded exp": 0.3,
    "recorded sum": 0.4,
    "recorded dot": 0.3,
    "recorded reshape": 0.9,
    "recorded slice": 0.3,
    "chain forward": 0.3,
    "chain backward": 0.25,
}
C_BARS = {"add": 4.0, "add_recorded": 7.0}


def workers(args: argparse.Namespace) -> list[Worker]:
    def process(name: str, python: str, peer: str, **env: str) -> Worker:
        return Worker(name, [python, "-W", "ignore", str(HERE / "worker.py"), peer], **env)

    made = [
        process("mxlite", args.mxlite, "mxlite", MXLITE_BINDING="cffi"),
        process("mxlite ctypes", args.mxlite, "mxlite", MXLITE_BINDING="ctypes"),
        process("numpy", args.mxlite, "numpy"),
    ]
    made += [process("torch", args.torch, "torch")] if args.torch else []
    made += [process("mxnet", args.mxnet, "mxnet")] if args.mxnet else []
    return made


def rounds(case: str, peers: list[Worker], count: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {p.name: [] for p in peers}
    for p in peers:
        p.nanoseconds(case, 2000)
    for _ in range(count):
        for p in peers:
            slow = p.name == "mxnet"
            times[p.name].append(p.nanoseconds(case, 2000 if slow else 10000))
    return times


def run_python(args: argparse.Namespace) -> tuple[list[dict[str, object]], bool]:
    peers = workers(args)
    names = [p.name for p in peers]
    print("versions: " + ", ".join(f"{p.name} {p.version}" for p in peers))
    print("4 x 4 float32, one thread; us per operator, and mxlite's share of PyTorch's time\n")
    print(f"{'case':18}" + "".join(f"{name:>15}" for name in names) + f"{'ratio':>9}{'bar':>7}")
    rows: list[dict[str, object]] = []
    good = True
    for case, bar in BARS.items():
        times = rounds(case, peers, args.rounds)
        medians = {name: statistics.median(times[name]) / 1000 for name in names}
        ratio = math.nan
        if args.torch:
            ratio = statistics.median(a / b for a, b in zip(times["mxlite"], times["torch"]))
        verdict = "" if not ratio > bar else "  MISSED"
        good = good and not verdict
        rows.append({"case": case, "us": medians, "ratio": ratio, "bar": bar})
        print(f"{case:18}" + "".join(f"{medians[n]:15.3f}" for n in names) + f"{ratio:9.2f}{bar:7.2f}{verdict}")
    return rows, good


def run_c(args: argparse.Namespace) -> tuple[dict[str, dict[str, float]], bool]:
    """Builds c_call.c against the public header and the built library, and runs it."""
    cc = os.environ.get("CC", "cc").split()
    build = pathlib.Path(args.build).resolve()
    with tempfile.TemporaryDirectory() as folder:
        pairs, program = f"{folder}/libpairs.so", f"{folder}/c_call"
        subprocess.run([*cc, "-O2", "-shared", "-fPIC", "-o", pairs, str(HERE / "c/c_pairs.c")], check=True)
        link = [f"-L{folder}", f"-L{build}", "-lpairs", "-lmxlite", f"-Wl,-rpath,{folder}:{build}"]
        source = str(HERE / "c/c_call.c")
        subprocess.run([*cc, "-O2", f"-I{ROOT}/include", "-o", program, source, *link], check=True)
        runs = [json.loads(subprocess.run([program], check=True, capture_output=True).stdout) for _ in range(5)]
    result = {
        name: {key: statistics.median(run[name][key] for run in runs) for key in ("ns", "pairs_ns", "ratio")}
        for name in C_BARS
    }
    good = True
    print("\nthrough the C API, as a multiple of two malloc/free pairs of 64 bytes in a shared library")
    for name, bar in C_BARS.items():
        row = result[name]
        verdict = "" if row["ratio"] <= bar else "  MISSED"
        good = good and not verdict
        print(f"{name:18}{row['ns']:10.1f} ns {row['pairs_ns']:8.1f} ns{row['ratio']:9.2f}{bar:7.2f}{verdict}")
    return result, good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mxlite", default=sys.executable, help="interpreter that holds mxlite and NumPy")
    parser.add_argument("--torch", help="interpreter that holds PyTorch")
    parser.add_argument("--mxnet", help="interpreter that holds MXNet 1.9.1")
    parser.add_argument("--build", default=str(ROOT / "build"), help="where libmxlite.so was built")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    rows, good_python = run_python(args)
    c_rows, good_c = run_c(args)
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "small.json").write_text(json.dumps({"python": rows, "c": c_rows}, indent=1))
    print("\nevery bar is reached" if good_python and good_c else "\nsome bars are missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
