"""mx.library, in a process of its own: what is loaded stays, and other tests list all operators that there are."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from _loaded import COMPILER

TESTS = Path(__file__).with_name("_loaded.py")


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="libraries are built by a C compiler")
def test_libraries_of_operators():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
