"""Average pooling goes before convolutions of 1 x 1 in predictions: the same results but for roundings."""

from __future__ import annotations

from typing import Any

import pytest
from _passes import compare

import mxlite as mx

X = mx.sym.var("x")
SWAPPED, KEPT = ["Pooling", "Convolution"], ["Convolution", "Pooling"]


def _convolution(**more: Any) -> Any:
    return mx.sym.Convolution(X, name="c", **{"kernel": (1, 1), "num_filter": 6, "no_bias": False, **more})


def _pool(x: Any, **more: Any) -> Any:
    return mx.sym.Pooling(x, name="p", **{"kernel": (2, 2), "stride": (2, 2), "pool_type": "avg", **more})


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("options", [{}, {"no_bias": True}, {"num_group": 2}, {"num_filter": 33, "dilate": (2, 2)}])
def test_what_is_swapped(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], dtype: str) -> None:
    for pool in ({}, {"kernel": (3, 2), "stride": (1, 2)}, {"global_pool": True}, {"count_include_pad": False}):
        compare(monkeypatch, _pool(_convolution(**options), **pool), SWAPPED, dtype=dtype)
    norm = mx.sym.BatchNorm(_pool(_convolution(**options)), name="norm")
    compare(monkeypatch, mx.sym.relu(norm), ["Pooling", "_mxl_fused_convolution"], dtype=dtype)


@pytest.mark.parametrize(
    "convolution, pool",
    [
        ({"kernel": (3, 3)}, {}),
        ({"stride": (2, 1)}, {}),
        ({"pad": (1, 0)}, {}),
        ({}, {"pool_type": "max"}),
        ({}, {"pool_type": "sum"}),
        ({}, {"pad": (1, 1)}),
        ({}, {"stride": (1, 1)}),
        ({}, {"pooling_convention": "full"}),
    ],
)
def test_what_stays(monkeypatch: pytest.MonkeyPatch, convolution: dict[str, Any], pool: dict[str, Any]) -> None:
    compare(monkeypatch, _pool(_convolution(**convolution), **pool), KEPT)


def test_readers_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    c = _convolution()
    compare(monkeypatch, mx.sym.Group([_pool(c), c]), KEPT)
    executor = _pool(c).simple_bind(mx.cpu(), grad_req="null", x=(1, 4, 6, 6))
    optimized = executor.get_optimized_symbol()
    assert optimized.list_outputs() == ["p_output"] and len(executor.forward()[0].shape) == 4
    texts = []
    net = mx.gluon.SymbolBlock(_pool(_convolution(no_bias=True)), [X, mx.sym.var("c_weight")])
    for keeps in (False, True):
        net.hybridize(static_alloc=keeps)
        for shapes in (((1, 4, 1, 6), (6, 4, 1, 1)), ((1, 3, 6, 6), (6, 4, 1, 1))):
            with pytest.raises(mx.MXNetError) as caught:
                net(*(mx.nd.ones(shape) for shape in shapes)).wait_to_read()
            texts.append(str(caught.value))
    assert texts[:2] == texts[2:] and all(texts)
