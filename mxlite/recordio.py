"""`mx.recordio`: files of records, byte for byte those of MXNet 1.9.1, and images within records.

writer = mx.recordio.MXIndexedRecordIO("data.idx", "data.rec", "w")
for number, (label, image) in enumerate(samples):
    header = mx.recordio.IRHeader(0, label, number, 0)
    writer.write_idx(number, mx.recordio.pack(header, image))
writer.close()

A record is one or more parts: a magic number, a word with the length (29 bits) and what kind of part it is (3 bits:
whole, first, middle, last), the bytes, zeros up to a multiple of 4. Where a record has the magic number at a multiple
of 4, it is split there, and the magic number left out.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import stat
import struct
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any, BinaryIO, TextIO

import numpy as np

from mxlite._ends import destructor
from mxlite._image_files import bgr, decode, encode
from mxlite._public import show
from mxlite._replace import Replacement
from mxlite.error import MXNetError, WrongStateError

__all__ = ["IRHeader", "MXIndexedRecordIO", "MXRecordIO", "pack", "pack_img", "unpack", "unpack_img"]

_MAGIC = 0xCED7230A
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_PART = struct.Struct("<II")
_LENGTH_BITS = 29
_LONGEST = (1 << _LENGTH_BITS) - 1
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
#: Parts above this size are read only if the file has as many bytes.
_LARGE = 1 << 16
#: What is read ahead; more would make reading by key slow.
_BUFFER = 1 << 12


#: Those that are open, or were: a program that ends without closing one keeps what it wrote.
_writers: weakref.WeakSet[MXRecordIO] = weakref.WeakSet()


@atexit.register
def _close_writers() -> None:
    for each in list(_writers):
        each.close()


class MXRecordIO:
    """A file of records, which are written or read one after another.

    A file with content that is written anew stays as it is until `close`, and takes the new records then. Where the
    last record could not be written, `close` fails and the old file stays. A new file has each record at once.

    A file that is being written belongs to the process that opened it, and so does a reader, other than those of an
    MXIndexedRecordIO, which open the file again after a fork.

    Args:
        uri: Path of the file.
        flag: "r" to read, "w" to write; `close` then replaces what the file had.
    Raises: ValueError: another flag. MXNetError: the file cannot be opened.
    """

    def __init__(self, uri: str | os.PathLike[str], flag: str) -> None:
        self.is_open = False
        self.uri = os.fspath(uri)
        self.flag = flag
        self.pid: int | None = None
        self._file: Any = None
        self._replacing: list[Replacement] = []
        self._replaces = self._lost = False
        self._size = 0
        self.open()

    def open(self) -> None:
        """Opens the file at its begin."""
        if self.flag not in ("r", "w"):
            raise ValueError(f"Invalid flag {self.flag}")
        self.writable = self.flag == "w"
        self._replaces = self.writable and any(_holds(each) for each in self._paths())
        self._lost, self._size = False, 0
        self._file = self._written(self.uri) if self.writable else _opened(self.uri)
        self._read: Callable[[int], bytes] = self._file.read
        self.pid = os.getpid()
        self.is_open = True
        if self.writable:
            _writers.add(self)

    def _written(self, path: str, encoding: str | None = None) -> Any:
        """A file to write to, which takes its place when `close` ends all that are replaced.

        Its records have no buffer: a process that is forked would write what is in one a second time.
        """
        try:
            made = Replacement(path, encoding, buffered=False, stream=not self._replaces)
        except OSError as error:
            raise MXNetError(f'Open "{path}": {error.strerror}') from None
        self._replacing.append(made)
        return made.file

    def _paths(self) -> list[str]:
        """The files that are written: if one of them has something to lose, all appear at the end."""
        return [self.uri]

    def close(self) -> None:
        """Closes the file; nothing happens if it is closed.

        Raises: OSError, MXNetError: what was written is incomplete; the file that it replaces stays.
        """
        if not self.is_open:
            return
        broken = self._lost and self._replaces and self.pid == os.getpid()
        self.is_open = False
        self.pid = None
        if not self.writable:
            self._file.close()
            return
        try:
            if broken:
                raise MXNetError(f"{self.uri!r} stays as it was: the last record could not be written")
            for each in self._replacing:
                each.sync()
            for each in self._replacing:
                each.end()
        finally:
            self._drop()

    def _drop(self) -> None:
        """Removes what was written and has not taken its place."""
        for each in self._replacing:
            each.drop()
        self._replacing = []

    @destructor
    def __del__(self) -> None:
        if getattr(self, "is_open", False):
            self.close()

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the names and the flag. The copy opens the file again, at its begin.

        Raises: TypeError: the file is being written; a copy would empty it.
        """
        if self.is_open and self.writable:
            raise TypeError(f"{type(self).__name__}: a file that is being written cannot be pickled; close it first")
        kept = {name: each for name, each in self.__dict__.items() if name not in ("_file", "_read")}
        return {**kept, "pid": None}

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__.update(d)
        is_open, self.is_open, self.pid = d["is_open"], False, None
        if is_open:
            self.open()

    def _check_pid(self, allow_reset: bool = False) -> None:
        """Raises RuntimeError if the file was opened by another process or is closed; or opens it again."""
        if self.pid != os.getpid():
            if not allow_reset:
                raise RuntimeError("Forbidden operation in multiple processes or on a closed file")
            self.reset()

    def reset(self) -> None:
        """Closes the file and opens it again: reading begins anew, and so does writing, without what was written."""
        if self.is_open and self.writable:
            self._drop()
            self.is_open = False
        self.close()
        self.open()

    def write(self, buf: bytes) -> None:
        """Appends a record.

        Args:
            buf: bytes or a bytearray, shorter than 2^29 bytes.
        Raises: TypeError, ValueError: it is none. RuntimeError: the file is closed or another process's. OSError:
            writing failed, and the file has none of it.
        """
        if not self.writable:
            raise WrongStateError("the file is open for reading")
        self._check_pid()
        if not isinstance(buf, (bytes, bytearray)):
            raise TypeError(f"a record must be bytes, got {type(buf).__name__}")
        if len(buf) > _LONGEST:
            raise MXNetError(f"a record must be shorter than 2^29 bytes, got {len(buf)}")
        data = b"".join(_parts(bytes(buf)))
        try:
            _write_all(self._file, data)
        except OSError:
            self._lost = True
            with contextlib.suppress(OSError):  # of a pipe, which keeps what it has
                self._file.truncate(self._size)
                self._file.seek(self._size)
            raise
        self._lost = False
        self._size += len(data)

    def read(self) -> bytes | None:
        """The next record; None at the end of the file.

        Raises: MXNetError: the file is broken there. RuntimeError: it is closed or another process's.
        """
        if self.writable:
            raise WrongStateError("the file is open for writing")
        if self.pid != os.getpid():
            self._check_pid()
        start = self._read(8)
        if not start:
            return None
        kind, record = self._part(start)
        return record if kind == _WHOLE or kind == _LAST else self._joined(record)

    def _part(self, start: bytes) -> tuple[int, bytes]:
        """The kind and the content of the part that begins with the 8 bytes `start`."""
        if len(start) < 8:
            raise self._broken("the head of a record is cut off")
        magic, word = _PART.unpack(start)
        if magic != _MAGIC:
            raise self._broken("a record does not begin with the magic number")
        length = word & _LONGEST
        padded = (length + 3) & ~3
        if padded > _LARGE and padded > self._rest():
            raise self._broken(f"it ends within a record of {length} bytes")
        content = self._read(padded)
        if len(content) < padded:
            raise self._broken(f"it ends within a record of {length} bytes")
        return word >> _LENGTH_BITS, content if padded == length else content[:length]

    def _joined(self, first: bytes) -> bytes:
        """The record whose first part this is."""
        parts, kind = [first], _FIRST
        while kind != _LAST and kind != _WHOLE:
            kind, part = self._part(self._read(8))
            parts.append(part)
        return _MAGIC_BYTES.join(parts)

    def _rest(self) -> int:
        """How many bytes the file has left."""
        about = os.fstat(self._file.fileno())
        if not stat.S_ISREG(about.st_mode):
            return _LONGEST
        return about.st_size - self._file.tell()

    def _broken(self, why: str) -> MXNetError:
        return MXNetError(f"Invalid RecordIO file {self.uri!r}: {why}, before byte {self._file.tell()}")


