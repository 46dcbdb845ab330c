#!/usr/bin/env python3
"""Writes the table of docs/compatibility.md that says of every name of the C API whether it works, differs, is refused.

``show_c_names.py`` prints the table, ``--write`` writes it, ``--check`` fails if it differs. The names and what became
of them are in ``capi/api/exports.txt``, the reasons of those that are refused in ``capi/api/refused.c``; how a name
differs is said by the rows of the document that name it.
"""

from __future__ import annotations

import argparse
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/compatibility.md"
BEGIN = "<!-- made by tools/show_c_names.py --write -->\n"
END = "<!-- end -->\n"
#: What the answers of answers.c are.
ANSWER = "a fixed answer: this process is a worker"


def statuses() -> dict[str, str]:
    """The names of exports.txt with their statuses."""
    lines = (ROOT / "capi/api/exports.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line.strip() and not line.startswith("#"))  # type: ignore[misc]


def reasons() -> dict[str, str]:
    """Why names are refused."""
    text = (ROOT / "capi/api/refused.c").read_text(encoding="utf-8")
    texts = dict(re.findall(r'^#define ([A-Z_]+) +"(.*)"$', text, re.M))
    return {name: texts[why] for name, why in re.findall(r"^REFUSED\((\w+), ([A-Z_]+)\)$", text, re.M)}


def differences() -> list[tuple[list[str], str]]:
    """Patterns of C names that a row of the document names, with what it says of them."""
    text = PAGE.read_text(encoding="utf-8").split("\n## Where the graph differs from PyTorch")[0]
    found = []
    for line in text.splitlines():
        cells = line.strip("| ").split(" | ")
        if line.startswith("| ") and len(cells) == 5:
            patterns = re.findall(r"\b((?:MX|NN)[A-Z][\w*]+)", " ".join(re.findall(r"`[^`]*`", cells[0])))
            if patterns:
                found.append((patterns, f"{cells[0]}: {cells[2]}"))
    return found


def table() -> str:
    """The whole table."""
    about, why = differences(), reasons()
    counts: dict[str, int] = {}
    text = ""
    for name, status in statuses().items():
        here = [said for patterns, said in about if any(fnmatchcase(name, pattern) for pattern in patterns)]
        state, how = {
            "refused": ("refused", why.get(name, "")),
            "answer": ("works", ANSWER),
            "whole": ("works and differs" if here else "works", "; ".join(here)),
        }[status]
        counts[state] = counts.get(state, 0) + 1
        text += f"| `{name}` | {state} | {how} |\n"
    said = ", ".join(f"{counts.get(state, 0)} {state}" for state in ("works", "works and differs", "refused"))
    said = (
        said.replace(" works,", " work,")
        .replace("works and differs", "work and differ")
        .replace("refused", "are refused")
    )
    return f"{sum(counts.values())} names: {said}.\n\n| name | here | how, or why |\n| --- | --- | --- |\n{text}"


def page() -> str:
    """The document with the table as it should be."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:begin]}\n{table()}\n{text[end:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("--check", action="store_true", help="fail if the table differs")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(page(), encoding="utf-8")
    elif arguments.check:
        if page() != PAGE.read_text(encoding="utf-8"):
            print(f"{PAGE.name} is out of date: run tools/show_c_names.py --write", file=sys.stderr)
            return 1
    else:
        print(table(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
