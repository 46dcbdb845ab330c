"""NDArray and mx.nd: what an array tells, how it is made, converted, copied and combined."""

from __future__ import annotations

import copy
import ctypes
import operator
import pickle
from decimal import Decimal

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd

DTYPES = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")


@pytest.fixture
def x() -> nd.NDArray:
    return nd.array(np.arange(12).reshape(3, 4))


@pytest.fixture
def v() -> nd.NDArray:
    return nd.array([1, 2, 3])


# ---- what an array tells ----


def test_properties(x) -> None:
    assert x.shape == (3, 4) and type(x.shape) is tuple
    assert (x.size, x.ndim, x.dtype, x.stype) == (12, 2, np.float32, "default")
    assert x.context == x.ctx == mx.cpu()
    assert isinstance(x.handle, ctypes.c_void_p) and x.handle.value == x._h
    assert x.grad is None and len(x) == 3 and x.writable
    assert x.T.shape == (4, 3)
    with pytest.raises(AttributeError):
        x.size = 3
    with pytest.raises(AttributeError):
        x.something = 3


def test_repr(v, x) -> None:
    assert repr(v) == str(v) == f"{v}" == "\n[1. 2. 3.]\n<NDArray 3 @cpu(0)>"
    assert repr(x) == "\n[[ 0.  1.  2.  3.]\n [ 4.  5.  6.  7.]\n [ 8.  9. 10. 11.]]\n<NDArray 3x4 @cpu(0)>"
    assert repr(nd.array([1, 2], dtype="int32")) == "\n[1 2]\n<NDArray 2 @cpu(0)>"


def test_scalars(v, x) -> None:
    one = nd.array([5])
    assert one.asscalar() == 5 and type(one.asscalar()) is np.float32
    assert one.item() == 5 and type(one.item()) is float
    assert v.item(1) == 2 and x.item(1, 2) == 6
    for wrong in (v, x):
        with pytest.raises(ValueError, match=r"has \d+ elements, not 1"):
            wrong.asscalar()
    assert float(one) == 5 and int(one) == 5
    with pytest.raises(TypeError):
        float(v)


def test_bool(v) -> None:
    assert bool(nd.array([2])) and not bool(nd.array([0])) and not bool(nd.zeros((3, 1))[0:0])
    with pytest.raises(ValueError, match="3 elements is neither true nor false"):
        bool(v)


def test_iteration(x, v) -> None:
    assert [row.shape for row in x] == [(4,)] * 3
    assert [float(item.asscalar()) for item in v] == [1, 2, 3]
    assert [row.asnumpy().tolist() for row in x] == x.asnumpy().tolist()


def test_asnumpy_is_a_copy(v) -> None:
    values = v.asnumpy()
    values[:] = 9
    assert v.asnumpy().tolist() == [1, 2, 3] and values.flags.writeable
    assert np.asarray(v).tolist() == [1, 2, 3] and np.asarray(v, dtype=int).dtype == int


def test_hash_and_identity(v) -> None:
    assert v in [v] and hash(v) == hash(v) and len({v, v}) == 1


def test_comparisons(v) -> None:
    """1 or 0 in the array's dtype; with arrays and numbers, on either side."""
    a, b = v.asnumpy(), v[::-1].asnumpy()
    other = nd.array(b)
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        for got, wanted in (
            (compare(v, other), compare(a, b)),
            (compare(v, 2), compare(a, 2)),
            (compare(2, v), compare(2, a)),
        ):
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got.asnumpy(), wanted)
    with pytest.raises(TypeError):
        v == None  # noqa: B015, E711


def test_pickle_and_copy(x) -> None:
    for other in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert other.asnumpy().tolist() == x.asnumpy().tolist() and other.dtype == x.dtype
        other[:] = 0
    assert x.asnumpy().sum() == 66


