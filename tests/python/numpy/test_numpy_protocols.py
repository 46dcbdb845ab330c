"""NumPy's own functions, ufuncs and conversions of arrays of `mx.np`, and other packages' that call them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest

import mxlite as mx
from mxlite import autograd, np, npx, numpy_dispatch_protocol
from mxlite.numpy import _functions, _protocols, _table, _values

_X = numpy.array([[1.5, 2.0], [3.0, 4.5]], "float32")


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """NumPy's mode, for each test alone."""
    npx.set_np()
    yield
    npx.reset_np()


def _recorded(function: Any, *arrays: Any) -> tuple[Any, Any]:
    """What a function of arrays answers while recording, and the first array's gradient."""
    arrays[0].attach_grad()
    with autograd.record():
        y = function(*arrays)
    y.backward()
    return y, arrays[0].grad.asnumpy()


def test_ufuncs_are_recorded() -> None:
    x = np.array(_X)
    y, grad = _recorded(numpy.sin, x)
    assert type(y) is np.ndarray and numpy.allclose(grad, numpy.cos(_X))
    y, grad = _recorded(lambda x: numpy.multiply(numpy.float64(2), x) - numpy.add(x, x) * x, x)
    assert y.dtype == "float32" and numpy.allclose(grad, 2 - 4 * _X)


def test_functions_are_recorded() -> None:
    x = np.array(_X)
    for function, wanted in (
        (lambda x: numpy.concatenate([x, x]), numpy.full((2, 2), 2.0)),
        (lambda x: numpy.linalg.norm(x), _X / numpy.linalg.norm(_X)),
        (lambda x: numpy.sum(x * x, axis=0, keepdims=True), 2 * _X),
        (lambda x: numpy.mean(a=x), numpy.full((2, 2), 0.25)),
        (lambda x: numpy.where(x > 2, x, 0), _X > 2),
        (lambda x: numpy.einsum("ij,ij", x, x), 2 * _X),
        (lambda x: numpy.median(x), numpy.array([[0, 0.5], [0.5, 0]])),
        (lambda x: numpy.stack(arrays=[x, x], axis=1), numpy.full((2, 2), 2.0)),
        (lambda x: numpy.split(x, 2)[0], numpy.array([[1, 1], [0, 0]])),
    ):
        y, grad = _recorded(function, x)
        assert type(y) is np.ndarray and numpy.allclose(grad, wanted)


