"""What the case table cannot say of images and boxes: gradients of random operators and of to_tensor, seeds."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd


def _pixels(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).randint(0, 256, shape).astype("float32")


@pytest.mark.parametrize("shape", [(4, 5, 3), (2, 3, 2, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_to_tensor_is_differentiable(shape: tuple, dtype: str) -> None:
    x = nd.array(_pixels(*shape), dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.image.to_tensor(x)
        (first,) = autograd.grad(y * y, [x], create_graph=True)
        first.sum().backward()
    plain = nd.image.to_tensor(nd.array(_pixels(*shape), dtype=dtype))
    np.testing.assert_array_equal(y.asnumpy(), plain.asnumpy())
    np.testing.assert_allclose(first.asnumpy(), 2 * x.asnumpy() / 255**2, rtol=2e-3 if dtype == "float16" else 1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), np.full(shape, 2 / 255**2), rtol=2e-2 if dtype == "float16" else 1e-5)


@pytest.mark.parametrize(("name", "axis"), [("left_right", 1), ("top_bottom", 0)])
def test_random_flips(name: str, axis: int) -> None:
    """Half of the images, the same ones for the same seed; the gradient is flipped back."""
    image, flips = _pixels(3, 4, 3), []
    head = _pixels(4, 4, 3)[:3]
    mx.random.seed(5)
    for _ in range(400):
        x = nd.array(image)
        x.attach_grad()
        with autograd.record():
            y = getattr(nd.image, f"random_flip_{name}")(x)
        y.backward(nd.array(head))
        flips.append(bool((y.asnumpy() != image).any()))
        np.testing.assert_array_equal(x.grad.asnumpy(), np.flip(head, axis) if flips[-1] else head)
    assert 150 < sum(flips) < 250
    mx.random.seed(5)
    again = [getattr(nd.image, f"random_flip_{name}")(nd.array(image)).asnumpy() for _ in range(20)]
    assert [bool((each != image).any()) for each in again] == flips[:20]


def _factors(name: str, count: int = 400, **params: float) -> np.ndarray:
    """What an image of one gray pixel was multiplied with."""
    x = nd.array(np.full((1, 1, 3), 64.0))
    return np.array([getattr(nd.image, name)(x, **params).asnumpy()[0, 0, 0] / 64 for _ in range(count)])


def test_random_factors_are_even() -> None:
    drawn = _factors("random_brightness", min_factor=0.5, max_factor=2.5)
    assert drawn.min() > 0.499 and drawn.max() < 2.501
    assert abs(drawn.mean() - 1.5) < 0.15 and abs(drawn.std() - 2 / np.sqrt(12)) < 0.08
    drawn = _factors("random_color_jitter", brightness=0.5, contrast=0, saturation=0, hue=0)
    assert 0.499 < drawn.min() < 0.6 and 1.4 < drawn.max() < 1.501 and abs(drawn.mean() - 1) < 0.08


def test_random_lighting_is_normal() -> None:
    drawn = (_factors("random_lighting", alpha_std=0.1) - 1) * 64
    assert abs(drawn.mean()) < 0.6 and abs(drawn.std() - np.hypot(np.hypot(3.1474, 0.3448), 0.046)) < 0.5


def test_color_jitter_does_all_four() -> None:
    """Each aspect alone changes a colour; together they do so in any order."""
    x = nd.array(_pixels(4, 4, 3))
    for name in ("brightness", "contrast", "saturation", "hue"):
        most = {each: 0.4 * (each == name) for each in ("brightness", "contrast", "saturation", "hue")}
        assert (nd.image.random_color_jitter(x, **most).asnumpy() != x.asnumpy()).any(), name


@pytest.mark.parametrize("linear", [False, True])
def test_svm_output_is_differentiated_twice(linear: bool) -> None:
    """The first gradient by its formula, the second is the derivative of that."""
    x, label = nd.array([[1.0, 2.0, -0.5], [0.3, -2.0, 0.7]], dtype="float64"), nd.array([2, 0], dtype="float64")
    sign = np.array([[1.0, 1, -1], [-1, 1, 1]])
    inside = np.maximum(0.5 + sign * x.asnumpy(), 0)
    x.attach_grad()
    with autograd.record():
        y = nd.SVMOutput(x, label, margin=0.5, regularization_coefficient=3, use_linear=linear)
        (first,) = autograd.grad(y, [x], create_graph=True)
        first.backward()
    wanted = 3 * sign * ((inside > 0) if linear else 2 * inside)
    np.testing.assert_allclose(first.asnumpy(), wanted)
    np.testing.assert_allclose(x.grad.asnumpy(), 0 * inside if linear else 6.0 * (inside > 0))
