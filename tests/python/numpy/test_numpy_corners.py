"""Corners of NumPy operators beside 1.9.1: parts of nothing, extents that are kept, gradients of integers and bool."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd


@pytest.fixture(autouse=True)
def numpy_mode():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


def ramp(*shape: int, dtype: str = "float32"):
    return mx.np.array(np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape), dtype=dtype)


def gradient(function, x, req: str = "write", times: int = 1):
    x.attach_grad(req)
    for _ in range(times):
        with autograd.record():
            y = function(x)
        y.backward()
    return x.grad


@pytest.mark.parametrize("at", [[1], [5], [1, 3], [7, 2]])
@pytest.mark.parametrize("shape", [(0,), (0, 4), (2, 0)])
def test_positions_in_an_empty_axis(shape, at):
    axis = shape.index(0)
    parts = mx.np.split(mx.np.zeros(shape), at, axis=axis)
    assert [part.shape for part in parts] == [shape] * (len(at) + 1)
    assert mx.np.delete(mx.np.zeros(shape), mx.np.array(at, dtype="int64"), axis=axis).shape == shape


def test_positions_beyond_an_axis_with_elements():
    with pytest.raises(mx.MXNetError, match="a part from"):
        mx.np.split(ramp(4), [5])
    with pytest.raises(mx.MXNetError, match="position 5"):
        mx.np.delete(ramp(4), mx.np.array([5], dtype="int64"))


def test_deleting_from_a_number():
    assert mx.np.delete(mx.np.array(3.0), 5, axis=0).item() == 3


@pytest.mark.parametrize(
    ("shape", "to", "result"),
    [
        ((3,), (2, -2), (2, 3)),
        ((1, 3), (4, -2, -2), (4, 1, 3)),
        ((2, 1), (5, -2, 4), (5, 2, 4)),
        ((0,), (2, -2), (2, 0)),
    ],
)
def test_broadcast_keeps_an_extent(shape, to, result):
    x = ramp(*shape)
    assert mx.np.broadcast_to(x, to).shape == result
    assert (gradient(lambda a: mx.np.broadcast_to(a, to), x) * max(x.size, 1) == max(np.prod(result), 1)).all()
    symbol = mx.sym.var("x").as_np_ndarray()
    assert mx.sym.np.broadcast_to(symbol, to).infer_shape(x=shape)[1] == [result]


@pytest.mark.parametrize(("shape", "to"), [((3,), (-2, 3)), ((), (-2,)), ((3,), (-1, 3)), ((3,), (2, -3))])
def test_broadcast_has_no_extent_to_keep(shape, to):
    with pytest.raises(mx.MXNetError):
        mx.np.broadcast_to(ramp(*shape), to)


def test_one_equation():
    assert mx.np.linalg.tensorsolve(mx.np.array(2.0), mx.np.array([3.0])).item() == 1.5
    assert mx.np.linalg.tensorsolve(mx.np.array(2.0), mx.np.array([3.0])).shape == ()


@pytest.mark.parametrize("text", ["a + x", "x - a", "x * a", "x / a", "x ** a", "x % a"])
def test_no_gradient_flows_to_integers_beside_numbers(text):
    a, x = ramp(3, dtype="int32"), ramp(3)
    x.attach_grad()
    assert not gradient(lambda a: eval(text, {"a": a, "x": x}), a).any()
    assert x.grad.any()


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8"])
def test_gradients_of_functions_of_integers(dtype):
    """Zero where they are so in 1.9.1; else computed as of floating numbers, and cut."""
    x = lambda: ramp(4, dtype=dtype)  # noqa: E731
    for zero in (lambda a: a % 2, lambda a: 7 % a, lambda a: mx.np.hypot(a, 2), mx.np.around, mx.np.arcsinh):
        assert not gradient(zero, x()).any()
    assert gradient(lambda a: 2**a, x()).tolist() == [int(2**n * np.log(2)) for n in (1, 2, 3, 4)]
    assert gradient(mx.npx.gammaln, x()).tolist() == [0, 0, 0, 1]
    assert gradient(lambda a: mx.np.power(a, ramp(4, dtype=dtype)), x()).tolist()[:3] == [1, 4, 27]


@pytest.mark.parametrize("req", ["write", "add"])
def test_gradients_of_bool(req):
    for function in (mx.np.ravel, lambda x: mx.np.expand_dims(x, 0), lambda x: mx.np.concatenate([x, x])):
        found = gradient(function, mx.np.array([[True, False]], dtype=bool), req, times=2)
        assert found.dtype == bool and found.all()
    assert not gradient(mx.np.logical_not, mx.np.array([True, False], dtype=bool), req, times=2).any()


def test_the_mean_of_integers_wraps_in_their_dtype():
    values = [[100, 100, 27], [120, -128, 127]]
    x = mx.np.array(values, dtype="int8")
    assert mx.np.mean(x, dtype="int8").item() == 15 and mx.np.mean(x, axis=1, dtype="int8").tolist() == [-9, 39]
    assert mx.np.average(x).item() == 15
    assert mx.np.mean(x, dtype="int32").item() == 57 and mx.np.mean(x).dtype == np.float32
    many = mx.np.ones((1000,), dtype="int8")
    assert mx.np.mean(many, dtype="int8").item() == 0 and mx.np.mean(many, dtype="int64").item() == 1


def test_added_gradients():
    functions = [mx.np.copy, lambda x: x.astype("float64"), lambda x: mx.np.flip(x, 0), mx.np.rot90]
    for function in [*functions, lambda x: mx.np.split(x, 1)[0]]:
        assert gradient(function, ramp(2, 3), "add", times=3).tolist() == [[3] * 3] * 2
