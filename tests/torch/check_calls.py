"""Runs 100,000 random calls (forms.py, calls.py) on PyTorch and on mxlite.torch, with gradients to order 3.

`make test-torch` runs it, from seed 0 on; other seeds are other calls. Of each call it compares whether there is an
error, and of which class; dtype, shape and values of the results; the arguments afterwards; and gradients. Differences
that stay are in differences.py, by name. An error with a sentence of PyTorch's is wrong, too.

    check_calls.py [--count N] [--first SEED] [--name TEXT]: N calls from a seed on; of the functions that match.
"""

from __future__ import annotations

import argparse
import collections
import operator
import re
import sys
import warnings
from typing import Any

import numpy as np
import torch as real
from calls import Call
from compare import builtin, same_words, words_of
from differences import DIFFER
from forms import owners, public_names, table

import mxlite.torch as ours

_INTO = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "%": operator.imod,
         "**": operator.ipow, "&": operator.iand, "|": operator.ior, "^": operator.ixor, "<<": operator.ilshift,
         ">>": operator.irshift}  # fmt: skip


def _put(tensor: Any, key: tuple, value: Any) -> Any:
    tensor[key if len(key) > 1 else key[0]] = value
    return tensor


class Outcome:
    """What a call comes to on one module."""

    def __init__(self, torch: Any, call: Call) -> None:
        self.error: str | None = None
        self.message = ""
        self.results: list[Any] = []
        self.after: list[np.ndarray] = []
        self.gradients: list[Any] = []
        made = [each.make(torch, call.gradient) for each in call.tensors]
        space = {f"t{i}": each[2] for i, each in enumerate(made)}
        space.update(torch=torch, np=np, inf=float("inf"), nan=float("nan"), put=_put)
        space["into"] = lambda symbol, target, value: _INTO[symbol](target, value)
        try:
            self.results = _flat(torch, eval(call.text, space))  # noqa: S307 - text of our own
            self.values = [_described(torch, each) for each in self.results]
            self.after = [each[1].detach().numpy(force=True) for each in made]
        except Exception as problem:  # noqa: BLE001 - its class is the result
            self.error, self.message = builtin(problem), str(problem).split("\n")[0]
            self.words = words_of(problem)
            return
        if call.gradient:
            leaves = [leaf for leaf, _, _ in made if leaf.requires_grad]
            heads = [each for each in self.results if isinstance(each, torch.Tensor) and each.requires_grad]
            heads = [each for each in heads if each.is_floating_point()]  # PyTorch records edits of integers
            if call.special or any(leaf.dtype is torch.float16 for leaf in leaves):
                self._differentiate(torch, heads, leaves, 1)
            else:  # the cube makes derivatives of each order go through every rule, of linear functions too
                self._differentiate(torch, [each + each * each * each / 8 for each in heads], leaves, 3)

    def _differentiate(self, torch: Any, heads: list, leaves: list, orders: int) -> None:
        """Gradients of each order, of the last one's weighted sums; an error's class ends them."""
        for _ in range(orders):
            heads = [each for each in heads if each is not None and each.requires_grad]
            if not heads or not leaves:
                return
            weights = [torch.from_numpy(_weights(tuple(each.shape))).to(each.dtype) for each in heads]
            try:
                found = torch.autograd.grad(heads, leaves, weights, create_graph=True, allow_unused=True)
            except Exception as problem:  # noqa: BLE001
                self.gradients.append(builtin(problem))
                self.message = str(problem).split("\n")[0]
                return
            self.gradients.append([None if each is None else each.detach().numpy(force=True) for each in found])
            heads = list(found)


def _weights(shape: tuple[int, ...]) -> np.ndarray:
    return (np.cos(np.arange(int(np.prod(shape, dtype=int)))) + 1.5).reshape(shape)


def _flat(torch: Any, value: Any) -> list:
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return [each for part in value for each in _flat(torch, part)] + [f"{len(value)} of them"]
    return [value]


