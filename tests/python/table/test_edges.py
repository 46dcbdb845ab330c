"""Values and gradients at the edges: zeros, infinities, NaN, the extremes of integers.

What mxlite.torch answers is PyTorch's answer; what mx.nd answers is 1.9.1's, but for rows of docs/compatibility.md.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite import autograd, nd

pytestmark = pytest.mark.one_binding

inf, nan = math.inf, math.nan


# ---- mx.nd ----


def nd_gradients(function: Callable, *values: list, head: float = 1.0, dtype: str = "float64") -> list:
    """Gradients of a function, for a head gradient: the same from rules in one pass and from formulas."""
    found = []
    for create_graph in (False, True):
        inputs = [nd.array(each, dtype=dtype) for each in values]
        for each in inputs:
            each.attach_grad()
        with autograd.record():
            y = function(*inputs)
            heads = nd.full(y.shape, head, dtype=dtype)
            found.append([g.asnumpy() for g in autograd.grad([y], inputs, [heads], create_graph=create_graph)])
        for each in inputs:
            each.attach_grad()
    for fast, composed in zip(*found):
        np.testing.assert_array_equal(fast, composed)
    return [each.tolist() for each in found[0]]


def test_powers_of_mx_nd() -> None:
    assert nd_gradients(lambda x: x**0, [0.0, 1.0, -1.0, inf, nan]) == [[0.0] * 5]
    assert nd_gradients(lambda x: 0.0**x, [0.0, 1.0, 2.0, -1.0]) == [[0.0, 0.0, 0.0, -inf]]
    for power in (nd.broadcast_power, nd.power):
        bases, exponents = nd_gradients(power, [0.0, 0.0, 0.0, 0.0, 2.0, nan], [0.0, 1.0, 2.0, -1.0, 0.0, 0.0])
        assert bases == [0.0, 1.0, 0.0, -inf, 0.0, 0.0]
        np.testing.assert_array_equal(exponents, [0.0, 0.0, 0.0, -inf, math.log(2.0), nan])
    assert nd_gradients(lambda x: x**x, [0.0, 1.0]) == [[0.0, 1.0]]


@pytest.mark.parametrize("order", [2, 3])
def test_higher_derivatives_of_powers(order: int) -> None:
    def derivative(function: Callable, values: list) -> list:
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        y = function(x)
        for _ in range(order):
            (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        return y.tolist()

    assert derivative(lambda x: x**2, [0.0, 2.0]) == [2.0 if order == 2 else 0.0] * 2
    assert derivative(lambda x: x ** torch.tensor([0.0, 1.0, 2.0, 3.0]), [0.0] * 4) == (
        [0.0, 0.0, 2.0, 0.0] if order == 2 else [0.0, 0.0, 0.0, 6.0]
    )
    assert derivative(lambda x: 0.0**x, [1.0, 2.0]) == [0.0, 0.0]
    expected = [x**x * ((math.log(x) + 1) ** 2 + 1 / x) for x in (0.5, 2.0)]
    if order == 3:
        expected = [x**x * ((math.log(x) + 1) ** 3 + 3 * (math.log(x) + 1) / x - 1 / x**2) for x in (0.5, 2.0)]
    assert derivative(lambda x: x**x, [0.5, 2.0]) == pytest.approx(expected, rel=1e-12)


def test_masks_of_mx_nd_select() -> None:
    # What 1.9.1 multiplies with a mask, we do too: relu and maximum of an infinite head.
    assert nd_gradients(lambda x: nd.clip(x, 0, 1), [0.5, nan, 2.0, -1.0, 0.0, 1.0], head=inf) == [
        [inf, inf, 0.0, 0.0, inf, inf]
    ]
    (found,) = nd_gradients(nd.hard_sigmoid, [1.0, -20.0, 20.0, nan], head=inf)
    assert found == [inf, 0.0, 0.0, 0.0]
    (found,) = nd_gradients(nd.relu, [1.0, -1.0, 0.0], head=inf)
    np.testing.assert_array_equal(found, [inf, nan, nan])
    for dtype in ("float32", "float64"):
        assert nd_gradients(nd.abs, [1.0, nan, 0.0, -2.0], dtype=dtype) == [[1.0, 0.0, 0.0, -1.0]]
        assert nd_gradients(lambda x: nd.norm(x, ord=1), [1.0, nan, 0.0, -2.0], dtype=dtype) == [[1.0, 0.0, 0.0, -1.0]]


def test_leaky_relu_of_float64_is_double() -> None:
    x = [-3.0, -1e-3, 0.5]
    for slope in (0.1, -0.5):
        for act_type, value, derivative in (
            ("leaky", lambda v, a=slope: a * v, lambda v, a=slope: a),
            ("elu", lambda v, a=slope: a * math.expm1(v), lambda v, a=slope: a * math.exp(v)),
        ):
            function = partial(nd.LeakyReLU, act_type=act_type, slope=slope)
            found = function(nd.array(x, dtype="float64")).asnumpy()
            np.testing.assert_allclose(found, [*map(value, x[:2]), 0.5], rtol=1e-15)
            np.testing.assert_allclose(nd_gradients(function, x)[0], [*map(derivative, x[:2]), 1.0], rtol=1e-15)
    gelu = nd.LeakyReLU(nd.array(x, dtype="float64"), act_type="gelu").asnumpy()
    np.testing.assert_allclose(gelu, [v * math.erfc(-v / math.sqrt(2)) / 2 for v in x], rtol=1e-13)


@pytest.mark.parametrize("act_type, slope", [("leaky", math.inf), ("elu", math.inf), ("elu", math.nan), ("prelu", 0)])
def test_no_derivative_above_0_has_leaky_relus_slope(act_type: str, slope: float) -> None:
    x, slopes = nd.array([2.0, 1e-3, -1.0]), [nd.array([math.inf])] if act_type == "prelu" else []
    x.attach_grad()
    with autograd.record():
        y = nd.LeakyReLU(x, *slopes, act_type=act_type, slope=slope)
        first = autograd.grad(y, [x], create_graph=True, retain_graph=True)[0]
    second = autograd.grad(first, [x])[0].asnumpy()
    np.testing.assert_array_equal(first.asnumpy()[:2], [1, 1])
    np.testing.assert_array_equal(second, [0, 0, slope if act_type == "elu" else 0])


def test_the_last_bit_of_functions_of_float64() -> None:
    numbers = np.concatenate([np.linspace(-20, 20, 4001), [-2.5]])
    for name in ("sin", "cos", "exp", "tanh", "log"):
        at = np.abs(numbers) + 0.125 if name == "log" else numbers
        expected = np.array([getattr(math, name)(each) for each in at.tolist()])
        found = getattr(nd, name)(nd.array(at, dtype="float64")).asnumpy()
        steps = 2 if name == "tanh" else 1  # the C library's is not exact either
        assert (np.abs(found - expected) <= steps * np.spacing(np.abs(expected))).all(), name


# ---- mxlite.torch ----


def t(values: Any, dtype: Any = None) -> Any:
    return torch.tensor(values, dtype=dtype)


def gradients(function: Callable, *values: Any) -> list:
    """Gradients of the sum of a function's result."""
    inputs = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in values]
    return [each.tolist() for each in torch.autograd.grad(function(*inputs).sum(), inputs)]


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(np.array(found), np.array(expected))


