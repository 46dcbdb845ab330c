"""`mxlite.array_api.linalg` beside array-api-strict or NumPy, and what the array itself has of the standard."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy
import pytest
from _standard import IS_STRICT, call, check, compare, dtypes, needs_peer, pairs, peer, plain, quick, values
from hypothesis import given
from hypothesis import strategies as some

import mxlite as mx
from mxlite import array_api as xp

_sizes = some.tuples(some.integers(0, 3), some.integers(1, 4))
_matrices = _sizes.flatmap(lambda shape: values(dtypes("f"), shape, True))
_squares = some.integers(0, 3).flatmap(lambda size: values(dtypes("f"), (2, size, size), True))


def _rounding(x: numpy.ndarray) -> float:
    return 2e-4 if x.dtype == "float32" else 1e-9


def _made(name: str, *args: Any, **kwargs: Any) -> Any:
    return plain(call(xp, name, *args, **kwargs))


@needs_peer
@quick
@given(_squares)
def test_square_matrices(x: numpy.ndarray) -> None:
    own = numpy.eye(x.shape[-1], dtype=x.dtype) * 20 + x  # far from singular
    both = numpy.matmul(own, numpy.swapaxes(own, -2, -1))
    for name in ("det", "inv", "slogdet"):
        compare(f"linalg.{name}", own, rtol=_rounding(x) * 10)
    compare("linalg.matrix_power", own / 20, 3, rtol=_rounding(x) * 10)
    compare("linalg.matrix_power", own, 0)
    compare("linalg.solve", own, x, rtol=_rounding(x))
    compare("linalg.solve", own, x[0], rtol=_rounding(x))
    compare("linalg.eigvalsh", both, rtol=_rounding(x) * 10)
    compare("linalg.trace", x, offset=1, rtol=_rounding(x))
    compare("linalg.diagonal", x, offset=-1)
    for upper in (False, True):
        compare("linalg.cholesky", both, upper=upper, rtol=_rounding(x) * 10)
    eigenvalues, vectors = _made("linalg.eigh", both)
    numpy.testing.assert_allclose(vectors * eigenvalues[..., None, :], both @ vectors, atol=0.02, rtol=1e-3)
    compare("linalg.solve", own, x[0, :, 0] if x.shape[-1] else numpy.ones(0, x.dtype), rtol=_rounding(x))


@needs_peer
@quick
@given(_matrices)
def test_matrices(x: numpy.ndarray) -> None:
    size = _rounding(x)
    compare("linalg.svdvals", x, rtol=size * 10)
    found = _made("linalg.pinv", x, rtol=1e-3)
    assert found.shape == x.shape[::-1]
    if x.size:
        compare("linalg.matrix_rank", x, rtol=1e-3)
        numpy.testing.assert_allclose(found, numpy.linalg.pinv(x, rcond=1e-3), atol=0.3 if size > 1e-6 else 1e-6)
    for is_full in (False, True):
        u, s, vh = _made("linalg.svd", x, full_matrices=is_full)
        assert [each.shape for each in (u, s, vh)] == [each.shape for each in numpy.linalg.svd(x, is_full)]
        numpy.testing.assert_allclose((u[:, : len(s)] * s) @ vh[: len(s)], x, atol=size * 10)
        _is_orthonormal(u, size)
        _is_orthonormal(vh.T, size)
    for mode in ("reduced", "complete"):
        q, r = _made("linalg.qr", x, mode=mode)
        assert (q.shape, r.shape) == tuple(each.shape for each in numpy.linalg.qr(x, mode))
        numpy.testing.assert_allclose(q @ r, x, atol=size * 10)
        numpy.testing.assert_array_equal(r, numpy.triu(r))
        _is_orthonormal(q, size)


def _is_orthonormal(columns: numpy.ndarray, size: float) -> None:
    numpy.testing.assert_allclose(columns.T @ columns, numpy.eye(columns.shape[-1]), atol=size * 10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_singular_matrices(dtype: str) -> None:
    """All of nine zeros and ones: vectors of singular values of 0 are orthogonal to the others, too."""
    bits = numpy.arange(512)[:, None] >> numpy.arange(9) & 1
    x = bits.reshape(512, 3, 3).astype(dtype)
    u, s, vh = _made("linalg.svd", x)
    size = _rounding(x)
    numpy.testing.assert_allclose(u * s[:, None, :] @ vh, x, atol=size)
    for each in (u, vh):
        numpy.testing.assert_allclose(each @ each.swapaxes(1, 2), numpy.eye(3)[None].repeat(512, 0), atol=size)
    numpy.testing.assert_allclose(s, numpy.linalg.svd(x)[1], atol=size)


@needs_peer
@quick
@given(values(dtypes("f"), (2, 3), True), some.sampled_from([1, -1, 2, -2, float("inf"), -float("inf"), 0, 3]))
def test_norms(x: numpy.ndarray, order: float) -> None:
    x = x + x.dtype.type(9)
    for axis in (None, 0, -1, (0, 1), ()) if IS_STRICT else (None, 0, -1):
        compare("linalg.vector_norm", x, axis=axis, keepdims=order > 0, ord=order, rtol=1e-4)
    if order not in (0, 3):
        compare("linalg.matrix_norm", x, keepdims=order > 0, ord=order, rtol=1e-3)
        compare("linalg.matrix_norm", numpy.stack([x, x * 2]), rtol=1e-4)
        compare("linalg.matrix_norm", x, ord="nuc", keepdims=True, rtol=1e-4)


@needs_peer
@quick
@given(
    dtypes("if").flatmap(lambda each: some.tuples(*(values(each, s, True) for s in ((2, 3, 4), (4, 2), (4,), (3,)))))
)
def test_products(given_: tuple) -> None:
    x, y, row, three = given_
    size = _rounding(x)
    compare("matmul", x, y, rtol=size)
    compare("matmul", x, row, rtol=size)
    compare("matmul", row, row, rtol=size)
    compare("matmul", x[:, :0], y, rtol=size)
    compare("tensordot", x, y, axes=1, rtol=size)
    compare("tensordot", x, y, axes=((-1, 0), (0, 1)), rtol=size)
    compare("tensordot", row, three, axes=0, rtol=size)
    compare("vecdot", x, row, rtol=size)
    compare("vecdot", x, numpy.swapaxes(x, 0, 1)[:1], axis=-2, rtol=size) if x.shape[-2] == 2 else None
    compare("linalg.outer", row, three, rtol=size)
    compare("linalg.cross", numpy.swapaxes(x, -1, -2), three, rtol=size)
    compare("linalg.cross", three, three, rtol=size)


@pytest.mark.parametrize(
    "call_one, error",
    [
        (lambda x: xp.linalg.det(x), ValueError),
        (lambda x: xp.linalg.inv(xp.zeros((2, 2))), ValueError),
        (lambda x: xp.linalg.cross(x, xp.ones((2, 2))), ValueError),
        (lambda x: xp.linalg.outer(x, x), ValueError),
        (lambda x: xp.linalg.svd(xp.astype(x, xp.int64)), TypeError),
        (lambda x: xp.linalg.qr(x, mode="full"), ValueError),
        (lambda x: xp.linalg.solve(xp.eye(3), x), ValueError),
        (lambda x: xp.vecdot(x, x, axis=0), ValueError),
        (lambda x: xp.matmul(x, x), ValueError),
        (lambda x: xp.matmul(xp.asarray(1.0), x), ValueError),
        (lambda x: xp.linalg.matrix_norm(x, ord=5), ValueError),
        (lambda x: xp.matrix_transpose(x[0]), ValueError),
    ],
)
def test_wrong_arguments(call_one: Callable, error: type) -> None:
    with pytest.raises(error):
        call_one(xp.ones((2, 3)))


def test_linalg_is_recorded_but_what_completes_a_basis() -> None:
    x = xp.asarray([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    x.attach_grad()
    with mx.autograd.record():
        total = xp.sum(xp.linalg.svdvals(x)) + xp.sum(xp.linalg.pinv(x)) + xp.linalg.matrix_norm(x)
        for name, given_ in (("svd", {}), ("qr", {"mode": "complete"})):
            with pytest.raises(ValueError, match=f"{name} of .* is not recorded"):
                getattr(xp.linalg, name)(x, **given_)
    total.backward()

    def value(values_: numpy.ndarray) -> float:
        return numpy.linalg.norm(values_, "nuc") + numpy.linalg.pinv(values_).sum() + numpy.linalg.norm(values_)

    start, step = x.asnumpy().astype("float64"), 1e-6
    slopes = numpy.zeros((3, 2))
    for place in numpy.ndindex(3, 2):
        change = numpy.zeros((3, 2))
        change[place] = step
        slopes[place] = (value(start + change) - value(start - change)) / (2 * step)
    numpy.testing.assert_allclose(x.grad.asnumpy(), slopes, rtol=1e-3, atol=1e-4)


# ---- the array ----


def test_namespace() -> None:
    x = mx.np.ones(2)
    for version in (None, "2021.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is xp
    assert mx.array_api is xp
    with pytest.raises(ValueError, match="no version '1999.1'"):
        x.__array_namespace__(api_version="1999.1")


@pytest.mark.skipif(not IS_STRICT, reason="array-api-strict has the list of names")
def test_names_and_arguments() -> None:
    import inspect

    lacking = {"complex64", "complex128", "int16", "uint16", "uint32", "uint64"}
    for own, other in ((xp, peer), (xp.linalg, peer.linalg), (xp.fft, peer.fft)):
        for name in other.__all__:
            if name in lacking | {"eig", "eigvals", "Device"} or "strict" in name.lower() or name.startswith("_"):
                continue
            mine, theirs = getattr(own, name), getattr(other, name)
            if callable(theirs) and not inspect.isclass(theirs):
                for each in inspect.signature(theirs).parameters.values():
                    found = inspect.signature(mine).parameters[each.name]
                    assert found.kind == each.kind, (name, each)
                    if each.name not in ("device", "copy"):
                        assert found.default == each.default, (name, each)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_names_that_need_complex_numbers(name: str) -> None:
    assert not hasattr(xp, name)
    with pytest.raises(AttributeError, match=f"{name}.*complex"):
        getattr(xp, name)
    with pytest.raises(AttributeError, match="eig.*complex"):
        _ = xp.linalg.eig


def test_attributes() -> None:
    x = xp.reshape(xp.arange(12.0), (2, 2, 3))
    assert x.device == mx.cpu() and x.to_device(x.device) is x and x.to_device("cpu") is x
    numpy.testing.assert_array_equal(x.mT.asnumpy(), x.asnumpy().swapaxes(-2, -1))
    with pytest.raises(ValueError, match="mT"):
        _ = xp.arange(3).mT
    with pytest.raises(mx.MXNetError, match="gpu"):
        x.to_device("gpu")
    with pytest.raises(ValueError, match="no streams"):
        x.to_device("cpu", stream=1)
    assert (x.ndim, x.size, x.shape) == (3, 12, (2, 2, 3))


def test_numbers_of_arrays_without_axes() -> None:
    assert [complex(xp.asarray(3.5)), float(xp.asarray(2)), int(xp.asarray(2.5)), bool(xp.asarray(False))] == [
        3.5 + 0j, 2.0, 2, False
    ]  # fmt: skip
    assert operator.index(xp.asarray(7)) == 7 and [10, 20][xp.asarray(1)] == 20
    with pytest.raises(TypeError):
        operator.index(xp.asarray(7.0))
    with pytest.raises(TypeError):
        complex(xp.ones(2))


@pytest.mark.parametrize("shape", [True, False])
def test_elements_have_no_axes_where_sizes_are_numpys(shape: bool) -> None:
    """Keys are 1.9.1's: without npx.set_np() an element is an array of one axis."""
    with mx.np_shape(shape):
        assert xp.ones((2, 3))[0, 0].shape == (() if shape else (1,))
        assert [each.shape for each in xp.unstack(xp.ones(2))] == [(), ()]
        assert xp.sum(xp.ones((2, 3))).shape == xp.linalg.vecdot(xp.ones(2), xp.ones(2)).shape == ()


