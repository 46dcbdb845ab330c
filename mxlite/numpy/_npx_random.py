"""Functions of `mx.npx.random`; see mxlite/numpy/_composed.py."""

from __future__ import annotations

from typing import Any

from mxlite.numpy._composed import _shape
from mxlite.numpy._random import _draw

#: The functions of this module.
FUNCTIONS = frozenset(("bernoulli", "normal_n", "uniform_n"))


def bernoulli(
    f: Any, prob: Any = None, logit: Any = None, size: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> Any:
    """Ones with a probability, or with that whose logit is given, and zeros.

    Raises: ValueError: both are given, or none.
    """
    if (prob is None) == (logit is None):
        raise ValueError("bernoulli: prob or logit is given, not both")
    given = {"is_logit": prob is None, "dtype": "float32" if dtype is None else dtype, "out": out}
    return _draw(f, "_npi_bernoulli", {"prob": prob, "logit": logit}, size, ctx, **given)


def _batches(f: Any, operator: str, parameters: dict[str, Any], batch_shape: Any, dtype: Any, ctx: Any) -> Any:
    size = None if batch_shape is None else _shape(batch_shape)
    return _draw(f, operator, parameters, size, ctx, dtype="float32" if dtype is None else dtype)


def uniform_n(
    f: Any, low: Any = 0.0, high: Any = 1.0, batch_shape: Any = None, dtype: Any = None, ctx: Any = None
) -> Any:
    """As `mx.np.random.uniform`, so many for each element of the bounds: the shape is batch_shape and theirs."""
    return _batches(f, "_npi_uniform_n", {"low": low, "high": high}, batch_shape, dtype, ctx)


def normal_n(
    f: Any, loc: Any = 0.0, scale: Any = 1.0, batch_shape: Any = None, dtype: Any = None, ctx: Any = None
) -> Any:
    """As `mx.np.random.normal`, so many for each element of the parameters: the shape is batch_shape and theirs."""
    return _batches(f, "_npi_normal_n", {"loc": loc, "scale": scale}, batch_shape, dtype, ctx)
