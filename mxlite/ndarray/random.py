"""`mx.nd.random`: arrays of random numbers. Equal seeds (mx.random.seed) give equal numbers.

A function for every operator `_random_*_like` is made when it is asked for, named without the beginning.
"""

from __future__ import annotations

from typing import Any

from mxlite.base import _Null
from mxlite.context import Context, require_cpu
from mxlite.error import MXNotImplementedError
from mxlite.ndarray._generate import Names as _Names
from mxlite.ndarray.ndarray import NDArray, invoke


def _draw(name: str, first: tuple, second: tuple, given: dict[str, Any], ctx: Any, out: Any, kwargs: Any) -> NDArray:
    for parameter, value in (first, second):
        if isinstance(value, NDArray):
            raise MXNotImplementedError(f"random: {parameter} must be a number; arrays are not supported yet")
    require_cpu(ctx)
    kwargs.pop("name", None)
    if given["shape"] is _Null:
        given["shape"] = (1,) if out is None else out.shape
    given = {first[0]: first[1], second[0]: second[1], **given, **kwargs}
    return invoke(name, [], {key: value for key, value in given.items() if value is not None}, out)


def uniform(
    low: float = 0,
    high: float = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Numbers evenly spread over [low, high); shape (1,) and float32 unless given."""
    given = {"shape": shape, "dtype": dtype}
    return _draw("_random_uniform", ("low", low), ("high", high), given, ctx, out, kwargs)


def normal(
    loc: float = 0,
    scale: float = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    given = {"shape": shape, "dtype": dtype}
    return _draw("_random_normal", ("loc", loc), ("scale", scale), given, ctx, out, kwargs)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """normal(), with the shape as the arguments."""
    return normal(kwargs.pop("loc", 0), kwargs.pop("scale", 1), shape or _Null, **kwargs)


_names = _Names(globals())
__getattr__ = _names.get
__dir__ = _names.list
