"""`mx.sym.random`: symbols of random numbers, drawn anew whenever the graph runs.

Parameters of a distribution are numbers, or symbols: then `shape` numbers are drawn for each of their elements, along
further axes. Results are float32 unless `dtype` says float16 or float64. A function for every operator `_random_*_like`
is made when it is asked for, named without the beginning.
"""

from __future__ import annotations

import numbers
from typing import Any, Union

from mxlite.base import _Null
from mxlite.error import WrongValueError
from mxlite.symbol._generate import node as _node
from mxlite.symbol._generate import show_functions as _show_functions
from mxlite.symbol.symbol import Symbol

Drawn = Union[float, Symbol]


def _draw(name: str, given: dict[str, Any], shape: Any, dtype: Any, kwargs: dict[str, Any]) -> Symbol:
    """Numbers of a distribution; `given` are its parameters by the names of the operator that takes numbers."""
    symbols = [value for value in given.values() if isinstance(value, Symbol)]
    for parameter, value in given.items():
        if symbols and not isinstance(value, Symbol):
            raise WrongValueError(f"{name}: parameters must all be symbols or all numbers, {parameter} is {value!r}")
        if not isinstance(value, (Symbol, numbers.Number)):
            raise ValueError(f"{name}: {parameter} must be a symbol or a number, got {type(value).__name__}")
    rest = {"shape": shape, "dtype": _Null if dtype is None else dtype, **kwargs}
    if symbols:
        return _node(f"_sample_{name}", f"_sample_{name}", symbols, rest)
    return _node(f"_random_{name}", f"_random_{name}", [], {**given, **rest})


def uniform(low: Drawn = 0, high: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Numbers evenly spread over [low, high). Raises: ValueError: a number and a symbol; ValueError: neither."""
    return _draw("uniform", {"low": low, "high": high}, shape, dtype, kwargs)


def normal(loc: Drawn = 0, scale: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`. Raises: as `uniform`."""
    return _draw("normal", {"loc": loc, "scale": scale}, shape, dtype, kwargs)


def randn(*shape: int, **kwargs: Any) -> Symbol:
    """normal(), with the shape as the arguments; `loc`, `scale` and `dtype` by name."""
    loc, scale, dtype = kwargs.pop("loc", 0), kwargs.pop("scale", 1), kwargs.pop("dtype", _Null)
    return normal(loc, scale, shape, dtype, **kwargs)


def poisson(lam: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`. Raises: as `uniform`."""
    return _draw("poisson", {"lam": lam}, shape, dtype, kwargs)


def exponential(scale: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Numbers of the exponential distribution with mean `scale`. Raises: as `uniform`."""
    return _draw("exponential", {"lam": 1.0 / scale}, shape, dtype, kwargs)


def gamma(alpha: Drawn = 1, beta: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`. Raises: as `uniform`."""
    return _draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, kwargs)


def negative_binomial(k: Drawn = 1, p: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Counts of failures before the k-th success of probability `p`. Raises: as `uniform`."""
    return _draw("negative_binomial", {"k": k, "p": p}, shape, dtype, kwargs)


def generalized_negative_binomial(
    mu: Drawn = 1, alpha: Drawn = 1, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any
) -> Symbol:
    """Counts of the negative binomial distribution with mean `mu` and variance mu + alpha * mu^2. Raises: as above."""
    return _draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, kwargs)


def randint(low: int, high: int, shape: Any = _Null, dtype: Any = _Null, **kwargs: Any) -> Symbol:
    """Integers in [low, high), int32 unless `dtype` is int64. Raises: ValueError: symbols."""
    if isinstance(low, Symbol) or isinstance(high, Symbol):
        raise WrongValueError("randint: low and high must be numbers")
    return _draw("randint", {"low": low, "high": high}, shape, dtype, kwargs)


def multinomial(data: Symbol, shape: Any = _Null, get_prob: bool = True, dtype: Any = "int32", **kwargs: Any) -> Symbol:
    """Numbers of categories, drawn by their probabilities, which lie along the last axis of `data`.

    Args:
        get_prob: whether the logarithms of the probabilities are a second output, through which gradients flow.
    """
    given = {"shape": shape, "get_prob": get_prob, "dtype": dtype, **kwargs}
    return _node("_sample_multinomial", "_sample_multinomial", [data], given)


def shuffle(data: Symbol, **kwargs: Any) -> Symbol:
    """The array's rows (its parts along the first axis) in random order."""
    return _node("_shuffle", "_shuffle", [data], kwargs)


_show_functions(globals())
