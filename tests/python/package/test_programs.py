"""Programs that import mxnet find on mxlite what they find on the real MXNet 1.9.1.

Those of tests/clients/programs are small projects; those of tests/scripts/packages do what well-known packages do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
#: How close the numbers of a folder's programs are. Training adds roundings up: a loss after 60 steps agrees to some
#: five digits.
CLOSE = {
    "tests/clients/programs": {"rtol": 1e-3, "atol": 1e-4},
    "tests/scripts/packages": {"rtol": 5e-5, "atol": 5e-6},
}
EXPECTED = {folder: json.loads((ROOT / folder / "expected.json").read_text()) for folder in CLOSE}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    """What the programs find here; those of a folder are run in one process that has mxlite as mxnet."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    results = {}
    for folder in CLOSE:
        path = tmp_path_factory.mktemp("programs") / "found.json"
        command = [sys.executable, str(ROOT / "tests/clients/run_programs.py"), str(ROOT / folder), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        results[folder] = json.loads(path.read_text())
    return results


def agree(here: object, there: object, close: dict) -> bool:
    """Whether two findings are alike: arrays in dtype and shape, numbers nearly, everything else to the letter."""
    if isinstance(there, dict):
        return list(here) == list(there) and all(agree(here[key], there[key], close) for key in there)
    if isinstance(there, list):
        return len(here) == len(there) and all(agree(one, other, close) for one, other in zip(here, there))
    if isinstance(there, float):
        return isinstance(here, float) and bool(np.isclose(here, there, **close))
    return type(here) is type(there) and here == there


@pytest.mark.parametrize("folder", CLOSE)
def test_every_program_is_there(folder):
    programs = [path.stem for path in (ROOT / folder).iterdir() if path.suffix in (".py", ".ipynb")]
    assert sorted(EXPECTED[folder]) == sorted(programs)


@pytest.mark.parametrize("folder, name", [(folder, name) for folder in CLOSE for name in sorted(EXPECTED[folder])])
def test_programs_find_the_same(found, folder, name):
    here, there = found[folder][name], EXPECTED[folder][name]
    assert sorted(here) == sorted(there)
    wrong = {key: (here[key], there[key]) for key in there if not agree(here[key], there[key], CLOSE[folder])}
    assert not wrong


def test_what_agrees():
    array = {"dtype": "int8", "shape": [2], "values": [1, 2]}
    close = {"rtol": 1e-3, "atol": 1e-4}
    assert agree(array, dict(array), close) and agree([1.0, "a"], [1.0001, "a"], close)
    for other in ({**array, "dtype": "int32"}, {**array, "shape": [2, 1]}, {**array, "values": [1, 3]}):
        assert not agree(array, other, close)
    for here, there in ((1, 1.0), ([1.0], [1.0, 1.0]), (float("nan"), 1.0)):
        assert not agree(here, there, close)
