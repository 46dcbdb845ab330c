"""Gradients of products: each is the product of the other elements, whatever these are. 1.9.1 divides the result by the
element, which is NaN for 0 and infinite ones."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite.ndarray._generate import make_function

INF, NAN = np.inf, np.nan
VALUES = {
    "zero": [[4, 0]],
    "zeros": [[0, 0]],
    "negative": [[-1, 2, 0], [3, -4, 5]],
    "infinite": [[INF, 0, 2], [1, -INF, 1]],
    "nan": [[NAN, 0, 2], [1, NAN, 1]],
    "one": [[0]],
    "underflow": [[2.0**-20, 2.0**-20, 2.0**-5]],
    "overflow": [[2.0**14, 2.0**10, 2.0**-12]],
    "nothing": np.ones((2, 0)),
}
AXES = (None, 0, 1, -1, (0, 1), (1, 0))


def others(a: np.ndarray, axis: object) -> np.ndarray:
    """The product of all elements that are reduced with each one, but of itself."""
    axes = tuple(range(a.ndim)) if axis is None else tuple(k % a.ndim for k in np.atleast_1d(axis))
    found = np.zeros(a.shape)
    for place in np.ndindex(a.shape):
        rest = a.astype("float64").copy()
        rest[place] = 1
        found[place] = rest[tuple(slice(None) if k in axes else place[k] for k in range(a.ndim))].prod()
    return found


def gradient(op: str, a: np.ndarray, **params: object) -> np.ndarray:
    with mx.np_shape(True):
        x = mx.nd.array(a, dtype=a.dtype)
        x.attach_grad()
        with mx.autograd.record():
            made = make_function(op)(x, **params)
        made.backward()
        return x.grad.asnumpy()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("label", VALUES)
def test_the_product_of_the_others(label: str, dtype: str) -> None:
    a = np.array(VALUES[label], dtype)
    for axis in AXES:
        params = {} if axis is None else {"axis": axis}
        with np.errstate(all="ignore"):
            numbers = np.where(np.isnan(a), np.array(1, dtype), a)
            wanted = others(a, axis).astype(dtype)
            nan_wanted = np.where(np.isnan(a), 0, others(numbers, axis)).astype(dtype)
        for keep in (False, True):
            np.testing.assert_array_equal(gradient("prod", a, keepdims=keep, **params), wanted)
            np.testing.assert_array_equal(gradient("nanprod", a, keepdims=keep, **params), nan_wanted)
            np.testing.assert_array_equal(gradient("_np_prod", a, keepdims=keep, **params), wanted)


def test_integers() -> None:
    a = np.array([[3, 0, 5], [2, 2, 7]], "int32")
    np.testing.assert_array_equal(gradient("prod", a, axis=1), others(a, 1))


def test_symbols() -> None:
    made = mx.sym.prod(mx.sym.var("d"), axis=1)
    bound = made.bind(mx.cpu(), {"d": mx.nd.array([[4, 0]])}, {"d": mx.nd.array([[9, 9]])})
    bound.forward(is_train=True)
    bound.backward(mx.nd.ones(1))
    assert bound.grad_dict["d"].asnumpy().tolist() == [[0, 4]]


@pytest.mark.parametrize("label", VALUES)
def test_torch(label: str) -> None:
    a = np.array(VALUES[label], "float64")
    for dim in (None, 0, 1):
        x = torch.tensor(a, requires_grad=True)
        (x.prod() if dim is None else x.prod(dim)).sum().backward()
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(x.grad.numpy(), others(a, dim))


def test_third_derivative() -> None:
    x = torch.tensor([2.0, 0.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    (second,) = torch.autograd.grad(first[1], x, create_graph=True)
    (third,) = torch.autograd.grad(second[2], x)
    assert third.tolist() == [0, 0, 0, 2]
