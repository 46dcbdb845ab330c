"""Attributes that symbols and parameters made in a `with` block get."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite._scope import Current, CurrentOf


class AttrScope:
    """A block `with AttrScope(ctx_group="dev1"):`; within it `get` adds these attributes and those of outer blocks.

    Raises: ValueError: an attribute is not a string.
    """

    #: The calling thread's scope, as an attribute of the class.
    current: Any

    def __init__(self, **kwargs: str) -> None:
        if not all(isinstance(value, str) for value in kwargs.values()):
            raise ValueError("AttrScope: the values of attributes are texts")
        self._attr = kwargs
        self._outer: list[tuple[AttrScope, dict[str, str]]] = []

    def get(self, attr: dict[str, str] | None) -> dict[str, str]:
        """The scope's attributes, with those of `attr`, which come first."""
        return {**self._attr, **(attr or {})}

    def __enter__(self) -> AttrScope:
        outer = _current.get()
        self._outer.append((outer, self._attr))
        self._attr = {**outer._attr, **self._attr}
        _current.swap(self)
        return self

    def __exit__(self, *error: Any) -> None:
        outer, self._attr = self._outer.pop()
        _current.swap(outer)


_current = Current(AttrScope)
AttrScope.current = CurrentOf(_current)

show(globals())
