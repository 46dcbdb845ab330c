"""What `mxlite names` says of programs and what `mxlite run` does with them agree.

Programs that stop, and small ones that do not although they look so, are run here (tests/scripts/stops, runs; a comment
marks the line that is told and the one that raises). The training scripts and the examples are run by their own tests.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mxlite._cli._names.judge import Report, on_the_cpu, report
from mxlite._cli._names.known import Known

pytestmark = pytest.mark.one_binding

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "tests/scripts"
STOPPING = sorted((SCRIPTS / "stops").rglob("*.py"))
SMALL = sorted((SCRIPTS / "runs").glob("*.py"))
#: Run by tests/scripts/run.py, test_examples.py, test_programs.py: these fail where one of them stops.
RUNNING = sorted(
    path
    for folder in ("tests/scripts", "tests/scripts/packages", "examples", "examples/typed", "tests/clients/programs")
    for pattern in ("*.py", "*.ipynb")
    for path in (ROOT / folder).glob(pattern)
)
KNOWN = {package: Known(package) for package in ("mxnet", "torch")}


def package(path: Path) -> str:
    return "torch" if path.stem.startswith("torch_") else "mxnet"


def names(path: Path) -> Report:
    return report(path, package(path), KNOWN[package(path)])


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list | None]:
    """How the programs end: one process for each package runs all of them."""
    found: dict[str, list | None] = {}
    for each in KNOWN:
        found.update(run(each, [path for path in (*STOPPING, *SMALL) if package(path) == each]))
    return found


def run(how: str, paths: list[Path]) -> dict[str, list | None]:
    command = [sys.executable, str(SCRIPTS / "outcomes.py"), how, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def marked(path: Path, mark: str) -> list[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [at for at, line in enumerate(lines, 1) if re.search(f"# ({mark})$", line)]


@pytest.mark.parametrize("path", STOPPING, ids=lambda path: path.stem)
def test_what_stops_is_told_with_its_line_and_reason(path: Path, outcomes: dict[str, list | None]) -> None:
    ended = outcomes[str(path)]
    assert ended is not None, "it runs"
    line, _, text = ended
    assert [line] == marked(path, "stops|raised"), text
    told = names(path).of("stops")
    assert told and [told[0].place] == [f"line {each}" for each in marked(path, "stops|told")]
    if not told[0].helps:  # what GPUs raise depends on what is made there
        raised, why = (re.sub("Parameter '[^']*'", "Parameter", each) for each in (text.split("\n")[0], told[0].why))
        assert why.startswith(raised)  # a hint may follow
    assert path.read_text(encoding="utf-8").splitlines()[int(told[0].place[len("line ") :]) - 1].strip() == told[0].code


def test_what_gpus_alone_stop_runs_on_the_cpu() -> None:
    for each, how in (("mxnet", "cpu"), ("torch", "torch-cpu")):
        told = [path for path in STOPPING if package(path) == each and on_the_cpu(names(path))]
        assert len(told) > 2 and run(how, told) == {str(path): None for path in told}


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_what_runs_is_not_said_to_stop(path: Path, outcomes: dict[str, list | None]) -> None:
    assert outcomes[str(path)] is None
    one = names(path)
    assert one.names and not one.of("stops") and not one.problem


@pytest.mark.parametrize("path", RUNNING, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_training_scripts_and_examples_run(path: Path) -> None:
    one = names(path)
    assert not one.of("stops") and not one.problem


def test_the_training_scripts_use_the_package() -> None:
    assert sum(bool(names(path).names) for path in RUNNING) > 15
