#!/usr/bin/env python3
"""Checks the load commands and the symbols of a library for macOS: ``check_macos.py 11.0 libmxlite.dylib``.

Its install name must begin with @rpath, it must bind each symbol to the library that has it (two-level namespace),
depend on libSystem alone, leave no symbol undefined, and name 11.0 as the oldest version of macOS. The script needs
llvm-objdump and llvm-nm; ``make test-macos`` calls it.
"""

import re
import subprocess
import sys
from pathlib import Path

SYSTEM = "/usr/lib/libSystem.B.dylib"


def printed(*command: str) -> str:
    """What a program prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def problems_of(library: str, oldest: str) -> list[str]:
    """One line for each thing that is not as it must be."""
    head = printed("llvm-objdump", "--macho", "--private-headers", library)
    found = []
    names = re.findall(r"cmd LC_ID_DYLIB\n.*\n\s*name (\S+)", head)
    if names != [f"@rpath/{Path(library).name}"]:
        found.append(f"its install name is {names}")
    needed = re.findall(r"cmd LC_(?:LOAD|REEXPORT|LOAD_WEAK)_DYLIB\n.*\n\s*name (\S+)", head)
    if needed != [SYSTEM]:
        found.append(f"it needs {needed}")
    versions = re.findall(r"platform macos\n.*\n\s*minos (\S+)", head)
    if versions != [oldest]:
        found.append(f"it runs from {versions} on, not {oldest}")
    if "TWOLEVEL" not in head or "NOUNDEFS" not in head:
        found.append("its flags lack TWOLEVEL or NOUNDEFS")
    if "LC_CODE_SIGNATURE" not in head and "ARM64" in head:
        found.append("it is not signed")
    for line in printed("llvm-nm", "-m", "--undefined-only", library).splitlines():
        if line.strip() and "(from libSystem)" not in line:
            found.append(f"undefined: {line.strip()}")
    return found


def main() -> int:
    """Prints the problems, and returns the exit code."""
    oldest, library = sys.argv[1:]
    problems = problems_of(library, oldest)
    for problem in problems:
        print(f"{library}: {problem}")
    print(f"check-macos: {library}: {len(problems)} problems, {Path(library).stat().st_size:,} bytes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
