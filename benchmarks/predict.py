"""Predictions with whole networks: mxlite beside MXNet 1.9.1, PyTorch, ONNX Runtime and OpenVINO, in turns.

    python benchmarks/predict.py --engines PYTHON_WITH_ONNXRUNTIME_AND_OPENVINO [--torch PYTHON] [--mxnet PYTHON]
        [--threads 2] [--rounds 7] [--only TEXT] [--page docs/performance.md]

The networks (predict_networks.py) are written to benchmarks/out/predict once. Each engine has a process of its own
(predict_worker.py); a ratio is the median of the ratios within one round. OpenVINO computes in float32. The least times
are printed, the shares of the better of ONNX Runtime and OpenVINO held against the bars. `make bench` runs it.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

from page import fill
from process import Worker

HERE = pathlib.Path(__file__).resolve(strict=False).parent
OUT = HERE / "out" / "predict"


class Case(NamedTuple):
    """A network at a batch: predictions in one measurement, the largest share of the better engine's time."""

    name: str
    batch: int
    count: int
    bar: float


CASES = [
    Case("resnet18_v1", 1, 20, 0.95),
    Case("resnet18_v1", 8, 3, 0.95),
    Case("resnet50_v1", 1, 10, 0.95),
    Case("resnet50_v1", 8, 2, 0.95),
    Case("mobilenet_v2_1_0", 1, 60, 1.0),
    Case("mobilenet_v2_1_0", 8, 8, 1.0),
    Case("bert_128", 1, 4, 1.0),
    Case("bert_512", 1, 1, 1.0),
    Case("lstm", 1, 10, 0.9),
]
ENGINES = ("onnxruntime", "openvino")
PEERS = (*ENGINES, "mxnet", "torch", "compile")


def workers(args: argparse.Namespace) -> list[Worker]:
    """mxlite, and what interpreters are given for."""
    pythons = {"mxlite": sys.executable, "mxnet": args.mxnet, "torch": args.torch, "compile": args.torch}
    pythons.update(dict.fromkeys(ENGINES, args.engines))
    script = [str(HERE / "predict_worker.py")]
    return [
        Worker(name, [python, *script, name, str(OUT), str(args.threads)], args.threads)
        for name, python in pythons.items()
        if python and name not in args.without
    ]


def measure(case: Case, peers: list[Worker], rounds: int) -> dict[str, list[float]]:
    """Nanoseconds of a prediction, of each peer in each round. The first round is not counted."""
    times: dict[str, list[float]] = {peer.name: [] for peer in peers}
    for turn in range(rounds + 1):
        for peer in peers:
            found = peer.nanoseconds(f"{case.name} {case.batch} {case.count if turn else 1}")
            if turn:
                times[peer.name].append(found)
            time.sleep(0.02)  # spinning threads fall asleep
    return times


def shares(times: dict[str, list[float]]) -> dict[str, float]:
    """mxlite's time over each peer's: the median of the rounds."""
    return {
        name: statistics.median(own / other for own, other in zip(times["mxlite"], found))
        for name, found in times.items()
        if name != "mxlite"
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("engines", "torch", "mxnet", "page"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument("--without", nargs="*", default=[], help="peers that are left out")
    args = parser.parse_args()
    subprocess.run([sys.executable, str(HERE / "predict_networks.py"), str(OUT)], check=True)
    peers = workers(args)
    rows, slow = [], 0
    for case in CASES:
        if args.only not in f"{case.name} {case.batch}":
            continue
        times = measure(case, peers, args.rounds)
        share = shares(times)
        better = max((share[name] for name in ENGINES if name in share), default=0.0)
        slow += better > case.bar
        row = [f"{case.name}, batch {case.batch}", f"{min(times['mxlite']) / 1e6:.2f}"]
        row += [f"{share[name]:.2f}" for name in PEERS if name in share]
        print(*row, "" if better <= case.bar else f"above {case.bar}", sep="  ", flush=True)
        rows.append(row)
    for peer in peers:
        peer.close()
    if args.page:
        names = [peer.name for peer in peers]
        titles = ["network", "ms", *(f"of {name}" for name in PEERS if name in names)]
        lines = ["| " + " | ".join(row) + " |" for row in [titles, ["---"] * len(titles), *rows]]
        fill(pathlib.Path(args.page), "predict.py", {"predictions": lines})
    return slow > 0


if __name__ == "__main__":
    raise SystemExit(main())
