"""`mx.nd.linalg` beyond the case table: outputs used one at a time, which inputs want gradients, names."""

from __future__ import annotations

import numpy as np
import pytest
from _table import to_nd

import mxlite as mx
from mxlite import autograd

NAMES = [
    "det", "extractdiag", "extracttrian", "gelqf", "gemm", "gemm2", "inverse", "makediag", "maketrian", "potrf",
    "potri", "slogdet", "sumlogdiag", "syevd", "syrk", "trmm", "trsm",
]  # fmt: skip


def test_names_are_those_of_mxnet() -> None:
    assert [name for name in dir(mx.nd.linalg) if not name.startswith("_")] == NAMES
    for name in NAMES:
        assert getattr(mx.nd.linalg, name).__doc__
        # 1.9.1 has no public alias of syevd.
        assert hasattr(mx.nd, f"linalg_{name}") == (name != "syevd")


def _gradient(name: str, a: np.ndarray, weights: list, create_graph: bool = False) -> np.ndarray:
    """The gradient of the outputs' sum, each times its weight; None leaves an output out."""
    x = to_nd(a)
    x.attach_grad()
    with autograd.record():
        outputs = getattr(mx.nd.linalg, name)(x)
        total = sum((output * to_nd(weight)).sum() for output, weight in zip(outputs, weights) if weight is not None)
        if create_graph:
            (first,) = autograd.grad(total, [x], create_graph=True)
            total = (first * first).sum()
    total.backward()
    return x.grad.asnumpy()


@pytest.mark.parametrize("name", ["gelqf", "syevd", "slogdet"])
def test_outputs_one_at_a_time(name: str) -> None:
    """Gradients through one output alone add up to those through both."""
    random = np.random.default_rng(5)
    a = random.standard_normal((2, 3, 3)) + np.diag([1.0, 5.0, 9.0])
    a = a + a.swapaxes(1, 2)
    shapes = [output.shape for output in getattr(mx.nd.linalg, name)(to_nd(a))]
    weights = [random.standard_normal(shape) for shape in shapes]
    parts = [_gradient(name, a, [weights[0], None]), _gradient(name, a, [None, weights[1]])]
    np.testing.assert_allclose(sum(parts), _gradient(name, a, weights), rtol=1e-10, atol=1e-12)
    assert parts[1].any() and parts[0].any() == (name != "slogdet")


@pytest.mark.parametrize(("name", "other"), [("gelqf", 0), ("gelqf", 1), ("syevd", 0), ("syevd", 1), ("slogdet", 1)])
def test_second_gradients_through_one_output(name: str, other: int) -> None:
    """The gradient of |dL/dx|^2 along a symmetric direction, by central differences."""
    random = np.random.default_rng(6)
    a = random.standard_normal((3, 3)) + np.diag([1.0, 6.0, 12.0])
    a = a + a.T
    shape = getattr(mx.nd.linalg, name)(to_nd(a))[other].shape
    weights: list = [None, None]
    weights[other] = random.standard_normal(shape)
    along = random.standard_normal((3, 3))
    along, step = along + along.T, 1e-5
    high, low = ((_gradient(name, a + sign * step * along, weights) ** 2).sum() for sign in (1, -1))
    got = (_gradient(name, a, weights, create_graph=True) * along).sum()
    assert got == pytest.approx((high - low) / (2 * step), rel=1e-6, abs=1e-8)


def test_slogdet_keeps_its_sign_constant() -> None:
    x = to_nd(np.diag([1.0, -2.0]))
    x.attach_grad()
    with autograd.record():
        sign, _ = mx.nd.linalg.slogdet(x)
    sign.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)


def test_a_cholesky_factor_solves() -> None:
    """What the family is for: log N(y; 0, K) of a Gaussian process, and its gradient against NumPy's formula."""
    random = np.random.default_rng(7)
    a, y = random.standard_normal((6, 6)), random.standard_normal((6, 1))
    k = a @ a.T + np.eye(6)
    x = to_nd(k)
    x.attach_grad()
    with autograd.record():
        low = mx.nd.linalg.potrf(x)
        z = mx.nd.linalg.trsm(low, to_nd(y))
        value = -0.5 * (z * z).sum() - mx.nd.linalg.sumlogdiag(low)
    value.backward()
    wanted = -0.5 * (y * np.linalg.solve(k, y)).sum() - 0.5 * np.linalg.slogdet(k)[1]
    assert value.asscalar() == pytest.approx(wanted, rel=1e-12)
    inverse = np.linalg.inv(k)
    np.testing.assert_allclose(x.grad.asnumpy(), 0.5 * (inverse @ y @ y.T @ inverse - inverse), rtol=1e-9, atol=1e-11)
