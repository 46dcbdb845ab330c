"""The operator case table: a file per family, one row per call. See `_case.Case` for the columns."""

from __future__ import annotations

from . import (
    binary,
    choose,
    compare,
    density,
    elementwise,
    gather,
    index,
    init,
    linalg,
    lookup,
    loss,
    matrix,
    movement,
    nn,
    optimizer,
    parameters,
    parts,
    positions,
    products,
    random,
    reduce,
    reduction,
    sampling,
    scalar,
    sequence,
    shape,
    slicing,
    sort,
    unary,
)
from ._case import TOLERANCE, Case, In, generate, heads

__all__ = ["CASES", "FAMILIES", "TOLERANCE", "Case", "In", "generate", "heads", "of", "operators"]

#: family name -> its rows
FAMILIES = {
    module.__name__.rsplit(".", 1)[-1]: tuple(module.CASES)
    for module in (
        unary,
        binary,
        scalar,
        elementwise,
        compare,
        choose,
        reduce,
        reduction,
        matrix,
        products,
        linalg,
        shape,
        movement,
        parts,
        slicing,
        index,
        gather,
        lookup,
        positions,
        sequence,
        nn,
        init,
        random,
        sampling,
        density,
        optimizer,
        parameters,
        sort,
        loss,
    )
}

#: every row, in a fixed order
CASES = tuple(case for rows in FAMILIES.values() for case in rows)

_seen: set = set()
for _case in CASES:
    if _case.id in _seen:
        raise ValueError(f"two cases are called {_case.id}")
    _seen.add(_case.id)


def operators() -> set:
    """The names of the operators that have a case."""
    return {case.op for case in CASES}


def of(op: str) -> tuple:
    """The rows of one operator."""
    return tuple(case for case in CASES if case.op == op)
