"""The dtypes without loops of their own: int16, uint16, uint32, uint64, bfloat16, beside NumPy."""

from __future__ import annotations

import operator
import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd
from mxlite.base import as_elements, as_values, dtype_name
from mxlite.ndarray._make import invoke

INTEGERS = ("int16", "uint16", "uint32", "uint64")
CARRIED = (*INTEGERS, "bfloat16")
OTHERS = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64")

COUNT = 1100


def _values(dtype: str, seed: int = 0) -> np.ndarray:
    """Numbers of the whole range, small ones, and the extremes."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return random.random(COUNT) < 0.5
    if np.dtype(dtype).kind == "f":
        return (random.random(COUNT) * 300).astype(dtype)
    limits = np.iinfo(dtype)
    values = random.integers(limits.min, limits.max, COUNT, dtype=dtype, endpoint=True)
    values[:7] = [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1, limits.max // 2]
    values[7:40] = random.integers(0, 9, 33)
    return values


def _brain(values: Any) -> np.ndarray:
    """float32 rounded to bfloat16."""
    return as_values(as_elements(np.asarray(values, np.float32), "bfloat16"))


def _same(mine: Any, wanted: Any, dtype: str | None = None) -> None:
    assert dtype_name(mine) == (dtype or wanted.dtype.name)
    values = mine.asnumpy()
    assert values.shape == wanted.shape
    np.testing.assert_array_equal(values, wanted)


BINARY: dict[str, Callable] = {
    name: getattr(operator, name) for name in "add sub mul and_ or_ xor lt le gt ge eq ne mod".split()
}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_operators_are_numpys(dtype: str) -> None:
    a, b = _values(dtype), np.random.default_rng(1).permutation(_values(dtype, 2))
    three = np.array(3, dtype)
    divisor = np.where(b == 0, three, b)
    x, y = mx.np.array(a, dtype=dtype), mx.np.array(b, dtype=dtype)
    for name, call in BINARY.items():
        other = divisor if name == "mod" else b
        _same(call(x, mx.np.array(other, dtype=dtype)), call(a, other))
        _same(call(x, 3), call(a, three))
        _same(call(x[::-3], y[::-3]) if name != "mod" else x[::-3] + 0, call(a, b)[::-3] if name != "mod" else a[::-3])
    for name in ("lt", "ge", "eq"):
        _same(BINARY[name](x, -1), BINARY[name](a, -1))
    _same(3 - x, three - a)
    _same(100 % mx.np.array(divisor, dtype=dtype), np.array(100, dtype) % divisor)
    for exponent in (2, 5):
        _same(x**exponent, a ** np.array(exponent, dtype))
    _same(x ** mx.np.array(b % 5, dtype=dtype), a ** (b % 5).astype(dtype))
    for one in (operator.neg, abs, operator.invert):
        _same(one(x), one(a))
    for name in ("sign", "square", "floor", "trunc"):
        _same(getattr(mx.np, name)(x), getattr(np, name)(a))
    for name in ("maximum", "minimum"):
        _same(getattr(mx.np, name)(x, y), getattr(np, name)(a, b))
        _same(getattr(mx.np, name)(x, 9), getattr(np, name)(a, np.array(9, dtype)))
    _same(mx.np.clip(x, 3, 1000), np.clip(a, 3, 1000))
    _same(mx.np.where(x > y, x, y), np.where(a > b, a, b))
    _same(mx.np.array(7, dtype=dtype) + mx.np.array(8, dtype=dtype), np.array(15, dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype: str) -> None:
    a = _values(dtype)
    bits = np.random.default_rng(3).integers(0, 8 * a.itemsize + 3, COUNT).astype(dtype)
    x, by = nd.array(a, dtype=dtype), nd.array(bits, dtype=dtype)
    for name, call in (("_mxl_left_shift", np.left_shift), ("_mxl_right_shift", np.right_shift)):
        _same(nd.ndarray.invoke(name, [x, by], {}), call(a, bits))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_mx_nd_keeps_the_dtype(dtype: str) -> None:
    a, b = _values(dtype), _values(dtype, 1)
    x, y = nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)
    for name in ("add", "sub", "mul", "lt", "ge", "eq"):
        _same(BINARY[name](x, y), BINARY[name](a, b).astype(dtype))
    _same(x % 7, a % np.array(7, dtype))
    for name in ("max", "min"):
        _same(getattr(nd, name)(x.reshape((11, 100)), axis=1), getattr(np, name)(a.reshape(11, 100), axis=1))
    with np.errstate(over="ignore"):
        _same(nd.sum(x.reshape((11, 100)), axis=1), a.reshape(11, 100).sum(axis=1, dtype=dtype))
    _same(nd.take(x, nd.array([3, 99, 1])), a[[3, 99, 1]])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reductions_and_order(dtype: str) -> None:
    a = _values(dtype)
    x = mx.np.array(a, dtype=dtype)
    for name in ("sum", "prod", "cumsum"):
        _same(getattr(mx.np, name)(x), getattr(np, name)(a, dtype=dtype))
    for name in ("max", "min", "argmax", "argmin", "any", "all", "sort", "unique"):
        _same(getattr(mx.np, name)(x), np.asarray(getattr(np, name)(a)))
    _same(mx.np.argsort(x), np.argsort(a, kind="stable"))
    np.testing.assert_allclose(mx.np.mean(x, dtype="float64").asnumpy(), a.mean(), rtol=1e-12)


@pytest.mark.parametrize("dtype", CARRIED)
def test_keys(dtype: str) -> None:
    a = np.arange(1100).reshape(11, 100) % 100 if dtype == "bfloat16" else _values(dtype).reshape(11, 100)
    a = a.astype("float32") if dtype == "bfloat16" else a
    for front in (mx.np, nd):
        x, mine = front.array(a, dtype=dtype), a.copy()
        last = a.max()
        for key in (3, slice(2, 5), (slice(None, None, -2), slice(3, None, 7)), (slice(None), 4)):
            _same(x[key], a[key], dtype)
        _same(x.T, a.T, dtype)
        _same(
            front.stack([x, x]) if front is mx.np else nd.concat(x, x, dim=0),
            np.stack([a, a]) if front is mx.np else np.concatenate([a, a]),
            dtype,
        )
        x[2], mine[2] = 7, 7
        x[3:5], mine[3:5] = a[0], a[0]
        x[6, 1], mine[6, 1] = int(last), last
        _same(x, mine, dtype)
    x, mine = mx.np.array(a, dtype=dtype), a.copy()
    _same(x[x > 5], a[a > 5], dtype)
    _same(x[mx.np.array([1, 9])], a[[1, 9]], dtype)
    x[x > 5] = 4
    mine[mine > 5] = 4
    _same(x, mine, dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("other", [*OTHERS, *INTEGERS])
def test_casts_and_promotion(dtype: str, other: str) -> None:
    a, b = _values(dtype), _values(other, 1)
    x, y = mx.np.array(a, dtype=dtype), mx.np.array(b, dtype=other)
    with np.errstate(over="ignore"):
        _same(x.astype(other), a.astype(other))
    _same(y.astype(dtype), b.astype(dtype))
    if np.dtype(other).kind != "f":
        _same(x + y, a + b)


@pytest.mark.parametrize("dtype", CARRIED)
def test_creation_files_and_copies(dtype: str, tmp_path: Path) -> None:
    for front in (mx.np, nd):
        assert front.zeros((2, 3), dtype=dtype).asnumpy().tolist() == [[0] * 3] * 2
        assert front.ones((2,), dtype=dtype).asnumpy().tolist() == [1, 1]
        assert front.full((2,), 7, dtype=dtype).asnumpy().tolist() == [7, 7]
        assert front.arange(5, dtype=dtype).asnumpy().tolist() == [0, 1, 2, 3, 4]
        x = front.array([[1, 2], [3, 4]], dtype=dtype)
        assert dtype_name(x) == dtype and dtype_name(x.copy()) == dtype
        again = pickle.loads(pickle.dumps(x))
        assert dtype_name(again) == dtype and again.asnumpy().tolist() == [[1, 2], [3, 4]]
        assert x[1, 1].item() == 4
    nd.save(str(tmp_path / "x.params"), {"x": nd.array([1, 2], dtype=dtype)})
    read = nd.load(str(tmp_path / "x.params"))["x"]
    assert dtype_name(read) == dtype and read.asnumpy().tolist() == [1, 2]
    taken = nd.from_dlpack(nd.array([1, 2], dtype=dtype))
    assert dtype_name(taken) == dtype and taken.asnumpy().tolist() == [1, 2]
    assert f"dtype={dtype}" in repr(mx.np.array([1], dtype=dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_numpys_memory(dtype: str) -> None:
    a = _values(dtype)
    assert np.array_equal(np.from_dlpack(nd.array(a, dtype=dtype)), a)
    assert np.array_equal(nd.from_dlpack(a.copy()).asnumpy(), a)
    assert np.array_equal(nd.from_numpy(a.copy()).asnumpy(), a)
    assert mx.np.array(a[:9], dtype=dtype).tolist() == a[:9].tolist()


def test_uint64_is_refused_by_name() -> None:
    x = mx.np.array([2**64 - 1, 1], dtype="uint64")
    with pytest.raises(mx.MXNetError, match="exp: uint64 is not supported"):
        mx.np.exp(x)
    for call in (lambda: x + (2**64 - 1), lambda: x == 2**64 - 1):
        with pytest.raises(mx.MXNetError, match="lost digits"):
            call()
    for index in (mx.np.array([2**64 - 1], dtype="uint64"),):
        with pytest.raises(IndexError):
            mx.np.arange(10)[index]
    assert mx.np.full((1,), 2**64 - 1, dtype="uint64").tolist() == [2**64 - 1]
    assert (x > mx.np.array([1], dtype="uint64")).tolist() == [True, False]


def test_bfloat16_leaves_as_float32() -> None:
    special = np.array([np.nan, np.inf, -np.inf, 3.4e38, 1.00390625, 1.01171875, 1e-45, -0.0], np.float32)
    x = nd.array(special).astype("bfloat16")
    assert x.asnumpy().dtype == np.float32
    np.testing.assert_array_equal(x.asnumpy(), _brain(special))
    # ties go to the even neighbour
    assert x.asnumpy()[3:6].tolist() == [np.inf, 1.0, 1.015625]
    assert dtype_name(x) == "bfloat16"


@pytest.mark.parametrize("front", [mx.np, nd], ids=["np", "nd"])
def test_bfloat16_is_rounded_once(front: Any) -> None:
    random = np.random.default_rng(0)
    a, b = (_brain(random.standard_normal(COUNT) * 3) for _ in range(2))
    x, y = front.array(a, dtype="bfloat16"), front.array(b, dtype="bfloat16")
    for name in ("add", "sub", "mul", "truediv"):
        call = getattr(operator, name)
        _same(call(x, y), _brain(call(a, b)), "bfloat16")
        _same(call(x, 2.5), _brain(call(a, np.float32(2.5))), "bfloat16")
    for name in ("abs", "square", "floor", "sqrt"):
        with np.errstate(invalid="ignore"):
            _same(getattr(front, name)(x), _brain(getattr(np, name)(a)), "bfloat16")
    rows, mine = x.reshape((11, 100)), a.reshape(11, 100)
    for name in ("sum", "mean", "max", "min"):
        _same(getattr(front, name)(rows, axis=1), _brain(getattr(np, name)(mine.astype("f8"), axis=1)), "bfloat16")
    _same(front.sort(rows, axis=1), np.sort(mine, axis=1), "bfloat16")
    np.testing.assert_allclose(front.exp(x).asnumpy(), np.exp(a), rtol=2**-8)


def test_bfloat16_is_promoted() -> None:
    a = _brain([1.5, 2.25, -3])
    x = mx.np.array(a, dtype="bfloat16")
    for other, result in (("float32", "float32"), ("float16", "float32"), ("float64", "float64")):
        b = np.array([1.001, 2, 3], other)
        _same(x + mx.np.array(b, dtype=other), a.astype(result) + b, result)
    for other in ("int32", "uint64", "bool", "int16"):
        b = np.array([301, 7, 0]).astype(other)
        _same(x + mx.np.array(b, dtype=other), _brain(a + _brain(b)), "bfloat16")


def test_gradients_of_bfloat16() -> None:
    a = np.array([1.0, 2.0, 3.0], np.float32)
    for front in (mx.np, nd):
        x = front.array(a, dtype="bfloat16")
        x.attach_grad()
        with mx.autograd.record():
            y = front.sum(front.exp(x) * x + x) + front.dot(x, x)
        y.backward()
        assert dtype_name(x.grad) == "bfloat16"
        np.testing.assert_allclose(x.grad.asnumpy(), np.exp(a) * (1 + a) + 1 + 2 * a, rtol=2e-2)


def test_composed_functions_of_bfloat16() -> None:
    """What Python composes answers in float32; it is none of NumPy's kinds."""
    values = np.array([1.5, 2.25, -0.5], np.float32)
    x = mx.np.array(values, dtype="bfloat16")
    for name in ("cumprod", "nansum", "nanprod", "nancumsum", "nanmax", "nanmean", "median", "cov", "gradient"):
        made = getattr(mx.np, name)(x)
        wanted = getattr(np, name)(values)
        assert made.dtype in (np.float32, np.float64), name
        np.testing.assert_allclose(made.asnumpy(), wanted, rtol=1e-2, err_msg=name)
    assert mx.np.allclose(x, x)
    assert mx.np.divmod(x, 2)[1].asnumpy().tolist() == [1.5, 0.25, 1.5]


def test_a_bfloat16_scalar_whose_value_decides_a_shape() -> None:
    for value in (2.0, 0.0):
        x = mx.np.array(value).as_nd_ndarray().astype("bfloat16")
        assert invoke("_npx_nonzero", [x], {}).shape == (int(value != 0), 1)
