"""MXDataIter: the library's iterators over files (MXDataIterCreateIter)."""

from __future__ import annotations

import ctypes
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from mxlite._ends import uninterrupted
from mxlite._lib import LIB, Handle, c_texts, check_call
from mxlite._public.near import did_you_mean
from mxlite.base import dtype_name
from mxlite.io._ahead import Task, Threads
from mxlite.io._base import DataBatch, DataDesc, HeldBatch
from mxlite.ndarray._make import adopt


class MXDataIter(HeldBatch):
    """The base class of iterators over files, which the library reads.

    The first batch is read where the iterator is made. Where the last batch is not full, it is filled from the begin,
    and the next epoch begins behind these samples (`round_batch`); or with what the batch before had at these places.

    Args:
        batch_size: How many samples a batch has.
        data_name, label_name: Names of the arrays.
    Raises: MXNetError: a parameter is missing or bad, or a file cannot be read.
    """

    #: Its name in MXListDataIters, and whether a batch is read while the caller has the one before.
    _kind = ""
    _reads_ahead = False

    def __init__(self, *, data_name: str = "data", label_name: str = "softmax_label", **given: Any) -> None:
        if not self._kind:
            raise TypeError("MXDataIter is the base class of CSVIter, MNISTIter and others")
        unknown = sorted(set(given) - _names(self._kind))
        if unknown:
            meant = did_you_mean(unknown[0], _names(self._kind))
            warnings.warn(f"{self._kind} has no parameter {', '.join(unknown)}; it is ignored{meant}", stacklevel=2)
        self._source = _Source(
            self._kind, {name: _text(name, each) for name, each in given.items() if each is not None}
        )
        self._thread = Threads(1, "mxlite-batch") if self._reads_ahead else None
        self._coming: Task | None = None
        #: What every batch is, by `debug_skip_load`.
        self._same: DataBatch | None = None
        self._first = self._source.read()
        self._source.taken()
        super().__init__(self._first.data[0].shape[0] if self._first else int(given.get("batch_size", 0)))
        self._describe(data_name, label_name, given)

    def _describe(self, data_name: str, label_name: str, given: dict[str, Any]) -> None:
        if self._first:
            arrays = [(each.shape, each.dtype) for each in (self._first.data[0], (self._first.label or [])[0])]
        else:
            shape = given.get("data_shape", ())
            sample = tuple(shape) if isinstance(shape, (tuple, list)) else ()
            arrays = [((self.batch_size, *sample), np.float32), ((self.batch_size,), np.float32)]
        descs = [DataDesc(name, *each) for name, each in zip((data_name, label_name), arrays)]
        self.provide_data, self.provide_label = descs[:1], descs[1:]

    def getdata(self) -> Any:
        """The array of the present batch."""
        return self._current().data[0]

    def getlabel(self) -> Any:
        """The labels of the present batch."""
        return (self._current().label or [])[0]

    def reset(self) -> None:
        """Goes to the begin of the next epoch."""
        if self._coming is not None:
            self._coming.wait()
        self._coming = self._first = self.current_batch = None
        self._source.restart()

    def debug_skip_load(self) -> None:
        """From now on every batch is the present one, or the first; so a program's speed is known without reading.

        It has no end. Raises: MXNetError: a sample cannot be read.
        """
        if self.current_batch is None and self._first is None:
            self.reset()
            self.iter_next()
        self._same = self.current_batch or self._first

    def iter_next(self) -> bool:
        """Goes to the next batch; False at the end.

        Raises: MXNetError: a sample cannot be read.
        """
        if self._same is not None:
            self.current_batch = self._same
            return True
        if self._coming is not None:
            self._coming.wait()  # here Ctrl-C loses nothing
        with uninterrupted():
            coming, self._coming, self.current_batch = self._coming, None, None
            batch, self._first = self._first, None
            if batch is None:
                batch = self._source.read() if coming is None else coming.result()
                self._source.taken()
            self.current_batch = batch
            if batch is not None and self._thread is not None:
                self._coming = self._thread.submit(self._source.read)
        return batch is not None


class _Source(Handle):
    """An iterator of the library. It knows nothing of MXDataIter, whose last reference no thread may drop."""

    def __init__(self, kind: str, texts: dict[str, str]) -> None:
        handle = ctypes.c_void_p()
        keys, values = c_texts(texts), c_texts(texts.values())
        maker = _makers()[kind][0]
        with uninterrupted():  # the handle, and a file with it, has an owner
            check_call(LIB.MXDataIterCreateIter(maker, len(texts), keys, values, ctypes.byref(handle)))
            self._own(handle.value, LIB.MXDataIterFree)
        self.taken()

    def taken(self) -> None:
        """The batch that `read` gave is taken: from now on it gives the next one."""
        #: What MXDataIterNext has written, or -1, and the batch. The library finishes a call before the process is
        #: forked. So both say, in a child that lacks the thread which read, how far that came.
        self._any = ctypes.c_int(-1)
        self._made: tuple[DataBatch | None] | None = None

    def restart(self) -> None:
        """Begins another epoch."""
        check_call(LIB.MXDataIterBeforeFirst(self._h))
        self.taken()

    def read(self) -> DataBatch | None:
        """The next batch, None at the end; the same one until it is taken."""
        if self._made is None:
            if self._any.value < 0:
                check_call(LIB.MXDataIterNext(self._h, ctypes.byref(self._any)))
            self._made = (self._batch() if self._any.value else None,)
        return self._made[0]

    def _batch(self) -> DataBatch:
        pad = ctypes.c_int()
        index, count = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint64()
        data, label = (self._array(get) for get in (LIB.MXDataIterGetData, LIB.MXDataIterGetLabel))
        check_call(LIB.MXDataIterGetPadNum(self._h, ctypes.byref(pad)))
        check_call(LIB.MXDataIterGetIndex(self._h, ctypes.byref(index), ctypes.byref(count)))
        return DataBatch([data], [label], pad.value, np.array(index[: count.value], np.uint64))

    def _array(self, get: Any) -> Any:
        handle = ctypes.c_void_p()
        check_call(get(self._h, ctypes.byref(handle)))
        return adopt(handle.value or 0)


@lru_cache(None)
def _makers() -> dict[str, tuple[int, frozenset[str]]]:
    """The handle of each kind of iterator, and the names of its parameters."""
    count, makers = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(LIB.MXListDataIters(ctypes.byref(count), ctypes.byref(makers)))
    found = {}
    for maker in makers[: count.value]:
        name, doc, size = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_uint32()
        lists = [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
        out = [ctypes.byref(each) for each in (name, doc, size, *lists)]
        check_call(LIB.MXDataIterGetIterInfo(maker, *out))
        names = frozenset(each.decode() for each in lists[0][: size.value])
        found[(name.value or b"").decode()] = maker, names
    return found


def _names(kind: str) -> frozenset[str]:
    """The parameters of a kind; those over bytes take more than they describe."""
    names = _makers()[kind][1]
    return names | _makers()["ImageRecordIter"][1] if kind.startswith("ImageRecord") else names


def _text(name: str, value: Any) -> str:
    """A parameter as the library reads it."""
    if name == "dtype" and not isinstance(value, str):
        return dtype_name(value)
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(str(each) for each in value) + ("," if len(value) == 1 else "") + ")"
    return str(value)
