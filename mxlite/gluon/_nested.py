"""Nested lists of arrays, as blocks take and return them: made flat, and nested again. Other programs use these too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol


def _flatten(args: Any, inout_str: str) -> tuple[list, Any]:
    """The arrays in nested lists or tuples as one list, and their form: 0 for an array, -1 for None, a list for a list.

    A symbol of several outputs is one entry, whose form is their number.

    Args:
        inout_str: what an error calls them: "input", "output".
    Raises: ValueError: there is something else among them.
    """
    if args is None:
        return [None], -1
    if isinstance(args, NDArray):
        return [args], 0
    if isinstance(args, Symbol):
        count = args.num_outputs
        return [args], count if count > 1 else 0
    if not isinstance(args, (list, tuple)):
        raise ValueError(
            f"the {inout_str} of a HybridBlock must be an NDArray, or a list or tuple of these and of such lists, "
            f"not {args!r} of type {type(args)}"
        )
    arrays: list = []
    form: list = []
    for each in args:
        found, its_form = _flatten(each, inout_str)
        arrays += found
        form.append(its_form)
    return arrays, form


def with_nones(arrays: Sequence, form: Any) -> Sequence:
    """The arrays of a flat list, with None where the form has it, as `_flatten` gives them."""
    places = list(places_of(form))
    if -1 not in places:
        return arrays
    left = iter(arrays)
    return [each for place in places for each in ([None] if place < 0 else [next(left) for _ in range(place or 1)])]


def places_of(form: Any) -> Iterator[int]:
    """A form without its lists: a number for each entry, -1 for None."""
    if isinstance(form, list):
        for each in form:
            yield from places_of(each)
    else:
        yield form


def _regroup(args: Sequence, fmt: Any) -> Any:
    """The arrays of a flat list in the form that `_flatten` told. Raises: ValueError: an array where None should be."""
    return _take(args, fmt)[0]


def _take(arrays: Sequence, form: Any) -> tuple[Any, Sequence]:
    """The first arrays in a form, and those that are left; a number above 0 stands for a list of so many."""
    if isinstance(form, list):
        nested = []
        for each in form:
            found, arrays = _take(arrays, each)
            nested.append(found)
        return nested, arrays
    if form > 0:
        return list(arrays[:form]), arrays[form:]
    if form < 0 and arrays[0] is not None:
        raise ValueError(f"the block got None for this argument before, so it cannot be {arrays[0]!r} now")
    return arrays[0], arrays[1:]
