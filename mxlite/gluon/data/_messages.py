"""Messages between a loader and its workers: pickles, whose arrays are files in memory that cross beside them."""

from __future__ import annotations

import array
import collections
import ctypes
import io
import mmap
import os
import pickle
import resource
import socket
import struct
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from mxlite._lib import LIB, ask
from mxlite.error import MXNetError
from mxlite.ndarray import ndarray as _ndarray
from mxlite.ndarray._kinds import as_kind
from mxlite.ndarray.ndarray import NDArray

_HEAD = struct.Struct("<QI")  # bytes, and files
_MOST_FILES = 200  # in one call; Linux takes 253
_MOST_OPEN = 512  # number of a file from which an array is copied: an array keeps its own, and a process may have few
_LARGE = 1 << 16  # bytes from which an array of NumPy crosses as a file


class _Pickler(pickle.Pickler):
    """Pickles arrays as their shape and dtype; files with their values, which are the message's own, are in `files`."""

    def __init__(self, to: io.BytesIO) -> None:
        super().__init__(to, protocol=5)
        self.files: list[int] = []

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, NDArray) and value.size:
            self.files.append(ask(ctypes.c_int, LIB.MXLNDArrayShare, value._h))
            return _array, (value.shape, np.dtype(value.dtype).str, value._kind)
        if type(value) is np.ndarray and value.nbytes >= _LARGE and value.dtype.kind in "biufc":
            if hasattr(os, "memfd_create"):
                self.files.append(_file_of(value))
                return _numpy_array, (value.shape, value.dtype.str)
        return NotImplemented


def _file_of(value: np.ndarray) -> int:
    file = os.memfd_create("mxlite", os.MFD_CLOEXEC)  # type: ignore[attr-defined]
    try:
        os.posix_fallocate(file, 0, value.nbytes)  # else a full memory would be a signal
        with mmap.mmap(file, value.nbytes) as memory:
            np.copyto(np.frombuffer(memory, value.dtype).reshape(value.shape), value)
    except BaseException:
        os.close(file)
        raise
    return file


class _Unpickler(pickle.Unpickler):
    """Makes the arrays of a message of its files, which it takes from `files`."""

    def __init__(self, payload: bytes, files: collections.deque) -> None:
        super().__init__(io.BytesIO(payload))
        self._files = files

    def find_class(self, module: str, name: str) -> Any:
        if module == __name__ and name in ("_array", "_numpy_array"):
            return partial(globals()[name], self._files)  # not of self, whose memo it is in: that were a cycle
        return super().find_class(module, name)


def _array(files: collections.deque, shape: tuple[int, ...], dtype: str, kind: type[NDArray]) -> NDArray:
    file = files.popleft()
    try:
        shared = _ndarray._new_from_shared_mem(os.getpid(), file, shape, np.dtype(dtype))
    except BaseException:
        os.close(file)
        raise
    return as_kind(shared if file < _most_open() else shared.copy(), kind)


def _most_open() -> int:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST_OPEN if limit == resource.RLIM_INFINITY else min(_MOST_OPEN, limit // 2)


def _numpy_array(files: collections.deque, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    file = files.popleft()
    try:
        memory = mmap.mmap(file, 0)
    finally:
        os.close(file)
    return np.frombuffer(memory, np.dtype(dtype), int(np.prod(shape, dtype=np.int64))).reshape(shape)


def packed(value: Any) -> tuple[bytes, list[int]]:
    """A value as bytes and files, which `send` closes."""
    to = io.BytesIO()
    pickler = _Pickler(to)
    try:
        pickler.dump(value)
    except BaseException:
        close(pickler.files)
        raise
    return to.getvalue(), pickler.files


def opened(payload: bytes, files: Iterable[int]) -> Any:
    """The value of a message; the files are its own from now on."""
    left = collections.deque(files)
    try:
        return _Unpickler(payload, left).load()
    finally:
        close(left)


def close(files: Iterable[int]) -> None:
    """Closes files that nobody wants."""
    for file in files:
        os.close(file)


def framed(payload: bytes, files: int = 0) -> bytes:
    """A payload after its length."""
    return _HEAD.pack(len(payload), files) + payload


def send(channel: socket.socket, payload: bytes, files: list[int]) -> None:
    """Sends a message, and waits until it is on its way; closes its files."""
    data, left = memoryview(framed(payload, len(files))), files
    try:
        while left:
            some, left = left[:_MOST_FILES], left[_MOST_FILES:]
            part = data if not left else data[:1]
            sent = channel.sendmsg([part], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", some))])
            data = data[sent:]
        if data:
            channel.sendall(data)
    finally:
        close(files)


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

        Raises: EOFError: the other side is gone; MXNetError: this process may not open as many files.
        """
        more = True
        while more:
            try:
                data, ancillary, flags, _ = self._channel.recvmsg(1 << 16, socket.CMSG_SPACE(4 * _MOST_FILES))
            except BlockingIOError:
                return
            if not data:
                raise EOFError
            for level, kind, held in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    self._files.extend(array.array("i", held[: len(held) // 4 * 4]))
            if flags & socket.MSG_CTRUNC:
                raise MXNetError(
                    "DataLoader: a batch's arrays need more open files than this process may have "
                    f"({resource.getrlimit(resource.RLIMIT_NOFILE)[0]}); see ulimit -n"
                )
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
