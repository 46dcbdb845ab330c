"""BaseSparseNDArray: what the classes of sparse arrays share."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from mxlite._lib import LIB, ask, check_call
from mxlite.base import DTYPE_OF_FLAG, NotSupportedForSparseNDArray
from mxlite.context import Context
from mxlite.ndarray._make import NUM_INDICES, adopt, dense_array, invoke, new_zeros
from mxlite.ndarray.ndarray import NDArray


class BaseSparseNDArray(NDArray):
    """An array that is stored sparsely, of class CSRNDArray or RowSparseNDArray.

    Its values are read by `asnumpy`, `tostype("default")` and its parts, which are copies; operators take it as they
    take dense arrays.
    """

    __slots__ = ()

    _stype = ""

    @property
    def stype(self) -> str:
        """How the array is stored: "csr" or "row_sparse"."""
        return self._stype

    def __repr__(self) -> str:
        return f"\n<{type(self).__name__} {'x'.join(map(str, self.shape))} @{self.context}>"

    def _repr_html_(self) -> None:
        """Nothing: a notebook shows what repr() gives."""

    @property
    def size(self) -> int:
        """Raises: NotImplementedError: elements may be counted as those stored, or all."""
        raise NotImplementedError(f"a {type(self).__name__} has no size: data.size counts what is stored")

    # ---- its parts ----

    def _data(self) -> NDArray:
        """A dense array with a copy of the stored values."""
        return adopt(ask(ctypes.c_void_p, LIB.MXNDArrayGetDataNDArray, self._h))

    def _aux_data(self, i: int) -> NDArray:
        """A copy of an array of indices, by its number."""
        return adopt(ask(ctypes.c_void_p, LIB.MXNDArrayGetAuxNDArray64, self._h, i))

    def _aux_type(self, i: int) -> type:
        """NumPy's type of an array of indices."""
        return DTYPE_OF_FLAG[ask(ctypes.c_int, LIB.MXNDArrayGetAuxType64, self._h, i)]

    @property
    def _num_aux(self) -> int:
        return NUM_INDICES[self._stype]

    @property
    def _aux_types(self) -> list[type]:
        return [self._aux_type(i) for i in range(self._num_aux)]

    @property
    def data(self) -> NDArray:
        """A dense array with a copy of the stored values."""
        return self._data()

    def check_format(self, full_check: bool = True) -> None:
        """Raises: MXNetError: the parts contradict one another, or indices are outside the shape; with `full_check`
        also where indices do not ascend."""
        check_call(LIB.MXNDArraySyncCheckFormat(self._h, bool(full_check)))

    # ---- other forms of it ----

    def tostype(self, stype: str) -> NDArray:
        """A copy that is stored as `stype`.

        Raises: ValueError: of one sparse storage type to the other; MXNetError: there is no such type.
        """
        if stype in NUM_INDICES and stype != self._stype:
            raise ValueError(f"tostype: of {self._stype} to {stype} there is no conversion; by default there is one")
        return invoke("cast_storage", [self], {"stype": stype})

    def asnumpy(self) -> np.ndarray:
        """A NumPy array with all values, stored or 0."""
        return self.tostype("default").asnumpy()

    numpy = to_numpy = asnumpy

    @property
    def __array_interface__(self) -> dict[str, Any]:
        raise AttributeError("a sparse array has no memory of all its elements")

    def __dlpack__(self, **_: Any) -> NoReturn:
        """Raises: BufferError."""
        raise BufferError('a sparse array has no memory of all its elements; tostype("default") has')

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """The array converted to `dtype`, of the same storage type; with copy=False itself where it has that dtype."""
        if not copy and np.dtype(self.dtype) == np.dtype(dtype):
            return self
        return self.copyto(new_zeros(self._stype, self.shape, self.context, dtype))

    def copyto(self, other: NDArray | Context) -> NDArray:
        """Writes the values into an array, dense or of the same storage type; or into a new one in a context.

        Raises: TypeError: `other` is none of these; MXNetError: shapes differ.
        """
        if isinstance(other, Context):
            other = new_zeros(self._stype, self.shape, other, self.dtype)
        if isinstance(other, NDArray) and other.stype not in ("default", self._stype):
            raise TypeError(f"copyto: {self._stype} arrays are not copied to {other.stype} ones; tostype converts")
        return super().copyto(other)

    def as_np_ndarray(self) -> NoReturn:
        """Raises: ValueError: arrays of `mx.np` are dense."""
        raise ValueError(f'arrays of mx.np are dense, not {self._stype}: write x.tostype("default").as_np_ndarray()')

    # ---- what dense arrays alone have ----

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Raises: MXNetError."""
        raise NotSupportedForSparseNDArray(NDArray.reshape, None, *shape)

    def _at(self, idx: int) -> NDArray:
        raise NotSupportedForSparseNDArray(NDArray._at, "[idx]", idx)

    def _slice(self, start: int | None, stop: int | None) -> NDArray:
        raise NotSupportedForSparseNDArray(NDArray._slice, None, start, stop)

    def _sync_copyfrom(self, source_array: Any) -> NoReturn:
        raise NotImplementedError(f"_sync_copyfrom: write {type(self).__name__}[:] = values")

    def __bool__(self) -> bool:
        if math.prod(self.shape) > 1:
            raise ValueError(f"a {type(self).__name__} of shape {self.shape} is neither true nor false")
        return bool(self.asnumpy().any())

    def _only(self, name: str) -> NoReturn:
        raise TypeError(f"{name} takes a dense array of one element, got a {type(self).__name__}")

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    # ---- keys ----

    def _require_whole(self, key: Any) -> None:
        """Raises: NotImplementedError (and another): the key is not `[:]`, or the array is read-only."""
        if not self.writable:
            raise ValueError(f"trying to write to a readonly {type(self).__name__}")
        if key.__class__ is slice:
            if (key.start, key.stop, key.step) != (None, None, None):
                raise ValueError(f"a {type(self).__name__} is assigned as a whole, by x[:] = value")
        else:
            raise TypeError(f"a {type(self).__name__} is assigned as a whole, by x[:] = value")

    def _assign(self, value: Any) -> None:
        """Takes over the values of an array, sparse or dense, or of a NumPy array."""
        if isinstance(value, NDArray):
            if value is not self:
                value.copyto(self)
        elif isinstance(value, np.ndarray):
            dense = dense_array(value, self.context, self.dtype)
            invoke("_copyto", [dense], {}, self)
        else:
            raise TypeError(f"a {type(self).__name__} is assigned arrays, not {type(value)}")
