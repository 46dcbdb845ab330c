#!/usr/bin/env python3
"""The tables of ONNX operators that are read and written: docs/onnx.md.

Without arguments it prints them; ``--write PAGE`` puts them into a page of the documentation, ``--check PAGE`` fails if
that has others.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from mxlite.onnx._export import graph as _writers  # noqa: F401 - it fills the table
from mxlite.onnx._export.nodes import OPERATORS as WRITTEN
from mxlite.onnx._import import graph as _readers  # noqa: F401 - it fills the table
from mxlite.onnx._import.nodes import ML
from mxlite.onnx._import.nodes import OPERATORS as READ

#: What the files of the tables are about.
TITLES = {
    "control": "branches and loops",
    "convolution": "convolution, pooling",
    "elementwise": "element by element",
    "index": "choosing, ordering",
    "layers": "layers",
    "linalg": "products of matrices",
    "ml": "scikit-learn's exporters",
    "normal": "normalisation",
    "of_numpy": "others of NumPy's arrays",
    "quantized": "quantized tensors",
    "random": "random numbers",
    "recurrent": "recurrent",
    "reduce": "reductions",
    "resize": "sizes of images",
    "shape": "shapes",
    "signal": "signals, random numbers",
    "spatial": "places in images",
    "trees": "trees",
    "vision": "images",
}


def _by_file(table: dict[Any, Any], names: Any) -> str:
    groups = defaultdict(list)
    for key, function in table.items():
        groups[function.__module__.rsplit(".", 1)[1]].append(names(key))
    lines = ["| kind | operators |", "| --- | --- |"]
    for kind in sorted(groups, key=lambda kind: TITLES[kind]):
        lines.append(f"| {TITLES[kind]} | {' '.join(f'`{name}`' for name in sorted(groups[kind]))} |")
    return "\n".join(lines) + "\n"


def tables() -> dict[str, str]:
    """The tables of the page by the names of their markers."""
    return {
        "read": _by_file(READ, lambda key: f"{ML}.{key[1]}" if key[0] == ML else key[1]),
        "written": _by_file(WRITTEN, str),
    }


def page_with(page: str) -> str:
    """A page with the tables between their markers. Raises: ValueError: it has no such markers."""
    for name, text in tables().items():
        before, after = f"<!-- {name} -->\n", f"<!-- {name}: end -->"
        page = page[: page.index(before)] + before + "\n" + text + "\n" + page[page.index(after) :]
    return page


def main() -> int:
    """Prints or writes the tables; returns 1 where a page that is checked has others."""
    parser = argparse.ArgumentParser(description="The operators of ONNX that are read and written.")
    parser.add_argument("--write", metavar="PAGE", type=Path)
    parser.add_argument("--check", metavar="PAGE", type=Path)
    given = parser.parse_args()
    if given.write:
        given.write.write_text(page_with(given.write.read_text(encoding="utf-8")), encoding="utf-8")
    elif given.check:
        text = given.check.read_text(encoding="utf-8")
        if page_with(text) != text:
            print(f"{given.check} is out of date: tests/onnx/show_operators.py --write {given.check}", file=sys.stderr)
            return 1
    else:
        for name, text in tables().items():
            print(f"{name}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
