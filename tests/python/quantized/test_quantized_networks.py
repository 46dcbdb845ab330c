"""Gluon networks quantized: accuracy on handwritten digits, what is folded, and bad input."""

from __future__ import annotations

import gc
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon
from mxlite.contrib import quantization
from mxlite.contrib.quantization._net import fold_norms
from mxlite.gluon import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))
from common import read_digits  # noqa: E402


class _Residual(nn.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.first, self.second, self.third = (self._layers(n) for n in (16, 16, 16))
            self.pool, self.out = nn.GlobalAvgPool2D(), nn.Dense(10)

    @staticmethod
    def _layers(channels: int) -> Any:
        made = nn.HybridSequential()
        made.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm())
        return made

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        x = F.Activation(self.first(x), act_type="relu")
        inner = F.Activation(self.second(x), act_type="relu")
        x = F.Activation(self.third(inner) + x, act_type="relu")
        return self.out(F.concat(self.pool(x), self.pool(inner), dim=1))


def _lenet() -> Any:
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(16, 3, padding=1, activation="relu"), nn.MaxPool2D(), nn.Conv2D(32, 3, padding=1, activation="relu")
    )
    net.add(nn.MaxPool2D(), nn.Dense(64, activation="relu"), nn.Dense(10))
    return net


def _mobile() -> Any:
    """Bottlenecks with depthwise convolutions and relu6."""
    net = nn.HybridSequential()
    for channels, groups, size, pad in ((24, 1, 3, 1), (24, 24, 3, 1), (12, 1, 1, 0), (48, 1, 1, 0), (48, 48, 3, 1)):
        net.add(nn.Conv2D(channels, size, padding=pad, groups=groups, use_bias=False), nn.BatchNorm())
        if channels != 12:
            net.add(nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return net


def _dense() -> Any:
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(32, activation="tanh"), nn.Dense(10))
    return net


def _digits() -> tuple[Any, Any]:
    pixels, labels = read_digits()
    return pixels.reshape((-1, 1, 8, 8)), labels


@pytest.fixture
def digits() -> tuple[Any, Any]:
    return _digits()


def _train(made: Any) -> list:
    mx.random.seed(1)
    x, y = _digits()
    net = made()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss, trainer = (
        gluon.loss.SoftmaxCrossEntropyLoss(),
        gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 5e-3}),
    )
    for step in range(150):
        at = np.arange(step * 64, step * 64 + 64) % 1197
        with autograd.record():
            value = loss(net(x[at]), y[at])
        value.backward()
        trainer.step(64)
    return [each.data().asnumpy() for each in net.collect_params().values()]


KINDS = {"lenet": _lenet, "residual": _Residual, "mobile": _mobile, "dense": _dense}


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def trained(request: Any) -> Any:
    """A function that makes a network, and its parameters after training; no array of the training is left."""
    values = _train(request.param)
    gc.collect()
    return request.param, values


def _network(made: Any, values: list, digits: tuple) -> Any:
    """The trained network, anew: a fixture of arrays would keep them alive between tests."""
    net = made()
    net.initialize()
    net(digits[0][:1])
    for each, value in zip(net.collect_params().values(), values):
        each.set_data(mx.nd.array(value))
    net.hybridize()
    return net


def _accuracy(net: Any, digits: tuple) -> float:
    x, y = digits
    return float((net(x[1197:]).argmax(axis=1) == y[1197:]).mean().asscalar())


@pytest.mark.parametrize("mode", ["none", "naive", "entropy"])
@pytest.mark.parametrize("dtype", ["auto", "int8"])
def test_accuracy_stays(trained: Any, digits: tuple, mode: str, dtype: str) -> None:
    x, whole = digits[0], _network(*trained, digits)
    given = {"data_shapes": [(1, 1, 8, 8)]} if mode == "none" else {"calib_data": [x[:256], x[256:512]]}
    net = quantization.quantize_net(whole, quantized_dtype=dtype, calib_mode=mode, **given)
    names = [name for name, each in net.collect_params().items() if each.dtype == np.int8]
    assert names and all("quantize" in name for name in names)
    before = _accuracy(whole, digits)
    lost = 0.015 if trained[0] is _mobile else 0.005  # a layer has one scale, whatever its kernels are
    assert before > 0.9
    assert abs(_accuracy(net, digits) - before) <= lost
    net.hybridize(static_alloc=True)
    assert abs(_accuracy(net, digits) - before) <= lost


