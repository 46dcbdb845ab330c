"""Layer normalisation and gelu from their parts, as exporters write them, are one node each in predictions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from _passes import predict

import mxlite as mx
from mxlite.symbol._generate import node

X, GAMMA, BETA = (mx.sym.var(name) for name in ("x", "gamma", "beta"))
ROOT_HALF, ROOT, CUBIC = 0.5**0.5, (2 / np.pi) ** 0.5, 0.044715


def _compare(
    monkeypatch: pytest.MonkeyPatch, symbol: Any, operators: list[str], shape: tuple[int, ...], dtype: str = "float32"
) -> None:
    draw = np.random.RandomState(2)
    size = shape[-1:] if shape else ()
    values = {"x": draw.randn(*shape) * 3, "gamma": draw.randn(*size), "beta": draw.randn(*size)}
    args = {name: mx.nd.array(values[name], dtype=dtype) for name in symbol.list_arguments()}
    monkeypatch.setenv("MXLITE_GRAPH", "none")
    want = predict(symbol, args, {})[0]
    monkeypatch.delenv("MXLITE_GRAPH")
    got, names = predict(symbol, args, {})
    assert names == operators
    bound = {"float16": 1e-2, "float32": 4e-6, "float64": 4e-14}[dtype]
    for one, other in zip(want, got):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(other.asnumpy(), one.asnumpy(), rtol=bound, atol=bound)


def _operators(symbol: Any) -> list[str]:
    return [each["op"] for each in json.loads(symbol.tojson())["nodes"] if each["op"] != "null"]


GELUS = {
    "erf": (
        lambda x: x * (mx.sym.erf(x / 2**0.5) + 1) * 0.5,
        lambda x: x * ((mx.sym.erf(x * ROOT_HALF) + 1) * 0.5),
        lambda x: (1 + mx.sym.erf(x / 1.4142135381698608)) * (0.5 * x),
        lambda x: mx.sym.broadcast_mul(x / 2, mx.sym.erf(x * 0.25 * (ROOT_HALF * 4)) + 1),
    ),
    "tanh": (
        lambda x: 0.5 * x * (1 + mx.sym.tanh(ROOT * (x + CUBIC * x * x * x))),
        lambda x: x * (0.5 * (1 + mx.sym.tanh((CUBIC * x**3 + x) * 0.7978845834732056))),
        lambda x: x * 0.5 * (mx.sym.tanh(x * ROOT * (x * CUBIC * x + 1)) + 1),
        lambda x: (mx.sym.tanh(x * (mx.sym.square(x) * CUBIC + 1) * ROOT) + 1) * x * 0.5,
    ),
}


@pytest.mark.parametrize("kind, number", [(kind, i) for kind in GELUS for i in range(4)])
def test_gelu(monkeypatch: pytest.MonkeyPatch, kind: str, number: int) -> None:
    operator = {"erf": "_mxl_gelu", "tanh": "_mxl_gelu_tanh"}[kind]
    form = GELUS[kind][number]
    for dtype in ("float32", "float64", "float16"):  # of float64 the graph itself runs: constants may be float32's
        for shape in ((1,), (3, 70), (2, 3, 5)):
            y = form(X)
            operators = _operators(y) if dtype == "float64" else [operator]
            _compare(monkeypatch, y, operators, shape, dtype)
    _compare(monkeypatch, form(mx.sym.sin(X) * 0.5), ["sin", "_mul_scalar", operator], (4, 5))
    dense = mx.sym.FullyConnected(X, mx.sym.var("gamma", shape=(7, 7)), no_bias=True, num_hidden=7)
    monkeypatch.delenv("MXLITE_GRAPH", raising=False)
    executor = form(dense).simple_bind(mx.cpu(), grad_req="null", x=(3, 7))
    assert "_mxl_fused_dense" in executor.get_optimized_symbol().tojson()
    assert operator not in _operators(executor.get_optimized_symbol())


def _mean(x: Any, axis: int, keepdims: bool = True) -> Any:
    return node("_npi_mean", "mean", [x], {"axis": (axis,), "keepdims": keepdims})


def _norm(x: Any, mean: Any, square: Any, eps: float = 1e-5, swapped: bool = False) -> Any:
    d = mx.sym.broadcast_sub(x, mean(x))
    y = mx.sym.broadcast_div(d, mx.sym.sqrt(mean(square(d)) + eps))
    if swapped:
        return mx.sym.broadcast_add(BETA, mx.sym.broadcast_mul(GAMMA, y))
    return mx.sym.broadcast_add(mx.sym.broadcast_mul(y, GAMMA), BETA)


MEANS = [
    lambda x: _mean(x, -1),
    lambda x: _mean(x, 2),
    lambda x: mx.sym.mean(x, axis=-1, keepdims=True),
    lambda x: mx.sym.mean(x, axis=2, keepdims=True),
]
SQUARES = [lambda d: d**2, mx.sym.square, lambda d: d * d, lambda d: mx.sym.broadcast_mul(d, d)]


@pytest.mark.parametrize("mean", range(4))
@pytest.mark.parametrize("square", range(4))
def test_layer_normalisation(monkeypatch: pytest.MonkeyPatch, mean: int, square: int) -> None:
    for dtype in ("float32", "float64"):
        for shape in ((2, 3, 70), (1, 1, 2)):
            y = _norm(X, MEANS[mean], SQUARES[square], swapped=shape[0] == 1)
            _compare(monkeypatch, y, ["_mxl_last_norm"], shape, dtype)
    y = _norm(mx.sym.sin(X), MEANS[mean], SQUARES[square], 0.5)
    _compare(monkeypatch, y, ["sin", "_mxl_last_norm"], (2, 3, 9))


def test_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other constants, means that are not these, and what shapes alone tell."""

    def unchanged(symbol: Any, shape: tuple[int, ...]) -> None:
        _compare(monkeypatch, symbol, _operators(symbol), shape)

    unchanged(X * (mx.sym.erf(X / 2) + 1) * 0.5, (3, 4))
    unchanged(X * (mx.sym.erf(X * ROOT_HALF) + 1), (3, 4))
    unchanged(X * (mx.sym.erf(X * ROOT_HALF) + 2) * 0.5, (3, 4))
    unchanged(GAMMA * (mx.sym.erf(X * ROOT_HALF) + 1) * 0.5, (4,))
    unchanged(0.5 * X * (1 + mx.sym.tanh(ROOT * (X + 0.05 * X * X * X))), (3, 4))
    unchanged(0.5 * X * (1 + mx.sym.tanh(ROOT * (X + CUBIC * X * X))), (3, 4))
    unchanged(0.5 * X * (1 + mx.sym.tanh(ROOT * (X - CUBIC * X * X * X))), (3, 4))
    unchanged(_norm(X, MEANS[0], lambda d: d**3), (2, 3, 5))
    d = mx.sym.broadcast_sub(X, _mean(X, 1))
    spread = mx.sym.sqrt(_mean(d * d, 2) + 1)
    unchanged(mx.sym.broadcast_add(mx.sym.broadcast_mul(mx.sym.broadcast_div(d, spread), GAMMA), BETA), (3, 4, 5))


def test_an_axis_that_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes could fit, so the operator refuses it, and the graph itself runs."""
    y = _norm(X, lambda x: _mean(x, 1), mx.sym.square)
    args = {name: mx.nd.array(np.random.RandomState(1).randn(*shape)) for name, shape in
            (("x", (4, 4, 4)), ("gamma", (4,)), ("beta", (4,)))}  # fmt: skip
    executor = y.bind(mx.cpu(), args, grad_req="null")
    monkeypatch.setenv("MXLITE_GRAPH", "none")
    want = y.bind(mx.cpu(), args, grad_req="null").forward()[0].asnumpy()
    for _ in range(2):
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), want)
    args["gamma"] = args["beta"] = mx.nd.ones((1, 1, 4))
    monkeypatch.delenv("MXLITE_GRAPH")
    executor = _norm(X, lambda x: _mean(x, 2), mx.sym.square).bind(mx.cpu(), args, grad_req="null")
    assert executor.forward()[0].shape == (4, 4, 4)
