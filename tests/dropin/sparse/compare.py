"""Random programs over sparse arrays: MXNet 1.9.1 beside Apache's package on this library, and beside mxlite's own.

Every side is a process that answers the programs (answers.py). Of a step that differs what follows from it is not
compared. differences.py names those that may differ. Where 1.9.1 refuses a call, or its answer is one of those, the
values must be those that it computes with dense arrays: a side of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from answers import DIED
from calls import Step
from differences import Found, has_values_of_dense, reason
from programs import program

HERE = Path(__file__).resolve().parent

Answers = dict  # (number of the program, of the step) -> answer


def ask(side: str, first: int, last: int, build: Path) -> Answers:
    """All answers of one side."""
    environment = {**os.environ, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0", "OMP_NUM_THREADS": "1"}
    environment.pop("MXNET_LIBRARY_PATH", None)
    if side == "package":
        environment["MXNET_LIBRARY_PATH"] = str(build / "libmxnet.so")
    if side == "mxlite":
        environment.update(PYTHONPATH=str(HERE.parents[2]), MXLITE_BINDING="ctypes")
        environment.update(MXLITE_LIBRARY=str(build / "libmxlite.so"))
    package = "mxlite" if side == "mxlite" else "mxnet"
    with tempfile.TemporaryDirectory() as folder:
        path, errors = Path(folder) / "answers", Path(folder) / "errors"
        command = [sys.executable, "-W", "ignore", str(HERE / "answers.py"), package, str(path), str(first), str(last)]
        command += ["--dense"] if side == "dense" else []
        with errors.open("w") as file:
            status = subprocess.run(command, env=environment, stderr=file, check=False).returncode
        if status != 0:
            raise SystemExit(f"{side}: ended with {status}\n{errors.read_text()[-2000:]}")
        with path.open("rb") as file:
            answers = {}
            with contextlib.suppress(EOFError):
                while True:
                    key, answer = pickle.load(file)
                    answers[key] = answer
    return answers


def same_numbers(ours: list, theirs: list, dtype: str) -> bool:
    loose = {"float16": 1e-2, "float64": 1e-6}.get(dtype, 1e-4)
    if len(ours) != len(theirs):
        return False
    return np.allclose(np.array(ours, "float64"), np.array(theirs, "float64"), loose, loose / 10, equal_nan=True)


def unlike(ours: Any, theirs: Any) -> str:
    """How two answers differ, or nothing."""
    if ours == theirs:
        return ""
    if DIED in (ours, theirs):
        return "the process ends"
    if ["!"] in (ours[:1], theirs[:1]):
        if ours[:1] != theirs[:1]:
            return "no error" if theirs[:1] == ["!"] else "an error"
        classes = {name.removeprefix("MX") for name in ours[1]}
        return "" if theirs[1][0].removeprefix("MX") in classes else "another error"
    for a, b in zip(ours, theirs):
        if isinstance(a, list) and isinstance(b, list) and a and isinstance(a[0], list):
            text = unlike(a, b)
        else:
            text = unlike_array(a, b)
        if text:
            return text
    return ""


def unlike_array(a: Any, b: Any) -> str:
    if isinstance(a, str) or isinstance(b, str):
        return "" if a == b else "another value"
    for i, what in enumerate(["class", "storage type", "shape", "dtype"]):
        if a[i] != b[i]:
            return f"another {what}"
    if a[4:-1] != b[4:-1]:
        return "other indices"
    return "" if same_numbers(a[-1], b[-1], a[3]) else "other numbers"


def has_some_rows(answer: Any) -> bool:
    """Whether an answer is a row_sparse array that stores some of its rows."""
    return isinstance(answer, list) and answer[1] == "row_sparse" and 0 < len(answer[5]) < answer[2][0]


def compare(number: int, ours: Answers, theirs: Answers) -> tuple[int, list[Found]]:
    """The number of calls compared in a program, and what differs."""
    steps: list[Step] = program(number)
    stypes: dict[str, str] = {}
    empty: set[str] = set()
    some: set[str] = set()
    spoilt: set[str] = set()
    found, count = [], 0
    for at, step in enumerate(steps):
        a, b = ours.get((number, at), DIED), theirs.get((number, at), DIED)
        made = step.text.split(" ", 1)[0]
        if not spoilt.isdisjoint(step.inputs):
            spoilt.update(name.split(".")[0] for name in step.shows)
            spoilt.add(made)
            continue
        text = unlike(a, b)
        some_before = set(some)
        given = [stypes.get(name, "?") for name in step.inputs]
        if b != DIED and b[:1] != ["!"]:
            stypes.update((name, each[1]) for name, each in zip(step.shows, b) if isinstance(each, list))
            some.update(name for name, each in zip(step.shows, b) if has_some_rows(each))
            empty.update(name for name, each in zip(step.shows, b) if isinstance(each, list) and 0 in each[2])
        if step.function:
            count += 1
        if text:
            one = Found(number, at, step.text, step.function or "make", given, text, a, b)
            one.empty = not empty.isdisjoint([*step.inputs, *step.shows])
            one.some = not some_before.isdisjoint(step.inputs)
            found.append(one)
            spoilt.update(name.split(".")[0] for name in step.shows)
            spoilt.add(made)
            spoilt.update(step.inputs if "backward" in step.function else [])
        elif b[:1] == ["!"]:  # nothing was made
            spoilt.add(made)
        if DIED in (a, b):
            break
    return count, found


def dense(answer: Any) -> np.ndarray:
    """The values of an answer's array."""
    _, stype, shape, dtype, *parts, values = answer
    full = np.zeros(shape, dtype)
    if stype == "row_sparse":
        full[parts[1]] = np.array(values, dtype).reshape(len(parts[1]), *shape[1:])
    elif stype == "csr" and parts[0]:
        full[np.repeat(np.arange(shape[0]), np.diff(parts[0])), parts[2]] = values
    elif stype == "default":
        full = np.array(values, dtype).reshape(shape)
    return full


