"""Attention from its parts, as exporters write it, is one node in predictions: the same but for roundings."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from _passes import predict

import mxlite as mx
from mxlite.symbol._generate import node

FUSED = "_mxl_fused_attention"
Q, K, V, M = (mx.sym.var(name) for name in "qkvm")


def _matmul(a: Any, b: Any) -> Any:
    return node("_npi_matmul", "matmul", [a, b], {})


def _batch_dot(a: Any, b: Any) -> Any:
    return mx.sym.batch_dot(a, b, transpose_b=True)


#: Scores of queries and keys, and whether these are turned.
PRODUCTS = {
    "batch_dot": (_batch_dot, mx.sym.batch_dot, False),
    "batch_dot of a turned key": (mx.sym.batch_dot, mx.sym.batch_dot, True),
    "matmul": (_matmul, _matmul, True),
}
SCALES = {"none": lambda s: s, "mul": lambda s: s * 0.37, "div": lambda s: s / 2.5, "both": lambda s: (s * 0.5) / 0.8}
MASKS = {
    "none": None,
    "broadcast": lambda s: mx.sym.broadcast_add(s, M),
    "before": lambda s: mx.sym.broadcast_add(M, s),
    "alike": lambda s: s + M,
}


def _compare(
    monkeypatch: pytest.MonkeyPatch, symbol: Any, args: dict[str, Any], operators: list[str], dtype: str = "float32"
) -> None:
    given = {name: mx.nd.array(args[name], dtype=dtype) for name in symbol.list_arguments()}
    monkeypatch.setenv("MXLITE_GRAPH", "none")
    want = predict(symbol, given, {})[0]
    monkeypatch.delenv("MXLITE_GRAPH")
    got, names = predict(symbol, given, {})
    assert names == operators
    for one, other in zip(want, got):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        bound = 2e-6 if dtype == "float32" else 1e-14
        np.testing.assert_allclose(other.asnumpy(), one.asnumpy(), rtol=0, atol=bound * max(1, np.abs(args["v"]).max()))


def _arrays(
    lead: tuple[int, ...], queries: int, keys: int, size: int, turned: bool, mask: Any = None
) -> dict[str, Any]:
    draw = np.random.RandomState(queries + keys)
    k = draw.randn(*lead, keys, size)
    q, v = draw.randn(*lead, queries, size), draw.randn(*lead, keys, size + 1)
    m = draw.randn(*((*lead, queries, keys) if mask is None else mask))
    return {"q": q, "k": k.swapaxes(-1, -2) if turned else k, "v": v, "m": m}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("product", PRODUCTS)
def test_forms(monkeypatch: pytest.MonkeyPatch, product: str, scale: str, mask: str) -> None:
    scores, mix, turned = PRODUCTS[product]
    s = SCALES[scale](scores(Q, K))
    s = MASKS[mask](s) if MASKS[mask] else s
    for axis, lead in ((-1, (3,)), (2, (3,)), (3, (2, 3))):
        y = mix(mx.sym.softmax(s, axis=axis), V)
        for dtype in ("float32", "float64"):
            _compare(monkeypatch, y, _arrays(lead, 7, 20, 5, turned), [FUSED], dtype)


@pytest.mark.parametrize("queries, keys", [(1, 1), (1, 300), (300, 1), (16, 16), (143, 257), (145, 512), (600, 33)])
@pytest.mark.parametrize("shape", [(1,), (1, 1, -1), (2, 1, -1, 1), (1, 3, 1, 1), (2, 1, 1, -1)])
def test_sizes_and_masks(monkeypatch: pytest.MonkeyPatch, queries: int, keys: int, shape: tuple[int, ...]) -> None:
    """Masks of any shape that broadcasts, past tiles and beside them."""
    sizes = {len(shape) - 1: keys, len(shape) - 2: queries}
    mask = [sizes[i] if size < 0 else size for i, size in enumerate(shape)]
    y = _matmul(mx.sym.softmax(mx.sym.broadcast_add(_matmul(Q, K), M) if shape else _matmul(Q, K), axis=-1), V)
    args = _arrays((2, 3), queries, keys, 8, True, mask)
    args["m"] = np.where(args["m"] > 0.5, -10000.0, args["m"])
    _compare(monkeypatch, y, args, [FUSED])


def test_special_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that all keys are hidden from has NaN, as softmax has; so has one with NaN or infinity."""
    y = mx.sym.batch_dot(mx.sym.softmax(mx.sym.broadcast_add(_batch_dot(Q, K), M), axis=-1), V)
    args = _arrays((2,), 6, 20, 4, False)
    args["m"][:, 1] = -np.inf
    args["m"][0, 2, 3], args["m"][1, 3, 5], args["m"][0, 4, :19] = np.nan, np.inf, -np.inf
    _compare(monkeypatch, y, args, [FUSED])
    args["k"][0, 3], args["m"][:] = np.inf, 0
    _compare(monkeypatch, y, args, [FUSED])


