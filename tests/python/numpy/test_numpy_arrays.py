"""`mx.np` beside what answers alone show: memory, modes, errors, signatures, calls in C."""

from __future__ import annotations

import inspect
import json
import lzma
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy
import pytest

import mxlite as mx
from mxlite import autograd, np, npx
from mxlite.numpy import _elements, _functions, _linalg, _statistics, _table

_REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "numpy" / "arrays.json.xz"
_SIGNATURES: dict[str, dict[str, str | None]] = json.loads(lzma.decompress(_REFERENCE.read_bytes()))["signatures"]
_MODULES = {"": np, "random": np.random, "linalg": np.linalg, "npx": npx, "ndarray": np.ndarray}

#: Of 1.9.1's own imports, in mx.npx; and arguments that differ: eye names its `ctx`, smooth_l1 has our operator's.
_OTHERS = {"npx.check_call", "npx.classproperty", "npx.with_metaclass", "npx.get_cuda_compute_capability"}
#: Methods that only raise, in 1.9.1 too, where their arguments do not say it.
_LACKING = {"asscalar", "broadcast_like", "diag", "sort", "tostype"}
_OTHER_ARGUMENTS = {"eye", "npx.smooth_l1", *_table.LEFT}
#: Functions that 1.9.1 leaves to NumPy, and whose arguments Python knows.
_NUMPYS = {
    f"{prefix}{name}"
    for prefix, part in (("", _elements), ("", _statistics), ("linalg.", _linalg))
    for name in part.OF_VALUES
    if _SIGNATURES.get(f"{prefix}{name}")
}


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """NumPy's mode, for each test alone."""
    npx.set_np()
    yield
    npx.reset_np()


def _arguments(function: Any) -> dict[str, str | None]:
    rows = inspect.signature(function).parameters.values()
    return {
        str(each).partition("=")[0].partition(":")[0].strip(): None
        if each.default is each.empty
        else repr(each.default)
        for each in rows
    }


@pytest.mark.parametrize("name", sorted(_SIGNATURES))
def test_names_and_signatures_are_those_of_mxnet(name: str) -> None:
    module, _, own = name.rpartition(".")
    if name in _OTHERS:
        return
    thing = getattr(_MODULES[module], own)
    if (
        module == "ndarray"
        and own != "reshape"
        and (own in _LACKING or set(_SIGNATURES[name]) == {"self", "*args", "**kwargs"})
    ):
        with pytest.raises(AttributeError, match=f"has no {own}"):
            thing(np.ones(2))
        return
    if name in _NUMPYS:  # with the signature of the NumPy that 1.9.1 was asked with
        assert [each for each in _SIGNATURES[name] if each not in ("where", "initial")] == list(_arguments(thing))
    elif _SIGNATURES[name] and name not in _OTHER_ARGUMENTS:
        assert _arguments(thing) == _SIGNATURES[name]


def test_dir_has_all_functions() -> None:
    assert {"sum", "exp", "add", "array", "concatenate", "random", "linalg", "ndarray", "pi"} <= set(dir(np))
    assert {"norm", "svd"} <= set(dir(np.linalg)) and {"uniform", "choice"} <= set(dir(np.random))
    assert {"relu", "set_np", "softmax", "cpu", "random", "image"} <= set(dir(npx))


def test_the_class() -> None:
    x = np.ones((2, 3))
    assert type(x) is np.ndarray is mx.np.ndarray and isinstance(x, mx.nd.NDArray)
    assert x.dtype == numpy.dtype("float32") and isinstance(x.dtype, numpy.dtype)
    copied = pickle.loads(pickle.dumps(x))
    assert type(copied) is np.ndarray and copied.asnumpy().tolist() == x.asnumpy().tolist()
    with pytest.raises(TypeError, match="hash"):
        hash(x)


@pytest.mark.parametrize(
    ("values", "dtype", "text"),
    [
        (1.0, "float32", "array(1.)"),
        (1.0, "float64", "array(1., dtype=float64)"),
        (3, "int64", "array(3, dtype=int64)"),
        ([True], "bool", "array([ True])"),
        ([], "float32", "array([])"),
        ([], "float64", "array([], dtype=float64)"),
        ([[]], "int32", "array([], shape=(1, 0), dtype=int32)"),
        (True, "bool", "array(True)"),
    ],
)
def test_printing(values: Any, dtype: str, text: str) -> None:
    x = np.array(values, dtype=dtype)
    assert repr(x) == text and str(x) == str(x.asnumpy())
    assert repr(x.copyto(mx.cpu(1))) == text  # as in 1.9.1


