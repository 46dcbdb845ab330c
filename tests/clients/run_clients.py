#!/usr/bin/env python3
"""The clients' own tests, with mxlite as their MXNet: what passes on the real 1.9.1 must pass here (make test-clients).

run_clients.py FOLDER NAME...  unpacks the clients' FOLDER/*.tar.gz into FOLDER and runs, compared with expected.txt
run_clients.py FOLDER NAME... --run  the same by `mxlite run`, which puts back what old clients want of NumPy and Python
run_clients.py FOLDER NAME... --record  the same with the real MXNet 1.9.1; writes expected.txt (make clients-oracle)

Names: tensorly einops (sources.txt), gluonts mxfusion (gluon_clients/sources.txt), gluonts-newer (newer/sources.txt).
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
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "expected.txt"
HEADER = """\
# Outcomes on the real MXNet 1.9.1, Python 3.9 and NumPy 1.23.5. Written by `make clients-oracle`.
# "passed N CLIENT": so many tests pass; those of other outcomes are named.
"""
TIMEOUT = 3600


@dataclass(frozen=True)
class Client:
    """A program that has tests: its source distribution, where the tests are, and what they need."""

    source: str
    tests: str
    #: The variables that choose MXNet, and others.
    variables: dict[str, str] = field(default_factory=dict)
    #: Files and folders left out; README.md says why.
    left_out: tuple[str, ...] = ()
    #: What is imported from its sources, which are not installed.
    path: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


CLIENTS = {
    "tensorly": Client("tensorly-0.4.5", "tensorly", {"TENSORLY_BACKEND": "mxnet"}),
    "einops": Client("einops-0.6.1", "tests", {"EINOPS_TEST_BACKENDS": "mxnet.ndarray"}, ("tests/test_notebooks.py",)),
    "gluonts": Client(
        "gluonts-0.8.1",
        "test",
        {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
        (
            "test/model/naive_predictors",
            "test/model/rotbaum",
            "test/nursery",
            "test/paper_examples",
            "test/shell",
            "test/torch",
        ),
        ("src",),
        ("--timeout=300",),
    ),
    "gluonts-newer": Client(
        "gluonts-0.16.2",
        "test/mx",
        {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"},
        path=("src",),
        # A test without cases, which every pytest calls otherwise.
        options=("--timeout=300", "-p", "no:flaky", "--deselect=test/mx/block/test_scaler.py::test_nopscaler"),
    ),
    "mxfusion": Client("MXFusion-0.3.1", str(HERE / "gluon_clients" / "mxfusion_tests"), path=(".",)),
}


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


def run(folder: Path, which: str, names: list[str], by: list[str]) -> dict[str, str]:
    """Runs the tests of clients, by words that come before `-m pytest`; returns the outcome of each test."""
    outcomes: dict[str, str] = {}
    for client in (CLIENTS[name] for name in names):
        source = unpack(folder, client.source)
        report = folder / f"{client.source}.json"
        report.unlink(missing_ok=True)
        path = [str(HERE), *([str(ROOT)] if which == "mxlite" else []), *(str(source / each) for each in client.path)]
        environment = {
            **os.environ,
            **client.variables,
            "CLIENTS_MXNET": which,
            "CLIENTS_OUTCOMES": str(report),
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [
            sys.executable,
            "-W",
            "ignore",
            *by,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            "-rN",
            "-p",
            "clients_plugin",
        ]
        command += [
            "-c",
            os.devnull,
            f"--rootdir={source if client.tests[0] != '/' else client.tests}",
            "-p",
            "no:cacheprovider",
            *client.options,
            *(f"--ignore={file}" for file in client.left_out),
            client.tests,
        ]
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
        (folder / f"{client.source}.log").write_text(done.stdout + done.stderr)
        if not report.exists() or done.returncode not in (0, 1):
            raise SystemExit(
                f"test-clients: {client.source}: pytest ended with {done.returncode}\n{done.stdout}{done.stderr}"
            )
        for test, outcome in json.loads(report.read_text()).items():
            outcomes[f"{client.source}/{test.replace(str(source), '.')}"] = outcome
    return outcomes


def record(outcomes: dict[str, str], names: list[str]) -> None:
    """Writes expected.txt again, for these clients."""
    sources = {CLIENTS[name].source for name in names}
    kept = [line for line in _expected_lines() if line.split(" ", 2)[-1].partition("/")[0] not in sources]
    counts = Counter(test.partition("/")[0] for test, outcome in outcomes.items() if outcome == "passed")
    lines = [f"passed {number} {source}" for source, number in counts.items()]
    lines += [f"{outcome} - {test}" for test, outcome in outcomes.items() if outcome != "passed"]
    EXPECTED.write_text(HEADER + "".join(f"{line}\n" for line in sorted([*kept, *lines], key=_by_test)))


def _expected_lines() -> list[str]:
    return [line for line in EXPECTED.read_text().splitlines() if not line.startswith("#")]


def _by_test(line: str) -> tuple[str, str]:
    outcome, _, test = line.split(" ", 2)
    return test, outcome


def compare(outcomes: dict[str, str], folder: Path, names: list[str]) -> int:
    """Prints what differs from the real MXNet; how much of that is worse, or missing in README.md."""
    expected, passing = {}, {}
    for outcome, number, test in (line.split(" ", 2) for line in _expected_lines()):
        if outcome == "passed":
            passing[test] = int(number)
        else:
            expected[test] = outcome
    explained = (HERE / "README.md").read_text()
    wrong = 0
    for source in (CLIENTS[name].source for name in names):
        own = {test: outcome for test, outcome in outcomes.items() if test.startswith(f"{source}/")}
        there = {test: outcome for test, outcome in expected.items() if test.startswith(f"{source}/")}
        kept = 0
        for test in sorted({*own, *there}):
            before, here = there.get(test, "passed"), own.get(test, "absent")
            kept += before == here == "passed"
            if before == here:
                continue
            is_explained = any(f"`{each}`" in explained for each in (test, test.partition("[")[0]))
            wrong += not is_explained
            verdict = f"{'explained' if is_explained else 'NOT EXPLAINED'} in README.md"
            print(f"test-clients: {test}: {before} on MXNet 1.9.1, {here} here; {verdict}")
        asked = sum(test not in there for test in own)
        if asked != passing[source]:
            wrong += 1
            print(f"test-clients: {source}: {passing[source]} tests pass on MXNet 1.9.1, and here are {asked} of these")
        print(f"test-clients: {source}: {kept} of the {passing[source]} tests that pass on MXNet 1.9.1 pass here")
    if wrong:
        print(f"test-clients: what they printed is in {folder}/*.log")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the source distributions are")
    parser.add_argument("names", nargs="+", choices=CLIENTS, help="the clients")
    parser.add_argument("--record", action="store_true", help="run the real MXNet 1.9.1 and write expected.txt")
    parser.add_argument("--run", action="store_true", help="run mxlite by `mxlite run`")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if arguments.record:
        record(run(folder, "mxnet", arguments.names, []), arguments.names)
        return 0
    by = ["-m", "mxlite", "run"] if arguments.run else []
    return 1 if compare(run(folder, "mxlite", arguments.names, by), folder, arguments.names) else 0


if __name__ == "__main__":
    sys.exit(main())
