"""mxlite.torch beside PyTorch itself, in one process: `make test-torch` runs it, where PyTorch is installed."""

from __future__ import annotations

import itertools
import sys
import warnings
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch as real

import mxlite.torch as ours
from mxlite.torch import _missing

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "torch"))

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
    "larger": lambda torch, heads: [torch.ones(2, *each.shape, dtype=torch.float64) for each in heads],
    "kind": lambda torch, heads: [torch.ones(tuple(each.shape), dtype=torch.int32) for each in heads],
    "few": lambda torch, heads: [torch.ones((), dtype=torch.float64)] * (len(heads) + 1),
}


WAYS = ("backward", "grad", "run_backward", "run_backward that adds up")


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
        if way == "grad":
            wants = [x, y] if inputs is None else inputs
            return torch.autograd.grad(heads, wants, grads, retain, create, allow_unused=unused)
        run_backward = torch.autograd.Variable._execution_engine.run_backward
        given = tuple([None] * len(heads) if grads is None else grads)
        return run_backward(
            tuple(heads), given, bool(retain), create, tuple(inputs or ()), bool(unused), way != "run_backward"
        )

    came = [describe(attempt(once)) for _ in range(2)]
    grads = [describe(each.grad) for each in (x, y, z)]
    for each in (x, y, z):
        each.grad = None  # under create_graph it leads back to the variable
    return [came, grads]


@pytest.mark.parametrize("way", WAYS)
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


def sum_of(torch: Any) -> tuple[Any, Any]:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    return x, (x * x).sum()


CALLS = {
    "lists": lambda torch, run, x, y, one: run([y], [one], False, False, (x,)),
    "a bare head": lambda torch, run, x, y, one: run(y, one, False, False, (x,)),
    "no gradients": lambda torch, run, x, y, one: run((y,), None, False, False, (x,)),
    "a list of inputs": lambda torch, run, x, y, one: run((y,), (one,), False, False, [x]),
    "inputs None": lambda torch, run, x, y, one: run((y,), (one,), False, False, None),
    "a number as input": lambda torch, run, x, y, one: run((y,), (one,), False, False, (3,)),
    "a number as head": lambda torch, run, x, y, one: run((3,), (one,), False, False, (x,)),
    "too many gradients": lambda torch, run, x, y, one: run((y,), (one, one), False, False, (x,)),
    "an input twice": lambda torch, run, x, y, one: run((y,), (one,), False, False, (x, x)),
    "the head as input": lambda torch, run, x, y, one: run((y,), (one,), False, False, (y,)),
    "keywords": lambda torch, run, x, y, one: run(
        (y,), (one,), keep_graph=True, create_graph=True, inputs=(x,), allow_unreachable=True, accumulate_grad=False
    ),
    "an edge as head": lambda torch, run, x, y, one: run((edge(torch, y),), (one,), False, False, (x,)),
    "an edge without gradient": lambda torch, run, x, y, one: run((edge(torch, y),), (None,), False, False, (x,)),
    "an edge as input": lambda torch, run, x, y, one: run((y,), (one,), False, False, (edge(torch, x),)),
    "a constant as input": lambda torch, run, x, y, one: run((y,), (one,), False, False, (x.detach(),), True),
    "a constant that adds up": lambda torch, run, x, y, one: run((y,), (one,), False, False, (x.detach(),), True, True),
    "a shape to be summed": lambda torch, run, x, y, one: run((x,), (one + torch.zeros(3, 2),), False, False, (x,)),
    "a shape that is not": lambda torch, run, x, y, one: run((x,), (one + torch.zeros(3),), False, False, (x,)),
    "backward of an edge": lambda torch, run, x, y, one: (torch.autograd.backward(edge(torch, y)), x.grad),
    "backward of a wide edge": lambda torch, run, x, y, one: torch.autograd.backward(edge(torch, x * 2)),
    "grad for a dict": lambda torch, run, x, y, one: torch.autograd.grad(y, {"x": x}),
    "backward for a dict": lambda torch, run, x, y, one: (torch.autograd.backward(y, inputs={"x": x}), x.grad),
    "grad for another mapping": lambda torch, run, x, y, one: torch.autograd.grad(y, MappingProxyType({"x": x})),
    "computed inputs": lambda torch, run, x, y, one: (lambda z: (run(
        ((z * z).sum(),), (one,), False, False, (z,), False, True), z.grad, x.grad))(x * 3),
}  # fmt: skip


def edge(torch: Any, tensor: Any) -> Any:
    return torch.autograd.graph.get_gradient_edge(tensor)


@pytest.mark.parametrize("call", CALLS)
def test_single_calls(call):
    came = []
    for torch in (real, ours):
        x, y = sum_of(torch)
        one = torch.ones((), dtype=torch.float64)
        run_backward = torch.autograd.Variable._execution_engine.run_backward
        came.append(describe(attempt(lambda: CALLS[call](torch, run_backward, x, y, one))))  # noqa: B023 - called here
        x.grad = None
    assert difference(*came) is None


def test_names_that_tensors_lack():
    theirs = {name for name in dir(real.Tensor) if name[0] != "_"}
    assert {name for name in theirs if not hasattr(ours.Tensor, name)} == _missing.NAMES
