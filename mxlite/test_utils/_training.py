"""Checks of optimizers and blocks, and an iterator that only repeats."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite import autograd
from mxlite._public import offer as _offer
from mxlite.io import DataIter
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import functions_for
from mxlite.test_utils._comparison import assert_almost_equal, compare_ndarray_tuple
from mxlite.test_utils._sparse import rand_ndarray


class DummyIter(DataIter):
    """The first batch of an iterator, over and over, to measure a program without its data."""

    def __init__(self, real_iter: Any) -> None:
        super().__init__()
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.batch_size = real_iter.batch_size
        self.the_batch = next(real_iter)

    def __iter__(self) -> DummyIter:
        return self

    def next(self) -> Any:
        """The batch."""
        return self.the_batch


def compare_optimizer(
    opt1: Any,
    opt2: Any,
    shape: Any,
    dtype: Any,
    w_stype: str = "default",
    g_stype: str = "default",
    rtol: float = 1e-4,
    atol: float = 1e-5,
    compare_states: bool = True,
    ntensors: int = 1,
) -> None:
    """Checks that a step of two optimizers from the same weights by the same gradients gives the same.

    Args:
        shape: of the weight; a list of shapes for several (`ntensors`).
        w_stype, g_stype: storage types of weights and gradients; a sparse weight has all rows, or elements.
        compare_states: whether the optimizers' states must agree too.

    Raises: AssertionError: they differ.
    """
    shapes = shape if isinstance(shape, list) else [shape] * ntensors
    weights = [rand_ndarray(each, w_stype, density=1, dtype=dtype) for each in shapes]
    gradients = [rand_ndarray(each, g_stype, dtype=dtype) for each in shapes]
    results = []
    for optimizer in (opt1, opt2):
        own = [each.copy() for each in weights]
        indices = list(range(len(own)))
        states = [optimizer.create_state_multi_precision(i, each) for i, each in zip(indices, own)]
        slopes = [each.copy() for each in gradients]
        if isinstance(shape, list):
            optimizer.update_multi_precision(indices, own, slopes, states)
        else:
            for i, each in enumerate(own):
                optimizer.update_multi_precision(i, each, slopes[i], states[i])
        results.append((own, states))
    (weights1, states1), (weights2, states2) = results
    if compare_states:
        for one, other in zip(states1, states2):
            compare_ndarray_tuple(one, other, rtol=rtol, atol=atol)
    for one, other in zip(weights1, weights2):
        assert_almost_equal(one, other, rtol=rtol, atol=atol)


def check_gluon_hybridize_consistency(
    net_builder: Callable[..., Any],
    data_l: list[NDArray],
    numpy_func: Callable[..., np.ndarray] | None = None,
    test_grad: bool = True,
    rtol: float = 1e-4,
    atol: float = 1e-4,
) -> None:
    """Checks that a block gives the same hybridized, with the same parameters, and what a function of NumPy gives.

    Args:
        net_builder: makes the block; called with `prefix`.
        data_l: the inputs.
        numpy_func: of the inputs as NumPy arrays; None: it is not compared.
        test_grad: compare the gradients of inputs and parameters too.

    Raises: AssertionError: they differ.
    """
    saved: dict[str, NDArray] = {}
    outputs, gradients = [], []
    for hybridize in (False, True):
        net = net_builder(prefix="net_")
        net.initialize()
        if hybridize:
            net.hybridize()
        inputs = [each.copy() for each in data_l]
        net(*inputs)  # shapes become known
        for name, each in net.collect_params().items():
            each.set_data(saved.setdefault(name, each.data().copy()))
        for each in inputs if test_grad else ():
            each.attach_grad()
        with autograd.record(train_mode=test_grad):
            output = net(*inputs)
        if test_grad:
            output.backward(functions_for(output._kind).ones_like(output))
            params = [each for each in net.collect_params().values() if each.grad_req != "null"]
            gradients.append([each.grad for each in inputs] + [each.grad() for each in params])
        outputs.append(output)
    assert_almost_equal(outputs[0], outputs[1], rtol=rtol, atol=atol)
    for one, other in zip(*gradients) if test_grad else ():
        assert_almost_equal(one, other, rtol=rtol, atol=atol)
    if numpy_func is not None:
        assert_almost_equal(outputs[0], numpy_func(*[each.asnumpy() for each in data_l]), rtol=rtol, atol=atol)


_offer(globals())
