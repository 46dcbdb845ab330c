"""Mixed precision: training, files, and what differs from 1.9.1. tests/python/gluon has what does not (`amp*.py`)."""

from __future__ import annotations

import gc
import importlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import autograd, gluon, nd
from mxlite.contrib import amp
from mxlite.gluon import nn

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples"))
from common import read_digits  # noqa: E402

LOW = ["float16", "bfloat16"]
#: Steps between neighbouring numbers at 1.
STEP = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


@pytest.fixture(autouse=True)
def without_casts() -> Iterator[None]:
    yield
    amp.amp._end()


def _name(array: Any) -> str:
    return mx.base.dtype_name(array.dtype)


class _Residual(nn.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.first, self.second, self.third = (self._layers() for _ in range(3))
            self.pool, self.out = nn.GlobalAvgPool2D(), nn.Dense(10)

    @staticmethod
    def _layers() -> Any:
        made = nn.HybridSequential()
        made.add(nn.Conv2D(16, 3, padding=1, use_bias=False), nn.BatchNorm())
        return made

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        x = F.Activation(self.first(x), act_type="relu")
        inner = F.Activation(self.second(x), act_type="relu")
        return self.out(self.pool(F.Activation(self.third(inner) + x, act_type="relu")))


def _lenet() -> Any:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1, activation="relu"), nn.MaxPool2D())
    net.add(nn.Conv2D(32, 3, padding=1, activation="relu"), nn.MaxPool2D(), nn.Dense(64, activation="relu"))
    net.add(nn.Dense(10))
    return net


def _digits() -> tuple[Any, Any]:
    pixels, labels = read_digits()
    return pixels.reshape((-1, 1, 8, 8)), labels


