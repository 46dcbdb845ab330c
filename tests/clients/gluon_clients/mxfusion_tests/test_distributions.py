"""MXFusion's distributions: their densities beside SciPy's, and what they draw (make test-clients)."""

from __future__ import annotations

import mxnet as mx
import numpy as np
import pytest
import scipy.stats as stats
from mxfusion.components import distributions as d

SAMPLES, ROWS, COLUMNS = 5, 3, 2


def matrix(size: int, seed: int = 0) -> np.ndarray:
    """A positive definite matrix."""
    half = np.random.RandomState(seed).rand(size, size)
    return half @ half.T + np.eye(size)


def positive(*shape: int) -> np.ndarray:
    return np.random.uniform(0.5, 4.0, shape)


def inside(*shape: int) -> np.ndarray:
    return np.random.uniform(0.05, 0.95, shape)


#: Class, its parameters (name, what draws them), what draws values, the density.
UNIVARIATE = [
    (
        d.Normal,
        {"mean": np.random.randn, "variance": positive},
        np.random.randn,
        lambda x, m, v: stats.norm.logpdf(x, m, v**0.5),
    ),
    (
        d.NormalMeanPrecision,
        {"mean": np.random.randn, "precision": positive},
        np.random.randn,
        lambda x, m, p: stats.norm.logpdf(x, m, p**-0.5),
    ),
    (d.Gamma, {"alpha": positive, "beta": positive}, positive, lambda x, a, b: stats.gamma.logpdf(x, a, scale=1 / b)),
    (
        d.GammaMeanVariance,
        {"mean": positive, "variance": positive},
        positive,
        lambda x, m, v: stats.gamma.logpdf(x, m * m / v, scale=v / m),
    ),
    (d.Beta, {"alpha": positive, "beta": positive}, inside, stats.beta.logpdf),
    (d.Laplace, {"location": np.random.randn, "scale": positive}, np.random.randn, stats.laplace.logpdf),
    (
        d.Bernoulli,
        {"prob_true": inside},
        lambda *shape: np.random.randint(0, 2, shape).astype(float),
        stats.bernoulli.logpmf,
    ),
]
KINDS = pytest.mark.parametrize(
    "kind,parameters,values,density", UNIVARIATE, ids=[row[0].__name__ for row in UNIVARIATE]
)


def given(factor, dtype, **arrays):
    """The arrays of a factor's variables, as MXFusion's algorithms pass them; each has an axis of samples."""
    return {getattr(factor, name).uuid: mx.nd.array(value, dtype=dtype) for name, value in arrays.items()}


@KINDS
@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_log_pdf(kind, parameters, values, density, sampled, dtype) -> None:
    arrays = {name: draw(SAMPLES if sampled else 1, ROWS, COLUMNS) for name, draw in parameters.items()}
    x = values(SAMPLES, ROWS, COLUMNS)
    factor = kind.define_variable(
        **{name: mx.nd.array(each) for name, each in arrays.items()}, shape=(ROWS, COLUMNS), dtype=dtype
    ).factor
    found = factor.log_pdf(F=mx.nd, variables=given(factor, dtype, random_variable=x, **arrays))
    assert found.dtype == np.dtype(dtype) and found.shape == x.shape
    close = {"rtol": 1e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-6}
    np.testing.assert_allclose(found.asnumpy(), density(x, *arrays.values()), **close)


@KINDS
def test_gradient_of_log_pdf(kind, parameters, values, density) -> None:
    arrays = {name: draw(1, ROWS, COLUMNS) for name, draw in parameters.items()}
    x = values(1, ROWS, COLUMNS)
    factor = kind.define_variable(
        **{name: mx.nd.array(each) for name, each in arrays.items()}, shape=(ROWS, COLUMNS), dtype="float64"
    ).factor
    variables = given(factor, "float64", random_variable=x, **arrays)
    for array in variables.values():
        array.attach_grad()
    with mx.autograd.record():
        factor.log_pdf(F=mx.nd, variables=variables).backward()
    step = 1e-6
    for name, value in arrays.items():
        up, down = ({**arrays, name: value + sign * step} for sign in (1, -1))
        slope = (density(x, *up.values()) - density(x, *down.values())) / (2 * step)
        np.testing.assert_allclose(variables[getattr(factor, name).uuid].grad.asnumpy(), slope, rtol=1e-3, atol=1e-5)


@KINDS
def test_samples(kind, parameters, values, density) -> None:
    number = 4000
    arrays = {name: draw(1, COLUMNS) for name, draw in parameters.items()}
    factor = kind.define_variable(
        **{name: mx.nd.array(each) for name, each in arrays.items()}, shape=(COLUMNS,), dtype="float64"
    ).factor
    drawn = factor.draw_samples(
        F=mx.nd,
        variables={
            uuid: mx.nd.broadcast_to(each, (number, COLUMNS))
            for uuid, each in given(factor, "float64", **arrays).items()
        },
        num_samples=number,
    ).asnumpy()
    assert drawn.shape == (number, COLUMNS)
    exact = {
        "Normal": lambda m, v: (m, v),
        "NormalMeanPrecision": lambda m, p: (m, 1 / p),
        "Gamma": lambda a, b: (a * b, a * b**2),  # it gives MXNet its rate as the scale
        "GammaMeanVariance": lambda m, v: (m**3 / v**2, m**4 / v**3),  # the same
        "Beta": lambda a, b: (a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))),
        "Laplace": lambda m, s: (m, 2 * s * s),
        "Bernoulli": lambda p: (1 - p, p * (1 - p)),  # so it draws, on 1.9.1 too
    }[kind.__name__]
    mean, variance = (each[0] for each in exact(*arrays.values()))
    assert (abs(drawn.mean(0) - mean) < 5 * np.sqrt(variance / number)).all()


