"""First and second gradients of every row by central differences in float64, along random directions.

L(x) = sum(op(x) * P) for a random P. Its gradient along a random direction D is compared with (L(x + hD) - L(x - hD)) /
2h; then the same for S(x, P) = <gradient of L, V>, whose gradient is a second one, with respect to inputs and to P.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from _table import BRIEF, firsts, invoke, params_of, ranks_of, rows, to_nd
from cases import CASES, OWN

import mxlite as mx
from mxlite import autograd

pytestmark = pytest.mark.one_binding

FIRST = [case for case in CASES + OWN if case.order >= 1 and not case.error and not case.random and not case.defined]
SECOND = [case for case in FIRST if case.order >= 2]
#: All are asked in float64; first derivatives of the others are compared with 1.9.1 (test_cases_reference.py).
FEW = firsts(FIRST, params_of, ranks_of)
STEP = 1e-5
#: Any direction sees an error of a derivative.
DIRECTIONS = 1 if BRIEF else 2


def _rows(cases: list) -> list:
    return rows(cases, lambda case: case.id in FEW)


class Problem:
    """One case in float64: its inputs, a projection of each output, and random directions."""

    def __init__(self, case) -> None:
        self.case = case
        self.random = np.random.default_rng(zlib.crc32(case.id.encode()))
        self.arrays = case.arrays("float64")
        with autograd.predict_mode() if not case.train else autograd.train_mode():
            outputs = invoke(case, [to_nd(array) for array in self.arrays])
        for output in outputs:
            assert np.dtype(output.dtype).kind == "f"
        self.projections = [self.draw(output.shape).astype(output.dtype) for output in outputs]
        self.points = [self.arrays[i] for i in case.diff]

    def draw(self, shape) -> np.ndarray:
        return self.random.uniform(0.5, 1.5, shape) * self.random.choice([-1.0, 1.0], shape)

    def directions(self, arrays: list) -> list:
        """Random ones; for the inputs of a case with symmetric matrices (the first of `arrays`) symmetric ones."""
        along = [self.draw(array.shape) for array in arrays]
        if self.case.symmetric:
            for i in range(len(self.points)):
                along[i] = (along[i] + along[i].swapaxes(-1, -2)) / 2
        return along

    def loss(self, points: list, projections: list, create_graph: bool = False) -> tuple:
        """L at these points, and its gradients; with create_graph also the variables, for one more."""
        inputs = [to_nd(array) for array in self.arrays]
        for position, point in zip(self.case.diff, points):
            inputs[position] = to_nd(point)
        variables = [inputs[position] for position in self.case.diff]
        weights = [to_nd(projection) for projection in projections]
        for array in [*variables, *weights]:
            array.attach_grad()
        with autograd.record(train_mode=self.case.train):
            outputs = invoke(self.case, inputs)
            total = None
            for output, weight in zip(outputs, weights):
                part = (output * weight).sum()
                total = part if total is None else total + part
            gradients = autograd.grad(total, variables, create_graph=create_graph, train_mode=self.case.train)
        return float(total.asscalar()), gradients, [*variables, *weights]

    def value(self, points: list, projections: list) -> float:
        return self.loss(points, projections)[0]


def _inner(left: list, right: list) -> float:
    return sum(float((np.asarray(a, np.float64) * np.asarray(b, np.float64)).sum()) for a, b in zip(left, right))


def _moved(arrays: list, directions: list, step: float) -> list:
    return [array + step * direction for array, direction in zip(arrays, directions)]


@pytest.mark.parametrize("case", _rows(FIRST))
def test_first(case) -> None:
    with mx.np_shape(case.np_shape):
        problem = Problem(case)
        _, gradients, _ = problem.loss(problem.points, problem.projections)
        got = [gradient.asnumpy() for gradient in gradients]
        for array, point in zip(got, problem.points):
            assert array.shape == point.shape and array.dtype == np.float64
        for _ in range(DIRECTIONS):
            along = problem.directions(problem.points)
            high = problem.value(_moved(problem.points, along, STEP), problem.projections)
            low = problem.value(_moved(problem.points, along, -STEP), problem.projections)
            wanted = (high - low) / (2 * STEP)
            size = sum(float(np.abs(array).sum()) for array in got)
            assert _inner(got, along) == pytest.approx(wanted, rel=1e-5, abs=1e-6 * (1 + size))


@pytest.mark.parametrize("case", _rows(SECOND))
def test_second(case) -> None:
    with mx.np_shape(case.np_shape):
        problem = Problem(case)
        tests = [problem.draw(point.shape) for point in problem.points]
        everything = [*problem.points, *problem.projections]
        count = len(problem.points)

        def second(values: list) -> float:
            gradients = problem.loss(values[:count], values[count:])[1]
            return _inner([gradient.asnumpy() for gradient in gradients], tests)

        _, gradients, variables = problem.loss(problem.points, problem.projections, create_graph=True)
        with autograd.record(train_mode=case.train):
            total = None
            for gradient, test in zip(gradients, tests):
                part = (gradient * to_nd(test)).sum()
                total = part if total is None else total + part
        total.backward(train_mode=case.train)
        got = [variable.grad.asnumpy() for variable in variables]
        for _ in range(DIRECTIONS):
            along = problem.directions(everything)
            wanted = (second(_moved(everything, along, STEP)) - second(_moved(everything, along, -STEP))) / (2 * STEP)
            size = sum(float(np.abs(array).sum()) for array in got)
            assert _inner(got, along) == pytest.approx(wanted, rel=1e-5, abs=1e-6 * (1 + size))
        del gradients, total
        for variable in variables:
            variable.attach_grad()


def _both_ways(function, arrays: list, positions: list, train: bool = True) -> list:
    """Pairs of first gradients for one projection: as a rule runs where nothing is recorded, and recorded."""
    results = []
    for create_graph in (False, True):
        random = np.random.default_rng(7)
        inputs = [to_nd(array) for array in arrays]
        variables = [inputs[position] for position in positions]
        for variable in variables:
            variable.attach_grad()
        with autograd.record(train_mode=train):
            outputs = [output for output in function(inputs) if np.dtype(output.dtype).kind == "f"]
            heads = [to_nd(random.uniform(-1, 1, output.shape).astype(output.dtype)) for output in outputs]
            gradients = autograd.grad(outputs, variables, heads, create_graph=create_graph, train_mode=train)
        results.append([gradient.asnumpy() for gradient in gradients])
    return list(zip(*results))


def _check_agreement(fast: np.ndarray, composed: np.ndarray) -> None:
    assert fast.dtype == composed.dtype and fast.shape == composed.shape
    size = 8 * np.finfo(fast.dtype).eps
    fast, composed = fast.astype(np.float64), composed.astype(np.float64)
    np.testing.assert_allclose(fast, composed, rtol=size, atol=size, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", _rows(FIRST))
def test_rules_in_one_pass_agree_with_the_formulas(case, dtype) -> None:
    """A rule may run in one pass where nothing is recorded (`grad_kernel`); recorded, it is always the formula."""
    with mx.np_shape(case.np_shape):
        pairs = _both_ways(lambda inputs: invoke(case, inputs), case.arrays(dtype), case.diff, case.train)
        for fast, composed in pairs:
            _check_agreement(fast, composed)


EDGES = [0.0, -0.0, 1e-30, -1e-30, 1.0, -1.0, 3.5, -3.5, 88.0, -88.0, 200.0, -200.0, np.inf, -np.inf, np.nan]
ONE_PASS = {
    **{name: getattr(mx.nd, name) for name in "exp log tanh sigmoid relu sqrt square abs softsign".split()},
    **{name: lambda x, name=name: mx.nd.Activation(x, act_type=name) for name in ("softrelu", "softsign", "relu")},
    **{name: lambda x, name=name: mx.nd.LeakyReLU(x, act_type=name) for name in ("leaky", "elu", "selu", "gelu")},
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ONE_PASS)
def test_rules_in_one_pass_at_the_edges(name, dtype) -> None:
    with np.errstate(over="ignore"):
        x = np.repeat(np.array(EDGES), 5).astype(dtype)
    ((fast, composed),) = _both_ways(lambda inputs: [ONE_PASS[name](inputs[0])], [x], [0])
    if dtype == "float16":  # the formula rounds after each step, the one pass once
        np.testing.assert_array_equal(np.isfinite(fast), np.isfinite(composed))
        fast, composed = (np.where(np.isfinite(a), a, 0).astype(np.float32) for a in (fast, composed))
        np.testing.assert_allclose(fast, composed, rtol=5e-3, atol=5e-3)
    else:
        _check_agreement(fast, composed)


def test_a_head_gradient_is_not_written_over() -> None:
    """Rules in one pass write over gradients that nobody else has, and over no others."""
    x, head = mx.nd.array([0.5, -2.0, 3.0]), mx.nd.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.tanh(x)
        z = mx.nd.sigmoid(y) * y
    (dy, dx) = autograd.grad(z, [y, x], head)
    assert head.asnumpy().tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_allclose(dx.asnumpy(), dy.asnumpy() * (1 - y.asnumpy() ** 2), rtol=1e-5)
    a = mx.nd.array([2.0, 3.0])
    a.attach_grad()
    with autograd.record():
        b = a * a
        c = b * b + b
    c.backward()
    np.testing.assert_allclose(a.grad.asnumpy(), [4 * 8 + 4, 4 * 27 + 6])
