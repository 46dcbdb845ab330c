"""Gradients that are defined, said in NumPy: where 1.9.1 is no witness, and that they can be differentiated again."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd


def _softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    power = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf))
    return power / power.sum(axis=axis, keepdims=True)


def _gradient(name: str, x: np.ndarray, label: np.ndarray, head: np.ndarray | None = None, **params) -> np.ndarray:
    data, target = nd.array(x, dtype=x.dtype), nd.array(label, dtype=x.dtype)
    data.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(data, target, **params)
    y.backward(None if head is None else nd.array(head, dtype=x.dtype))
    return data.grad.asnumpy()


X = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 5.0]])
HEAD = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, 7.0]])


def test_out_grad_multiplies_with_what_arrives() -> None:
    chances = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    away = _softmax(X) - np.eye(3)[[2, 0]]
    got = _gradient("SoftmaxOutput", X, np.array([2, 0]), HEAD, out_grad=True, grad_scale=2.0)
    np.testing.assert_allclose(got, 2 * away * HEAD, rtol=1e-12)
    got = _gradient("SoftmaxOutput", X, np.array([2, 0]), HEAD, grad_scale=2.0)
    np.testing.assert_allclose(got, 2 * away, rtol=1e-12)
    got = _gradient("SoftmaxOutput", X, chances, HEAD, out_grad=True)
    np.testing.assert_allclose(got, (_softmax(X) - chances) * HEAD, rtol=1e-12)


def test_a_vector_is_one_row() -> None:
    x, label = np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 0.0])
    np.testing.assert_allclose(_gradient("SoftmaxOutput", x, label), _softmax(x) - label, rtol=1e-12)
    with mx.np_shape(True):
        np.testing.assert_allclose(_gradient("SoftmaxOutput", x, np.array(1.0)), _softmax(x) - label, rtol=1e-12)


@pytest.mark.parametrize("normalization", ["null", "batch", "valid"])
def test_all_axes_but_the_first_are_classes(normalization: str) -> None:
    x = np.arange(24.0).reshape(2, 3, 4) % 5
    y = nd.SoftmaxOutput(nd.array(x, dtype="float64"), nd.array([2, 11], dtype="float64")).asnumpy()
    np.testing.assert_allclose(y, _softmax(x.reshape(2, 12)).reshape(x.shape), rtol=1e-12)
    wanted = (_softmax(x.reshape(2, 12)) - np.eye(12)[[2, 11]]).reshape(x.shape)
    got = _gradient("SoftmaxOutput", x, np.array([2, 11]), normalization=normalization)
    np.testing.assert_allclose(got, wanted / (1 if normalization == "null" else 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "shape", "label", "params"),
    [
        ("SoftmaxOutput", (0, 3), (0,), {"normalization": "batch"}),
        ("SoftmaxOutput", (0, 3), (0,), {"normalization": "valid"}),
        ("SoftmaxOutput", (2, 0), (2,), {}),
        ("SoftmaxOutput", (0, 3, 2), (0, 2), {"multi_output": True}),
        ("SoftmaxOutput", (2, 3, 0), (2, 0), {"multi_output": True}),
        ("SoftmaxOutput", (0, 3, 4), (0, 3), {"preserve_shape": True}),
        ("LinearRegressionOutput", (0, 3), (0, 3), {}),
        ("LogisticRegressionOutput", (0, 3), (0, 3), {}),
        ("MAERegressionOutput", (0, 3), (0, 3), {}),
        ("softmax_cross_entropy", (0, 3), (0,), {}),
    ],
)
def test_gradients_of_what_is_empty(name: str, shape: tuple, label: tuple, params: dict) -> None:
    with mx.np_shape(True):
        assert _gradient(name, np.zeros(shape), np.zeros(label), **params).shape == shape


def test_the_entropy_of_labels_out_of_range_is_that_of_the_nearest_class() -> None:
    near = _gradient("softmax_cross_entropy", X, np.array([2.0, 0.0]))
    np.testing.assert_allclose(near, _softmax(X) - np.eye(3)[[2, 0]], rtol=1e-12)
    np.testing.assert_array_equal(_gradient("softmax_cross_entropy", X, np.array([3.0, -1.0])), near)
    np.testing.assert_array_equal(_gradient("softmax_cross_entropy", X, np.array([np.inf, np.nan])), near)


def test_labels_have_no_gradient() -> None:
    for name in ("SoftmaxOutput", "softmax_cross_entropy"):
        x, label = nd.array(X), nd.array([2.0, 0.0])
        label.attach_grad()
        x.attach_grad()
        with autograd.record():
            y = getattr(nd, name)(x, label)
        y.backward()
        assert label.grad.asnumpy().tolist() == [0.0, 0.0] and x.grad.asnumpy().any()


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SoftmaxOutput", {}),
        ("SoftmaxOutput", {"normalization": "batch", "grad_scale": 3.0, "smooth_alpha": 0.25}),
        ("SoftmaxOutput", {"use_ignore": True, "ignore_label": 0, "normalization": "valid"}),
        ("LinearRegressionOutput", {"grad_scale": 2.0}),
        ("LogisticRegressionOutput", {"grad_scale": 2.0}),
        ("MAERegressionOutput", {}),
    ],
)
def test_second_derivatives_are_those_of_the_first(name: str, params: dict) -> None:
    """Whatever a rule defines can be differentiated as the formula that it is."""
    label = np.array([2.0, 0.0]) if name == "SoftmaxOutput" else np.array([[0.5, 1.0, 2.0], [0.0, 9.0, -1.0]])
    weight, h = np.array([[1.0, 3.0, -2.0], [0.5, -1.0, 2.0]]), 1e-5
    x = nd.array(X, dtype="float64")
    x.attach_grad()
    with autograd.record():
        y = getattr(nd, name)(x, nd.array(label, dtype="float64"), **params)
        (first,) = autograd.grad(y, [x], create_graph=True)
        total = (first * nd.array(weight, dtype="float64")).sum()
    total.backward()
    got = x.grad.asnumpy()
    for place in np.ndindex(X.shape):
        step = np.zeros(X.shape)
        step[place] = h
        high, low = (_gradient(name, X + sign * step, label, **params) for sign in (1, -1))
        np.testing.assert_allclose(got[place], ((high - low) * weight).sum() / (2 * h), rtol=1e-6, atol=1e-8)


def test_losses_are_constant_slopes() -> None:
    for name in ("make_loss", "MakeLoss"):
        x = nd.array(X)
        x.attach_grad()
        with autograd.record():
            y = getattr(nd, name)(x * x)
        y.backward(nd.array(HEAD))
        assert x.grad.asnumpy().tolist() == (2 * X).tolist()


def test_scales_are_double() -> None:
    for name, wanted in (("LinearRegressionOutput", X - HEAD), ("MAERegressionOutput", np.where(X > HEAD, 1.0, -1.0))):
        np.testing.assert_allclose(_gradient(name, X, HEAD, grad_scale=0.1), wanted * 0.1 / 3, rtol=1e-15)


def test_ctc_without_a_path() -> None:
    data = mx.nd.array(np.arange(12, dtype="float32").reshape(2, 2, 3))
    data.attach_grad()
    with autograd.record():
        loss = mx.nd.CTCLoss(data, mx.nd.array([[1, 0], [1, 2]]), mx.nd.array([2, 2]), use_label_lengths=True)
    loss.backward()
    assert loss[0].asscalar() == np.inf
    assert np.isfinite(loss[1].asscalar())
    assert not data.grad[:, 0].asnumpy().any()
    assert data.grad[:, 1].asnumpy().all()


def test_ctc_of_blank_labels_in_gluon_and_symbols() -> None:
    labels, counts = mx.nd.array([[2, 1, 2, 2], [3, 2, 2, 2]]), mx.nd.array([2, 3])
    loss = mx.gluon.loss.CTCLoss()(mx.nd.ones((2, 20, 4)), labels, None, counts).asnumpy()
    np.testing.assert_allclose(loss, [18.82820702, 16.50581741], rtol=1e-5)  # as 1.9.1's
    x, label, count = map(mx.sym.var, "xlc")
    made = mx.sym.CTCLoss(x, label, label_lengths=count, use_label_lengths=True, blank_label="last")
    bound = made.bind(mx.cpu(), {"x": mx.nd.ones((20, 2, 4)), "l": labels, "c": counts})
    np.testing.assert_allclose(bound.forward()[0].asnumpy(), loss, rtol=1e-6)
