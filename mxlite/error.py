"""Exceptions of the library: MXNetError, and subclasses chosen by how the library's message begins."""

from __future__ import annotations

import threading
from typing import Any, Callable

from mxlite._public import show as _show

__all__ = [
    "InternalError",
    "MXAttributeError",
    "MXIndexError",
    "MXMemoryError",
    "MXNetError",
    "MXNotImplementedError",
    "MXTypeError",
    "MXValueError",
    "WrongStateError",
    "WrongTypeError",
    "WrongValueError",
    "register",
    "register_error",
]


class MXNetError(RuntimeError):
    """An error of the C library: one line with the operator, the problem and the given value."""


class InternalError(MXNetError):
    """A mistake of the library itself."""


class MXValueError(MXNetError, ValueError):
    """A value that is not allowed."""


class MXTypeError(MXNetError, TypeError):
    """An argument of a kind that is not allowed."""


class MXIndexError(MXNetError, IndexError):
    """An index out of bounds."""


class MXAttributeError(MXNetError, AttributeError):
    """An attribute that does not exist."""


class MXMemoryError(MXNetError, MemoryError):
    """No memory for a result."""


class MXRecursionError(MXNetError, RecursionError):
    """Backward inside backward without end."""


class MXNotImplementedError(MXNetError, NotImplementedError):
    """Something that MXNet has and mxlite does not have yet."""


# What MXNet 1.9.1 says by an AssertionError. Programs, and tests of packages, catch that; so these are AssertionErrors
# too, of classes that say what is wrong.


class WrongTypeError(TypeError, AssertionError):
    """An argument of a kind that is not allowed, which is an AssertionError in MXNet 1.9.1."""


class WrongValueError(ValueError, AssertionError):
    """A value that is not allowed, which is an AssertionError in MXNet 1.9.1."""


class WrongStateError(MXNetError, AssertionError):
    """A call at a time at which it has no meaning, which is an AssertionError in MXNet 1.9.1."""


#: How messages of the library begin, and the exceptions they become.
_classes: dict[str, type[Exception]] = {
    each.__name__.replace("MX", "", 1): each
    for each in MXNetError.__subclasses__()
    if each.__name__.startswith(("MX", "Internal"))
}

#: Exceptions raised inside callbacks that C called, by thread, until the call that led to them comes back.
_pending: dict[int, BaseException] = {}

#: Which thread this is, and how the library's own text is forgotten: `mxlite._lib` sets both. A thread of the
#: library's that goes on for another one (backward deep inside backward) counts as that one.
_thread: Callable[[], int] = threading.get_ident
_forget_text: Callable[[], object] = int


def connect(thread: Callable[[], int], forget_text: Callable[[], object]) -> None:
    """Tells this module of the library, which imports it."""
    global _thread, _forget_text
    _thread, _forget_text = thread, forget_text


def thread_number() -> int:
    """A number of the calling thread, the same for one that goes on for another."""
    return _thread()


def register_error(name: str | type | None = None, cls: type[Exception] | None = None) -> Any:
    """Makes messages that begin `name: ` raise `cls`.

    Without `cls`: a decorator for the class. Without a name, which a decorator does not need: the class's.
    """
    if isinstance(name, type):
        name, cls = name.__name__, name

    def register(chosen: type[Exception]) -> type[Exception]:
        _classes[chosen.__name__ if name is None else name] = chosen
        return chosen

    return register if cls is None else register(cls)


register = register_error


def keep_exception(error: BaseException) -> None:
    """Keeps what a callback raised until the C call that called it has returned, in the same thread.

    It says more than what the library noted meanwhile of calls that failed.
    """
    _pending[_thread()] = error
    _forget_text()


def raise_kept() -> None:
    """Raises what a callback raised during a C call that went on nevertheless."""
    error = _pending.pop(_thread(), None)
    if error is not None:
        raise error


def error_from_message(message: str) -> BaseException:
    """The exception for a message of the library, of the class that it begins with: `ValueError: ...`.

    An exception that a callback raised below is its cause; one that is no error (KeyboardInterrupt, SystemExit) is
    returned itself, and so is a RecursionError: its text would grow with every level.
    """
    prefix, _, rest = message.partition(": ")
    if rest and prefix in _classes:
        cls, message = _classes[prefix], rest
    else:
        cls = MXNetError
    error: BaseException = cls(message)
    inner = _pending.pop(_thread(), None)
    if inner is None:
        return error
    if not isinstance(inner, Exception) or isinstance(inner, RecursionError):
        return inner
    error = cls(f"{message}: {type(inner).__name__}: {inner}")
    error.__cause__ = inner
    return error


_show(globals())
