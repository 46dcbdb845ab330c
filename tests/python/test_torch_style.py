"""mxlite.torch beside PyTorch itself, in one process: `make test-torch` runs it, where PyTorch is installed."""

from __future__ import annotations

import itertools
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch as real

import mxlite.torch as ours

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "torch"))

from compare import attempt, describe, difference

HEADS = {
    "one": lambda x, y: [(x * y).sum()],
    "wide": lambda x, y: [x * y],
    "several": lambda x, y: [(x * y).sum(), x.exp().sum()],
    "repeated": lambda x, y: (lambda z: [z, z])((x * y).sum()),
    "leaf": lambda x, y: [x],
    "constant": lambda x, y: [x.detach() * 2],
    "none": lambda x, y: [],
}
GRADS = {
    "absent": lambda torch, heads: None,
    "nones": lambda torch, heads: [None] * len(heads),
    "given": lambda torch, heads: [torch.full_like(each, 0.5) for each in heads],
    "shape": lambda torch, heads: [torch.ones(7, dtype=torch.float64) for _ in heads],
    "number": lambda torch, heads: [2.0 for _ in heads],
    "few": lambda torch, heads: [torch.ones((), dtype=torch.float64)] * (len(heads) + 1),
}


def run(torch: Any, way: str, head: str, grad: str, retain: Any, create: bool, wanted: str, unused: Any) -> Any:
    """Runs one backward twice; what came, and the gradients of the leaves."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[0.5, -1.0], [2.0, 1.5]], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    heads = HEADS[head](x, y)
    grads = GRADS[grad](torch, heads)
    inputs = {"none": None, "x": [x], "both": [x, y], "unused": [x, z], "empty": []}[wanted]

    def once() -> Any:
        if way == "backward":
            return torch.autograd.backward(heads, grads, retain, create, inputs=inputs)
        wants = [x, y] if inputs is None else inputs
        return torch.autograd.grad(heads, wants, grads, retain, create, allow_unused=unused)

    came = [describe(attempt(once)) for _ in range(2)]
    grads = [describe(each.grad) for each in (x, y, z)]
    for each in (x, y, z):
        each.grad = None  # under create_graph it leads back to the variable
    return [came, grads]


@pytest.mark.parametrize("way", ["backward", "grad"])
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("grad", GRADS)
def test_matrix(way, head, grad):
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rest in itertools.product(
            (None, True), (False, True), ("none", "x", "both", "unused", "empty"), (None, True)
        ):
            apart = difference(run(real, way, head, grad, *rest), run(ours, way, head, grad, *rest))
            if apart:
                found.append((rest, apart))
    assert not found, f"{len(found)} differ, first {found[0]}"
