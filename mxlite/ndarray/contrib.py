"""`mx.nd.contrib`: a function for every operator `_contrib_*`, named without that beginning, and a few of Python."""

from __future__ import annotations

import math

from mxlite.context import Context
from mxlite.ndarray import random
from mxlite.ndarray._generate import show_functions as _show_functions
from mxlite.ndarray.ndarray import NDArray


def isnan(data: NDArray) -> NDArray:
    """1 where an element is NaN, 0 elsewhere, in the dtype of `data`."""
    return data != data


def isinf(data: NDArray) -> NDArray:
    """1 where an element is infinite, of either sign, 0 elsewhere, in the dtype of `data`."""
    return data.abs() == float("inf")


def isfinite(data: NDArray) -> NDArray:
    """1 where an element is neither infinite nor NaN, 0 elsewhere, in the dtype of `data`."""
    return (data == data) * (data.abs() != float("inf"))


def _expected(classes: NDArray, draws: int, log_range: float) -> NDArray:
    """How often classes are expected among so many draws of rand_zipfian."""
    share = ((classes.astype("float64") + 2) / (classes.astype("float64") + 1)).log() / log_range
    return share * draws


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Context | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Classes that are rarer the larger their numbers are, with repetitions.

    Class c comes with probability log((c + 2) / (c + 1)) / log(range_max + 1).

    Returns: the classes (int64, of shape (num_sampled,)), how often each of `true_classes` is expected among so many,
        and how often each class drawn is (float64).
    """
    log_range = math.log(range_max + 1)
    exponents = random.uniform(0, log_range, (num_sampled,), "float64", ctx)
    drawn = (exponents.exp() - 1).astype("int64") % range_max
    return (
        drawn,
        _expected(true_classes, num_sampled, log_range),
        _expected(drawn, num_sampled, log_range),
    )


_show_functions(globals())
