"""Asks a module like torch for the answers to expressions.py, as plain numbers and text.

record.py asks PyTorch and writes facts.json; tests/python/pytorch/test_torch_facts.py asks mxlite.torch and compares.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from typing import Any

import numpy as np

FACTS = os.path.join(os.path.dirname(__file__), "facts.json")

#: The error classes that are told apart.
CLASSES = (IndexError, AssertionError, AttributeError, NotImplementedError, TypeError, ValueError, RuntimeError)


def class_of(problem: BaseException) -> str:
    """The first of CLASSES that an exception is of."""
    return next((kind.__name__ for kind in CLASSES if isinstance(problem, kind)), type(problem).__name__)


def leaves_of(torch: Any) -> dict[str, Any]:
    """The leaves of GRAPH, the same numbers each time."""
    numbers = np.random.RandomState(1)

    def leaf(*shape: int) -> Any:
        return torch.tensor(numbers.rand(*shape).tolist(), dtype=torch.float64).requires_grad_()

    shapes = {"x": (3, 4), "y": (3, 4), "v": (4,), "w": (4, 5), "s": (3, 3), "b3": (2, 3, 4), "c3": (2, 4, 5)}
    space = {name: leaf(*shape) for name, shape in shapes.items()}
    space["pos"] = leaf(3, 4) + 0.5
    space.update(torch=torch, F=torch.nn.functional, idx=torch.tensor([0, 2]), mk=leaf)
    return space


def tree(node: Any, depth: int = 4) -> str:
    """The graph above a node as text."""
    if node is None:
        return "-"
    name = node.name()
    if name.endswith("AccumulateGrad"):
        return "leaf"
    if depth == 0:
        return name
    inputs = (tree(each, depth - 1) + (f":{number}" if number else "") for each, number in node.next_functions)
    return f"{name}({','.join(inputs)})"


def _numbers(tensor: Any) -> list | None:
    if tensor is None:
        return None
    values = np.array((tensor.detach() + 0).tolist(), np.float64).reshape(-1)
    return [None if math.isnan(value) else float(f"{value:.12g}") for value in values.tolist()]


def _result(torch: Any, value: Any) -> dict:
    if not isinstance(value, torch.Tensor):
        return {"text": repr(value)}
    return {
        "values": _numbers(value),
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "tree": tree(value.grad_fn),
        "output": value.output_nr,
    }


def _gradients(torch: Any, made: list, leaves: list) -> dict:
    heads = [
        torch.tensor(np.random.RandomState(3).rand(each.numel()).tolist(), dtype=each.dtype).reshape(each.shape)
        for each in made
    ]
    first = torch.autograd.grad(made, leaves, heads, allow_unused=True, create_graph=True)
    squares = [(each * each).sum() for each in first if each is not None and each.requires_grad]
    found = {"first": [_numbers(each) for each in first]}
    if squares:
        found["second"] = [_numbers(each) for each in torch.autograd.grad(squares, leaves, allow_unused=True)]
    return found


def graph_answer(torch: Any, expression: str) -> dict:
    """The answer to one of GRAPH."""
    space = leaves_of(torch)
    leaves = [space[name] for name in ("x", "y", "v", "w", "s", "b3", "c3")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = eval(expression, space)
        values = list(value) if isinstance(value, (tuple, list)) else [value]
        answer: dict = {"results": [_result(torch, each) for each in values]}
        made = [each for each in values if isinstance(each, torch.Tensor) and each.requires_grad]
        try:
            answer.update(_gradients(torch, made, leaves) if made else {})
        except (RuntimeError, NotImplementedError):
            answer["no gradient"] = True
    return answer


def text_answer(torch: Any, expression: str) -> dict:
    """The answer to one of TEXTS: the text of the value, or the class of the error, whose words are each library's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return {"text": repr(eval(expression, {"torch": torch, "t": torch.tensor, "np": np}))}
        except Exception as problem:
            return {"error": class_of(problem)}


def same(mine: Any, theirs: Any) -> bool:
    """Whether two lists of numbers agree; no gradient is one of zeros."""
    if mine is None or theirs is None:
        return all(not number for number in (mine or theirs or []))
    return len(mine) == len(theirs) and all(
        a == b or (a is not None and b is not None and abs(a - b) <= 1e-9 + 1e-6 * abs(b)) for a, b in zip(mine, theirs)
    )


def load() -> dict:
    """The recorded answers."""
    with open(FACTS, encoding="utf-8") as file:
        return json.load(file)
