"""Graphs that are trained run joined nodes, with the bits of single ones; with `fast=True` other convolutions too."""

from __future__ import annotations

import ctypes
import json
import random
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd
from mxlite._lib import LIB, check_call
from mxlite.gluon import nn

CUT, FAST = "_mxl_batch_norm_cut", "_mxl_fast_convolution"


class Residual(gluon.HybridBlock):
    """Two convolutions beside the input, or beside another convolution of it."""

    def __init__(self, channels: int, inputs: int, short: bool = False, first: bool = False) -> None:
        super().__init__()
        self.first = first
        with self.name_scope():
            self.body = nn.HybridSequential()
            self.body.add(
                nn.Conv2D(channels, 3, padding=1, use_bias=False, in_channels=inputs),
                nn.BatchNorm(in_channels=channels),
                nn.Activation("relu"),
                nn.Conv2D(channels, 3, padding=1, use_bias=False, in_channels=channels),
                nn.BatchNorm(in_channels=channels),
            )
            self.short = nn.HybridSequential()
            if short or channels != inputs:
                self.short.add(nn.Conv2D(channels, 1, use_bias=False, in_channels=inputs))
                self.short.add(nn.BatchNorm(in_channels=channels))

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        y, short = self.body(x), self.short(x)
        return F.relu(short + y if self.first else y + short)


def _network(seed: int, dtype: str = "float32", channels: int = 3) -> gluon.HybridBlock:
    """A random network, always the same for a seed."""
    draw = random.Random(seed)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        for _ in range(draw.randint(1, 4)):
            wide = draw.choice([1, 4, 8, 17])
            kind = draw.randrange(5)
            if kind == 0:
                net.add(Residual(wide, channels, short=draw.random() < 0.5, first=draw.random() < 0.5))
            elif kind == 1:
                net.add(nn.Conv2D(wide, draw.choice([1, 3]), padding=1, in_channels=channels))
                net.add(nn.BatchNorm(in_channels=wide, scale=draw.random() < 0.7, center=draw.random() < 0.7))
                net.add(nn.Activation(draw.choice(["relu", "relu", "sigmoid"])))
            elif kind == 2:
                net.add(nn.BatchNorm(in_channels=channels, use_global_stats=draw.random() < 0.4), nn.Activation("relu"))
                wide = channels
            elif kind == 3:
                net.add(nn.Conv2D(wide, 3, strides=2, padding=1, in_channels=channels), nn.Activation("relu"))
            else:
                net.add(nn.MaxPool2D(2, 2, padding=1), nn.HybridLambda(lambda F, x: F.relu(x)))  # noqa: N803
                wide = channels
            channels = wide
        net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(3, in_units=channels))
    net.initialize()
    net.cast(dtype)
    values = np.random.RandomState(seed)
    for name, each in sorted(net.collect_params().items()):
        value = values.randn(*each.shape)
        each.set_data(nd.array(np.abs(value) + 0.5 if name.endswith("var") else value, dtype=each.dtype))
    return net


def _train(net: gluon.HybridBlock, x: Any, req: str = "write", steps: int = 2) -> list[bytes]:
    """What a few steps make: losses, gradients of the input and of parameters, parameters, moving statistics."""
    params = net.collect_params()
    for each in params.values():
        if each.grad_req != "null":
            each.grad_req = "add" if req == "add" else "write"
            each.zero_grad()
    x.attach_grad(req)
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    found = []
    for _ in range(steps):
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        found += [loss, *([x.grad.copy()] if req != "null" else [])]
        found += [each.grad().copy() for each in params.values() if each.grad_req != "null"]
        trainer.step(1)
    with autograd.train_mode():
        found.append(net(x))
    return [each.asnumpy().tobytes() for each in (*found, *(each.data() for each in params.values()))]


def _operators(net: gluon.HybridBlock, x: Any) -> list[str]:
    """Those that a recorded call runs."""
    with autograd.record():
        y = net(x)
    return [each["op"] for each in json.loads(autograd.get_symbol(y).tojson())["nodes"] if each["op"] != "null"]