_OPERATORS = "add sub mul truediv mod pow floordiv".split()


@needs_peer
@pytest.mark.parametrize("name", _OPERATORS)
@quick
@given(pairs("f", True))
def test_operators_of_fractions(name: str, both: tuple) -> None:
    x, y = both[0], numpy.asarray(abs(both[1]) + both[1].dtype.type(1))
    x = numpy.asarray(abs(x)) if name == "pow" else x
    found = getattr(operator, name)(xp.asarray(x), xp.asarray(y))
    check(plain(found), numpy.asarray(getattr(operator, name)(x, y)), 1e-5)
    check(plain(getattr(operator, name)(2.5, xp.asarray(y))), numpy.asarray(getattr(operator, name)(2.5, y)), 1e-5)


@needs_peer
@pytest.mark.parametrize("name", "add sub mul mod floordiv and_ or_ xor lshift rshift eq ne lt le gt ge".split())
@quick
@given(pairs("i", True), some.integers(1, 5))
def test_operators_of_integers(name: str, both: tuple, number: int) -> None:
    x, y = both[0], numpy.asarray(abs(both[1]) % 5 + 1, both[1].dtype)
    call_one = getattr(operator, name)
    check(plain(call_one(xp.asarray(x), xp.asarray(y))), numpy.asarray(call_one(x, y)))
    check(plain(call_one(xp.asarray(x), number)), numpy.asarray(call_one(x, number)))
    if name != "pow":
        check(plain(call_one(number, xp.asarray(y))), numpy.asarray(call_one(number, y)))


