"""How keys of NDArrays are read, for the library's operators that read and write by them."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np

from mxlite._index.keys import KeyReader
from mxlite._lib import buffer_address, hot, last_error
from mxlite.base import dtype_flag, warn_user
from mxlite.ndarray import _make

#: The letters of NumPy's integers of 16 bits, unsigned ones and objects, which the library has not, and int64 holds.
_OTHER_INTEGERS = frozenset("hHILQO")


class _Comparison:
    """A key of floats 0 and 1 with the shape of the array: what `x > 0` gives, which a program may mean as a mask."""

    #: Whether the program has been told.
    is_known = False

    @classmethod
    def look(cls, key: Any, array: Any) -> None:
        """Warns where the program has such a key, once for the process."""
        entries = key if key.__class__ is tuple else (key,)
        for axis, entry in enumerate(entries):
            if getattr(entry, "_h", None) and entry.size > 1 and np.dtype(entry.dtype).kind == "f":
                if entry.shape == array.shape[axis : axis + entry.ndim] and set(np.unique(entry.asnumpy())) <= {0, 1}:
                    cls._tell()
                return
            if entry.__class__ is not int and entry.__class__ is not slice:
                return

    @classmethod
    def _tell(cls) -> None:
        cls.is_known = True
        warn_user(
            "x[key]: the key holds the floats 0 and 1 and has the shape of x, as the result of x > 0; it is no mask:"
            " elements 0 and 1 are taken, as in MXNet 1.9.1. Where a mask is meant, write"
            " x[(x > 0).astype('bool')], mx.nd.contrib.boolean_mask(x, key) or mx.nd.where(key, x, other);"
            " where positions are, key.astype('int32') (this is said once)"
        )


class _Reader(KeyReader):
    """Keys as MXNet 1.9.1 has them."""

    def read(self, entry: Any) -> Any:
        """Of a list, a NumPy array or an NDArray; the library cuts numbers that are no integers towards zero.

        Raises: ValueError: nothing that indexes; TypeError: a list is no array of numbers.
        """
        if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
            return operator.index(entry)
        if hasattr(entry, "asnumpy"):
            if entry.shape or np.dtype(entry.dtype).kind == "b":
                return entry
            values = entry.asnumpy()
        elif isinstance(entry, (np.ndarray, bool, np.bool_)):
            values = np.asarray(entry)
        elif isinstance(entry, (list, tuple, range)):
            values = _as_numbers(entry)
        else:
            raise ValueError(f"an NDArray has no key {entry} of type {type(entry)}")
        kind = values.dtype.kind
        if kind not in "biufO":
            raise ValueError(f"an NDArray has no key {entry} of type {type(entry)}")
        if kind == "u" and values.size and int(values.max()) >= 1 << 63:
            raise IndexError(f"an index does not fit 64 bits: {entry}")
        if kind == "f" and not np.all(np.abs(values.astype(np.float64)) < 2.0**63):
            raise IndexError("an index is not finite, or does not fit 64 bits")
        if kind != "b" and (not values.ndim or kind == "f" or values.dtype.char in _OTHER_INTEGERS):
            try:
                values = values.astype(np.int64)
            except OverflowError:
                raise IndexError(f"an index does not fit 64 bits: {entry}") from None
        return array_of(values) if values.ndim or kind == "b" else int(values)


_parse = _Reader().parse


def parse(array: Any, key: Any) -> tuple[tuple[int, ...], list]:
    """A key of an array as the operators take it, and its index arrays."""
    if not _Comparison.is_known and key.__class__ is not int and key.__class__ is not slice:
        _Comparison.look(key, array)
    return _parse(key)


class _NumpyReader(_Reader):
    """Keys as NumPy has them; index arrays of floats, which 1.9.1 takes, are cut towards zero."""

    def read(self, entry: Any) -> Any:
        read = super().read(entry)
        if read.__class__ is not int and np.dtype(read.dtype).kind == "f":
            return _make.invoke("Cast", [read.detach()], {"dtype": "int64"})
        return read


_numpy_parse = _NumpyReader().parse


def parse_as_numpy(array: Any, key: Any) -> tuple[tuple[int, ...], list]:
    """The same of an array of `mx.np`."""
    return _numpy_parse(key)


def array_of(values: np.ndarray, adopt: Callable[[int], Any] | None = None) -> Any:
    """A new array of any shape with the elements, whether or not numpy-shape mode is on; `adopt`: makes the object."""
    straight = np.ascontiguousarray(values)
    handle = hot.array_of(buffer_address(straight), values.shape, dtype_flag(values.dtype))
    if not handle:
        raise last_error()
    return (adopt or _make.adopt)(handle)


def _as_numbers(entry: Any) -> np.ndarray:
    try:
        values = np.asarray(entry)
    except ValueError as problem:
        raise TypeError(f"a list of indices must be an array of numbers: {problem}") from None
    if values.dtype.kind not in "biuf":
        if values.dtype.kind == "O" and all(isinstance(each, int) for each in values.flat):
            raise IndexError(f"an index does not fit 64 bits: {entry}")
        raise TypeError(f"a list of indices must be an array of numbers, got {entry}")
    return values


def is_whole(key: Any, shape: tuple[int, ...]) -> bool:
    """Whether a key of integers, slices and `...` selects every element, in order."""
    entries = key if key.__class__ is tuple else (key,)
    if any(entry.__class__ is not int and entry.__class__ is not slice for entry in entries):
        return key is Ellipsis or (len(entries) == 1 and entries[0] is Ellipsis)
    return len(entries) <= len(shape) and all(
        size == 1 and entry in (0, -1)
        if entry.__class__ is int
        else entry.indices(size) == (0, size, 1) or len(range(*entry.indices(size))) == size == 1
        for entry, size in zip(entries, shape)
    )
