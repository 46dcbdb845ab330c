"""Calls of `mx.np` that C makes without Python code, beside the Python functions behind them."""

from __future__ import annotations

import threading
import types
from typing import Any

import numpy
import pytest

import mxlite as mx
from mxlite import np, npx


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """NumPy's mode, for each test alone."""
    npx.set_np()
    yield
    npx.reset_np()


def _behind(call: Any) -> Any:
    """The Python function; over ctypes `call` itself."""
    return call if isinstance(call, types.FunctionType) else call.__wrapped__


def _outcome(call: Any, *args: Any) -> Any:
    try:
        made = call(*args)
    except Exception as problem:
        return type(problem), str(problem)
    return made.shape, str(made.dtype), str(made.ctx), repr(made.asnumpy().tolist())


@pytest.mark.parametrize("shape", [(2, 3), (4, 1, 3), (0, 3), (), (7,) * 3])
def test_shapes_and_axes_of_any_sign(shape) -> None:
    """What C calls itself gives what the Python function gives, in its words."""
    x = np.array(numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape), dtype="float32")
    for method in (np.ndarray.reshape, np.ndarray.transpose):
        behind = _behind(method)
        for key in [(-1,), (3, -1), (-1, 2), (-1, -1), (0, -1), (-2,), (-7, 3), (1, 0), (-1, -2), (-1, 0, 1), (0, 0)]:
            for args in (key, (key,), (list(key),)):
                assert _outcome(method, x, *args) == _outcome(behind, x, *args), (method, args)


def test_attributes_are_found_the_short_way() -> None:
    """Python looks longer for every attribute of a class that has a `__getattr__`."""
    for array in (np.ones(2), mx.nd.ones(2)):
        assert not hasattr(type(array), "__getattr__")
        with pytest.raises(AttributeError, match="object has no attribute 'sizes'"):
            array.sizes  # noqa: B018


_LISTS = [
    3, -2.5, [1, 2], [[1, 2.5], [3, 4]], ((0,), [-0.0]), [[[1]]], [float("nan"), float("inf"), 1e-46], [1 << 53, 0.1],
    [1 << 53, (1 << 53) + 1], [1 << 70], [10**400], [True, False], True, [], [[]], [[1], [1, 2]], [[1], 2], [1, [2]],
    [1e39], [None], "x", ["1"], range(3), [numpy.float32(1)], numpy.arange(3), list(range(300)), [[[[[[[[[1.0]]]]]]]]],
]  # fmt: skip


_SHAPES = [(), 0, 3, (2, 3), (0, 2), [2, 3], -1, (2, -1), (1,) * 40, 1.5, None, True, numpy.int64(2), 1 << 80]
_DTYPES = [None, "float64", numpy.int32, numpy.dtype("bool"), float, "x", []]


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("ctx", [mx.cpu(0), mx.cpu(1)])
def test_new_arrays_in_c(ctx) -> None:
    """What C makes of shapes and lists is what the Python function makes of them, in the thread's context."""
    with ctx:
        for values in _LISTS:
            for of in (values, (values, values)):
                assert _outcome(np.array, of) == _outcome(_behind(np.array), of), of
        for make in (np.zeros, np.ones, np.empty):
            behind = _behind(make)
            for key in [
                (),
                0,
                3,
                (2, 3),
                (0, 2),
                [2, 3],
                -1,
                (2, -1),
                (1,) * 40,
                1.5,
                None,
                True,
                numpy.int64(2),
                1 << 80,
            ]:
                for given in [
                    (),
                    (None,),
                    ("float64",),
                    (numpy.int32,),
                    (numpy.dtype("bool"),),
                    (float,),
                    ("x",),
                    ([],),
                ]:
                    assert _outcome(make, key, *given) == _outcome(behind, key, *given), (make, key, given)
        assert np.zeros((2, 2), dtype="int32").dtype == numpy.int32
        assert np.ones(shape=2, dtype=bool).dtype == bool


