"""Objects of which each thread has a current one, changed by `with`: name managers, attributes, block scopes."""

from __future__ import annotations

import threading
from typing import Any, Callable


class Current:
    """The current object of each thread; a thread begins with what `make` returns."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._local = threading.local()

    def get(self) -> Any:
        """The calling thread's current object."""
        try:
            return self._local.value
        except AttributeError:
            self._local.value = self._make()
            return self._local.value

    def swap(self, value: Any) -> Any:
        """Makes `value` the current object, and returns the one before it."""
        old = self.get()
        self._local.value = value
        return old


class CurrentOf:
    """An attribute of a class that reads the current object of the calling thread."""

    def __init__(self, current: Current) -> None:
        self._current = current

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self._current.get()