class MXIndexedRecordIO(MXRecordIO):
    """A file of records and an index of them, a text file with lines `key <tab> position`.

    Attributes:
        keys: The keys in the order of the index.
        idx: The position of each.

    Args:
        idx_path: Path of the index.
        uri, flag: As of MXRecordIO.
        key_type: What makes a key of its text.
    Raises: besides those of MXRecordIO, OSError or ValueError: the index cannot be read.
    """

    def __init__(
        self,
        idx_path: str | os.PathLike[str],
        uri: str | os.PathLike[str],
        flag: str,
        key_type: Callable[[Any], Any] = int,
    ) -> None:
        self.idx_path = os.fspath(idx_path)
        self.key_type = key_type
        self.idx: dict[Any, int] = {}
        self.keys: list[Any] = []
        self.fidx: TextIO | None = None
        super().__init__(uri, flag)

    def open(self) -> None:
        """Opens both files, and reads the index if they are to be read."""
        super().open()
        self.idx, self.keys = {}, []
        try:
            if self.writable:
                self.fidx = self._written(self.idx_path, "utf-8")
            else:
                self.fidx = open(self.idx_path, encoding="utf-8")
                self._read_index(self.fidx)
        except BaseException:
            self._drop()
            self.close()
            raise

    def _read_index(self, file: TextIO) -> None:
        for number, line in enumerate(file, 1):
            try:
                key, position = line.rstrip("\r\n").split("\t")[:2]
                self.idx[self.key_type(key)] = int(position)
                self.keys.append(self.key_type(key))
            except ValueError as error:
                raise ValueError(f"index {self.idx_path!r}, line {number}: {error}") from None

    def close(self) -> None:
        """Closes both files."""
        try:
            super().close()
        finally:
            if self.fidx is not None:
                self.fidx.close()
                self.fidx = None

    def _paths(self) -> list[str]:
        return [self.uri, self.idx_path]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "fidx": None}

    def seek(self, idx: Any) -> None:
        """Goes to the record of a key; the next `read` returns it.

        Raises: KeyError: there is no such key.
        """
        if self.writable:
            raise WrongStateError("the file is open for writing")
        self._check_pid(allow_reset=True)
        self._file.seek(self.idx[idx])

    def tell(self) -> int:
        """The position at which the next record will be written."""
        if not self.writable:
            raise WrongStateError("the file is open for reading")
        return self._file.tell()

    def read_idx(self, idx: Any) -> bytes | None:
        """The record of a key.

        Raises: KeyError: there is no such key. MXNetError: the file is broken there.
        """
        self.seek(idx)
        return self.read()

    def write_idx(self, idx: Any, buf: bytes) -> None:
        """Appends a record and its key to the index."""
        if not self.writable:
            raise WrongStateError("the file is open for reading")
        key, position = self.key_type(idx), self.tell()
        self.write(buf)
        assert self.fidx is not None
        self.fidx.write(f"{key}\t{position}\n")
        self.idx[key] = position
        self.keys.append(key)