def test_every_function_that_both_have_is_handed_over() -> None:
    """Those of 1.9.1's list, too; the list of what there is is that of mx.np."""
    lists = numpy_dispatch_protocol
    assert (len(lists._NUMPY_ARRAY_FUNCTION_LIST), len(lists._NUMPY_ARRAY_UFUNC_LIST)) == (105, 57)
    assert set(lists._NUMPY_ARRAY_UFUNC_LIST) <= set(_functions.names(""))
    handed = 0
    for part, module in (("", numpy), ("linalg", numpy.linalg)):
        for name in set(_functions.names(part)) - _table.LEFT - {"svd"}:
            func = getattr(module, name, None)
            if func is None or isinstance(func, numpy.ufunc) or not hasattr(func, "_implementation"):
                continue
            same = _table.RENAMED.get(func.__name__, func.__name__)
            if same in _functions.names(part):
                assert _protocols._function(func) is not None, name
                handed += 1
    assert handed > 150
    assert lists.with_array_ufunc_protocol(abs) is lists.with_array_function_protocol(abs) is abs


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: numpy.sum(x, 0, None, np.zeros(2)), _X.sum(0)),
        (lambda x: numpy.all(x > 0, 0, None, True), numpy.array([[True, True]])),
        (lambda x: numpy.round(a=x, decimals=1), _X),
        (lambda x: numpy.reshape(x, shape=(4,)), _X.ravel()),
        (lambda x: numpy.copy(x, "K"), _X),
        (lambda x: numpy.full_like(x, 3, None, "K", True), numpy.full((2, 2), 3.0)),
        (lambda x: numpy.percentile(x, 50, axis=0, method="lower"), _X[0]),
        (lambda x: numpy.concat([x, x]), numpy.concatenate([_X, _X])),
        (lambda x: numpy.sin(x, out=np.zeros((2, 2))), numpy.sin(_X)),
        (lambda x: numpy.float32(2) < x, _X > 2),
        (lambda x: numpy.float64(2) ** x, 2**_X),
        (lambda x: numpy.broadcast_arrays(x, 2)[1], numpy.full((2, 2), 2)),
        (lambda x: numpy.linspace(x[0], x[1], 2), _X),
        (lambda x: numpy.ravel(x, order="F"), _X.T.ravel()),
        (lambda x: numpy.kron(x, x), numpy.kron(_X, _X)),
        (lambda x: numpy.logaddexp(x, x), _X + numpy.log(2)),
        (lambda x: numpy.add.reduce(x), _X.sum(0)),
        (lambda x: numpy.cross(x, numpy.ones(2)), _X[:, 0] - _X[:, 1]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*is computed by NumPy:UserWarning", "ignore:.*2-dimensional:DeprecationWarning")
def test_arguments_are_those_of_numpy(call: Any, wanted: numpy.ndarray) -> None:
    made = call(np.array(_X))
    assert type(made) is np.ndarray and numpy.allclose(made.asnumpy(), wanted)


def test_what_is_not_there_is_computed_on_values_and_said_once() -> None:
    x = np.array(_X)
    for name, call in (
        ("numpy.kron", lambda: numpy.kron(x, x)),
        ("numpy.logaddexp", lambda: numpy.logaddexp(x, x)),
        ("numpy.maximum.outer", lambda: numpy.maximum.outer(x, x)),
    ):
        _values._told.discard(name)
        with pytest.warns(UserWarning, match=f"^{name} is computed by NumPy") as caught:
            assert type(call()) is np.ndarray
        assert caught[0].filename == __file__ and len(caught) == 1
        with autograd.record(), pytest.raises(ValueError, match=f"^{name} is computed by NumPy, which records"):
            call()
    assert numpy.fft.fft(x).dtype.kind == "c"
    with pytest.raises(TypeError, match="out is an array of mx.np"):
        numpy.kron(x, x).shape  # noqa: B018
        numpy.logaddexp(x, x, out=x)


def test_memory_is_no_buffer_but_dlpack_gives_it() -> None:
    x = np.array(_X)
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(x)  # type: ignore[arg-type]
    memory = memoryview(numpy.from_dlpack(x))
    x[0, 0] = 9
    assert memory.shape == x.shape and memory[0, 0] == 9


def test_arrays_of_both_kinds_are_not_mixed() -> None:
    """As in 1.9.1."""
    x = np.array(_X)
    for call in (
        lambda: _X + x,
        lambda: x - _X,
        lambda: _X @ x,
        lambda: _X == x,
        lambda: numpy.add(x, _X),
        lambda: numpy.array(2.0) * x,
        lambda: numpy.concatenate([x, _X]),
        lambda: numpy.dot(_X, x),
        lambda: numpy.sin(_X, out=x),
        lambda: numpy.sin(x, out=_X.copy()),
    ):
        with pytest.raises(TypeError):
            call()
    values = _X.copy()
    with pytest.raises(TypeError):
        values += x


def test_other_classes_have_their_say() -> None:
    class Other:
        __array_ufunc__ = None

        def __radd__(self, other: Any) -> str:
            return "other"

    class Units:
        def __array_ufunc__(self, *args: Any, **kwargs: Any) -> str:
            return "units"

        def __array_function__(self, *args: Any, **kwargs: Any) -> str:
            return "units"

    x = np.array(_X)
    assert x + Other() == "other"
    assert numpy.add(x, Units()) == "units" and numpy.concatenate([x, Units()]) == "units"


def test_conversions() -> None:
    x, index, mask = np.array(_X), np.array([1, 0], dtype="int32"), np.array([True, False], dtype=bool)
    assert numpy.asarray(x).tolist() == numpy.from_dlpack(x).tolist() == _X.tolist()
    assert numpy.asarray(x, dtype="float64").dtype == "float64" and numpy.array([x, x]).shape == (2, 2, 2)
    assert np.array(numpy.asarray(x)).asnumpy().tolist() == _X.tolist()
    assert numpy.array([5, 6])[index].tolist() == [6, 5] and numpy.array([5, 6])[mask].tolist() == [5]
    assert [5, 6][np.array(1, dtype="int64")] == 6
    numpy.testing.assert_allclose(x, _X)
    numpy.testing.assert_array_equal(numpy.sort(numpy.asarray(x)), _X)
    for made in (copy.copy(x), copy.deepcopy([x])[0], pickle.loads(pickle.dumps(x))):
        assert type(made) is np.ndarray and made is not x and made.asnumpy().tolist() == _X.tolist()
        made[0] = 7
    assert x.asnumpy().tolist() == _X.tolist()
    assert type(np.array(3.5).item()) is float and complex(np.array(3.5)) == 3.5 and np.array(True).item() is not None


def test_recorded_arrays_are_read_by_numpy_as_values() -> None:
    x = np.array(_X)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        assert numpy.asarray(y).tolist() == (2 * _X).tolist()
    assert isinstance(y, np.ndarray) and mx.autograd.is_recording() is False


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    x = np.array(_X)
    assert pandas.DataFrame(x).to_numpy().tolist() == _X.tolist()
    assert pandas.Series(x[0]).tolist() == _X[0].tolist()


@pytest.mark.filterwarnings("ignore:.*is computed by NumPy:UserWarning")
def test_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib.figure")
    x, axes = np.array(_X), matplotlib.Figure().add_subplot()
    (line,) = axes.plot(x[0], x[1])
    assert line.get_ydata().tolist() == _X[1].tolist()
    axes.scatter(x[0], x[1])
    axes.imshow(x)
    axes.hist(x[0])
    assert [bar.get_height() for bar in axes.bar(np.array([0, 1]), x[0])] == _X[0].tolist()


def test_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    x = np.array([[1.0], [2.0], [3.0]])
    assert numpy.allclose(linear.LinearRegression().fit(x, x[:, 0] * 2).coef_, 2)
