#!/usr/bin/env python3
"""Quotes operators of capi/ops in capi/adding-an-operator.md, with their numbers of lines.

``show_operators.py`` prints the numbers, ``--write`` puts quotes and numbers into the page, ``--check`` fails if the
page differs. An operator is quoted from its first line (``start``) to the end of its descriptor (``end``).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "capi/adding-an-operator.md"


class Operator(NamedTuple):
    """One operator of the page: patterns of the line it starts with, and of the line its descriptor starts with."""

    name: str
    kind: str
    file: str
    start: str
    end: str


OPERATORS = (
    Operator("square", "function of one number", "elementwise/unary.c", r"MXL_\w+\(square\b", r"MXL_UNARY\(square\b"),
    Operator("sub", "function of two arrays", "elementwise/binary.c", r"MXL_ARITH_\w+\(sub\b", r".*_PAIR\(sub\b"),
    Operator("slice_axis", "movement", "shape/slice_axis.c", r"typedef struct axis_params", r".*mxl_op_slice_axis = "),
    Operator("sum", "reduction", "reduce/reduce.c", r"/\* dx = dy, ", r"REDUCTION\(sum\b"),
    Operator(
        "Embedding", "layer", "index/embedding.c", r"typedef struct embedding_params", r".*mxl_op mxl_op_embedding = "
    ),
    Operator("polyval", "composite", "numpy/values.c", r"/\* Horner's rule", r"MXL_NP\(polyval\b"),
    Operator("np_squeeze", "variant", "shape/reshape.c", r"#define SQUEEZE\(", r"SQUEEZE\(op_np_squeeze\b"),
)


def quote(operator: Operator) -> str:
    """The operator's source text. SystemExit if a pattern does not match."""
    lines = (ROOT / "capi/ops" / operator.file).read_text(encoding="utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if re.match(operator.start, line)), None)
    if start is None:
        raise SystemExit(f"show_operators: {operator.file}: no line starts {operator.name} ({operator.start})")
    found = next((i for i in range(start, len(lines)) if re.match(operator.end, lines[i])), None)
    if found is None:
        raise SystemExit(f"show_operators: {operator.file}: no descriptor of {operator.name} ({operator.end})")
    end = next(i for i in range(found, len(lines)) if re.search(r"[)}];$", lines[i]))
    return "\n".join(lines[start : end + 1]) + "\n"


def count(text: str) -> int:
    """Lines that are not blank."""
    return sum(1 for line in text.splitlines() if line.strip())


def replace(page: str, name: str, text: str) -> str:
    """The page with ``text`` between the markers of that name. SystemExit if it has no such markers."""
    before, after = f"<!-- {name} -->\n", f"<!-- {name}: end -->"
    if before not in page or after not in page:
        raise SystemExit(f"show_operators: {PAGE.name} has no markers of {name}")
    return page[: page.index(before)] + before + "\n" + text + "\n" + page[page.index(after) :]


def written(page: str) -> str:
    """The page with quotes and numbers as the sources have them now."""
    quotes = {operator: quote(operator) for operator in OPERATORS}
    table = "| operator | kind | file | lines |\n| --- | --- | --- | --: |\n"
    for operator, text in quotes.items():
        table += f"| `{operator.name}` | {operator.kind} | `capi/ops/{operator.file}` | {count(text)} |\n"
        page = replace(page, operator.name, f"```c\n{text}```\n")
    return replace(page, "lines", table)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put them into the page")
    parser.add_argument("--check", action="store_true", help="fail if the page has others")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    if arguments.write:
        PAGE.write_text(written(page), encoding="utf-8")
    elif arguments.check:
        if written(page) != page:
            print(f"{PAGE.name} is out of date: run tools/show_operators.py --write", file=sys.stderr)
            return 1
    else:
        for operator in OPERATORS:
            print(f"{count(quote(operator)):4d}  {operator.name} ({operator.kind}, capi/ops/{operator.file})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
