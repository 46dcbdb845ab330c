"""Answers the checks in one process: a stream of pickles on a file, one for each check. run.py starts it."""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import os
import pickle
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def load() -> list:
    """All checks, in the order of the modules' names."""
    import kit

    for path in sorted((HERE / "checks").glob("[!_]*.py")):
        importlib.import_module(f"checks.{path.stem}")
    names = [check.name for check in kit.CHECKS]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"two checks have the same name: {sorted(twice)}"
    return kit.CHECKS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--name", default="")
    options = parser.parse_args()
    faulthandler.enable()
    checks = load()
    import kit

    with Path(options.output).open("ab") as output, tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, one in enumerate(checks):
            if number < options.first or options.name not in one.name:
                continue
            pickle.dump((number, one.name, one.rtol, one.atol), output)
            output.flush()
            pickle.dump(kit.answer_of(one), output)
            output.flush()
        os.chdir("/")


if __name__ == "__main__":
    main()