def test_views_and_both_classes_share_memory() -> None:
    x = np.zeros((2, 2))
    x[0][1] = 1
    x.as_nd_ndarray()[1] = 2
    x.reshape_view(4)[2] = 3
    x.detach()[1, 1] = 4
    assert x.asnumpy().tolist() == [[0, 1], [3, 4]]
    y = mx.nd.zeros((2,))
    y.as_np_ndarray()[0] = 5
    assert y.asnumpy().tolist() == [5, 0] and y.as_np_ndarray().as_np_ndarray()[0] == 5


def test_the_graph_is_shared_by_both_classes() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (mx.nd.exp(x.as_nd_ndarray()).as_np_ndarray() * x).sum()
    y.backward()
    assert type(x.grad) is np.ndarray
    assert numpy.allclose(x.grad.asnumpy(), numpy.exp([1, 2]) * [2, 3])
    assert [type(each) for each in autograd.grad(*_square())] == [np.ndarray]


def _square() -> tuple[Any, Any]:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        return x * x, [x]


def test_the_kinds_of_arrays_are_not_mixed() -> None:
    x, y = np.ones(2), mx.nd.ones((2,))
    for call in (lambda: x + y, lambda: y + x, lambda: np.exp(y), lambda: np.dot(x, y), lambda: npx.relu(y)):
        with pytest.raises(TypeError, match="as_np_ndarray"):
            call()
    for call in (lambda: mx.nd.exp(x), lambda: mx.nd.concat(x, x)):
        with pytest.raises(TypeError, match="as_nd_ndarray"):
            call()
    for call in (lambda: x + [1, 2], lambda: [1, 2] + x, lambda: x * numpy.ones(2), lambda: numpy.ones(2) * x):
        with pytest.raises(TypeError, match="mx.np.array"):
            call()
    with pytest.raises(ValueError, match="as_np_ndarray"):
        np.array(y)
    assert x.__add__(object()) is NotImplemented


def test_options_and_arguments_that_are_refused() -> None:
    x = np.ones((2, 2))
    for call in (
        lambda: np.exp(x, where=x > 1),
        lambda: np.exp(x, dtype="float64"),
        lambda: np.add(x, x, casting="no"),
        lambda: np.argsort(x, order="f"),
        lambda: np.ravel(x, order="F"),
        lambda: np.reshape(x, 4, order="F"),
        lambda: np.zeros((2,), order="F"),
        lambda: x.reshape(4, order="F"),
        lambda: x.flatten("F"),
        lambda: np.diff(x, prepend=0),
        lambda: np.linspace(0, 1, axis=1),
    ):
        with pytest.raises((NotImplementedError, ValueError), match="is not supported|neither true nor false"):
            call()
    with pytest.raises(TypeError, match="no parameter"):
        np.exp(x, foo=1)


@pytest.mark.parametrize("name", ["uniform", "normal", "gamma", "beta", "exponential", "gumbel", "logistic", "pareto"])
def test_random_numbers_fit_their_parameters(name: str) -> None:
    mx.random.seed(7)
    draw = getattr(np.random, name)
    given = {"gamma": (2.0,), "beta": (2.0, 3.0), "pareto": (3.0,)}.get(name, ())
    assert draw(*given, size=(3, 4)).shape == (3, 4)
    assert draw(*given).shape == ()
    values = draw(*given, size=4000).asnumpy()
    means = {"uniform": 0.5, "normal": 0, "gamma": 2, "beta": 0.4, "exponential": 1, "gumbel": 0.577, "logistic": 0}
    assert abs(values.mean() - means.get(name, 0.5)) < 0.15


def test_other_random_numbers() -> None:
    mx.random.seed(3)
    assert set(np.random.randint(2, 5, size=100).asnumpy()) == {2, 3, 4}
    assert np.random.randint(5).shape == () and np.random.randint(5, size=2).dtype == "int64"
    assert np.random.choice(5, 5, replace=False).asnumpy().sum() == 10
    assert set(np.random.choice(np.array([7.0, 8.0]), 50).asnumpy()) == {7, 8}
    assert np.random.multinomial(10, [0.2, 0.8], size=3).asnumpy().sum(axis=1).tolist() == [10, 10, 10]
    drawn = np.random.multivariate_normal(np.array([1.0, 2.0]), np.array([[2.0, 1.0], [1.0, 2.0]]), size=4000)
    assert numpy.allclose(numpy.cov(drawn.asnumpy().T), [[2, 1], [1, 2]], atol=0.3)
    assert numpy.allclose(drawn.asnumpy().mean(axis=0), [1, 2], atol=0.15)
    x = np.arange(20)
    np.random.shuffle(x)
    assert sorted(x.asnumpy()) == list(range(20)) and x.asnumpy().tolist() != list(range(20))
    assert set(npx.random.bernoulli(0.5, size=50).asnumpy()) == {0, 1}
    with pytest.raises(ValueError, match="not both"):
        npx.random.bernoulli(0.5, 0.5)


