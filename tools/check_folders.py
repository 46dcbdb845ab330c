#!/usr/bin/env python3
"""Checks that no folder holds more than 25 files, and that no two headers of the C library have one name.

Headers of include/mxnet and include/nnvm have the names that MXNet gives them.

Usage: check_folders.py [ROOT] (called by `make lint` and by pre-commit). Counts what git knows, or would if it were
added; where there is no git, it says so and checks nothing. Prints every mistake, and exits with 1 if there is one.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath

MOST = 25


def files(root: Path) -> list[PurePosixPath]:
    """The files of the tree, but for those that git ignores and those that are deleted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    return [PurePosixPath(name) for name in sorted(set(names)) if name and (root / name).exists()]


def mistakes(paths: list[PurePosixPath]) -> list[str]:
    """One line for each folder that is too full and each name of a header that occurs twice."""
    counts = Counter(path.parent for path in paths)
    found = [f"{folder}: {count} files; at most {MOST}" for folder, count in sorted(counts.items()) if count > MOST]
    headers = defaultdict(list)
    for path in paths:
        if path.suffix == ".h" and (path.parts[0] == "capi" or path.parts[:2] == ("include", "mxlite")):
            headers[path.name].append(str(path))
    found += [f"{' and '.join(same)}: two headers of one name" for same in headers.values() if len(same) > 1]
    return found


def main(root: Path) -> int:
    """Prints the mistakes."""
    if not (root / ".git").exists():
        print("check_folders: this is no git checkout; nothing is checked")
        return 0
    found = mistakes(files(root))
    for line in found:
        print(f"check_folders: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
