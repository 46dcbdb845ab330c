"""Quantized symbols: the same nodes as 1.9.1 makes, and the bytes of joined nodes are those of single ones."""

from __future__ import annotations

import ctypes
import json
import lzma
import pathlib
from typing import Any

import numpy as np
import pytest
from _networks import WAYS, networks, nodes_of

import mxlite as mx
from mxlite._lib import LIB
from mxlite.contrib import quantization
from mxlite.contrib.quantization._graph import _calibrate_quantized_sym, _quantize_symbol

REFERENCE = pathlib.Path(__file__).parents[2] / "reference" / "quantized.json.xz"
ANSWERS = json.loads(lzma.decompress(REFERENCE.read_bytes()))
NETWORKS = dict(networks(mx.sym))


@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("name", NETWORKS)
def test_nodes_are_those_of_mxnet(name: str, way: int) -> None:
    symbol = NETWORKS[name]
    offline = [each for each in symbol.list_arguments() if each != "data"]
    made, names = _quantize_symbol(symbol, **{"offline_params": offline, **WAYS[way]})
    limits = {each: (-1.5 - k, 0.25 + k / 3) for k, each in enumerate(names)}
    nodes, wanted = ANSWERS[f"{name}/{way}"]
    assert names == wanted
    assert nodes_of(json.loads(_calibrate_quantized_sym(made, limits).tojson())) == nodes


def test_the_symbol_itself_stays() -> None:
    symbol = NETWORKS["residual"]
    before = symbol.tojson()
    made, names = _quantize_symbol(symbol, offline_params=["c0_weight"])
    between = made.tojson()
    _calibrate_quantized_sym(made, {names[0]: (0, 1)})
    assert symbol.tojson() == before and made.tojson() == between


def test_a_pooling_without_a_form_for_bytes_takes_numbers() -> None:
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(1, 1), num_filter=2, name="c")
    made, _ = _quantize_symbol(mx.sym.Pooling(x, kernel=(2, 2), pool_type="sum", name="p"), quantize_mode="full")
    ops = [node["op"] for node in json.loads(made.tojson())["nodes"]]
    assert ops[-2:] == ["_contrib_dequantize", "Pooling"]


@pytest.mark.parametrize(
    "given", [{"quantized_dtype": "int4"}, {"quantize_mode": "fast"}, {"quantize_granularity": "no"}]
)
def test_unknown_words_are_errors(given: dict) -> None:
    with pytest.raises(mx.MXNetError, match="it may be"):
        _quantize_symbol(NETWORKS["pool"], **given)


def test_the_c_functions_need_their_arguments() -> None:
    out = ctypes.c_void_p(5)
    assert LIB.MXQuantizeSymbol(None, None, None, 0, None, 0, None, 0, None, b"int8", False, b"full", b"x", None, None)
    given = 0, None, 0, None, 0, None, b"int8", False, b"full", b"tensor-wise", None, None
    assert LIB.MXQuantizeSymbol(None, ctypes.byref(out), None, *given) != 0 and out.value is None
    assert LIB.MXSetCalibTableToQuantizedSymbol(None, 0, None, None, None, ctypes.byref(out)) != 0


# ---- networks that run ----


def _values(symbol: Any, **shapes: tuple) -> tuple[dict, dict]:
    random = np.random.RandomState(3)
    arguments, _, states = symbol.infer_shape(**shapes)
    of = zip(symbol.list_arguments(), arguments)
    given = {n: mx.nd.array(random.randn(*s) * 0.2) for n, s in of if n not in (*shapes, "softmax_label")}
    kept = {n: mx.nd.array(random.rand(*s) + 0.5) for n, s in zip(symbol.list_auxiliary_states(), states)}
    return given, kept


def _run(symbol: Any, arguments: dict, states: dict, x: np.ndarray, **more: Any) -> np.ndarray:
    given = {**arguments, "data": mx.nd.array(x), "softmax_label": mx.nd.zeros(len(x))}
    names = symbol.list_arguments()
    executor = symbol.bind(mx.cpu(), {n: given[n] for n in names}, grad_req="null", aux_states=states)
    return executor.forward()[0].asnumpy()


SHAPES = {"lenet": (4, 1, 28, 28), "residual": (4, 3, 9, 8)}


@pytest.mark.parametrize("dtype", ["int8", "auto"])
@pytest.mark.parametrize("mode", ["none", "naive", "entropy"])
@pytest.mark.parametrize("name", SHAPES)
def test_results_are_near_those_of_float32(name: str, mode: str, dtype: str, monkeypatch: Any) -> None:
    symbol, shape = NETWORKS[name], SHAPES[name]
    arguments, states = _values(symbol, data=shape)
    x = np.random.RandomState(0).rand(2 * shape[0], *shape[1:]).astype("float32")
    if name == "residual" and mode == "none":
        qsym, params, kept = quantization.quantize_model(symbol, arguments, states, calib_mode=mode)
        with pytest.raises(mx.MXNetError, match="needs min_calib_range"):
            _run(qsym, params, kept, x[:4])
        return
    batches = mx.io.NDArrayIter(x, batch_size=4)
    given = {"calib_mode": mode, "calib_data": batches, "quantized_dtype": dtype}
    qsym, params, kept = quantization.quantize_model(symbol, arguments, states, **given)
    assert {str(a.dtype).split("'")[-2].split(".")[-1] for n, a in params.items() if n.endswith("weight_quantize")} == {
        "int8"
    }
    wanted, got = _run(symbol, arguments, states, x[:4]), _run(qsym, params, kept, x[:4])
    assert np.abs(got - wanted).max() < 0.06 * np.abs(wanted).max()
    monkeypatch.setenv("MXLITE_GRAPH", "none")
    np.testing.assert_array_equal(_run(qsym, params, kept, x[:4]), got)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("dtypes", [("int8", "int8"), ("uint8", "int8"), ("auto", "uint8"), ("int8", "auto")])
