"""Uses of names, and what a statement says of itself: what it imports, catches, leaves."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mxlite._cli._names.sources import Source

#: Whether a program comes to a place.
CERTAIN, MAYBE, UNCALLED, DEAD = range(4)


class Reach(NamedTuple):
    """Whether a program comes to a place: a state from above, and when, if that is open."""

    state: int
    when: str = ""


@dataclass
class Use:
    """One use: of a name ("mxnet.nd.exp"; ".tostype": a method of what nobody knows), at a line of a source."""

    name: str
    kind: str  #: "import", "name", "call" or "star"
    source: Source
    line: int
    reach: Reach
    caught: frozenset[str]  #: names of exceptions that the program would catch there
    given: list[Any] = field(default_factory=list)  #: of a call: values by position
    named: dict[str, Any] = field(default_factory=dict)  #: and by name; "**" if there may be others

    @property
    def place(self) -> str:
        """Where it is."""
        return self.source.place(self.line)


def leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends with leaving its function or its round; who raises or exits ends the program."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Continue, ast.Break))


def last(node: ast.expr | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def imported(body: list[ast.stmt]) -> list[str]:
    """The full names that statements import."""
    found = []
    for each in body:
        if isinstance(each, ast.Import):
            found += [alias.name for alias in each.names]
        elif isinstance(each, ast.ImportFrom) and not each.level:
            found += [f"{each.module}.{alias.name}" for alias in each.names if alias.name != "*"]
    return found


def caught_by(kind: ast.expr | None) -> set[str]:
    """The names of exceptions that a handler catches."""
    if kind is None:
        return {"BaseException"}
    return {last(each) for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind])} - {""}
