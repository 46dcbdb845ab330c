"""What a type checker knows of mxlite: each line must be right by `mypy --strict` (tools/check_types.py)."""

from __future__ import annotations

from typing import Any, Union

import numpy as np
from typing_extensions import assert_type

import mxlite as mx
from mxlite import autograd, nd

x = nd.array([[1, 2], [3, 4]], ctx=mx.cpu(), dtype="float64")
assert_type(x, nd.NDArray)

# Functions of operators, their aliases, and the same as methods.
assert_type(nd.exp(x), nd.NDArray)
assert_type(nd.Reshape(x, shape=(-1,)), nd.NDArray)
assert_type(nd.stop_gradient(x), nd.NDArray)
assert_type(nd.concat(x, x, dim=0), nd.NDArray)
assert_type(nd.FullyConnected(x, x, no_bias=True, num_hidden=2), nd.NDArray)
assert_type(nd.sum(x, axis=(0, 1), keepdims=True), nd.NDArray)
assert_type(nd.clip(x, 0, np.float32(1)), nd.NDArray)
assert_type(nd.Activation(x, act_type="relu"), nd.NDArray)
assert_type(nd.slice(x, begin=(0, None), end=(1, None)), nd.NDArray)
assert_type(nd.op.tanh(x), nd.NDArray)
assert_type(nd.contrib.div_sqrt_dim(x), nd.NDArray)
assert_type(nd._internal._plus_scalar(x, scalar=2), nd.NDArray)
assert_type(x.exp().sum(axis=0), nd.NDArray)
assert_type(x.astype("int32"), nd.NDArray)
assert_type(x.expand_dims(axis=0).squeeze(), nd.NDArray)

# One array or several.
assert_type(nd.moments(x, axes=(0,)), list[nd.NDArray])
assert_type(nd.split(x, num_outputs=2), list[nd.NDArray])
assert_type(nd.split(x, 1), nd.NDArray)
assert_type(nd.LeakyReLU(x, slope=0.1), nd.NDArray)
assert_type(nd.LeakyReLU(x, act_type="rrelu"), list[nd.NDArray])
first, second = x.split(2)
assert_type(first, nd.NDArray)

# Arithmetic, comparisons, keys.
assert_type(x + 1, nd.NDArray)
assert_type(2.5 * x, nd.NDArray)
assert_type(-x / np.float32(2), nd.NDArray)
assert_type(x == 3, nd.NDArray)
assert_type(x * np.ones(2) > np.zeros((2, 2)), nd.NDArray)
assert_type(x[0], nd.NDArray)
assert_type(x.T, nd.NDArray)
x[0, :] = 0
x += x
for row in x:
    assert_type(row, nd.NDArray)

# Facts, NumPy, gradients.
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(x.context, mx.Context)
assert_type(len(x), int)
assert_type(x.asnumpy().tolist(), Any)
assert_type(float(x.sum()), float)
assert_type(f"{x.mean():.3f}", str)
assert_type(x.any(), bool)
np.testing.assert_allclose(np.sin(x), np.concatenate([x, x])[:2])
x.attach_grad()
with autograd.record():
    y = (x * x).sum()
y.backward()
assert_type(x.grad, Union[nd.NDArray, Any])
nd.sgd_update(x, x.grad, lr=0.1, out=x)
x[:] = x - 0.1 * x.grad
if x.grad is not None:
    x.grad[:] = 0
x.grad = None
assert_type(autograd.grad([y], [x], create_graph=True), list[nd.NDArray])
assert_type(autograd.is_recording(), bool)
assert_type(mx.random.uniform(0, 1, shape=(2,)), nd.NDArray)
mx.test_utils.assert_almost_equal(x, x)
