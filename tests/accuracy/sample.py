"""The sample: functions at some float32 arguments, and at the float64 arguments of a file, which also says which.

    python sample.py FILE.npz EXACT.so COUNT [WHO]

prints JSON, {name: {"float32": {error, at, wrong, wrong_at, crc}, "float64": ...}}: what WHO ("mxlite",
at the vector level in force; "numpy"; "torch") is off.
make_page.py runs it at every level.
"""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from functions import FUNCTIONS, Function
from measure import Exact, Worst, compare64, compute, floats, pairs, values64
from worker import DRAWS


def sample32(exact: Exact, function: Function, count: int, who: str) -> dict[str, Any] | None:
    """The worst of `count` drawn floats and the edges, and a check sum of the first part of the results."""
    worst, crc = Worst(), 0
    for seed in range((count + DRAWS - 1) // DRAWS):
        size = min(count, DRAWS)
        arrays = pairs(function, seed, size, np.float32) if function.inputs == 2 else [floats(seed, size)]
        got = compute(who, function, arrays)
        if got is None:
            return None
        crc = zlib.crc32(got) if seed == 0 else crc
        worst.add(exact.compare(function, arrays, exact.values(function, arrays), got))
    return {**asdict(worst), "crc": crc}


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
        if f"{function.key}/x" not in table:
            continue
        small, large = sample32(exact, function, count, who), sample64(table, function, who)
        if small is None or large is None:
            continue
        found[function.name] = {"float32": small, "float64": asdict(large)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
