#!/usr/bin/env python3
"""Runs what docs/embedding.md says: writes the programs that it names, and runs its commands in their order.

Usage: run_page.py [PAGE] (called by ``make test-embed``; the folder is the source tree). A block whose first line is
three backticks, ``c`` and a name is that file; one shell runs all blocks of ``sh`` but those marked
``skip``.
The programs are removed afterwards. Exits with 1 if a command fails, or if the page's program predicts something else.
"""

import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(c|sh)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
SAYS = ["0.0  0.0: inside", "0.3 -0.3: inside", "0.9  0.9: outside", "-0.9  0.1: outside"]


def main() -> int:
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/embedding.md")
    files, commands = [], ["set -e"]
    for language, name, text in BLOCK.findall(page.read_text()):
        if language == "c" and name:
            Path(name).write_text(text)
            files.append(Path(name))
        elif language == "sh" and name != "skip":
            commands.append(text)
    try:
        run = subprocess.run(["sh", "-c", "\n".join(commands)], stdout=subprocess.PIPE, text=True)
    finally:
        for file in files:
            file.unlink()
    programs = run.stdout.count("loss ")
    wrong = [line for line in SAYS if run.stdout.count(line) != programs]
    if run.returncode != 0 or programs == 0 or wrong:
        print(f"{page}: a command failed, or the program said something else: {wrong}\n{run.stdout}", file=sys.stderr)
        return 1
    print(f"{page}: {len(commands) - 1} blocks of commands run, the program {programs} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
