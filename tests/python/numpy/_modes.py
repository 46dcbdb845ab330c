"""What tests of the package over both classes of arrays share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy

import mxlite as mx
from mxlite import autograd
from mxlite import np as mnp


@contextlib.contextmanager
def legacy() -> Iterator[None]:
    """A with-block out of NumPy's arrays, with their shapes, so that answers have the same."""
    with mx.util.np_array(False):
        yield


def numbers(*shape: int, seed: int = 0, low: float = -1, high: float = 1) -> numpy.ndarray:
    return numpy.random.RandomState(seed).uniform(low, high, shape).astype("float32")


def flat(value: Any) -> list:
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in flat(part)]
    return [value]


def answers(make: Any, inputs: list, kind: type, hybrid: bool = False) -> list:
    """What a block of `make()` gives for inputs of a class, and the gradients of its parameters and inputs."""
    with mx.name.NameManager():
        block = make()
    arrays = [each if each is None else mx.nd.array(each, dtype=each.dtype) for each in inputs]
    if kind is mnp.ndarray:
        arrays = [each if each is None else each.as_np_ndarray() for each in arrays]
    block.initialize()
    mx.random.seed(1)
    block(*arrays)
    for number, param in enumerate(block.collect_params().values()):
        positive = param.name.endswith("_var")
        param.set_data(mx.nd.array(numbers(*param.shape, seed=number, low=0.5 if positive else -0.5)))
    if hybrid:
        block.hybridize()
    floating = [each for each in arrays if each is not None and numpy.dtype(each.dtype).kind == "f"]
    for each in floating:
        each.attach_grad()
    mx.random.seed(1)
    with autograd.record():
        out = flat(block(*arrays))
        heads = [each * each for each in out]
    autograd.backward(heads)
    params = [each.grad() for each in block.collect_params().values() if each.grad_req != "null"]
    found = [*out, *(each.grad for each in floating), *params]
    assert all(type(each) is kind for each in found), [type(each) for each in found]
    return [each.asnumpy() for each in found]


def compare(make: Any, *inputs: Any, hybrid: bool = False) -> None:
    """A block answers to arrays of mx.np as to those of mx.nd, in their class."""
    theirs = answers(make, list(inputs), mnp.ndarray, hybrid)
    with legacy():
        mine = answers(make, list(inputs), mx.nd.NDArray, hybrid)
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        assert one.dtype == other.dtype
        numpy.testing.assert_allclose(one, other.reshape(one.shape), rtol=1e-6, atol=1e-7)
