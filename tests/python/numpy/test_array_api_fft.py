"""`mxlite.array_api.fft` beside NumPy: complex numbers are pairs; derivatives against sums over all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import mxlite as mx
from mxlite import array_api as xp
from mxlite import autograd

FROM_REAL, TO_REAL = ("rfft", "ihfft"), ("irfft", "hfft")
ALONE = "fft ifft rfft irfft hfft ihfft".split()
SEVERAL = "fftn ifftn rfftn irfftn".split()
NORMS = ("backward", "ortho", "forward")

_shapes = some.lists(some.integers(1, 12), min_size=1, max_size=3)


def _kind(name: str) -> str:
    return "real" if name.rstrip("n") in FROM_REAL else "reals" if name.rstrip("n") in TO_REAL else "pairs"


def _values(name: str, shape: tuple[int, ...], dtype: str = "float64") -> tuple[Any, numpy.ndarray]:
    """An argument of a transform, and the same for NumPy's in float64."""
    random = numpy.random.RandomState(sum(shape) + len(shape))
    if _kind(name) == "real":
        values = random.standard_normal(shape).astype(dtype)
        return xp.asarray(values), values.astype("float64")
    values = random.standard_normal((*shape, 2)).astype(dtype)
    return xp.asarray(values), values[..., 0] + 1j * values[..., 1].astype("float64")


def _compare(name: str, shape: tuple[int, ...], dtype: str = "float64", **rest: Any) -> None:
    x, other = _values(name, shape, dtype)
    found, wanted = getattr(xp.fft, name)(x, **rest), getattr(numpy.fft, name)(other, **rest)
    assert found.dtype == dtype
    if numpy.iscomplexobj(wanted):
        wanted = numpy.stack([wanted.real, wanted.imag], -1)
    assert found.shape == wanted.shape
    near = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    numpy.testing.assert_allclose(found.asnumpy(), wanted, atol=near * max(1, numpy.abs(wanted).max(initial=0)), rtol=0)


@settings(max_examples=60, deadline=None)
@given(some.data())
def test_transforms_along_one_axis(data: Any) -> None:
    shape = tuple(data.draw(_shapes))
    size = data.draw(some.none() | some.integers(1, 20))
    axis = data.draw(some.integers(-len(shape), len(shape) - 1))
    for name in ALONE:
        if size is None and shape[axis] == 1 and _kind(name) == "reals":
            continue
        _compare(name, shape, n=size, axis=axis, norm=data.draw(some.sampled_from(NORMS)))


@settings(max_examples=60, deadline=None)
@given(some.data())
def test_transforms_along_several_axes(data: Any) -> None:
    shape = tuple(size + 1 for size in data.draw(_shapes))
    axes = data.draw(some.permutations(range(-len(shape), 0)))[: data.draw(some.integers(1, len(shape)))]
    sizes = data.draw(some.none() | some.lists(some.integers(1, 9), min_size=len(axes), max_size=len(axes)))
    for name in SEVERAL:
        _compare(name, shape, axes=tuple(axes), s=sizes, norm=data.draw(some.sampled_from(NORMS)))


@pytest.mark.parametrize("name", [*ALONE, *SEVERAL])
def test_defaults_and_dtypes(name: str) -> None:
    for dtype in ("float16", "float32", "float64"):
        _compare(name, (3, 4), dtype)
    _compare(name, (0, 4), **({"axes": (1,)} if name in SEVERAL else {}))
    for n in (1, 1009, 1024, 1500, 10007):
        rest = {"s": (n,), "axes": (1,)} if name in SEVERAL else {"n": n}
        _compare(name, (2, 1500), "float32", **rest)
    if name in SEVERAL:
        (x, _), last = _values(name, (2, 3, 5)), 8 if name == "irfftn" else 5
        transform = getattr(xp.fft, name)
        assert (transform(x, s=(4, -1)).asnumpy() == transform(x, s=(4, last), axes=(-2, -1)).asnumpy()).all()


