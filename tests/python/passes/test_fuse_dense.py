"""Predictions fuse dense layers with what follows them: the same results as node by node, but for roundings."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from _passes import compare, predict, values

import mxlite as mx

X = mx.sym.var("x")
FUSED = "_mxl_fused_dense"


def _dense(data: Any, name: str = "d", **more: Any) -> Any:
    return mx.sym.FullyConnected(data, name=name, **{"num_hidden": 20, **more})


def _norm(data: Any, name: str = "norm", **more: Any) -> Any:
    return mx.sym.BatchNorm(data, name=name, **{"fix_gamma": False, **more})


FUNCTIONS = [
    lambda x: mx.sym.relu(x),
    lambda x: mx.sym.Activation(x, act_type="softrelu"),
    lambda x: mx.sym.clip(x, -0.5, 0.75),
    lambda x: mx.sym.LeakyReLU(x, act_type="gelu"),
    lambda x: mx.sym.LeakyReLU(x, act_type="elu", slope=0.125),
    lambda x: mx.sym.hard_sigmoid(x, alpha=0.25),
    lambda x: mx.sym.tanh(x, attr={"__note__": "a b=c"}),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    "shape, options",
    [
        ((1, 5), {}),
        ((9, 33), {"no_bias": True}),
        ((33, 70), {"num_hidden": 1}),
        ((5, 3, 4), {}),
        ((2, 7, 6), {"flatten": False}),
        ((6, 8), {"flatten": False, "no_bias": True}),
        ((150, 1030), {"num_hidden": 65}),
    ],
)
def test_what_follows_a_dense_layer(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], options: dict[str, Any], dtype: str
) -> None:
    """Every combination of a normalisation, a sum and a function."""
    functions = FUNCTIONS if dtype == "float32" else FUNCTIONS[::3]
    for norm, adds in itertools.product((0, 1, 2), (0, 1)):
        for function in (None, *(functions if norm == adds else functions[:1])):
            y = _dense(X, **options)
            if norm:
                y = _norm(y, fix_gamma=norm == 2, axis=-1 if "flatten" in options else 1)
            if adds:
                added = mx.sym.var("added", shape=_dense(X, **options).infer_shape(x=shape)[1][0])
                y = added + y if norm else y + added
            compare(monkeypatch, function(y) if function else y, [FUSED], shape=shape, dtype=dtype)


def test_several_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both operands of a sum are layers; of those the one that runs last takes it. A function ends a layer."""
    one, two = _dense(X, "a"), _dense(X, "b")
    compare(monkeypatch, mx.sym.relu(one + two), [FUSED, FUSED], shape=(8, 30))
    compare(monkeypatch, mx.sym.tanh(mx.sym.relu(one)), [FUSED, "tanh"], shape=(8, 30))
    compare(monkeypatch, mx.sym.relu(one) + X, [FUSED, "elemwise_add"], shape=(8, 20))
    compare(monkeypatch, _norm(mx.sym.relu(one)), [FUSED, "BatchNorm"], shape=(8, 30))
    compare(monkeypatch, _dense(_dense(X, "a"), "b", num_hidden=3), [FUSED, FUSED], shape=(8, 30))


def test_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    d = _dense(X)
    compare(monkeypatch, mx.sym.Group([d, mx.sym.relu(d)]), [FUSED, "relu"], shape=(8, 30))
    compare(monkeypatch, d + d, [FUSED, "elemwise_add"], shape=(8, 30))
    compare(monkeypatch, d * 2, [FUSED, "_mul_scalar"], shape=(8, 30))
    compare(monkeypatch, mx.sym.LeakyReLU(d, act_type="prelu", name="p"), [FUSED, "LeakyReLU"], shape=(8, 30))
    wide = mx.sym.broadcast_add(d, mx.sym.var("b", shape=(1, 20)))
    compare(monkeypatch, wide, [FUSED, "broadcast_add"], shape=(8, 30))
    rows = _dense(X, flatten=False)
    compare(monkeypatch, _norm(rows), [FUSED, "BatchNorm"], shape=(4, 6, 5))
    compare(monkeypatch, _norm(d, output_mean_var=True)[1], [FUSED, "BatchNorm"], shape=(8, 30))
    monkeypatch.setenv("MXLITE_GRAPH", "-dense")
    y = mx.sym.relu(d)
    assert predict(y, *values(y, "float32", (8, 30)))[1] == ["FullyConnected", "relu"]


@pytest.mark.parametrize("rows", [1, 3, 4, 33, 150])
def test_weights_change(rows: int) -> None:
    """What is kept of a weight is made again when it changes, in place or by another array; batches of any size."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(40, activation="relu"), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(33))
    net.initialize(mx.init.Normal(1))
    draws = np.random.RandomState(0)
    x, other = mx.nd.array(draws.randn(rows, 30)), mx.nd.array(draws.randn(12, 30))
    net(x)
    for name, parameter in net.collect_params().items():
        net.hybridize(static_alloc=True)
        net(x), net(other), net(x)
        parameter.data()[:] = parameter.data() * 1.5 + 0.25
        fast = net(x).asnumpy()
        parameter.set_data(parameter.data() + 0.25)
        later, more = net(x).asnumpy(), net(other).asnumpy()
        net.hybridize(False)
        assert not np.array_equal(fast, later), name
        np.testing.assert_allclose(later, net(x).asnumpy(), rtol=1e-5, atol=2e-4)
        np.testing.assert_allclose(more, net(other).asnumpy(), rtol=1e-5, atol=2e-4)


def test_a_layer_alone_has_its_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the pass a layer packs its weight once where it would pack it in each run, with the same bits."""
    y = _dense(X, num_hidden=70)
    args, states = values(y, "float32", (40, 300))
    monkeypatch.setenv("MXLITE_GRAPH", "-dense")
    executor = y.bind(mx.cpu(), args, grad_req="null")
    found = [executor.forward(is_train=False)[0].asnumpy() for _ in range(3)]
    want = mx.nd.FullyConnected(args["x"], args["d_weight"], args["d_bias"], num_hidden=70).asnumpy()
    for each in found:
        np.testing.assert_array_equal(each, want)


def test_errors_are_those_of_the_graph() -> None:
    y = mx.sym.relu(_dense(X) + mx.sym.var("added"))
    net = mx.gluon.SymbolBlock(y, [X, mx.sym.var("added")])
    net.initialize()
    x = mx.nd.ones((2, 5))
    net(x, mx.nd.ones((2, 20)))
    texts = []
    for keeps in (False, True):
        net.hybridize(static_alloc=keeps)
        for added in (mx.nd.ones((2, 19)), mx.nd.ones((1, 20)), mx.nd.ones((2, 20), dtype="float64")):
            with pytest.raises(mx.MXNetError) as caught:
                net(x, added).wait_to_read()
            texts.append(str(caught.value))
    assert texts[:3] == texts[3:]
