"""How results lie in memory: in the order of their inputs' axes, as PyTorch's do, and what follows from it.

The strides are those that PyTorch 2.13 answers; tests/torch/modules/check_refusals.py compares more of them.
"""

from __future__ import annotations

from typing import Any

import pytest

import mxlite.torch as torch
from mxlite.torch.nn import functional as F  # noqa: N812


def turned() -> Any:
    return torch.arange(6.0).view(2, 3).t()  # (3, 2), strides (1, 3)


KEEPS = {
    "clone": lambda x: x.clone(),
    "a number": lambda x: x + 1,
    "two": lambda x: x * x,
    "a row": lambda x: x - torch.ones(2),
    "relu": lambda x: x.relu(),
    "exp": lambda x: x.exp(),
    "compare": lambda x: x > 2,
    "double": lambda x: x.double(),
    "to": lambda x: x.to(torch.float64, copy=True),
    "zeros_like": torch.zeros_like,
    "ones_like": torch.ones_like,
    "full_like": lambda x: torch.full_like(x, 2),
    "rand_like": torch.rand_like,
    "empty_like": torch.empty_like,
    "randint_like": lambda x: torch.randint_like(x, 5),
    "gelu": F.gelu,
    "elu": F.elu,
    "leaky_relu": F.leaky_relu,
    "softplus": F.softplus,
    "prelu": lambda x: F.prelu(x, torch.ones(1)),
    "clamp": lambda x: x.clamp(0, 1),
    "in place": lambda x: x.clone().mul_(2),
}


@pytest.mark.parametrize("name", KEEPS)
def test_results_lie_as_their_inputs(name: str) -> None:
    made = KEEPS[name](turned())
    assert (made.stride(), made.is_contiguous()) == ((1, 3), False)
    with pytest.raises(RuntimeError, match="view"):
        made.view(-1)
    assert made.contiguous().stride() == (2, 1)
    wide = KEEPS[name](torch.zeros(3, 1).expand(3, 2)) if name not in ("in place", "a row") else torch.zeros(3, 2)
    assert wide.is_contiguous() or wide.stride() == (1, 3)


def test_what_is_in_order_stays_so() -> None:
    x = turned()
    assert x.clone(memory_format=torch.contiguous_format).stride() == (2, 1)
    for made in (F.layer_norm(x, (2,)), x.softmax(0), torch.arange(12.0)[::2] + 1, torch.ones(3, 2) + x.contiguous()):
        assert made.is_contiguous()


def test_the_first_input_that_tells_says_the_order() -> None:
    x, straight = turned(), torch.ones(3, 2)
    assert ((x + straight).stride(), (straight + x).stride()) == ((1, 3), (2, 1))
    assert (torch.ones(2) + x).stride() == (1, 3)
    deep = torch.zeros(2, 3, 4).permute(2, 0, 1)
    assert (deep + 1).stride() == (1, 12, 4)
    assert (torch.zeros(1, 2, 1) + deep).stride() == (1, 12, 4)


def test_reshape_and_contiguous_copy_what_does_not_lie_in_order() -> None:
    y = turned() + 1
    for flat in (y.reshape(-1), y.flatten(), y.contiguous().view(-1)):
        assert flat.tolist() == [1, 4, 2, 5, 3, 6]
        flat[0] = 9
    assert y[0, 0].item() == 1
    y.t().view(-1)[0] = 7
    assert y[0, 0].item() == 7


def test_as_strided_reads_memory() -> None:
    y = turned() + 0
    assert y.as_strided((6,), (1,)).tolist() == [0, 1, 2, 3, 4, 5]
    x = turned().clone().requires_grad_()
    (x.as_strided((2, 2), (3, 1), 1) * torch.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert x.grad.tolist() == [[0, 0], [1, 3], [2, 4]]
    with pytest.raises(NotImplementedError, match="gaps"):
        torch.arange(6.0)[::2].as_strided((2,), (1,))


def test_numpy_sees_the_same_strides() -> None:
    y = turned() + 1
    assert y.numpy().strides == (4, 12)
    y.numpy()[2, 1] = 50
    assert y[2, 1].item() == 50


PARTS = {
    "a row": lambda y: y[1],
    "a column": lambda y: y[:, 1],
    "a part": lambda y: y[1:, 1:],
    "steps": lambda y: y[::2],
    "turned": lambda y: y.t(),
    "turned part": lambda y: y.t()[0, 1:],
    "diagonal": lambda y: y.diagonal(),
    "one": lambda y: y[2, 0],
    "wide": lambda y: y.unsqueeze(0),
}


@pytest.mark.parametrize("name", PARTS)
def test_edits_of_parts_are_followed(name: str) -> None:
    gradients = []
    for make in (lambda x: x.t() * 1, lambda x: (x.t() * 1).contiguous()):
        x = torch.arange(6.0).view(2, 3).requires_grad_()
        y = make(x)
        PARTS[name](y).mul_(3)
        later = PARTS[name](y)
        (y * y + later.sum()).sum().backward()
        gradients.append((y.tolist(), x.grad.tolist()))
    assert gradients[0] == gradients[1]


def test_an_edit_through_its_memory_in_another_order_is_refused() -> None:
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    y = x.t() * 1
    with pytest.raises(RuntimeError, match="lie in C order"):
        y.t().view(-1).mul_(2)


def test_edits_of_parts_of_what_shows_elements_twice_are_refused() -> None:
    w = torch.ones(2, requires_grad=True)
    for base in (torch.ones(1, 2).expand(3, 2).detach(), torch.ones(4).as_strided((3, 2), (1, 1)).detach()):
        with pytest.raises(RuntimeError, match="lie in C order"):
            base[0].mul_(w)
    gaps = torch.ones(3, 4)[:, ::2].detach()
    gaps[1].mul_(w)
    gaps.sum().backward()
    assert w.grad.tolist() == [1, 1]


def test_large_results() -> None:
    x = torch.arange(60000.0).view(200, 300).t()
    y = ((x * 2 + 1).relu() - x).sigmoid()
    assert y.stride() == (1, 300)
    straight = x.contiguous()
    assert bool((y == ((straight * 2 + 1).relu() - straight).sigmoid()).all())
