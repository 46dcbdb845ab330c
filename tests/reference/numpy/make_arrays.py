#!/usr/bin/env python3
"""Asks MXNet 1.9.1 for the answers of the programs in tests/python/numpy/_programs.py, and signatures: arrays.json.xz.

Usage: make_arrays.py [GROUP ...], under mxnet==1.9.1; with groups of programs ("left", "programs", "protocols") all
other answers stay. Each program runs in a process of its own, as some end it. An answer is what `_programs.describe`
gives, or {"error": class}; calls of functions that 1.9.1 refuses are left out, and those that NumPy refuses, whose
arguments 1.9.1 does not look at.
"""

from __future__ import annotations

import inspect
import json
import lzma
import os
import sys
import warnings
from pathlib import Path
from typing import Any, Callable

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python" / "numpy"))
import _programs  # noqa: E402
import mxnet as mx  # noqa: E402
import numpy  # noqa: E402


def ask(program: str) -> Any:
    """The answer of a program; None: it has ended the process."""
    return in_process(lambda: _programs.run(program, mx))


def in_process(call: Callable[[], Any]) -> Any:
    """What a function answers in a process of its own, {"error": class} where it raises; None: it has ended it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = call()
        except BaseException as error:
            answer = {"error": type(error).__name__}
        with os.fdopen(writer, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def numpy_takes(program: str) -> bool:
    """Whether NumPy's function takes the arguments."""
    arrays = {name: each.asnumpy() for name, each in _programs.names(mx).items() if hasattr(each, "asnumpy")}
    try:
        eval(program, {**arrays, "np": numpy})
    except Exception as error:
        return not isinstance(error, (TypeError, ValueError))
    return True


def signatures() -> dict[str, dict[str, str | None]]:
    """The arguments of all public functions, and their defaults; {}: it has none that Python knows."""
    found = {}
    for prefix, module in (("", mx.np), ("random.", mx.np.random), ("linalg.", mx.np.linalg), ("npx.", mx.npx)):
        for name in sorted(dir(module)):
            thing = getattr(module, name)
            if name[0] != "_" and not inspect.ismodule(thing):
                found[prefix + name] = arguments(thing) if inspect.isfunction(thing) else {}
    for name in sorted(vars(mx.np.ndarray)):
        thing = vars(mx.np.ndarray)[name]
        if name[0] != "_" and inspect.isfunction(thing):
            found[f"ndarray.{name}"] = arguments(thing)
    return found


def arguments(function: Any) -> dict[str, str | None]:
    """The arguments of a function, and their defaults."""
    try:
        rows = inspect.signature(function).parameters.values()
    except ValueError:  # of a function in C
        return {}
    return {str(each).partition("=")[0]: None if each.default is each.empty else repr(each.default) for each in rows}


def main(groups: list[str]) -> None:
    """Writes the answers and signatures."""
    warnings.simplefilter("ignore")
    mx.npx.set_np()
    written_out = {*_programs.PROGRAMS, *_programs.LEFT, *_programs.PROTOCOLS}
    path = HERE / "arrays.json.xz"
    answers = json.loads(lzma.decompress(path.read_bytes()))["answers"] if groups else {}
    for program in [each for group in groups or [""] for each in _programs.programs(group)]:
        written = program in written_out or " ;; " in program
        answer = ask(program) if written or numpy_takes(program) else None
        if answer is not None and (written or not isinstance(answer, dict)):
            answers[program] = answer
    known = set(_programs.programs())
    answers = {program: answer for program, answer in answers.items() if program in known}
    text = json.dumps({"answers": answers, "signatures": signatures()}, separators=(",", ":"))
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(answers)} answers")


if __name__ == "__main__":
    main(sys.argv[1:])