def test_contexts_of_threads() -> None:
    """A block's context is its thread's alone, and is over with the block."""
    seen: list[str] = []
    with mx.cpu(2):
        thread = threading.Thread(target=lambda: seen.append(str(np.zeros(1).ctx) + str(np.array([1]).ctx)))
        thread.start()
        thread.join()
        with mx.cpu(0):
            assert str(np.zeros(1).ctx) == "cpu(0)"
        assert str(np.array([1]).ctx) == str(mx.current_context()) == "cpu(2)"
    assert seen == ["cpu(0)cpu(0)"]
    assert mx.current_context() is mx.current_context()
    assert str(np.zeros(1).ctx) == str(np.array([1]).ctx) == "cpu(0)"


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 4), (1,), (), (0, 3), (70, 3), (2, 1001)])
def test_copies_in_c(shape) -> None:
    """copy, astype, T and where of three arrays: the same by C and by Python, again and again."""
    values = numpy.arange(-2, numpy.prod(shape, dtype=int) - 2).reshape(shape)
    for x in (np.array(values, dtype="float32"), np.array(values, dtype="int32").T, np.array(values > 0)):
        mask, y = x > 0, x + x
        assert _outcome(np.where, mask, x, y) == _outcome(_behind(np.where), mask, x, y)
        assert x.T.asnumpy().tolist() == x.asnumpy().T.tolist()
        for method, key in [("copy", ()), *(("astype", (d,)) for d in ("int8", float, numpy.dtype("bool"), "x") * 3)]:
            bound = getattr(np.ndarray, method)
            assert _outcome(bound, x, *key) == _outcome(_behind(bound), x, *key), (method, key)
        assert x.copy() is not x
        assert x.astype(x.dtype, copy=False) is x


@pytest.mark.parametrize("name", ["concatenate", "stack", "vstack", "hstack", "dstack", "row_stack"])
def test_joins_in_c(name) -> None:
    """Lists and tuples of arrays, of one dtype and of several, and what is refused."""
    join, behind = getattr(np, name), _behind(getattr(np, name))
    x, y = np.ones((2, 3)), np.zeros((2, 3), dtype="int32")
    wide = np.array(numpy.arange(2002).reshape(2, 1001), dtype="float32")
    lists = [[x, x], (x, y), [x], [], [x, 1], [x, None], [x] * 70, [wide, wide], [x[0], x[1]], [x, x[0]], [x, wide]]
    for arrays in [*lists, [np.zeros((0, 3)), x], [x.T, y.T], [np.array(1.0)], x, 3, [mx.nd.ones(2)]]:
        assert _outcome(join, arrays) == _outcome(behind, arrays), arrays
        for axis in (0, 1, -1, 2, -3, None, True, 1.0, 1 << 40, -(1 << 63), 1 << 70):
            assert _outcome(join, arrays, axis) == _outcome(behind, arrays, axis), (arrays, axis)
    if name in ("concatenate", "stack"):
        with pytest.raises(ValueError, match=name):
            join([x, x], axis=7)
        assert join([x, x], axis=1).asnumpy().tolist() == getattr(numpy, name)([x.asnumpy()] * 2, axis=1).tolist()
    x.attach_grad()
    with mx.autograd.record():
        loss = (join([x, x]) * join((x, x))).sum()
    loss.backward()
    assert x.grad.asnumpy().tolist() == (4 * x.asnumpy()).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "bool"])
def test_clip_in_c(dtype) -> None:
    """Bounds of all kinds."""
    x = np.array([[-3.0, 0.5, 2.0], [70000.0, float("inf"), 0.0]]).astype(dtype)
    for low in (0, 1, -2.5, None, True, 1e6, float("nan"), "x"):
        for high in (1, 0.5, None, 1 << 70, -1, numpy.float32(2)):
            assert _outcome(x.clip, low, high) == _outcome(lambda *key: _behind(np.ndarray.clip)(x, *key), low, high)
            assert _outcome(np.clip, x, low, high) == _outcome(_behind(np.clip), x, low, high)
    if dtype != "bool":
        assert x.clip(min=0, max=1).shape == np.clip(x, a_max=1, a_min=0).shape == (2, 3)
        return
    with pytest.raises(ValueError, match="dtype bool is not supported"):
        x.clip(min=0, max=1)
