"""Results that backward computes again (`hybridize(remat=True)`, MXNET_BACKWARD_DO_MIRROR): same bits, less memory."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd
from mxlite._lib import LIB, ask
from mxlite.gluon import nn

BATCH, CHANNELS, EXTENT = 8, 16, 64  # results of 2 MB: smaller ones stay
RESULT = BATCH * CHANNELS * EXTENT * EXTENT * 4


def live_bytes() -> int:
    gc.collect()
    mx.nd.waitall()
    return ask(ctypes.c_int64, LIB.MXLGetLiveBytes)


class Residual(gluon.HybridBlock):
    """relu(norm(conv(relu(norm(conv(x)))) + x), `count` times."""

    def __init__(self, count: int = 1) -> None:
        super().__init__()
        with self.name_scope():
            for part in range(2 * count):
                setattr(self, f"conv{part}", nn.Conv2D(CHANNELS, 3, padding=1, use_bias=False))
                setattr(self, f"norm{part}", nn.BatchNorm(scale=part % 2 == 0))
        self.count = count

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        for block in range(self.count):
            one, two = 2 * block, 2 * block + 1
            y = F.relu(getattr(self, f"norm{one}")(getattr(self, f"conv{one}")(x)))
            y = getattr(self, f"norm{two}")(getattr(self, f"conv{two}")(y))
            x = F.relu(y + x)
        return x


class Transformer(gluon.HybridBlock):
    """x + dense(dropout(gelu(dense(norm(x))))), twice with the same layers."""

    def __init__(self, drops: bool = True, size: int = 256) -> None:
        super().__init__()
        with self.name_scope():
            self.norm = nn.LayerNorm()
            self.wide = nn.Dense(4 * size, flatten=False)
            self.back = nn.Dense(size, flatten=False)
            self.gelu = nn.GELU()
            self.drop = nn.Dropout(0.3) if drops else nn.HybridSequential()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        for _ in range(2):
            x = x + self.back(self.drop(self.gelu(self.wide(self.norm(x)))))
        return F.softmax(x)


def chain(*layers: Any) -> Any:
    net = nn.HybridSequential()
    net.add(*layers)
    return net


def pooled() -> Any:
    return chain(
        nn.Conv2D(CHANNELS, 3, padding=1),
        nn.BatchNorm(),
        nn.Activation("softrelu"),
        nn.MaxPool2D(2, 1),
        nn.Conv2D(CHANNELS, 3),
        nn.LeakyReLU(0.1),
        nn.InstanceNorm(),
        nn.AvgPool2D(2, 1),
        nn.Conv2D(CHANNELS, 1),
        nn.GroupNorm(4),
        nn.Swish(),
        nn.Conv2D(CHANNELS, 1),
    )


IMAGES, ROWS = (BATCH, CHANNELS, EXTENT, EXTENT), (4, 512, 256)
NETWORKS = {
    "residual": (Residual, IMAGES),
    "long": (lambda: Residual(5), IMAGES),
    "pooled": (pooled, IMAGES),
    "transformer": (Transformer, ROWS),
    "without dropout": (lambda: Transformer(False), ROWS),
    "small": (Residual, (1, CHANNELS, 1, 1)),
    "one batch of none": (lambda: chain(nn.Dense(4), nn.Activation("relu"), nn.Dense(3)), (0, 5)),
}


def built(name: str, remat: bool, dtype: str = "float32") -> tuple[Any, Any]:
    """A network and its input; the same numbers each time."""
    make, shape = NETWORKS[name]
    mx.random.seed(5)
    net = make()
    net.initialize(mx.init.Xavier())
    net.cast(dtype)
    x = nd.array(np.random.RandomState(0).standard_normal(shape), dtype=dtype)
    net(x if len(x) else nd.ones((1, *shape[1:]), dtype=dtype))
    net.hybridize(remat=remat)
    return net, x


def arrays(net: Any, x: Any, result: Any) -> list[np.ndarray]:
    params = net.collect_params().values()
    found = [result, x.grad, *(each.data() for each in params)]
    return [each.asnumpy() for each in [*found, *(each.grad() for each in params if each.grad_req != "null")]]


def trained(net: Any, x: Any, steps: int = 2, training: bool = True) -> list[np.ndarray]:
    """Results, gradients and parameters after some steps."""
    x.attach_grad()
    mx.random.seed(1)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01, "momentum": 0.9})
    for _ in range(steps):
        with autograd.record(train_mode=training):
            y = net(x)
            loss = (y * y).sum()
        loss.backward()
        trainer.step(1)
    return arrays(net, x, y)


def same(one: list[np.ndarray], other: list[np.ndarray]) -> None:
    assert len(one) == len(other)
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("training", [True, False])
def test_bits(name: str, training: bool) -> None:
    plain, again = (trained(*built(name, remat), training=training) for remat in (False, True))
    same(plain, again)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_bits_of_other_dtypes(dtype: str) -> None:
    plain, again = (trained(*built("residual", remat, dtype), steps=1) for remat in (False, True))
    same(plain, again)


def held(name: str, remat: bool) -> int:
    """Bytes that a recorded call keeps for its backward."""
    net, x = built(name, remat)
    x.attach_grad()
    before = live_bytes()
    with autograd.record():
        y = net(x)
    kept = live_bytes() - before
    y.backward()
    del y
    assert live_bytes() <= before + RESULT // 4
    return kept


@pytest.mark.parametrize(
    ("name", "results"), [("residual", 1), ("long", 8), ("pooled", 4), ("transformer", 2), ("without dropout", 10)]
)
def test_memory_is_lower(name: str, results: int) -> None:
    """Of the transformer a row has as many bytes as a result; a result of gelu is four."""
    assert held(name, True) <= held(name, False) - results * RESULT + RESULT // 8


def test_memory_of_many_steps() -> None:
    net, x = built("residual", True)
    trained(net, x, 1)
    before = live_bytes()
    for _ in range(20):
        trained(net, x, 1)
    assert live_bytes() <= before + RESULT // 4


def test_results_that_are_never_used() -> None:
    net, x = built("long", True)
    x.attach_grad()
    before = live_bytes()
    for _ in range(5):
        with autograd.record():
            net(x)
    assert live_bytes() <= before + RESULT // 4


def test_a_kept_graph() -> None:
    found = []
    for remat in (False, True):
        net, x = built("residual", remat)
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward(retain_graph=True)
        first = x.grad.asnumpy()
        y.backward(retain_graph=True)
        np.testing.assert_array_equal(first, x.grad.asnumpy())
        y.backward()
        found.append(arrays(net, x, y))
    same(*found)


def test_second_derivatives() -> None:
    found = []
    for remat in (False, True):
        net, x = built("residual", remat)
        x.attach_grad()
        with autograd.record():
            slope = autograd.grad(net(x).sum(), x, create_graph=True, retain_graph=True)[0]
            loss = (slope * slope).sum()
        loss.backward()
        found.append([x.grad.asnumpy(), slope.asnumpy()])
    same(*found)


def test_two_graphs_at_once() -> None:
    found = []
    for remat in (False, True):
        net, x = built("long", remat)
        x.attach_grad()
        with autograd.record():
            one, two = net(x), net(x * 2)
        two.backward()
        second = x.grad.asnumpy()
        one.backward()
        found.append([second, *arrays(net, x, one)])
    same(*found)


def test_an_input_that_was_edited() -> None:
    """The shift of a normalisation is no saved value; what follows from it would be another one."""
    net, x = built("residual", True)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    net.norm0.beta.data()[:] = 3
    with pytest.raises(mx.MXNetError, match=r"BatchNorm: its input 2 was edited in place before backward"):
        y.backward()


def test_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    net, x = built("residual", False)
    symbol = net(mx.sym.var("data"))
    values = {name: each.data() for name, each in net.collect_params().items()}
    found, kept = [], []
    for value in (None, "0", "1"):
        monkeypatch.delenv("MXNET_BACKWARD_DO_MIRROR", raising=False)
        if value is not None:
            monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", value)
        executor = symbol.simple_bind(mx.cpu(), data=x.shape)
        executor.copy_params_from(values, values, allow_extra_params=True)
        executor.arg_dict["data"][:] = x
        for _ in range(2):
            before = live_bytes()
            y = executor.forward(is_train=True)[0]
            kept.append(live_bytes() - before)
            executor.backward([nd.ones(y.shape)])
        found.append([y.asnumpy(), *(each.asnumpy() for each in executor.grad_arrays if each is not None)])
    same(found[0], found[1])
    same(found[0], found[2])
    assert kept[5] <= kept[3] - RESULT + RESULT // 8


def test_bad_values() -> None:
    net, _ = built("small", False)
    with pytest.raises(ValueError, match="remat is True or False, not 'yes'"):
        net.hybridize(remat="yes")
    with pytest.raises(mx.MXNetError, match="remat is True or False, not 'maybe'"):
        nd.CachedOp(net(mx.sym.var("data")), [("remat", "maybe")])
    given = {**os.environ, "MXNET_BACKWARD_DO_MIRROR": "many"}
    run = subprocess.run([sys.executable, "-c", "import mxlite"], env=given, capture_output=True, text=True)
    assert run.returncode != 0
    assert "MXNET_BACKWARD_DO_MIRROR" in run.stderr
