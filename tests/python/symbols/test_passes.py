"""Passes over an executor's graph: common sub-expressions are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxlite as mx

A, B = mx.sym.var("a"), mx.sym.var("b")


def _nodes(symbol: Any, **shapes: Any) -> list[str]:
    """The nodes of the graph that an executor runs, without the variables."""
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    optimized = executor.get_optimized_symbol()
    known = {*optimized.list_arguments(), *optimized.list_auxiliary_states()}
    return [name for name in optimized.get_internals().list_outputs() if name not in known]


def _exp(name: str, of: Any = A, **more: Any) -> Any:
    return mx.sym.exp(of, name=name, **more)


@pytest.mark.parametrize(
    "symbol, left",
    [
        (_exp("x") + _exp("y"), 2),
        ((A + 1) * (A + 1) - (A + 1), 3),
        ((A + B) * (B + A), 3),  # sums commute, nodes are compared as they are
        (mx.sym.sum(_exp("x"), axis=1) + mx.sym.sum(_exp("y"), axis=1), 3),
        (mx.sym.sum(_exp("x"), axis=1) + mx.sym.sum(_exp("y"), axis=0), 4),
        (_exp("x", attr={"mood": "angry"}) + _exp("y"), 3),
        (mx.sym.split(A, num_outputs=3, axis=0)[0] + mx.sym.split(A, num_outputs=3, axis=0)[1], 4),
        (mx.sym.Group([_exp("x"), _exp("y")]), 2),  # each output has a node
        (mx.sym.Group([_exp("x"), _exp("y") * 2]), 2),
        (mx.sym.Group([_exp("x") * 2, _exp("y")]), 2),
        (mx.sym.zeros((3, 3)) + mx.sym.zeros((3, 3)), 3),
    ],
)
def test_what_is_computed_once(symbol: Any, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = dict.fromkeys(symbol.list_arguments(), (3, 3))
    assert len(_nodes(symbol, **shapes)) == left
    names = symbol.list_outputs()
    given = {name: mx.nd.array(np.random.RandomState(0).rand(3, 3)) for name in shapes}
    found = []
    for setting in ("1", "0"):
        monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", setting)
        grads = {name: mx.nd.zeros((3, 3)) for name in shapes}
        executor = symbol.bind(mx.cpu(), given, grads)
        out = executor.forward(is_train=True)
        executor.backward([mx.nd.ones(each.shape) for each in out])
        assert list(executor.output_dict) == names
        found.append([each.asnumpy() for each in (*out, *grads.values())])
    for once, twice in zip(*found):
        np.testing.assert_allclose(once, twice, rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: mx.sym.Dropout(A),
        lambda: mx.sym.LeakyReLU(A, act_type="rrelu")[0],
        lambda: mx.sym.shuffle(A),
        lambda: mx.sym.random.uniform_like(A),
        lambda: mx.sym.sample_normal(A, A),
        lambda: mx.sym.sample_multinomial(A, shape=(3,)),
        lambda: mx.sym.np.random.normal(A.as_np_ndarray(), 1.0, size=(3, 3, 3)).as_nd_ndarray(),
        lambda: mx.sym.np.random.gamma(A.as_np_ndarray(), 1.0, size=(3, 3, 3)).as_nd_ndarray(),
        lambda: mx.sym.image.random_brightness(A, 0.5, 1.5),
        lambda: mx.sym.image.random_flip_left_right(A),
        lambda: mx.sym.BatchNorm(A, mx.sym.var("g"), mx.sym.var("c"), mx.sym.var("m"), mx.sym.var("v")),
        lambda: mx.sym.SoftmaxOutput(A, B),
    ],
)
def test_what_is_computed_each_time(make: Any) -> None:
    one, other = make(), make()
    nodes = {name.partition("_output")[0] for name in _nodes(one * 2 + other * 3, a=(3, 3, 3))}
    assert {one.name, other.name} <= nodes and one.name != other.name


def test_a_graph_of_many_repeats_binds_in_time_that_grows_with_it() -> None:
    x = A
    for _ in range(300):
        x = (x + 1) * (x + 1) / 4
    assert len(_nodes(x, a=(2,))) == 900
    executor = x.simple_bind(mx.cpu(), grad_req="null", a=(2,))
    executor.arg_dict["a"][:] = 1
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), 1)