def is_as_dense(ours: Any, theirs: Any) -> bool:
    """Whether arrays have the values of dense ones, if there are such; zeros that are not stored make no NaN."""
    if DIED in (ours, theirs) or ["!"] in (ours[:1], theirs[:1]):
        return True
    for a, b in zip(ours, theirs):
        if isinstance(a, list) and isinstance(b, list) and isinstance(a[0], str) and isinstance(b[0], str):
            x, y = dense(a), dense(b)
            known = np.isfinite(y) if x.shape == y.shape else ...
            if x.shape != y.shape or not same_numbers(x[known].tolist(), y[known].tolist(), a[3]):
                return False
    return True


def short(answer: Any) -> str:
    text = " ".join(repr(answer).split())
    return text if len(text) < 240 else text[:240] + "..."


def report(side: str, found: list[Found], twins: Answers, options: Any) -> int:
    """Prints what differs; how many have no name."""
    kinds: dict[str, list[Found]] = {}
    named: Counter[str] = Counter()
    for one in found:
        why = one.reason = reason(one)
        twin = twins.get((one.program, one.step), DIED)
        if why and has_values_of_dense(one, why) and not is_as_dense(one.ours, twin):
            why, one.reason, one.how, one.theirs = "", "", f"{one.how}, and other numbers than of dense arrays", twin
        if why:
            named[why] += 1
        if not why or options.all:
            kinds.setdefault(f"{one.function}({', '.join(one.stypes)}): {one.how}", []).append(one)
    for kind, those in sorted(kinds.items(), key=lambda pair: -len(pair[1]))[: options.show]:
        one = min(those, key=lambda each: len(repr(each.theirs)) + len(repr(each.ours)))
        print(f"{side}: {kind}: {len(those)}, as in program {one.program}, step {one.step}\n    {one.text}")
        print(f"    {short(one.ours)}\n    1.9.1: {short(one.theirs)}")
    for why, times in named.most_common():
        print(f"{side}: {times} on purpose: {why}")
    return sum(one.reason == "" for one in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the folder of the libraries")
    parser.add_argument("--calls", type=int, default=300, help="how many calls, about")
    parser.add_argument("--first", type=int, default=0, help="the number of the first program")
    parser.add_argument("--sides", default="package,mxlite")
    parser.add_argument("--all", action="store_true", help="prints named differences too")
    parser.add_argument("--show", type=int, default=60, help="how many kinds to print")
    parser.add_argument("--keep", help="a file that has 1.9.1's answers to these programs, or gets them")
    options = parser.parse_args()
    began, build = time.time(), Path(options.build).resolve()
    last, calls = options.first, 0
    while calls < options.calls:
        calls += sum(bool(step.function) for step in program(last))
        last += 1
    sides = ["mxnet", "dense", *options.sides.split(",")]
    kept = Path(options.keep) if options.keep else None

    def answer(side: str) -> Answers:
        if side in ("mxnet", "dense") and kept and kept.exists():
            return pickle.loads(kept.read_bytes())[side]
        return ask(side, options.first, last, build)

    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(sides, pool.map(answer, sides)))
    if kept and not kept.exists():
        kept.write_bytes(pickle.dumps({side: answers[side] for side in sides[:2]}))
    failed = 0
    for side in sides[2:]:
        results = [compare(number, answers[side], answers["mxnet"]) for number in range(options.first, last)]
        found = [one for _, those in results for one in those]
        unnamed = report(side, found, answers["dense"], options)
        ends = [key for key in answers[side] if key[1] == "end"]
        for number, _ in ends:
            print(f"{side}: program {number}: the process ended with {answers[side][number, 'end']}")
        failed += unnamed + len(ends)
        print(f"{side}: {sum(count for count, _ in results)} of {calls} calls compared, {unnamed} unnamed differences")
    errors = sum(answer[:1] == ["!"] for answer in answers["mxnet"].values() if isinstance(answer, list))
    dead = sum(key[1] == "end" for key in answers["mxnet"])
    print(f"1.9.1 refuses {errors} calls and ends in {dead} programs")
    print(
        f"sparse programs: {last - options.first} programs, {calls} calls, {failed} failed, {time.time() - began:.0f} s"
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