def test_modes_are_a_threads_own() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append((npx.is_np_array(), npx.is_np_shape())))
    thread.start()
    thread.join()
    assert found == [(False, False)] and npx.is_np_array() and npx.is_np_shape()
    with mx.util.np_array(False):
        assert not npx.is_np_array() and npx.is_np_shape()
    npx.reset_np()
    assert mx.util.use_np(lambda: (npx.is_np_array(), npx.is_np_shape()))() == (True, True)
    assert not npx.is_np_array() and not npx.is_np_shape()


def test_classes_run_in_the_mode() -> None:
    npx.reset_np()

    @mx.util.use_np_array
    class Some:
        def method(self) -> bool:
            return npx.is_np_array()

    assert Some().method() and not npx.is_np_array()
    with pytest.raises(TypeError, match="use_np"):
        mx.util.use_np(3)


def test_solve_keeps_an_array_that_is_both_inputs() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.5]])
    assert numpy.allclose(np.linalg.solve(x, x).asnumpy(), numpy.eye(2))
    assert x.asnumpy().tolist() == [[1, 2], [3, 4.5]]


def test_no_arrays_are_joined() -> None:
    with pytest.raises(mx.MXNetError, match="got 0"):
        np.concatenate([])


def test_files_are_those_of_mx_nd(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    npx.save(path, {"a": np.ones(2), "b": np.array(3.0)})
    loaded = npx.load(path)
    assert {name: each.asnumpy().tolist() for name, each in loaded.items()} == {"a": [1, 1], "b": 3}
    assert all(type(each) is np.ndarray for each in loaded.values())
    assert type(mx.nd.load(str(path))["a"]) is mx.nd.NDArray
    with pytest.raises(TypeError, match="mx.np"):
        npx.save(path, mx.nd.ones((2,)))


@pytest.mark.parametrize("name", ["sum", "exp", "add", "dot", "transpose", "mean", "ndarray.max"])
def test_calls_in_c_are_those_of_the_function(name: str) -> None:
    """Each call three times: the third is one that is known."""
    function = _functions.function(name)
    x = np.array([[1.0, 2.0], [3.0, 4.5]])
    calls: dict[str, Any] = {
        "add": [((x, x), {}), ((x, 2), {}), ((2, x), {}), ((x, 2.5), {})],
        "dot": [((x, x), {})],
        "exp": [((x,), {}), ((x, x.copy()), {})],
        "transpose": [((x,), {}), ((x, (1, 0)), {})],
    }
    for args, kwargs in calls.get(name, [((x,), {}), ((x, 1), {}), ((x,), {"axis": 0, "keepdims": True})]):
        expected = inspect.unwrap(function)(*args, **kwargs).asnumpy()
        for _ in range(3):
            made = function(*args, **kwargs)
            assert type(made) is np.ndarray and made.asnumpy().tolist() == expected.tolist()


def test_keys_while_recording() -> None:
    x = np.arange(6).reshape(2, 3)
    x.attach_grad()
    with autograd.record():
        y = x[x > 2].sum() + x[1, np.array([0, 0])].sum() + x[:, ::-1][0, 0]
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0, 0, 1], [3, 1, 1]]


def test_bad_input_is_a_value_error_in_c_and_in_python() -> None:
    x, y = np.ones((2, 3)), np.ones((4, 5))
    calls = {
        "add": lambda f: f(x, y),
        "sum": lambda f: f(x, 5),
        "dot": lambda f: f(x, y),
        "matmul": lambda f: f(x, y),
        "reshape": lambda f: f(x, (4, 4)),
    }
    for name, call in calls.items():
        for function in (getattr(np, name), inspect.unwrap(getattr(np, name))):
            with pytest.raises(ValueError, match=f"^{name}"):
                call(function)
    for bad in (
        lambda: x + y,
        lambda: x > y,
        lambda: x @ y,
        lambda: x.reshape(4, 4),
        lambda: x.mean(axis=7),
        lambda: np.concatenate([x, y]),
    ):
        with pytest.raises(ValueError) as caught:
            bad()
        assert isinstance(caught.value, mx.MXNetError)