def test_values() -> None:
    same(torch.remainder(t([1.0, -1.0, 0.0, inf, -1.0]), t([0.0, 0.0, 0.0, 2.0, inf])).tolist(), [nan] * 4 + [inf])
    same((t([1.0]) % 0.0).tolist(), [nan])
    same((5.0 % t([3.0, -3.0, 0.0])).tolist(), [2.0, -1.0, nan])
    same((7 % t([4, -4, 3])).tolist(), [3, -1, 1])
    same(torch.floor_divide(t([inf, -1.0, 1.0]), t([5.0, inf, -inf])).tolist(), [nan, -1.0, -1.0])
    same(torch.div(t([5.0, -5.0]), 0.0, rounding_mode="floor").tolist(), [inf, -inf])
    same(torch.logaddexp(t([-inf, inf, 1.0]), t([-inf, inf, nan])).tolist(), [-inf, inf, nan])
    assert torch.lerp(t([1e20]), t([1.0]), 1.0).tolist() == [1.0]
    assert torch.lerp(t([1e20]), t([1.0]), t([1.0])).tolist() == [1.0]
    same(torch.median(t([1.0, nan, 3.0])).item(), nan)
    values, where = torch.median(t([[1.0, nan, 3.0], [3.0, 1.0, 2.0]]), 1)
    same(values.tolist(), [nan, 2.0])
    assert where.tolist() == [1, 2]
    assert torch.signbit(t([-0.0, 0.0, -1.0, -nan, inf])).tolist() == [True, False, True, True, False]
    same(torch.xlogy(t([0.0, 0.0, 2.0]), t([nan, -1.0, 1.0])).tolist(), [nan, 0.0, 0.0])
    assert torch.triu(torch.full((2, 2), -inf), 1).tolist() == [[0.0, -inf], [0.0, 0.0]]
    assert torch.tril(t([[1.0, nan], [2.0, 3.0]])).tolist() == [[1.0, 0.0], [2.0, 3.0]]


