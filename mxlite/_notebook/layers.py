"""A network as HTML: a line for each layer with its parameters. Gluon's blocks and torch's modules show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from mxlite._notebook import tables

#: Longer texts of layers are cut.
_WIDTH = 60
#: Notebooks' styles join plain blanks.
_INDENT = "\u00a0" * 4


@dataclass
class Held:
    """A parameter of a layer."""

    name: str
    #: None: not known at all; sizes below 1 are not known yet.
    shape: Sequence[int] | None
    dtype: str
    trained: bool
    #: The same for a parameter that layers share.
    key: int

    @property
    def size(self) -> int | None:
        """How many numbers it has; None: not known yet."""
        return None if self.shape is None or any(size < 1 for size in self.shape) else prod(self.shape)

    def __str__(self) -> str:
        if self.shape is None:
            sizes = "?"
        else:
            sizes = "×".join("?" if size < 1 else str(size) for size in self.shape) or "scalar"
        return f"{self.name} {sizes}" + ("" if self.dtype == "float32" else f" {self.dtype}")


def html(title: str, layers: Iterable[tuple[int, str, str, list[Held]]]) -> str:
    """The table.

    Args:
        layers: Of each, in order: how deep it is in others, its name, its text, its own parameters.
    """
    rows: list[list[str]] = []
    seen: dict[int, Held] = {}
    for depth, name, kind, held in layers:
        new = {each.key: each for each in held if each.key not in seen}
        seen.update(new)
        sizes = [each.size for each in new.values()]
        own = "?" if None in sizes else str(sum(size or 0 for size in sizes)) if sizes else ""
        texts = [str(each) + ("" if each.key in new else " (shared)") for each in held]
        text = kind if len(kind) <= _WIDTH else kind[: _WIDTH - 1] + "…"
        rows.append([_INDENT * depth + name, text, ", ".join(texts), own])
    return tables.table(["layer", "", "parameters", "numbers"], rows, right={3}, foot=_total(seen), title=title)


def _total(held: dict[int, Held]) -> str:
    known = [each for each in held.values() if each.size is not None]
    total = sum(each.size or 0 for each in known)
    fixed = sum(each.size or 0 for each in known if not each.trained)
    text = f"{total} numbers in {len(held)} parameters" + (f", {fixed} of them not trained" if fixed else "")
    unknown = len(held) - len(known)
    return text + (f"; the shapes of {unknown} are not known yet" if unknown else "")