def test_joined_nodes_have_the_same_bytes(dtypes: tuple[str, str], order: tuple, monkeypatch: Any) -> None:
    """A convolution, relu, and a sum with a relu, which one node computes, beside the nodes."""
    contrib = mx.sym.contrib
    random = np.random.RandomState(5)
    ranges = {"auto": {"min_calib_range": 0.0, "max_calib_range": 3.0}}

    def requantize(x: Any, dtype: str, name: str) -> Any:
        limits = ranges.get(dtype, {"min_calib_range": -2.5, "max_calib_range": 3.0})
        return contrib.requantize(*x, out_type=dtype, name=name, **limits)

    names = [f"{name}_{end}" for name in ("w", "b") for end in ("min", "max")]
    limits = [mx.sym.var(name) for name in names]
    data = contrib.quantize_v2(mx.sym.var("data"), min_calib_range=-1.0, max_calib_range=1.0, name="q")
    conv = contrib.quantized_conv(
        data[0],
        mx.sym.var("w"),
        mx.sym.var("b"),
        data[1],
        data[2],
        *limits,
        kernel=(3, 3),
        pad=(1, 1),
        num_filter=5,
        name="c",
    )
    relu = contrib.quantized_act(*requantize(conv, dtypes[0], "rq"), act_type="relu", name="r")
    pair = (relu, data) if order == (0, 1) else (data, relu)
    total = contrib.quantized_elemwise_add(
        pair[0][0], pair[1][0], *(pair[k][i] for k in (0, 1) for i in (1, 2)), name="a"
    )
    out = contrib.quantized_act(*requantize(total, dtypes[1], "rs"), act_type="relu", name="rr")
    given = {
        "data": mx.nd.array(random.rand(2, 5, 7, 9) * 2 - 1),
        "w": mx.nd.array(random.randint(-127, 128, (5, 5, 3, 3)), dtype="int8"),
        "b": mx.nd.array(random.randint(-127, 128, 5), dtype="int8"),
        **{name: mx.nd.array([v]) for name, v in zip(names, (-0.5, 0.5, -0.1, 0.2))},
    }

    def run() -> tuple[list, str]:
        symbol = mx.sym.Group(list(out))
        executor = symbol.bind(mx.cpu(), given, grad_req="null")
        return [each.asnumpy() for each in executor.forward()], executor.get_optimized_symbol().tojson()

    joined, graph = run()
    assert "_mxl_quantized_block" in graph and "_contrib_requantize" not in graph
    monkeypatch.setenv("MXLITE_GRAPH", "-quantized")
    single, graph = run()
    assert "_mxl_quantized_block" not in graph
    for a, b in zip(joined, single):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    assert len(np.unique(joined[0])) > 20


def test_what_others_read_is_not_joined() -> None:
    data = mx.sym.contrib.quantize_v2(mx.sym.var("data"), min_calib_range=-1.0, max_calib_range=1.0, name="q")
    given = {"no_bias": True, "kernel": (1, 1), "num_filter": 2, "min_data": data[1], "max_data": data[2]}
    conv = mx.sym.contrib.quantized_conv(data[0], mx.sym.var("w"), name="c", **given)
    wide = mx.sym.contrib.requantize(*conv, min_calib_range=-1.0, max_calib_range=1.0, name="r")
    symbol = mx.sym.Group([wide[0], conv[0]])
    given = {"data": mx.nd.ones((1, 2, 3, 3)), "w": mx.nd.ones((2, 2, 1, 1), dtype="int8")}
    given.update({name: mx.nd.ones(1) for name in ("c_min_weight", "c_max_weight")})
    executor = symbol.bind(mx.cpu(), given, grad_req="null")
    assert "_mxl_quantized_block" not in executor.get_optimized_symbol().tojson()
    assert executor.forward()[1].asnumpy().max() == 254


def test_new_weights_count() -> None:
    """A prediction keeps weights in the form of its loops, until they change."""
    symbol = NETWORKS["conv-pool"]
    arguments = {"c_weight": mx.nd.array(np.random.RandomState(1).randn(4, 3, 1, 1))}
    x = mx.nd.array(np.random.RandomState(2).rand(1, 3, 4, 4))
    batches = mx.io.NDArrayIter(x, batch_size=1)
    qsym, params, _ = quantization.quantize_model(symbol, arguments, {}, calib_mode="naive", calib_data=batches)
    executor = qsym.bind(mx.cpu(), {**params, "data": x}, grad_req="null")
    first = executor.forward()[0].asnumpy()
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), first)
    executor.arg_dict["c_weight_quantize"][:] = 0
    assert not executor.forward()[0].asnumpy().any()