def _described(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().numpy(force=True).copy()
    return value if isinstance(value, np.ndarray) else repr(value)


#: Relative error by dtype, and absolute error in units of the largest number that is finite.
_BOUNDS = {"float64": (1e-9, 1e-12), "float32": (3e-5, 2e-6), "float16": (6e-3, 2e-3)}


def _narrowest(call: Call) -> str:
    """The floating dtype with the fewest digits of those that a call is about."""
    text = " ".join([call.text, *(each.values.dtype.name for each in call.tensors)])
    return next(kind for kind in ("float16", "float32", "float64") if kind in text or kind == "float64")


def _apart(a: np.ndarray, b: np.ndarray, kind: str, loose: float = 1.0) -> str | None:
    """How two arrays differ: "dtype", "shape", "values", "sign of zero", or not at all.

    Args:
        kind: The dtype whose digits count, where it has fewer than the arrays'.
    """
    if a.dtype != b.dtype:
        return "dtype"
    if a.shape != b.shape:
        return "shape"
    if a.dtype.kind != "f":
        return None if np.array_equal(a, b) else "values"
    relative, absolute = max(_BOUNDS[a.dtype.name], _BOUNDS[kind])
    x, y = a.astype(np.float64), b.astype(np.float64)
    largest = max([1.0, *np.abs(x[np.isfinite(x)]).tolist()]) if x.size else 1.0
    with np.errstate(all="ignore"):
        if not np.allclose(x, y, relative * loose, absolute * loose * min(largest, 1e10), equal_nan=True):
            return "values"
    return "sign of zero" if (np.signbit(x) != np.signbit(y))[(x == 0) & (y == 0)].any() else None


def compare(call: Call) -> tuple[str, str] | None:
    """How PyTorch and mxlite.torch differ: what differs, and both answers. None: not at all."""
    theirs, mine, kind = Outcome(real, call), Outcome(ours, call), _narrowest(call)
    if theirs.error or mine.error:
        if theirs.error == mine.error:
            copied = same_words(theirs.message, mine.words)
            return ("PyTorch's words", f"{copied} / {mine.message}") if copied else None
        if theirs.error and mine.error:
            return "class of the error", f"{theirs.error} {theirs.message} / {mine.error} {mine.message}"
        return (
            ("accepted", f"{theirs.error} {theirs.message}")
            if theirs.error
            else ("refused", f"{mine.error} {mine.message}")
        )
    if len(theirs.values) != len(mine.values):
        return "number of results", f"{len(theirs.values)} / {len(mine.values)}"
    for a, b in zip(theirs.values, mine.values):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            found = _apart(a, b, kind)
            if found:
                return found, f"{a.dtype} {a.shape} {a.tolist()} / {b.dtype} {b.shape} {b.tolist()}"
        elif type(a) is not type(b) or a != b:
            return "values", f"{a} / {b}"
    for a, b in zip(theirs.after, mine.after):
        if _apart(a, b, kind) not in (None, "sign of zero"):
            return "arguments", f"{a.tolist()} / {b.tolist()}"
    return _gradients_apart(theirs, mine, kind)


def _gradients_apart(theirs: Outcome, mine: Outcome, kind: str) -> tuple[str, str] | None:
    for order in range(3):
        a, b = (each.gradients[order] if order < len(each.gradients) else None for each in (theirs, mine))
        if isinstance(a, str) or isinstance(b, str):
            if a == b:
                return None
            return f"gradient {order + 1}", f"{a} {theirs.message} / {b} {mine.message}"
        for x, y in zip(a or [None] * len(b or ()), b or [None] * len(a or ())):
            # No gradient is one of zeros.
            x, y = (np.zeros_like(other) if each is None else each for each, other in ((x, y), (y, x)))
            if (
                x is not None
                and x.dtype != object
                and _apart(x, y, kind, 100.0**order * 10) not in (None, "sign of zero")
            ):
                return f"gradient {order + 1}", f"{x.dtype} {x.tolist()} / {y.dtype} {y.tolist()}"
    return None


def main() -> int:
    """Prints what differs and should not; how many calls did."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--name", default="")
    parser.add_argument("--most", type=int, default=3, help="programs that are printed for each difference")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    real.set_num_threads(1)
    np.seterr(all="ignore")
    forms = table()
    places = owners(real)
    names = [each for each in public_names(ours) if hasattr(places[each.partition(".")[0]], each.partition(".")[2])]
    names = [each for each in names if re.search(given.name, each)]
    found: dict[tuple[str, str], list] = collections.defaultdict(list)
    known: collections.Counter = collections.Counter()
    for seed in range(given.first, given.first + given.count):
        name = names[seed % len(names)]
        call = Call(name, forms[name], seed)
        apart = compare(call)
        if apart is None:
            continue
        reason = next((each for each in DIFFER if each.is_that(call, *apart)), None)
        if reason is None:
            found[name, apart[0]].append((call, apart[1]))
        else:
            known[reason] += 1
    for (name, what), calls in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{name}: {what}: {len(calls)} calls")
        for call, detail in calls[: given.most]:
            print(f"    {call.seed}{' with gradients' if call.gradient else ''}: {call.program()[:600]}")
            print(f"        {detail[:400]}")
    wrong = sum(map(len, found.values()))
    print(f"calls: {given.count} of {len(names)} functions, {sum(known.values())} known to differ, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
