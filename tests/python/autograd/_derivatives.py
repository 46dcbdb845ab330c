"""Derivatives to order 2 of functions of float64 arrays, and the same by central differences.

Of f the loss L(x) = sum(f(x)^2 P) is differentiated, for a random P: where f is linear, as what moves elements is, its
second derivatives go through the gradient's own rule.
"""

from __future__ import annotations

import zlib
from typing import Any, Callable

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite import autograd, nd

STEP = 1e-5


class Engine:
    """What is asked of a front end: arrays of NumPy's values, and gradients of a sum."""

    @staticmethod
    def nd(function: Callable, arrays: list, weights: np.ndarray, along: list | None) -> list:
        """Gradients of L in mx.nd; with `along` those of <gradient of L, along>."""
        inputs = [nd.array(array, dtype="float64") for array in arrays]
        for each in inputs:
            each.attach_grad()
        with autograd.record():
            loss = (nd.square(function(nd, *inputs)) * nd.array(weights, dtype="float64")).sum()
            found = autograd.grad(loss, inputs, create_graph=along is not None)
            if along is not None:
                total = sum((one * nd.array(by, dtype="float64")).sum() for one, by in zip(found, along))
                found = autograd.grad(total, inputs)
        return [each.asnumpy() for each in found]

    @staticmethod
    def torch(function: Callable, arrays: list, weights: np.ndarray, along: list | None, module: Any = torch) -> list:
        """The same in mxlite.torch (or `module`)."""

        def tensor(values: np.ndarray) -> Any:
            return module.tensor(values.tolist(), dtype=module.float64).reshape(values.shape)

        inputs = [tensor(array).requires_grad_() for array in arrays]
        loss = (function(module, *inputs) ** 2 * tensor(weights)).sum()
        found = module.autograd.grad(loss, inputs, create_graph=along is not None)
        if along is not None:
            total = sum((one * tensor(by)).sum() for one, by in zip(found, along))
            found = module.autograd.grad(total, inputs)
        return [np.array(each.tolist(), np.float64).reshape(each.shape) for each in found]


def check(name: str, gradients: Callable, value: Callable, arrays: list) -> None:
    """Compares first and second gradients with central differences along random directions.

    Args:
        name: What the random numbers depend on.
        gradients: gradients(arrays, weights, along) as of `Engine`.
        value: The function's value of NumPy arrays, as a NumPy array.
        arrays: Where.
    """
    random = np.random.default_rng(zlib.crc32(name.encode()))
    weights = random.uniform(0.5, 1.5, value(*arrays).shape)
    along = [random.uniform(-1, 1, array.shape) for array in arrays]
    test = [random.uniform(-1, 1, array.shape) for array in arrays]

    def moved(step: float) -> list:
        return [array + step * by for array, by in zip(arrays, along)]

    def inner(left: list, right: list) -> float:
        return sum(float((a * b).sum()) for a, b in zip(left, right))

    def slope(function: Callable) -> float:
        return (function(moved(STEP)) - function(moved(-STEP))) / (2 * STEP)

    first = gradients(arrays, weights, None)
    wanted = slope(lambda at: float((value(*at) ** 2 * weights).sum()))
    assert inner(first, along) == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    second = gradients(arrays, weights, test)
    wanted = slope(lambda at: inner(gradients(at, weights, None), test))
    assert inner(second, along) == pytest.approx(wanted, rel=1e-6, abs=1e-7)
