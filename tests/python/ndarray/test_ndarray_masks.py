"""Booleans in keys, with and without axes, beside integers, slices, None, `...`, index arrays and nested lists: 2,500
keys made from seeds, read and written beside NumPy, with first and second derivatives of what is read."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd
from mxlite.ndarray import _indexing

pytestmark = pytest.mark.one_binding

COUNT, STEP = 2500, 250
ERRORS = (IndexError, ValueError, TypeError)


def boolean(make: random.Random) -> Any:
    """One without axes, of every class that there is."""
    value = make.random() < 0.6
    return make.choice([value, np.bool_(value), np.array(value), nd.array(np.array(value), dtype="bool")])


def index(make: random.Random, extent: int) -> Any:
    """An index array, which may be empty and whose positions may repeat; a list in half of the cases."""
    shape = make.choice([(2,), (2,), (1,), (0,), (2, 1), (3,), (1, 1)]) if extent else (0,)
    values = np.array([make.randrange(-extent, extent) for _ in range(int(np.prod(shape)))], dtype=int).reshape(shape)
    return make.choice([values, values.tolist(), nd.array(values, dtype="int64")])


def mask(make: random.Random, extents: tuple[int, ...]) -> Any:
    """A mask of these axes; a nested list in some of the cases."""
    share = make.choice([0.0, 0.5, 0.5, 0.5, 1.0])
    values = np.array([make.random() < share for _ in range(int(np.prod(extents)))], dtype=bool).reshape(extents)
    ways = [values, nd.array(values, dtype="bool")]
    return make.choice([*ways, values.tolist(), values.tolist()] if values.size else ways)


def part(make: random.Random, extents: tuple[int, ...]) -> tuple[int, Any]:
    """How many axes, and a part of a key for them."""
    choice = make.random()
    if choice < 0.22 or not extents:
        return 0, boolean(make)
    if choice < 0.3:
        return 0, None
    extent = extents[0]
    if choice < 0.45 and extent:
        return 1, make.randrange(-extent, extent)
    if choice < 0.65:
        bounds = [make.choice([None, make.randint(-extent - 1, extent + 1)]) for _ in range(2)]
        return 1, slice(*bounds, make.choice([None, None, 1, 2, 3, -1, -2]))
    if choice < 0.8:
        return 1, index(make, extent)
    axes = make.randint(1, min(len(extents), 3))
    return axes, mask(make, extents[:axes])


def key_of(make: random.Random, shape: tuple[int, ...]) -> Any:
    """A key whose parts fit the axes, up to 2 parts too many among those that take none."""
    parts: list[Any] = []
    axis, end, dots = 0, len(shape), None
    for _ in range(make.randint(1, len(shape) + 2)):
        if dots is None and make.random() < 0.12:
            dots, axis = len(parts), axis + make.randint(0, end - axis)
            parts.append(Ellipsis)
            continue
        used, one = part(make, shape[axis:])
        parts.append(one)
        axis += used
    if dots is not None:  # keys after it take the last axes
        parts += [slice(None)] * (end - axis)
    return tuple(parts) if len(parts) > 1 or make.random() < 0.5 else parts[0]


def for_numpy(key: Any) -> Any:
    """The key without NDArrays."""
    if isinstance(key, tuple):
        return tuple(map(for_numpy, key))
    return key.asnumpy() if isinstance(key, nd.NDArray) else key


def is_backward_range(key: Any, shape: tuple[int, ...]) -> bool:
    """x[2:1] and nothing else, which is an error when it is read, as in 1.9.1."""
    if not isinstance(key, slice) or key.step is not None or not shape:
        return False
    begin, end, _ = key.indices(shape[0])
    return begin > end


def value_for(make: random.Random, shape: tuple[int, ...]) -> Any:
    """A number, or an array that is broadcast to `shape`."""
    extents = list(shape)
    choice = make.random()
    if choice < 0.3:
        return 101.0
    if choice < 0.5 and extents:
        extents[make.randrange(len(extents))] = 1
    elif choice < 0.6:
        extents = extents[1:]
    return 101.0 + np.arange(int(np.prod(extents))).reshape(extents)


def check_read(values: np.ndarray, key: Any, wanted: np.ndarray) -> None:
    """What is read, and the derivatives of (x[key]^2 w) to order 2."""
    x, plain = nd.array(values, dtype="float64"), for_numpy(key)
    weights = np.arange(1.0, wanted.size + 1).reshape(wanted.shape)
    x.attach_grad()
    with autograd.record():
        read = x[key]
        y = (read * read * nd.array(weights, dtype="float64")).sum()
        (first,) = autograd.grad(y, x, create_graph=True)
        total = first.sum()
    assert read.shape == wanted.shape
    np.testing.assert_array_equal(read.asnumpy(), wanted)
    total.backward()
    slopes, curves = np.zeros(values.shape), np.zeros(values.shape)
    np.add.at(slopes, plain, 2 * weights * wanted)
    np.add.at(curves, plain, 2 * weights)
    np.testing.assert_allclose(first.asnumpy(), slopes, rtol=1e-13)
    np.testing.assert_allclose(x.grad.asnumpy(), curves, rtol=1e-13)


def check(number: int) -> bool:
    """One key, read and written; whether NumPy takes it."""
    make = random.Random(number)
    extents = [1, 2, 3, 4] if make.random() < 0.9 else [0, 1, 2]
    shape = tuple(make.choice(extents) for _ in range(make.randint(0, 4)))
    values = np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)
    key = key_of(make, shape)
    plain = for_numpy(key)
    x = nd.array(values, dtype="float64")
    try:
        wanted = np.array(values[plain])
    except ERRORS:
        for use in (lambda: x[key], lambda: x.__setitem__(key, 1)):
            with pytest.raises(ERRORS):
                use()
        np.testing.assert_array_equal(x.asnumpy(), values)
        return False
    if is_backward_range(key, shape):
        return True
    check_read(values, key, wanted)
    value, written = value_for(make, wanted.shape), values.copy()
    written[plain] = value
    x[key] = nd.array(value, dtype="float64") if isinstance(value, np.ndarray) and make.random() < 0.5 else value
    np.testing.assert_array_equal(x.asnumpy(), written)
    return True


@pytest.mark.parametrize("start", range(0, COUNT, STEP))
def test_keys_with_booleans(start: int) -> None:
    taken = 0
    with mx.np_shape(True):
        for number in range(start, start + STEP):
            try:
                taken += check(number)
            except (Exception, pytest.fail.Exception) as problem:
                raise AssertionError(f"key {number}: {problem}") from problem
    assert taken > STEP // 2


@pytest.mark.parametrize("one", [True, np.True_, np.array(True)])
@pytest.mark.parametrize("none", [False, np.False_, np.array(False)])
def test_booleans_without_axes(one, none) -> None:
    """As NumPy: a new axis of extent 1 or 0, not the integers 0 and 1."""
    values = np.arange(6.0).reshape(3, 2)
    x = nd.array(values)
    assert x[one].shape == (1, 3, 2) and x[none].shape == (0, 3, 2)
    assert x[0, one].asnumpy().tolist() == [[0, 1]] and x[one, none].shape == (0, 3, 2)
    x[none] = 9
    x[0, none] = 9
    np.testing.assert_array_equal(x.asnumpy(), values)
    x[one] = 1
    assert x.asnumpy().tolist() == [[1, 1]] * 3
    x[1, one] = [5, 6]
    assert x.asnumpy().tolist() == [[1, 1], [5, 6], [1, 1]]
    with pytest.raises(ValueError):
        x[none] = np.zeros((2, 3, 2))


def test_nested_lists_that_select_nothing() -> None:
    x = nd.array([[5.0]])
    for values in (np.zeros(0), np.zeros((1,)), 9, []):
        x[[[False]]] = values
    assert x.asnumpy().tolist() == [[5]] and x[[[False]]].shape == (0,)
    x[[[True]]] = [7]
    assert x.asnumpy().tolist() == [[7]] and x[[[True]]].asnumpy().tolist() == [7]
    y = nd.array([[1.0, 2.0], [3.0, 4.0]])
    for wrong in ([[False]], [[True]], [[[False]]], [True], [[True, False]]):
        for use in (lambda key=wrong: y[key], lambda key=wrong: y.__setitem__(key, 0)):
            with pytest.raises(IndexError):
                use()
    assert y[[[False, True], [True, False]]].asnumpy().tolist() == [2, 3]
    y[[[], []]] = 0
    y[[]] = np.zeros((0, 2))
    assert y.asnumpy().tolist() == [[1, 2], [3, 4]]


def test_a_comparison_as_a_key_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats 0 and 1 are positions, as in 1.9.1; a key of the array's shape is likely meant as a mask."""
    x, rows = nd.array([1.0, -2.0, 3.0]), nd.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    quiet = (
        lambda: x[nd.array([0, 1])],
        lambda: x[nd.array([0, 1, 2])],
        lambda: x[(x > 0).astype("bool")],
        lambda: x[(x > 0).astype("int32")],
        lambda: x[(x > 0).asnumpy()],
        lambda: nd.array([[7.0]])[nd.array([0.0])],
        lambda: rows[nd.array([1.0])],
    )
    for told in (lambda: x[x > 0], lambda: rows[rows > 1], lambda: rows[x > 0], lambda: x.__setitem__(x > 5, 0)):
        monkeypatch.setattr(_indexing._Comparison, "is_known", False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for use in quiet:
                use()
        with pytest.warns(UserWarning, match=r"it is no mask.*astype\('bool'\).*boolean_mask.*where") as caught:
            told()
        assert len(caught) == 1 and caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            told()
    assert nd.array([1.0, -2.0, 3.0])[nd.array([1.0, 0.0, 1.0])].asnumpy().tolist() == [-2, 1, -2]
