"""`mxlite.array_api` beside array-api-strict or NumPy: new arrays, shapes, sums, order, sets, dtypes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from _standard import IS_STRICT, both, check, compare, dtypes, needs_peer, plain, quick, shapes, values
from hypothesis import given
from hypothesis import strategies as some

import mxlite as mx
from mxlite import array_api as xp
from mxlite import autograd

some_axis = some.none() | some.integers(-3, 2)
_axes = some.none() | some.lists(some.integers(0, 2), unique=True, max_size=3).map(tuple) | some.integers(-3, -1)
_arrays = values(dtypes("bif"))


def _fits(axis: Any, ndim: int) -> Any:
    """An axis, or axes, of an array of so many; None where there are none."""
    if axis is None or isinstance(axis, int):
        return None if axis is None or not ndim else axis % ndim
    return tuple(each for each in axis if each < ndim)


# ---- shapes ----


@needs_peer
@quick
@given(_arrays, some.integers(-4, 3), some.permutations(range(3)), some.integers(-5, 5), some.integers(0, 3))
def test_shapes(x: numpy.ndarray, axis: int, order: list[int], shift: int, count: int) -> None:
    compare("expand_dims", x, axis=axis % (x.ndim + 1) - (x.ndim + 1 if axis < 0 else 0))
    compare("reshape", x, (-1,)) if x.size else compare("reshape", x, (0, 3))
    compare("permute_dims", x, tuple(each for each in order if each < x.ndim))
    compare("flip", x)
    compare("roll", x, shift)
    compare("tile", x, (2, count))
    compare("repeat", x, count)
    compare("broadcast_to", x, (2, *x.shape))
    if x.ndim:
        axis %= x.ndim
        compare("flip", x, axis=axis - x.ndim)
        compare("roll", x, (shift, 1), axis=(axis, axis))
        compare("moveaxis", x, axis, 0)
        compare("unstack", x, axis=axis)
        compare("repeat", x, numpy.arange(x.shape[axis]), axis=axis)
        compare("squeeze", x[:1] if x.shape[0] else numpy.ones((1, 2)), axis=0)
    if x.ndim > 1:
        compare("matrix_transpose", x)
        compare("tril", x, k=shift)
        compare("triu", x, k=shift)


@needs_peer
@quick
@given(values(dtypes("bif"), (2, 3)), some.integers(-2, 1))
def test_joined(x: numpy.ndarray, axis: int) -> None:
    compare("concat", [x, x], axis=axis)
    compare("concat", [x, x[:0]], axis=0)
    compare("concat", [x, x[0]], axis=None)
    compare("stack", [x, x, x], axis=axis)
    compare("broadcast_arrays", x, x[:, :1], x[0])
    compare("meshgrid", x[0], x[1], x[1][:2], indexing="ij" if axis else "xy")


def test_joined_promotes() -> None:
    assert xp.concat([xp.ones(2, dtype=xp.float32), xp.ones(2, dtype=xp.float64)]).dtype == xp.float64


@needs_peer
@quick
@given(values(dtypes("bif"), (3, 4)), some.lists(some.integers(-3, 2), max_size=5))
def test_indices(x: numpy.ndarray, indices: list[int]) -> None:
    found = numpy.asarray(indices, "int64")
    compare("take", x, found, axis=0)
    compare("take", x[:, 0], found)
    compare("take_along_axis", x, numpy.resize(found % 3, (len(indices), 4)), axis=0)


# ---- sums ----


@needs_peer
@pytest.mark.parametrize("name", ["all", "any", "count_nonzero", "sum", "prod", "mean", "var", "std", "max", "min"])
def test_reductions(name: str) -> None:
    kinds = {"mean": "f", "var": "f", "std": "f", "sum": "if", "prod": "if", "max": "if", "min": "if"}.get(name, "bif")

    @quick
    @given(values(dtypes(kinds), is_plain=name in ("sum", "prod", "mean", "var", "std")), _axes, some.booleans())
    def check_one(x: numpy.ndarray, axis: Any, keepdims: bool) -> None:
        axis = _fits(axis, x.ndim)
        if name in ("max", "min") and not x.size:
            return
        given_ = {"axis": axis, "keepdims": keepdims}
        if axis == () and not IS_STRICT and name in ("var", "std", "mean"):
            return
        found, wanted = both(name, x, **given_)
        if name in ("sum", "prod") and x.dtype == "uint8" and not hasattr(xp, "uint64"):
            wanted = wanted.astype("int64")
        if name == "count_nonzero":
            wanted = numpy.asarray(wanted, "int64")
        check(found, wanted, 1e-4 if x.dtype == "float32" else 1e-12)

    check_one()


@needs_peer
@quick
@given(values("float64", (3, 4), True), some.sampled_from([0, 1, 0.5, 2]))
def test_corrections(x: numpy.ndarray, correction: float) -> None:
    for axis in (None, 0, (0, 1)):
        compare("var", x, axis=axis, correction=correction, rtol=1e-10)
        compare("std", x, axis=axis, correction=correction, rtol=1e-7)


@pytest.mark.parametrize("correction", [2, 3])
def test_corrections_that_leave_nothing(correction: int) -> None:
    assert xp.var(xp.asarray([1.0, 3.0]), correction=correction).item() == float("inf")
    assert numpy.isnan(xp.var(xp.asarray([1.0, 1.0]), correction=correction).item())


@needs_peer
@quick
@given(values(dtypes("if"), (2, 3), True), some.integers(-2, 1), some.booleans())
def test_cumulative(x: numpy.ndarray, axis: int, initial: bool) -> None:
    for name in ("cumulative_sum", "cumulative_prod"):
        found, wanted = both(name, x, axis=axis, include_initial=initial)
        if x.dtype == "uint8" and not hasattr(xp, "uint64"):
            wanted = wanted.astype("int64")
        check(found, wanted, 1e-5)
    compare("diff", x, axis=axis, n=2)
    compare("diff", x, axis=axis, prepend=x, append=x)


def test_sums_of_other_dtypes() -> None:
    x = xp.asarray([200, 100], dtype=xp.uint8)
    assert int(xp.sum(x)) == 300
    assert int(xp.sum(x, dtype=xp.uint8)) == 44
    assert xp.sum(xp.asarray([True, True])).dtype == xp.int64
    assert xp.sum(x, dtype=xp.float64).dtype == xp.float64


@needs_peer
@quick
@given(values(dtypes("if"), shapes.filter(lambda shape: 0 not in shape)), some_axis, some.booleans())
def test_extremes(x: numpy.ndarray, axis: Any, keepdims: bool) -> None:
    compare("argmax", x, axis=_fits(axis, x.ndim), keepdims=keepdims)
    compare("argmin", x, axis=_fits(axis, x.ndim), keepdims=keepdims)


# ---- order and sets ----


@needs_peer
@quick
@given(values(dtypes("if"), shapes.filter(len)), some.integers(0, 2), some.booleans())
def test_order(x: numpy.ndarray, axis: int, descending: bool) -> None:
    axis %= x.ndim
    x = numpy.where(numpy.isnan(x), numpy.ones_like(x), x) if x.dtype.kind == "f" else x
    places = plain(xp.argsort(xp.asarray(x), axis=axis, descending=descending))
    ordered = numpy.take_along_axis(x, places, axis)
    line = ordered.astype("float64")
    steps = line[(slice(None),) * axis + (slice(1, None),)] >= line[(slice(None),) * axis + (slice(None, -1),)]
    backwards = line[(slice(None),) * axis + (slice(1, None),)] <= line[(slice(None),) * axis + (slice(None, -1),)]
    assert (backwards if descending else steps).all()
    check(plain(xp.sort(xp.asarray(x), axis=axis, descending=descending)), ordered)
    if IS_STRICT:
        compare("argsort", x, axis=axis, descending=descending)
        compare("sort", x, axis=axis, descending=descending)


def test_equal_elements_stay_in_their_order() -> None:
    x = xp.asarray([1, 0] * 600)
    places = xp.argsort(x, descending=True).asnumpy()
    assert places.tolist() == [*range(0, 1200, 2), *range(1, 1200, 2)]


@needs_peer
@quick
@given(values(dtypes("bif")))
def test_sets(x: numpy.ndarray) -> None:
    if x.dtype.kind == "f":
        assert numpy.isnan(plain(xp.unique_values(xp.asarray(x)))).sum() == numpy.isnan(x).sum()
        x = numpy.asarray(numpy.nan_to_num(x))
    for name in ("unique_values", "unique_counts", "unique_inverse", "unique_all"):
        found, wanted = both(name, x)
        if name == "unique_values":  # NumPy may leave the order to chance
            wanted = numpy.sort(wanted)
        check(tuple(found) if name != "unique_values" else found, wanted)


@needs_peer
@quick
@given(values(dtypes("bif"), shapes.filter(len)), values("float64", (5,), True), values("float64", (2, 3)))
def test_positions(x: numpy.ndarray, line: numpy.ndarray, new: numpy.ndarray) -> None:
    compare("nonzero", x)
    line.sort()
    new = numpy.nan_to_num(new)
    for side in ("left", "right"):
        compare("searchsorted", line, new, side=side)
    compare("searchsorted", line[::-1].copy(), new, sorter=numpy.arange(5)[::-1].copy())
    if x.dtype.kind in "iu" or not IS_STRICT:
        compare("isin", x, x.ravel()[:2], **({} if IS_STRICT else {"invert": bool(new[0, 0] > 0)}))


# ---- new arrays ----


@needs_peer
@quick
@given(some.integers(-5, 5), some.integers(0, 6), some.integers(1, 3), some.sampled_from(["int32", "float64"]))
def test_ranges(start: int, size: int, step: int, name: str) -> None:
    dtype = numpy.dtype(name)
    compare("arange", start, start + size, step, dtype=dtype)
    compare("arange", start, start + size)
    compare("linspace", start, start + size, size, endpoint=bool(step % 2), dtype=numpy.dtype("float64"))
    compare("eye", size, step, k=start, dtype=dtype)
    compare("full", (size, step), start, dtype=dtype)
    compare("zeros", size, dtype=dtype)
    compare("ones", (size, 0), dtype=dtype)
    for like in ("zeros_like", "ones_like"):
        compare(like, numpy.ones((size, 2), "int8"))
    compare("full_like", numpy.ones((size, 2), "float32"), 3)


def test_default_dtypes() -> None:
    assert [each.dtype for each in (xp.zeros(2), xp.ones(()), xp.empty((0, 2)), xp.eye(2), xp.linspace(0, 1, 3))] == [
        xp.float32
    ] * 5
    assert xp.asarray(1).dtype == xp.asarray([[1, 2]]).dtype == xp.arange(3).dtype == xp.full(2, 7).dtype == xp.int64
    assert xp.asarray(1.5).dtype == xp.asarray([]).dtype == xp.arange(3.0).dtype == xp.full(2, 7.0).dtype == xp.float32
    assert xp.asarray([True]).dtype == xp.full(1, False).dtype == xp.bool
    assert xp.asarray(numpy.ones(2)).dtype == xp.float64
    assert xp.asarray([xp.asarray(1.0), 2.0]).shape == (2,)
    assert xp.__array_namespace_info__().default_dtypes()["real floating"] == xp.float32


def test_asarray_copies_as_it_is_told() -> None:
    x = xp.asarray([1.0, 2.0])
    assert xp.asarray(x) is x and xp.asarray(x, copy=False) is x
    y = xp.asarray(x, copy=True)
    y[0] = 7.0
    assert x.tolist() == [1.0, 2.0]
    assert xp.asarray(x, dtype=xp.int64).dtype == xp.int64
    for call in (lambda: xp.asarray(x, dtype=xp.int64, copy=False), lambda: xp.asarray([1.0], copy=False)):
        with pytest.raises(ValueError, match="cop"):
            call()
    values_ = numpy.arange(3.0)
    assert xp.from_dlpack(values_).tolist() == [0.0, 1.0, 2.0]
    assert numpy.shares_memory(numpy.from_dlpack(xp.from_dlpack(values_)), values_)
    assert not numpy.shares_memory(numpy.from_dlpack(xp.from_dlpack(values_, copy=True)), values_)


@pytest.mark.parametrize("wrong", [[1j], 1j, ["a"], [[1.0], [1.0, 2.0]], numpy.ones(2, "complex64"), object()])
def test_values_of_no_array(wrong: Any) -> None:
    for dtype in (None, xp.float32):
        with pytest.raises((TypeError, ValueError)):
            xp.asarray(wrong, dtype=dtype)


def test_integers_beyond_int64() -> None:
    with pytest.raises(OverflowError):
        xp.asarray([2**63])
    with pytest.raises(OverflowError):
        xp.asarray(2**70)
    for wrong in (300, [1, -129], 2**70):
        with pytest.raises(OverflowError):
            xp.asarray(wrong, dtype=xp.int8)
    assert xp.asarray([-128, 127], dtype=xp.int8).tolist() == [-128, 127]


@pytest.mark.parametrize("call", [lambda d: xp.zeros(2, device=d), lambda d: xp.asarray([1.0], device=d)])
def test_devices(call: Any) -> None:
    for device in (None, mx.cpu(), "cpu", xp.__array_namespace_info__().devices()[0]):
        assert call(device).device == mx.cpu()
    with pytest.raises(mx.MXNetError, match="gpu"):
        call("gpu")
    with pytest.raises(TypeError):
        call(3)


# ---- dtypes ----


def test_limits() -> None:
    found = xp.finfo(xp.ones(1, dtype=xp.float64))
    assert (found.bits, found.eps, found.max) == (64, 2.0**-52, numpy.finfo("float64").max)
    assert {type(each) for each in found[1:5]} == {float} and found.dtype == xp.float64
    assert xp.finfo(xp.float32).smallest_normal == 2.0**-126
    assert xp.iinfo(xp.int8)[:3] == (8, 127, -128)
    for call, dtype in ((xp.finfo, xp.int8), (xp.iinfo, xp.float32), (xp.iinfo, xp.bool)):
        with pytest.raises(TypeError):
            call(dtype)


def test_kinds() -> None:
    assert xp.isdtype(xp.int8, "signed integer") and xp.isdtype(xp.uint8, ("bool", "unsigned integer"))
    assert xp.isdtype(xp.float32, ("integral", xp.float32)) and not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(ValueError, match="no kind 'number'"):
        xp.isdtype(xp.int8, "number")
    info = xp.__array_namespace_info__()
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert {"bool", "int64"} <= set(info.dtypes()) and info.default_device() == mx.cpu()


def test_astype() -> None:
    x = xp.asarray([1.5, 0.0])
    assert xp.astype(x, xp.int32).tolist() == [1, 0] and xp.astype(x, xp.bool).tolist() == [True, False]
    assert xp.astype(x, xp.float32, copy=False) is x and xp.astype(x, xp.float32) is not x
    with pytest.raises(TypeError):
        xp.astype(x, "complex64")


# ---- what is recorded ----

_DIFFERENTIATED = {
    "clip": lambda x: xp.clip(x, -1.0, xp.asarray([0.5, 2.0, 3.0], dtype=xp.float64)),
    "cumulative_prod": lambda x: xp.cumulative_prod(x, axis=1, include_initial=True),
    "diff": lambda x: xp.square(xp.diff(x, prepend=x[:, :1], n=2)),
    "expand_dims": lambda x: xp.square(xp.squeeze(xp.expand_dims(x, (0, 3)), (0,))),
    "repeat": lambda x: xp.square(xp.repeat(x, xp.asarray([2, 0, 1]), axis=1)),
    "roll": lambda x: x * xp.roll(x, (1, 1), axis=(0, 1)),
    "sort": lambda x: xp.sort(x, axis=-1, descending=True) * xp.arange(3.0, dtype=xp.float64),
    "take": lambda x: xp.square(xp.take(x, xp.asarray([-1, 0, -1]), axis=1)),
    "take_along_axis": lambda x: xp.square(xp.take_along_axis(x, xp.asarray([[-1], [1]]))),
    "tile": lambda x: xp.square(xp.tile(x, (2, 1))),
    "unique": lambda x: xp.square(xp.unique_values(x)),
    "unstack": lambda x: xp.unstack(x, axis=1)[0] * xp.unstack(x, axis=1)[2],
    "var": lambda x: xp.var(x, axis=1, correction=0.5),
    "vecdot": lambda x: xp.vecdot(x, xp.flip(x, axis=0)),
}


@pytest.mark.parametrize("name", _DIFFERENTIATED)
def test_gradients(name: str) -> None:
    start = numpy.array([[1.3, -0.4, 2.1], [0.7, -1.9, 0.2]])

    def total(values_: numpy.ndarray) -> Any:
        return xp.sum(_DIFFERENTIATED[name](xp.asarray(values_)))

    x = xp.asarray(start)
    x.attach_grad()
    with mx.autograd.record():
        loss = xp.sum(_DIFFERENTIATED[name](x))
    loss.backward()
    slopes, step = numpy.zeros(start.shape), 1e-6
    for place in numpy.ndindex(start.shape):
        change = numpy.zeros(start.shape)
        change[place] = step
        slopes[place] = float(total(start + change) - total(start - change)) / (2 * step)
    numpy.testing.assert_allclose(x.grad.asnumpy(), slopes, rtol=1e-5, atol=1e-6)


# ---- wrong arguments ----


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda x: xp.sum(x, axis=2), IndexError),
        (lambda x: xp.sum(x, axis=(0, -2)), ValueError),
        (lambda x: xp.squeeze(x, 0), ValueError),
        (lambda x: xp.take(x, xp.asarray([2]), axis=0), IndexError),
        (lambda x: xp.take(x, xp.asarray([0])), ValueError),
        (lambda x: xp.take(x, xp.asarray([0.0]), axis=0), TypeError),
        (lambda x: xp.concat(x), TypeError),
        (lambda x: xp.stack([]), ValueError),
        (lambda x: xp.reshape(x, (-2, 3)), ValueError),
        (lambda x: xp.reshape(x, (4,)), ValueError),
        (lambda x: xp.permute_dims(x, (0, 0)), ValueError),
        (lambda x: xp.repeat(x, xp.asarray([1, -1]), axis=0), ValueError),
        (lambda x: xp.max(x[:0]), ValueError),
        (lambda x: xp.nonzero(xp.asarray(1.0)), ValueError),
        (lambda x: xp.cumulative_sum(x), ValueError),
        (lambda x: xp.mean(xp.astype(x, xp.int64)), TypeError),
        (lambda x: xp.sort(xp.astype(x, xp.bool)), TypeError),
        (lambda x: xp.broadcast_to(x, (3, 2)), ValueError),
        (lambda x: xp.tril(x[0]), ValueError),
        (lambda x: xp.diff(x, n=-1), ValueError),
        (lambda x: xp.unstack(x, axis=5), IndexError),
    ],
)
def test_wrong_arguments(call: Any, error: type) -> None:
    x = xp.ones((2, 3))
    with pytest.raises(error):
        call(x)
    assert x.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("shape", [(3, 2), (6,), (-1,), (1, 6), (2, -1, 1)])
def test_reshape_copies_or_shares(shape: tuple[int, ...]) -> None:
    x = xp.reshape(xp.arange(6.0), (2, 3))
    copies, shared = [xp.reshape(x, shape, copy=copy) for copy in (None, True)], xp.reshape(x, shape, copy=False)
    x[:1] = 7
    wanted = numpy.array([7, 7, 7, 3, 4, 5]).reshape(shape)
    assert shared.shape == wanted.shape and numpy.array_equal(shared.asnumpy(), wanted)
    assert all(numpy.array_equal(each.asnumpy(), numpy.arange(6).reshape(shape)) for each in copies)
    x.attach_grad()
    with autograd.record():
        loss = xp.sum(xp.square(xp.reshape(x, shape, copy=False)))
    loss.backward()
    assert numpy.array_equal(x.grad.asnumpy(), 2 * x.asnumpy())


def test_reshape_without_elements_or_axes_and_of_other_numbers() -> None:
    for x, shape in ((xp.zeros((0, 3)), (3, 0)), (xp.asarray(2.0), (1, 1)), (xp.asarray([2.0]), ())):
        assert all(xp.reshape(x, shape, copy=copy).shape == shape for copy in (None, True, False))
    for shape in ((0, 3), (4, 2), (-1, -1), (5, -1), (-2, -3), (-1, 0)):
        for copy in (None, True, False):
            with pytest.raises(ValueError, match="6 elements have no shape"):
                xp.reshape(xp.zeros((2, 3)), shape, copy=copy)
