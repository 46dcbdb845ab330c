"""Shapes and dtypes that follow from one input, or from a result, are at least those that 1.9.1 infers."""

from __future__ import annotations

import json
import lzma
import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import _graph
import _inference

import mxlite as mx

ANSWERS = Path(__file__).resolve().parents[2] / "reference" / "inference.json.xz"
EXPECTED: dict[str, dict[str, Any]] = json.loads(lzma.decompress(ANSWERS.read_bytes()))
#: Operators of which 1.9.1 says more or something else, and why it is not followed.
_COUNTS = "1.9.1 counts an unknown size as 0, or an unknown shape as a scalar's: here the result stays unknown"
_REWRITES = "1.9.1 writes over the shapes of inputs that are known"
_GUESSES = "1.9.1 says a dtype of results before the inputs that they depend on have one"
DIFFERS: dict[str, str] = {
    **dict.fromkeys(["Concat", "_rnn_param_concat", "_npi_concatenate", "_npi_where"], _COUNTS),
    **dict.fromkeys([f"_npi_{name}stack" for name in ("v", "h", "d", "column_")], _COUNTS),
    **dict.fromkeys([f"_np_atleast_{axes}d" for axes in (1, 2, 3)], _COUNTS),
    **dict.fromkeys(["_npi_insert_scalar", "_npi_insert_tensor"], _REWRITES),
    **dict.fromkeys(["_npi_pinv", "_npi_solve", "_npi_tensorsolve", "amp_multicast"], _GUESSES),
}


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    library = _graph.Library(mx.libinfo.find_lib_path()[0])
    return {case.id: _inference.answers(library, case) for case in _inference.rows()}


def _less(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """The questions to which 1.9.1 knows more, or something else."""
    return [
        f"{question}: {found.get(question)}, expected {answer}"
        for question, answer in expected.items()
        if answer is not None and not (found.get(question) and _inference.knows(found[question], answer))
    ]


def test_every_operator_is_asked(found: dict[str, dict[str, Any]]) -> None:
    assert len({name.split("/")[0] for name in EXPECTED}) > 500
    assert set(EXPECTED) <= set(found)


@pytest.mark.parametrize("op", sorted({name.split("/")[0] for name in EXPECTED}))
def test_as_much_as_1_9_1(op: str, found: dict[str, dict[str, Any]]) -> None:
    rows = {name: _less(found[name], EXPECTED[name]) for name in EXPECTED if name.split("/")[0] == op}
    less = {name: questions for name, questions in rows.items() if questions}
    assert bool(less) == (op in DIFFERS), less
