"""Files that replace others once they are whole. All that the package writes goes through here.

The mechanism is the library's own (capi/array/replace.h): a temporary file beside the old one, which gets its name
when it is written out. Links are followed, permissions kept; pipes and devices are written directly.
"""

from __future__ import annotations

import ctypes
import io
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mxlite._lib import LIB, c_text, last_error


class _State(ctypes.Structure):
    """The header's MXLReplacement."""

    _fields_ = [("descriptor", ctypes.c_int), ("error_number", ctypes.c_int), ("inside", ctypes.c_uint64 * 1040)]


class _Raw(io.FileIO):
    """The descriptor as a file whose errors name the path. Once dropped, or in a forked child, it writes nothing."""

    def __init__(self, descriptor: int, path: str) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.name = path
        self.owner: int | None = os.getpid()

    def write(self, data: Any) -> int:
        if self.owner != os.getpid():
            return memoryview(data).nbytes
        try:
            return super().write(data)  # type: ignore[return-value] # the descriptor waits
        except OSError as error:
            raise _named(error, self.name) from None


def _named(error: OSError, path: str) -> OSError:
    return OSError(error.errno, f"writing failed: {error.strerror}", path)


class Replacement:
    """A file that is written beside another, whose place it takes at its end.

    Attributes:
        file: What to write to.

    Args:
        encoding: Of text; None: bytes are written.
        buffered: Whether bytes may wait in a buffer until the end. Text does.
        stream: A file that does not exist or is empty is written directly, since nothing is lost: what is written can
            be read at once, and stays where the rest fails.
    Raises: OSError: it cannot be written; FileNotFoundError, PermissionError and others of its kinds.
    """

    def __init__(self, path: Any, encoding: str | None = None, buffered: bool = True, stream: bool = False) -> None:
        self.path: str = os.fsdecode(path)
        self._state = _State(descriptor=-1)
        self._stream = stream
        if LIB.MXLReplaceBegin(c_text(os.fsencode(path)), stream, ctypes.byref(self._state)) != 0:
            self._raise()
        self._raw = _Raw(self._state.descriptor, self.path)
        self.file: Any = io.BufferedWriter(self._raw) if buffered or encoding is not None else self._raw
        if encoding is not None:
            self.file = io.TextIOWrapper(self.file, encoding)

    def _raise(self) -> NoReturn:
        number = self._state.error_number
        problem = str(last_error()).removeprefix("MXLReplaceBegin: ").removeprefix("MXLReplaceEnd: ")
        raise OSError(number, problem.removeprefix(f"{self.path}: "), self.path)

    def sync(self) -> None:
        """Writes out what has been written, so that `end` only renames; of a stream, the buffer. Raises: OSError."""
        self.file.flush()
        if not self._stream and stat.S_ISREG(os.fstat(self._state.descriptor).st_mode):
            try:
                os.fsync(self._state.descriptor)
            except OSError as error:
                raise _named(error, self.path) from None

    def end(self) -> None:
        """The file takes its place. Raises: OSError: it is incomplete, and removed; the old one stays."""
        try:
            self.file.close()
        except BaseException:
            self.drop()
            raise
        if LIB.MXLReplaceEnd(ctypes.byref(self._state), 1) != 0:
            self._raise()

    def drop(self) -> None:
        """Removes what has been written; the old file stays. Nothing happens after `end`."""
        if self._state.descriptor < 0:
            return
        self._raw.owner = None
        self.file.close()
        LIB.MXLReplaceEnd(ctypes.byref(self._state), 0)


@contextmanager
def replacing(path: Any, encoding: str | None = None) -> Iterator[Any]:
    """A file to write to, which takes the path's place at the end of the block, or is removed if the block raises.

    Args: encoding: Of text; None: bytes are written.
    Raises: OSError: as Replacement; it names the path and the reason.
    """
    made = Replacement(path, encoding)
    try:
        yield made.file
    except BaseException:
        made.drop()
        raise
    made.end()


def write(path: Any, content: str | bytes) -> None:
    """Replaces a file by bytes, or by text in UTF-8. Raises: OSError: as `replacing`."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def copy(source: Any, path: Any) -> None:
    """Replaces a file by what an open file has left. Raises: OSError: as `replacing`, or of reading."""
    with replacing(path) as file:
        shutil.copyfileobj(source, file)
