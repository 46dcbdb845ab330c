"""Functions of `mx.np` that 1.9.1 leaves to the installed NumPy: their gradients, and what values alone do not show."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy
import pytest

import mxlite as mx
from mxlite import autograd, np, npx
from mxlite.numpy import _table, _values

_X = numpy.array([[1.3, 2.1, 3.4], [0.7, 4.6, 1.9]])
_GAPS = numpy.array([[1.3, numpy.nan, 3.4], [0.7, 4.6, numpy.nan]])
_SQUARE = numpy.array([[4.1, 1.2, 0.3], [0.9, 3.2, 0.4], [0.2, 0.5, 2.7]])


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """NumPy's mode, for each test alone."""
    npx.set_np()
    yield
    npx.reset_np()


def _array(values: Any, dtype: Any = "float64") -> Any:
    return np.array(values, dtype=dtype)


#: Functions of one array, and the array.
_DIFFERENTIATED: list[tuple[str, Callable[[Any], Any], numpy.ndarray]] = [
    ("apply_along_axis", lambda x: np.apply_along_axis(lambda row: row * row.sum(), 1, x), _X),
    ("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x * x, (0, 1)), _X),
    ("choose", lambda x: np.choose(_array([1, 0, 1], "int64"), [x[0] ** 3, x[1]]), _X),
    ("compress", lambda x: np.compress([True, False, True], x**3, axis=1), _X),
    ("correlate", lambda x: np.correlate(x[0], x[1], "full"), _X),
    ("correlate-same", lambda x: np.correlate(x[0], x[1, :2], "same"), _X),
    ("corrcoef", lambda x: np.corrcoef(x), _X),
    ("cov", lambda x: np.cov(x), _X),
    ("cov-weights", lambda x: np.cov(x, aweights=[1, 2, 3.0]), _X),
    ("cross", lambda x: np.cross(x[0], x[1]), _X),
    ("cumprod", lambda x: np.cumprod(x, axis=1), _X),
    ("divmod", lambda x: np.divmod(x, 0.8)[1] ** 2, _X),
    ("extract", lambda x: np.extract(x > 1, x**3), _X),
    ("float_power", lambda x: np.float_power(x, x), _X),
    ("frexp", lambda x: np.frexp(x)[0] ** 2, _X),
    ("gradient", lambda x: np.gradient(x**3, axis=1), _X),
    ("gradient-2", lambda x: np.gradient(x**3, x[0], axis=1, edge_order=2), _X),
    ("heaviside", lambda x: np.heaviside(x - 100, x) * x**2, _X),
    ("interp", lambda x: np.interp(x[0], _array([0, 2, 4]), x[1]), _X),
    ("interp-points", lambda x: np.interp(_array([1.1, 2.7]), x[0], x[1]), _X),
    ("intersect1d", lambda x: np.intersect1d(x**2, x[0] ** 2), _X),
    ("median", lambda x: np.median(x**2, axis=1), _X),
    ("modf", lambda x: np.modf(x)[0] ** 3, _X),
    ("msort", lambda x: np.msort(x**2), _X),
    ("nancumprod", lambda x: np.nancumprod(x), _GAPS),
    ("nancumsum", lambda x: np.nancumsum(x) ** 2, _GAPS),
    ("nanmax", lambda x: np.nanmax(x, axis=1) ** 2, _GAPS),
    ("nanmean", lambda x: np.nanmean(x, axis=1) ** 2, _GAPS),
    ("nanmedian", lambda x: np.nanmedian(x, axis=1) ** 2, _GAPS),
    ("nanpercentile", lambda x: np.nanpercentile(x, 30, axis=0) ** 2, _GAPS),
    ("nanprod", lambda x: np.nanprod(x), _GAPS),
    ("nanstd", lambda x: np.nanstd(x, axis=1), _GAPS),
    ("nansum", lambda x: np.nansum(x, axis=0) ** 3, _GAPS),
    ("nanvar", lambda x: np.nanvar(x), _GAPS),
    ("partition", lambda x: np.partition(x**2, 1), _X),
    ("piecewise", lambda x: np.piecewise(x, [x < 1, x >= 2], [lambda t: t**3, np.log, 7]), _X),
    ("poly", lambda x: np.poly(x[0]), _X),
    ("polydiv", lambda x: np.polydiv(x[0], x[1, :2])[0], _X),
    ("polyfit", lambda x: np.polyfit(x[0], x[1], 1), _X),
    ("polyint", lambda x: np.polyint(x[0] ** 2, 2), _X),
    ("polymul", lambda x: np.polymul(x[0], x[1]), _X),
    ("ptp", lambda x: np.ptp(x**2, axis=1), _X),
    ("rollaxis", lambda x: np.rollaxis(x**2, 1), _X),
    ("select", lambda x: np.select([x < 1, x > 2], [x**3, np.log(x)], 5.0), _X),
    ("setdiff1d", lambda x: np.setdiff1d(x**2, [0.49]), _X),
    ("setxor1d", lambda x: np.setxor1d(x[0] ** 2, x[1]), _X),
    ("take_along_axis", lambda x: np.take_along_axis(x**2, _array([[0], [2]], "int64"), 1), _X),
    ("trapz", lambda x: np.trapz(x[0], x[1]), _X),
    ("triu", lambda x: np.triu(x**2, 1), _X),
    ("union1d", lambda x: np.union1d(x[0] ** 2, x[1]), _X),
    ("unwrap", lambda x: np.unwrap(x**2, axis=0), _X),
    ("vander", lambda x: np.vander(x[0]), _X),
    ("linalg.cond", lambda x: np.linalg.cond(x), _SQUARE),
    ("linalg.cond-1", lambda x: np.linalg.cond(x, 1), _SQUARE),
    ("linalg.lstsq", lambda x: np.linalg.lstsq(x[:, :2], x[:, 2])[0], _SQUARE),
    ("linalg.matrix_power", lambda x: np.linalg.matrix_power(x, 3), _SQUARE),
    ("linalg.matrix_power-1", lambda x: np.linalg.matrix_power(x, -2), _SQUARE),
    ("linalg.multi_dot", lambda x: np.linalg.multi_dot([x, x[:, :2], x[:2]]), _SQUARE),
    ("linalg.qr", lambda x: np.linalg.qr(x[:, :2])[0], _SQUARE),
    ("linalg.qr-r", lambda x: np.linalg.qr(x[:2], "r"), _SQUARE),
]


def _weighed(function: Callable[[Any], Any], x: Any) -> Any:
    """A number that depends on all that a function answers, differently on each element."""
    made = function(x)
    weights = numpy.cos(numpy.arange(made.size)).reshape(made.shape)
    return (made * _array(weights)).sum()


def _slopes(function: Callable[[Any], Any], at: numpy.ndarray) -> numpy.ndarray:
    """The gradient of a number, by differences."""
    found = numpy.zeros_like(at)
    for place in numpy.ndindex(*at.shape):
        step = numpy.zeros_like(at)
        step[place] = 1e-5
        found[place] = (float(function(_array(at + step))) - float(function(_array(at - step)))) / 2e-5
    return numpy.where(numpy.isnan(at), 0, found)


def _grad(function: Callable[[Any], Any], x: Any, create_graph: bool = False) -> Any:
    x.attach_grad()
    with autograd.record():
        y = _weighed(function, x)
        return autograd.grad(y, x, create_graph=create_graph)[0] if create_graph else autograd.grad(y, [x])[0]


@pytest.mark.parametrize(
    ("function", "at"), [row[1:] for row in _DIFFERENTIATED], ids=[row[0] for row in _DIFFERENTIATED]
)
def test_gradients_to_second_order(function: Callable[[Any], Any], at: numpy.ndarray) -> None:
    x = _array(at)
    wanted = _slopes(lambda v: _weighed(function, v), at)
    assert numpy.allclose(_grad(function, x).asnumpy(), wanted, rtol=1e-4, atol=1e-6)
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(_weighed(function, x), [x], create_graph=True)[0]
        total = _weighed(lambda _: first, x)
    total.backward()
    wanted = _slopes(lambda v: _weighed(lambda u: _grad(function, u), v), at)
    assert numpy.allclose(x.grad.asnumpy(), wanted, rtol=1e-3, atol=1e-5)


def test_positions_and_truth_are_found_while_recording() -> None:
    """They have no derivative, so NumPy's answers lose none."""
    x = _array(_X)
    x.attach_grad()
    with autograd.record():
        answers = [
            np.searchsorted(x[0], x[1]),
            np.digitize(x, [1, 2]),
            np.argpartition(x, 1),
            np.isin(x, x[0]),
            np.nanargmax(x, axis=0),
            np.signbit(-x),
            np.lexsort((x[0], x[1])),
            np.flatnonzero(x > 2),
        ]
        assert np.allclose(x, x) and np.array_equal(x, x) and np.count_nonzero(x) == 6
    assert all(type(each) is np.ndarray and not each.requires_grad for each in answers)
    assert answers[0].asnumpy().tolist() == [0, 3, 1] and answers[5].asnumpy().all()


@pytest.mark.parametrize("name", sorted(_table.LEFT))
def test_what_is_left_to_numpy_is_said_once_and_refused_while_recording(name: str) -> None:
    x = _array([1.0, 2.0, 3.0])
    function = getattr(np, name)
    _values._told.discard(f"mx.np.{name}")
    args = {"histogram2d": (x, x), "histogramdd": (x.reshape(3, 1),)}.get(name, (x,))
    with pytest.warns(UserWarning, match=f"^mx.np.{name} is computed by NumPy") as caught:
        first = function(*args)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(*args)
        assert isinstance(function(*(each.asnumpy() for each in args)), (numpy.ndarray, tuple))
    assert name == "roots" or isinstance(first[0] if isinstance(first, tuple) else first, np.ndarray)
    with autograd.record(), pytest.raises(ValueError, match=f"^mx.np.{name} .*records nothing") as refused:
        function(*args)
    assert isinstance(refused.value, mx.MXNetError)


def test_numpy_answers_where_no_argument_is_an_array() -> None:
    """As in 1.9.1; what NumPy has dropped is there."""
    assert isinstance(np.cov([[1, 2], [3, 4]]), numpy.ndarray)
    assert np.in1d([1, 2, 3], [2]).tolist() == [False, True, False]
    assert np.trapz([1, 2, 3]) == 4 and np.divmod(7, 2) == (3, 1)
    assert np.msort([3, 1, 2]).tolist() == [1, 2, 3]
    assert not np.alltrue([1, 0])
    assert np.linalg.matrix_rank([[1, 2], [2, 4]]) == 1


def test_lists_and_numpys_arrays_beside_arrays() -> None:
    x = _array([1.0, 2.5, 4.0])
    for other in ([1, 4], numpy.array([1, 4]), _array([1, 4])):
        assert np.isin(x, other).asnumpy().tolist() == [True, False, True]
        assert np.interp(x, other, numpy.array([0.0, 3.0])).asnumpy().tolist() == [0, 1.5, 3]
        assert np.setdiff1d(x, other).asnumpy().tolist() == [2.5]
    assert np.select([x < 2], [7]).asnumpy().tolist() == [7, 0, 0]
    assert np.linalg.multi_dot([x, numpy.eye(3), x]).asnumpy() == 23.25


def test_masks_and_places_of_bad_input_are_refused() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for call, error, text in (
        (lambda: np.take_along_axis(x, x, 0), IndexError, "indices are integers"),
        (lambda: np.take_along_axis(x, np.array([0], dtype="int64"), 0), ValueError, "2 axes"),
        (lambda: np.choose(np.array([0, 5], dtype="int64"), [x, x]), ValueError, "from 0 to 1"),
        (lambda: np.interp(x, x, x), ValueError, "vectors of one length"),
        (lambda: np.cross(x, np.ones((2, 4))), ValueError, "2 or 3 elements"),
        (lambda: np.correlate(x, x), ValueError, "two vectors"),
        (lambda: np.correlate(x[0], x[1], "some"), ValueError, "mode is"),
        (lambda: np.gradient(x, edge_order=3), ValueError, "edge_order"),
        (lambda: np.gradient(x[:1]), ValueError, "elements at least"),
        (lambda: np.nanquantile(x, 2), ValueError, "from 0 to 1"),
        (lambda: np.piecewise(x[0], [x[0] > 1], [1, 2, 3]), ValueError, "functions"),
        (lambda: np.select([x > 1], []), ValueError, "as many"),
        (lambda: np.vander(x), ValueError, "vector"),
        (lambda: np.polyfit(x, x[0], 1), ValueError, "vector"),
        (lambda: np.rollaxis(x, 3), ValueError, "out of bounds"),
        (lambda: np.fill_diagonal(x[0], 1), ValueError, "matrix"),
        (lambda: np.linalg.lstsq(x, np.ones(3)), ValueError, "as many rows"),
        (lambda: np.linalg.matrix_power(np.ones((2, 3)), 2), ValueError, "square"),
        (lambda: np.linalg.multi_dot([x]), ValueError, "two arrays"),
        (lambda: np.linalg.qr(x, "full"), NotImplementedError, "mode"),
        (lambda: np.npv(0.1, x), NotImplementedError, "numpy_financial"),
        (lambda: np.cov(x, fweights=[1, -1]), ValueError, "fweights"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_fill_diagonal_writes_in_place() -> None:
    for shape, wrap in (((3, 3), False), ((2, 4), False), ((5, 2), False), ((5, 2), True), ((2, 2, 2), False)):
        x, wanted = np.zeros(shape), numpy.zeros(shape, "float32")
        np.fill_diagonal(x, np.array([1.0, 2.0]), wrap)
        numpy.fill_diagonal(wanted, [1, 2], wrap)
        assert x.asnumpy().tolist() == wanted.tolist()


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_functions_beyond_those_of_mxnet(axis: int | None) -> None:
    """Functions of NumPy's that 1.9.1 does not offer by name."""
    x = _array(_X)
    assert numpy.allclose(np.nansum(_array(_GAPS), axis=axis).asnumpy(), numpy.nansum(_GAPS, axis=axis))
    assert numpy.allclose(np.median(x, axis=axis).asnumpy(), numpy.median(_X, axis=axis))
    assert numpy.allclose(np.cumprod(x, axis=axis).asnumpy(), numpy.cumprod(_X, axis=axis))
    assert numpy.allclose(np.floor_divide(x, 0.4).asnumpy(), _X // 0.4)
    assert np.logical_and(x > 1, x < 3).asnumpy().tolist() == ((_X > 1) & (_X < 3)).tolist()
    assert numpy.allclose(np.convolve(x[0], x[1]).asnumpy(), numpy.convolve(_X[0], _X[1]))
    square = numpy.vstack([_X, _X[:1] ** 2])
    found, wanted = (numpy_.gradient(of(square), 0.5, axis=axis, edge_order=2) for numpy_, of in _BOTH)
    for mine, theirs in zip([found] if axis is not None else found, [wanted] if axis is not None else wanted):
        assert numpy.allclose(mine.asnumpy(), theirs)


_BOTH: tuple[tuple[Any, Callable[[Any], Any]], ...] = ((np, _array), (numpy, numpy.asarray))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "bool"])
def test_dtypes_and_special_numbers_are_numpys(dtype: str) -> None:
    values = numpy.array([[2, 0, 3], [1, 1, 0]]).astype(dtype)
    gaps = numpy.where(values == 1, numpy.nan, values) if dtype[0] == "f" else values
    gaps = gaps.astype(dtype)
    calls: list[Callable[[Any, Any], Any]] = [
        lambda f, x: f.nansum(x, axis=0),
        lambda f, x: f.nanprod(x),
        lambda f, x: f.cumprod(x, axis=1),
        lambda f, x: f.nancumsum(x),
        lambda f, x: f.nanmean(x),
        lambda f, x: f.median(x, axis=1),
        lambda f, x: f.modf(x)[0],
        lambda f, x: f.heaviside(x, x),
        lambda f, x: f.divmod(x, 2)[0],
        lambda f, x: f.correlate(x[0], x[1], "full"),
        lambda f, x: f.convolve(x[0], x[1, :2], "same"),
        lambda f, x: f.polymul(x[1], x[0]),
        lambda f, x: f.setxor1d(x[0], x[1]),
        lambda f, x: f.union1d(x[0], x[1]),
    ]
    for call in calls:
        with numpy.errstate(all="ignore"):
            made, wanted = call(np, np.array(gaps)), numpy.asarray(call(numpy, gaps))
        name = wanted.dtype.name.replace("uint64", "int64")  # which the library has not
        assert made.dtype.name == name
        assert numpy.allclose(made.asnumpy().astype(float), wanted.astype(float), equal_nan=True)


def test_gradients_of_numbers_skip_what_is_between() -> None:
    x = _array([1.0, numpy.nan, 3.0, 4.0])
    assert numpy.allclose(np.gradient(x).asnumpy(), numpy.gradient(x.asnumpy()), equal_nan=True)


def test_what_numpy_finds_of_an_array_without_axes_keeps_its_dtype() -> None:
    for x in (_array(-0.0), _array(2.0)):
        assert np.signbit(x).dtype == bool and np.signbit(x).shape == ()
    assert np.spacing(_array(1.0)).dtype == "float64" and np.spacing(_array(1.0)).item() == 2.0**-52
    assert np.frexp(_array(8.0))[1].dtype == "int32"