def _images(seed: int, dtype: str = "float32", channels: int = 3) -> Any:
    draw = np.random.RandomState(seed)
    shape = draw.randint(1, 4), channels, *draw.choice([3, 6, 9, 14, 24], 2)
    return nd.array(draw.randn(*shape), dtype=dtype)


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_random_networks_have_the_same_bits(first: int) -> None:
    joined = 0
    for seed in range(first, first + 10):
        dtype = ("float32", "float32", "float64", "float16")[seed % 4]
        req = ("write", "add", "null")[seed % 3]
        x = _images(seed, dtype)
        plain = _train(_network(seed, dtype), x, req)
        net = _network(seed, dtype)
        net.hybridize(static_alloc=True)
        assert _train(net, x, req) == plain, seed
        joined += CUT in _operators(net, x)
    assert joined >= 2


@pytest.mark.whole
@pytest.mark.parametrize("first", range(100, 1000, 100))
def test_more_random_networks(first: int) -> None:
    for seed in range(first, first + 100):
        x = _images(seed)
        net = _network(seed)
        net.hybridize(static_alloc=True)
        assert _train(net, x) == _train(_network(seed), x), seed


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_a_residual_block(short: bool, first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The normalisation before relu takes it, those before the sum do not."""
    found = []
    for passes in (None, "-join", "none"):
        if passes is not None:
            monkeypatch.setenv("MXLITE_GRAPH", passes)
        net = Residual(70, 70, short, first)
        net.initialize(mx.init.Constant(0.01))
        net.hybridize(static_alloc=True)
        x = nd.array(np.random.RandomState(2).randn(3, 70, 11, 13))
        found.append(_train(net, x))
        names = _operators(net, x)
        assert names.count(CUT) == (1 if passes is None else 0)
        assert names.count("BatchNorm") == 2 + short - names.count(CUT)
    assert found[0] == found[1] == found[2]


def test_what_stays() -> None:
    """A normalisation that others read too, that is a result, or whose statistics are read."""
    x, y = mx.sym.var("x"), mx.sym.var("y")
    norm = mx.sym.BatchNorm(x, name="n", fix_gamma=False)
    shown = mx.sym.BatchNorm(x, name="m", output_mean_var=True)
    both = norm + mx.sym.BatchNorm(y, name="k")
    cases = [
        mx.sym.relu(norm) + norm,
        mx.sym.Group([mx.sym.relu(norm), norm]),
        mx.sym.relu(shown[0]),
        mx.sym.tanh(norm),
    ]
    cases += [mx.sym.relu(both) * both, mx.sym.relu(mx.sym.broadcast_add(norm, y)), mx.sym.relu(norm - y)]
    for symbol in [*cases, mx.sym.relu(both)]:
        made = _executor_ops(symbol)
        assert CUT not in made, made
    assert CUT in _executor_ops(mx.sym.relu(norm) + y)
    assert CUT in _executor_ops(mx.sym.Activation(norm, act_type="relu"))


def _executor_ops(symbol: Any) -> list[str]:
    """The operators that a recorded call of a symbol runs."""
    op, given = mx.nd.CachedOp(symbol, [("static_alloc", True)]), symbol.list_inputs()
    shapes, _, states = symbol.infer_shape(**{name: (2, 3, 5, 7) for name in ("x", "y") if name in given})
    sizes = dict(zip([*symbol.list_arguments(), *symbol.list_auxiliary_states()], [*shapes, *states]))
    arrays = [nd.ones(sizes[name]) for name in given]
    arrays[0].attach_grad()
    with autograd.record():
        made = op(*arrays)
        y = made if isinstance(made, nd.NDArray) else sum(each.sum() for each in made)
    return [each["op"] for each in json.loads(autograd.get_symbol(y).tojson())["nodes"]]


def test_second_derivatives_have_the_same_bits() -> None:
    found = []
    for keeps in (False, True):
        net = Residual(6, 6)
        net.initialize(mx.init.Constant(0.03))
        if keeps:
            net.hybridize(static_alloc=True)
        x = nd.array(np.random.RandomState(3).randn(2, 6, 5, 6))
        x.attach_grad()
        with autograd.record():
            (slope,) = autograd.grad((net(x) ** 2).sum(), [x], create_graph=True)
            again = (slope**2).sum()
        again.backward()
        found.append([slope.asnumpy().tobytes(), x.grad.asnumpy().tobytes()])
    assert found[0] == found[1]


def test_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward in training mode and backward, with passes and without; outputs of a monitor are those of the nodes."""
    x = mx.sym.var("x")
    y = mx.sym.relu(
        mx.sym.BatchNorm(mx.sym.Convolution(x, kernel=(3, 3), num_filter=5, name="c"), name="n") * 1, name="r"
    )
    y = mx.sym.relu(mx.sym.BatchNorm(y, name="k", fix_gamma=False), name="last")
    found = []
    for passes in ("none", None):
        if passes:
            monkeypatch.setenv("MXLITE_GRAPH", passes)
        else:
            monkeypatch.delenv("MXLITE_GRAPH")
        bound = y.simple_bind(mx.cpu(), x=(2, 3, 7, 8), grad_req="write")
        draw = np.random.RandomState(4)
        for name in sorted(bound.arg_dict):
            bound.arg_dict[name][:] = draw.randn(*bound.arg_dict[name].shape)
        for _ in range(2):
            out = bound.forward(is_train=True)[0].asnumpy()
            bound.backward(nd.ones(out.shape))
        arrays = [*bound.grad_dict.values(), *bound.aux_dict.values()]
        found.append([out.tobytes(), *(each.asnumpy().tobytes() for each in arrays)])
        seen: list[bytes] = []
        bound.set_monitor_callback(lambda name, handle, seen=seen: seen.append((name, nd.NDArray(handle))[0]))
        bound.forward(is_train=True)
        assert {b"k_output", b"last_output"} <= set(seen)
    assert found[0] == found[1]


def test_wrong_shapes_are_errors_of_the_nodes() -> None:
    net = Residual(4, 4)
    net.initialize()
    net.hybridize(static_alloc=True, fast=True)
    with autograd.record(), pytest.raises(mx.MXNetError, match="Convolution") as error:
        net(nd.ones((2, 3, 5, 5)))
    assert "_mxl" not in str(error.value)


# ---- fast ----


def _wide(fast: bool, dtype: str = "float32") -> gluon.HybridBlock:
    net = nn.HybridSequential(prefix="wide_")
    with net.name_scope():
        net.add(nn.Conv2D(48, 3, padding=1, in_channels=32), nn.BatchNorm(in_channels=48), nn.Activation("relu"))
        net.add(nn.Conv2D(40, 5, in_channels=48), nn.BatchNorm(in_channels=40), nn.Activation("relu"))
        net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(4, in_units=40))
    net.initialize()
    net.cast(dtype)
    draw = np.random.RandomState(5)
    for _, each in sorted(net.collect_params("(?!.*running).*").items()):
        scale = 1 / np.sqrt(np.prod(each.shape[1:])) if len(each.shape) > 1 else 1
        each.set_data(nd.array(draw.randn(*each.shape) * scale, dtype=each.dtype))
    net.hybridize(static_alloc=True, fast=fast)
    return net