def _train(made: Any, steps: int, scaled: bool, hybrid: bool = True) -> tuple[float, Any]:
    """The share of digits that a network finds after training, and the network."""
    mx.random.seed(1)
    x, y = _digits()
    net = made()
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 5e-3})
    if scaled:
        amp.init_trainer(trainer)
    for step in range(steps):
        trainer.set_learning_rate(5e-3 if step < steps * 2 // 3 else 5e-4)
        at = np.arange(step * 64, step * 64 + 64) % 1197
        with autograd.record():
            value = loss(net(x[at]), y[at])
            if scaled:
                with amp.scale_loss(value, trainer) as more:
                    autograd.backward(more)
        if not scaled:
            value.backward()
        trainer.step(64)
    found = net(x[1197:]).astype("float32").argmax(axis=1) == y[1197:]
    return float(found.mean().asscalar()), net


@pytest.mark.parametrize("target", LOW)
@pytest.mark.parametrize("made", [_lenet, _Residual])
def test_training_reaches_the_accuracy_of_float32(made: Any, target: str) -> None:
    whole, _ = _train(made, 240, scaled=False)
    amp.init(target)
    low, net = _train(made, 240, scaled=True)
    assert whole > 0.9
    assert low >= whole - 0.005
    assert all(_name(each.data()) == "float32" for each in net.collect_params().values())


def test_training_is_the_same_without_a_graph() -> None:
    amp.init("bfloat16")
    share, _ = _train(_lenet, 20, scaled=True, hybrid=False)
    again, _ = _train(_lenet, 20, scaled=True, hybrid=True)
    assert abs(share - again) < 0.1


def test_an_overflow_leaves_a_step_out() -> None:
    amp.init("float16")
    net = nn.Dense(3, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    amp.init_trainer(trainer)
    before = net.weight.data().asnumpy()
    with autograd.record():
        value = net(nd.full((2, 4), 100)).sum()
        with amp.scale_loss(value, trainer) as more:
            autograd.backward(more)  # 65536 is not a float16
    trainer.step(2)
    np.testing.assert_array_equal(net.weight.data().asnumpy(), before)
    with autograd.record():
        value = net(nd.full((2, 4), 0.01)).sum() * 1e-3
        with amp.scale_loss(value, trainer) as more:
            autograd.backward(more)
    trainer.step(2)
    assert trainer._amp_loss_scaler.loss_scale == 2.0**15
    assert not np.array_equal(net.weight.data().asnumpy(), before)


# ---- what differs from 1.9.1 ----


def test_float16_is_cast_to_float32_too() -> None:
    amp.init("float16")
    x = nd.ones((2, 3), dtype="float16")
    assert [_name(each) for each in (nd.exp(x), x.sum(), nd.softmax(x), x * 2)] == ["float32"] * 3 + ["float16"]


def test_functions_of_npx_are_cast() -> None:
    amp.init("bfloat16")
    x = mx.np.ones((2, 3))
    assert _name(mx.npx.fully_connected(x, x, num_hidden=2, no_bias=True)) == "bfloat16"


def test_out_keeps_its_dtype() -> None:
    amp.init("bfloat16")
    x, out = nd.ones((2, 3)), nd.zeros((2, 2))
    with pytest.raises(mx.MXNetError, match="the output given is float32, the result is bfloat16"):
        nd.FullyConnected(x, x, num_hidden=2, no_bias=True, out=out)
    assert _name(out) == "float32"


def test_calls_of_torch_are_not_cast() -> None:
    amp.init("bfloat16")
    x = torch.ones(2, 3)
    assert torch.nn.functional.linear(x, x).dtype == torch.float32


@pytest.mark.parametrize(
    "settings",
    [
        {"target_dtype": "float32"},
        {"target_dtype": "int8"},
        {"target_dtype": 7.5},
        {"target_precision_ops": ["nothing"]},
        {"target_precision_ops": "exp"},
        {"fp32_ops": [3]},
        {"fp32_ops": ["exp"], "target_precision_ops": ["exp"]},
        {"conditional_fp32_ops": [("Activation", "act_type", "relu")]},
        {"conditional_fp32_ops": ["Activation"]},
    ],
)
def test_wrong_settings(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        amp.init(**settings)
    assert not amp.amp._amp_initialized
    assert _name(nd.FullyConnected(nd.ones((2, 3)), nd.ones((2, 3)), num_hidden=2, no_bias=True)) == "float32"
    data = mx.sym.Variable("data")
    with pytest.raises(ValueError, match="no input 'nobody'"):
        amp.convert_symbol(mx.sym.exp(data), data_names=["nobody"])
    with pytest.raises(ValueError, match="did you mean 'Convolution'"):
        amp.convert_symbol(mx.sym.exp(data), target_dtype_ops=["Convolutio"])


def test_more_operators_are_cast_where_they_are_given() -> None:
    amp.init("bfloat16", target_precision_ops=["exp"], fp32_ops=["FullyConnected"])
    x = nd.ones((2, 3))
    assert _name(nd.exp(x)) == "bfloat16"
    assert _name(nd.FullyConnected(nd.exp(x), x, num_hidden=2, no_bias=True)) == "float32"


def test_a_condition_that_no_operator_has_is_an_error() -> None:
    with pytest.raises(mx.MXNetError, match='has no value "round"'):
        amp.init("bfloat16", conditional_fp32_ops=[("Activation", "act_type", ["round"])])
    assert _name(nd.FullyConnected(nd.ones((2, 3)), nd.ones((2, 3)), num_hidden=2, no_bias=True)) == "float32"


# ---- numbers ----


@pytest.mark.parametrize("shape", [(1, 3, 1, 1), (2, 16, 9, 7), (1, 1, 3, 3), (3, 5, 1, 70)])
@pytest.mark.parametrize("target", LOW)
def test_gradients_are_those_of_float32(shape: tuple[int, ...], target: str) -> None:
    def run() -> list[np.ndarray]:
        rng = np.random.default_rng(0)
        x = nd.array(rng.normal(size=shape))
        w, b = nd.array(rng.normal(size=(6, shape[1], 1, 1))), nd.array(rng.normal(size=6))
        arrays = [x, w, b]
        for each in arrays:
            each.attach_grad()
        with autograd.record():
            y = nd.Convolution(x, w, b, num_filter=6, kernel=(1, 1))
            z = nd.FullyConnected(nd.tanh(y), nd.ones((3, y.size // max(1, shape[0]))), num_hidden=3, no_bias=True)
        z.backward()
        return [each.astype("float32").asnumpy() for each in (z, *(each.grad for each in arrays))]

    wanted = run()
    amp.init(target)
    for found, right in zip(run(), wanted):
        size = np.abs(right).max() if right.size else 0
        np.testing.assert_allclose(found, right, atol=8 * STEP[target] * size, rtol=8 * STEP[target])


def test_strided_arrays_are_cast() -> None:
    whole = nd.array(np.random.default_rng(1).normal(size=(6, 40)))
    low = whole.astype("bfloat16")
    found = nd.dot(low.T, low)
    right = low.astype("float64").asnumpy()
    np.testing.assert_allclose(found.asnumpy(), right.T @ right, rtol=2.0**-7, atol=0.02)
    part = nd.dot(low[:, 3:20], low[:, 3:20], transpose_b=True)
    np.testing.assert_allclose(part.asnumpy(), right[:, 3:20] @ right[:, 3:20].T, rtol=2.0**-7, atol=0.05)


def test_no_memory_is_left() -> None:
    amp.init("bfloat16")
    net = _lenet()
    net.initialize()
    x = nd.ones((2, 1, 8, 8))

    def step() -> None:
        with autograd.record():
            value = net(x).sum()
        value.backward()

    for _ in range(3):
        step()
    nd.waitall()
    gc.collect()
    before = _live()
    for _ in range(20):
        step()
    gc.collect()
    assert _live() <= before + 4096


def _live() -> int:
    import ctypes

    from mxlite._lib import LIB

    held = ctypes.c_int64()
    assert LIB.MXLGetLiveBytes(ctypes.byref(held)) == 0
    return held.value


# ---- files ----


@pytest.mark.parametrize("target", LOW)
@pytest.mark.parametrize("optional", [False, True])
def test_a_converted_network_is_a_file(tmp_path: pathlib.Path, target: str, optional: bool) -> None:
    mx.random.seed(2)
    net = _Residual()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True)
    x = nd.random.uniform(shape=(3, 1, 8, 8))
    wanted = net(x).asnumpy()
    low = amp.convert_hybrid_block(net, target, cast_optional_params=optional)
    low.hybridize(static_alloc=True)
    found = low(x)
    assert _name(found) == "float32"
    np.testing.assert_allclose(found.asnumpy(), wanted, atol=16 * STEP[target] * np.abs(wanted).max())
    low.export(str(tmp_path / "low"), remove_amp_cast=False)
    again = gluon.SymbolBlock.imports(str(tmp_path / "low-symbol.json"), ["data"], str(tmp_path / "low-0000.params"))
    np.testing.assert_allclose(again(x).asnumpy(), wanted, atol=16 * STEP[target] * np.abs(wanted).max())
    again.hybridize(static_alloc=True)
    np.testing.assert_array_equal(again(x).asnumpy(), found.asnumpy())
    np.save(tmp_path / "x.npy", x.asnumpy())
    files = [str(tmp_path / name) for name in ("low-symbol.json", "low-0000.params", "x.npy", "y.npz")]
    program = [sys.executable, "-m", "mxlite", "predict", *files[:2], "--input", files[2], "--out", files[3]]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(next(iter(np.load(files[3]).values())), found.asnumpy())


def test_a_module_predicts_with_a_converted_model() -> None:
    symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="f")
    symbol = mx.sym.SoftmaxOutput(symbol, name="softmax")
    rng = np.random.default_rng(4)
    arguments = {"f_weight": nd.array(rng.normal(size=(3, 4))), "f_bias": nd.array(rng.normal(size=3))}
    found = []
    x = mx.io.NDArrayIter(rng.normal(size=(5, 4)).astype("float32"), batch_size=5)
    for model in ((symbol, arguments, {}), amp.convert_model(symbol, arguments, {}, "bfloat16")):
        module = mx.mod.Module(model[0])
        module.bind(x.provide_data, for_training=False)
        module.set_params(*model[1:], allow_missing=True)
        found.append(module.predict(x).asnumpy())
    np.testing.assert_allclose(*found, atol=0.02)


def test_parameters_that_change_are_cast_again() -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 1, in_channels=16), nn.Dense(3, in_units=4))
    net.initialize(mx.init.One())
    net.hybridize()
    x = nd.ones((1, 16, 1, 1))
    net(x)
    low = amp.convert_hybrid_block(net, "bfloat16")
    low.hybridize(static_alloc=True)
    assert [float(low(x)[0, 0].asscalar()) for _ in range(3)] == [64.0] * 3
    params = list(low.collect_params().values())
    weight = next(each for each in params if "conv" in each.name and each.name.endswith("weight"))
    weight.set_data(nd.full((4, 16, 1, 1), 2))
    assert [float(low(x)[0, 0].asscalar()) for _ in range(3)] == [128.0] * 3
    weight.data()[:] = 0.5
    assert float(low(x)[0, 0].asscalar()) == 32.0
    weight.data()[0] = 1.5
    assert float(low(x)[0, 0].asscalar()) == 48.0


def test_the_module_within_says_whether_it_began() -> None:
    """GluonNLP imports it, and reads this."""
    within = importlib.import_module("mxlite.contrib.amp.amp")
    amp.init("bfloat16")
    assert mx.contrib.amp.amp is within
    assert within._amp_initialized
