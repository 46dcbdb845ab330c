"""Versions that can be compared."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["LooseVersion", "StrictVersion", "Version"]


class Version:
    """What versions have in common: they are made of a text, and compared also with texts."""

    version: Any

    def __init__(self, vstring: str | None = None) -> None:
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Takes a version from a text."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"

    def _cmp(self, other: Any) -> Any:
        if isinstance(other, str):
            other = type(self)(other)
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = self._key(), other._key()
        return 0 if mine == theirs else (-1 if mine < theirs else 1)

    def _key(self) -> Any:
        return self.version

    def __eq__(self, other: object) -> Any:
        found = self._cmp(other)
        return found if found is NotImplemented else found == 0

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Any:
        found = self._cmp(other)
        return found if found is NotImplemented else found < 0

    def __le__(self, other: Any) -> Any:
        found = self._cmp(other)
        return found if found is NotImplemented else found <= 0

    def __gt__(self, other: Any) -> Any:
        found = self._cmp(other)
        return found if found is NotImplemented else found > 0

    def __ge__(self, other: Any) -> Any:
        found = self._cmp(other)
        return found if found is NotImplemented else found >= 0


class LooseVersion(Version):
    """Any text: its numbers are compared as numbers, what is between them as texts."""

    def parse(self, vstring: str) -> None:
        """Takes a version from a text."""
        self.vstring = vstring
        parts = [part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self}')"


class StrictVersion(Version):
    """Two or three numbers, and perhaps a or b and a number, for what comes before. Raises: ValueError: others."""

    version_re = re.compile(r"^(\d+) \. (\d+) (\. (\d+))? ([ab](\d+))?$", re.VERBOSE | re.ASCII)
    prerelease: Any = None

    def parse(self, vstring: str) -> None:
        """Takes a version from a text."""
        found = self.version_re.match(vstring)
        if found is None:
            raise ValueError(f"invalid version number '{vstring}'")
        self.version = (int(found[1]), int(found[2]), int(found[4] or 0))
        self.prerelease = (found[5][0], int(found[6])) if found[5] else None

    def __str__(self) -> str:
        numbers = self.version if self.version[2] else self.version[:2]
        return ".".join(map(str, numbers)) + ("".join(map(str, self.prerelease)) if self.prerelease else "")

    def _key(self) -> Any:
        return self.version, self.prerelease or ("z", 0)
