"""Programs that import mxnet (tests/clients/programs) find on mxlite what they find on the real MXNet 1.9.1."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
CLIENTS = ROOT / "tests/clients"
EXPECTED = json.loads((CLIENTS / "programs/expected.json").read_text())
#: Training adds roundings up: a loss after 60 steps agrees to some five digits.
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    """What the programs find here, each run in one process that has mxlite as mxnet."""
    path = tmp_path_factory.mktemp("programs") / "found.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, str(CLIENTS / "run_programs.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


def agree(here: object, there: object) -> bool:
    """Whether two findings are alike: arrays in dtype and shape, numbers nearly, everything else to the letter."""
    if isinstance(there, dict):
        return list(here) == list(there) and all(agree(here[key], there[key]) for key in there)
    if isinstance(there, list):
        return len(here) == len(there) and all(agree(one, other) for one, other in zip(here, there))
    if isinstance(there, float):
        return isinstance(here, float) and bool(np.isclose(here, there, **CLOSE))
    return type(here) is type(there) and here == there


def test_every_program_is_there():
    assert sorted(EXPECTED) == sorted(path.stem for path in (CLIENTS / "programs").glob("*.py"))


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_programs_find_the_same(found, name):
    here, there = found[name], EXPECTED[name]
    assert sorted(here) == sorted(there)
    wrong = {key: (here[key], there[key]) for key in there if not agree(here[key], there[key])}
    assert not wrong


def test_what_agrees():
    array = {"dtype": "int8", "shape": [2], "values": [1, 2]}
    assert agree(array, dict(array)) and agree([1.0, "a"], [1.0001, "a"])
    for other in ({**array, "dtype": "int32"}, {**array, "shape": [2, 1]}, {**array, "values": [1, 3]}):
        assert not agree(array, other)
    assert not agree(1, 1.0) and not agree([1.0], [1.0, 1.0]) and not agree(float("nan"), 1.0)
