"""`mx.nd.contrib`: a function for every operator `_contrib_*`, named without that beginning, and a few of Python."""

from __future__ import annotations

from mxlite.ndarray._generate import Names as _Names
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.random import rand_zipfian as rand_zipfian


def isnan(data: NDArray) -> NDArray:
    """1 where an element is NaN, 0 elsewhere, in the dtype of `data`."""
    return data != data


def isinf(data: NDArray) -> NDArray:
    """1 where an element is infinite, of either sign, 0 elsewhere, in the dtype of `data`."""
    return data.abs() == float("inf")


def isfinite(data: NDArray) -> NDArray:
    """1 where an element is neither infinite nor NaN, 0 elsewhere, in the dtype of `data`."""
    return (data == data) * (data.abs() != float("inf"))


_names = _Names(globals())
__getattr__ = _names.get
__dir__ = _names.list