def test_strided_arrays() -> None:
    x, other = _values("fft", (5, 6, 2))
    found = xp.fft.fft(xp.permute_dims(x, (1, 0, 2, 3))[::2], axis=0).asnumpy()
    wanted = numpy.fft.fft(other.transpose(1, 0, 2)[::2], axis=0)
    numpy.testing.assert_allclose(found[..., 0] + 1j * found[..., 1], wanted, atol=1e-12)


def _inner(name: str, shape: tuple[int, ...], **rest: Any) -> None:
    """The gradient of a sum of products with weights w is the transposed matrix of the transform times w."""
    x, _ = _values(name, shape)
    x.attach_grad()
    transform = getattr(xp.fft, name)
    with autograd.record():
        out = transform(x, **rest)
        weights = xp.reshape(xp.arange(float(out.size), dtype=xp.float64), out.shape) / out.size - 0.3
        total = xp.sum(out * weights)
    total.backward()
    wanted = numpy.zeros(x.size)
    for place in range(x.size):
        one = numpy.zeros(x.size)
        one[place] = 1
        column = transform(xp.asarray(one.reshape(x.shape)), **rest)
        wanted[place] = float((column * weights).asnumpy().sum())
    numpy.testing.assert_allclose(x.grad.asnumpy().reshape(-1), wanted, atol=1e-12)


@pytest.mark.parametrize("name", [*ALONE, *SEVERAL])
@pytest.mark.parametrize("size", [None, 2, 5, 8])
def test_gradients(name: str, size: int | None) -> None:
    rest: dict[str, Any] = {"norm": "ortho"}
    if size:
        rest.update({"s": (size, 3)} if name in SEVERAL else {"n": size})
    _inner(name, (3, 6), **rest)


@pytest.mark.parametrize("name", ALONE)
def test_gradients_of_higher_orders(name: str) -> None:
    """The third derivative of the sum of cubes, against differences of the second."""
    x, _ = _values(name, (2, 5))
    x.attach_grad()
    transform = getattr(xp.fft, name)
    with autograd.record():
        cubes = xp.sum(transform(x) ** 3)
        (first,) = autograd.grad(cubes, [x], create_graph=True)
        (second,) = autograd.grad(xp.sum(first * first), [x], create_graph=True)
        third = xp.sum(second)
    third.backward()

    def value(at: numpy.ndarray) -> float:
        at = xp.asarray(at)
        at.attach_grad()
        with autograd.record():
            (one,) = autograd.grad(xp.sum(transform(at) ** 3), [at], create_graph=True)
            squares = xp.sum(one * one)
        squares.backward()
        return float(at.grad.asnumpy().sum())

    start, step = x.asnumpy(), 1e-5
    for place in ((0,) * start.ndim, (1,) * start.ndim):
        change = numpy.zeros(start.shape)
        change[place] = step
        slope = (value(start + change) - value(start - change)) / (2 * step)
        numpy.testing.assert_allclose(x.grad.asnumpy()[place], slope, rtol=1e-4, atol=1e-3)


