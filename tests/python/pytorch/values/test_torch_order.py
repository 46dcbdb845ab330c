"""mxlite.torch: elements along a dimension with where they are, and attention: gradients of order 2, and what is no
part of the graph."""

from __future__ import annotations

import pytest

import mxlite.torch as torch
from mxlite.torch.autograd import gradcheck, gradgradcheck

F = torch.nn.functional
FOUND = {
    "max": lambda x: x.max(1),
    "min kept": lambda x: torch.min(x, 0, keepdim=True),
    "median": lambda x: x.median(-1),
    "sort": lambda x: x.sort(0),
    "sort down": lambda x: torch.sort(x, dim=1, descending=True),
    "topk": lambda x: x.topk(2),
    "topk of the smallest": lambda x: x.topk(1, 0, largest=False),
}


def rows(*shape: int, kind=torch.float64) -> torch.Tensor:
    size = 1
    for each in shape:
        size *= each
    return ((torch.arange(size) * 7 % size).reshape(shape) / 3).to(kind)


@pytest.mark.parametrize("name", FOUND)
def test_values_have_gradients_and_indices_none(name):
    x = rows(4, 5).requires_grad_()
    values, indices = FOUND[name](x)
    assert values.requires_grad and not indices.requires_grad and indices.grad_fn is None
    assert indices.dtype is torch.int64
    assert gradcheck(lambda x: FOUND[name](x)[0], x) and gradgradcheck(lambda x: FOUND[name](x)[0] ** 2, x)
    with torch.no_grad():
        again = FOUND[name](x)
    assert again[0].equal(values) and again[1].equal(indices) and type(again).__name__ == name.split()[0]


@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.int32, torch.float16, torch.float32])
def test_dtypes_of_values(kind):
    x = rows(3, 4, kind=torch.int32).to(kind)
    assert x.max(1).values.dtype is x.min(0)[0].dtype is kind
    if kind is not torch.bool:
        assert x.sort(1).values.tolist() == [sorted(row) for row in x.tolist()]


def test_how_many_topk_takes():
    x = rows(2, 3)
    assert x.topk(0).values.shape == x.topk(0).indices.shape == (2, 0)
    assert x.topk(3)[0].equal(x.sort(1, True)[0])
    for k in (-1, 4):
        with pytest.raises(RuntimeError, match="k is from 0 to 3"):
            x.topk(k)
    assert torch.tensor(2.0).topk(1)[1].item() == 0 and torch.tensor(2.0).sort().values.item() == 2


ATTENTION = {
    "plain": {},
    "scaled": {"scale": -0.4},
    "causal": {"is_causal": True},
    "mask": {"attn_mask": torch.tensor([[True, False, True], [True, True, False], [False, False, False]])},
    "added": {"attn_mask": rows(1, 2, 1, 3)},
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name):
    """One node, whose results are those of the functions that it is composed of."""
    inputs = [(rows(1, 2, 3, 4) / (i + 2)).sin().requires_grad_() for i in range(3)]
    given = ATTENTION[name]

    def attend(*each):
        return F.scaled_dot_product_attention(*each, **given)

    made = attend(*inputs)
    assert made.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
    q, k, v = inputs
    scores = q @ k.mT * given.get("scale", 0.5)
    mask = given.get("attn_mask", torch.tensor(0.0).double())
    if name == "causal":
        mask = torch.ones(3, 3).tril() > 0
    scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype is torch.bool else scores + mask
    wanted = scores.softmax(-1).nan_to_num(0.0) @ v
    torch.testing.assert_close(made, wanted)
    assert gradcheck(attend, inputs) and gradgradcheck(attend, inputs)


def test_attention_of_many_positions_keeps_no_scores():
    inputs = [torch.randn(1, 1, 3000, 4).requires_grad_() for _ in range(3)]
    made = F.scaled_dot_product_attention(*inputs, is_causal=True)
    torch.testing.assert_close(made[0, 0, :1], inputs[2][0, 0, :1])
    made.sum().backward()
    assert abs(inputs[2].grad.sum().item() - 3000 * 4) < 1
    assert inputs[0].grad.shape == (1, 1, 3000, 4)
