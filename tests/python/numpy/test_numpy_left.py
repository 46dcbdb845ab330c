"""Functions of `mx.np` that 1.9.1 leaves to the installed NumPy: their gradients, and what values alone do not show."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy
import pytest

import mxlite as mx
from mxlite import autograd, np, npx
from mxlite.numpy import _protocols, _table

_X = numpy.array([[1.3, 2.1, 3.4], [0.7, 4.6, 1.9]])
_GAPS = numpy.array([[1.3, numpy.nan, 3.4], [0.7, 4.6, numpy.nan]])
_SQUARE = numpy.array([[4.1, 1.2, 0.3], [0.9, 3.2, 0.4], [0.2, 0.5, 2.7]])


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """NumPy's mode, for each test alone."""
    npx.set_np()
    yield
    npx.reset_np()


def _array(values: Any, dtype: Any = "float64") -> Any:
    return np.array(values, dtype=dtype)


#: Functions of one array, and the array.
_DIFFERENTIATED: list[tuple[str, Callable[[Any], Any], numpy.ndarray]] = [
    ("apply_along_axis", lambda x: np.apply_along_axis(lambda row: row * row.sum(), 1, x), _X),
    ("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x * x, (0, 1)), _X),
    ("choose", lambda x: np.choose(_array([1, 0, 1], "int64"), [x[0] ** 3, x[1]]), _X),
    ("compress", lambda x: np.compress([True, False, True], x**3, axis=1), _X),
    ("correlate", lambda x: np.correlate(x[0], x[1], "full"), _X),
    ("correlate-same", lambda x: np.correlate(x[0], x[1, :2], "same"), _X),
    ("corrcoef", lambda x: np.corrcoef(x), _X),
    ("cov", lambda x: np.cov(x), _X),
    ("cov-weights", lambda x: np.cov(x, aweights=[1, 2, 3.0]), _X),
    ("cross", lambda x: np.cross(x[0], x[1]), _X),
    ("cumprod", lambda x: np.cumprod(x, axis=1), _X),
    ("divmod", lambda x: np.divmod(x, 0.8)[1] ** 2, _X),
    ("extract", lambda x: np.extract(x > 1, x**3), _X),
    ("float_power", lambda x: np.float_power(x, x), _X),
    ("frexp", lambda x: np.frexp(x)[0] ** 2, _X),
    ("gradient", lambda x: np.gradient(x**3, axis=1), _X),
    ("gradient-2", lambda x: np.gradient(x**3, x[0], axis=1, edge_order=2), _X),
    ("heaviside", lambda x: np.heaviside(x - 100, x) * x**2, _X),
    ("interp", lambda x: np.interp(x[0], _array([0, 2, 4]), x[1]), _X),
    ("interp-points", lambda x: np.interp(_array([1.1, 2.7]), x[0], x[1]), _X),
    ("intersect1d", lambda x: np.intersect1d(x**2, x[0] ** 2), _X),
    ("median", lambda x: np.median(x**2, axis=1), _X),
    ("modf", lambda x: np.modf(x)[0] ** 3, _X),
    ("msort", lambda x: np.msort(x**2), _X),
    ("nancumprod", lambda x: np.nancumprod(x), _GAPS),
    ("nancumsum", lambda x: np.nancumsum(x) ** 2, _GAPS),
    ("nanmax", lambda x: np.nanmax(x, axis=1) ** 2, _GAPS),
    ("nanmean", lambda x: np.nanmean(x, axis=1) ** 2, _GAPS),
    ("nanmedian", lambda x: np.nanmedian(x, axis=1) ** 2, _GAPS),
    ("nanpercentile", lambda x: np.nanpercentile(x, 30, axis=0) ** 2, _GAPS),
    ("nanprod", lambda x: np.nanprod(x), _GAPS),
    ("nanstd", lambda x: np.nanstd(x, axis=1), _GAPS),
    ("nansum", lambda x: np.nansum(x, axis=0) ** 3, _GAPS),
    ("nanvar", lambda x: np.nanvar(x), _GAPS),
    ("partition", lambda x: np.partition(x**2, 1), _X),
    ("piecewise", lambda x: np.piecewise(x, [x < 1, x >= 2], [lambda t: t**3, np.log, 7]), _X),
    ("poly", lambda x: np.poly(x[0]), _X),
    ("polydiv", lambda x: np.polydiv(x[0], x[1, :2])[0], _X),
    ("polyfit", lambda x: np.polyfit(x[0], x[1], 1), _X),
    ("polyint", lambda x: np.polyint(x[0] ** 2, 2), _X),
    ("polymul", lambda x: np.polymul(x[0], x[1]), _X),
    ("ptp", lambda x: np.ptp(x**2, axis=1), _X),
    ("rollaxis", lambda x: np.rollaxis(x**2, 1), _X),
    ("select", lambda x: np.select([x < 1, x > 2], [x**3, np.log(x)], 5.0), _X),
    ("setdiff1d", lambda x: np.setdiff1d(x**2, [0.49]), _X),
    ("setxor1d", lambda x: np.setxor1d(x[0] ** 2, x[1]), _X),
    ("take_along_axis", lambda x: np.take_along_axis(x**2, _array([[0], [2]], "int64"), 1), _X),
    ("trapz", lambda x: np.trapz(x[0], x[1]), _X),
    ("triu", lambda x: np.triu(x**2, 1), _X),
    ("union1d", lambda x: np.union1d(x[0] ** 2, x[1]), _X),
    ("unwrap", lambda x: np.unwrap(x**2, axis=0), _X),
    ("vander", lambda x: np.vander(x[0]), _X),
    ("linalg.cond", lambda x: np.linalg.cond(x), _SQUARE),
    ("linalg.cond-1", lambda x: np.linalg.cond(x, 1), _SQUARE),
    ("linalg.lstsq", lambda x: np.linalg.lstsq(x[:, :2], x[:, 2])[0], _SQUARE),
    ("linalg.matrix_power", lambda x: np.linalg.matrix_power(x, 3), _SQUARE),
    ("linalg.matrix_power-1", lambda x: np.linalg.matrix_power(x, -2), _SQUARE),
    ("linalg.multi_dot", lambda x: np.linalg.multi_dot([x, x[:, :2], x[:2]]), _SQUARE),
    ("linalg.qr", lambda x: np.linalg.qr(x[:, :2])[0], _SQUARE),
    ("linalg.qr-r", lambda x: np.linalg.qr(x[:2], "r"), _SQUARE),
]


def _weighed(function: Callable[[Any], Any], x: Any) -> Any:
    """A number that depends on all that a function answers, differently on each element."""
    made = function(x)
    weights = numpy.cos(numpy.arange(made.size)).reshape(made.shape)
    return (made * _array(weights)).sum()


def _slopes(function: Callable[[Any], Any], at: numpy.ndarray) -> numpy.ndarray:
    """The gradient of a number, by differences."""
    found = numpy.zeros_like(at)
    for place in numpy.ndindex(*at.shape):
        step = numpy.zeros_like(at)
        step[place] = 1e-5
        found[place] = (float(function(_array(at + step))) - float(function(_array(at - step)))) / 2e-5
    return numpy.where(numpy.isnan(at), 0, found)


def _grad(function: Callable[[Any], Any], x: Any, create_graph: bool = False) -> Any:
    x.attach_grad()
    with autograd.record():
        y = _weighed(function, x)
        return autograd.grad(y, x, create_graph=create_graph)[0] if create_graph else autograd.grad(y, [x])[0]


@pytest.mark.parametrize(("function", "at"), [row[1:] for row in _DIFFERENTIATED], ids=[row[0] for row in _DIFFERENTIATED])
def test_gradients_to_second_order(function: Callable[[Any], Any], at: numpy.ndarray) -> None:
    x = _array(at)
    wanted = _slopes(lambda v: _weighed(function, v), at)
    assert numpy.allclose(_grad(function, x).asnumpy(), wanted, rtol=1e-4, atol=1e-6)
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(_weighed(function, x), [x], create_graph=True)[0]
        total = _weighed(lambda _: first, x)
    total.backward()
    wanted = _slopes(lambda v: _weighed(lambda u: _grad(function, u), v), at)
    assert numpy.allclose(x.grad.asnumpy(), wanted, rtol=1e-3, atol=1e-5)
