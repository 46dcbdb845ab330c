"""Predictions fuse convolutions with what follows them: the same results as node by node, but for roundings."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from _passes import compare, values

import mxlite as mx

X = mx.sym.var("x")


def _convolution(data: Any, name: str, **more: Any) -> Any:
    given = {"kernel": (3, 3), "num_filter": 6, "pad": (1, 1), "no_bias": True, **more}
    return mx.sym.Convolution(data, name=name, **given)


def _norm(data: Any, name: str = "norm", **more: Any) -> Any:
    return mx.sym.BatchNorm(data, name=name, **{"fix_gamma": False, **more})


def _relu(data: Any) -> Any:
    return mx.sym.Activation(data, act_type="relu")


FUSED = "_mxl_fused_convolution"


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": (1, 1), "pad": (0, 0)},
        {"kernel": (1, 1), "pad": (0, 0), "stride": (2, 2)},
        {"num_filter": 4, "num_group": 4},
        {"num_filter": 8, "num_group": 4, "stride": (2, 2)},
        {"kernel": (5, 2), "pad": (2, 1), "dilate": (1, 2)},
        {"no_bias": False, "num_group": 2},
        {"num_filter": 19, "num_group": 1},
    ],
)
def test_what_follows_a_convolution(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], dtype: str) -> None:
    """Every combination of a normalisation, a sum and limits."""
    for norm, adds, limit in itertools.product((0, 1, 2), (0, 1), (0, 1, 2)):
        y = _convolution(X, "c", **options)
        if norm:
            y = _norm(y, fix_gamma=norm == 2)
        if adds:
            y = y + mx.sym.var("added", shape=_convolution(X, "c", **options).infer_shape(x=(2, 4, 9, 10))[1][0])
        if limit:
            y = _relu(y) if limit == 1 else mx.sym.clip(y, -0.5, 6)
        compare(monkeypatch, y, [FUSED if norm or adds or limit else "Convolution"], dtype=dtype)


@pytest.mark.parametrize("axes, kernel", [(1, (3,)), (3, (2, 3, 1))])
def test_other_axes(monkeypatch: pytest.MonkeyPatch, axes: int, kernel: tuple[int, ...]) -> None:
    y = _convolution(X, "c", kernel=kernel, pad=(1,) * axes)
    compare(monkeypatch, _relu(_norm(y)), [FUSED], shape=(2, 4, *(5, 6, 7)[:axes]))


@pytest.mark.parametrize("channels, side", [(64, 20), (40, 33), (130, 7), (96, 14)])
def test_wide_ones(monkeypatch: pytest.MonkeyPatch, channels: int, side: int) -> None:
    """Sizes at which convolutions take their other ways: mapped tiles, several blocks, packed vectors."""
    y = _convolution(X, "c", num_filter=channels)
    y = _relu(_norm(y) + X)
    compare(monkeypatch, y, [FUSED], shape=(2, channels, side, side))
    y = _convolution(X, "c", num_filter=1400, kernel=(1, 1), pad=(0, 0))
    y = _convolution(_relu(_norm(y)), "d", num_filter=channels, kernel=(1, 1), pad=(0, 0))
    compare(monkeypatch, _norm(y, "n") + X, [FUSED, FUSED], shape=(2, channels, side, side))


def test_a_residual_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both operands of a sum are convolutions, in either order; the one that runs last takes it."""
    for swap in (False, True):
        main = _norm(_convolution(_relu(_norm(_convolution(X, "a"), "na")), "b"), "nb")
        short = _norm(_convolution(X, "s", kernel=(1, 1), pad=(0, 0)), "ns")
        y = _relu(short + main if swap else main + short)
        compare(monkeypatch, y, [FUSED] * 3)


