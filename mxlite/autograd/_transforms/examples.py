"""Functions that read values, in vmap: example by example, where no operator can run on all of them at once."""

from __future__ import annotations

import warnings
from typing import Any, Callable

from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import Saved, record
from mxlite.autograd._transforms.levels import highest, outside
from mxlite.autograd._transforms.run import Run
from mxlite.autograd._transforms.trees import flatten

#: How an error begins of a call that cannot run on all examples at once (capi/engine/batch/batch.c).
REFUSED = "vmap: "


def by_examples(front_end: FrontEnd, name: str, function: Callable, args: tuple, named: dict) -> Any:
    """function(*args, **named), of which some are batched, for each example; the results stacked, and batched.

    Raises: RuntimeError: results of examples have several shapes.
    """
    leaves, build = flatten((args, named))
    places = [place for place, each in enumerate(leaves) if isinstance(each, front_end.array_class)]
    shape: list = []

    def flat(*arrays: Any) -> list:
        given = list(leaves)
        for place, each in zip(places, arrays):
            given[place] = each
        args, named = build(given)
        values, shape[:] = (lambda found: (found[0], [found[1]]))(flatten(function(*args, **named)))
        return values

    warnings.warn(f"vmap: {name} has no rule for batches and ran example by example", stacklevel=4)
    made = _stacked(front_end, name, flat, [leaves[place] for place in places])
    return shape[0](made)


def _stacked(front_end: FrontEnd, name: str, function: Callable, arrays: list) -> list:
    """The results of a function of arrays that returns a list of them."""
    level = highest(arrays)
    if level is None:
        return function(*arrays)
    arrays = [level.lifted(each) for each in arrays]
    wholes = [level.whole(each) for each in arrays]
    with outside(level):
        rows = [function(*(each[k] if flag else each for each, flag in wholes)) for k in range(level.size)]
        if any(each.shape != first.shape for row in rows for each, first in zip(row, rows[0])):
            raise RuntimeError(f"{REFUSED}{name}: results of examples have several shapes")
        made = [front_end.stack(list(each)) for each in zip(*rows)]
    results = [level.batch(each) for each in made]
    placed = [k for k, each in enumerate(results) if front_end.is_floating(each)]
    wanted = [k for k, each in enumerate(arrays) if each.requires_grad]
    if front_end.is_recording() and placed and wanted:
        saved = [Saved(front_end, each) for each in arrays]

        def rule(grads: list, _: list) -> list:
            heads = [
                front_end.zeros(tuple(results[k].shape), results[k].dtype) if grad is None else grad
                for k, grad in zip(placed, grads)
            ]
            back = _vjp(front_end, function, len(arrays), wanted, placed)
            found = iter(_stacked(front_end, name, back, [*(each.get() for each in saved), *heads]))
            return [next(found) if k in wanted else None for k in range(len(arrays))]

        record(front_end, "VmapBackward0", arrays, [results[k] for k in placed], rule)
    return results


def _vjp(front_end: FrontEnd, function: Callable, count: int, wanted: list, placed: list) -> Callable:
    """The gradients of the wanted ones of `count` arrays, as a function of them and of the gradients of results."""

    def back(*given: Any) -> list:
        arrays = list(given[:count])

        def chosen(*variables: Any) -> tuple:
            for place, each in zip(wanted, variables):
                arrays[place] = each
            found = function(*arrays)
            return tuple(found[k] for k in placed)

        run = Run(front_end, chosen, tuple(arrays[place] for place in wanted), False, "vmap")
        return run.pull(run.outputs, list(given[count:]))

    return back
