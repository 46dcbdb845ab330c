"""Operators by the variables that describe them, and families that list only some of them."""

import re
import subprocess
from pathlib import Path

from c_names import skip, tokens_of, without_comments

FAMILY = re.compile(r"(const mxl_op \*const mxl_ops_\w+\[\] = \{)([^}]*)(\};)")
ENTRY = re.compile(r"&(\w+)\s*,")
#: What the engine calls by name (engine/run/builtin_ops.c): no build is without these.
BY_NAME = re.compile(r'mxl_op_find\("(\w+)"\)')


class Operators:
    """Names of the operators of a source, by the variable of each descriptor."""

    def __init__(self, root: Path, compiler: list[str], flags: list[str]) -> None:
        self.root = root
        self.command = [*compiler, "-E", "-P", "-std=c17", "-Icapi", "-Iinclude", *flags]
        self.needed = set(BY_NAME.findall((root / "capi/engine/run/builtin_ops.c").read_text()))

    def of(self, path: str) -> dict[str, set[str]]:
        """The names of each descriptor that the source defines."""
        out = subprocess.run([*self.command, path], capture_output=True, text=True, check=True, cwd=self.root).stdout
        tokens = tokens_of(out)
        found: dict[str, set[str]] = {}
        for at, token in enumerate(tokens):
            if token == "mxl_op" and tokens[at + 2 : at + 4] == ["=", "{"]:
                found[tokens[at + 1]] = names(tokens[at + 3 : skip(tokens, at + 3)])
        return found


def names(tokens: list[str]) -> set[str]:
    """The operator's name and its aliases, from the tokens of its descriptor."""
    found: set[str] = set()
    for at, token in enumerate(tokens):
        if token == "." and tokens[at + 1] in ("name", "numpy_name", "aliases"):
            word, place = "", at + 3
            depth = 0
            while place < len(tokens) and not (tokens[place] == "," and depth == 0):
                depth += (tokens[place] in "({[") - (tokens[place] in ")}]")
                if depth < 0:
                    break
                if tokens[place].startswith('"'):
                    word += tokens[place][1:-1]
                elif word:
                    found.add(word)
                    word = ""
                place += 1
            if word:
                found.add(word)
    return found


def keep_operators(sources: list, operators: Operators, chosen: list[str]) -> None:
    """Takes the operators that are not chosen out of the lists of families. ValueError: a name that none has."""
    wanted = set(chosen) | operators.needed
    seen: set[str] = set()
    for source in sources:
        if not FAMILY.search(source.text):
            continue
        known = operators.of(source.path)

        def reduce(match: "re.Match[str]", known: dict[str, set[str]] = known) -> str:
            kept = []
            for entry in ENTRY.findall(without_comments(match.group(2))):
                have = known.get(entry, set()) & wanted
                seen.update(have)
                if have:
                    kept.append(f"&{entry}, ")
            return match.group(1) + "".join(kept) + "NULL" + match.group(3)

        source.text = FAMILY.sub(reduce, source.text)
    missing = sorted(set(chosen) - seen)
    if missing:
        raise ValueError(f"OPS: the chosen parts have no operator {', '.join(missing)}")
