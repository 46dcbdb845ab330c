"""Names of blocks and symbols that get none from the caller: `dense0`, `dense1`, ..."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite._scope import Current, CurrentOf


class NameManager:
    """Counts the names that it has given, for each hint. `with manager:` makes it the thread's current one."""

    #: The calling thread's manager, as an attribute of the class.
    current: Any

    def __init__(self) -> None:
        self._counter: dict[str, int] = {}
        self._outer: list[NameManager] = []

    def get(self, name: str | None, hint: str) -> str:
        """`name` itself if there is one, else the hint with the next number."""
        if name:
            return name
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        self._outer.append(_current.swap(self))
        return self

    def __exit__(self, *error: Any) -> None:
        _current.swap(self._outer.pop())


class Prefix(NameManager):
    """A name manager whose names, given ones too, begin with a prefix."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The prefix and what NameManager.get returns."""
        return self._prefix + super().get(name, hint)


_current = Current(NameManager)
NameManager.current = CurrentOf(_current)

show(globals())
