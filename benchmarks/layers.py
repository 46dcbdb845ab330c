"""Layers and whole training steps: mxlite beside PyTorch and the real MXNet 1.9.1, with 1 and 2 threads.

``make bench`` runs this after large.py, which measures, and whose arguments it has. The cases are the table in
layers_worker.py; the networks stand in networks_mx.py and networks_gluon.py, the same text for mxlite and MXNet, and in
networks_torch.py.
Results also go to benchmarks/out/layers.json.
"""

from __future__ import annotations

import argparse
import re
import sys

from large import BARS_HEAD, Rates, Row, Table, bar_line, main, median_line, start, table
from layers_worker import CASES, GLUON, RESNET

# What issue 17 asks for: the largest share of the other's time, and of PyTorch's peak memory.
OF_MXNET, OF_TORCH, OF_TORCH_MEDIAN, OF_TORCH_MEMORY = 1.0, 1.1, 0.85, 1.0
# And of training with Gluon, where MXNet's networks are hybridized.
GLUON_OF_MXNET, GLUON_OF_TORCH = 0.9, 1.05
MEMORY_STEPS = 5


def bars_of(row: Row) -> dict[str, float]:
    if row.case.startswith(GLUON):
        return {"mxnet": GLUON_OF_MXNET, "torch": GLUON_OF_TORCH}
    return {"mxnet": OF_MXNET, "torch": OF_TORCH}


def peak_memory(args: argparse.Namespace) -> Rates:
    """MB that a fresh process of each library holds at most during the first steps of ResNet-18."""
    found: Rates = {}
    if not re.search(args.only, RESNET.name):
        return found
    for worker in start(args, ""):
        worker.nanoseconds(RESNET.name, 0, MEMORY_STEPS)
        found.setdefault(str(worker.threads), {})[worker.name] = worker.peak()
        worker.close()
    for threads, megabytes in found.items():
        missed = megabytes["mxlite"] > OF_TORCH_MEMORY * megabytes.get("torch", float("inf"))
        text = ", ".join(f"{name} {value:.0f} MB" for name, value in megabytes.items())
        print(f"peak memory of {RESNET.name}, {threads} threads: {text}" + "  MISSED" * missed)
    return found


def memory_lines(peaks: Rates) -> list[str]:
    """A line of Markdown for each number of threads."""

    def line(threads: str, own: float, peer: float) -> str:
        share = own / peer
        figures = f"{share:.2f}: {own:.0f} of {peer:.0f} MB"
        within = "yes" if share <= OF_TORCH_MEMORY else "no"
        return (
            f"| of PyTorch's memory, {RESNET.name} | {OF_TORCH_MEMORY:.2f} | {within} | {figures}, threads: {threads} |"
        )

    return [line(n, peak["mxlite"], peak["torch"]) for n, peak in peaks.items() if "torch" in peak]


def rooms(peaks: Rates, rows: list[Row]) -> dict[str, list[str]]:
    gluon = [row for row in rows if row.case.startswith(GLUON)]
    layers = [row for row in rows if row not in gluon]
    bars = [
        *BARS_HEAD,
        bar_line("of MXNet 1.9.1's", "mxnet", OF_MXNET, layers),
        bar_line("of PyTorch's", "torch", OF_TORCH, layers),
        median_line("of PyTorch's", "torch", OF_TORCH_MEDIAN, layers),
        median_line("of MXNet 1.9.1's", "mxnet", OF_TORCH_MEDIAN, layers),
        *memory_lines(peaks),
    ]
    gluon_bars = [
        *BARS_HEAD,
        bar_line("of MXNet 1.9.1's", "mxnet", GLUON_OF_MXNET, gluon),
        bar_line("of PyTorch's", "torch", GLUON_OF_TORCH, gluon),
    ]
    return {"bars of layers": bars, "layers": table(layers), "bars of gluon": gluon_bars, "gluon": table(gluon)}


LAYERS = Table("layers", "layers", CASES, bars_of, OF_TORCH_MEDIAN, rooms, "mxlite,old,torch,mxnet", seconds=3.0)

if __name__ == "__main__":
    sys.exit(main(LAYERS, __doc__, peak_memory))
