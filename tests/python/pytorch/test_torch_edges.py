"""mxlite.torch at edges of values, dtypes and arguments, beside PyTorch 2.13's answers as text.

What random calls (tests/torch/check_calls.py) found: a row for each kind of mistake.
"""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import pytest

import mxlite.torch as torch

nan, inf = math.nan, math.inf

SPACE = {"torch": torch, "t": torch.tensor, "F": torch.nn.functional, "nan": math.nan, "inf": math.inf}

#: Calls, and what PyTorch prints.
VALUES = {
    "torch.relu(t([-0.0, nan, -1.0]))": "tensor([-0., nan, 0.])",
    "t([nan, 1.0, 5.0, -3.0]).clamp(2.0, -1.5)": "tensor([    nan, -1.5000, -1.5000, -1.5000])",
    "t([1.0, 5.0]).clamp(min=nan)": "tensor([nan, nan])",
    "t([nan, 1.0, 5.0, -3.0]).clamp(t(2.0), t(-1.5))": "tensor([    nan, -1.5000, -1.5000, -1.5000])",
    "t([1, 2, 3]).clamp(0.5, 2)": "tensor([1., 2., 2.])",
    "t([1, 2, 3]).clamp(2, t(2))": "tensor([2, 2, 2])",
    "t([-1.0, 0.5, 3.0]).clamp_(t([0.0, 0.0, 0.0]), t([1.0, 1.0, 1.0]))": "tensor([0.0000, 0.5000, 1.0000])",
    "t([1.0, 2.0]).clamp_(min=t([1.5, 1.5], dtype=torch.float64))": "tensor([1.5000, 2.0000])",
    "torch.digamma(t([0.0, -0.0, -1.0, -2.0, inf, -inf]))": "tensor([-inf, inf, nan, nan, inf, nan])",
    "t([1.25, 2.5, nan, inf, 123.0]).round(decimals=1)": "tensor([  1.2000,   2.5000,      nan,      inf, 123.0000])",
    "t([1.25, -123.0]).round_(decimals=-1)": "tensor([   0., -120.])",
    "F.softshrink(t([0.5, 0.75, nan, -1.0, inf]))": "tensor([ 0.0000,  0.2500,     nan, -0.5000,     inf])",
    "F.hardshrink(t([-0.2, nan, 1.0, -0.5]))": "tensor([0., nan, 1., 0.])",
    "F.logsigmoid(t([1e20, 200.0]))": "tensor([0., 0.])",
    "F.threshold(t([nan, -1.0, 2.0]), 1.5, -3.0)": "tensor([nan, -3.,  2.])",
    "F.hardtanh(t([1, 2, 3]), -1.5, 2.5)": "tensor([1, 2, 2])",
    "torch.zeros(0).var(correction=-1)": "tensor(nan)",
    "t([1e20, -1e20]).std()": "tensor(1.4142e+20)",
    "t([1.0, 2.0]).atan2(t([1.0, 2.0], dtype=torch.float16))": "tensor([0.7854, 0.7854])",
    "t([1, 2]).atan2(t([1.0, 2.0], dtype=torch.float16))": "tensor([0.7852, 0.7852], dtype=torch.float16)",
    "t([1, 2, 3]).addcmul(t([1, 2, 3]), t([1, 2, 3]), value=1.5)": "tensor([ 2,  6, 12])",
    "t([1.0]).addcdiv(t([1e20]), t([1e-30]), value=1e-30)": "tensor([1.0000e+20])",
    "t([0.0]).addcdiv(t([2.0], dtype=torch.float64), t(4.0, dtype=torch.float64)).dtype": "torch.float64",
    "torch.addmm(t([[1]]), t([[2]]), t([[3]]), alpha=-1.5)": "tensor([[-5]])",
    "torch.addmv(t([nan]), t([[2.0]]), t([3.0]), beta=0)": "tensor([6.])",
    "torch.baddbmm(t([[[nan]]]), t([[[2.0]]]), t([[[3.0]]]), beta=0)": "tensor([[[6.]]])",
    "torch.bmm(torch.ones(1, 2, 2).half(), torch.ones(1, 2, 2).half()).tolist()": "[[[2.0, 2.0], [2.0, 2.0]]]",
    "torch.ones(2, 3).diagonal(5)": "tensor([])",
    "torch.ones(2, 1, 3).diagonal(3).shape": "torch.Size([3, 0])",
    "torch.ones(0, 3).diag(-2)": "tensor([])",
    "t(5.0).mT": "tensor(5.)",
    "t(5.0).argmin(0, True)": "tensor(0)",
    "torch.linspace(3, -1.5, 5, dtype=torch.int32)": "tensor([ 3,  2,  1,  0, -1], dtype=torch.int32)",
    "torch.logspace(-1, 0.5, 2, dtype=torch.int8)": "tensor([0, 1], dtype=torch.int8)",
    "t([True, False]).add(t([True, True]), alpha=True)": "tensor([True, True])",
    "torch.zeros(0, dtype=torch.int32) % 0": "tensor([], dtype=torch.int32)",
    "torch.zeros(0, dtype=torch.int32) // 0": "tensor([], dtype=torch.int32)",
    "torch.einsum('ii', t([[True, False], [False, True]]))": "tensor(2)",
    "torch.gather(t([1.0, 2.0]), 0, t([1], dtype=torch.int32))": "tensor([2.])",
    "t([1.0, 2.0]).index_put_((t(True),), t(7.0))": "tensor([7., 7.])",
    "F.huber_loss(t([1.0]).half(), t([3.0], dtype=torch.float64))": "tensor(1.5000, dtype=torch.float16)",
    "F.mse_loss(t([1.0, 2.0]), t([True, False]))": "tensor(2.)",
    "F.nll_loss(t([[1.0, 2.0]]), t([1], dtype=torch.uint8))": "tensor(-2.)",
    "F.nll_loss(torch.arange(200.0).reshape(1, 200), t([156], dtype=torch.uint8))": "tensor(-156.)",
}

