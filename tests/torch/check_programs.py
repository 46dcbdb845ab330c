"""Runs the programs of 2,000 seeds (generator.py) on PyTorch and on mxlite.torch: what they come to must agree.

`make test-torch` calls it. It compares outcomes; it does not count what stays alive.
"""

from __future__ import annotations

import sys
import warnings

import torch as real
from compare import difference, outcome

import mxlite.torch as ours

#: Seeds whose outcome differs, and why.
DIFFER = {
    1755: "PyTorch takes a view made before its base wanted a gradient for a leaf; here its edit is followed",
}


def main() -> int:
    """Prints the seeds that differ and should not, or agree and should not; how many of them."""
    wrong = 0
    warnings.simplefilter("ignore")
    for seed in range(2000):
        apart = difference(outcome(real, seed), outcome(ours, seed))
        if (apart is not None) != (seed in DIFFER):
            wrong += 1
            print(f"seed {seed}: {apart}")
    print(f"programs: 2000, {len(DIFFER)} known to differ, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
