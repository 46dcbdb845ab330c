"""Operators without memory: whichever allocation fails, a call is an error and the process goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mxlite.libinfo import find_lib_path

pytestmark = pytest.mark.one_binding


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize("rows", [1, pytest.param(8, marks=pytest.mark.whole)])
def test_no_failing_allocation_ends_the_process(rows: int) -> None:
    """Of so many rows of each operator."""
    script = Path(__file__).with_name("_failing.py")
    library = os.environ.get("MXLITE_LIBRARY") or find_lib_path()[0]
    environment = {**os.environ, "MXLITE_BINDING": "ctypes", "MXLITE_NUM_THREADS": "1", "MXLITE_LIBRARY": library}
    run = subprocess.run(
        [sys.executable, str(script), str(rows), library], capture_output=True, text=True, env=environment, timeout=600
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.split()[-1:] == ["operators"] and run.stdout.count("\n") == 1, run.stdout
