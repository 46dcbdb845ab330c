"""mx.contrib.svrg_optimization. The numbers of one epoch are those of 1.9.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd
from mxlite.contrib.svrg_optimization.svrg_module import SVRGModule

_RANDOM = np.random.RandomState(0)
X = _RANDOM.randn(10, 3).astype("f")
Y = (X.dot([1, 2, -1]) + 0.1).astype("f")


def network() -> mx.sym.Symbol:
    line = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    return mx.sym.LinearRegressionOutput(line, label=mx.sym.var("lin_label"), name="lr")


def batches(size: int) -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(X, Y, batch_size=size, label_name="lin_label")


def fitted(size: int, epochs: int, **more: Any) -> list[float]:
    module = SVRGModule(network(), label_names=["lin_label"], **more)
    parameters = (("learning_rate", 0.1),)
    module.fit(
        batches(size), eval_metric="mse", optimizer_params=parameters, num_epoch=epochs, initializer=mx.init.One()
    )
    arguments, _ = module.get_params()
    return [*arguments["fc_weight"].asnumpy()[0], *arguments["fc_bias"].asnumpy()]


@pytest.mark.parametrize(
    ("size", "expected"),
    [(2, [1.20643, 1.42384, 0.09615, 0.1408]), (4, [1.22296, 1.36489, 0.20719, 0.15191])],
)
def test_an_epoch_gives_the_numbers_of_1_9_1(size: int, expected: list[float]) -> None:
    assert np.allclose(fitted(size, 1, update_freq=1), expected, atol=2e-5)


def test_contexts_share_the_work() -> None:
    pair = {"update_freq": 2, "context": [mx.cpu(0), mx.cpu(1)]}
    assert np.allclose(fitted(2, 3, **pair), fitted(2, 3, update_freq=2), atol=1e-5)


def test_the_full_gradient_is_that_of_all_rows() -> None:
    module = SVRGModule(network(), label_names=["lin_label"], update_freq=1)
    data = batches(5)
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params=(("learning_rate", 0.1),))
    with pytest.raises(AssertionError, match="update_full_grads"):
        module.forward(data.next())
    for _ in range(2):  # the second time as the first: nothing of the last one stays
        module.update_full_grads(data)
        expected = (X.dot(np.ones(3)) - Y) @ X / 2
        assert np.allclose(module._param_dict[0]["fc_weight"].asnumpy()[0], expected, atol=1e-5)
    batch = data.next()
    module.forward(batch)
    module.backward()
    module.update()
    assert np.allclose(module._exec_group.grad_arrays[0][0].asnumpy()[0], expected, atol=1e-5)
    assert module._mod_aux.get_params()[0]["fc_weight"].asnumpy().tolist() == [[1, 1, 1]]
    module.forward(batch, is_train=False)
    module.reshape([("data", (2, 3))], [("lin_label", (2,))])
    module.forward(mx.io.DataBatch([nd.ones((2, 3))], [nd.ones((2,))]))
    with pytest.raises(ValueError, match="no batch"):
        module.update_full_grads(mx.io.ResizeIter(data, 0))


def test_it_comes_to_the_solution() -> None:
    assert np.allclose(fitted(2, 20, update_freq=1), [1, 2, -1, 0.1], atol=0.02)


@pytest.mark.parametrize(("freq", "error"), [(None, TypeError), (1.5, TypeError), (0, ValueError), (-1, ValueError)])
def test_a_frequency_is_a_positive_int(freq: Any, error: type) -> None:
    with pytest.raises(error, match="update_freq"):
        SVRGModule(network(), label_names=["lin_label"], update_freq=freq)


def test_optimizers_of_a_store() -> None:
    step = mx.optimizer.create("_SVRGOptimizer", default_optimizer="sgd", learning_rate=0.5)
    for name, expected in (("fc", -0.5), ("fc_full", 1)):
        weight = nd.zeros((2,))
        step.update(name, weight, nd.ones((2,)), step.create_state(name, weight))
        assert weight.asnumpy().tolist() == [expected] * 2
