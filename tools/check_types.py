#!/usr/bin/env python3
"""Checks with `mypy --strict` what a type checker sees of an installed mxlite.

Usage: check_types.py PYTHON: the interpreter that has mxlite installed (`make checks`: that of .venv; check_wheel.py:
one with a wheel). The example project must have no error, nor kinds.py; mistakes.py exactly those that it announces.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "typed"
CLIENTS = ROOT / "tests" / "clients" / "typed"


def mypy(given: "list[str]", folder: Path, *files: str) -> "tuple[int, list[str]]":
    """mypy's exit status and lines, for files of a folder; `given` are its options."""
    command = [sys.executable, "-m", "mypy", "--strict", *given, *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(f"check_types: mypy ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.returncode, done.stdout.splitlines()


def expect_none(given: "list[str]", folder: Path, *files: str) -> None:
    """The files have no error."""
    status, lines = mypy(given, folder, *files)
    if status != 0:
        raise SystemExit("\n".join([f"check_types: {folder} has errors", *lines]))


def expect_mistakes(given: "list[str]") -> int:
    """mistakes.py has the errors that its comments announce; how many."""
    wanted = set()
    text = (CLIENTS / "mistakes.py").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        wanted |= {(number, code) for code in re.findall(r"  # E: ([\w-]+)$", line)}
    found = set()
    for line in mypy(given, CLIENTS, "mistakes.py")[1]:
        match = re.match(r"mistakes\.py:(\d+): error: .*\[([\w-]+)\]$", line)
        if match:
            found.add((int(match[1]), match[2]))
    if not wanted or found != wanted:
        raise SystemExit(
            f"check_types: mistakes.py: not found {sorted(wanted - found)}, found {sorted(found - wanted)}"
        )
    return len(wanted)


def main(python: str) -> int:
    with tempfile.TemporaryDirectory() as cache:  # one for all: the package and the library's types are read once
        given = ["--python-executable", python, f"--cache-dir={cache}"]
        expect_none(given, EXAMPLE, "network.py", "train.py")
        expect_none(given, CLIENTS, "kinds.py")
        count = expect_mistakes(given)
    print(f"check_types: examples/typed is clean under mypy --strict, {count} mistakes are found")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1])))