def test_handles_are_checked() -> None:
    for wrong in (0, 12345, 2**60 + 1):
        with pytest.raises(mx.MXNetError):
            nd.NDArray(wrong)
    with pytest.raises(TypeError):
        nd.NDArray("x")
    fresh = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayCreateNone(ctypes.byref(fresh)))
    none = nd.NDArray(fresh)
    assert none.shape == () and none.dtype is None
    assert nd.exp(nd.zeros((2,)), out=none) is none
    assert none.shape == (2,) and none.asnumpy().tolist() == [1, 1]


def test_read_only() -> None:
    handle = ctypes.c_void_p()
    source = nd.ones((2,))
    mx.base.check_call(mx.base._LIB.MXShallowCopyNDArray(source.handle, ctypes.byref(handle)))
    array = nd.NDArray(handle, writable=False)
    assert not array.writable
    with pytest.raises(ValueError, match="readonly"):
        array[:] = 1
    with pytest.raises(ValueError, match="readonly"):
        array += 1


# ---- making arrays ----


def test_array_dtypes() -> None:
    for source in ([1, 2], (1, 2), [True], np.array([1, 2]), np.array([1.0]), np.array([1], "uint8"), [1.5]):
        assert nd.array(source).dtype == np.float32
    for dtype in DTYPES:
        made = nd.array([0, 1], dtype=dtype)
        assert made.dtype == np.dtype(dtype).type and made.asnumpy().tolist() == [0, 1]
        assert nd.array(made).dtype == made.dtype
    assert nd.array(nd.array([1], dtype="int32"), dtype="float64").dtype == np.float64
    for wrong in ("a", [[1, 2], [3]], [1 + 2j], [object()]):
        with pytest.raises(TypeError, match="these values make no array"):
            nd.array(wrong)
    with pytest.raises(TypeError):
        nd.array([1], dtype="complex64")


def test_array_layouts() -> None:
    base = np.arange(24).reshape(2, 3, 4)
    for values in (base.T, base[:, ::2], base[..., ::-1], np.asfortranarray(base), np.broadcast_to(base[0], (5, 3, 4))):
        assert nd.array(values).asnumpy().tolist() == values.tolist()
    assert nd.array([]).shape == (0,) and nd.array(5).shape == ()


def test_array_of_objects_and_texts() -> None:
    """They are what NumPy makes of them in the dtype, as in 1.9.1."""
    for values in ([1, None], np.array([1, None], dtype=object)):
        np.testing.assert_array_equal(nd.array(values).asnumpy(), np.array([1, np.nan], "float32"))
    assert nd.array(["1.5", "2"]).asnumpy().tolist() == [1.5, 2]
    assert nd.array([Decimal("2.5"), 2**70], dtype="float64").asnumpy().tolist() == [2.5, 2.0**70]
    assert nd.array(np.array([1.5, 2], dtype=object), dtype="int32").asnumpy().tolist() == [1, 2]
    for wrong in (["a"], [{}], [1, "a"], [1j], object(), [b"x"]):
        with pytest.raises(TypeError, match="these values make no array"):
            nd.array(wrong)


def test_filled() -> None:
    assert nd.zeros(3).asnumpy().tolist() == [0, 0, 0]
    assert nd.zeros((2, 2), dtype="int32").dtype == np.int32
    assert nd.zeros([2, 2], mx.cpu(), "float64").dtype == np.float64
    assert nd.ones((2,), dtype=None).asnumpy().tolist() == [1, 1]
    assert nd.full((2,), 3.5).asnumpy().tolist() == [3.5, 3.5]
    assert nd.full((2,), 3.5, dtype="int32").asnumpy().tolist() == [3, 3]
    out = nd.zeros((2,), dtype="float64")
    assert nd.full((2,), 3, out=out) is out and out.asnumpy().tolist() == [3, 3]
    for shape in (0, (0,), [2, 0], (0, 3)):
        none = nd.full(shape, 7, dtype="int32")
        assert none.dtype == np.int32 and none.shape == tuple(np.atleast_1d(shape))
    assert nd.empty((2, 3), dtype="int64").shape == (2, 3)
    assert nd.empty(4).shape == (4,)
    for wrong in ("a", (2.0,), (-1,), (2, "x")):
        with pytest.raises((mx.MXNetError, TypeError)):
            nd.zeros(wrong)


