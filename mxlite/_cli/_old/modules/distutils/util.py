"""Small functions of distutils."""

from __future__ import annotations

import sysconfig

__all__ = ["get_platform", "split_quoted", "strtobool"]


def strtobool(val: str) -> int:
    """1 for y, yes, t, true, on, 1; 0 for n, no, f, false, off, 0. Raises: ValueError: others."""
    word = val.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if word in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {word!r}")


def get_platform() -> str:
    """The system and the processor."""
    return sysconfig.get_platform()


def split_quoted(s: str) -> list[str]:
    """Words as the shell splits them."""
    import shlex

    return shlex.split(s)
