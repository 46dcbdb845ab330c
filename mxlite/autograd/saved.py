"""saved_tensors_hooks: values that are saved for backward, in a form of the user's own."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite import _backward, error
from mxlite._lib import LIB, check_call, hot, lasting
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import share
from mxlite.autograd._hooks import HANDLES, callback, hand_over

#: The blocks that are open, by thread (error.thread_number()); for what Python itself saves.
_open: dict[int, list[SavedHooks]] = {}

#: Blocks that refuse others on their threads: what an error says.
_refusals: dict[int, list[str]] = {}


class Refusal:
    """A with-block in which no SavedHooks may be entered on this thread.

    Args:
        text: What the error says.
        front_end: Whose error it is, where hooks are in force already.
    """

    def __init__(self, text: str, front_end: FrontEnd) -> None:
        self.text, self.front_end = text, front_end

    def __enter__(self) -> None:
        if current() is not None:
            raise self.front_end.error(self.text)
        _refusals.setdefault(error.thread_number(), []).append(self.text)

    def __exit__(self, *_: object) -> None:
        thread = error.thread_number()
        _refusals[thread].pop()
        if not _refusals[thread]:
            del _refusals[thread]


def current() -> SavedHooks | None:
    """The innermost open block of this thread."""
    if not _open:
        return None
    stack = _open.get(error.thread_number())
    return stack[-1] if stack else None


class SavedHooks:
    """A with-block: what is saved for backward by what is recorded in it goes through two functions.

    Of blocks inside each other the innermost holds. Values that are packed are not found to have been edited.

    Args:
        pack_hook: Gets an array that is saved (it is detached) and returns any object in its place.
        unpack_hook: Gets that, each time the array is read, and returns an array of the same shape and dtype.
        front_end: The front end whose arrays they get.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any], front_end: FrontEnd) -> None:
        self.pack, self.unpack, self.front_end = pack_hook, unpack_hook, front_end

    def __enter__(self) -> None:
        if _refusals:
            refused = _refusals.get(error.thread_number())
            if refused:
                raise self.front_end.error(refused[-1])
        push = LIB.MXLPushSavedHooks
        hand_over(self, lambda *payload: push(_PACK, _UNPACK, _DROP, *payload), self.front_end.last_error)
        _open.setdefault(error.thread_number(), []).append(self)

    def __exit__(self, *_: object) -> None:
        thread = error.thread_number()
        stack = _open[thread]
        stack.pop()
        if not stack:
            del _open[thread]
        check_call(LIB.MXLPopSavedHooks())

    def packed(self, array: Any) -> Any:
        """What `pack` makes of the array. Raises: RuntimeError or MXNetError: it edits the array."""
        before = array._version
        made = self.pack(array)
        if array._version != before:
            raise self.front_end.error("saved_tensors_hooks: pack edits in place what is saved; edit a copy")
        return made

    def unpacked(self, packed: Any) -> Any:
        """The array for what `pack` returned. Raises: TypeError: `unpack` returns none."""
        array = self.unpack(packed)
        if not isinstance(array, self.front_end.array_class):
            raise TypeError(f"saved_tensors_hooks: unpack must return an array, it returned {type(array).__name__}")
        return array


_P = ctypes.c_void_p


@callback(_P, HANDLES)
def _PACK(hooks: Any, array: int, packed: Any) -> None:  # noqa: N802 - it is a constant
    """A value is saved."""
    packed[0] = hot.keep((_backward.call_user(hooks.packed, hooks.front_end.adopt(array)),))


@callback(_P, HANDLES)
def _UNPACK(hooks: Any, packed: int, array: Any) -> None:  # noqa: N802
    """It is read."""
    found = _backward.call_user(hooks.unpacked, *hot.kept(packed))
    array[0] = share(found._h)


@lasting
@ctypes.CFUNCTYPE(None, _P, _P)
def _DROP(number: int, packed: int, drop: Any = hot.drop) -> None:  # noqa: N802
    """It is needed no more; perhaps when the interpreter has taken this module apart."""
    drop(packed)
