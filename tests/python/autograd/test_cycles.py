"""Cycles of references through the graph, of `mx.autograd`: functions and operators that keep their own results.

tests/python/pytorch/test_torch_cycles.py has more of the collector's work.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any, Callable

import pytest

import mxlite as mx
from mxlite import autograd, nd
from mxlite._lib import hot

pytestmark = pytest.mark.skipif(
    hot.__name__.endswith("ctypes"), reason="over ctypes classes of arrays cannot show what the library keeps"
)


class Twice(autograd.Function):
    """x * 2, which keeps its result where it is told."""

    def __init__(self, keep: Callable) -> None:
        super().__init__()
        self.keep = keep

    def forward(self, x: nd.NDArray) -> nd.NDArray:
        y = x * 2
        self.keep(self, y)
        return y

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        return dy * 2


def _attribute(function: Twice, y: nd.NDArray) -> None:
    function.y = y


def _nested(function: Twice, y: nd.NDArray) -> None:
    function.kept = {"all": [(y,)]}


def _block(function: Twice, y: nd.NDArray) -> None:
    function.block = mx.gluon.nn.Flatten()
    function.block.last = y


def _leaf() -> nd.NDArray:
    x = nd.ones(3)
    x.attach_grad()
    return x


def _row(x: nd.NDArray, length: int, keep: Callable) -> tuple[nd.NDArray, list]:
    alive = []
    with autograd.record():
        y = x
        for _ in range(length):
            function = Twice(keep)
            alive.append(weakref.ref(function))
            y = function(y)
        z = Twice(keep)(y * y + y.exp() * y)
    return z, alive


@pytest.mark.parametrize("keep", [_attribute, _nested, _block])
@pytest.mark.parametrize("length", [1, 5])
@pytest.mark.parametrize("backward", [False, True])
def test_functions_that_keep_their_results(keep: Callable, length: int, backward: bool) -> None:
    x = _leaf()
    z, alive = _row(x, length, keep)
    gc.collect()
    assert all(function() is not None for function in alive)
    if backward:
        z.backward(retain_graph=True)
        gc.collect()
        assert all(function() is not None for function in alive) and x.grad.asnumpy().all()
    del z
    gc.collect()
    assert not any(function() for function in alive)


def test_a_hook_that_keeps_its_array() -> None:
    def hooked() -> nd.NDArray:
        with autograd.record():
            y = _leaf() * 2
        y.register_hook(lambda grad: y and None)
        return y

    y = hooked()
    gc.collect()
    assert hot.num_kept()
    del y
    gc.collect()
    assert not hot.num_kept()


def test_a_loop_of_a_thousand_steps_keeps_few() -> None:
    most, x = 0, _leaf()
    for _ in range(1000):
        with autograd.record():
            y = Twice(_attribute)(Twice(_attribute)(x))
        most = max(most, hot.num_kept())
    del y
    gc.collect()
    assert not hot.num_kept()
    assert most < 1000  # of 4,000: the collector has come by on its own


_made: list = []


class _KeepingOp(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
        self.assign(out_data[0], req[0], in_data[0] * 2)
        self.kept = in_data, out_data

    def backward(self, req: list, out_grad: list, in_data: list, out_data: list, in_grad: list, aux: list) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * 2)
        self.kept += (out_grad, in_grad, out_data)


@mx.operator.register("test_cycles_keeps")
class _KeepingProp(mx.operator.CustomOpProp):
    def create_operator(self, *_: Any) -> _KeepingOp:
        op = _KeepingOp()
        _made.append(weakref.ref(op))
        return op


@pytest.mark.parametrize("backward", [False, True])
def test_an_operator_that_keeps_its_arrays_makes_no_cycle(backward: bool) -> None:
    """It is given arrays without a place in the graph: no collector is needed."""
    gc.disable()
    try:
        with autograd.record():
            y = nd.Custom(_leaf(), op_type="test_cycles_keeps")
        if backward:
            y.backward()
        (op,) = _made
        assert op() is not None
        del y
        assert op() is None
    finally:
        _made.clear()
        gc.enable()
