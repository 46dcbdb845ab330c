"""Functions of `mx.sym` that do more than make one node: `zeros`, `arange`, `histogram`, `split_v2`, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._public import offer as _offer
from mxlite.symbol._generate import node
from mxlite.symbol.symbol import Symbol


def _make(operator: str, given: dict[str, Any], dtype: Any, kwargs: dict[str, Any]) -> Symbol:
    return node(operator, operator, [], {**given, "dtype": np.float32 if dtype is None else dtype, **kwargs})


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros of a shape, in which 0 is a size that is found by inference. `dtype` None: float32."""
    return _make("_zeros", {"shape": shape}, dtype, kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones of a shape. `dtype` None: float32."""
    return _make("_ones", {"shape": shape}, dtype, kwargs)


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """One number everywhere. `dtype` None: float32."""
    return _make("_full", {"shape": shape, "value": float(val)}, dtype, kwargs)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Symbol:
    """Numbers from `start` (inclusive; 0 where `stop` is None, which it is then) to `stop`, each `repeat` times.

    Args:
        infer_range: whether the number of them is found by inference.
    """
    given = {"start": start, "stop": stop, "step": step, "repeat": repeat, "infer_range": infer_range}
    return _make("_arange", given, dtype, {"name": name})


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, name: str | None = None, dtype: Any = None
) -> Symbol:
    """`num` numbers from `start` to `stop`, evenly spread; without `endpoint` the last one is before `stop`."""
    return _make("_linspace", {"start": start, "stop": stop, "num": num, "endpoint": endpoint}, dtype, {"name": name})


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:  # noqa: N803 (1.9.1's names)
    """Ones on diagonal `k` of a matrix of shape (N, M), zeros elsewhere; M = 0: (N, N). `dtype` None: float32."""
    return _make("_eye", {"N": N, "M": M, "k": k}, dtype, kwargs)


def histogram(
    a: Symbol,
    bins: int | Symbol = 10,
    range: tuple[float, float] | None = None,  # noqa: A002 (1.9.1's name)
    **kwargs: Any,
) -> Symbol:
    """How many elements lie between neighbouring bounds, and the bounds.

    Args:
        bins: the bounds, rising, or how many bins of equal width there are between those of `range`.
    Raises: ValueError: a number of bins without `range`, or `bins` is neither.
    """
    if isinstance(bins, Symbol):
        return node("_histogram", "_histogram", {"data": a, "bins": bins}, kwargs)
    if not isinstance(bins, int):
        raise ValueError("histogram: bins is a whole number or a Symbol")
    if range is None:
        raise ValueError("histogram: a symbol needs its range")
    return node("_histogram", "_histogram", {"data": a}, {"bin_cnt": bins, "range": range, **kwargs})


def split_v2(
    ary: Symbol, indices_or_sections: int | tuple[int, ...], axis: int = 0, squeeze_axis: bool = False
) -> Symbol:
    """The array cut along `axis`: into equal parts, or before the given positions.

    Raises: ValueError: neither an int nor a tuple.
    """
    if isinstance(indices_or_sections, int):
        cut: dict[str, Any] = {"indices": [], "sections": indices_or_sections}
    elif isinstance(indices_or_sections, tuple):
        cut = {"indices": [0, *indices_or_sections], "sections": 0}
    else:
        raise ValueError("split_v2: indices_or_sections is an int or a tuple of ints")
    return node("_split_v2", "_split_v2", [ary], {**cut, "axis": axis, "squeeze_axis": squeeze_axis})


_offer(globals())