#: What stands before an image in a record. `label` is a number if `flag` is 0, else an array of `flag` float32.
IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])
HEADER = IRHeader  # pickle finds the class by its name
_HEADER = struct.Struct("<IfQQ")


def pack(header: Any, s: bytes) -> bytes:
    """A header and bytes as one record.

    Args:
        header: An IRHeader or a tuple like it. Its flag is not read: it is 0 for a label that is a number, else the
            number of labels.
        s: The content, such as an encoded image.
    """
    header = IRHeader(*header)
    if isinstance(header.label, Number):
        flag, label, labels = 0, header.label, b""
    else:
        array = np.asarray(header.label, dtype="<f4")
        flag, label, labels = array.size, 0, array.tobytes()
    return _HEADER.pack(flag, label, header.id, header.id2) + labels + s


def unpack(s: bytes) -> tuple[IRHeader, bytes]:
    """The header and the content of a record that `pack` made.

    Raises: struct.error, ValueError: it is too short.
    """
    flag, label, number, number2 = _HEADER.unpack(s[: _HEADER.size])
    start = _HEADER.size
    if flag:
        label = np.frombuffer(s, np.dtype("<f4"), flag, start) if len(s) >= start + 4 * flag else _too_short(flag)
        start += 4 * flag
    return IRHeader(flag, label, number, number2), s[start:]


def pack_img(header: Any, img: np.ndarray, quality: int = 95, img_fmt: str = ".jpg") -> bytes:
    """A header and an image, which is encoded, as one record.

    Args:
        header: As of `pack`.
        img: uint8 of the shape (rows, columns) or (rows, columns, channels); channels are B, G, R, as with OpenCV.
        quality: 1 to 100 for JPEG, 0 to 9 for PNG.
        img_fmt: The format: .jpg, .png, .bmp, .tif or .webp.
    Raises: ValueError, TypeError: it cannot be encoded. ImportError: Pillow is missing.
    """
    return pack(header, encode(img, img_fmt, quality))


def unpack_img(s: bytes, iscolor: int = -1) -> tuple[IRHeader, np.ndarray]:
    """The header and the image of a record that `pack_img` made; its channels are B, G, R.

    Args:
        iscolor: 1: three channels; 0: gray, without an axis of channels; -1: as it is stored.
    Raises: MXNetError: it is no image. ImportError: Pillow is missing.
    """
    header, data = unpack(s)
    return header, bgr(decode(data, iscolor, f"the image of the record with id {header.id}"))


def _too_short(count: int) -> np.ndarray:
    raise ValueError(f"the record is too short for the {count} labels that its header counts")


def _holds(path: str) -> bool:
    return os.path.isfile(path) and os.path.getsize(path) > 0


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb", _BUFFER)
    except OSError as error:
        raise MXNetError(f'Open "{path}": {error.strerror}') from None


def _write_all(file: Any, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _parts(record: bytes) -> Iterator[bytes]:
    """What is written of a record, piece by piece."""
    cuts = _cuts(record)
    last = len(cuts)
    begin = 0
    for number, end in enumerate([*cuts, len(record)]):
        kind = (_WHOLE if not last else _FIRST) if number == 0 else _LAST if number == last else _MIDDLE
        length = end - begin
        yield _PART.pack(_MAGIC, kind << _LENGTH_BITS | length)
        yield record[begin:end] if last else record
        yield bytes(-length % 4)
        begin = end + 4


def _cuts(record: bytes) -> list[int]:
    """Where the record has the magic number at a multiple of 4."""
    found, at = [], record.find(_MAGIC_BYTES)
    while at >= 0:
        if at % 4 == 0:
            found.append(at)
        at = record.find(_MAGIC_BYTES, at + (4 if at % 4 == 0 else 1))
    return found


show(globals())
