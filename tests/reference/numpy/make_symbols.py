#!/usr/bin/env python3
"""Asks MXNet 1.9.1 for the answers of the programs in tests/python/numpy/_symbol_programs.py: symbols.json.xz.

Usage: make_symbols.py [FILE], under mxnet==1.9.1: writes the answers. FILE has {program: JSON of a symbol} that
mxlite has made: then it says for which of them 1.9.1 computes something else than for its own.
"""

from __future__ import annotations

import json
import lzma
import sys
import warnings
from typing import Any

from make_arrays import HERE, arguments, in_process

sys.path.insert(0, str(HERE.parents[1] / "python" / "numpy"))
import _symbol_programs  # noqa: E402
import mxnet as mx  # noqa: E402


def signatures() -> dict[str, dict[str, str | None]]:
    """The arguments of all public functions, and their defaults."""
    found = {}
    modules = {"np.": mx.sym.np, "np.random.": mx.sym.np.random, "np.linalg.": mx.sym.np.linalg, "npx.": mx.sym.npx}
    for prefix, module in {**modules, "npx.random.": mx.sym.npx.random, "npx.image.": mx.sym.npx.image}.items():
        for name in sorted(dir(module)):
            if name[0] != "_" and name != "current_context" and callable(getattr(module, name)):
                found[prefix + name] = arguments(getattr(module, name))
    return found


def check(path: str) -> None:
    """Computes symbols of mxlite's with 1.9.1."""
    answers = json.loads(lzma.decompress((HERE / "symbols.json.xz").read_bytes()))["answers"]
    with open(path) as file:
        theirs = json.load(file)
    for program, text in theirs.items():
        answer = in_process(lambda text=text: _symbol_programs.computed(mx.sym.load_json(text), mx))
        if answer is None or "error" in answer or answer["values"] != answers[program]["values"]:
            print(program, answer, answers[program]["values"])
    print(f"{len(theirs)} symbols")


def main() -> None:
    """Writes the answers and signatures."""
    answers: dict[str, Any] = {}
    for program in _symbol_programs.programs(mx):
        answer = in_process(lambda program=program: _symbol_programs.run(program, mx))
        if answer is not None and (program in _symbol_programs.PROGRAMS or "error" not in answer):
            answers[program] = answer
    text = json.dumps({"answers": answers, "signatures": signatures()}, separators=(",", ":"))
    (HERE / "symbols.json.xz").write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(answers)} answers")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    mx.npx.set_np()
    check(sys.argv[1]) if len(sys.argv) > 1 else main()