def test_contexts() -> None:
    assert nd.zeros((1,), ctx=mx.cpu(3)).shape == (1,)
    with pytest.raises(mx.MXNetError, match="gpu"):
        nd.zeros((1,), ctx=mx.gpu())
    with pytest.raises(mx.MXNetError, match="gpu"):
        nd.array([1]).as_in_context(mx.gpu())
    with mx.gpu(), pytest.raises(mx.MXNetError, match="gpu"):
        nd.array([1])
    assert repr(mx.cpu()) == str(mx.Context("cpu")) == "cpu(0)" and repr(mx.Context("cpu", 2)) == "cpu(2)"
    assert mx.cpu() == mx.cpu(0) != mx.cpu(1) and hash(mx.cpu()) == hash(mx.cpu(0))
    assert repr(mx.gpu(1)) == "gpu(1)" and mx.num_gpus() == 0
    with mx.Context("cpu", 3) as inner, mx.cpu(4):
        assert mx.current_context() == mx.cpu(4) and inner == mx.cpu(3)
    assert mx.current_context() == mx.cpu()
    with pytest.raises(KeyError):
        mx.Context("foo")


# ---- converting and copying ----


def test_astype(v) -> None:
    assert v.astype("int32").asnumpy().dtype == np.int32
    assert v.astype(float).dtype == np.float64 and v.astype(np.float64).dtype == np.float64
    assert v.astype(None).dtype == np.float32
    other = nd.ones((1,), dtype="float16")  # its dtype is meant, as in 1.9.1
    assert v.astype(other).dtype == np.float16 == nd.zeros((1,), dtype=other).dtype
    assert v.astype("float32") is not v and v.astype("float32", copy=False) is v
    assert v.astype("float64", copy=False) is not v
    with pytest.raises(TypeError):
        v.astype("foo")


def test_copy_and_copyto(v) -> None:
    other = v.copy()
    other[:] = 0
    assert v.asnumpy().tolist() == [1, 2, 3]
    into = nd.zeros((3,), dtype="int32")
    assert v.copyto(into) is into and into.asnumpy().tolist() == [1, 2, 3]
    assert v.copyto(mx.cpu()) is not v and v.copyto(v) is v
    with pytest.raises(mx.MXNetError):
        v.copyto(nd.zeros((2,)))
    with pytest.raises(TypeError):
        v.copyto(5)
    assert v.as_in_context(mx.cpu()) is v
    v.wait_to_read()
    nd.waitall()


def test_reshape(x) -> None:
    assert x.reshape(2, 6).shape == x.reshape((2, 6)).shape == x.reshape([2, 6]).shape == (2, 6)
    assert x.reshape(shape=(2, 6)).shape == (2, 6)
    assert x.reshape(-1).shape == (12,) and x.reshape((0, -1)).shape == (3, 4)
    assert x.reshape(-3).shape == (12,) and x.reshape(0, -4, 2, 2).shape == (3, 2, 2)
    assert x.reshape((-2,)).shape == (3, 4)
    assert x.reshape((-1, 0), reverse=True).shape == (3, 4)
    assert x.reshape(np.int64(2), np.int64(6)).shape == (2, 6)
    for wrong in ((5,), (-1, -1), (5, 5)):
        with pytest.raises(ValueError):
            x.reshape(wrong)
    for wrong in ("a", 12.0, (2.0, 6), None):
        with pytest.raises(TypeError):
            x.reshape(wrong)
    with pytest.raises(TypeError, match="foo"):
        x.reshape(2, 6, foo=1)
    x.reshape((4, 3))[0] = 9
    assert x.asnumpy()[0].tolist() == [9, 9, 9, 3]


# ---- operators ----


