"""First and second gradients of every row by central differences in float64, along random directions.

L(x) = sum(op(x) * P) for a random P. Its gradient along a random direction D is compared with (L(x + hD) - L(x - hD)) /
2h; then the same for S(x, P) = <gradient of L, V>, whose gradient is a second one, with respect to inputs and to P.
"""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from _table import invoke, to_nd
from cases import CASES

import mxlite as mx
from mxlite import autograd

FIRST = [case for case in CASES if case.order >= 1 and not case.error and not case.random and not case.defined]
SECOND = [case for case in FIRST if case.order >= 2]
STEP = 1e-5


def _id(case) -> str:
    return case.id


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


@pytest.mark.parametrize("case", FIRST, ids=_id)
def test_first(case) -> None:
    with mx.np_shape(case.np_shape):
        problem = Problem(case)
        _, gradients, _ = problem.loss(problem.points, problem.projections)
        got = [gradient.asnumpy() for gradient in gradients]
        for array, point in zip(got, problem.points):
            assert array.shape == point.shape and array.dtype == np.float64
        for _ in range(2):
            along = problem.directions(problem.points)
            high = problem.value(_moved(problem.points, along, STEP), problem.projections)
            low = problem.value(_moved(problem.points, along, -STEP), problem.projections)
            wanted = (high - low) / (2 * STEP)
            size = sum(float(np.abs(array).sum()) for array in got)
            assert _inner(got, along) == pytest.approx(wanted, rel=1e-5, abs=1e-6 * (1 + size))


@pytest.mark.parametrize("case", SECOND, ids=_id)
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
        for _ in range(2):
            along = problem.directions(everything)
            wanted = (second(_moved(everything, along, STEP)) - second(_moved(everything, along, -STEP))) / (2 * STEP)
            size = sum(float(np.abs(array).sum()) for array in got)
            assert _inner(got, along) == pytest.approx(wanted, rel=1e-5, abs=1e-6 * (1 + size))
        del gradients, total
        for variable in variables:
            variable.attach_grad()