_PAIRS, _REALS = xp.ones((4, 3, 2)), xp.ones((4, 3))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: xp.fft.fft(_REALS), ValueError, "imaginary parts.*2.*(4, 3)"),
        (lambda: xp.fft.irfft(_REALS), ValueError, "imaginary parts"),
        (lambda: xp.fft.fft(xp.asarray(1.0)), ValueError, "imaginary parts"),
        (lambda: xp.fft.fft(_PAIRS, n=0), ValueError, "1 or more, got 0"),
        (lambda: xp.fft.fft(_PAIRS, n=1.5), TypeError, "integer"),
        (lambda: xp.fft.rfft(_REALS, n=-1), ValueError, "1 or more, got -1"),
        (lambda: xp.fft.irfft(xp.ones((1, 2))), ValueError, "1 or more, got 0"),
        (lambda: xp.fft.rfft(xp.zeros((3, 0))), ValueError, "1 or more, got 0"),
        (lambda: xp.fft.fft(_PAIRS, axis=2), IndexError, "axis 2"),
        (lambda: xp.fft.rfft(xp.asarray(1.0)), IndexError, "axis -1"),
        (lambda: xp.fft.fft(_PAIRS, norm="none"), ValueError, "'backward', 'ortho' or 'forward'.*'none'"),
        (lambda: xp.fft.fftn(_PAIRS, axes=(0, -2)), ValueError, "twice"),
        (lambda: xp.fft.fftn(_PAIRS, s=(2, 2), axes=(0,)), ValueError, "2 sizes for 1 axes"),
        (lambda: xp.fft.fftn(_PAIRS, s=(2, 2, 2)), IndexError, "axis -3"),
        (lambda: xp.fft.rfftn(_REALS, axes=()), ValueError, "one axis or more"),
        (lambda: xp.fft.rfft(xp.ones(3, dtype=xp.int32)), TypeError, "floating-point"),
        (lambda: xp.fft.fft(numpy.ones((3, 2))), TypeError, "array of mx.np"),
    ],
)
def test_errors(call: Callable[[], Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words.replace("(4, 3)", r"\(4, 3\)")):
        call()


def test_no_axes_and_nan() -> None:
    assert xp.fft.fftn(_PAIRS, axes=()).asnumpy().tolist() == _PAIRS.asnumpy().tolist()
    x = xp.asarray([[1.0, numpy.nan, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]])
    found = numpy.isnan(xp.fft.rfft(x).asnumpy())
    assert found[0, :, 0].all() and not found[1].any()


def test_operators_of_mxnet() -> None:
    x = mx.nd.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])
    found = mx.nd.contrib.fft(x)
    wanted = numpy.fft.fft(x.asnumpy())
    numpy.testing.assert_allclose(found.asnumpy()[:, ::2] + 1j * found.asnumpy()[:, 1::2], wanted, atol=1e-5)
    numpy.testing.assert_allclose(mx.nd.contrib.ifft(found).asnumpy() / 3, x.asnumpy(), atol=1e-6)
    graph = mx.sym.contrib.ifft(mx.sym.contrib.fft(mx.sym.var("x")))
    assert graph.infer_shape(x=(2, 3))[1] == [(2, 3)]
    run = graph.bind(mx.cpu(), {"x": x}, {"x": mx.nd.zeros((2, 3))})
    run.forward(is_train=True)
    run.backward(mx.nd.ones((2, 3)))
    numpy.testing.assert_allclose(run.grad_arrays[0].asnumpy(), numpy.full((2, 3), 3.0), atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1001])
@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name: str, n: int) -> None:
    found, wanted = getattr(xp.fft, name), getattr(numpy.fft, name)
    assert found(n).dtype == xp.float32 and found(n, dtype=xp.float64).dtype == xp.float64
    numpy.testing.assert_allclose(found(n, d=0.25).asnumpy(), wanted(n, 0.25), rtol=1e-6)
    with pytest.raises(ValueError, match="n must be 1 or more"):
        found(0)
    with pytest.raises(ValueError, match="floating"):
        found(n, dtype=xp.int32)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (5,), (4, 3), (2, 3, 40)])
def test_shifts_of_frequencies(shape: tuple[int, ...]) -> None:
    values = numpy.random.RandomState(0).random_sample(shape)
    x = xp.asarray(numpy.asarray(values, "float32"))
    for axes in (None, *range(-len(shape), len(shape)), tuple(range(len(shape)))):
        shifted = xp.fft.fftshift(x, axes=axes)
        if shape:  # NumPy shifts no array without axes
            numpy.testing.assert_array_equal(shifted.asnumpy(), numpy.fft.fftshift(x.asnumpy(), axes))
        numpy.testing.assert_array_equal(xp.fft.ifftshift(shifted, axes=axes).asnumpy(), x.asnumpy())
    with pytest.raises(IndexError, match="out of bounds"):
        xp.fft.fftshift(x, axes=len(shape))
