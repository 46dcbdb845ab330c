"""The operators that read and write by keys, `_mxl_index`, `_mxl_index_put` and `_mxl_index_add`, under NumPy's rules:
keys made from seeds, read, written and added beside NumPy, with derivatives, and bounds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd
from mxlite.ndarray._make import invoke

pytestmark = pytest.mark.one_binding

COUNT, STEP = 2000, 250
ERRORS = (IndexError, ValueError)


def encoded(key: tuple) -> tuple[tuple, list[nd.NDArray]]:
    """The key as the operators take it: numbers, and index arrays."""
    numbers: list[Any] = []
    arrays = []
    for part in key:
        if isinstance(part, int) and not isinstance(part, bool):
            numbers += [0, part]
        elif isinstance(part, slice):
            numbers += [1, part.start, part.stop, part.step]
        elif part is None or part is Ellipsis:
            numbers.append(2 if part is None else 3)
        else:
            numbers.append(4)
            part = np.asarray(part)
            arrays.append(nd.array(part, dtype=part.dtype))
    return tuple(numbers), arrays


def read(x: nd.NDArray, key: tuple, rules: str = "numpy") -> nd.NDArray:
    numbers, arrays = encoded(key)
    return invoke("_mxl_index", [x, *arrays], {"key": numbers, "rules": rules})


def put(x: nd.NDArray, key: tuple, value: Any, out: Any = None, **given: Any) -> nd.NDArray:
    numbers, arrays = encoded(key)
    values = [value] if isinstance(value, nd.NDArray) else []
    more = {} if values else {"fill": True, "scalar": value}
    return invoke("_mxl_index_put", [x, *values, *arrays], {"key": numbers, **more, **given}, out)


def _index(make: random.Random, extent: int) -> np.ndarray:
    shape = make.choice([(2,), (2,), (1,), (0,), (2, 1), (3,), (1, 1), (), (2, 2)]) if extent else (0,)
    low, high = (-extent - 1, extent + 1) if make.random() < 0.03 else (-extent, extent)
    values = np.array([make.randrange(low, high) for _ in range(int(np.prod(shape)))], dtype=int).reshape(shape)
    dtype = make.choice(["int64", "int32", "int8"])
    return np.abs(values).astype("uint8") % max(extent, 1) if make.random() < 0.2 else values.astype(dtype)


def _mask(make: random.Random, extents: tuple[int, ...]) -> np.ndarray:
    share = make.choice([0.0, 0.5, 0.5, 1.0])
    return np.array([make.random() < share for _ in range(int(np.prod(extents)))], dtype=bool).reshape(extents)


def key_of(make: random.Random, shape: tuple[int, ...]) -> tuple:
    """A key whose parts mostly fit the axes."""
    parts: list[Any] = []
    axis = 0
    has_dots = False
    while axis < len(shape) and make.random() < 0.85:
        extent, choice = shape[axis], make.random()
        if choice < 0.1:
            parts.append(None)
        elif choice < 0.18:
            parts.append(make.random() < 0.7)
        elif choice < 0.25 and not has_dots:
            has_dots = True
            parts.append(Ellipsis)
            axis += make.randint(0, len(shape) - axis)
        elif choice < 0.4 and extent:
            parts.append(make.randrange(-extent, extent))
            axis += 1
        elif choice < 0.6:
            bounds = [make.choice([None, make.randint(-extent - 1, extent + 1)]) for _ in range(2)]
            parts.append(slice(*bounds, make.choice([None, None, 1, 2, 3, -1, -2])))
            axis += 1
        elif choice < 0.88:
            parts.append(_index(make, extent))
            axis += 1
        else:
            axes = make.randint(1, min(len(shape) - axis, 3))
            parts.append(_mask(make, shape[axis : axis + axes]))
            axis += axes
    return tuple(parts)


def check_gradients(values: np.ndarray, key: tuple, wanted: np.ndarray) -> None:
    """Derivatives of sum(x[key]^2 w), and of (x with v at the key)^2, to order 2."""
    x, weights = nd.array(values, dtype="float64"), np.arange(1.0, wanted.size + 1).reshape(wanted.shape)
    x.attach_grad()
    with autograd.record():
        y = read(x, key)
        (first,) = autograd.grad((y * y * nd.array(weights, dtype="float64")).sum(), x, create_graph=True)
        (first * first).sum().backward()
    slopes, curves = np.zeros(values.shape), np.zeros(values.shape)
    np.add.at(slopes, key, 2 * weights * wanted)
    np.add.at(curves, key, 2 * weights)
    np.testing.assert_allclose(first.asnumpy(), slopes, rtol=1e-13)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * slopes * curves, rtol=1e-13)


def check_written(values: np.ndarray, key: tuple, wanted: np.ndarray, make: random.Random) -> None:
    extents = list(wanted.shape)
    if extents and make.random() < 0.4:
        extents[make.randrange(len(extents))] = 1
    value = 101.0 + np.arange(int(np.prod(extents))).reshape(extents)
    written, added, filled = values.copy(), values.copy(), values.copy()
    written[key] = value
    filled[key] = 7
    np.add.at(added, key, value)
    x, v = nd.array(values, dtype="float64"), nd.array(value, dtype="float64")
    x.attach_grad()
    v.attach_grad()
    with autograd.record():
        y, z = put(x, key, v), put(x, key, v, accumulate=True)
        total = (y * y + z * z).sum()
    total.backward()
    np.testing.assert_array_equal(y.asnumpy(), written)
    np.testing.assert_array_equal(z.asnumpy(), added)
    np.testing.assert_array_equal(put(x.detach(), key, 7).asnumpy(), filled)
    kept = written == values
    if not np.any(written == values) or kept[key].size == 0 or not np.any(kept[key]):
        kept = np.ones(values.shape)
        kept[key] = 0
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * written * kept + 2 * added)
    # of values at one element the last one stays, and gets the gradient
    count = int(np.prod(wanted.shape))
    order, owner = np.full(values.shape, -1), np.arange(count).reshape(wanted.shape)
    order[key] = owner
    share = 2 * written[key] * (order[key] == owner) + 2 * added[key]
    back = np.zeros(value.shape)
    np.add.at(back, tuple(i % n for i, n in zip(np.indices(share.shape), value.shape)), share)
    np.testing.assert_allclose(v.grad.asnumpy(), back)
    into = nd.array(values, dtype="float64")
    assert put(into, key, v.detach(), into) is into
    np.testing.assert_array_equal(into.asnumpy(), written)


def has_wrong_index(key: tuple, shape: tuple[int, ...]) -> bool:
    """Whether an index array has positions that its axis has not."""
    used = sum(
        np.ndim(part) if isinstance(part, np.ndarray) and part.dtype == bool else not _is_free(part) for part in key
    )
    axis = 0
    for part in key:
        if part is Ellipsis:
            axis += len(shape) - used
        elif isinstance(part, np.ndarray) and part.dtype == bool:
            axis += part.ndim
        elif not _is_free(part):
            if isinstance(part, np.ndarray) and np.any((part >= shape[axis]) | (part < -shape[axis])):
                return True
            axis += 1
    return False


def _is_free(part: Any) -> bool:
    return part is None or part is Ellipsis or isinstance(part, bool)


def check(number: int) -> bool:
    """One key; whether NumPy takes it."""
    make = random.Random(number)
    shape = tuple(make.choice([1, 2, 3, 4] if make.random() < 0.95 else [0, 1]) for _ in range(make.randint(0, 4)))
    values = np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)
    key = key_of(make, shape)
    x = nd.array(values, dtype="float64")
    try:
        wanted = np.array(values[key])
    except ERRORS:
        for use in (lambda: read(x, key), lambda: put(x, key, 1.0, x)):
            with pytest.raises(ERRORS):
                use()
        np.testing.assert_array_equal(x.asnumpy(), values)
        return False
    if wanted.size == 0 and has_wrong_index(key, shape):  # NumPy does not look where nothing is selected
        with pytest.raises(IndexError):
            read(x, key)
        return False
    found = read(x, key)
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.asnumpy(), wanted)
    check_gradients(values, key, wanted)
    check_written(values, key, wanted, make)
    return True


@pytest.mark.parametrize("start", range(0, COUNT, STEP))
def test_keys_under_numpys_rules(start: int) -> None:
    taken = 0
    with mx.np_shape(True):
        for number in range(start, start + STEP):
            try:
                taken += check(number)
            except (Exception, pytest.fail.Exception) as problem:
                raise AssertionError(f"key {number}: {problem}") from problem
    assert taken > STEP * 0.8
