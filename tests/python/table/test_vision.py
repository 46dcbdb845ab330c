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
