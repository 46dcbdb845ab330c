"""Hooks of several gradients, and copies of all that is saved: what torch.autograd.graph is made of beside one hook."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any, Callable

from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._hooks import RemovableHandle, call_at_end
from mxlite.autograd._nodes import unrecorded


class Copies:
    """The copies that allow_mutation_on_saved_tensors has made, by number, until its block ends."""

    def __init__(self, front_end: FrontEnd) -> None:
        self.front_end = front_end
        self.cloned: dict[int, Any] = {}
        self.open = True

    def clear(self) -> None:
        """Releases the copies: no backward can read them then."""
        self.cloned.clear()

    def pack(self, array: Any) -> int:
        with unrecorded(self.front_end):
            number = len(self.cloned)
            self.cloned[number] = array.clone()
        return number

    def unpack(self, number: int) -> Any:
        if not self.open:
            raise AssertionError("allow_mutation_on_saved_tensors: backward of such a graph runs within its block")
        if number not in self.cloned:
            raise AssertionError("allow_mutation_on_saved_tensors: the saved tensor has been cleared")
        return self.cloned[number]


class _Arrived(list):
    """The gradients that have arrived in a backward, which keeps this list; None for those that have not."""

    def call(self, fn: Callable) -> None:
        fn(list(self))


class _MultiHandle(RemovableHandle):
    """The handle of hooks on several tensors."""

    __slots__ = ("handles",)

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        super().__init__(0)
        self.handles = handles

    def remove(self) -> None:
        for each in self.handles:
            each.remove()


def add_hook_of_several(
    arrays: Sequence[Any], fn: Callable[[Any], None], first_alone: bool, front_end: FrontEnd
) -> RemovableHandle:
    """Calls fn(gradients) at the end of each backward that comes to one of the arrays; None for what has not arrived.

    Args:
        first_alone: Whether it is fn(gradient), at once, with the first that arrives.
    """
    count = len(arrays)  # the hooks keep no array, which would keep them
    under_way: dict[int, Any] = {}  # by thread, a weak reference: a backward that fails leaves nothing behind

    def hook_of(place: int) -> Callable[[Any], None]:
        def hook(grad: Any) -> None:
            known = under_way.get(threading.get_ident(), lambda: None)()
            if known is None:
                known = _Arrived([None] * count)
                under_way[threading.get_ident()] = weakref.ref(known)
                call_at_end(lambda: known.call(_nothing if first_alone else fn), front_end.last_error)
                if first_alone:
                    fn(grad)
            known[place] = grad

        return hook

    return _MultiHandle(tuple(each.register_hook(hook_of(place)) for place, each in enumerate(arrays)))


def _nothing(_: Any) -> None:
    pass