def _gradients(net: gluon.HybridBlock, x: Any) -> list[np.ndarray]:
    x.attach_grad()
    with autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    params = [each.grad() for each in net.collect_params().values() if each.grad_req != "null"]
    return [each.asnumpy().astype("float64") for each in (loss, x.grad, *params)]


def test_fast_differs_by_roundings() -> None:
    """From the same network in float64 by at most 2e-4 of the largest number of each array."""
    x = np.random.RandomState(6).randn(8, 32, 24, 21)
    net = _wide(True)
    got = _gradients(net, nd.array(x))
    exact, wanted = (
        _gradients(_wide(False), nd.array(x)),
        _gradients(_wide(False, "float64"), nd.array(x, dtype="float64")),
    )
    assert _operators(net, nd.array(x)).count(FAST) == 2
    assert any((one != other).any() for one, other in zip(got, exact))
    for one, other in zip(got, wanted):
        assert np.abs(one - other).max() <= 2e-4 * max(1, np.abs(other).max())


def test_fast_with_numbers_that_are_not_finite() -> None:
    """An infinity stays where it is: such convolutions are computed again in the other way."""
    w = nd.array(np.random.RandomState(8).randn(32, 32, 3, 3))
    for value in (np.inf, np.nan):
        x = nd.array(np.random.RandomState(7).randn(8, 32, 24, 24))
        x[3, 5, 11, 2] = value
        found = []
        for op in (FAST, "Convolution"):
            given = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 32, "no_bias": True}
            found.append(mx.ndarray.ndarray.invoke(op, [x, w], given, None).asnumpy())
        np.testing.assert_array_equal(*found)