def test_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    args = _arrays((3,), 7, 7, 5, False)
    scores = _batch_dot(Q, K)

    def check(symbol: Any, *operators: str) -> None:
        _compare(monkeypatch, symbol, args, [*operators])

    shares = mx.sym.softmax(scores)
    check(mx.sym.Group([mx.sym.batch_dot(shares, V), shares]), "batch_dot", "softmax", "batch_dot")
    check(mx.sym.Group([mx.sym.batch_dot(shares, V), scores]), "batch_dot", "softmax", "batch_dot")
    check(mx.sym.batch_dot(mx.sym.softmax(scores, axis=1), V), "batch_dot", "softmax", "batch_dot")
    check(mx.sym.batch_dot(mx.sym.softmax(scores, temperature=2), V), "batch_dot", "softmax", "batch_dot")
    check(mx.sym.batch_dot(mx.sym.softmax(scores + 1), V), "batch_dot", "_plus_scalar", "softmax", "batch_dot")
    check(mx.sym.batch_dot(shares, V, transpose_a=True), "batch_dot", "softmax", "batch_dot")
    monkeypatch.setenv("MXLITE_GRAPH", "-attention")
    given = {name: mx.nd.array(args[name]) for name in "qkv"}
    assert predict(mx.sym.batch_dot(shares, V), given, {})[1] == ["batch_dot", "softmax", "batch_dot"]


@pytest.mark.parametrize(
    "symbol, lead, dtype",
    [
        (_matmul(mx.sym.softmax(_matmul(Q, K), axis=2), V), (2, 3), "float32"),  # not the last axis
        (_matmul(mx.sym.softmax(mx.sym.broadcast_add(_matmul(Q, K), M)), V), (3,), "float32"),  # a larger mask
        (_matmul(mx.sym.softmax(_matmul(Q, K)), V), (), "float32"),  # two axes
        (_matmul(mx.sym.softmax(_matmul(Q, K)), V), (3,), "float16"),
    ],
)
def test_what_only_shapes_tell(symbol: Any, lead: tuple[int, ...], dtype: str) -> None:
    """The graph itself runs where the operator does not fit, and from then on."""
    args = _arrays(lead, 4, 4, 5, True, (2, *lead, 4, 4))
    given = {name: mx.nd.array(args[name], dtype=dtype) for name in symbol.list_arguments()}
    executor = symbol.bind(mx.cpu(), given, grad_req="null")
    assert FUSED in executor.get_optimized_symbol().tojson()
    with mx.autograd.train_mode():
        want = symbol.bind(mx.cpu(), given, grad_req="null").forward(is_train=True)[0].asnumpy()
    for _ in range(2):
        np.testing.assert_array_equal(executor.forward(is_train=False)[0].asnumpy(), want)
    assert FUSED not in executor.get_optimized_symbol().tojson()
    assert json.loads(executor.get_optimized_symbol().tojson()) == json.loads(symbol.tojson())


def test_errors_are_those_of_the_graph() -> None:
    y = mx.sym.batch_dot(mx.sym.softmax(_batch_dot(Q, K) + M), V)
    net = mx.gluon.SymbolBlock(y, [Q, K, V, M])
    ones, texts = mx.nd.ones, []
    for keeps in (False, True):
        net.hybridize(static_alloc=keeps)
        for shapes in (((2, 3, 4), (2, 5, 4), (2, 5, 4), (3, 5)), ((2, 3, 4), (2, 5, 4), (2, 6, 4), (2, 3, 5))):
            with pytest.raises(mx.MXNetError) as caught:
                net(*(ones(shape) for shape in shapes)).wait_to_read()
            texts.append(str(caught.value))
        net(ones((2, 3, 4)), ones((2, 5, 4)), ones((2, 5, 4)), ones((2, 3, 5))).wait_to_read()
    assert texts[:2] == texts[2:]
