"""Runs the case table's tests without pytest, a fork for every library: for tools/mutate.py, which starts it.

The table is imported and its NumPy answers are computed once. For each line of JSON on standard input ("library",
"seconds" of processor time, "ops" and "first": what to begin with, "brief": leave out what is marked whole) a child
opens that library, imports the test modules, calls their functions with every row of their parameters, and stops at the
first failure. The answer is a line of JSON: "failed" (a test's id, "" for none), "reason" and "failing" (with "all":
every test that fails). Tests named in "without" are left out.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import os
import resource
import select
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

TESTS = Path(__file__).resolve().parents[2] / "tests"
TABLE = TESTS / "python" / "table"
sys.path[:0] = [str(TESTS / "python"), str(TABLE), str(TESTS / "reference")]

import cases  # noqa: E402

MODULES = sorted(path.stem for path in TABLE.glob("test_cases_*.py"))
#: Address space of a test: a wrong extent asks for all memory there is.
MEMORY = 4 << 30
#: A test that sleeps takes no processor time.
PATIENCE = 300


class Item(NamedTuple):
    """One call of a test function."""

    id: str
    op: str
    function: object
    arguments: dict


def remember() -> None:
    """Inputs and answers of a row are computed once, here: every child has them."""
    arrays, expected = cases.Case.arrays, cases.Case.expected
    inputs: dict = {}
    answers: dict = {}

    def remembered_arrays(case, dtype: str | None = None) -> list:
        key = case.id, dtype
        if key not in inputs:
            inputs[key] = arrays(case, dtype)
            for array in inputs[key]:
                array.flags.writeable = False
        return list(inputs[key])

    def remembered_expected(case, given=None) -> tuple:
        if given is not None:
            return expected(case, given)
        if case.id not in answers:
            answers[case.id] = expected(case)
        return answers[case.id]

    cases.Case.arrays, cases.Case.expected = remembered_arrays, remembered_expected
    for case in cases.CASES:
        case.arrays()
        if case.forward is not None and not case.error:
            case.expected()


def _is_whole(marks: Iterable) -> bool:
    return any(mark.name == "whole" for mark in marks)


def _row(names: str | list, value: object) -> tuple[dict, str]:
    """One value of pytest.mark.parametrize: the arguments, and what names them in the test's id."""
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = tuple(value.values) if hasattr(value, "marks") else value if len(names) > 1 else (value,)
    label = getattr(value, "id", None) or "-".join(str(getattr(one, "id", one)) for one in values)
    return dict(zip(names, values)), label


def items(brief: bool) -> Iterator[Item]:
    """Every call of every test function of the modules, in their order."""
    names = cases.operators()
    for module in map(importlib.import_module, MODULES):
        for name, function in vars(module).items():
            if not name.startswith("test_") or not callable(function):
                continue
            all_marks = getattr(function, "pytestmark", ())
            if brief and _is_whole(all_marks):
                continue
            marks = [mark.args for mark in reversed(all_marks) if mark.name == "parametrize"]
            for rows in itertools.product(
                *(
                    [_row(arguments, each) for each in values if not (brief and _is_whole(getattr(each, "marks", ())))]
                    for arguments, values in marks
                )
            ):
                arguments = {key: value for row, _ in rows for key, value in row.items()}
                ops = [getattr(value, "op", value) for value in arguments.values()]
                op = next((op for op in ops if isinstance(op, str) and op in names), "")
                label = "-".join(label for _, label in rows)
                yield Item(
                    f"{module.__name__}::{name}[{label}]" if rows else f"{module.__name__}::{name}",
                    op,
                    function,
                    arguments,
                )


def ordered(found: list[Item], ops: list[str], first: list[str]) -> list[Item]:
    """Tests named in `first`, then those of `ops`, then the rest; of each operator one, then another of each."""
    order = {name: place for place, name in enumerate(first)}
    turn: dict = defaultdict(int)

    def key(item: Item) -> tuple:
        turn[item.op, item.function] += 1
        return order.get(item.id, len(order)), item.op not in ops, turn[item.op, item.function]

    return sorted(found, key=key)


def run(wanted: dict) -> dict:
    """In the child: the first test that fails."""
    os.environ["MXLITE_LIBRARY"] = wanted["library"]
    try:
        import conftest

        found = [item for item in items(wanted["brief"]) if item.id not in wanted["without"]]
        found = ordered(found, wanted["ops"], wanted["first"])
    except BaseException as error:  # noqa: BLE001  (a library that cannot be used is a failure too)
        return {"failed": "import", "reason": repr(error)[:200], "failing": []}
    failing = {}
    gc.freeze()  # as conftest.py does: what was made up to here need not be looked at again
    for item in found:
        try:
            before = conftest.live_handles()
            item.function(**item.arguments)
            if conftest.live_handles() != before:
                gc.collect()
                assert conftest.live_handles() == before, "the test left arrays behind"
        except BaseException as error:  # noqa: BLE001
            failing[item.id] = repr(error)[:200]
            if not wanted["all"]:
                break
    failed = next(iter(failing), "")
    return {"failed": failed, "reason": failing.get(failed, ""), "failing": sorted(failing)}


def child(wanted: dict, pipe: int) -> None:
    """Runs and writes the answer; never returns."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (wanted["seconds"], wanted["seconds"] + 5))
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.write(pipe, json.dumps(run(wanted)).encode())
    os._exit(0)


def answer(wanted: dict) -> dict:
    """Forks, waits, and says what became of it."""
    reading, writing = os.pipe()
    began = time.monotonic()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            child(wanted, writing)
        finally:
            os._exit(1)
    os.close(writing)
    text = b""
    while select.select([reading], [], [], max(0.0, PATIENCE - (time.monotonic() - began)))[0]:
        part = os.read(reading, 65536)
        if not part:
            break
        text += part
    else:
        os.kill(process, signal.SIGKILL)
    os.close(reading)
    status = os.waitpid(process, 0)[1]
    if text and status == 0:
        return json.loads(text)
    ended = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"
    return {"failed": "crash", "reason": ended, "failing": []}


def main() -> None:
    with np.errstate(all="ignore"):
        remember()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