def test_arithmetic(v) -> None:
    w = nd.array([4, 5, 6])
    a, b = v.asnumpy(), w.asnumpy()
    for got, wanted in (
        (v + w, a + b),
        (v - w, a - b),
        (v * w, a * b),
        (v / w, a / b),
        (v + 2, a + 2),
        (v - 2.5, a - 2.5),
        (v * 2, a * 2),
        (v / 2, a / 2),
        (2 + v, 2 + a),
        (2 - v, 2 - a),
        (2 * v, 2 * a),
        (2 / v, 2 / a),
        (v**2, a**2),
        (-v, -a),
        (abs(-v), a),
        (v + True, a + 1),
        (v + np.int64(3), a + 3),
        (v * np.float64(0.5), a * 0.5),
    ):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got.asnumpy(), wanted.astype("float32"), rtol=1e-6)


def test_broadcasting(x, v) -> None:
    assert (x + x[0]).asnumpy().tolist() == (x.asnumpy() + x.asnumpy()[0]).tolist()
    assert (x * v.reshape(3, 1)).shape == (3, 4)
    with pytest.raises(mx.MXNetError):
        x + v


def test_integers_stay_integers() -> None:
    i = nd.array([1, 2, 3], dtype="int32")
    for got, wanted in (
        (i * 2.5, [2, 4, 6]),
        (i + 0.5, [1, 2, 3]),
        (i / 2, [0, 1, 1]),
        (2.5 - i, [1, 0, -1]),
        (nd.array([250], dtype="uint8") + 10, [4]),
    ):
        assert got.asnumpy().tolist() == wanted and np.dtype(got.dtype).kind in "iu"


@pytest.mark.parametrize("other", [None, "a", 1j, [1], (1, 2, 3)], ids=repr)
def test_operands_that_are_none(v, other) -> None:
    for operate in (lambda: v + other, lambda: other - v, lambda: v * other, lambda: other / v, lambda: v**other):
        with pytest.raises(TypeError):
            operate()
    for name in ("__iadd__", "__isub__", "__imul__", "__itruediv__"):
        assert getattr(v, name)(other) is NotImplemented


def test_remainders_and_powers(v) -> None:
    a = v.asnumpy()
    for got, wanted in ((v % 2, a % 2), (5 % (v + 1), 5 % (a + 1)), (v % (v + 1), a % (a + 1)), (v % -2, a % -2)):
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-6)
    for got, wanted in ((v**2, a**2), (2**v, 2**a), (v**v, a**a), (v**-0.5, a**-0.5)):
        np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-5)
    w = v.copy()
    kept = w
    w %= 2
    assert w is kept
    np.testing.assert_array_equal(w.asnumpy(), a % 2)


