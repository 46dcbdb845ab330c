"""What the case table cannot say of BatchNorm: when its moving statistics and gamma change, and to what."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

pytestmark = pytest.mark.one_binding

X = np.random.default_rng(0).normal(2, 3, (5, 3, 4)).astype("float32")
MEAN, VAR = X.mean((0, 2)), X.var((0, 2))


class Layer:
    """Its five arrays, of which data, gamma and beta have gradients."""

    def __init__(self, dtype: str = "float32", data: str = "float32") -> None:
        self.x = nd.array(X, dtype=data)
        self.gamma, self.beta = nd.array([1, 2, 3], dtype=dtype), nd.array([0.5, 0, 1], dtype=dtype)
        self.mean, self.var = nd.array([1, 2, 3], dtype=dtype), nd.array([4, 5, 6], dtype=dtype)
        for array in (self.x, self.gamma, self.beta):
            array.attach_grad()

    def __call__(self, train: bool = True, **params):
        with autograd.record(train_mode=train):
            return nd.BatchNorm(self.x, self.gamma, self.beta, self.mean, self.var, **params)

    def moved(self, steps: int, momentum: float = 0.9) -> None:
        """The moving statistics are those of so many updates."""
        mean, var = np.array([1.0, 2, 3]), np.array([4.0, 5, 6])
        for _ in range(steps):
            mean, var = mean * momentum + MEAN * (1 - momentum), var * momentum + VAR * (1 - momentum)
        np.testing.assert_allclose(self.mean.asnumpy(), mean, rtol=1e-6)
        np.testing.assert_allclose(self.var.asnumpy(), var, rtol=1e-6)


@pytest.mark.parametrize("momentum", [0.9, 0.25, 0.0, 1.0])
def test_backward_moves_the_statistics(momentum: float) -> None:
    """By the variance of the population, and not before backward."""
    layer = Layer()
    y = layer(momentum=momentum)
    layer.moved(0)
    y.backward()
    layer.moved(1, momentum)


@pytest.mark.parametrize(("dtype", "data"), [("float64", "float64"), ("float32", "float16")])
def test_of_other_dtypes(dtype: str, data: str) -> None:
    layer = Layer(dtype, data)
    layer().backward()
    np.testing.assert_allclose(layer.mean.asnumpy(), [1.0, 2, 3] * np.array(0.9) + MEAN * 0.1, rtol=1e-4)
    np.testing.assert_allclose(layer.var.asnumpy(), [4.0, 5, 6] * np.array(0.9) + VAR * 0.1, rtol=1e-4)


def test_each_backward_moves_them() -> None:
    """Also where several calls with the same statistics come before it."""
    layer = Layer()
    y = layer()
    y.backward(retain_graph=True)
    y.backward()
    layer.moved(2)
    layer = Layer()
    with autograd.record():
        total = layer() + layer()
    total.backward()
    layer.moved(2)


def test_a_recorded_backward_moves_them() -> None:
    layer = Layer()
    y = layer(fix_gamma=False)
    with autograd.record():
        (dx,) = autograd.grad(y, [layer.x], nd.array(X), create_graph=True)
    layer.moved(1)
    del dx


@pytest.mark.parametrize("zero", [nd.BlockGrad, nd.sign, lambda y: nd.BlockGrad(nd.relu(y) * 2)])
def test_a_gradient_that_vanishes_moves_them(zero) -> None:
    layer = Layer()
    y = layer()
    with autograd.record():
        y = zero(y) * layer.x
    y.backward()
    layer.moved(1)
    assert not layer.beta.grad.asnumpy().any()


def test_a_frozen_layer_does_not_move_them() -> None:
    layer = Layer()
    for array in (layer.x, layer.gamma, layer.beta):
        array.attach_grad("null")
    w = nd.ones(X.shape)
    w.attach_grad()
    with autograd.record():
        y = nd.BatchNorm(layer.x, layer.gamma, layer.beta, layer.mean, layer.var) * w
    y.backward()
    layer.moved(0)


def test_the_mode_of_the_recording_counts() -> None:
    layer = Layer()
    layer(train=False, fix_gamma=False).backward(train_mode=True)
    layer.moved(0)
    factor = np.array([1.0, 2, 3]) / np.sqrt(np.array([4.0, 5, 6]) + 1e-3)
    np.testing.assert_allclose(layer.x.grad.asnumpy(), np.broadcast_to(factor[:, None], X.shape), rtol=1e-6)


def test_what_does_not_move_them() -> None:
    for params in ({"train": False}, {"use_global_stats": True}):
        layer = Layer()
        layer(**params).backward()
        layer.moved(0)
    layer = Layer()
    with autograd.train_mode():
        nd.BatchNorm(layer.x, layer.gamma, layer.beta, layer.mean, layer.var)
    layer.moved(0)


def test_an_empty_batch_does_not_move_them() -> None:
    with mx.np_shape(True):
        layer = Layer()
        layer.x = nd.zeros((0, 3, 4))
        layer.x.attach_grad()
        layer().backward()
        layer.moved(0)
        assert layer.x.grad.shape == (0, 3, 4) and not layer.beta.grad.asnumpy().any()


@pytest.mark.parametrize("train", [False, True])
def test_gamma_is_set_to_ones(train: bool) -> None:
    layer = Layer()
    y = layer(train)
    assert layer.gamma.asnumpy().tolist() == [1, 1, 1]
    layer.gamma.grad[:] = 7
    y.backward()
    assert layer.gamma.grad.asnumpy().tolist() == [0, 0, 0]
    np.testing.assert_allclose(layer.beta.grad.asnumpy(), [20, 20, 20])
    layer = Layer()
    layer(train, fix_gamma=False)
    assert layer.gamma.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("which", ["x", "gamma", "beta"])
def test_one_gradient_alone(which: str) -> None:
    """Is that of all together."""
    together = Layer()
    together(fix_gamma=False).backward(nd.array(X))
    alone = Layer()
    for name in {"x", "gamma", "beta"} - {which}:
        setattr(alone, name, getattr(alone, name).detach())
    alone(fix_gamma=False).backward(nd.array(X))
    assert (getattr(alone, which).grad.asnumpy() == getattr(together, which).grad.asnumpy()).all()
    alone.moved(1)


_BITS = """
import hashlib
import mxlite as mx
from mxlite import autograd, nd
mx.random.seed(1)
x = nd.random.normal(shape=(6, 8, 40, 41))
layer = [x, nd.ones(8), nd.zeros(8), nd.zeros(8), nd.ones(8)]
rows = [x.reshape((-1, 41)).copy(), nd.ones(41), nd.zeros(41)]
for array in layer[:3] + rows:
    array.attach_grad()
with autograd.record():
    y, z = nd.BatchNorm(*layer, fix_gamma=False), nd.LayerNorm(*rows)
    both = [y * y, z * z]
autograd.backward(both)
found = [y, z, *layer[3:], *(array.grad for array in layer[:3] + rows)]
print(hashlib.sha256(b"".join(array.asnumpy().tobytes() for array in found)).hexdigest())
"""


def test_the_bits_depend_neither_on_threads_nor_on_vectors() -> None:
    found = set()
    for settings in ({"MXLITE_NUM_THREADS": "1"}, {"MXLITE_NUM_THREADS": "3"}, {"MXLITE_VECTOR_LEVEL": "baseline"}):
        environment = {**os.environ, **settings}
        run = subprocess.run([sys.executable, "-c", _BITS], env=environment, capture_output=True, text=True, check=True)
        found.add(run.stdout)
    assert len(found) == 1
