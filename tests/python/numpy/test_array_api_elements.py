"""`mxlite.array_api`'s functions of elements, beside array-api-strict or NumPy; promotion, numbers, and refusals."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from _standard import compare, dtypes, elements, needs_peer, pairs, quick, values
from hypothesis import given
from hypothesis import strategies as some

import mxlite as mx
from mxlite import array_api as xp

#: Functions of one array, by the kinds that they take.
UNARY = {
    "if": "abs ceil floor isfinite isinf isnan negative positive round sign square trunc".split(),
    "f": """acos acosh asin asinh atan atanh cos cosh exp expm1 log log10 log1p log2 reciprocal signbit sin sinh sqrt
    tan tanh""".split(),
    "bi": ["bitwise_invert"],
    "b": ["logical_not"],
}
BINARY = {
    "bif": ["equal", "not_equal"],
    "if": "add greater greater_equal less less_equal maximum minimum multiply subtract".split(),
    "f": "atan2 copysign divide floor_divide hypot logaddexp nextafter pow remainder".split(),
    "bi": "bitwise_and bitwise_or bitwise_xor".split(),
    "b": "logical_and logical_or logical_xor".split(),
}


def _rows(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(name, kinds) for kinds, names in table.items() for name in names]


@needs_peer
@pytest.mark.parametrize("name, kinds", _rows(UNARY))
def test_one_array(name: str, kinds: str) -> None:
    @quick
    @given(values(dtypes(kinds)))
    def check(x: numpy.ndarray) -> None:
        compare(name, x)

    check()


@needs_peer
@pytest.mark.parametrize("name, kinds", _rows(BINARY))
def test_two_arrays(name: str, kinds: str) -> None:
    @quick
    @given(pairs(kinds))
    def check(both: tuple) -> None:
        x, y = both
        if name == "pow":  # NumPy's roots of -inf are NaN in float32, the standard's infinite
            x = numpy.where(x == -numpy.inf, x.dtype.type(2), x)
        compare(name, x, y)

    check()


@needs_peer
@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@quick
@given(pairs("i", True))
def test_integers_divided(name: str, both: tuple) -> None:
    x, y = both
    compare(name, x, numpy.where(y == 0, numpy.ones_like(y), y))


@needs_peer
@quick
@given(pairs("i", True), some.sampled_from(["pow", "bitwise_left_shift", "bitwise_right_shift"]))
def test_integers_by_small_ones(both: tuple, name: str) -> None:
    x, y = both
    compare(name, x, numpy.asarray(numpy.abs(y) % 6))


@needs_peer
@quick
@given(values(dtypes("if")), some.data())
def test_numbers_beside_arrays_take_their_dtype(x: numpy.ndarray, data: Any) -> None:
    number = data.draw(elements(x.dtype.name))
    if isinstance(number, float):
        number = float(x.dtype.type(number))
    for name in ("add", "multiply", "maximum", "less", "equal"):
        compare(name, x, number)
        compare(name, number, x)
    compare("where", numpy.ones(x.shape, bool), x, number)


@needs_peer
@quick
@given(
    dtypes("if").flatmap(lambda each: some.tuples(values(each, (2, 3)), values(each, (3,), True), elements(each, True)))
)
def test_clip(given_: tuple) -> None:
    x, low, gap = given_
    high = (low + abs(gap)).astype(x.dtype)
    high = numpy.maximum(low, high)
    compare("clip", x, low, high)
    compare("clip", x, None, high)
    compare("clip", x, min=low)
    compare("clip", x, int(low[0]), int(low[0]) + 2)
    compare("clip", x)


@needs_peer
@quick
@given(pairs("bif"), some.data())
def test_where(both: tuple, data: Any) -> None:
    shape = numpy.broadcast_shapes(*(each.shape for each in both))
    compare("where", data.draw(values("bool", shape)), *both)


# ---- promotion ----

_TOGETHER = {
    ("int8", "int64"): "int64",
    ("int8", "int32"): "int32",
    ("uint8", "int32"): "int32",
    ("uint8", "int64"): "int64",
    ("float32", "float64"): "float64",
    ("float16", "float32"): "float32",
    ("bool", "bool"): "bool",
}


@pytest.mark.parametrize("one, two", _TOGETHER)
def test_promotion(one: str, two: str) -> None:
    wanted = _TOGETHER[one, two]
    assert xp.result_type(getattr(xp, one), xp.ones(2, dtype=two)) == wanted
    name = "logical_or" if one == "bool" else "add"
    assert getattr(xp, name)(xp.ones(2, dtype=one), xp.ones((), dtype=two)).dtype == wanted
    assert xp.concat([xp.ones(2, dtype=two), xp.ones(1, dtype=one)]).dtype == wanted
    assert xp.can_cast(one, wanted) and xp.can_cast(xp.ones(1, dtype=two), wanted)


@pytest.mark.parametrize(
    "one, two", [("int64", "float32"), ("bool", "int8"), ("bool", "float64"), ("float32", "uint8")]
)
def test_kinds_have_no_common_dtype(one: str, two: str) -> None:
    for call in (xp.add, xp.equal, xp.result_type, lambda x, y: xp.stack([x, y])):
        with pytest.raises(TypeError, match="no common dtype"):
            call(xp.ones(2, dtype=one), xp.ones(2, dtype=two))
    assert not xp.can_cast(one, two)


def test_a_dtype_that_the_library_lacks_is_named() -> None:
    if hasattr(xp, "int16"):
        assert xp.result_type(xp.uint8, xp.int8) == xp.int16
        return
    with pytest.raises(TypeError, match="int16 together, which is not supported"):
        xp.add(xp.ones(2, dtype=xp.uint8), xp.ones(2, dtype=xp.int8))


@pytest.mark.parametrize(
    "dtype, number, error",
    [
        ("int8", 200, OverflowError),
        ("uint8", -1, OverflowError),
        ("int64", 1.5, TypeError),
        ("int64", True, TypeError),
        ("bool", 1, TypeError),
        ("float32", 1j, TypeError),
        ("float32", "1", TypeError),
        ("float32", None, TypeError),
    ],
)
def test_numbers_that_are_of_no_use(dtype: str, number: Any, error: type) -> None:
    with pytest.raises(error):
        xp.add(xp.ones(2, dtype=dtype), number) if dtype != "bool" else xp.equal(xp.ones(2, dtype=dtype), number)


def test_integers_beyond_the_fractions_are_exact() -> None:
    big = 2**53 + 1
    assert int(xp.add(xp.asarray(0), big)) == big
    assert int(xp.full((), big)) == int(xp.asarray(big)) == int(xp.arange(big, big + 1)[0]) == big


@pytest.mark.parametrize(
    "name, dtype",
    [("sin", "int64"), ("divide", "int32"), ("logical_and", "int8"), ("bitwise_and", "float32"), ("add", "bool")],
)
def test_dtypes_that_a_function_does_not_take(name: str, dtype: str) -> None:
    x = xp.ones(3, dtype=dtype)
    with pytest.raises(TypeError, match=f"{name}: takes arrays of .*, got {dtype}"):
        getattr(xp, name)(*[x] * (1 if name == "sin" else 2))


@pytest.mark.parametrize("wrong", [[1.0], numpy.ones(2), mx.nd.ones(2), None])
def test_other_things_are_no_arrays(wrong: Any) -> None:
    for call in (xp.sin, lambda x: xp.add(x, xp.ones(2)), xp.sum, lambda x: xp.reshape(x, (2,)), xp.linalg.inv):
        with pytest.raises(TypeError, match="must be an array of mx.np"):
            call(wrong)


def test_numbers_alone_are_refused() -> None:
    with pytest.raises(TypeError, match="takes an array or a dtype besides numbers"):
        xp.add(1, 2)


def test_special_cases_where_1_9_1_differs() -> None:
    x = xp.asarray([float("nan"), -0.0, -2.0])
    assert numpy.isnan(xp.sign(x).asnumpy()).tolist() == [True, False, False]
    assert numpy.isnan(xp.remainder(xp.asarray([5.0]), 0.0).asnumpy()).all()
    assert xp.signbit(xp.asarray(-0.0)).dtype == xp.bool


def test_roots_of_infinity() -> None:
    assert xp.pow(xp.asarray([-numpy.inf, numpy.inf]), 0.5).tolist() == [numpy.inf, numpy.inf]


def test_functions_are_recorded() -> None:
    x = xp.asarray([1.0, -2.0, 3.0])
    y = xp.asarray([1.0, 5.0, 2.0])
    x.attach_grad()
    y.attach_grad()
    with mx.autograd.record():
        total = xp.sum(xp.logaddexp(x, y)) + xp.sum(xp.where(xp.less(x, y), xp.multiply(x, 3.0), xp.square(x)))
    total.backward()
    share = numpy.exp(x.asnumpy() - numpy.logaddexp(x.asnumpy(), y.asnumpy()))
    numpy.testing.assert_allclose(x.grad.asnumpy(), share + [2.0, 3.0, 6.0], rtol=1e-5)
    numpy.testing.assert_allclose(y.grad.asnumpy(), 1 - share, rtol=1e-5)
    with mx.autograd.record():
        after = xp.sum(xp.multiply(xp.nextafter(x, y), 2.0))
    after.backward()
    assert x.grad.asnumpy().tolist() == [0.0, 2.0, 2.0]  # equal ones stay what they are
