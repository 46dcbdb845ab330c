"""Functions of `mx.np.random`: their parameters are numbers or arrays; see `_composed.py`."""

from __future__ import annotations

import operator as _operator
from typing import Any

import numpy as _numpy

from mxlite.error import MXNotImplementedError
from mxlite.numpy._composed import _is_number, _shape

#: The functions of this module.
FUNCTIONS = frozenset(
    """
    beta chisquare choice exponential gamma gumbel logistic lognormal multinomial multivariate_normal normal pareto
    power rand randint randn rayleigh shuffle uniform weibull
    """.split()
)


def _draw(f: Any, operator: str, parameters: dict[str, Any], size: Any, ctx: Any, **given: Any) -> Any:
    """Numbers of a distribution whose parameters are numbers or arrays, which are broadcast."""
    arrays = [value for value in parameters.values() if f.is_array(value)]
    for name, value in parameters.items():
        if not f.is_array(value):
            given[name] = None if value is None else float(value)
        else:
            given[name] = None
    given["size"] = None if size is None else _shape(size)
    return f(operator, *arrays, ctx=f.context(ctx), **given)


def _floating(dtype: Any) -> dict[str, Any]:
    return {"dtype": "float32" if dtype is None else dtype}


def uniform(
    f: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Numbers from `low` to before `high`, all equally likely."""
    return _draw(f, "_npi_uniform", {"low": low, "high": high}, size, ctx, out=out, **_floating(dtype))


def normal(
    f: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    return _draw(f, "_npi_normal", {"loc": loc, "scale": scale}, size, ctx, out=out, **_floating(dtype))


def lognormal(
    f: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Numbers whose logarithms are normal."""
    return f.exp(normal(f, mean, sigma, size, dtype, ctx), out=out)


def gamma(
    f: Any, shape: Any, scale: Any = 1.0, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Numbers of the gamma distribution: their mean is shape times scale."""
    return _draw(f, "_npi_gamma", {"shape": shape, "scale": scale}, size, ctx, out=out, **_floating(dtype))


def beta(f: Any, a: Any, b: Any, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Numbers of the beta distribution."""
    first, second = gamma(f, a, 1, size, "float64", ctx), gamma(f, b, 1, size, "float64", ctx)
    return f.divide(first, f.add(first, second)).astype("float32" if dtype is None else dtype)


def chisquare(f: Any, df: Any, size: Any = None, dtype: Any = None, ctx: Any = None) -> Any:
    """Sums of `df` squares of normal numbers."""
    return gamma(f, df / 2, 2.0, size, dtype, ctx)


def exponential(f: Any, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers of the exponential distribution with mean `scale`."""
    return _draw(f, "_npi_exponential", {"scale": scale}, size, ctx, out=out)


def gumbel(f: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers of the Gumbel distribution."""
    return _draw(f, "_npi_gumbel", {"loc": loc, "scale": scale}, size, ctx, out=out)


def logistic(f: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers of the logistic distribution."""
    return _draw(f, "_npi_logistic", {"loc": loc, "scale": scale}, size, ctx, out=out)


def pareto(f: Any, a: Any, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers of the Pareto II distribution with exponent `a`."""
    return _draw(f, "_npi_pareto", {"a": a}, size, ctx, out=out)


def power(f: Any, a: Any, size: Any = None) -> Any:
    """Numbers from 0 to 1 whose density is a power, of exponent a - 1."""
    arrays = [a] if f.is_array(a) else []
    return f("_npi_powerd", *arrays, a=None if arrays else float(a), size=None if size is None else _shape(size))


def rayleigh(f: Any, scale: Any = 1.0, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers of the Rayleigh distribution."""
    return _draw(f, "_npi_rayleigh", {"scale": scale}, size, ctx, out=out)


def weibull(f: Any, a: Any, size: Any = None, ctx: Any = None, out: Any = None) -> Any:
    """Numbers of the Weibull distribution with exponent `a`."""
    return _draw(f, "_npi_weibull", {"a": a}, size, ctx, out=out)


def rand(f: Any, *size: int, **kwargs: Any) -> Any:
    """uniform() from 0 to 1, with the shape as the arguments."""
    return uniform(f, 0.0, 1.0, size, **kwargs)


def randn(f: Any, *size: int, **kwargs: Any) -> Any:
    """normal() of mean 0 and standard deviation 1, with the shape as the arguments."""
    return normal(f, 0.0, 1.0, size, **kwargs)


def randint(
    f: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Integers from `low` to before `high`, or from 0 to before `low`; int64 unless `dtype` says otherwise."""
    low, high = (0, low) if high is None else (low, high)
    shape = () if size is None else _shape(size)
    dtype = "int64" if dtype in (None, "int", int) else dtype
    given = {"low": _operator.index(low), "high": _operator.index(high), "shape": shape, "dtype": dtype}
    return f("_npi_random_randint", ctx=f.context(ctx), out=out, **given)


def choice(
    f: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Elements of an array (or numbers from 0 to before `a`), drawn with equal chances or with those of `p`."""
    given = {"size": () if size is None else _shape(size), "replace": replace, "ctx": f.context(ctx)}
    if not _is_number(a) and not f.knows_shapes:
        raise MXNotImplementedError("choice: a is a number; a symbol does not know how many elements it has")
    number = a if _is_number(a) else len(a)
    indices = f("_npi_choice", p, a=number, weighted=p is not None, out=out if _is_number(a) else None, **given)
    return indices if _is_number(a) else f.take(a, indices, axis=0, out=out)


def multinomial(f: Any, n: int, pvals: Any, size: Any = None, **kwargs: Any) -> Any:
    """How often each outcome occurs in `n` trials with these chances."""
    given = {"n": _operator.index(n), "size": None if size is None else _shape(size)}
    if f.is_array(pvals):
        return f("_npi_multinomial", pvals, pvals=None, **given, **kwargs)
    return f("_npi_multinomial", pvals=tuple(map(float, pvals)), **given, **kwargs)


def multivariate_normal(f: Any, mean: Any, cov: Any, size: Any = None, check_valid: Any = None, tol: Any = None) -> Any:
    """Vectors of normal numbers with these means and covariances, which are broadcast."""
    for name, value in (("check_valid", check_valid), ("tol", tol)):
        if value is not None:
            raise MXNotImplementedError(f"multivariate_normal: {name} is not supported")
    factor = f("_npi_cholesky", cov)
    if f.knows_shapes:
        batch = _numpy.broadcast_shapes(mean.shape[:-1], cov.shape[:-2])
        batch = batch if size is None else _shape(size) + batch
        noise = normal(f, 0.0, 1.0, (*batch, mean.shape[-1], 1), mean.dtype)
    else:
        zeros = f.multiply(f.add(mean, f.sum(factor, axis=-1)), 0)
        drawn = f(
            "_npi_normal_n",
            zeros,
            loc=None,
            scale=1.0,
            size=None if size is None else _shape(size),
            ctx=f.context(None),
        )
        noise = f.expand_dims(drawn, -1)
    moved = f.matmul(factor, noise)
    return f.add(mean, f.squeeze(moved, -1))


def shuffle(f: Any, x: Any) -> None:
    """Puts an array's parts along the first axis into random order, in place."""
    f("_npi_shuffle", x, out=x)