PAIRS = {
    "maximum": np.maximum,
    "minimum": np.minimum,
    "modulo": np.mod,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_functions_of_two_operands(name: str) -> None:
    function, reference = getattr(nd, name), PAIRS[name]
    a, b = np.array([1, 2, 0, 3], "float32"), np.array([[2], [3]], "float32")
    np.testing.assert_array_equal(function(nd.array(a), nd.array(b)).asnumpy(), reference(a, b).astype("float32"))
    np.testing.assert_array_equal(function(nd.array(a), 2).asnumpy(), reference(a, 2).astype("float32"))
    np.testing.assert_array_equal(function(2, nd.array(b)).asnumpy(), reference(2, b).astype("float32"))
    for lhs, rhs in ((3, 2), (2, 3), (2, 2), (0, 2)):
        assert function(lhs, rhs) == int(reference(lhs, rhs))
    with pytest.raises(TypeError):
        function(nd.array(a), None)
    with pytest.raises(TypeError):
        function("2", nd.array(a))


def test_operators_that_ndarray_lacks(v) -> None:
    for operate in (lambda: v // 2, lambda: ~v, lambda: v & v, lambda: +v):
        with pytest.raises(TypeError):
            operate()


def test_in_place(x, v) -> None:
    same, handle = x, x._h
    x += 1
    x *= x
    x -= nd.ones((4,))
    x /= 2
    assert x is same and x._h == handle
    base = np.arange(12).reshape(3, 4) + 1.0
    np.testing.assert_allclose(x.asnumpy(), (base * base - 1) / 2)
    with pytest.raises(mx.MXNetError):
        v += nd.ones((2, 3))
    with pytest.raises(mx.MXNetError):
        v += nd.ones((3,), dtype="int32")
    power = v
    power **= 2
    assert power is not v and v.asnumpy().tolist() == [1, 2, 3]


# ---- random, shapes' mode ----


@pytest.mark.parametrize("huge", [2**64 + 1, 2**63, -(2**63), -(2**64) + 1, 2**200])
def test_integers_that_do_not_fit(x, huge) -> None:
    """An error over both bindings; none is cut to 64 bits."""
    for wrong in (
        lambda: x[huge],
        lambda: x[0, huge],
        lambda: x.__setitem__(huge, 1),
        lambda: x.reshape((huge, 4)),
        lambda: x.reshape(huge),
        lambda: nd.zeros((huge,)),
        lambda: nd.empty((huge,)),
        lambda: nd.sum(x, axis=huge),
        lambda: nd.sum(x, axis=(0, huge)),
        lambda: nd.one_hot(x, depth=huge),
        lambda: nd.Reshape(x, shape=(huge,)),
    ):
        with pytest.raises((mx.MXNetError, ValueError, IndexError)):
            wrong()
    begin = min(max(huge, -10), 10)
    assert x[huge:].shape == x[begin:].shape and x[:huge].shape == x[:begin].shape


def test_random() -> None:
    mx.random.seed(5)
    first = nd.random.uniform(0, 1, (3, 2)), mx.random.normal(shape=4, dtype="float64"), nd.random.randn(2, 3)
    mx.random.seed(5)
    again = nd.random.uniform(0, 1, (3, 2)), mx.random.normal(shape=4, dtype="float64"), nd.random.randn(2, 3)
    for one, two in zip(first, again):
        assert one.asnumpy().tolist() == two.asnumpy().tolist()
    assert first[1].dtype == np.float64 and first[1].shape == (4,)
    assert nd.random.uniform().shape == nd.random.normal().shape == (1,)
    assert (nd.random.uniform(5, 6, (100,)).asnumpy() >= 5).all()
    out = nd.zeros((3,))
    assert nd.random.normal(loc=100, out=out, shape=(3,)) is out and out.asnumpy().min() > 50
    with pytest.raises(TypeError):
        nd.random.uniform(low=out, high=1)
    for wrong in (None, "a", 1.5):
        with pytest.raises(ValueError, match="seed: the state is a whole number"):
            mx.random.seed(wrong)
    mx.random.seed(np.int64(3), ctx=mx.cpu())
    mx.random.seed(2**40 + 1)


def test_numpy_shape_mode(x) -> None:
    assert not mx.is_np_shape() and x.sum().shape == (1,) and x[1, 2].shape == (1,)
    with mx.np_shape():
        assert mx.util.is_np_shape()
        assert nd.array(5).shape == () and nd.array(5).item() == 5
        assert x[1, 2].shape == () and x[1, 2].item() == 6
        assert nd.zeros((0, 3)).shape == (0, 3) and nd.zeros(()).shape == ()
        with mx.np_shape(False):
            assert not mx.is_np_shape()
        assert mx.is_np_shape()
    assert mx.set_np_shape(True) is False and mx.set_np_shape(False) is True

    @mx.use_np_shape
    def inside() -> bool:
        return mx.is_np_shape()

    assert inside() and not mx.is_np_shape()


def test_error_classes() -> None:
    from mxlite import error

    for prefix, kind in (("ValueError", ValueError), ("TypeError", TypeError), ("IndexError", IndexError)):
        made = error.error_from_message(f"{prefix}: x: what is wrong")
        assert isinstance(made, kind) and isinstance(made, mx.MXNetError)
    assert type(error.error_from_message("dot: what is wrong")) is mx.MXNetError
    assert isinstance(mx.MXNetError("x"), RuntimeError)

    @error.register_error("OddError")
    class OddError(mx.MXNetError):
        pass

    assert type(error.error_from_message("OddError: x")) is OddError
    del error._classes["OddError"]
