"""All 2^32 floats through every float32 function of one array; 2^24 pairs through those of two.

    python exhaustive.py EXACT.so RESULTS.json [--own] [NAME...]

The library at each vector level of this machine, NumPy and PyTorch compute in a process each; this one computes the
exact values and compares. What is new in the results, or has changed by a check sum, is added. `make accuracy-full`.
--own leaves out NumPy and PyTorch.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
from functions import FUNCTIONS, Function
from measure import Exact, Worst, levels, save
from worker import DRAWS, FIRST, PARTS, part_of

BLOCK = 1 << 20


class Worker:
    """A process that computes, with two slots for its results: one is written while the other is compared."""

    def __init__(self, who: str, level: str, folder: Path) -> None:
        self.name = f"{who} {level}".strip()
        path = folder / self.name
        path.write_bytes(b"")
        size = max(BLOCK, DRAWS + 1024)
        self.slots = np.memmap(path, np.float32, "w+", shape=(2, size))
        environment = {**os.environ, "MXLITE_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        if level:
            environment["MXLITE_VECTOR_LEVEL"] = level
        command = [sys.executable, str(Path(__file__).with_name("worker.py")), who, str(path), str(BLOCK)]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, number: int, part: int, slot: int) -> None:
        """Starts a part."""
        self.process.stdin.write(f"{number} {part} {slot}\n")
        self.process.stdin.flush()

    def results(self, slot: int) -> np.ndarray | None:
        """Waits for the part asked first, and returns its results."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended")
        return None if int(line) < 0 else self.slots[slot, : int(line)]


def check_sums(number: int, workers: list[Worker]) -> dict[str, int]:
    """Of each worker's results for the first part of the sample: by these a change is seen. None: no such function."""
    for worker in workers:
        worker.ask(number, FIRST, 0)
    found = {worker.name: worker.results(0) for worker in workers}
    return {name: zlib.crc32(got) for name, got in found.items() if got is not None}


def measure(exact: Exact, number: int, workers: list[Worker]) -> dict[str, dict]:
    """The worst of each worker."""
    function = FUNCTIONS[number]
    parts = PARTS if function.inputs == 2 else (1 << 32) // BLOCK
    found = {worker.name: Worst() for worker in workers}
    for worker in workers:
        worker.ask(number, 0, 0)
    for part in range(parts):
        if part + 1 < parts:
            for worker in workers:
                worker.ask(number, part + 1, (part + 1) % 2)
        arrays = part_of(function, part, BLOCK)
        values = exact.values(function, arrays)
        for worker in workers:
            found[worker.name].add(exact.compare(function, arrays, values, worker.results(part % 2)))
    return {name: asdict(worst) for name, worst in found.items()}


def same(results: dict, function: Function, sums: dict[str, int]) -> dict[str, dict] | None:
    """The rows of a function with the same reference and the same results, if they are known."""
    for other in FUNCTIONS:
        rows = results["float32"].get(other.name, {})
        if other.key == function.key and all(
            name in rows and rows[name]["all"] and rows[name]["crc"] == crc for name, crc in sums.items()
        ):
            return {name: rows[name] for name in sums}
    return None


def main() -> None:
    exact, path, names = Exact(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3:]
    own = "--own" in names
    names = [name for name in names if name != "--own"]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        workers = [Worker("mxlite", level, Path(folder)) for level in levels()]
        workers += [Worker(who, "", Path(folder)) for who in ("numpy", "torch") if not own]
        for number, function in enumerate(FUNCTIONS):
            if names and function.name not in names:
                continue
            results = json.loads(path.read_text()) if path.exists() else {}
            rows = results.setdefault("float32", {}).setdefault(function.name, {})
            sums = check_sums(number, workers)
            known = {name: row["crc"] for name, row in rows.items() if row["all"]}
            changed = [worker for worker in workers if sums.get(worker.name) != known.get(worker.name)]
            if not changed:
                continue
            start = time.monotonic()
            found = same(results, function, sums) or measure(exact, number, changed)
            rows.update({name: {**row, "all": True, "crc": sums[name]} for name, row in found.items()})
            save(results, path)
            worst = "  ".join(f"{name} {row['error']:.3f}" for name, row in found.items())
            print(f"{function.name:20s} {time.monotonic() - start:4.0f} s  {worst}", flush=True)
        for worker in workers:
            worker.process.stdin.close()
            worker.process.wait()


if __name__ == "__main__":
    main()
