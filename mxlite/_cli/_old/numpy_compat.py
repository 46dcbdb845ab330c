"""`numpy.compat`, which NumPy 2 has no longer."""

from __future__ import annotations

import pickle  # noqa: F401
from os import PathLike as os_PathLike  # noqa: F401 - it is asked for here
from os import fspath as os_fspath  # noqa: F401
from pathlib import Path
from typing import Any

bytes, long, unicode, basestring = bytes, int, str, str
integer_types = (int,)
strchar = "U"


def asbytes(given: Any) -> bytes:
    """Bytes as they are, else the text in Latin-1."""
    return given if isinstance(given, bytes) else str(given).encode("latin1")


def asunicode(given: Any) -> str:
    """Bytes as Latin-1, else `str` of what is given."""
    return given.decode("latin1") if isinstance(given, bytes) else str(given)


asstr = asunicode


def asbytes_nested(given: Any) -> Any:
    """`asbytes` of all in nested lists."""
    if hasattr(given, "__iter__") and not isinstance(given, (bytes, str)):
        return [asbytes_nested(each) for each in given]
    return asbytes(given)


def asunicode_nested(given: Any) -> Any:
    """`asunicode` of all in nested lists."""
    if hasattr(given, "__iter__") and not isinstance(given, (bytes, str)):
        return [asunicode_nested(each) for each in given]
    return asunicode(given)


def sixu(text: str) -> str:
    """The text itself."""
    return text


def getexception() -> BaseException | None:
    """The exception that is being handled."""
    import sys

    return sys.exc_info()[1]


def isfileobj(given: Any) -> bool:
    """Whether it is a file of the system, as `open` gives it."""
    import io

    return isinstance(given, (io.FileIO, io.BufferedReader, io.BufferedWriter))


def is_pathlib_path(given: Any) -> bool:
    """Whether it is a Path."""
    return isinstance(given, Path)


def open_latin1(name: str, mode: str = "r") -> Any:
    """Opens a file of text in Latin-1."""
    return open(name, mode, encoding="iso-8859-1")


def npy_load_module(name: str, path: str, info: Any = None) -> Any:
    """Loads a module from a file."""
    from importlib.machinery import SourceFileLoader

    return SourceFileLoader(name, path).load_module()
