"""What there is to compare about a program that runs on PyTorch and on mxlite.torch: values, graph, texts, errors."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any, Callable

import numpy as np
from generator import source

#: The inputs of random programs.
SHAPES = {"a": (3, 4), "b": (3, 4), "r": (4,), "c": (3,), "s": ()}


class Seen:
    """Numbers of the nodes that were met; it keeps them, or another could get the id of one."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.nodes: list[Any] = []

    def tree(self, node: Any) -> Any:
        """Names and edges below a node; a node that was met before is its number."""
        if node is None:
            return None
        if id(node) in self.numbers:
            return self.numbers[id(node)]
        self.numbers[id(node)] = len(self.nodes)
        self.nodes.append(node)
        return [node.name(), [(self.tree(each), number) for each, number in node.next_functions]]


def tree(node: Any) -> Any:
    """Names and edges below a node."""
    return Seen().tree(node)


def numbers_of(tensor: Any) -> Any:
    """A copy of a tensor's values; None of None."""
    if tensor is None:
        return None
    kind = str(tensor.dtype).replace("torch.", "")
    return np.array(tensor.detach().tolist(), np.float32 if kind in ("float16", "bfloat16") else kind)


def builtin(problem: BaseException) -> str:
    """The class that a program would catch: the first one of Python's own."""
    return next(cls.__name__ for cls in type(problem).__mro__ if cls.__module__ == "builtins")


def words_of(problem: BaseException) -> str:
    """What an error says that a line of a library raises; nothing of Python's own errors."""
    last = traceback.extract_tb(problem.__traceback__)[-1]
    return str(problem) if "raise" in (last.line or "") else ""


#: A run of so many words that two errors share is a sentence that one has of the other.
SENTENCE = 7


def same_words(one: str, other: str) -> str:
    """The longest run of words that both texts have, where it is a sentence; else nothing. Numbers are no words."""
    words = [re.findall(r"[a-z_]+(?:'[a-z]+)?", text.lower()) for text in (one, other)]
    run = SequenceMatcher(None, *words, autojunk=False).find_longest_match(0, len(words[0]), 0, len(words[1]))
    return " ".join(words[0][run.a : run.a + run.size]) if run.size >= SENTENCE else ""


def attempt(run: Callable[[], Any]) -> Any:
    """What a call returns, or the class of its error."""
    try:
        return run()
    except Exception as problem:  # noqa: BLE001 - its class is the result
        return f"error {builtin(problem)}"


def report(summary: str, found: Iterable[str]) -> int:
    """Prints what differs, and how much did of what was compared; a program's exit status: 1 where something does."""
    wrong = 0
    for each in found:
        wrong += 1
        print(each)
    print(f"{summary}, {wrong} wrong")
    return int(wrong > 0)


def describe(value: Any) -> Any:
    """A result as plain Python: two of different modules can be compared."""
    if isinstance(value, (str, bytes, bool, int, float, complex, type(None), np.ndarray)):
        return value
    if isinstance(value, type):
        return f"class {value.__name__}"
    if hasattr(value, "next_functions"):
        return tree(value)
    if hasattr(value, "requires_grad") and hasattr(value, "detach"):
        return {
            "values": numbers_of(value),
            "shape": tuple(value.shape),
            "dtype": str(value.dtype),
            "requires_grad": value.requires_grad,
            "grad_fn": None if value.grad_fn is None else value.grad_fn.name(),
        }
    if type(value).__name__ == "Size":
        return ["Size", *value]
    if isinstance(value, dict):
        return {str(key): describe(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return [kind, *getattr(value, "_fields", ()), *map(describe, value)]
    return str(value)


def close(a: np.ndarray, b: np.ndarray) -> bool:
    """Of one shape and dtype, numbers to 1e-8 of their size or 1e-10 (float32: 2e-5 and 1e-6)."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    single = a.dtype == np.float32
    return bool(np.allclose(a, b, rtol=2e-5 if single else 1e-8, atol=1e-6 if single else 1e-10, equal_nan=True))


def difference(a: Any, b: Any, path: str = "") -> str | None:
    """The first place where two descriptions differ, or None."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return None if close(a, b) else f"{path}: {a.dtype} {a.tolist()} and {b.dtype} {b.tolist()}"
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b:
                return f"{path}.{key}: on one side alone ({a.get('error')}, {b.get('error')})"
            found = difference(a[key], b[key], f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if len(a) != len(b):
            return f"{path}: {a} and {b}"
        return next(filter(None, (difference(x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b)))), None)
    if isinstance(a, float) and isinstance(b, float):
        return None if close(np.array(a), np.array(b)) else f"{path}: {a} and {b}"
    return None if type(a) is type(b) and a == b else f"{path}: {a!r} and {b!r}"


# ---- random programs ----


def leaves(torch: Any, seed: int) -> dict[str, Any]:
    """The program's inputs: the same numbers on each module; one of them may be a constant."""
    numbers = np.random.default_rng(seed)
    made = {}
    for name, shape in SHAPES.items():
        values = numbers.uniform(-1, 1, shape)
        made[name] = torch.tensor(values.tolist(), dtype=torch.float64, requires_grad=name != "b" or seed % 3 > 0)
    return made


def outcome(torch: Any, seed: int) -> dict[str, Any]:
    """Values, graph, first and second gradients; or which class of error ended it, and where."""
    scope: dict[str, Any] = {}
    exec(source(seed), scope)  # noqa: S102 - text of our own
    inputs = leaves(torch, seed)
    result: dict[str, Any] = {}
    stage = "forward"
    try:
        heads = scope["program"](torch, **inputs)
        result["values"] = [numbers_of(head) for head in heads]
        result["requires"] = [head.requires_grad for head in heads]
        heads = [head for head in heads if head.requires_grad]
        if not heads:
            return result
        seen = Seen()
        result["graph"] = [(seen.tree(head.grad_fn), head.output_nr) for head in heads]
        total = sum((head * head).sum() for head in heads)
        wanted = [each for each in inputs.values() if each.requires_grad]
        stage = "first"
        first = torch.autograd.grad(total, wanted, create_graph=True, allow_unused=True)
        result["first"] = [numbers_of(each) for each in first]
        stage = "second"
        again = sum((each * each).sum() for each in first if each is not None and each.requires_grad)
        if not isinstance(again, int):
            again.backward()
            result["second"] = [numbers_of(each.grad) for each in wanted]
    except Exception as problem:  # noqa: BLE001 - its class is the result
        result["error"] = (stage, builtin(problem))
    return result
