"""Pairs of features (_pairs.py): a context in which saved values are kept in another form changes no derivative.

tests/torch/check_pairs.py does the same beside PyTorch.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Callable

import numpy as np
import pytest
from _pairs import EDITS, FEATURES, HOOKS

from mxlite import MXNetError, autograd, nd

pytestmark = pytest.mark.one_binding

ORDERS = 3
POINT = np.array([0.5, 0.8, 1.3])
STEP = np.array([0.6, -0.3, 0.5])

Chain = tuple[str, ...]
CHAINS: list[Chain] = [*((each,) for each in FEATURES), *((a, b) for a in FEATURES for b in FEATURES)]

# ---- contexts ----


def _under_hooks(pack: Callable, unpack: Callable) -> Callable:
    def context(run: Callable, x: nd.NDArray) -> nd.NDArray:
        with autograd.saved_tensors_hooks(pack, unpack):
            return run(x)

    return context


def _offloaded(run: Callable, x: nd.NDArray) -> nd.NDArray:
    """Saved values lie as bytes in another place."""
    store: list[np.ndarray] = []

    def pack(array: nd.NDArray) -> int:
        store.append(array.asnumpy())
        return len(store) - 1

    return _under_hooks(pack, lambda place: nd.array(store[place], dtype=store[place].dtype))(run, x)


def _nested(outer: Callable, inner: Callable) -> Callable:
    return lambda run, x: outer(lambda x: inner(run, x), x)


_identity = _under_hooks(lambda array: array, lambda array: array)
_copied = _under_hooks(lambda array: array.copy(), lambda array: array)

CONTEXTS: dict[str, Callable] = {
    "plain": lambda run, x: run(x),
    "copied": _copied,
    "identity": _identity,
    "offloaded": _offloaded,
    "checkpoint": autograd.checkpoint,
    "checkpoint in checkpoint": _nested(autograd.checkpoint, autograd.checkpoint),
    "hooks in checkpoint": _nested(autograd.checkpoint, _copied),
    "checkpoint in hooks": _nested(_copied, autograd.checkpoint),
    "hooks in hooks": _nested(_identity, _offloaded),
}

#: Where saved values are copies, which no edit reaches.
COPIES = {"copied", "offloaded", "hooks in checkpoint", "hooks in hooks"}


# ---- outcomes ----


@functools.cache
def outcome(chain: Chain, context: str, shift: float = 0) -> list[Any]:
    """The value, the derivative of each order (of the sum of squares of the one before), and what backward adds up.

    An error ends the list: its message.
    """
    found: list[Any] = []

    def run(x: nd.NDArray) -> nd.NDArray:
        for name in chain:
            x = FEATURES[name](x)
        return x

    x = nd.array(POINT + shift * STEP, dtype="float64").requires_grad_()
    rule = "rebase" if EDITS.keys() & {*chain} else "strict"
    try:
        with autograd.record(), autograd.set_inplace(rule):
            y = CONTEXTS[context](run, x)
            found.append(y.asnumpy())
            for order in range(ORDERS):
                head = (y * y).sum()
                if order == 0:
                    head.backward(retain_graph=True)
                    found.append(x.grad.asnumpy())
                (y,) = autograd.grad(head, [x], create_graph=True)
                found.append(y.asnumpy())
    except MXNetError as problem:
        found.append(str(problem))
    return found


def like(found: list, expected: list) -> bool:
    """Whether two outcomes are the same; of errors, where they come."""
    return len(found) == len(expected) and all(
        isinstance(a, str) if isinstance(b, str) else not isinstance(a, str) and np.allclose(a, b, 1e-9, 1e-11)
        for a, b in zip(found, expected)
    )


#: Every context, and every feature first; every other pair of them is whole.
UNDER = [
    pytest.param(context, first, marks=[pytest.mark.whole] * ((row + column) % 2))
    for row, context in enumerate(each for each in CONTEXTS if each != "plain")
    for column, first in enumerate(FEATURES)
]


@pytest.mark.parametrize(("context", "first"), UNDER)
def test_a_context_changes_nothing(context: str, first: str) -> None:
    for chain in (each for each in CHAINS if each[0] == first):
        plain, found = outcome(chain, "plain"), outcome(chain, context)
        if isinstance(plain[-1], str):  # an edit of what was saved: copies are not reached by it
            assert re.search("saved for backward, was edited in place|written to after", plain[-1]), (chain, plain[-1])
            refused = isinstance(found[-1], str)
            assert context == "identity" or (refused and context not in COPIES) or like(found, outcome(chain, "copied"))
        else:
            assert like(found, plain), (chain, found, plain)


@pytest.mark.parametrize("first", FEATURES)
def test_derivatives_are_those_of_differences(first: str) -> None:
    step = 1e-6
    for chain in (each for each in CHAINS if each[0] == first and not HOOKS.keys() & {*each}):
        found, above, below = (
            [each for i, each in enumerate(outcome(chain, "copied", shift)) if i != 1] for shift in (0, step, -step)
        )
        assert len(found) == 1 + ORDERS, chain
        for order in range(ORDERS):
            slope = ((above[order] ** 2).sum() - (below[order] ** 2).sum()) / (2 * step)
            scale = np.abs(found[order + 1] * STEP).sum() + (found[order] ** 2).sum()
            assert abs(slope - found[order + 1] @ STEP) < 1e-7 * scale, (chain, order + 1)