@pytest.mark.parametrize("kind", [d.MultivariateNormal, d.MultivariateNormalMeanPrecision])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_multivariate_normal(kind, dtype) -> None:
    mean, x, spread = (
        np.random.randn(1, 4, 3),
        np.random.randn(1, 4, 3),
        np.stack([matrix(3, each) for each in range(4)])[None],
    )
    name = "covariance" if kind is d.MultivariateNormal else "precision"
    factor = kind.define_variable(
        shape=(4, 3), dtype=dtype, mean=mx.nd.array(mean), **{name: mx.nd.array(spread)}
    ).factor
    found = factor.log_pdf(
        F=mx.nd, variables=given(factor, dtype, mean=mean, random_variable=x, **{name: spread})
    ).asnumpy()
    covariances = spread if name == "covariance" else np.linalg.inv(spread)
    exact = [stats.multivariate_normal.logpdf(x[0, row], mean[0, row], covariances[0, row]) for row in range(4)]
    np.testing.assert_allclose(found[0], exact, rtol=1e-3)
    drawn = factor.draw_samples(F=mx.nd, variables=given(factor, dtype, mean=mean, **{name: spread}), num_samples=7)
    assert drawn.shape == (7, 4, 3) and np.isfinite(drawn.asnumpy()).all()


def test_dirichlet() -> None:
    alpha, x = positive(1, 1, 3), np.random.dirichlet([1, 1, 1], size=(SAMPLES, 1))
    factor = d.Dirichlet.define_variable(alpha=mx.nd.array(alpha), shape=(1, 3), dtype="float64").factor
    found = factor.log_pdf(F=mx.nd, variables=given(factor, "float64", alpha=alpha, random_variable=x)).asnumpy()
    np.testing.assert_allclose(found[:, 0], [stats.dirichlet.logpdf(row[0], alpha[0, 0]) for row in x], rtol=1e-4)


@pytest.mark.parametrize("one_hot", [False, True])
def test_categorical(one_hot) -> None:
    logs, classes = np.random.randn(1, 4, 3), np.random.randint(0, 3, (SAMPLES, 4))
    x = np.eye(3)[classes] if one_hot else classes[..., None].astype(float)
    factor = d.Categorical.define_variable(
        log_prob=mx.nd.array(logs),
        num_classes=3,
        one_hot_encoding=one_hot,
        shape=(4, 3 if one_hot else 1),
        dtype="float64",
    ).factor
    variables = given(factor, "float64", log_prob=np.broadcast_to(logs, (SAMPLES, 4, 3)), random_variable=x)
    found = factor.log_pdf(F=mx.nd, variables=variables).asnumpy()
    normalized = logs[0] - np.log(np.exp(logs[0]).sum(-1, keepdims=True))
    exact = np.take_along_axis(np.broadcast_to(normalized, (SAMPLES, 4, 3)), classes[..., None], -1)[..., 0]
    np.testing.assert_allclose(found.reshape(exact.shape), exact, rtol=1e-5)


def test_wishart() -> None:
    scale, x = matrix(3)[None], stats.wishart.rvs(5, matrix(3), size=2)
    factor = d.Wishart.define_variable(
        shape=(3, 3), degrees_of_freedom=mx.nd.array([[5.0]]), scale=mx.nd.array(scale)
    ).factor
    degrees = np.full((2, 1), 5.0)
    variables = given(
        factor, "float32", degrees_of_freedom=degrees, scale=np.repeat(scale, 2, 0)[:, None], random_variable=x[:, None]
    )
    found = factor.log_pdf(F=mx.nd, variables=variables).asnumpy()
    np.testing.assert_allclose(found.ravel(), [stats.wishart.logpdf(each, 5, scale[0]) for each in x], rtol=1e-3)


def test_uniform_and_point_mass() -> None:
    factor = d.Uniform.define_variable(
        low=mx.nd.array([0.0]), high=mx.nd.array([4.0]), shape=(2,), dtype="float64"
    ).factor
    arrays = {"low": np.zeros((1, 2)), "high": np.full((1, 2), 4.0)}
    found = factor.log_pdf(
        F=mx.nd, variables=given(factor, "float64", random_variable=np.array([[1.0, 3.0]]), **arrays)
    )
    np.testing.assert_allclose(found.asnumpy(), np.log(0.25), rtol=1e-6)
    drawn = factor.draw_samples(
        F=mx.nd, variables=given(factor, "float64", low=np.zeros((50, 2)), high=np.full((50, 2), 4.0)), num_samples=50
    )
    assert 0 <= drawn.asnumpy().min() < 1 and 3 < drawn.asnumpy().max() < 4
    point = d.PointMass.define_variable(location=mx.nd.array([1.0, 2.0]), shape=(2,)).factor
    drawn = point.draw_samples(
        F=mx.nd, variables=given(point, "float32", location=np.array([[1.0, 2.0]])), num_samples=3
    )
    np.testing.assert_array_equal(drawn.asnumpy(), [[1, 2]] * 3)