#: Calls that PyTorch refuses, and the class of its error.
ERRORS = {
    "~t([1.0])": TypeError,
    "t([1.0]).bitwise_not()": NotImplementedError,
    "t([1, 2]).erfc_()": RuntimeError,
    "t([True]).clamp(True, False)": NotImplementedError,
    "t([True]).clone().clamp_(0, 1)": RuntimeError,
    "t([1.0, 2.0]).clamp(0, t([1.0, 2.0]))": TypeError,
    "t([1, 2], dtype=torch.int8).clamp(min=300)": RuntimeError,
    "t([1, 2]).round(decimals=1)": NotImplementedError,
    "t([1.0]).isclose(t([1]))": RuntimeError,
    "t([1.0, 2.0]).isclose(t([1.0, 2.0, 3.0]))": RuntimeError,
    "t([1.0, 2.0]).atan2(t([1.0, 2.0, 3.0]))": RuntimeError,
    "t([1.0]).lerp(t([1.0], dtype=torch.float64), 0.5)": RuntimeError,
    "t([1]).lerp(t([1]), 0.5)": NotImplementedError,
    "t([1]).addcdiv(t([1]), t([1]))": RuntimeError,
    "t([True]).addcmul(t([True]), t([True]))": NotImplementedError,
    "t([1, 2]) << t([1.0])": NotImplementedError,
    "t([1, 2]).__ior__(t([1.0]))": RuntimeError,
    "t([1, 2]) | t([1, 2, 3])": RuntimeError,
    "t([1.0], requires_grad=True).sum(dtype=torch.int64)": RuntimeError,
    "t([1.0]).cumprod(0, dtype=torch.bool)": NotImplementedError,
    "t([True]).topk(1)": RuntimeError,
    "torch.meshgrid(t([1.0]), t([1]), indexing='ij')": RuntimeError,
    "F.prelu(t([1.0]), t([1.0], dtype=torch.float64))": RuntimeError,
    "F.relu6(t([True]))": RuntimeError,
    "F.elu(t([1]))": NotImplementedError,
    "F.celu(t([1.0]), 0.0)": RuntimeError,
    "F.kl_div(t([1.0]), t([1]))": RuntimeError,
    "F.layer_norm(t([1, 2]), (2,))": NotImplementedError,
    "torch.zeros(0).norm(-1)": RuntimeError,
    "torch.randperm(3, dtype=torch.bool)": NotImplementedError,
    "torch.linspace(0, 1, 3, dtype=torch.bool)": NotImplementedError,
    "torch.scalar_tensor(-1.5, dtype=torch.uint8)": RuntimeError,
    "torch.arange(nan, 4, 1)": RuntimeError,
    "t([1.0, 2.0]).repeat_interleave(t([1, 2, 3]))": RuntimeError,
    "t([1.0, 2.0]).repeat_interleave(t([1.0, 2.0]))": NotImplementedError,
    "t(3).argmin(1)": IndexError,
    "F.cross_entropy(t([[1.0, 2.0]]), t([[0.5, 0.5]]), reduction='most')": ValueError,
}

#: Calls that PyTorch refuses, and what it says.
MESSAGES = {
    f"F.{name}(t([[1.0, 2.0]]), t([{target}]){weight})": f"one of 2 classes, got {target}"
    for name in ("nll_loss", "cross_entropy")
    for target in (2, -1)
    for weight in ("", ", t([1.0, 1.0])")
}

