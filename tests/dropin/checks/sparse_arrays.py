"""Sparse arrays: the expressions of tests/python/sparse, with all parts of what they give."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import mxnet as mx
from kit import area, each

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "sparse"))

import _answers  # noqa: E402

area("sparse")


def _answer(line: str) -> str:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return _answers.answer(mx, line)
        finally:
            os.chdir(before)


each("", _answers.lines(), _answer)
