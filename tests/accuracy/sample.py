"""The sample: every function at some float32 arguments, and at the float64 arguments of a file.

    python sample.py FILE.npz EXACT.so COUNT [WHO]

prints JSON, {name: {"float32": {error, at, wrong, wrong_at}, "float64": ...}}: what WHO ("mxlite",
at the vector level in force; "numpy"; "torch") is off.
make_page.py runs it at every level.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from functions import FUNCTIONS, Function
from measure import Exact, Worst, compare64, compute, floats, pairs, values64

BLOCK = 1 << 20


def sample32(exact: Exact, function: Function, count: int, who: str) -> Worst | None:
    """The worst of `count` drawn floats and the edges."""
    worst = Worst()
    for seed in range((count + BLOCK - 1) // BLOCK):
        size = min(count, BLOCK)
        arrays = pairs(function, seed, size, np.float32) if function.inputs == 2 else [floats(seed, size)]
        got = compute(who, function, arrays)
        if got is None:
            return None
        worst.add(exact.compare(function, arrays, exact.values(function, arrays), got))
    return worst


def sample64(table: Any, function: Function, who: str) -> Worst | None:
    """The worst of the arguments of the table."""
    arrays = [table[f"{function.key}/{name}"] for name in "xy"[: function.inputs]]
    got = compute(who, function, arrays)
    if got is None:
        return None
    return compare64(function, arrays, *values64(table, function), got)


def main() -> None:
    table, exact, count = np.load(sys.argv[1]), Exact(Path(sys.argv[2])), int(sys.argv[3])
    who = sys.argv[4] if len(sys.argv) > 4 else "mxlite"
    found = {}
    for function in FUNCTIONS:
        small, large = sample32(exact, function, count, who), sample64(table, function, who)
        if small is None or large is None:
            continue
        found[function.name] = {"float32": asdict(small), "float64": asdict(large)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
