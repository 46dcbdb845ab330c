"""Rows of the operators that the library does not list (`_mxl_*`): values, derivatives, layouts; every one has rows."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest
import test_cases_forward as forward
import test_cases_gradient as gradient
import test_cases_layouts as layouts
from cases import INTERNAL, OWN

from mxlite._lib import LIB

pytestmark = pytest.mark.one_binding

SOURCES = Path(__file__).resolve().parents[3] / "capi"
OPERATORS = sorted({case.op for case in INTERNAL})
VALUES = [case for case in INTERNAL if not case.error]
ERRORS = [case for case in INTERNAL if case.error]
FIRST = [case for case in INTERNAL if case.order >= 1]
SECOND = [case for case in INTERNAL if case.order >= 2]
#: Checked elsewhere: by the rows of SoftmaxOutput, whose rule alone uses it, and by test_ops_loss.c; by those of RNN,
#: CTCLoss and _contrib_hawkesll; by those of attention, whose gradients they are; by those of Embedding with
#: sparse_grad, and test_sparse_steps.c; by test_fuse*.py, test_random_graphs.py and tests/python/quantized, whose
#: graphs alone have them.
ELSEWHERE = {"_mxl_softmax_target", "_mxl_rnn", "_mxl_ctc", "_mxl_hawkes", "_mxl_heads_score", "_mxl_heads_mix"}
ELSEWHERE |= {"_mxl_embedding_grad", "_mxl_fused_convolution", "_mxl_fused_attention", "_mxl_fused_dense"}
ELSEWHERE |= {"_mxl_gelu", "_mxl_gelu_tanh", "_mxl_last_norm", "_mxl_norm_relu", "_mxl_quantized_block"}
ELSEWHERE |= {"_mxl_quantized_pooling_last", "_mxl_quantized_concat_last", "_mxl_quantized_limit"}


def _id(case) -> str:
    return case.id


def test_every_internal_operator_has_rows() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.c")))
    handle = ctypes.c_void_p()
    found = set()
    words = set(re.findall(r"\w+", text))  # macros join names: "_mxl_" #id
    for name in {word if word.startswith("_mxl_") else "_mxl_" + word for word in words}:
        if LIB.NNGetOpHandle(name.encode(), ctypes.byref(handle)) == 0:
            found.add(name)
    assert len(found) > 30
    assert found == set(OPERATORS) | {case.op for case in OWN} | ELSEWHERE
    assert not {case.op for case in OWN} & set(OPERATORS)


@pytest.mark.parametrize("case", VALUES, ids=_id)
def test_values(case) -> None:
    forward.test_values(case, "text")


@pytest.mark.parametrize("case", ERRORS, ids=_id)
def test_errors(case) -> None:
    forward.test_errors(case, "text")


@pytest.mark.parametrize("case", FIRST, ids=_id)
def test_first(case) -> None:
    gradient.test_first(case)


@pytest.mark.parametrize("case", SECOND, ids=_id)
def test_second(case) -> None:
    gradient.test_second(case)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", FIRST, ids=_id)
def test_rules_in_one_pass_agree_with_the_formulas(case, dtype: str) -> None:
    gradient.test_rules_in_one_pass_agree_with_the_formulas(case, dtype)


@layouts.shares(OPERATORS)
def test_inputs_in_layouts(name: str, share: str) -> None:
    layouts.test_inputs(name, share)


@layouts.shares(OPERATORS)
def test_outputs_in_layouts(name: str, share: str) -> None:
    layouts.test_outputs(name, share)


@layouts.shares(OPERATORS)
def test_gradients_in_layouts(name: str, share: str) -> None:
    layouts.test_gradients(name, share)