def test_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that someone else reads, an order that is no tail, and results that nodes hide."""
    c = _convolution(X, "c")
    compare(monkeypatch, mx.sym.Group([c, _relu(c)]), ["Convolution", "Activation"])
    compare(monkeypatch, _relu(c) + mx.sym.tanh(c), ["Convolution", "Activation", "tanh", "elemwise_add"])
    compare(monkeypatch, _norm(_relu(c)), [FUSED, "BatchNorm"])
    compare(monkeypatch, _relu(_relu(c)), [FUSED, "Activation"])
    compare(monkeypatch, c + c, ["Convolution", "elemwise_add"])
    compare(monkeypatch, _norm(c, axis=2), ["Convolution", "BatchNorm"])
    compare(monkeypatch, _norm(c, output_mean_var=True)[1], ["Convolution", "BatchNorm"])
    wide = mx.sym.broadcast_add(c, mx.sym.var("b", shape=(1, 6, 1, 1)))
    compare(monkeypatch, wide, ["Convolution", "broadcast_add"])
    compare(monkeypatch, mx.sym.tanh(mx.sym.clip(c, 3, 1)), ["Convolution", "clip", "tanh"])


def test_specialvalues() -> None:
    """NaN stays NaN behind limits, infinities are limited."""
    x = np.zeros((1, 4, 9, 10), "float32")
    x[0, 0, 4, 4], x[0, 1, 0, 0] = np.nan, np.inf
    y = mx.sym.clip(_convolution(X, "c", num_filter=4, num_group=4), -1, 6)
    executor = y.simple_bind(mx.cpu(), grad_req="null", x=x.shape)
    out = executor.forward(x=mx.nd.array(x), c_weight=mx.nd.ones((4, 1, 3, 3)))[0].asnumpy()
    assert np.isnan(out[0, 0]).sum() == 9 and (out[0, 1] == 6).sum() == 4 and not out[0, 2:].any()


class _Net(mx.gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.conv = mx.gluon.nn.Conv2D(8, 3, padding=1)
            self.norm = mx.gluon.nn.BatchNorm()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return F.relu(self.norm(self.conv(x)) + x)


def test_parameters_change() -> None:
    """What is kept of parameters is made again when one of them changes, in place or by another array."""
    net = _Net()
    net.initialize(mx.init.Normal(1))
    x = mx.nd.array(np.random.RandomState(0).randn(2, 8, 12, 12))
    plain = net(x).asnumpy()
    net.hybridize(static_alloc=True)
    np.testing.assert_allclose(net(x).asnumpy(), plain, atol=2e-5)
    for name, parameter in net.collect_params().items():
        parameter.data()[:] = parameter.data() * 1.5 + 0.25
        fast = net(x).asnumpy()
        parameter.set_data(parameter.data() + 0.25)
        later = net(x).asnumpy()
        net.hybridize(False)
        want = net(x).asnumpy()
        net.hybridize(static_alloc=True)
        assert not np.array_equal(fast, later), name
        np.testing.assert_allclose(later, want, atol=1e-4)


def test_training_has_the_bits_of_its_nodes() -> None:
    net = _Net()
    net.initialize(mx.init.Normal(1))
    x = mx.nd.array(np.random.RandomState(0).randn(2, 8, 12, 12))
    x.attach_grad()
    found = []
    for _ in range(2):
        for training in (False, True):
            with mx.autograd.record(train_mode=training):
                y = net(x)
            y.backward()
            found.append((y.asnumpy(), x.grad.asnumpy()))
            net.norm.running_mean.set_data(mx.nd.zeros(8))
            net.norm.running_var.set_data(mx.nd.ones(8))
        net.hybridize(static_alloc=True)
    for plain, fast in zip(found[:2], found[2:]):
        np.testing.assert_array_equal(plain[0], fast[0])
        np.testing.assert_array_equal(plain[1], fast[1])


def test_executors_with_gradients_have_the_bits_of_their_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    y = _relu(_norm(_convolution(X, "c")))
    args, states = values(y, "float32", (2, 4, 9, 10))
    found = []
    for setting in ("none", ""):
        monkeypatch.setenv("MXLITE_GRAPH", setting)
        executor = y.bind(mx.cpu(), args, {"x": mx.nd.zeros((2, 4, 9, 10))}, aux_states=states)
        found.append(executor.forward(is_train=False)[0].asnumpy())
    np.testing.assert_array_equal(found[0], found[1])


def test_errors_are_those_of_the_graph() -> None:
    """A sum of other shapes, and inputs of another dtype than the kernels."""
    y = _relu(_norm(_convolution(X, "c")) + mx.sym.var("added"))
    net = mx.gluon.SymbolBlock(y, [X, mx.sym.var("added")])
    net.initialize()
    x = mx.nd.ones((1, 4, 5, 5))
    net(x, mx.nd.ones((1, 6, 5, 5)))
    texts = []
    for keeps in (False, True):
        net.hybridize(static_alloc=keeps)
        for added in (mx.nd.ones((1, 6, 5, 4)), mx.nd.ones((1, 6, 5, 5), dtype="float64")):
            with pytest.raises(mx.MXNetError) as caught:
                net(x, added).wait_to_read()
            texts.append(str(caught.value))
    assert texts[:2] == texts[2:]


def test_a_failing_operator_of_the_users_is_called_once() -> None:
    calls = []

    class Fails(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            calls.append(is_train)
            raise ValueError("no")

    @mx.operator.register("fails_in_a_fused_graph")
    class FailsProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Fails:
            return Fails()

    y = mx.sym.Custom(_relu(_convolution(X, "c")), op_type="fails_in_a_fused_graph")
    executor = y.simple_bind(mx.cpu(), grad_req="null", x=(1, 4, 5, 5))
    with pytest.raises(mx.MXNetError, match="ValueError: no"):
        executor.forward(is_train=False)
    assert calls == [False]


def test_an_unknown_pass_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXLITE_GRAPH", "-fuse,-fold")
    with pytest.raises(mx.MXNetError, match="MXLITE_GRAPH"):
        _relu(X).simple_bind(mx.cpu(), x=(1,))
    monkeypatch.setenv("MXLITE_GRAPH", "-repeats,-fuse")
    _relu(X).simple_bind(mx.cpu(), x=(1,))
