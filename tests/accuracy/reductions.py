"""How far reductions and products are off: `python reductions.py WHO` prints JSON.

Sums are measured in units of the last place of the sum of the sizes of what is added: what is left after cancellation
is not blamed on the summing. Where all is of one sign, these are places of the result. softmax rounds the distance d of
an element from the largest, a relative error of d units: its results are measured by 1 + d times their size.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np


@dataclass(frozen=True)
class Reduction:
    """A reduction of an array.

    name    as the page calls it
    data    draws the array: data(random)
    exact   its exact value and the size that the error is measured by, both in float64: exact(array)
    most    what it may be off at most, in units of the last place, in float32 and in float64
    calls   what it is in mxlite's mx.nd, NumPy and PyTorch: calls[who](module, array)
    """

    name: str
    data: Callable[[np.random.Generator], np.ndarray]
    exact: Callable[[np.ndarray], tuple[Any, Any]]
    most: tuple[float, float]
    calls: dict[str, Callable[[Any, Any], Any]]


def _each(mxlite: Callable, numpy: Callable | None, torch: Callable) -> dict[str, Callable]:
    return {who: call for who, call in (("mxlite", mxlite), ("numpy", numpy), ("torch", torch)) if call is not None}


def _sum(x: np.ndarray) -> tuple[float, float]:
    return math.fsum(x.tolist()), math.fsum(np.abs(x).tolist())


def _mean(x: np.ndarray) -> tuple[float, float]:
    return tuple(value / x.size for value in _sum(x))


def _norm(x: np.ndarray) -> tuple[float, float]:
    value = math.sqrt(math.fsum((x.astype(np.longdouble) ** 2).tolist()))
    return value, value


def _dot(x: np.ndarray) -> tuple[float, float]:
    products = x[0].astype(np.longdouble) * x[1]
    return math.fsum(products.tolist()), math.fsum(np.abs(products).tolist())


def _columns(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sums = np.array([_sum(column) for column in x.T])
    return sums[:, 0], sums[:, 1]


def _softmax(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    powers = np.exp(x.astype(np.longdouble) - x.max(axis=-1, keepdims=True))
    value = powers / powers.sum(axis=-1, keepdims=True)
    return value, value * (1 + x.max(axis=-1, keepdims=True) - x)


def _log_softmax(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    less = x.astype(np.longdouble) - x.max(axis=-1, keepdims=True)
    log = np.log(np.exp(less).sum(axis=-1, keepdims=True))
    return less - log, 1 + log - less


def _uniform(*shape: int) -> Callable:
    return lambda random: random.uniform(0, 1, shape)


def _normal(*shape: int, scale: float = 1.0) -> Callable:
    return lambda random: random.standard_normal(shape) * scale


_SUM = _each(lambda nd, x: nd.sum(x), lambda np, x: np.sum(x), lambda torch, x: torch.sum(x))
_COLUMNS = _each(lambda nd, x: nd.sum(x, axis=0), lambda np, x: np.sum(x, axis=0), lambda torch, x: torch.sum(x, 0))

REDUCTIONS = (
    Reduction("sum of 1e6 uniform numbers", _uniform(1_000_000), _sum, (1, 8), _SUM),
    Reduction("sum of 1e6 normal numbers", _normal(1_000_000), _sum, (1, 8), _SUM),
    Reduction("sums of 1000 columns, 1000 each", _normal(1000, 1000), _columns, (2, 4), _COLUMNS),
    Reduction(
        "mean of 1e6 uniform numbers",
        _uniform(1_000_000),
        _mean,
        (2, 8),
        _each(lambda nd, x: nd.mean(x), lambda np, x: np.mean(x), lambda torch, x: torch.mean(x)),
    ),
    Reduction(
        "norm of 1e6 normal numbers",
        _normal(1_000_000),
        _norm,
        (2, 4),
        _each(lambda nd, x: nd.norm(x), lambda np, x: np.linalg.norm(x), lambda torch, x: torch.linalg.vector_norm(x)),
    ),
    Reduction(
        "dot of two vectors of 1e6",
        _normal(2, 1_000_000),
        _dot,
        (8, 8),
        _each(
            lambda nd, x: nd.dot(x[0], x[1]), lambda np, x: np.dot(x[0], x[1]), lambda torch, x: torch.dot(x[0], x[1])
        ),
    ),
    Reduction(
        "softmax of rows of 1000",
        _normal(256, 1000, scale=5),
        _softmax,
        (4, 16),
        _each(lambda nd, x: nd.softmax(x), None, lambda torch, x: torch.softmax(x, -1)),
    ),
    Reduction(
        "log_softmax of rows of 1000",
        _normal(256, 1000, scale=5),
        _log_softmax,
        (4, 8),
        _each(lambda nd, x: nd.log_softmax(x), None, lambda torch, x: torch.log_softmax(x, -1)),
    ),
)


def arguments(reduction: Reduction, dtype: Any) -> np.ndarray:
    """The array, the same for everyone."""
    return reduction.data(np.random.default_rng(5)).astype(dtype)


def _call(who: str, reduction: Reduction, x: np.ndarray) -> np.ndarray:
    if who == "mxlite":
        import mxlite as mx

        return reduction.calls[who](mx.nd, mx.nd.array(x, dtype=x.dtype)).asnumpy()
    if who == "torch":
        import torch

        return reduction.calls[who](torch, torch.from_numpy(x)).numpy()
    return np.asarray(reduction.calls[who](np, x))


def error(who: str, reduction: Reduction, dtype: Any) -> float:
    """How far it is off, in units of the last place; of several results the worst."""
    x = arguments(reduction, dtype)
    got = _call(who, reduction, x)
    assert got.dtype == dtype, f"{who}: {reduction.name} of {x.dtype} gives {got.dtype}"
    value, size = reduction.exact(x)
    unit = np.spacing(np.asarray(size).astype(dtype)).astype(np.longdouble)
    return float(np.max(np.abs(got.astype(np.longdouble).reshape(np.shape(value)) - value) / np.abs(unit)))


def ones(who: str) -> float:
    """The sum of 1e8 ones in float32."""
    x = np.ones(100_000_000, np.float32)
    return float(_call(who, REDUCTIONS[0], x).ravel()[0])


def main() -> None:
    who = sys.argv[1]
    found = {
        reduction.name: {dtype.__name__: error(who, reduction, dtype) for dtype in (np.float32, np.float64)}
        for reduction in REDUCTIONS
        if who in reduction.calls
    }
    json.dump({"ones": ones(who), "errors": found}, sys.stdout)


if __name__ == "__main__":
    main()
