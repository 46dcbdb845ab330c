"""Executors bound to arrays: what a backward takes, needs, and writes to."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx

a, b = mx.sym.var("a"), mx.sym.var("b")


def ramp(*shape: int, dtype: str = "float32") -> mx.nd.NDArray:
    return mx.nd.array(np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape), dtype=dtype)


def bound(symbol, req="write", **buffers):
    """An executor over ramps of shape (2, 3), and its gradients: `buffers`, or zeros like the arguments."""
    arguments = {name: ramp(2, 3) for name in symbol.list_arguments()}
    grads = {name: buffers.get(name, mx.nd.zeros((2, 3))) for name in arguments}
    return symbol.bind(mx.cpu(), arguments, args_grad=grads, grad_req=req), grads


def test_backward_without_a_forward():
    executor, grads = bound(mx.sym.exp(a) * b)
    executor.backward(mx.nd.ones((2, 3)))
    assert np.allclose(grads["b"].asnumpy(), np.exp(ramp(2, 3).asnumpy()))
    executor.arg_dict["a"][:] = 0
    executor.backward(mx.nd.ones((2, 3)))
    assert grads["b"].asnumpy().tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int8"])
@pytest.mark.parametrize("shape", [(2, 3), (6,), (3, 1, 2)])
@pytest.mark.parametrize("req", ["write", "add"])
def test_gradients_go_to_arrays_of_another_kind(dtype, shape, req):
    buffer = mx.nd.ones(shape, dtype=dtype)
    executor, _ = bound(mx.sym.square(a), req, a=buffer)
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(ramp(2, 3))
    expected = 2 * np.arange(1, 7) ** 2 * (2 if req == "add" else 1) + (req == "add")
    assert buffer.dtype == np.dtype(dtype)
    assert buffer.asnumpy().ravel().tolist() == expected.astype(dtype).tolist()


@pytest.mark.parametrize("shape", [(1,), (7,), (2, 2)])
def test_gradients_have_as_many_elements(shape):
    with pytest.raises(mx.MXNetError, match="a has shape"):
        bound(mx.sym.square(a), a=mx.nd.zeros(shape))


def test_heads_that_nobody_reads():
    """Losses and zero derivatives take any head gradient, and heads beyond the outputs are not looked at."""
    for symbol, expected in ((mx.sym.MakeLoss(a), 1), (mx.sym.BlockGrad(a), 0), (mx.sym.floor(a), 0)):
        executor, grads = bound(symbol)
        executor.forward(is_train=True)
        executor.backward([ramp(7), ramp(1)])
        assert grads["a"].asnumpy().tolist() == [[expected] * 3] * 2
    executor, _ = bound(mx.sym.square(a))
    with pytest.raises(mx.MXNetError, match=r"head gradient 0 has shape \(7,\)"):
        executor.backward([ramp(7)])


def test_heads_of_softmax_output():
    executor = mx.sym.SoftmaxOutput(a, b, out_grad=True).simple_bind(mx.cpu(), a=(2, 3), b=(2,))
    found = []
    for factor in (1, 2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones((2, 3)) * factor)
        found.append(executor.grad_dict["a"].asnumpy())
    assert np.allclose(2 * found[0], found[1]) and found[0].any()
    with pytest.raises(mx.MXNetError, match="head gradient 0"):
        executor.backward(ramp(7))


def test_added_gradients_of_a_sum():
    executor, grads = bound(a + b, "add")
    executor.forward(is_train=True)
    for _ in range(3):
        executor.backward(ramp(2, 3))
    assert all((grad == 3 * ramp(2, 3)).asnumpy().all() for grad in grads.values())
