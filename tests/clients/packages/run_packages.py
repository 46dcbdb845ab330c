#!/usr/bin/env python3
"""Runs the programs here on the real MXNet 1.9.1 and on mxlite, and compares: ``run_packages.py [NAME...]``.

It runs in the real one's environment; SITE has the packages of requirements.txt. With ``--python`` mxlite runs in
another environment, which has packages of its own, by ``mxlite run``. A program's run() returns answers by
name; numbers may differ by 5e-3 of them and 2e-3.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: The programs, and what the real one needs to run them: with oneDNN it cannot copy some gradients of convolutions.
PROGRAMS = {"vision": {"MXNET_MKLDNN_ENABLED": "0"}, "language": {}, "keras_networks": {}, "translation": {}}


def answers(name: str) -> None:
    """In a process of its own: what the program finds, as a line of JSON behind "@"."""
    sys.path.insert(0, str(HERE))
    if "PACKAGES_MXLITE" in os.environ:
        import mxlite

        mxlite.install_as_mxnet()
    else:
        import multiprocessing.pool  # noqa: F401
    print("@" + json.dumps(importlib.import_module(name).run()))


def run(name: str, site: Path, here: bool, python: "str | None" = None) -> dict:
    """The answers of a program on mxlite, in an environment if it is given; or on the real MXNet.

    Raises: RuntimeError: it failed.
    """
    given = {key: value for key, value in os.environ.items() if here or key != "MXLITE_LIBRARY"}
    paths = [*([] if here and python else [str(site)]), *([str(HERE.parents[2])] if here else [])]
    given.update(PYTHONPATH=os.pathsep.join(paths), **PROGRAMS[name], **({"PACKAGES_MXLITE": "1"} if here else {}))
    command = [python or sys.executable, "-W", "ignore", *(["-m", "mxlite", "run"] if python else [])]
    done = subprocess.run([*command, __file__, "--answers", name], env=given, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("@")]
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"{name} {'on mxlite' if here else 'on MXNet'}: {done.stderr[-1500:]}")
    return json.loads(lines[-1][1:])


def close(found: object, expected: object) -> bool:
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, dict):
        return isinstance(found, dict) and found.keys() == expected.keys() and all(
            close(found[key], expected[key]) for key in expected
        )  # fmt: skip
    if isinstance(expected, float) and isinstance(found, float):
        return abs(found - expected) <= 2e-3 + 5e-3 * abs(expected) or found != found and expected != expected
    return found == expected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=Path(".venvs/packages"))
    parser.add_argument("--python", help="the environment in which mxlite runs; this one if none is given")
    parser.add_argument("--answers", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    args = parser.parse_args()
    if args.answers:
        answers(args.answers)
        return 0
    count = failed = 0
    for name in args.names:
        expected = run(name, args.site.resolve(), False)
        found = run(name, args.site.resolve(), True, args.python)
        for case in expected:
            count += 1
            if not close(found[case], expected[case]):
                failed += 1
                print(f"{name}: {case}: {str(found[case])[:300]}, not {str(expected[case])[:300]}")
    print(f"packages: {count} answers, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
