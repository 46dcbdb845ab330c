#!/usr/bin/env python3
"""The clients' own tests, with mxlite as their MXNet: what passes on the real 1.9.1 must pass here (make test-clients).

run_clients.py FOLDER          unpacks FOLDER/*.tar.gz (sources.txt) into FOLDER and runs, compared with expected.txt
run_clients.py FOLDER --record the same with the real MXNet 1.9.1, and writes expected.txt (make clients-oracle)

README.md explains every test that does not pass on both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "expected.txt"
HEADER = "# Outcomes on the real MXNet 1.9.1, Python 3.9 and NumPy 1.23.5. Written by `make clients-oracle`.\n"
TIMEOUT = 1800

#: Folder, where its tests are, the variable that chooses MXNet, files left out (README.md says why).
CLIENTS = (
    ("tensorly-0.4.5", "tensorly", {"TENSORLY_BACKEND": "mxnet"}, ()),
    ("einops-0.6.1", "tests", {"EINOPS_TEST_BACKENDS": "mxnet.ndarray"}, ("tests/test_notebooks.py",)),
)


def unpack(folder: Path, name: str) -> Path:
    """The sources of one client, fresh."""
    source = folder / name
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(folder / f"{name}.tar.gz") as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:
            archive.extractall(folder)
    return source


def run(folder: Path, which: str) -> dict[str, str]:
    """Runs every client's tests; returns the outcome of each test."""
    outcomes: dict[str, str] = {}
    for name, tests, chosen, left_out in CLIENTS:
        source = unpack(folder, name)
        report = folder / f"{name}.json"
        report.unlink(missing_ok=True)
        path = [str(HERE)] + ([str(ROOT)] if which == "mxlite" else [])
        environment = {
            **os.environ,
            **chosen,
            "CLIENTS_MXNET": which,
            "CLIENTS_OUTCOMES": str(report),
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-W", "ignore", "-m", "pytest", "-q", "--tb=short", "-rN", "-p", "clients_plugin"]
        command += [
            "-c",
            os.devnull,
            f"--rootdir={source}",
            "-p",
            "no:cacheprovider",
            *(f"--ignore={file}" for file in left_out),
            tests,
        ]
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
        (folder / f"{name}.log").write_text(done.stdout + done.stderr)
        if not report.exists() or done.returncode not in (0, 1):
            raise SystemExit(f"test-clients: {name}: pytest ended with {done.returncode}\n{done.stdout}{done.stderr}")
        outcomes.update((f"{name}/{test}", outcome) for test, outcome in json.loads(report.read_text()).items())
    return outcomes


def compare(expected: dict[str, str], outcomes: dict[str, str], folder: Path) -> int:
    """Prints what differs from the real MXNet; how much of that is worse, or missing in README.md."""
    wrong = 0
    explained = (HERE / "README.md").read_text()
    for test in sorted({*expected, *outcomes}):
        there, here = expected.get(test, "absent"), outcomes.get(test, "absent")
        if there == here:
            continue
        verdict = "explained in README.md" if f"`{test}`" in explained else "not explained in README.md"
        if there == "passed":
            verdict = "WRONG"
        wrong += not verdict.startswith("explained")
        print(f"test-clients: {test}: {there} on MXNet 1.9.1, {here} here; {verdict}")
    passed = [test for test, outcome in outcomes.items() if outcome == "passed"]
    kept = sum(expected.get(test) == "passed" for test in passed)
    total = sum(outcome == "passed" for outcome in expected.values())
    print(f"test-clients: {kept} of the {total} tests that pass on MXNet 1.9.1, and {len(passed) - kept} more")
    if wrong:
        print(f"test-clients: what they printed is in {folder}/*.log")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the source distributions are")
    parser.add_argument("--record", action="store_true", help="run the real MXNet 1.9.1 and write expected.txt")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if arguments.record:
        lines = [f"{outcome} {test}\n" for test, outcome in sorted(run(folder, "mxnet").items())]
        EXPECTED.write_text(HEADER + "".join(lines))
        return 0
    lines = [line for line in EXPECTED.read_text().splitlines() if not line.startswith("#")]
    expected = {test: outcome for outcome, test in (line.split(" ", 1) for line in lines)}
    return 1 if compare(expected, run(folder, "mxlite"), folder) else 0


if __name__ == "__main__":
    sys.exit(main())
