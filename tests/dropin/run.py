"""Apache's package mxnet 1.9.1 on mxlite's library beside the same package on its own: `make test-dropin`.

Two processes answer the same checks (checks/*.py), and this one compares the answers: arrays by tolerances, errors by
class. A process that dies is started again behind the check that killed it, which has failed. 1.9.1's own is asked that
check up to three times more first: it ends now and then in a thread of its LibSVMIter.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from differences import DIFFERENCES

HERE = Path(__file__).resolve().parent
MINUTES = 15
TRIES = 4  # of 1.9.1 itself at one check


class Side:
    """One process, and its answers: name -> (its check, its answer)."""

    def __init__(self, title: str, library: str, name: str, folder: str) -> None:
        self.title, self.library, self.name = title, library, name
        self.path = Path(folder) / title
        self.answers: dict[str, tuple[Any, Any]] = {}
        self.deaths: Counter[int] = Counter()  # by the number of the check
        self.start(0)

    def start(self, first: int) -> None:
        self.path.write_bytes(b"")
        environment = {**os.environ, "MXNET_LIBRARY_PATH": self.library, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0"}
        command = [sys.executable, "-W", "ignore", str(HERE / "answer.py"), str(self.path)]
        self.errors = self.path.with_suffix(".err").open("w+")
        self.process = subprocess.Popen(
            [*command, "--from", str(first), "--name", self.name],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
        )

    def finish(self) -> None:
        """Waits for all answers."""
        while True:
            try:
                code = self.process.wait(MINUTES * 60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                code = self.process.wait()
            pending = self.read()
            self.errors.seek(0)
            tail = self.errors.read()[-2000:]
            if pending is None:
                if code != 0:
                    print(f"{self.title}: ended with {code}\n{tail}")
                    self.answers["(the end of the process)"] = ((0, "", 0, 0), ("error", "end", str(code)))
                return
            print(f"{self.title}: {pending[1]}: the process ended with {code}\n{tail}")
            self.deaths[pending[0]] += 1
            if not self.library and self.deaths[pending[0]] < TRIES:
                self.start(pending[0])
                continue
            self.answers[pending[1]] = (pending, ("error", f"end of the process ({code})", ""))
            self.start(pending[0] + 1)

    def read(self) -> Any:
        """Takes what the process wrote; the check that it did not answer."""
        with self.path.open("rb") as file:
            while True:
                try:
                    one = pickle.load(file)
                except EOFError:
                    return None
                try:
                    self.answers[one[1]] = (one, pickle.load(file))
                except EOFError:
                    return one


def difference(ours: Any, theirs: Any, rtol: float, atol: float, where: str = "") -> str:
    """Where two answers differ, or nothing."""
    if isinstance(theirs, (list, dict)) and type(ours) is type(theirs):
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} items, not {len(theirs)}"
        if isinstance(theirs, dict):
            if set(ours) != set(theirs):
                return f"{where}: keys {list(ours)}, not {list(theirs)}"
            pairs = [(key, ours[key], theirs[key]) for key in theirs]
        else:
            pairs = [(i, *pair) for i, pair in enumerate(zip(ours, theirs))]
        found = (difference(a, b, rtol, atol, f"{where}[{key}]") for key, a, b in pairs)
        return next((text for text in found if text), "")
    if type(ours) is not type(theirs):
        return f"{where}: {short(ours)} ({type(ours).__name__}), not {short(theirs)} ({type(theirs).__name__})"
    if isinstance(theirs, (np.ndarray, np.generic, float)):
        a, b = np.asarray(ours), np.asarray(theirs)
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{where}: {a.dtype}{a.shape}, not {b.dtype}{b.shape}"
        if a.dtype.kind in "fc":
            loose = 100 if a.dtype == np.float16 else 1
            if not np.allclose(a.astype("float64"), b.astype("float64"), rtol * loose, atol * loose, equal_nan=True):
                return f"{where}: {short(ours)}, not {short(theirs)}"
            return ""
        return "" if np.array_equal(a, b) else f"{where}: {short(ours)}, not {short(theirs)}"
    return "" if ours == theirs else f"{where}: {short(ours)}, not {short(theirs)}"


def short(answer: Any) -> str:
    text = " ".join(repr(answer).split())
    return text if len(text) < 200 else text[:200] + "..."


def compare(one: Any, ours: Any, theirs: Any) -> str:
    if ours[0] != theirs[0]:
        return f"{short(ours)}, not {short(theirs)}"
    if ours[0] == "error":
        return "" if ours[1] == theirs[1] else f"{ours[1]} ({ours[2]}), not {theirs[1]} ({theirs[2]})"
    return difference(ours[1], theirs[1], one[2], one[3])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--name", default="", help="only the checks whose names have this text")
    parser.add_argument("--errors", action="store_true", help="prints the checks that both answer by an error")
    options = parser.parse_args()
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        sides = [Side("mxlite", str(Path(options.library).resolve()), options.name, folder)]
        sides.append(Side("mxnet", "", options.name, folder))
        for side in sides:
            side.finish()
    ours, theirs = (side.answers for side in sides)
    failed, areas = 0, Counter()
    unknown = set() if options.name else DIFFERENCES.keys() - theirs.keys()
    for name in sorted(unknown):
        failed += 1
        print(f"{name}: in differences.py, and no check")
    for name in list(theirs) + [name for name in ours if name not in theirs]:
        one = (theirs.get(name) or ours[name])[0]
        absent = (one, ("error", "no answer", ""))
        text = compare(one, ours.get(name, absent)[1], theirs.get(name, absent)[1])
        areas[name.split(":")[0]] += 1
        if options.errors and theirs[name][1][0] == "error":
            print(f"{name}: both: {theirs[name][1]}")
        if bool(text) != (name in DIFFERENCES):
            failed += 1
            print(f"{name}: {text or 'it is in differences.py, and does not differ'}")
    print(", ".join(f"{name} {count}" for name, count in areas.items()))
    marked = sum(name in DIFFERENCES for name in theirs)
    print(f"{marked} differ on purpose (tests/dropin/differences.py)")
    print(f"dropin: {sum(areas.values())} checks, {failed} failed, {time.time() - began:.0f} s")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
