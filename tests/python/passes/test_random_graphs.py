"""Random graphs of convolutions, of dense layers, of attention and normalisations, with passes on and off: shapes,
dtypes and errors are the same, results within roundings."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite.symbol._generate import node

GRAPHS = 400  # in a test; all tests are 5,000


class Graph:
    """A symbol of one input, and the arrays that it needs."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        kinds, sides = FAMILIES[seed % len(FAMILIES)]
        self.shape = sides(self.draw)
        self.names = 0
        self.made = [mx.sym.var("x")]
        for _ in range(self.draw.randint(2, 9)):
            x = self.made[-1] if self.draw.random() < 0.8 else self.draw.choice(self.made)
            self.made.append(self.draw.choice(kinds)(self, x))
        heads = self.draw.sample(self.made[1:], self.draw.choice([1, 1, 1, 2]))
        self.symbol = mx.sym.Group([self.made[-1], *heads]) if len(heads) > 1 else self.made[-1]

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def channels(self, x: Any) -> int:
        try:
            return x.infer_shape(x=self.shape)[1][0][1]
        except mx.MXNetError:
            return 1


def _convolution(g: Graph, x: Any) -> Any:
    channels, kernel = g.channels(x), g.draw.choice([(1, 1), (3, 3), (3, 3), (5, 2)])
    groups = g.draw.choice([1, 1, 1, channels])
    return mx.sym.Convolution(
        x,
        name=g.name(),
        kernel=kernel,
        num_filter=groups * g.draw.choice([1, 2]) if groups > 1 else g.draw.choice([channels, 4, 16, 33]),
        num_group=groups,
        stride=g.draw.choice([(1, 1), (1, 1), (2, 2), (1, 3)]),
        pad=g.draw.choice([(kernel[0] // 2, kernel[1] // 2), (0, 0), (2, 1)]),
        no_bias=g.draw.random() < 0.5,
    )


def _norm(g: Graph, x: Any) -> Any:
    return mx.sym.BatchNorm(x, name=g.name(), fix_gamma=g.draw.random() < 0.3, axis=g.draw.choice([1, 1, 1, 1, 2]))


def _limit(g: Graph, x: Any) -> Any:
    return g.draw.choice(
        [
            lambda: mx.sym.relu(x),
            lambda: mx.sym.Activation(x, act_type=g.draw.choice(["relu", "relu", "tanh"])),
            lambda: mx.sym.clip(x, g.draw.choice([0, -1, 2]), 6),
        ]
    )()


def _sum(g: Graph, x: Any) -> Any:
    """With an array of another shape, sometimes."""
    other = g.draw.choice(g.made)
    return x + other if g.draw.random() < 0.5 else other + x


def _other(g: Graph, x: Any) -> Any:
    return g.draw.choice(
        [
            lambda: x * 0.5,
            lambda: mx.sym.Pooling(x, kernel=(2, 2), pool_type="max", pad=(1, 1)),
            lambda: mx.sym.Pooling(
                x,
                kernel=(2, 2),
                pool_type="avg",
                stride=g.draw.choice([(2, 2), (1, 2), (1, 1)]),
                global_pool=g.draw.random() < 0.2,
                pooling_convention=g.draw.choice(["valid", "valid", "full"]),
            ),
            lambda: mx.sym.concat(x, x, dim=1),
            lambda: mx.sym.elemwise_mul(x, x),
        ]
    )()


def _dense(g: Graph, x: Any) -> Any:
    hidden, flatten = g.draw.choice([g.channels(x), 5, 16, 70]), g.draw.random() < 0.6
    return mx.sym.FullyConnected(
        x, name=g.name(), num_hidden=hidden or 1, flatten=flatten, no_bias=g.draw.random() < 0.5
    )


def _last_norm(g: Graph, x: Any) -> Any:
    return mx.sym.BatchNorm(x, name=g.name(), fix_gamma=g.draw.random() < 0.3, axis=g.draw.choice([1, -1]))


def _function(g: Graph, x: Any) -> Any:
    return g.draw.choice(
        [
            lambda: mx.sym.Activation(x, act_type=g.draw.choice(["relu", "sigmoid", "softrelu", "softsign", "tanh"])),
            lambda: mx.sym.LeakyReLU(x, act_type=g.draw.choice(["leaky", "elu", "selu", "gelu"]), slope=0.3),
            lambda: mx.sym.LeakyReLU(x, act_type="prelu", name=g.name()),
            lambda: mx.sym.clip(x, -1, g.draw.choice([1, -2])),
            lambda: mx.sym.erf(x),
        ]
    )()


def _attention(g: Graph, x: Any) -> Any:
    """Of three arrays, two of which may be one; masks and scales anywhere."""
    query, key, value = x, g.draw.choice([x, *g.made]), g.draw.choice([x, *g.made])
    if g.draw.random() < 0.5:
        scores = mx.sym.batch_dot(query, key, transpose_b=g.draw.random() < 0.8)
    else:
        scores = node("_npi_matmul", g.name(), [query, mx.sym.swapaxes(key, 1, 2)], {})
    for _ in range(g.draw.choice([0, 1, 1, 2])):
        scores = g.draw.choice(
            [
                lambda s: s * 0.3,
                lambda s: s / 4,
                lambda s: mx.sym.broadcast_add(s, mx.sym.var(g.name(), shape=g.draw.choice([(1,), (1, 1, 1)]))),
                lambda s: s + s,
            ]
        )(scores)
    shares = mx.sym.softmax(scores, axis=g.draw.choice([-1, -1, 2, 1]))
    g.made.append(shares if g.draw.random() < 0.1 else x)
    return mx.sym.batch_dot(shares, value, transpose_a=g.draw.random() < 0.1)


def _layer_norm(g: Graph, x: Any) -> Any:
    def mean(of: Any) -> Any:
        axis = g.draw.choice([2, 2, 2, -1, 1])
        if g.draw.random() < 0.5:
            return mx.sym.mean(of, axis=axis, keepdims=True)
        return node("_npi_mean", g.name(), [of], {"axis": (axis,), "keepdims": True})

    d = mx.sym.broadcast_sub(x, mean(x))
    square = g.draw.choice([lambda: d * d, lambda: d**2, lambda: mx.sym.square(d), lambda: mx.sym.abs(d)])()
    y = mx.sym.broadcast_div(d, mx.sym.sqrt(mean(square) + 0.1))
    gamma, beta = (mx.sym.var(g.name(), shape=g.draw.choice([(6,), (6,), (1, 1, 6)])) for _ in range(2))
    return mx.sym.broadcast_add(mx.sym.broadcast_mul(y, gamma), beta)


def _gelu(g: Graph, x: Any) -> Any:
    half = g.draw.choice([0.5, 0.5, 0.25])
    if g.draw.random() < 0.5:
        return x * (mx.sym.erf(x / g.draw.choice([2**0.5, 1.4])) + 1) * half
    inside = (2 / np.pi) ** 0.5 * (x + g.draw.choice([0.044715, 0.04]) * x * x * x)
    return half * x * (1 + mx.sym.tanh(inside))


def _constant(g: Graph, x: Any) -> Any:
    made = g.draw.choice([mx.sym.arange(6), mx.sym.zeros((6, 6)), mx.sym.full((1,), 2)])
    return mx.sym.broadcast_add(x, g.draw.choice([lambda: made, lambda: mx.sym.sin(made * 2)])())


def _images(draw: random.Random) -> tuple[int, ...]:
    sides = draw.choice([(7, 7), (8, 5), (14, 14), (20, 33), (1, 9), (3, 3)])
    return (draw.choice([1, 2, 3]), draw.choice([1, 3, 8, 17]), *sides)


def _rows(draw: random.Random) -> tuple[int, ...]:
    return draw.choice([(1, 5), (4, 17), (33, 70), (9, 130), (2, 3, 16), (1, 1)])


KINDS = [_convolution, _convolution, _convolution, _norm, _norm, _limit, _limit, _sum, _sum, _other, _other]
DENSE_KINDS = [_dense, _dense, _dense, _last_norm, _function, _function, _sum, _sum]
WORD_KINDS = [_attention, _attention, _layer_norm, _layer_norm, _gelu, _dense, _sum, _other, _constant]
#: The nodes of a graph, and the shape of its input.
FAMILIES: list[tuple[list[Any], Any]] = [(KINDS, _images), (DENSE_KINDS, _rows), (WORD_KINDS, lambda _: (2, 6, 6))]


def _run(g: Graph, dtype: str) -> Any:
    """The outputs, or the text of the error."""
    try:
        executor = g.symbol.simple_bind(mx.cpu(), grad_req="null", x=g.shape, type_dict={"x": dtype})
        values = np.random.RandomState(3)
        for name, array in sorted({**executor.arg_dict, **executor.aux_dict}.items()):
            drawn = values.rand(*array.shape) + 0.5 if name.endswith("var") else values.randn(*array.shape)
            array[:] = drawn / (1 if name == "x" else max(1, np.sqrt(array.size / array.shape[0])))
        return [each.asnumpy() for each in executor.forward(is_train=False)]
    except mx.MXNetError as error:
        return str(error)


@pytest.mark.parametrize("first", [0, *(pytest.param(i, marks=pytest.mark.whole) for i in range(400, 5000, GRAPHS))])
def test_passes_change_roundings_alone(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = 0
    for seed in range(first, min(first + GRAPHS, 5000)):
        g = Graph(seed)
        dtype = g.draw.choice(["float32", "float32", "float64"])
        monkeypatch.setenv("MXLITE_GRAPH", "none")
        plain = _run(g, dtype)
        monkeypatch.delenv("MXLITE_GRAPH")
        fused = _run(g, dtype)
        failed += isinstance(plain, str)
        if isinstance(plain, str) or isinstance(fused, str):
            assert plain == fused, seed
            continue
        for want, got in zip(plain, fused):
            assert (want.shape, want.dtype) == (got.shape, got.dtype), seed
            bound = (1e-5 if dtype == "float32" else 1e-13) * max(1, np.abs(want).max(initial=0))
            np.testing.assert_allclose(got, want, rtol=0, atol=bound, err_msg=str(seed))
    assert failed < 0.6 * GRAPHS
