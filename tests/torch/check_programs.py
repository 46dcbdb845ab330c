"""Runs the programs of 2,000 seeds (generator.py) on PyTorch and on mxlite.torch: what they come to must agree.

`make test-torch` calls it. It compares outcomes; it does not count what stays alive.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import torch as real
from compare import difference, outcome, report

import mxlite.torch as ours

#: Seeds whose outcome differs, and why.
DIFFER = {
    1755: "PyTorch takes a view made before its base wanted a gradient for a leaf; here its edit is followed",
}


def differences() -> Iterator[str]:
    """The seeds that differ and should not, or agree and should not."""
    for seed in range(2000):
        apart = difference(outcome(real, seed), outcome(ours, seed))
        if (apart is not None) != (seed in DIFFER):
            yield f"seed {seed}: {apart}"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(report(f"programs: 2000, {len(DIFFER)} known to differ", differences()))
