"""numpy-shape mode (with it () is the shape of a scalar and 0 an empty axis), the library's environment and memory."""

from __future__ import annotations

import ctypes
import functools
from typing import Any, Callable

from mxlite._lib import LIB, ask, c_text, check_call
from mxlite._public import show as _show


def is_np_shape() -> bool:
    """Whether this thread is in numpy-shape mode. It starts without."""
    return bool(ask(ctypes.c_int, LIB.MXIsNumpyShape))


def set_np_shape(active: bool) -> bool:
    """Switches numpy-shape mode for this thread; the mode before."""
    return bool(ask(ctypes.c_int, LIB.MXSetIsNumpyShape, int(active)))


class _Scope:
    """A with-block in which a setting has another value; `switch` sets one and says what was before."""

    def __init__(self, switch: Callable[[Any], Any], value: Any) -> None:
        self._switch, self._value = switch, value
        self._before: list[Any] = []

    def __enter__(self) -> _Scope:
        self._before.append(self._switch(self._value))
        return self

    def __exit__(self, *_: object) -> None:
        self._switch(self._before.pop())


def np_shape(active: bool = True) -> _Scope:
    """A with-block in numpy-shape mode (or, with False, out of it)."""
    return _Scope(set_np_shape, active)


def use_np_shape(function: Callable) -> Callable:
    """A decorator: the function runs in numpy-shape mode."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with np_shape(True):
            return function(*args, **kwargs)

    return wrapper


def getenv(name: str) -> str | None:
    """The value of a variable in the library's environment; None: it is not set."""
    value = ask(ctypes.c_char_p, LIB.MXGetEnv, c_text(name))
    return None if value is None else value.decode()


def setenv(name: str, value: str | None) -> None:
    """Sets a variable in the library's environment, where `os.environ` of a running program does not look; None unsets.

    Raises:
        MXNetError: no variable can have that name.
        ValueError: name or value holds a NUL character.
    """
    check_call(LIB.MXSetEnv(c_text(name), None if value is None else c_text(value)))


def pool_bytes() -> int:
    """Bytes of freed memory that the library keeps for reuse; `Context.empty_cache` gives them back to the system."""
    return ask(ctypes.c_int64, LIB.MXLGetPoolBytes)


def set_pool_cap(bytes: int | None) -> int:
    """Sets how many bytes of freed memory may be kept for reuse; the number before.

    What is above it is given back at once. None: back to the default, which is `MXLITE_POOL_MB` MiB where that
    variable is set, else an eighth of the machine's memory and at most 1 GiB.

    Raises:
        ValueError: a negative number.
    """
    if bytes is not None and bytes < 0:
        raise ValueError(f"a number of bytes was expected, got {bytes}")
    return ask(ctypes.c_int64, LIB.MXLSetPoolCap, -1 if bytes is None else bytes)


_show(globals())
