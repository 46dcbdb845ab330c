"""`mx.nd.sparse`: arrays that are stored sparsely, functions that make them, and operators that have forms for them.

A `CSRNDArray` stores the elements of a matrix that are not 0, row by row; a `RowSparseNDArray` stores some rows of an
array. An operator that has no form for the storage types of a call computes with dense copies.
"""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from mxlite._lib import notices as _notices  # what runs on dense copies is said
from mxlite.ndarray._generate import show_functions as _show_functions
from mxlite.ndarray.sparse._arithmetic import add, divide, multiply, subtract
from mxlite.ndarray.sparse._array import BaseSparseNDArray
from mxlite.ndarray.sparse._csr import CSRNDArray
from mxlite.ndarray.sparse._make import array, csr_matrix, empty, row_sparse_array, zeros
from mxlite.ndarray.sparse._row_sparse import RowSparseNDArray

_show_functions(globals())
