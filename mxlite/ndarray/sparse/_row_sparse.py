"""RowSparseNDArray: an array of which some rows are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.base import numeric_types
from mxlite.ndarray._make import _from_numpy, invoke, set_parts
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.sparse._array import BaseSparseNDArray


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which some rows are stored: row `indices[i]` is `data[i]`, all others are 0.

    The indices ascend.
    """

    __slots__ = ()

    _stype = "row_sparse"

    @property
    def indices(self) -> NDArray:
        """Which rows are stored; a copy."""
        return self._aux_data(0)

    def __getitem__(self, key: Any) -> NDArray:
        """`x[:]`, the array itself.

        Raises: NotImplementedError: integers and other slices; ValueError: other keys.
        """
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            raise NotImplementedError("a RowSparseNDArray has no key of an integer; x.retain keeps rows")
        if not isinstance(key, slice):
            raise ValueError(f"a RowSparseNDArray has no key {key!r}")
        if (key.start, key.stop, key.step) != (None, None, None):
            raise NotImplementedError("a RowSparseNDArray has the slice [:] alone; x.retain keeps rows")
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assigns the whole, `x[:] = value`, from a number, an array, dense or row_sparse, or a NumPy array.

        Of a number all rows are stored.
        Raises: ValueError: another slice; TypeError: another key or value.
        """
        self._require_whole(key)
        if not isinstance(value, numeric_types):
            self._assign(value)
            return
        shape = self.shape
        values = np.full(shape, value, self.dtype)
        set_parts(self, _from_numpy(values), _from_numpy(np.arange(shape[0], dtype=np.int64)))

    def retain(self, indices: Any) -> NDArray:
        """The array with those rows alone; rows that are not stored are stored as 0.

        Args:
            indices: An array of numbers of rows, which ascend.
        """
        if not isinstance(indices, NDArray):
            indices = _from_numpy(np.asarray(indices, np.int64))
        return invoke("_sparse_retain", [self, indices], {})
