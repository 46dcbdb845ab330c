"""CSRNDArray: a matrix of which the elements that are not 0 are stored, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.base import numeric_types
from mxlite.ndarray._make import invoke, new_zeros
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.sparse import _scipy
from mxlite.ndarray.sparse._array import BaseSparseNDArray


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed rows.

    Row i has the columns `indices[indptr[i]:indptr[i + 1]]`, with the values `data[indptr[i]:indptr[i + 1]]`.
    """

    __slots__ = ()

    _stype = "csr"

    @property
    def indices(self) -> NDArray:
        """The column of each stored value; a copy."""
        return self._aux_data(1)

    @property
    def indptr(self) -> NDArray:
        """Where each row begins in `data` and `indices`, and the end of the last; a copy."""
        return self._aux_data(0)

    def __getitem__(self, key: Any) -> NDArray:
        """A row by an integer, as a matrix of one row; or consecutive rows by a slice. What is outside is left out.

        Raises: ValueError: another key.
        """
        rows = self.shape[0]
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            begin = key if key >= 0 else key + rows
            begin, end = (begin, begin + 1) if 0 <= begin < rows else (0, 0)
        elif isinstance(key, slice):
            if key.step is not None:
                raise ValueError("a CSRNDArray has slices of consecutive rows, without a step")
            if key.start is None and key.stop is None:
                return self
            begin, end, _ = key.indices(rows)
        elif isinstance(key, tuple):
            raise ValueError("a CSRNDArray has keys of one axis; nd.slice cuts both")
        else:
            raise ValueError(f"a CSRNDArray has no key {key!r}")
        if begin >= end:
            return new_zeros("csr", (0, *self.shape[1:]), self.context, self.dtype)
        return invoke("slice", [self], {"begin": (begin,), "end": (end,)})

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assigns the whole, `x[:] = value`, from an array, dense or csr, or a NumPy array.

        Raises: ValueError: a number, or another slice; TypeError: another key or value.
        """
        self._require_whole(key)
        if isinstance(value, numeric_types):
            raise ValueError("a CSRNDArray is assigned arrays; write x[:] = nd.full(x.shape, number)")
        self._assign(value)

    def asscipy(self) -> Any:
        """A copy as scipy.sparse.csr_matrix. Raises: ImportError: SciPy is not installed."""
        parts = self.data.asnumpy(), self.indices.asnumpy(), self.indptr.asnumpy()
        return _scipy.module().csr_matrix(parts, shape=self.shape, dtype=self.dtype)
