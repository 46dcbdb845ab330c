"""Gradients of NumPy arrays' random numbers by the parameters of their distributions, and their fit.

What scales or shifts standard numbers has derivatives of every order; what is drawn otherwise has zeros, as in 1.9.1.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from _table import invoke_text, to_nd

import mxlite as mx
from mxlite import autograd

pytestmark = pytest.mark.one_binding

_A, _B = np.array([1.5, 2.0, 3.0], "float32"), np.array([0.5, 1.25, 2.0], "float32")


def _draw(name: str, *arrays, **params):
    mx.random.seed(7)
    (drawn,) = invoke_text(f"_npi_{name}", arrays, {key: str(value) for key, value in params.items()})
    return drawn


@pytest.mark.parametrize("name", ["normal", "gumbel", "logistic", "normal_n"])
def test_shifted_and_scaled(name: str) -> None:
    a, b = to_nd(_A), to_nd(_B)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = _draw(name, a, b, loc=None, scale=None, size=(4,) if name == "normal_n" else (4, 3))
    y.backward()
    noise = (y.asnumpy() - _A) / _B
    np.testing.assert_array_equal(a.grad.asnumpy(), np.full(3, 4))
    np.testing.assert_allclose(b.grad.asnumpy(), noise.sum(0), rtol=1e-4, atol=1e-5)
    with autograd.record():
        y = _draw(name, b, loc=0.5, scale=None, size=(4,) if name == "normal_n" else (4, 3))
    y.backward()
    np.testing.assert_allclose(b.grad.asnumpy(), ((y.asnumpy() - 0.5) / _B).sum(0), rtol=1e-4, atol=1e-5)


#: the number by the parameter: first and second derivative from the number and the parameter
_ONE = {
    "exponential": (lambda y, a: y / a, lambda y, a: 0 * y),
    "rayleigh": (lambda y, a: y / a, lambda y, a: 0 * y),
    "pareto": (
        lambda y, a: -(1 + y) * np.log1p(y) / a,
        lambda y, a: (1 + y) * np.log1p(y) * (np.log1p(y) + 2) / a**2,
    ),
    "weibull": (
        lambda y, a: -y * np.log(y) / a,
        lambda y, a: y * np.log(y) * (np.log(y) + 2) / a**2,
    ),
}


@pytest.mark.parametrize("name", sorted(_ONE))
def test_of_one_parameter(name: str) -> None:
    first, second = _ONE[name]
    a = to_nd(_A)
    a.attach_grad()
    params = {"a": None} if name in ("pareto", "weibull") else {"scale": None}
    with autograd.record():
        y = _draw(name, a, **params)
        (slope,) = autograd.grad(y, [a], create_graph=True, retain_graph=True)
    drawn = y.asnumpy().astype("float64")
    np.testing.assert_allclose(slope.asnumpy(), first(drawn, _A), rtol=1e-4, atol=1e-6)
    slope.backward()
    np.testing.assert_allclose(a.grad.asnumpy(), second(drawn, _A), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("uniform", {"low": None, "high": 9.0}),
        ("uniform_n", {"low": None, "high": 9.0}),
        ("gamma", {"shape": None, "scale": 2.0}),
        ("powerd", {"a": None}),
        ("bernoulli", {"prob": None, "logit": None, "is_logit": True}),
    ],
)
def test_zeros(name: str, params: dict) -> None:
    a = to_nd(_A)
    a.attach_grad()
    a.grad[:] = 3
    with autograd.record():
        y = _draw(name, a, **params)
    y.backward()
    np.testing.assert_array_equal(a.grad.asnumpy(), np.zeros(3))


def _normal_cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


#: name -> parameters and the distribution function
_CDF = {
    "normal": ({"loc": 1.0, "scale": 2.0}, lambda x: _normal_cdf((x - 1) / 2)),
    "uniform": ({"low": -1.0, "high": 3.0}, lambda x: (x + 1) / 4),
    "gumbel": ({"loc": 1.0, "scale": 2.0}, lambda x: np.exp(-np.exp(-(x - 1) / 2))),
    "logistic": ({"loc": 1.0, "scale": 2.0}, lambda x: 1 / (1 + np.exp(-(x - 1) / 2))),
    "exponential": ({"scale": 2.0}, lambda x: 1 - np.exp(-x / 2)),
    "rayleigh": ({"scale": 2.0}, lambda x: 1 - np.exp(-(x**2) / 8)),
    "pareto": ({"a": 3.0}, lambda x: 1 - (1 + x) ** -3.0),
    "weibull": ({"a": 1.5}, lambda x: 1 - np.exp(-(x**1.5))),
    "powerd": ({"a": 2.5}, lambda x: x**2.5),
    "gamma": ({"shape": 2.0, "scale": 0.5}, lambda x: 1 - np.exp(-2 * x) * (1 + 2 * x)),
}


@pytest.mark.parametrize("name", sorted(_CDF))
def test_fit(name: str) -> None:
    """Kolmogorov's and Smirnov's distance of 40,000 numbers from their distribution."""
    params, cdf = _CDF[name]
    x = np.sort(_draw(name, size=(40000,), **params).asnumpy().astype("float64"))
    steps = np.arange(len(x) + 1) / len(x)
    values = cdf(x)
    distance = max(np.abs(values - steps[:-1]).max(), np.abs(values - steps[1:]).max())
    assert distance < 1.95 / math.sqrt(len(x))


def test_seed_repeats() -> None:
    for name, (params, _) in _CDF.items():
        one, two = (_draw(name, size=(5,), **params).asnumpy() for _ in range(2))
        np.testing.assert_array_equal(one, two)
    one, two = (_draw("choice", a=1000, size=(9,)).asnumpy() for _ in range(2))
    np.testing.assert_array_equal(one, two)