#: Functions of x, values of x, and PyTorch's first and second derivatives of their sum.
GRADIENTS = {
    "x.clamp(-1.0, 1.0)": ([-1.0, 1.0, 2.0, nan], [1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    "x.clamp(2.0, -1.0)": ([-1.0, 1.0, 2.0, nan], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    "x.clamp(min=t([0.0, 1.0, 3.0, 0.0]))": ([-1.0, 1.0, 2.0, nan], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    "(x * 1).clamp_(max=t([0.0, 1.0, 3.0, 0.0]))": ([-1.0, 1.0, 2.0, nan], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
    "torch.lgamma(x)": ([0.0, -0.0, -1.0, 1.0], [-inf, inf, nan, -0.5772], None),
    "F.elu(x, 1.5)": ([0.0, -1.0, 1.0, nan], [1.5, 0.5518, 1.0, 1.0], [0.0, 0.5518, 0.0, 0.0]),
    "F.celu(x, 2.0)": ([0.0, -1.0, 1.0, nan], [1.0, 0.6065, 1.0, 1.0], [0.0, 0.3033, 0.0, 0.0]),
    "F.selu(x)": ([0.0, -1.0, 1.0, nan], [1.7581, 0.6468, 1.0507, 1.0507], [0.0, 0.6468, 0.0, 0.0]),
    "F.softplus(x, 1.0, 2.0)": ([2.0, 0.5, 3.0, -1.0], [0.8808, 0.6225, 1.0, 0.2689], [0.0, 0.235, 0.0, 0.1966]),
    "F.huber_loss(x, torch.zeros(4), reduction='none')": (
        [1.0, -1.0, 0.5, 2.0],
        [1.0, -1.0, 0.5, 1.0],
        [0.0, 0.0, 1.0, 0.0],
    ),
    "F.smooth_l1_loss(x, torch.zeros(4), reduction='none')": (
        [1.0, -2.0, 0.5, 2.0],
        [1.0, -1.0, 0.5, 1.0],
        [0.0, 0.0, 1.0, 0.0],
    ),
    "F.prelu(x, t([0.5]))": ([1.0, nan, -1.0, 2.0], [1.0, 0.5, 0.5, 1.0], [0.0, 0.0, 0.0, 0.0]),
    "x.norm(0.5)": ([1.0, 0.0, -2.0, 4.0], [4.4142, 0.0, -3.1213, 2.2071], [-1.8107, nan, -1.0607, -0.0777]),
    "x.std(0, correction=7)": ([1.0, 0.0, -2.0, 4.0], [-0.0, 0.0, 0.0, -0.0], [0.0, 0.0, 0.0, 0.0]),
    "x.std(correction=7)": ([1.0, 0.0, -2.0, 4.0], [nan, nan, nan, nan], [nan, nan, nan, nan]),
    "F.binary_cross_entropy(t([0.0, 1.0, 0.5, 0.25]), x)": (
        [0.5, 0.5, 0.5, 0.5],
        [inf, -inf, -0.0, 0.2747],
        [0.0, 0.0, 0.0, 0.0],
    ),
}


def evaluate(text: str, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, {**SPACE, **more})


@pytest.mark.parametrize("text", VALUES)
def test_values(text):
    assert repr(evaluate(text)) == VALUES[text]


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text):
    with pytest.raises(ERRORS[text]):
        evaluate(text)


@pytest.mark.parametrize("text", MESSAGES)
def test_messages(text):
    with pytest.raises(IndexError, match=re.escape(MESSAGES[text])):
        evaluate(text)


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text):
    values, first, second = GRADIENTS[text]
    x = torch.tensor(values, requires_grad=True)
    (gradient,) = torch.autograd.grad(evaluate(text, x=x).sum(), x, create_graph=True)
    assert gradient.tolist() == pytest.approx(first, rel=1e-3, abs=1e-4, nan_ok=True)
    if second is not None and gradient.requires_grad:
        (again,) = torch.autograd.grad(gradient.sum(), x)
        assert again.tolist() == pytest.approx(second, rel=1e-3, abs=1e-4, nan_ok=True)


def test_xlogy_and_kl_div_of_negative_numbers() -> None:
    """A gradient of 0 stays 0 where the logarithm is NaN or infinite, as PyTorch has it; NaN stays in tangents."""
    other = torch.tensor([-0.3, 0.0, math.inf, 2.0], dtype=torch.float64)
    for function in (torch.xlogy, torch.special.xlog1py):
        x = torch.ones(4, dtype=torch.float64, requires_grad=True)
        (found,) = torch.autograd.grad(function(x, other).sum() * 0, x)
        assert found.tolist() == [0.0] * 4
    target = torch.tensor([-0.3, 0.4], dtype=torch.float64)
    kl_div = torch.nn.functional.kl_div
    rows = torch.func.jacrev(lambda t: kl_div(torch.zeros(2, dtype=torch.float64), t, reduction="none"))(target)
    assert [[math.isnan(each) for each in row] for row in rows.tolist()] == [[True, False], [False, False]]
    columns = torch.func.jacfwd(lambda t: kl_div(torch.zeros(2, dtype=torch.float64), t, reduction="none"))(target)
    assert [[math.isnan(each) for each in row] for row in columns.tolist()] == [[True, False], [False, False]]