def test_the_median_of_nothing() -> None:
    same(torch.median(t([])).item(), nan)
    assert torch.median(t([], torch.int64)).item() == -(1 << 63)
    assert torch.zeros(0, 3).median(1)[0].shape == (0,)
    with pytest.raises(IndexError, match="dimension 0 has size 0"):
        torch.zeros(0, 3).median(0)
    with pytest.raises(NotImplementedError):
        torch.median(t([True]))


@pytest.mark.parametrize("name", ["det", "slogdet", "logdet", "inverse"])
def test_matrices_that_are_not_square(name: str) -> None:
    for given, says in (
        (torch.ones(2, 3), "2 x 3"),
        (torch.ones(2), "takes matrices, .* got 1 dimensions"),
        (t([[1]]), "floating"),
        (torch.ones(2, 2).half(), "of dtype Half"),
    ):
        with pytest.raises(RuntimeError, match=says):
            getattr(torch, name)(given)


def test_gradients_at_edges() -> None:
    same(gradients(lambda a: torch.logaddexp(a, t([inf], torch.float64)), [-0.2]), [[0.0]])
    same(gradients(torch.xlogy, [0.0, 0.0, 0.0], [2.0, 0.5, -1.0]), [[math.log(2.0), math.log(0.5), 0.0], [0.0] * 3])
    same(gradients(torch.atan2, [0.0, 0.0], [0.0, 1.0]), [[0.0, 1.0], [0.0, 0.0]])
    for extreme in (torch.max, torch.min, torch.median):
        same(gradients(extreme, [1.0, nan, 2.0]), [[0.0, 1.0, 0.0]])
        same(gradients(extreme, [nan, nan]), [[0.5, 0.5]])
    same(gradients(lambda x: x.clamp(0, 1), [nan, 0.0, 2.0]), [[0.0, 1.0, 0.0]])
    same(gradients(lambda x: x.clamp(0, 1) * inf, [nan, 0.5, 2.0]), [[0.0, inf, 0.0]])
    same(gradients(lambda x: x.abs(), [nan]), [[0.0]])
    same(gradients(lambda z: torch.div(t([5.0], torch.float64), z, rounding_mode="trunc"), [0.0]), [[0.0]])
    same(gradients(lambda x: torch.triu(x, 1) * inf, [[1.0, 2.0], [3.0, 4.0]]), [[[0.0, inf], [0.0, 0.0]]])
    same(gradients(lambda x, y: torch.maximum(x, y) * inf, [1.0, 2.0], [2.0, 2.0]), [[0.0, inf], [inf, inf]])
    same(gradients(torch.maximum, [nan, 1.0], [1.0, nan]), [[1.0, 1.0], [1.0, 1.0]])
    same(gradients(torch.remainder, [1.0, inf], [-inf, 1.0]), [[1.0, 1.0], [1.0, nan]])


def test_the_logarithm_of_a_singular_determinant_is_steep() -> None:
    x = torch.tensor([[[1.0, 2.0], [2.0, 4.0]], [[2.0, 1.0], [1.0, 3.0]]], dtype=torch.float64, requires_grad=True)
    sign, log = torch.slogdet(x)
    (found,) = torch.autograd.grad(log.sum(), x)
    assert sign.tolist() == [0.0, 1.0] and log[0].item() == -inf
    assert np.isinf(found[0].tolist()).all()
    np.testing.assert_allclose(found[1].tolist(), [[0.6, -0.2], [-0.2, 0.4]], rtol=1e-14)


def test_rules_read_inputs_alone() -> None:
    for function in (
        lambda a: torch.logaddexp(a, a),
        torch.erfinv,
        torch.frac,
        lambda a: torch.fmod(a, torch.full_like(a, 1.3)),
    ):
        x = torch.full((2,), 0.4, requires_grad=True)
        y = function(x)
        y.mul_(2)
        y.sum().backward()
        assert x.grad is not None


# ---- integers ----


