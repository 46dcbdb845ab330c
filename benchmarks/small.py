#!/usr/bin/env python3
"""Small calls from Python: 4 x 4 float32 arrays of mx.nd and mxlite.torch beside NumPy's and PyTorch's, in one process.

    taskset -c 1 .venv/bin/python benchmarks/small.py --torch .venvs/peers/lib/python3.11/site-packages

Each number is the least of many short loops; the libraries take turns, so that a drift of the machine's speed meets all
of them. `--torch` names the folder that PyTorch is in; without it its columns are empty. MXLITE_BINDING and
MXLITE_LIBRARY choose the binding and the library. The recorded rows have an operand that wants a gradient.
"""

from __future__ import annotations

import argparse
import gc
import sys
import timeit
from typing import Any

import numpy as np

import mxlite as mx
import mxlite.torch

CALLS = {
    "x + y": "x + y",
    "x * s": "x * s",
    "s - x": "s - x",
    "x += y": "z = t; z += y",
    "-x": "-x",
    "x < y": "x < y",
    "exp(x)": "exp(x)",
    "x[1:3]": "x[1:3]",
    "x[i:j]": "x[i:j]",
    "x[1]": "x[1]",
}
RECORDED = ("x + y", "x * s", "s - x", "-x", "exp(x)", "x[1:3]", "x[1]")
LOOPS, TURNS = 4000, 40


def timers(exp: Any, x: Any, y: Any) -> dict[str, timeit.Timer]:
    """A timer for each call; `exp` is that of the library."""
    scope = {"exp": exp, "x": x, "y": y, "t": x * 1.0, "s": 1.5, "i": 1, "j": 3}
    timers = {}
    for label, text in CALLS.items():
        timers[label] = timeit.Timer(text, globals=scope)
    return timers


def measure(torch: Any) -> dict[str, dict[str, float]]:
    """Library -> call -> nanoseconds."""
    values = np.random.default_rng(1).random((4, 4), dtype=np.float32)
    lite = mxlite.torch
    libraries = {
        "mx.nd": timers(mx.nd.exp, mx.nd.array(values), mx.nd.array(values)),
        "mxlite.torch": timers(lite.exp, lite.tensor(values), lite.tensor(values)),
        "numpy": timers(np.exp, values.copy(), values.copy()),
    }
    variable = mx.nd.array(values)
    variable.attach_grad()
    recorded = {"mx.nd": timers(mx.nd.exp, variable, mx.nd.array(values))}
    recorded["mxlite.torch"] = timers(lite.exp, lite.tensor(values, requires_grad=True), lite.tensor(values))
    if torch is not None:
        libraries["torch"] = timers(torch.exp, torch.tensor(values), torch.tensor(values))
        recorded["torch"] = timers(torch.exp, torch.tensor(values, requires_grad=True), torch.tensor(values))
    found: dict[str, dict[str, float]] = {name: {} for name in libraries}

    def run(timer: timeit.Timer, name: str, label: str) -> None:
        found[name][label] = min(found[name].get(label, 1e9), timer.timeit(LOOPS) / LOOPS * 1e9)

    for _ in range(TURNS):
        for label in CALLS:
            for name, table in libraries.items():
                run(table[label], name, label)
        for label in RECORDED:
            for name, table in recorded.items():
                with mx.autograd.record():
                    run(table[label], name, f"{label}, recorded")
    return found


def main() -> None:
    """Prints a line for each call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", metavar="FOLDER", help="the site-packages that PyTorch is in")
    options = parser.parse_args()
    torch = None
    if options.torch:
        sys.path.append(options.torch)
        import torch

        torch.set_num_threads(1)
    gc.disable()
    found = measure(torch)
    numpy, peer = found["numpy"], found.get("torch", {})
    print(f"{'4 x 4, ns':24s} {'NumPy':>6s} {'torch':>6s}   mx.nd  of each       mxlite.torch  of each")
    for label in found["mx.nd"]:
        line = f"{label:24s} {numpy.get(label, 0):6.0f} {peer.get(label, 0):6.0f}"
        for name in ("mx.nd", "mxlite.torch"):
            own = found[name][label]
            ratios = [f"{own / known[label]:5.2f}" if label in known else "    -" for known in (numpy, peer)]
            line += f"   {own:6.0f} {' '.join(ratios)}"
        print(line)


if __name__ == "__main__":
    main()