def test_signs_and_operands_of_other_classes() -> None:
    x = xp.asarray([1, -2])
    assert (+x).tolist() == [1, -2] and +x is not x
    for call_one in (operator.floordiv, operator.lshift, operator.rshift):
        for other in ([1, 2], "a"):
            with pytest.raises(TypeError):
                call_one(x, other)
            with pytest.raises(TypeError):
                call_one(other, x)
    for call_one in (lambda: xp.asarray([1.0]) << 1, lambda: x << 1.5, lambda: 1.5 >> x):
        with pytest.raises(TypeError):
            call_one()
    with pytest.raises(TypeError):
        xp.bitwise_left_shift(x, 1.5)


def test_operators_are_1_9_1s_where_the_standard_says_otherwise() -> None:
    """docs/numpy.md lists these; the functions of the namespace do as the standard says."""
    whole, part = xp.asarray([3], dtype=xp.int64), xp.asarray([0.5], dtype=xp.float32)
    assert (whole / whole).dtype == xp.float32
    assert (whole + part).dtype == xp.float32 and (whole + 1.5).tolist() == [4]
    assert (xp.asarray([100], dtype=xp.int8) + 200).tolist() == [44]
    assert (whole + (2**53 + 2)).dtype == xp.int64
    truth = xp.asarray([True])
    assert (truth + truth).dtype == xp.bool and (truth + 1).dtype == xp.int64 and (-truth).dtype == xp.int64
    assert (part % 0.0).tolist() == [0.0]
    small = xp.asarray([3], dtype=xp.int8)
    for call_one in (operator.and_, operator.or_, operator.xor, operator.matmul):
        with pytest.raises(ValueError):
            call_one(small, whole)
    with pytest.raises(ValueError):
        whole @ whole
    assert xp.bitwise_and(small, whole).dtype == xp.matmul(small, whole).dtype == xp.int64
