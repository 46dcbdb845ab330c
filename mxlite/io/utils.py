"""What iterators do with the arrays that they are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.ndarray import NDArray, array
from mxlite.ndarray._kinds import as_kind
from mxlite.ndarray.sparse import CSRNDArray, csr_matrix
from mxlite.ndarray.sparse._scipy import is_matrix

__all__: list[str] = []


def _init_data(data: Any, allow_empty: bool, default_name: str) -> list[tuple[str, NDArray]]:
    """Pairs of names and arrays of `mx.nd`, sorted by name if they are given as a dictionary.

    Matrices of scipy.sparse become csr arrays.

    Args:
        data: An array, a list of arrays, a dictionary of them, or None. NumPy arrays become float32.
        allow_empty: Whether there may be none.
        default_name: The name of a single array; of several it gets a number.
    Raises: TypeError: something else. ValueError: there is none.
    """
    if data is None and not allow_empty:
        raise WrongValueError("there must be data")
    if data is None:
        data = []
    elif isinstance(data, (np.ndarray, NDArray)) or _is_h5py(data) or is_matrix(data):
        data = [data]
    if isinstance(data, list):
        if not (data or allow_empty):
            raise WrongValueError("there must be data")
        names = [default_name] if len(data) == 1 else [f"_{place}_{default_name}" for place in range(len(data))]
        pairs = list(zip(names, data))
    elif isinstance(data, dict):
        pairs = sorted(data.items())
    else:
        raise TypeError("data are arrays (NDArray, NumPy, h5py.Dataset), alone, in a list or in a dict")
    return [(name, _as_array(name, each)) for name, each in pairs]


def _as_array(name: str, value: Any) -> NDArray:
    if isinstance(value, NDArray):
        return as_kind(value, NDArray)
    if is_matrix(value):
        return array(value, dtype=np.float32)
    try:
        return array(np.asarray(value, np.float32))
    except (TypeError, ValueError):
        raise TypeError(f"{name} is no array (NDArray, NumPy, h5py.Dataset) but a {type(value)}") from None


def _is_h5py(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "h5py"


def _has_instance(data: list[tuple[str, Any]], dtype: Any) -> bool:
    """Whether one of the arrays is of a class."""
    return any(isinstance(each, dtype) for _, each in data)


def _getdata_by_idx(data: list[tuple[str, NDArray]], idx: np.ndarray) -> list[tuple[str, NDArray]]:
    """The rows `idx` of each array."""
    return [(name, _rows_of(each, idx)) for name, each in data]


def _rows_of(each: NDArray, idx: np.ndarray) -> NDArray:
    if not isinstance(each, CSRNDArray):
        return array(each.asnumpy()[idx], dtype=each.dtype)
    data, columns, begins = (part.asnumpy() for part in (each.data, each.indices, each.indptr))
    counts = np.diff(begins)[idx]
    ends = np.cumsum(counts)
    order = np.repeat(begins[:-1][idx] - (ends - counts), counts) + np.arange(int(counts.sum()))
    indptr = np.concatenate([[0], ends])
    return csr_matrix((data[order], columns[order], indptr), shape=(len(idx), each.shape[1]), dtype=each.dtype)


show(globals())
