"""`x @ y`, which MXNet 1.9.1 does not have: np.matmul, with gradients of every order."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

SHAPES = [
    ((2, 3), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 5, 2, 3), (4, 1, 3, 2)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (3,)),
    ((2, 0), (0, 3)),
    ((0, 2), (2, 3)),
]


def _values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return np.random.RandomState(len(shape)).randint(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_shapes(left: tuple[int, ...], right: tuple[int, ...], dtype: str) -> None:
    x, y = _values(left, dtype), _values(right, dtype)
    made = nd.array(x, dtype=dtype) @ nd.array(y, dtype=dtype)
    wanted = np.matmul(x, y)
    assert isinstance(made, nd.NDArray) and (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
    assert (made.asnumpy() == wanted).all()


def test_vectors() -> None:
    x = nd.array([1, 2, 3])
    assert (x @ x).shape == (1,) and (x @ x).asscalar() == 14
    with mx.np_shape():
        assert (x @ x).shape == ()


def test_numpys_arrays() -> None:
    x, values = nd.array([[1, 2], [3, 4]]), np.array([[1, 0], [2, 1]])
    for made, wanted in ((x @ values, x.asnumpy() @ values), (values @ x, values @ x.asnumpy())):
        assert isinstance(made, nd.NDArray) and (made.asnumpy() == wanted).all()
    assert isinstance(np.matmul(values, x), nd.NDArray)


def test_gradients() -> None:
    x, y = nd.array([[1, 2, 3], [4, 5, 6]]), nd.array([[1, -1], [2, 0], [0, 3]])
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        loss = ((x @ y) ** 2).sum()
        (first,) = autograd.grad(loss, [x], create_graph=True)
        second = (first**2).sum()
    second.backward()
    a, b = x.asnumpy(), y.asnumpy()
    assert np.allclose(first.asnumpy(), 2 * a @ b @ b.T)
    assert np.allclose(x.grad.asnumpy(), 8 * a @ b @ b.T @ b @ b.T)
    inputs = [nd.random.normal(shape=shape, dtype="float64") for shape in ((2, 3), (4, 3, 2))]
    for each in inputs:
        each.attach_grad()
    assert autograd.gradcheck(lambda p, q: p @ q, inputs) and autograd.gradgradcheck(lambda p, q: p @ q, inputs)


def test_what_is_refused() -> None:
    x, whole = nd.ones((2, 3)), nd.ones((3, 2), dtype="int32")
    for call in (lambda: x @ 2, lambda: 2 @ x, lambda: x @ [1, 2, 3], lambda: x @ np.ones((3, 2)) @ "a"):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: x @ x, lambda: x @ whole, lambda: whole @ whole):
        with pytest.raises((mx.MXNetError, ValueError)):
            call()
    whole.attach_grad()
    with autograd.record(), pytest.raises(TypeError, match="no gradient"):
        _ = whole @ nd.ones((2, 1), dtype="int32")


def test_symbols() -> None:
    product = mx.sym.var("a") @ mx.sym.var("b")
    assert product.name.startswith("matmul") and product.infer_shape(a=(4, 2, 3), b=(3, 5))[1] == [(4, 2, 5)]
    a, b = nd.array([[1, 2]]), nd.array([[3], [4]])
    assert product.eval(a=a, b=b)[0].asnumpy().tolist() == [[11]]
    with pytest.raises(TypeError, match="takes symbols"):
        mx.sym.var("a") @ 2


def test_in_a_hybrid_block() -> None:
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, y):  # noqa: ANN001, ANN201, N803
            return x @ y

    net, x, y = Net(), nd.ones((2, 3)), nd.ones((3, 2))
    plain = net(x, y).asnumpy()
    net.hybridize()
    assert (net(x, y).asnumpy() == plain).all() and plain.tolist() == [[3, 3], [3, 3]]
