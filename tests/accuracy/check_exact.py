"""The references of exact.c against mpmath: `python check_exact.py EXACT.so COUNT` prints the worst of each function.

Fails where one is more than 2^-16 of a float's last place off.
"""

from __future__ import annotations

import sys
from pathlib import Path

import mpmath as mp
import numpy as np
from exact_mp import EXACT
from functions import FUNCTIONS, Function
from measure import Exact, floats, pairs

MOST = 2.0**-16


def worst(exact: Exact, function: Function, count: int) -> tuple[float, tuple]:
    """How far the reference is off in units of a float's last place, and where."""
    arrays = pairs(function, 3, count, np.float32) if function.inputs == 2 else [floats(3, count)]
    found: tuple[float, tuple] = (0.0, ())
    for *row, near in zip(*(array.tolist() for array in arrays), exact.values(function, arrays).tolist()):
        if not np.isfinite([near, *row]).all() or not 2.0**-149 <= abs(near) < 2.0**128:
            continue
        numbers = [mp.mpf(each) for each in row]
        if function.scalar is not None:
            numbers.insert(0 if function.swapped else 1, mp.mpf(function.scalar))
        try:
            value = EXACT[function.exact](*numbers)
        except ValueError:
            continue
        size = max(abs(near), function.least, 2.0**-126)
        unit = np.spacing(np.float32(min(size, 2.0**127)))
        error = float(abs(value - mp.mpf(near))) / float(unit)
        found = max(found, (error, tuple(row)))
    return found


def main() -> None:
    exact, failed = Exact(Path(sys.argv[1])), False
    for function in FUNCTIONS:
        if function.exact == "rrelu":
            continue  # its slope is rounded to the dtype of the array
        error, where = worst(exact, function, int(sys.argv[2]))
        if error > MOST:
            failed = True
            print(f"exact.c: {function.name}{where} is {error:.2e} places of a float off")
    if failed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