def test_excluded_layers_stay(digits: tuple) -> None:
    net = _lenet()
    net.initialize()
    x = digits[0][:8]
    wanted = net(x).asnumpy()
    every = {"exclude_operators": ["Convolution", "FullyConnected", "Activation", "Pooling", "Flatten"]}
    for given in (every, {"exclude_layers_match": ["conv", "dense", "pool"]}):
        made = quantization.quantize_net(net, calib_mode="naive", calib_data=[x], **given)
        assert not any(each.dtype == np.int8 for each in made.collect_params().values())
        np.testing.assert_allclose(made(x).asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_folding_changes_roundings_alone() -> None:
    net = _Residual()
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(2, 1, 8, 8))
    net(x)
    random = np.random.RandomState(1)
    for name, each in net.collect_params().items():
        if "batchnorm" in name:
            each.set_data(mx.nd.array(random.rand(*each.shape) + 0.5))
    symbol = net(mx.sym.var("data"))
    params = {name: each.data() for name, each in net.collect_params().items()}
    states = {name: params[name] for name in symbol.list_auxiliary_states()}
    arguments = {name: params[name] for name in symbol.list_arguments() if name != "data"}
    folded, given, kept = fold_norms(symbol, arguments, states)
    assert not kept and "BatchNorm" not in folded.tojson() and "BatchNorm" in symbol.tojson()
    got = folded.bind(mx.cpu(), {**given, "data": x}, grad_req="null").forward()[0]
    np.testing.assert_allclose(got.asnumpy(), net(x).asnumpy(), rtol=1e-4, atol=1e-5)


def test_a_convolution_that_others_read_is_not_folded() -> None:
    conv = mx.sym.Convolution(mx.sym.var("data"), kernel=(1, 1), num_filter=2, no_bias=True, name="c")
    symbol = mx.sym.Group([mx.sym.BatchNorm(conv, name="b"), conv])
    given = {
        name: mx.nd.ones((2, 3, 1, 1) if name == "c_weight" else 2)
        for name in symbol.list_arguments()
        if name != "data"
    }
    states = {name: mx.nd.ones(2) for name in symbol.list_auxiliary_states()}
    folded, *_ = fold_norms(symbol, given, states)
    assert folded.list_auxiliary_states() == states.keys() or list(states) == folded.list_auxiliary_states()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"calib_mode": "best"}, "calib_mode"),
        ({"quantized_dtype": "int4"}, "quantized_dtype"),
        ({"calib_mode": "naive"}, "calib_data"),
        ({}, "data_shapes"),
    ],
)
def test_bad_words_are_errors(given: dict, text: str) -> None:
    net = _dense()
    net.initialize()
    with pytest.raises(ValueError, match=text):
        quantization.quantize_net(net, **given)


def test_collectors_by_hand(digits: tuple) -> None:
    """quantize_graph, a monitor that shows the collector arrays, calib_graph."""
    net = _lenet()
    net.initialize(mx.init.Xavier())
    x = digits[0][:16]
    wanted = net(x).asnumpy()
    symbol = net(mx.sym.var("data"))
    params = {name: each.data() for name, each in net.collect_params().items()}
    for mode, tolerance in (("naive", 0.06), ("entropy", 0.3)):
        qsym, qparams, states, collector = quantization.quantize_graph(symbol, params, {}, calib_mode=mode)
        executor = symbol.bind(mx.cpu(), {**params, "data": x}, grad_req="null")
        executor.set_monitor_callback(collector.collect, monitor_all=True)
        executor.forward()
        qsym, _, _ = quantization.calib_graph(qsym, params, states, collector, calib_mode=mode)
        assert qsym.tojson().count("min_calib_range") >= 4
        got = qsym.bind(mx.cpu(), {**qparams, "data": x}, grad_req="null").forward()[0].asnumpy()
        assert np.abs(got - wanted).max() < tolerance * np.abs(wanted).max()
    with pytest.raises(ValueError, match="collector"):
        quantization.calib_graph(qsym, params, {}, None, calib_mode="none")


def test_combined_histograms_are_those_of_all_numbers() -> None:
    random = np.random.RandomState(0)
    parts = [random.randn(500), random.randn(300) * 3, random.randn(200) * 0.1]
    reach = np.abs(parts[0]).max()
    counts, edges = np.histogram(parts[0], bins=101, range=(-reach, reach))
    found = counts, edges, parts[0].min(), parts[0].max(), reach
    for part in parts[1:]:
        found = quantization.combine_histogram(found, part, part.min(), part.max(), np.abs(part).max())
    every = np.concatenate(parts)
    counts, edges, low, high, reach = found
    assert counts.sum() == 1000 and (low, high) == (every.min(), every.max()) and reach >= np.abs(every).max()
    np.testing.assert_allclose(np.diff(edges), edges[1] - edges[0], rtol=1e-9)
    wanted = np.histogram(every, bins=len(counts), range=(-reach, reach))[0]
    assert np.abs(np.cumsum(counts - wanted)).max() <= 1  # edges are rounded
