"""What PyTorch refuses is refused, with an error of its class that says what is wrong and does not come from within.

The table is tests/torch/modules/refusals.py; check_refusals.py compares it, and more, with PyTorch.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import warnings
from typing import Any

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch.nn import functional as F  # noqa: N812

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "torch"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "torch", "modules"))

from compare import builtin
from refusals import REFUSED, SETUP

CALLS = [(kind, text.strip()) for kind, texts in REFUSED.items() for text in texts.strip().splitlines()]


def refused(text: str) -> BaseException:
    """The error of an expression, which a line of the package raises."""
    names: dict[str, Any] = {"torch": torch, "np": np}
    exec(SETUP, names)  # noqa: S102 - text of our own
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:  # noqa: PT011 - its class is compared
        warnings.simplefilter("ignore")
        eval(text, names)
    return caught.value


@pytest.mark.parametrize(("kind", "text"), CALLS, ids=[text for _, text in CALLS])
def test_what_pytorch_refuses(kind: str, text: str) -> None:
    problem = refused(text)
    assert builtin(problem) == kind, problem
    last = [each for each in traceback.extract_tb(problem.__traceback__) if "mxlite" in each.filename][-1:]
    assert not last or "raise" in linecache.getline(last[0].filename, last[0].lineno), problem


A = torch.arange(4.0)
KINDS = {
    "A.sum(0, 1)": "keepdim",
    "A.sum(0, keepdim=1)": "keepdim",
    "torch.argmax(A, 0, float('nan'))": "keepdim",
    "A.amax((0,), 2)": "keepdim",
    "torch.tril(3)": "input",
    "A.index_select('a', A)": "dim",
    "torch.bmm(A, 3)": "mat2",
    "A.gather(0, 1)": "index",
    "F.mse_loss(A, A, reduction=1)": "reduction",
    "F.nll_loss(A, 3)": "target",
    "F.conv1d(A.view(1, 1, 4), A.view(1, 1, 4), groups=1.0)": "groups",
    "F.pad(A, 1)": "pad",
}


@pytest.mark.parametrize("text", KINDS)
def test_errors_name_the_argument(text: str) -> None:
    with pytest.raises((TypeError, ValueError), match=KINDS[text]):
        eval(text)


def test_borderline_arguments_have_answers() -> None:
    x, target = torch.arange(12.0).view(3, 4) / 7, torch.tensor([0, 1, 2])
    assert F.nll_loss(x[0], torch.tensor([1])).item() == pytest.approx(-1 / 7)
    plain = F.cross_entropy(x, target).item()
    for smoothing in (0.0, -0.5, float("nan")):
        assert F.cross_entropy(x, target, label_smoothing=smoothing).item() == plain
    assert F.cross_entropy(x, target, label_smoothing=1.0).item() == pytest.approx(1.399013, abs=1e-5)
    row = torch.arange(4.0).view(1, 1, 4)
    for pad, mode, expected in (
        ((-1, 2), "reflect", [1, 2, 3, 2, 1]),
        ((3, -2), "reflect", [3, 2, 1, 0, 1]),
        ((-1, 3), "circular", [1, 2, 3, 1, 2, 3]),
        ((-2, -1), "circular", [2]),
        ((2, -3), "replicate", [0, 0, 0]),
    ):
        assert F.pad(row, pad, mode=mode).view(-1).tolist() == expected, (pad, mode)
    for made in (F.max_pool2d(torch.zeros(0, 3, 4, 4), 2), F.avg_pool2d(torch.zeros(0, 3, 4, 4), 2)):
        assert made.shape == (0, 3, 2, 2)
    assert F.group_norm(torch.zeros(0, 4, 3), 2).shape == (0, 4, 3)
    assert F.adaptive_max_pool2d(torch.zeros(2, 3, 5, 5), 0).shape == (2, 3, 0, 0)
    assert torch.cosine_similarity(torch.ones(2, 3), torch.ones(3)).tolist() == pytest.approx([1, 1])


@pytest.mark.parametrize(
    "text",
    ["torch.outer(A.view(2, 2), A)", "A.ger(torch.ones(()))", "torch.ones(2, 3).matrix_power(1)", "A.matrix_power(0)",
     "torch.meshgrid(A.view(2, 2), A, indexing='ij')", "torch.bernoulli(A)", "torch.bernoulli(-A)",
     "torch.multinomial(A.long(), 1)", "torch.addmv(A, torch.ones(4, 2), A)", "torch.addmv(A.view(2, 2), A, A)"],
)  # fmt: skip
def test_shapes_and_probabilities_that_do_not_do(text: str) -> None:
    with pytest.raises(RuntimeError, match=":"):
        eval(text)
    with pytest.raises(NotImplementedError):
        torch.bernoulli(A.long())


# ---- indices ----


def put(target: Any, key: Any, value: Any) -> Any:
    target[key] = value
    return target


def test_a_byte_without_dimensions_is_a_mask() -> None:
    yes, no = torch.tensor(1, dtype=torch.uint8), torch.tensor(0, dtype=torch.uint8)
    assert (A[yes].tolist(), A[no].shape) == ([[0, 1, 2, 3]], (0, 4))
    assert (A[0:2, yes].tolist(), A[yes, yes].shape, torch.tensor(3.0)[yes].tolist()) == ([[0], [1]], (1, 4), [3])
    assert put(torch.arange(3.0), yes, 7).tolist() == [7, 7, 7]
    assert put(torch.arange(3.0), no, 7).tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", [torch.ones(2).double(), torch.ones(2).long(), torch.tensor(1.0).double()])
def test_assigning_another_dtype_by_index_is_refused(value: Any) -> None:
    for key in (torch.tensor([0, 1]), [0, 1], (torch.tensor([0, 1]),)):
        with pytest.raises(RuntimeError, match="dtypes"):
            put(torch.arange(4.0), key, value)
    mask = torch.tensor([True, True, False, False])
    if value.ndim:
        with pytest.raises(RuntimeError, match="dtypes"):
            put(torch.arange(4.0), mask, value)
        assert put(torch.arange(4.0), slice(0, 2), value).tolist() == [1, 1, 2, 3]
    else:
        assert put(torch.arange(4.0), mask, value).tolist() == [1, 1, 2, 3]
        with pytest.raises(RuntimeError, match="dtypes"):
            torch.arange(4.0).index_put_((mask,), value, True)


def test_values_and_bounds_of_other_kinds() -> None:
    for value, error in ((1j, RuntimeError), ("a", TypeError), (None, TypeError), ([1], TypeError)):
        for key in (0, torch.tensor([9]), "a"):  # the value is looked at first
            with pytest.raises(error):
                put(torch.arange(4.0), key, value)
    for key in (slice(1.5), slice("a"), slice(None, torch.tensor(1.0))):
        with pytest.raises(TypeError, match="slice"):
            A[key]
    for indices, values in ((A.long(), A), ((None,), 1), ((torch.tensor(True),), 1)):
        with pytest.raises(TypeError):
            torch.arange(4.0).index_put_(indices, values)
