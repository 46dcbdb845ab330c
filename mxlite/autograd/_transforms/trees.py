"""Trees of values: tuples, lists and dicts inside each other, taken apart into leaves and built again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any, Callable


def flatten(tree: Any) -> tuple[list, Callable[[Any], Any]]:
    """The leaves, and a function that builds such a tree of as many others."""
    leaves: list = []
    build = _flatten(tree, leaves)
    return leaves, lambda values: build(iter(values))


def _flatten(tree: Any, leaves: list) -> Callable[[Iterator], Any]:
    kind = type(tree)
    if kind in (dict, OrderedDict, defaultdict):
        parts = [_flatten(each, leaves) for each in tree.values()]
        made = dict if kind is defaultdict else kind
        return lambda values: made((key, part(values)) for key, part in zip(tree, parts))
    if kind in (tuple, list) or (isinstance(tree, tuple) and hasattr(tree, "_fields")):
        parts = [_flatten(each, leaves) for each in tree]
        if kind in (tuple, list):
            return lambda values: kind(part(values) for part in parts)
        return lambda values: kind(*(part(values) for part in parts))
    leaves.append(tree)
    return next


def tree_map(function: Callable, tree: Any) -> Any:
    """A tree of what a function makes of each leaf."""
    leaves, build = flatten(tree)
    return build(map(function, leaves))


def same_structure(one: Any, other: Any) -> bool:
    """Whether two trees differ in nothing but their leaves."""
    return tree_map(lambda _: None, one) == tree_map(lambda _: None, other)


def spread(prefix: Any, tree: Any) -> list | None:
    """A leaf of `prefix` for each leaf of `tree`, whose beginning it is; None where it is none."""
    if not isinstance(prefix, (tuple, list, dict)):
        return [prefix] * len(flatten(tree)[0])
    if type(prefix) is not type(tree) or len(prefix) != len(tree):
        return None
    if isinstance(prefix, dict) and prefix.keys() != tree.keys():
        return None
    found: list = []
    for key in tree if isinstance(prefix, dict) else range(len(tree)):
        below = spread(prefix[key], tree[key])
        if below is None:
            return None
        found += below
    return found
