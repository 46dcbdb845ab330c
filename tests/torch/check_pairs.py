"""Runs pairs.py on PyTorch and on mxlite.torch: what they come to must agree. `make test-torch` calls it.

With names as arguments (a context, then features) it shows what one of them comes to on both sides.
"""

from __future__ import annotations

import collections
import sys
import warnings

import pairs
import torch as real
from compare import difference

import mxlite.torch as ours

DIFFER: dict = {}


def main(contexts: list[str]) -> int:
    wrong: collections.Counter = collections.Counter()
    count = 0
    for context in contexts:
        for chain in pairs.chains():
            count += 1
            found = difference(pairs.outcome(real, chain, context), pairs.outcome(ours, chain, context))
            if found:
                wrong[context] += 1
                print(f"{context}: {' '.join(chain)}: {found[:300]}")
    print(count, wrong)
    return sum(wrong.values())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 2:
        for module in (real, ours):
            print(module.__name__, *pairs.outcome(module, tuple(sys.argv[2:]), sys.argv[1]), sep="\n  ")
        sys.exit()
    sys.exit(1 if main(sys.argv[1:] or list(pairs.CONTEXTS)) else 0)
