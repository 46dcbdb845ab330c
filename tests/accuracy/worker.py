"""A process that computes for exhaustive.py: `python worker.py WHO FILE BLOCK`.

Reads lines "FUNCTION PART SLOT" (numbers), writes the results of that part of the arguments into a slot of the file
and prints their count; -1 where it has no such function. The environment sets the vector level of WHO "mxlite".
"""

from __future__ import annotations

import sys
from functools import lru_cache

import numpy as np
from functions import FUNCTIONS, Function
from measure import compute, floats, pairs

#: Draws in one part of a function of two arrays, and how many parts there are.
DRAWS, PARTS = 1 << 20, 16
#: The part that is the beginning of sample.py's sample.
FIRST = -1


@lru_cache
def _bits(block: int) -> np.ndarray:
    return np.arange(block, dtype=np.uint32)


def part_of(function: Function, part: int, block: int) -> list[np.ndarray]:
    """Part of all floats, by their bits; of a function of two arrays, draws."""
    if function.inputs == 2:
        return pairs(function, max(part, 0), DRAWS, np.float32)
    if part == FIRST:
        return [floats(0, DRAWS)]
    return [(_bits(block) + np.uint32(part * block)).view(np.float32)]


def main() -> None:
    who, path, block = sys.argv[1], sys.argv[2], int(sys.argv[3])
    slots = np.memmap(path, np.float32, "r+").reshape(2, -1)
    for line in sys.stdin:
        number, part, slot = map(int, line.split())
        function = FUNCTIONS[number]
        got = compute(who, function, part_of(function, part, block))
        if got is not None:
            slots[slot, : got.size] = got
        print(-1 if got is None else got.size, flush=True)


if __name__ == "__main__":
    main()
