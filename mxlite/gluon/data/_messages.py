"""Messages between a loader and its workers: pickles, whose arrays are files in memory that cross beside them."""

from __future__ import annotations

import array
import collections
import io
import mmap
import os
import pickle
import socket
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mxlite.ndarray import ndarray as _ndarray
from mxlite.ndarray.ndarray import NDArray

_HEAD = struct.Struct("<QI")  # bytes, and files
_MOST_FILES = 200  # in one call; Linux takes 253
_MOST_OPEN = (
    512  # number of a file from which an array is copied: a process may have 1024 files, an array keeps its own
)
_LARGE = 1 << 16  # bytes from which an array of NumPy crosses as a file


class _Pickler(pickle.Pickler):
    """Pickles arrays as their shape and dtype, and keeps what holds their values in `files`."""

    def __init__(self, to: io.BytesIO) -> None:
        super().__init__(to, protocol=5)
        self.files: list[int] = []
        self.kept: list = []

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, NDArray) and value.size:
            _, file, shape, dtype = value._to_shared_mem()
            self.files.append(file)
            self.kept.append((value, None))
            return _array, (shape, np.dtype(dtype).str)
        if type(value) is np.ndarray and value.nbytes >= _LARGE and value.dtype.kind in "biufc":
            if hasattr(os, "memfd_create"):
                self.files.append(_file_of(value))
                self.kept.append((None, self.files[-1]))
                return _numpy_array, (value.shape, value.dtype.str)
        return NotImplemented


def _file_of(value: np.ndarray) -> int:
    file = os.memfd_create("mxlite", os.MFD_CLOEXEC)  # type: ignore[attr-defined]
    os.truncate(file, value.nbytes)
    with mmap.mmap(file, value.nbytes) as memory:
        np.copyto(np.frombuffer(memory, value.dtype).reshape(value.shape), value)
    return file


_incoming: collections.deque = collections.deque()


def _array(shape: tuple[int, ...], dtype: str) -> NDArray:
    file = _incoming.popleft()
    shared = _ndarray._new_from_shared_mem(os.getpid(), file, shape, np.dtype(dtype))
    return shared if file < _MOST_OPEN else shared.copy()


def _numpy_array(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    file = _incoming.popleft()
    try:
        memory = mmap.mmap(file, 0)
    finally:
        os.close(file)
    kind = np.dtype(dtype)
    return np.frombuffer(memory, kind, int(np.prod(shape, dtype=np.int64))).reshape(shape)


def packed(value: Any) -> tuple[bytes, list, list]:
    """A value as bytes and files, and what must live until they are sent."""
    to = io.BytesIO()
    pickler = _Pickler(to)
    pickler.dump(value)
    return to.getvalue(), pickler.files, pickler.kept


def opened(payload: bytes, files: Iterable[int]) -> Any:
    """The value of a message; the files are its own from now on."""
    global _incoming
    before, _incoming = _incoming, collections.deque(files)
    try:
        return pickle.loads(payload)
    finally:
        close(_incoming)
        _incoming = before


def close(files: Iterable[int]) -> None:
    """Closes files that nobody wants."""
    for file in files:
        os.close(file)


def framed(payload: bytes, files: int = 0) -> bytes:
    """A payload after its length."""
    return _HEAD.pack(len(payload), files) + payload


def send(channel: socket.socket, payload: bytes, files: list[int], kept: list) -> None:
    """Sends a message, and waits until it is on its way."""
    data = memoryview(framed(payload, len(files)))
    while files:
        some, files = files[:_MOST_FILES], files[_MOST_FILES:]
        part = data if not files else data[:1]
        sent = channel.sendmsg([part], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", some))])
        data = data[sent:]
    if data:
        channel.sendall(data)
    close([file for _, file in kept if file is not None])


class Reader:
    """Puts messages together of what a socket gives."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._bytes = bytearray()
        self._files: collections.deque = collections.deque()

    def close(self) -> None:
        """Closes files that came."""
        close(self._files)
        self._files.clear()

    def messages(self, once: bool = False) -> Iterator[tuple[bytes, list[int]]]:
        """Whole messages, until the socket has no more for now; with once=True, of one reading.

        Raises: EOFError: the other side is gone.
        """
        more = True
        while more:
            try:
                data, ancillary, _, _ = self._channel.recvmsg(1 << 16, socket.CMSG_SPACE(4 * _MOST_FILES))
            except BlockingIOError:
                return
            if not data:
                raise EOFError
            for level, kind, held in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self._files.extend(array.array("i", held[: len(held) // 4 * 4]))
            self._bytes += data
            yield from self._whole()
            more = not once

    def _whole(self) -> Iterator[tuple[bytes, list[int]]]:
        while len(self._bytes) >= _HEAD.size:
            length, files = _HEAD.unpack_from(self._bytes)
            end = _HEAD.size + length
            if len(self._bytes) < end:
                return
            payload = bytes(self._bytes[_HEAD.size : end])
            del self._bytes[:end]
            yield payload, [self._files.popleft() for _ in range(files)]
