"""What depends on no variable is computed by the first prediction alone, with the same bits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _passes import predict

import mxlite as mx

X = mx.sym.var("x")


def _table(rows: int, size: int) -> Any:
    """Sines of positions, as transformers have them."""
    at = mx.sym.expand_dims(mx.sym.arange(rows), axis=1)
    by = mx.sym.expand_dims(mx.sym.arange(size) * -0.1, axis=0)
    return mx.sym.sin(mx.sym.broadcast_mul(at, mx.sym.exp(by)))


GRAPHS = {
    "a table": mx.sym.broadcast_add(X, _table(4, 6)),
    "one that is read twice": mx.sym.broadcast_mul(mx.sym.broadcast_add(X, _table(4, 6)), _table(4, 6)),
    "zeros and ones": mx.sym.elemwise_add(X, mx.sym.zeros((4, 6)) * mx.sym.ones((4, 6))),
    "several results": X + mx.sym.split(_table(8, 6), num_outputs=2, axis=0)[1],
    "a constant that is an output": mx.sym.Group([_table(4, 6), X + _table(4, 6)]),
    "a constant alone": _table(4, 6),
    "no shape": mx.sym.broadcast_add(X, mx.sym.sum(_table(4, 6))),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_bits(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    symbol = GRAPHS[name]
    args = {key: mx.nd.array(np.random.RandomState(0).randn(4, 6)) for key in symbol.list_arguments()}
    for mode in (False, True):
        with mx.util.np_shape(mode):
            monkeypatch.setenv("MXLITE_GRAPH", "none")
            want, operators = predict(symbol, args, {})
            monkeypatch.delenv("MXLITE_GRAPH")
            executor = symbol.bind(mx.cpu(), args, grad_req="null")
            for _ in range(3):
                got = executor.forward(is_train=False)
                for one, other in zip(want, got):
                    assert (one.dtype, one.shape) == (other.dtype, other.shape)
                    np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())
                    other[:] = 7  # results are the caller's
            assert predict(symbol, args, {})[1] == operators  # shown are all nodes


def test_they_are_computed_once(tmp_path: Path) -> None:
    symbol = mx.sym.broadcast_add(X, _table(4, 6))
    executor = symbol.bind(mx.cpu(), {"x": mx.nd.zeros((4, 6))}, grad_req="null")
    executor.forward(is_train=False)[0].wait_to_read()
    mx.profiler.set_config(filename=str(tmp_path / "profile.json"), profile_all=True, aggregate_stats=True)
    mx.profiler.set_state("run")
    executor.forward(is_train=False)[0].wait_to_read()
    mx.profiler.set_state("stop")
    text = mx.profiler.dumps(reset=True)
    mx.profiler.dump()  # later tests have records of their own
    mx.profiler.set_config()
    assert "broadcast_add" in text and "sin" not in text and "arange" not in text


def test_what_differs_between_runs() -> None:
    """Random numbers, and what is made in the shape of a variable."""
    noise = mx.sym.random.uniform(shape=(4, 6)) * 2
    executor = (X + noise).bind(mx.cpu(), {"x": mx.nd.zeros((4, 6))}, grad_req="null")
    one, other = (executor.forward(is_train=False)[0].asnumpy() for _ in range(2))
    assert not np.array_equal(one, other)
    symbol = X + mx.sym.zeros((0, 6)) + mx.sym.ones_like(X)
    for rows in (2, 5):
        executor = symbol.bind(mx.cpu(), {"x": mx.nd.zeros((rows, 6))}, grad_req="null")
        assert executor.forward(is_train=False)[0].asnumpy().sum() == rows * 6


def test_modes_of_shapes_and_threads() -> None:
    """A graph that runs in another mode of shapes makes its own; several threads may be the first."""
    net = mx.gluon.SymbolBlock(mx.sym.broadcast_add(X, mx.sym.sum(_table(4, 6))), [X])
    net.hybridize(static_alloc=True)
    x = mx.nd.zeros((4, 6))
    want = net(x).asnumpy()
    with mx.util.np_shape(True):
        np.testing.assert_array_equal(net(x).asnumpy(), want)
    np.testing.assert_array_equal(net(x).asnumpy(), want)
    for _ in range(10):
        other = mx.gluon.SymbolBlock(mx.sym.broadcast_add(X, _table(4, 6)), [X])
        other.hybridize(static_alloc=True)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda each: each(x).asnumpy(), [other] * 4))
        assert all(np.array_equal(each, found[0]) for each in found)


def test_errors_are_those_of_the_graph() -> None:
    symbol = mx.sym.broadcast_add(X, mx.sym.elemwise_add(mx.sym.zeros((2, 3)), mx.sym.ones((3, 2))))
    texts = []
    for keeps in (False, True):
        net = mx.gluon.SymbolBlock(symbol, [X])
        net.hybridize(static_alloc=keeps)
        with pytest.raises(mx.MXNetError) as caught:
            net(mx.nd.ones((2, 3))).wait_to_read()
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
