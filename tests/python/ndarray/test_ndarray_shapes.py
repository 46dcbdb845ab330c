"""NDArray's methods and `mx.nd` functions that move axes and make numbers in a row."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def same(array, wanted) -> None:
    wanted = np.asarray(wanted)
    got = array.asnumpy()
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def test_arange() -> None:
    same(nd.arange(5), np.arange(5, dtype="float32"))
    same(nd.arange(2, 5, dtype="int32"), np.arange(2, 5, dtype="int32"))
    same(nd.arange(0, 2, 0.5, repeat=2), np.repeat(np.arange(0, 2, 0.5, dtype="float32"), 2))
    same(nd.arange(3, dtype=None), np.arange(3, dtype="float64"))
    with pytest.raises(mx.MXNetError):
        nd.arange(5, 1)
    with pytest.raises(mx.MXNetError):
        nd.arange(5, ctx=mx.gpu(0))


def test_linspace_and_eye() -> None:
    same(nd.linspace(0, 1, 3), np.array([0, 0.5, 1], "float32"))
    same(nd.linspace(0, 1, 4, endpoint=False, dtype=np.float64), np.linspace(0, 1, 4, False))
    same(nd.eye(2), np.eye(2, dtype="float32"))
    same(nd.eye(2, 3, 1, dtype="int32"), np.eye(2, 3, 1, dtype="int32"))
    out = nd.ones((2, 2))
    assert nd.eye(2, out=out) is out
    same(out, np.eye(2, dtype="float32"))


def test_methods_of_one_operator() -> None:
    x = nd.array(X)
    same(x.expand_dims(1), X[:, None])
    same(x.expand_dims(-1), X[..., None])
    same(x.expand_dims(0).squeeze(), X)
    same(x.expand_dims(0).squeeze(axis=0), X)
    same(x.flatten(), X.reshape(2, 12))
    same(x.tile((1, 2, 1)), np.tile(X, (1, 2, 1)))
    same(x.repeat(2, axis=1), np.repeat(X, 2, axis=1))
    same(x.flip(axis=1), X[:, ::-1])
    same(x.swapaxes(0, 2), X.swapaxes(0, 2))
    same(x.slice_axis(axis=2, begin=1, end=None), X[:, :, 1:])
    same(x.slice_like(nd.ones((1, 2, 3))), X[:1, :2, :3])
    same(x.reshape_like(nd.ones((6, 4))), X.reshape(6, 4))
    same(x[0].diag(), np.diag(X[0]))
    same(x.min(), X.min().reshape(1))
    same(x.prod(axis=2), X.prod(axis=2))
    same(x.nansum(axis=0), X.sum(axis=0))
    same(x.argmin(axis=2), np.zeros((2, 3), "float32"))
    same(nd.stack(x, x, axis=1), np.stack([X, X], axis=1))
    same(nd.cumsum(x, axis=1), X.cumsum(axis=1))
    np.testing.assert_allclose(x.norm().asscalar(), np.linalg.norm(X), rtol=1e-6)
    mean, variance = nd.moments(x, axes=(0, 1, 2))
    np.testing.assert_allclose([mean.asscalar(), variance.asscalar()], [X.mean(), X.var()], rtol=1e-6)


@pytest.mark.parametrize("method", ["expand_dims", "squeeze", "flatten"])
def test_inplace_shares_memory(method: str) -> None:
    x = nd.array(X[:, :1])
    y = x.expand_dims(1, inplace=True) if method == "expand_dims" else getattr(x, method)(inplace=True)
    assert y.shape == {"expand_dims": (2, 1, 1, 4), "squeeze": (2, 4), "flatten": (2, 4)}[method]
    assert x.shape == (2, 1, 4)
    y[:] = 7
    assert (x.asnumpy() == 7).all()


def test_inplace_refuses() -> None:
    with pytest.raises(ValueError):
        nd.array(X).squeeze(axis=1, inplace=True)
    with pytest.raises(ValueError):
        nd.array(X).expand_dims(5, inplace=True)


def test_broadcast_to() -> None:
    row = nd.array([1, 2, 3])
    same(row.broadcast_to((2, 3)), np.array([[1, 2, 3]] * 2, "float32"))
    same(row.broadcast_like(nd.ones((2, 3))), np.array([[1, 2, 3]] * 2, "float32"))
    same(nd.array([[1], [2]]).broadcast_to((0, 2)), np.array([[1, 1], [2, 2]], "float32"))
    for shape in ((2, 2), (), (3, 2)):
        with pytest.raises(ValueError):
            row.broadcast_to(shape)
    row.attach_grad()
    with autograd.record():
        wide = row.broadcast_to((4, 3))
    wide.backward()
    same(row.grad, np.full(3, 4, "float32"))


def test_split_v2() -> None:
    x = nd.array(X)
    for parts, wanted in (
        (nd.split_v2(x, 2, axis=2), np.split(X, 2, 2)),
        (x.split_v2((1, 3), axis=2), np.split(X, (1, 3), 2)),
        (nd.split_v2(x, 2, squeeze_axis=True), [X[0], X[1]]),
    ):
        assert len(parts) == len(wanted)
        for one, two in zip(parts, wanted):
            same(one, two)
    same(nd.split_v2(x, 1), X)
    for what in (5, [1], "a"):
        with pytest.raises(ValueError):
            nd.split_v2(x, what)


def test_moveaxis() -> None:
    x = nd.array(X)
    for source, destination in ((0, -1), ((0, 1), (2, 0)), (-1, 0), ((2, 0), (0, 1))):
        same(nd.moveaxis(x, source, destination), np.moveaxis(X, source, destination))
    for source, destination in ((0, 5), ((0, 1), (2,)), ((0, 0), (2, 1)), (-4, 0)):
        with pytest.raises(ValueError):
            nd.moveaxis(x, source, destination)


def test_histogram() -> None:
    values = np.array([1, 2, 3, 4, 5], "float32")
    x = nd.array(values)
    for bins, limits in ((4, None), (4, (0, 8)), (np.array([0, 2, 5], "float32"), None)):
        given = nd.array(bins) if isinstance(bins, np.ndarray) else bins
        counts, bounds = nd.histogram(x, given, limits)
        wanted, edges = np.histogram(values, bins, limits)
        same(counts, wanted.astype("int64"))
        same(bounds, edges.astype("float32"))
    with pytest.raises(ValueError):
        nd.histogram(x, [0, 2])


@pytest.mark.parametrize("shape", [(0, 2**61), (2**62, 4, 0), (2**40, 0, 2**40)])
def test_extents_whose_product_is_no_size(shape: tuple) -> None:
    """As in NumPy: of an empty array too, since operators count along some of its axes."""
    with pytest.raises(ValueError):
        np.zeros(shape)
    with mx.np_shape():
        with pytest.raises(mx.MXNetError, match="too many elements"):
            nd.zeros(shape)
        assert nd.zeros(tuple(min(n, 2**20) for n in shape)).size == 0


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("shape", [(3, 700, 2, 3), (2, 3, 150, 250), (5, 61, 4, 7, 9)])
def test_pad_of_many_planes(mode: str, shape: tuple) -> None:
    """More than are made together, and planes larger than that."""
    rims = [(0, 0), (0, 0), *[(1, axis % 2) for axis in range(2, len(shape))]]
    values = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    got = nd.pad(nd.array(values), mode=mode, pad_width=tuple(sum(rims, ())), constant_value=-1)
    same(got, np.pad(values, rims, mode, **({"constant_values": -1} if mode == "constant" else {})))


# ---- arrays of one element as Python's numbers ----


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "uint8", "int64"])
def test_a_sum_is_a_number(dtype: str) -> None:
    """A sum has shape (1,), which NumPy's arrays from 2.4 on do not turn into numbers."""
    for x in (nd.array([1, 2], dtype=dtype).sum(), nd.array([[3]], dtype=dtype), nd.array([3], dtype=dtype)[0]):
        assert (float(x), int(x), complex(x), round(x), round(x, 1), math.trunc(x)) == (3, 3, 3, 3, 3, 3)
        assert (math.sqrt(x), math.floor(x), math.ceil(x), math.isnan(x)) == (3**0.5, 3, 3, False)
        assert f"{float(x):.3f} {x:.3f}" == "3.000 3.000" and "%.3f %d" % (x, x) == "3.000 3"  # noqa: UP031
        assert "{:.3f}".format(x) == "%.3f" % x.mean().asscalar() == "3.000"  # noqa: UP031, UP032
        assert np.float64(x) == 3 and np.float32(x.asscalar()) == 3
        values = np.zeros(2)
        values[0] = x
        assert values[0] == 3
        assert not dtype.startswith(("int", "uint")) or isinstance(round(x), int)


def test_a_number_is_rounded_as_python_does() -> None:
    x = nd.array([-2.66])
    assert (round(x), round(x, 1), math.trunc(x), int(x)) == (-3, pytest.approx(-2.7), -2, -2)
    for take in (float, int, round, math.trunc, complex, lambda y: f"{y:.2f}", lambda y: "%f" % y):  # noqa: UP031
        with pytest.raises(TypeError, match="one element|unsupported|must be|not a"):
            take(nd.ones((1, 2)))
