"""Errors and warnings that many functions of tensors have, made in one place so that each has the same words."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mxlite.torch._dtypes import dtype


def wrong_argument(name: str, argument: str, position: int, expected: str, value: Any) -> TypeError:
    """The error of an argument of a class that a function does not take.

    Args:
        position: Where the argument stands, from 1 on; 0: it is not said.
        expected: The classes that the function takes.
    """
    where = f" (position {position})" if position else ""
    return TypeError(
        f"{name}: argument '{argument}'{where} has the wrong type, expected {expected}, got {type(value).__name__}"
    )


def none_of(name: str, kind: dtype) -> NotImplementedError:
    """The error of a function that has no kernel for a dtype."""
    return NotImplementedError(f"{name}: there is none of dtype {kind.word}")


def warn(text: str, kind: type[Warning] = UserWarning) -> None:
    """Warns of the line of the caller's program: the first one outside of this package."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("mxlite."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, kind, stacklevel=depth)


def warn_of_old(name: str, use: str, kind: type[Warning] = UserWarning) -> None:
    """Warns that a function is an old one."""
    warn(f"{name} is old: use {use}", kind)