def test_ranges_are_rounded_once() -> None:
    for start, stop, step in ((0, 1, 0.1), (1, 3, 0.3), (-1, 1, 0.3)):
        wanted = numpy.arange(start, stop, step).astype("float32")
        assert np.arange(start, stop, step).asnumpy().tolist() == wanted.tolist()
        assert mx.nd.arange(start, stop, step).asnumpy().tolist() == wanted.tolist()


def test_the_negative_of_bool() -> None:
    """Python's operator counts, as in 1.9.1; the function refuses bool, as there and in NumPy."""
    mask = np.array([1.0, 0.0]) > 0
    assert (-mask).dtype == "int64" and (-mask).asnumpy().tolist() == [-1, 0]
    with pytest.raises(ValueError):
        np.negative(mask)


def test_genfromtxt() -> None:
    assert np.genfromtxt(["1,2", "3,4"], delimiter=",").asnumpy().tolist() == [[1, 2], [3, 4]]
    assert np.genfromtxt(["1,2"], delimiter=",", dtype="int32").dtype == "int32"


def test_argwhere() -> None:
    assert np.argwhere(np.array([[0, 1], [2, 0]])).asnumpy().tolist() == [[0, 1], [1, 0]]


def test_messages_name_function_and_argument() -> None:
    with pytest.raises(TypeError, match=r"^sum: a must be an array of mx\.np, got list; mx\.np\.array makes one$"):
        np.sum([1, 2])
    with pytest.raises(AssertionError):  # as in 1.9.1
        np.sum([1, 2])
    with pytest.raises(AttributeError, match="concatenate"):
        _ = np.concatinate
    with pytest.raises(TypeError, match="^clip: an input must be an array of mx.np, got list"):
        np.clip([1, 2], 0, 1)
    with pytest.raises(TypeError, match="out must be an ndarray or a list of them, got NDArray"):
        np.sum(np.ones(2), out=mx.nd.ones((1,)))


def test_keys_of_numpy() -> None:
    x, z, index = np.arange(6).reshape(2, 3), np.array(3.5), np.array([1, 0], dtype="int32")
    assert z[...].shape == () and z[None].shape == (1,)
    assert x[index, :, None].shape == (2, 3, 1)
    with pytest.raises(TypeError, match="without axes"):
        list(z)
    with pytest.raises(IndexError):
        z[0]
    with pytest.raises(IndexError):
        x[:, 5]


def test_in_place_products() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    y = x
    y @= x
    assert y is x and x.asnumpy().tolist() == [[7, 10], [15, 22]]


def test_arguments_that_are_not_there() -> None:
    x = np.ones((2, 2))
    for call in (lambda: np.copy(x, axis=1), lambda: np.ravel(x, 2), lambda: np.vstack([x], 2), lambda: np.swapaxes(x)):
        with pytest.raises((TypeError, NotImplementedError)):
            call()


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("x.var()", [[-0.8125, -0.3125], [0.1875, 0.9375]]),
        ("np.atleast_3d(x)", [[1, 1], [1, 1]]),
        ("np.percentile(x, 50)", [[0, 0.5], [0.5, 0]]),
        ("np.delete(x, 0, axis=0)", [[0, 0], [1, 1]]),
        ("np.insert(x, 0, x[0], axis=0)", [[2, 2], [1, 1]]),
        ("np.resize(x, (3, 2))", [[2, 2], [1, 1]]),
        ("np.pad(x, 1, 'edge')", [[4, 4], [4, 4]]),
        ("np.where(x > 2, x, 0)", [[0, 0], [1, 1]]),
        ("np.where(x > 2, 0, x)", [[1, 1], [0, 0]]),
    ],
)
def test_gradients_that_mxnet_lacks(expression: str, wanted: list) -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.5]])
    x.attach_grad()
    with autograd.record():
        y = eval(expression, {"x": x, "np": np})
    y.backward()
    assert numpy.allclose(x.grad.asnumpy(), wanted)


def test_what_mxnet_refuses() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.5]])
    counts, edges = np.histogram(x, 2)
    assert counts.asnumpy().tolist() == [2, 2] and edges.asnumpy().tolist() == [1, 2.75, 4.5]
    assert [each.shape for each in np.meshgrid(x[0], x[1], sparse=True)] == [(1, 2), (2, 1)]
    assert np.less(x, np.array([2, 2], dtype="int32")).asnumpy().tolist() == [[True, False], [False, False]]
    assert numpy.allclose(np.rad2deg(np.deg2rad(x)).asnumpy(), x.asnumpy())