def test_fast_has_second_derivatives() -> None:
    w = np.random.RandomState(9).randn(32, 32, 3, 3) / 17
    x = np.random.RandomState(10).randn(8, 32, 24, 24)
    found = []
    for op in (FAST, "Convolution"):
        a, b = nd.array(x), nd.array(w)
        a.attach_grad()
        b.attach_grad()
        with autograd.record():
            given = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 32, "no_bias": True}
            y = (mx.ndarray.ndarray.invoke(op, [a, b], given, None) ** 2).sum()
            slopes = autograd.grad(y, [a, b], create_graph=True)
            again = sum((each**2).sum() for each in slopes)
        again.backward()
        found.append([a.grad.asnumpy(), b.grad.asnumpy()])
    for one, other in zip(*found):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-4 * np.abs(other).max())


def test_fast_is_the_same_for_any_number_of_threads() -> None:
    x = np.random.RandomState(11).randn(8, 32, 24, 21)
    found = []
    for threads in (1, 2, 3):
        check_call(LIB.MXSetNumOMPThreads(threads))
        found.append([each.tobytes() for each in _gradients(_wide(True), nd.array(x))])
    check_call(LIB.MXSetNumOMPThreads(0))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("value", ["yes", 2, None, 0.5])
def test_fast_is_true_or_false(value: Any) -> None:
    net = nn.Dense(3)
    with pytest.raises(ValueError, match="fast is True or False"):
        net.hybridize(fast=value)


def test_a_flag_that_means_nothing() -> None:
    with pytest.raises(mx.MXNetError, match="fast is True or False"):
        mx.nd.CachedOp(mx.sym.var("x") + 1, [("fast", "x")])


def test_fast_trains_as_well() -> None:
    """A few steps of both ways end at nearly the same loss."""
    x = nd.array(np.random.RandomState(12).randn(8, 32, 16, 16))
    ends = []
    for fast in (False, True):
        net = _wide(fast)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.02})
        for _ in range(8):
            with autograd.record():
                loss = ((net(x) - 1) ** 2).sum()
            loss.backward()
            trainer.step(8)
        ends.append(float(loss.asscalar()))
    assert abs(ends[0] - ends[1]) < 1e-3 * abs(ends[0])


def test_memory_does_not_grow() -> None:
    net = _wide(True)
    x = nd.array(np.random.RandomState(13).randn(4, 32, 12, 12))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    seen = []
    for step in range(60):
        with autograd.record():
            loss = (net(x) ** 2).sum()
        loss.backward()
        trainer.step(4)
        loss.wait_to_read()
        if step in (10, 59):
            live = ctypes.c_int64()
            check_call(LIB.MXLGetLiveBytes(ctypes.byref(live)))
            seen.append(live.value)
    assert seen[0] == seen[1]
