#!/usr/bin/env python3
"""Traces what runs for four values, from Python to the operator's loop, and checks how long each way is.

    make ways                      builds a traced library, prints the ways, and fails if one is longer than LIMITS
    make ways WAYS_ARGS=--write    writes them to docs/architecture.md too

The library is built without optimisation and with ``-finstrument-functions`` (``trace.c``), so that no
function is missing because it was inlined.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

PAGE = Path(__file__).parents[2].resolve() / "docs" / "architecture.md"
BEGIN, END = "<!-- written by make ways -->\n", "<!-- end of make ways -->\n"

#: what a user writes -> at most so many foreign calls, functions of api and engine, and files
LIMITS = {"mx.nd.tanh(x)": (1, 6, 5), "layer(x)": (1, 7, 5), "a + b": (1, 7, 5), "x[1:, None, idx]": (1, 7, 4)}
#: what each of them is
MEANING = {
    "mx.nd.tanh(x)": "recorded, of a float32 array",
    "layer(x)": "a hybridized Gluon layer: a convolution of 3 x 3",
    "a + b": "of `mxlite.torch`: int32 beside float32",
    "x[1:, None, idx]": "of `mxlite.torch`: a key of a slice, a new axis and an index array",
}
#: foreign calls that compute nothing: they ask for a shape, a dtype or a device
QUESTIONS = {
    "MXLNDArrayGetInfo",
    "MXNDArrayGetContext",
    "MXLNDArrayGetEdgeKind",
    "MXLNDArrayIsContiguous",
    "MXNDArrayGetStorageType",
}


class _Entry(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("depth", ctypes.c_int)]


@dataclass
class Way:
    """What ran for one value.

    python: functions of the package's Python. calls: the foreign calls that compute. questions: the others.
    down: the functions on the stack when the operator's last loop began, or the first of a kernel that it calls, each
    with its file. functions: how many functions of the library ran in all.
    """

    python: list[str]
    calls: list[str]
    questions: list[str]
    down: list[tuple[str, str]]
    functions: int

    @property
    def engine(self) -> int:
        """How many functions of api and engine are on the way down."""
        return sum(file.startswith(("api/", "engine/")) for _, file in self.down)

    @property
    def files(self) -> list[str]:
        """The files of the way down, in order."""
        return list(dict.fromkeys(file for _, file in self.down))


class Tracer:
    """The traced library, and the names of its functions."""

    def __init__(self, library: Path) -> None:
        self.lib = ctypes.CDLL(str(library))
        self.lib.trace_end.restype = ctypes.c_size_t
        lines = subprocess.run(
            ["nm", "--defined-only", "--line-numbers", str(library)], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        self.names: dict[int, tuple[str, str]] = {}
        for line in lines:
            symbol, _, where = line.partition("\t")
            address, _, name = symbol.split()
            file = where.rpartition(":")[0].partition("/capi/")[2]
            self.names[int(address, 16)] = (name, file)
        begin = next(address for address, (name, _) in self.names.items() if name == "trace_begin")
        self.base = (ctypes.cast(self.lib.trace_begin, ctypes.c_void_p).value or 0) - begin

    def run(self, value: Callable[[], Any]) -> Way:
        """The way of a value; it runs three times before, as usual calls are not the first ones."""
        for _ in range(3):
            value()
        python: list[str] = []

        def note(frame: Any, event: str, _: Any) -> None:
            if event == "call" and "mxlite" in frame.f_code.co_filename:
                python.append(frame.f_code.co_name)

        entries = ctypes.POINTER(_Entry)()
        sys.setprofile(note)
        self.lib.trace_begin()
        kept = value()
        count = self.lib.trace_end(ctypes.byref(entries))
        sys.setprofile(None)
        del kept
        return self._way(python, [(entries[i].function - self.base, entries[i].depth) for i in range(count)])

    def _way(self, python: list[str], entries: list[tuple[int, int]]) -> Way:
        calls: list[str] = []
        stack: list[tuple[str, str]] = []
        down: list[tuple[str, str]] = []
        for address, depth in entries:
            name, file = self.names[address]
            del stack[depth:]
            stack.append((name, file))
            if depth == 0:
                calls.append(name)
            if file.startswith(("kernel/", "ops/")) and not any(each.startswith("kernel/") for _, each in stack[:-1]):
                down = list(stack)
        asked = [name for name in calls if name in QUESTIONS]
        return Way(python, [name for name in calls if name not in QUESTIONS], asked, down, len(entries))


def values() -> dict[str, Callable[[], Any]]:
    """The four values, by what a user writes."""
    import mxlite as mx
    import mxlite.torch as torch

    recorded = mx.nd.ones((3, 4))
    recorded.attach_grad()
    layer = mx.gluon.nn.Conv2D(8, 3, in_channels=4)
    layer.initialize()
    layer.hybridize()
    image = mx.nd.ones((1, 4, 8, 8))
    whole, floats = torch.tensor([1, 2, 3], dtype=torch.int32), torch.ones(2, 3)
    table, index = torch.ones(4, 5), torch.tensor([0, 2])

    return {
        "mx.nd.tanh(x)": lambda: mx.nd.tanh(recorded),
        "layer(x)": lambda: layer(image),
        "a + b": lambda: whole + floats,
        "x[1:, None, idx]": lambda: table[1:, None, index],
    }


def section(ways: dict[str, Way]) -> str:
    """The ways as Markdown."""
    lines = [
        "| value | functions of Python | foreign calls (questions) | functions of api and engine | files |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, way in ways.items():
        counts = f"{len(way.python)} | {len(way.calls)} ({len(way.questions)}) | {way.engine} | {len(way.files)}"
        lines.append(f"| `{name}`, {MEANING[name]} | {counts} |")
    lines += ["", "```"]
    for name, way in ways.items():
        lines.append(name)
        for file in way.files:
            lines.append(f"    {file:28} " + " -> ".join(each for each, its in way.down if its == file))
    return "\n".join([*lines, "```", ""])


def main() -> int:
    """Prints the ways; 1: one of them is too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path, help="the traced library; MXLITE_LIBRARY names it too")
    parser.add_argument("--write", action="store_true", help="writes docs/architecture.md")
    options = parser.parse_args()

    import mxlite as mx

    tracer = Tracer(options.library.resolve())
    ways = {}
    for name, value in values().items():
        with mx.autograd.record(train_mode=False):
            ways[name] = tracer.run(value)
    print(section(ways))
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        PAGE.write_text(before + BEGIN + section(ways) + END + rest.split(END)[1], encoding="utf-8")
    status = 0
    for name, way in ways.items():
        found = (len(way.calls), way.engine, len(way.files))
        if any(is_ > most for is_, most in zip(found, LIMITS[name])):
            print(f"show_ways: {name}: calls, functions and files are {found}; at most {LIMITS[name]}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