def test_powers_of_integers() -> None:
    assert (t([94906267]) ** 2).tolist() == [94906267**2]
    assert (t([3]) ** 39).tolist() == [3**39]
    assert (t([2, 3]) ** t([64, 64])).tolist() == [0, 8733086111712066817]
    assert (t([0, 1, -1, -1, 2]) ** t([-1, -5, -5, -4, -1])).tolist() == [0, 1, -1, 1, 0]
    assert (2 ** t([0, 10, -1, 63])).tolist() == [1, 1024, 0, -(1 << 63)]
    assert torch.square(t([200], torch.uint8)).tolist() == [64]
    assert torch.square(t([3037000501])).tolist() == [3037000501**2 - (1 << 64)]
    assert torch.square(t([True])).dtype is torch.int64
    made = t([7, 3], torch.int32)
    made **= 2
    assert made.tolist() == [49, 9] and made.dtype is torch.int32
    with pytest.raises(RuntimeError, match="the exponent of integers is 0 or more, got -1"):
        t([2]) ** -1
    with pytest.raises(NotImplementedError):
        t([True]) ** t([True])
    with pytest.raises(RuntimeError, match="int64 does not fit in an array of dtype bool"):
        flags = t([True])
        flags **= 2


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_powers_are_numpys(dtype: str) -> None:
    numbers = np.array([0, 1, 2, 3, 5, 7, 100, 127], dtype)
    base, exponent = np.repeat(numbers, 8), np.tile(numbers, 8)
    with np.errstate(all="ignore"):
        expected = np.power(base, exponent)
    kind = getattr(torch, dtype)
    found = torch.tensor(base.tolist(), dtype=kind) ** torch.tensor(exponent.tolist(), dtype=kind)
    assert found.dtype is kind and found.tolist() == expected.tolist()


def test_division_of_integers() -> None:
    def trunc(a: Any, b: Any) -> Any:
        return torch.div(a, b, rounding_mode="trunc")

    for divide in (torch.remainder, torch.floor_divide, torch.fmod, trunc):
        for divisor in (t([0]), 0):
            with pytest.raises(RuntimeError, match="integers are divided by 0"):
                divide(t([1]), divisor)
        with pytest.raises(NotImplementedError):
            divide(t([True]), t([True]))
    with pytest.raises(RuntimeError, match="integers are divided by 0"):
        5 % t([0])
    large = (1 << 62) + 1
    assert torch.div(t([large, -7]), t([2, 2]), rounding_mode="trunc").tolist() == [1 << 61, -3]
    assert torch.floor_divide(t([-7, large]), 2).tolist() == [-4, 1 << 61]
    assert torch.fmod(t([-7, 7]), t([3, -3])).tolist() == [-1, 1]
    assert torch.remainder(t([-7, 7]), t([3, -3])).tolist() == [2, -2]


def test_products_of_integers() -> None:
    large = t([[94906267, 1], [3, 2]])
    exact = [[94906267**2 + 3, 94906267 + 2], [94906267 * 3 + 6, 7]]
    assert (large @ large).tolist() == exact
    assert torch.einsum("ij,jk", large, large).tolist() == exact
    assert (large[None] @ large[None]).tolist() == [exact]
    assert torch.addmm(large, large, large, beta=0).tolist() == exact
    small = t([[200, 1], [1, 1]], torch.uint8)
    assert (small @ small).tolist() == [[65, 201], [201, 2]] and (small @ small).dtype is torch.uint8
    assert (small @ small[0]).tolist() == [65, 201]
    assert torch.dot(small[0], small[0]).item() == 65
    assert (small[:, :0] @ small[:0]).tolist() == [[0, 0], [0, 0]]
    for product in (torch.mm, torch.matmul):
        with pytest.raises(NotImplementedError):
            product(small > 1, small > 1)


def test_functions_that_take_integers_or_refuse_them() -> None:
    assert torch.nan_to_num(t([1, 2])).tolist() == [1, 2]
    assert torch.xlogy(t([1]), t([1])).tolist() == [0.0]
    for refused in (torch.frac, lambda x: torch.hypot(x, x), lambda x: torch.logaddexp(x, x)):
        with pytest.raises(NotImplementedError):
            refused(t([1]))
    assert torch.einsum("ii", t([[1, 2], [3, 4]])).item() == 5
    assert torch.einsum("iij->ji", torch.arange(12).reshape(2, 2, 3)).tolist() == [[0, 9], [1, 10], [2, 11]]
    with pytest.raises(RuntimeError, match="subscript i is of sizes 2 and 3"):
        torch.einsum("ii", torch.ones(2, 3))


def test_gradients_of_elements_by_strides_that_overlap() -> None:
    def twice(function: Callable, values: list) -> tuple[list, list]:
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        (first,) = torch.autograd.grad((function(x) ** 2).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad((first**2).sum(), x)
        return first.tolist(), second.tolist()

    first, second = twice(lambda x: x.as_strided((3, 2), (1, 1)), [1.0, 2.0, 3.0, 4.0])
    assert first == [2.0, 8.0, 12.0, 8.0] and second == [8.0, 64.0, 96.0, 32.0]
    first, second = twice(lambda x: x.as_strided((2, 2, 2), (1, 0, 1), 1), [1.0, 2.0, 3.0, 4.0])
    assert first == [0.0, 8.0, 24.0, 16.0] and second == [0.0, 64.0, 384.0, 128.0]
