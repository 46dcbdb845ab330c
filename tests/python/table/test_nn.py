"""Operators of networks with two backwards: the one pass, and the composition that a recorded backward runs."""

from __future__ import annotations

import numpy as np
import pytest
from _table import invoke, to_nd
from cases import FAMILIES

from mxlite import autograd, nd
from mxlite._lib import LIB, check_call

ROWS = [
    case
    for family in ("rnn", "ctc", "attention", "hawkes")
    for case in FAMILIES[family]
    if case.order >= 1 and not case.error and not case.np_shape
]


def _heads(outputs):
    """A gradient for each output, no two elements alike."""
    return [nd.array(np.cos(np.arange(y.size) + k).reshape(y.shape), dtype=y.dtype) for k, y in enumerate(outputs)]


def _both_ways(outputs, inputs):
    """The gradients in one pass, and the composed ones."""
    ways = []
    for composed in (False, True):
        grads = autograd.grad(outputs, inputs, _heads(outputs), retain_graph=True, create_graph=composed)
        ways.append([grad.asnumpy() for grad in grads])
    return ways


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.id)
def test_one_pass_and_the_composition_agree(case) -> None:
    inputs = [to_nd(array) for array in case.arrays("float64")]
    wanted = [inputs[position] for position in case.diff]
    for array in wanted:
        array.attach_grad()
    with autograd.record():
        outputs = invoke(case, inputs)
    for one, other in zip(*_both_ways(outputs, wanted)):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def _network(mode: str, gates: int, batch: int = 9, size: int = 40, layers: int = 2, dtype: str = "float32"):
    """Inputs and parameters of a call of RNN."""
    draw = np.random.RandomState(7).uniform
    count = sum(gates * size * ((6 if layer == 0 else size) + size + 2) for layer in range(layers))
    shapes = [(5, batch, 6), (count,), (layers, batch, size), (layers, batch, size)][: 4 if mode == "lstm" else 3]
    arrays = [nd.array(draw(-0.5, 0.5, shape), dtype=dtype) for shape in shapes]
    return arrays, {"state_size": size, "num_layers": layers, "mode": mode, "state_outputs": True}


MODES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


@pytest.mark.parametrize("mode", MODES)
def test_dropout_is_the_same_in_all_backwards(mode: str) -> None:
    inputs, params = _network(mode, MODES[mode], size=5, layers=3, dtype="float64")
    for array in inputs:
        array.attach_grad()
    with autograd.record():
        outputs = nd.RNN(*inputs, p=0.5, **params)
        others = nd.RNN(*inputs, p=0.5, **params)
    assert (outputs[0] != others[0]).asnumpy().any()
    for one, other in zip(*_both_ways(outputs, inputs)):
        assert one.any()
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_bits_do_not_depend_on_the_number_of_threads(mode: str) -> None:
    inputs, params = _network(mode, MODES[mode], batch=67, size=130)
    for array in inputs:
        array.attach_grad()
    answers = []
    for threads in (1, 2, 3):
        check_call(LIB.MXSetNumOMPThreads(threads))
        with autograd.record():
            outputs = nd.RNN(*inputs, **params)
        autograd.backward(outputs)
        answers.append([array.asnumpy().tobytes() for array in [*outputs, *(each.grad for each in inputs)]])
    check_call(LIB.MXSetNumOMPThreads(0))
    assert answers[0] == answers[1] == answers[2]


def test_inference_and_training_agree() -> None:
    inputs, params = _network("lstm", 4, layers=3)
    alone = nd.RNN(*inputs, **params)
    inputs[1].attach_grad()
    with autograd.record():
        recorded = nd.RNN(*inputs, **params)
    for one, other in zip(alone, recorded):
        assert one.asnumpy().tobytes() == other.asnumpy().tobytes()


def test_a_gradient_of_one_output_alone() -> None:
    inputs, params = _network("lstm", 4, size=4, dtype="float64")
    for array in inputs:
        array.attach_grad()
    with autograd.record():
        outputs = nd.RNN(*inputs, **params)
    for output in outputs:
        for one, other in zip(*_both_ways([output], inputs)):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
