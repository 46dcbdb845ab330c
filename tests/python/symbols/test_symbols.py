"""Symbols of the C API beside what the real MXNet 1.9.1 answered to the same calls (`make oracle-symbols`)."""

from __future__ import annotations

import ctypes
import json
import lzma
import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import _cases
import _graph

import mxlite as mx

ANSWERS = Path(__file__).resolve().parents[2] / "reference" / "symbols.json.xz"
#: Cases with another answer here, and why.
DIFFERS = {
    "layer_dtypes: InstanceNorm() of 1": "float64 is normalised, too",
    "layer_dtypes: InstanceNorm() of 2": "float16 is normalised, too",
    "predicting: several": "predictors made together have inputs of their own",
    "control_predicting: branch of 0.0": "shapes through branches are known",
    "control_predicting: branch of 1.0": "shapes through branches are known",
    "control_facts: loop from state": "shapes of data follow from the state's",
    "layer_shapes: _contrib_ModulatedDeformableConvolution(kernel=(3, 3), num_filter=4) of (2, 4, 6, 8)": "offsets and"
    " the mask follow from the data",
    "layer_shapes: InstanceNorm() of (0, 6)": "it needs spatial axes, whatever the batch is",
    "layer_shapes: InstanceNorm() of (4, 6)": "without spatial axes it is an error when it runs there",
}
EXPECTED: dict[str, Any] = json.loads(lzma.decompress(ANSWERS.read_bytes()))


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    library = _graph.Library(mx.libinfo.find_lib_path()[0])
    return json.loads(json.dumps(_cases.run(library)))


def test_every_case_has_an_answer(found: dict[str, Any]) -> None:
    assert set(found) == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_answer_is_that_of_1_9_1(name: str, found: dict[str, Any]) -> None:
    expected = EXPECTED[name]
    if name in DIFFERS:
        assert found[name] != expected
    elif expected == "error" and found[name] == [False]:
        pass  # 1.9.1's operator refuses unknown sizes; here they stay unknown
    else:
        assert found[name] == expected


@pytest.fixture(scope="module")
def library() -> _graph.Library:
    return _graph.Library(mx.libinfo.find_lib_path()[0])


def test_branches_predict(found: dict[str, Any]) -> None:
    assert [found[f"control_predicting: branch of {number}"] for number in (0.0, 1.0)] == [[3.0], [5.0]]


@pytest.mark.parametrize("op", ["multi_sgd_mom_update", "preloaded_multi_sgd_mom_update"])
def test_names_of_groups(op: str, library: _graph.Library) -> None:
    params = (
        {"num_weights": "2"} if op.startswith("preloaded") else {"num_weights": "2", "lrs": "(1, 1)", "wds": "(0, 0)"}
    )
    made = library.op(op, "it", **params)
    rest = ["it_lrs", "it_wds"] if op.startswith("preloaded") else []
    assert made.arguments() == ["it_weight_0", "it_grad_0", "it_weight_1", "it_grad_1", *rest]
    assert made.auxiliary() == ["it_mom_0", "it_mom_1"]


def test_flags(library: _graph.Library) -> None:
    symbol, op = _cases.net(library), ctypes.c_void_p()

    def create(flag: str) -> None:
        keys, values = _graph._texts([flag]), _graph._texts(["True"])
        library.call("MXCreateCachedOpEx", symbol.handle, 1, keys, values, ctypes.byref(op))

    create("static_alloc")
    library.call("MXFreeCachedOp", op)
    with pytest.raises(_graph.GraphError, match="there is no flag nosuch"):
        create("nosuch")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{\n\n!", "JSON: a key without quotes in line 3"),
        ('{"nodes": [}', "JSON: no value in line 1"),
        (
            '{"nodes": [{"op": "exp", "name": "e", "inputs": [[0, 0, 0]]}], "heads": [[0, 0, 0]]}',
            "node 0: the node of an",
        ),
        ('{"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[0, 1, 0]]}', "the output of an input"),
        (
            '{"nodes": [{"op": "null", "name": "x", "inputs": [], "attrs": {"a": 1}}], "heads": []}',
            "attribute a is no text",
        ),
        (
            '{"nodes": [{"op": "exp", "name": "e", "inputs": []}], "heads": [[0, 0, 0]], '
            '"attrs": {"mxnet_version": ["int", 10901]}}',
            "node 0: exp: takes 1 input, got 0",
        ),
        ("[" * 100, "too deep"),
        ('{"a": "\\ud800"}', "a malformed escape"),
    ],
)
def test_damaged_files_name_the_place(text: str, line: str, library: _graph.Library) -> None:
    with pytest.raises(_graph.GraphError) as raised:
        library.read(text)
    assert line in str(raised.value)
