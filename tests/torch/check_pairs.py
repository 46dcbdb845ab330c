"""Runs pairs.py on PyTorch and on mxlite.torch: what they come to must agree. `make test-torch` calls it.

A context changes nothing of what a chain comes to: where it does in PyTorch, mxlite must agree with PyTorch without the
context, and the reason are in DIFFER.

    check_pairs.py [CONTEXT [FEATURE ...]]: all; those of a context; or what one chain comes to on both sides.
"""

from __future__ import annotations

import collections
import functools
import sys
import warnings
from dataclasses import dataclass
from typing import Any, Callable

import pairs
import torch as real
from compare import difference

import mxlite.torch as ours

Chain = tuple[str, ...]
VALUES = ("derivatives", "added up")


def _errors(found: dict) -> list[pairs.Ended]:
    return [each for each in (*found["derivatives"], found["added up"]) if isinstance(each, pairs.Ended)]


@functools.lru_cache(maxsize=8)
def _theirs(chain: Chain, context: str) -> dict:
    return pairs.outcome(real, chain, context)


@dataclass(frozen=True)
class Difference:
    """How PyTorch differs from itself without a context, or with a part that is kept.

    Attributes:
        holds: Of the context, the chain, and what PyTorch and mxlite come to: whether the difference is this one.
        instead: Of the chain: chains and contexts, one of which PyTorch agrees in.
    """

    reason: str
    holds: Callable[[str, Chain, dict, dict], bool]
    instead: Callable[[Chain], list[tuple[Chain, str]]]

    def explains(self, context: str, chain: Chain, theirs: dict, mine: dict) -> bool:
        """Whether it is this one, and mxlite's values are right all the same."""
        if not self.holds(context, chain, theirs, mine):
            return False
        others = [theirs, *(_theirs(*each) for each in self.instead(chain))]
        return all(any(difference(each[key], mine[key]) is None for each in others) for key in VALUES)


def _without(chain: Chain) -> list[tuple[Chain, str]]:
    return [(chain, "plain")]


def _copied(chain: Chain) -> list[tuple[Chain, str]]:
    return [(chain, "plain"), (chain, "clone")]


def _with_the_part_kept(chain: Chain) -> list[tuple[Chain, str]]:
    kept = tuple("kept_part_exp_" if each == "part_exp_" else each for each in chain)
    return [(kept, "plain"), (kept, "clone")]


DIFFER = (
    Difference(
        "a checkpoint of PyTorch gives each saved value once, and an edit of a part reads its result twice",
        lambda context, chain, theirs, mine: any("already unpacked once" in each.message for each in _errors(theirs)),
        _copied,
    ),
    Difference(
        "PyTorch does not see that a checkpoint's function writes to what it has saved: its numbers are those of other "
        "values; here it is the error that it is without the checkpoint",
        lambda context, chain, theirs, mine: "checkpoint" in context and len(_errors(mine)) > len(_errors(theirs)),
        _without,
    ),
    Difference(
        "in PyTorch the derivative of what an edit of a part has saved flows through the hooks of the whole where the "
        "part is still alive, and else past them",
        lambda context, chain, theirs, mine: "part_exp_" in chain,
        _with_the_part_kept,
    ),
    Difference(
        "PyTorch's saved_tensors_hooks get the result itself, whose shape is then changed in place",
        lambda context, chain, theirs, mine: (
            chain == ("cumprod", "turned_and_sorted") and context in ("identity", "hooks in hooks")
        ),
        _copied,
    ),
)


def compare(chain: Chain, context: str) -> tuple[str | None, str]:
    """The first difference, or None; and the reason why it stays, or ""."""
    theirs, mine = _theirs(chain, context), pairs.outcome(ours, chain, context)
    found = difference(theirs, mine)
    if found is None:
        return None, ""
    return found, next((each.reason for each in DIFFER if each.explains(context, chain, theirs, mine)), "")


def main(contexts: list[str]) -> int:
    """Prints the chains that differ and should not; how many."""
    known: collections.Counter = collections.Counter()
    wrong = count = 0
    for chain in pairs.chains():
        for context in contexts:
            count += 1
            found, reason = compare(chain, context)
            if reason:
                known[reason] += 1
            elif found:
                wrong += 1
                print(f"{context}: {' '.join(chain)}: {found[:300]}")
    unused = [each.reason for each in DIFFER if not known[each.reason]] if len(contexts) == len(pairs.CONTEXTS) else []
    for reason in unused:
        print("nothing differs for this reason any more:", reason)
    print(f"pairs: {count} in {len(contexts)} contexts, {sum(known.values())} known to differ, {wrong} wrong")
    return wrong + len(unused)


def show(context: str, chain: Chain) -> None:
    """What a chain comes to on both sides."""
    for module in (real, ours):
        print(module.__name__)
        found: dict[str, Any] = pairs.outcome(module, chain, context)
        for key, value in found.items():
            print(f"  {key}: {value}")
        print(*(f"  {each.message}" for each in _errors(found)), sep="\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    real.set_num_threads(1)
    if len(sys.argv) > 2:
        sys.exit(show(sys.argv[1], tuple(sys.argv[2:])))
    sys.exit(1 if main(sys.argv[1:] or list(pairs.CONTEXTS)) else 0)
