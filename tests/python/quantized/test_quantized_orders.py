"""Networks whose bytes have the channels last in memory: the bytes are those of single nodes, at any vector level."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite.contrib import quantization
from mxlite.gluon import nn


def _conv(random: np.random.RandomState, x: Any, channels: int, **given: Any) -> tuple[Any, int]:
    """A convolution of some kind, and the channels of its result."""
    kind = random.choice(["point", "square", "flat", "depth", "groups", "wide"])
    more = {"stride": (int(random.randint(1, 3)),) * 2, "no_bias": bool(random.randint(2)), **given}
    filters = int(random.choice([8, 12, 36, 70]))
    if kind == "point":
        more.update(kernel=(1, 1))
    elif kind == "flat":
        more.update(kernel=(1, 3), pad=(0, 2), dilate=(1, 2))
    elif kind == "depth":
        filters = channels
        more.update(kernel=(3, 3), pad=(1, 1), num_group=channels)
    elif kind == "groups":
        more.update(kernel=(3, 3), pad=(1, 1), num_group=2 if channels % 2 == 0 else 1)
    elif kind == "wide":
        more.update(kernel=(5, 5), pad=(2, 2))
    else:
        more.update(kernel=(3, 3), pad=(1, 1))
    return mx.sym.Convolution(x, num_filter=filters, **more), filters


def _network(seed: int, kinds: tuple[str, ...] = ("relu", "pool", "sum", "concat", "conv", "clip")) -> Any:
    """Convolutions, sums, concat and pooling in some order."""
    random = np.random.RandomState(seed)
    x, channels = _conv(random, mx.sym.var("data"), 3)
    for _ in range(5):
        what = random.choice(kinds)
        if what == "relu":
            x = mx.sym.Activation(x, act_type="relu")
        elif what == "pool":
            kind = str(random.choice(["max", "avg"]))
            x = mx.sym.Pooling(x, kernel=(3, 2), stride=(1, 1), pad=(1, 1), pool_type=kind)
        elif what in ("sum", "concat"):
            same = {"kernel": (3, 3), "pad": (1, 1), "num_filter": channels}
            side = mx.sym.Convolution(x, **same)
            x = mx.sym.elemwise_add(x, side) if what == "sum" else mx.sym.concat(x, side, dim=1)
            channels *= 1 if what == "sum" else 2
        elif what == "clip":  # numbers of float32, which bytes become again
            x = mx.sym.clip(x, float(random.choice([0, -0.2])), 0.5) if random.randint(2) else mx.sym.relu(x)
        elif what == "taps":  # numbers read the bytes too
            x = mx.sym.elemwise_add(x, mx.sym.Convolution(mx.sym.tanh(x), kernel=(1, 1), num_filter=channels))
        x, channels = _conv(random, x, channels, stride=(1, 1))
    x = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type=str(random.choice(["max", "avg"])))
    return mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=5)


def _values(symbol: Any, seed: int) -> tuple[Any, dict]:
    random = np.random.RandomState(seed)
    x = mx.nd.array(random.rand(2, 3, 11 + seed, 17) - 0.4)
    shapes, _, _ = symbol.infer_shape(data=x.shape)
    return x, {
        name: mx.nd.array(random.randn(*shape) * (0.1 if name.endswith("weight") else 0.5))
        for name, shape in zip(symbol.list_arguments(), shapes)
        if name != "data"
    }


def _answers(seed: int, dtype: str) -> tuple[np.ndarray, np.ndarray, str]:
    """What a network of float32 and its quantized one give, and the graph that runs."""
    symbol = _network(seed, ("relu", "pool", "sum", "concat", "conv", "clip", "taps"))
    x, params = _values(symbol, seed)
    given = {"calib_mode": "naive", "calib_data": [x], "quantized_dtype": dtype, "quantize_mode": "full"}
    qsym, qparams, _ = quantization.quantize_model(symbol, params, {}, **given)
    plain = symbol.bind(mx.cpu(), {**params, "data": x}, grad_req="null").forward()[0].asnumpy()
    executor = qsym.bind(mx.cpu(), {**qparams, "data": x}, grad_req="null")
    return plain, executor.forward()[0].asnumpy(), executor.get_optimized_symbol().tojson()


def test_limits_of_numbers_join_bytes() -> None:
    graphs = [json.loads(_answers(seed, "auto")[2])["nodes"] for seed in range(12)]
    assert sum(node["op"] == "_mxl_quantized_limit" for nodes in graphs for node in nodes) > 3


@pytest.mark.parametrize("dtype", ["int8", "auto"])
@pytest.mark.parametrize("seed", range(12))
def test_bytes_are_those_of_single_nodes(seed: int, dtype: str, monkeypatch: Any) -> None:
    plain, got, graph = _answers(seed, dtype)
    assert '"last": "1"' in graph and "_mxl_quantized_block" in graph
    monkeypatch.setenv("MXLITE_GRAPH", "none")
    _, single, graph = _answers(seed, dtype)
    assert "_mxl_quantized" not in graph
    np.testing.assert_array_equal(got, single)
    assert np.corrcoef(plain.ravel(), got.ravel())[0, 1] > 0.97


def _print_hash(folder: str) -> None:
    """Of what the networks in a folder give."""
    found = hashlib.sha256()
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        given = mx.nd.load(str(path.with_suffix(".params")))
        out = mx.sym.load(str(path)).bind(mx.cpu(), given, grad_req="null").forward()[0].asnumpy()
        assert len(np.unique(out)) > 3
        found.update(out.tobytes())
    print("hash", found.hexdigest())


def test_levels_and_threads_give_the_same_bytes(tmp_path: pathlib.Path) -> None:
    for seed in range(8):
        symbol = _network(seed)
        x, params = _values(symbol, seed)
        given = {"calib_mode": "naive", "calib_data": [x], "quantized_dtype": ("int8", "auto")[seed % 2]}
        qsym, qparams, _ = quantization.quantize_model(symbol, params, {}, quantize_mode="full", **given)
        qsym.save(str(tmp_path / f"{seed}.json"))
        mx.nd.save(str(tmp_path / f"{seed}.params"), {**qparams, "data": x})
    hashes = set()
    runs = ["baseline 1", "avx2 2", "avx512 1", "avx512 3", "neon 2", "dotprod 1", "dotprod 3"]
    for level, threads in (text.split() for text in runs):
        env = {**os.environ, "MXLITE_VECTOR_LEVEL": level, "MXLITE_NUM_THREADS": threads}
        command = [sys.executable, __file__, str(tmp_path)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        if "MXLITE_VECTOR_LEVEL" in done.stderr:  # this processor has no such level
            continue
        assert done.returncode == 0, done.stderr
        hashes.add(done.stdout.split()[-1])
    assert len(hashes) == 1


def test_profiles_count_the_products_of_bytes() -> None:
    """`mxlite predict --profile` of a block: those of the convolution."""
    from mxlite._cli import _work

    x = mx.sym.Activation(mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4), act_type="relu")
    given = {"calib_mode": "naive", "calib_data": [mx.nd.ones((1, 2, 7, 7))], "quantize_mode": "full"}
    shapes, _, _ = x.infer_shape(data=(1, 2, 7, 7))
    params = {name: mx.nd.ones(shape) for name, shape in zip(x.list_arguments(), shapes) if name != "data"}
    qsym, qparams, _ = quantization.quantize_model(x, params, {}, **given)
    executor = qsym.bind(mx.cpu(), {**qparams, "data": mx.nd.ones((1, 2, 7, 7))}, grad_req="null")
    works = {work.operator: work.flops for work in _work.works_of(executor)}
    assert works["_mxl_quantized_block"] == 2 * 4 * 25 * 18


# ---- relu6 ----


class _Bottleneck(nn.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope():
            self.wide, self.each = nn.Conv2D(24, 1, use_bias=False), nn.Conv2D(24, 3, padding=1, groups=24)
            self.narrow, self.norm = nn.Conv2D(6, 1), nn.BatchNorm()
            self.first, self.out = nn.Conv2D(6, 3, strides=2), nn.Dense(4)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        x = F.clip(self.first(x), 0, 6)
        y = F.clip(self.norm(self.wide(x)), 0, 6)
        y = F.relu(self.each(y))
        return self.out(F.clip(self.narrow(y) + x, 0, 1))


def _bottleneck() -> tuple[Any, Any]:
    mx.random.seed(2)
    net = _Bottleneck()
    net.initialize(mx.init.Normal(0.7))
    x = mx.nd.random.uniform(-2, 2, shape=(3, 3, 15, 14))
    net(x)
    return net, x


def _operators(net: Any) -> list[str]:
    return [node["op"] for node in json.loads(net(mx.sym.var("data")).tojson())["nodes"]]


@pytest.mark.parametrize("mode", ["naive", "entropy"])
@pytest.mark.parametrize("dtype", ["auto", "int8", "uint8"])
def test_relu6_stays_in_bytes(mode: str, dtype: str) -> None:
    net, x = _bottleneck()
    small = quantization.quantize_net(net, quantized_dtype=dtype, calib_mode=mode, calib_data=[x])
    operators = _operators(small)
    assert not {"clip", "relu", "Activation"} & set(operators)
    assert operators.count("_contrib_dequantize") == 1 and operators.count("_contrib_quantize_v2") == 1
    if dtype == "uint8":  # cannot hold sums below 0
        return
    wanted = net(x).asnumpy()
    for fast in (False, True):
        small.hybridize(active=fast, static_alloc=fast)
        assert np.abs(small(x).asnumpy() - wanted).max() < 0.1 * np.abs(wanted).max()


def test_relu6_of_large_numbers_ends_at_6() -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 1, use_bias=False), nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)))
    net.initialize(mx.init.One())
    x = mx.nd.array(np.array([-50.0, -1, 0, 2, 4, 6, 8, 100]).reshape(1, 1, 1, 8))
    small = quantization.quantize_net(net, calib_mode="naive", calib_data=[x])
    np.testing.assert_allclose(small(x).asnumpy()[0, 0, 0], [0, 0, 0, 2, 4, 6, 6, 6], atol=0.8)
    assert small(x).asnumpy().max() <= 6


def test_relu6_of_what_stays_is_a_clip() -> None:
    net, x = _bottleneck()
    clips = sum(op == "clip" for op in _operators(net))
    for given in ({"exclude_layers_match": ["clip"]}, {"calib_mode": "none", "data_shapes": [x.shape]}):
        more = {"calib_mode": "naive", "calib_data": [x]} if "calib_mode" not in given else {}
        small = quantization.quantize_net(net, **more, **given)
        assert _operators(small).count("clip") == clips
    every = {"exclude_operators": ["Convolution", "FullyConnected", "elemwise_add", "broadcast_add"]}
    small = quantization.quantize_net(net, calib_mode="naive", calib_data=[x], quantize_mode="smart", **every)
    assert _operators(small).count("clip") == clips
    np.testing.assert_allclose(small(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-5)


# ---- bad input ----


def _small() -> tuple[Any, dict]:
    symbol = mx.sym.FullyConnected(mx.sym.Convolution(mx.sym.var("data"), kernel=(1, 1), num_filter=2), num_hidden=2)
    shapes, _, _ = symbol.infer_shape(data=(2, 3, 2, 2))
    return symbol, {n: mx.nd.ones(s) for n, s in zip(symbol.list_arguments(), shapes) if n != "data"}


@pytest.mark.parametrize("mode", ["naive", "entropy"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["data", "weight"])
def test_numbers_that_are_not_finite_are_errors(where: str, value: float, mode: str) -> None:
    symbol, params = _small()
    batches = [mx.nd.ones((2, 3, 2, 2)) for _ in range(3)]
    name = next(n for n in params if n.endswith("weight"))
    bad = batches[1] if where == "data" else params[name]
    bad[0, 1] = value
    with pytest.raises(ValueError, match=("data" if where == "data" else name) + " has numbers that are not finite"):
        quantization.quantize_model(symbol, params, {}, calib_mode=mode, calib_data=batches)


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"calib_mode": "naive", "calib_data": []}, ValueError, "no examples"),
        ({"calib_mode": "entropy", "calib_data": iter(())}, ValueError, "no examples"),
        ({"calib_mode": "naive", "calib_data": 3}, ValueError, "data iterator, got int"),
        ({"calib_mode": "customize"}, ValueError, "LayerOutputCollector"),
        ({"calib_mode": "custom"}, ValueError, "calib_mode"),
        ({"calib_mode": "naive", "excluded_sym_names": "conv"}, ValueError, "excluded_sym_names"),
    ],
)
def test_bad_calibration_is_an_error(given: dict, kind: type, text: str) -> None:
    symbol, params = _small()
    with pytest.raises(kind, match=text):
        quantization.quantize_model(symbol, params, {}, **given)


def test_names_that_there_are_not_are_told() -> None:
    symbol, params = _small()
    told: list[str] = []

    class Logger:
        def warning(self, text: str, *args: str) -> None:
            told.append(text % args)

    given = {"excluded_sym_names": ["nothing"], "excluded_op_names": ["Convolution", "Nothing"]}
    quantization.quantize_model(symbol, params, {}, calib_mode="none", logger=Logger(), **given)
    assert len(told) == 2 and "node nothing" in told[0] and "operator Nothing" in told[1]


if __name__ == "__main__":
    _print_hash(sys.argv[1])
