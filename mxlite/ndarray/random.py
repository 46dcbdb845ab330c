"""`mx.nd.random`: arrays of random numbers. Equal seeds (mx.random.seed) give equal numbers.

Parameters of a distribution are numbers, or NDArrays of one shape and dtype: then `shape` numbers are drawn for each
of their elements, along further axes. Results are float32 unless `dtype` (or `out`) says float16 or float64.
A function for every operator `_random_*_like` is made when it is asked for, named without the beginning.
"""

from __future__ import annotations

import numbers
from typing import Any

from mxlite.base import _Null
from mxlite.context import Context, context_parameter
from mxlite.ndarray._generate import show_functions as _show_functions
from mxlite.ndarray.ndarray import NDArray, invoke


def _by_numbers(name: str, given: dict[str, Any], shape: Any, dtype: Any, ctx: Any, out: Any, kwargs: dict) -> NDArray:
    if shape is _Null and out is None:
        shape = (1,)
    given = {**given, "shape": shape, "dtype": _Null if dtype is None else dtype, **context_parameter(ctx), **kwargs}
    return invoke(name, [], given, out)


def _draw(name: str, given: dict[str, Any], shape: Any, dtype: Any, ctx: Any, out: Any, kwargs: dict) -> NDArray:
    """Numbers of a distribution; `given` are its parameters by the names of the operator that takes numbers."""
    kwargs.pop("name", None)
    arrays = [value for value in given.values() if isinstance(value, NDArray)]
    if len(arrays) == len(given):
        rest = {"shape": shape, "dtype": _Null if dtype is None else dtype, **kwargs}
        return invoke(f"_sample_{name}", arrays, rest, out)
    for parameter, value in given.items():
        if arrays and not isinstance(value, NDArray):
            raise TypeError(f"{name}: parameters must all be NDArrays or all numbers, {parameter} is {value!r}")
        if not isinstance(value, (NDArray, numbers.Number)):
            raise ValueError(f"{name}: {parameter} must be an NDArray or a number, got {type(value).__name__}")
    return _by_numbers(f"_random_{name}", given, shape, dtype, ctx, out, kwargs)


def uniform(
    low: float | NDArray = 0,
    high: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Numbers evenly spread over [low, high).

    Raises: MXNetError: low is above high (of numbers); TypeError: a number and an array; ValueError: neither.
    """
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(
    loc: float | NDArray = 0,
    scale: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`.

    Raises: MXNetError: scale is not above 0 (of numbers); TypeError: a number and an array; ValueError: neither.
    """
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """normal(), with the shape as the arguments; `loc`, `scale`, `dtype`, `ctx` and `out` by name."""
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    return normal(loc, scale, shape, **kwargs)


def gamma(
    alpha: float | NDArray = 1,
    beta: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`: their mean is alpha times beta.

    Raises: MXNetError: one is not above 0 (of numbers); TypeError: a number and an array; ValueError: neither.
    """
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)


def exponential(
    scale: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Numbers of the exponential distribution with mean `scale`.

    Raises: MXNetError: scale is below 0 (of numbers); ZeroDivisionError: it is 0; TypeError: neither number nor array.
    """
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)


def poisson(
    lam: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Counts of the Poisson distribution with mean `lam`, as floating-point numbers.

    Raises: MXNetError: lam is below 0 (a number); ValueError: neither number nor array.
    """
    return _draw("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)


def negative_binomial(
    k: float | NDArray = 1,
    p: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Counts of failures before the k-th success of probability `p`, as floating-point numbers.

    Raises: MXNetError: k is no integer or below 0, p below 0 (of numbers); TypeError: a number and an array;
        ValueError: neither.
    """
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(
    mu: float | NDArray = 1,
    alpha: float | NDArray = 1,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Counts of the negative binomial distribution with mean `mu` and variance mu + alpha * mu^2.

    Raises: MXNetError: one is below 0 (of numbers); TypeError: a number and an array; ValueError: neither.
    """
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, ctx, out, kwargs)


def randint(
    low: int,
    high: int,
    shape: Any = _Null,
    dtype: Any = _Null,
    ctx: Context | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Integers in [low, high), int32 unless `dtype` is int64.

    Raises: MXNetError: low is not below high, or the dtype is too small; TypeError: an array; ValueError: neither.
    """
    kwargs.pop("name", None)
    for parameter, value in (("low", low), ("high", high)):
        if isinstance(value, NDArray):
            raise TypeError(f"randint: {parameter} must be a number, not an NDArray")
        if not isinstance(value, numbers.Number):
            raise ValueError(f"randint: {parameter} must be a number, got {type(value).__name__}")
    return _by_numbers("_random_randint", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def multinomial(
    data: NDArray,
    shape: Any = _Null,
    get_prob: bool = False,
    out: NDArray | list[NDArray] | None = None,
    dtype: Any = "int32",
    **kwargs: Any,
) -> Any:
    """Numbers of categories, drawn by their probabilities.

    Args:
        data: probabilities, the categories along the last axis; (k,) or (..., k), of a floating dtype.
        shape: of what is drawn for each row; one number unless given.
        get_prob: whether the logarithms of the probabilities are a second result, through which gradients flow.
        dtype: of the numbers: uint8, int32, float16, float32 or float64.
    Returns: an array of shape (...) + shape, or a list of two.
    Raises: TypeError: data is no NDArray.
    """
    if not isinstance(data, NDArray):
        raise TypeError(f"multinomial: data must be an NDArray, got {type(data).__name__}")
    kwargs.pop("name", None)
    given = {"shape": shape, "get_prob": get_prob, "dtype": dtype, **kwargs}
    return invoke("_sample_multinomial", [data], given, out)


def shuffle(data: NDArray, **kwargs: Any) -> NDArray:
    """The array's rows (its parts along the first axis) in random order; `out=data` does it in place.

    Raises: TypeError: data is no NDArray.
    """
    if not isinstance(data, NDArray):
        raise TypeError(f"shuffle: data must be an NDArray, got {type(data).__name__}")
    kwargs.pop("name", None)
    out = kwargs.pop("out", None)
    return invoke("_shuffle", [data], kwargs, out)


_show_functions(globals())
