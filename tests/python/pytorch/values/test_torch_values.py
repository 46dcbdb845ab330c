"""Layers, functions and tools of training against what PyTorch gave: values, gradients, dtypes, texts, states.

values.json has PyTorch's answers to the expressions of _value_cases.py, as tests/torch/modules/check_values.py records
them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from _value_cases import ROWS, differs, evaluate

import mxlite.torch as torch

RECORD = json.loads((Path(__file__).parent / "values.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", ROWS)
def test_it_is_as_pytorch_has_it(text: str) -> None:
    assert differs(RECORD[text], json.loads(json.dumps(evaluate(torch, text)))) == ""
