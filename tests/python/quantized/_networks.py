"""Symbols that tests and tests/reference/make_quantized.py quantize: NumPy and either package's `sym` alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def _lenet(s: Any) -> Any:
    x = s.Variable("data")
    x = s.Activation(s.Convolution(x, kernel=(5, 5), num_filter=8, name="conv1"), act_type="relu", name="relu1")
    x = s.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1")
    x = s.Convolution(x, kernel=(5, 5), num_filter=16, name="conv2", no_bias=True)
    x = s.Pooling(s.Activation(x, act_type="relu", name="relu2"), kernel=(2, 2), pool_type="avg", name="pool2")
    x = s.FullyConnected(s.Flatten(x, name="flat"), num_hidden=32, name="fc1")
    x = s.FullyConnected(s.Activation(x, act_type="tanh", name="t"), num_hidden=10, name="fc2")
    return s.SoftmaxOutput(x, name="softmax")


def _residual(s: Any) -> Any:
    same = {"kernel": (3, 3), "num_filter": 8, "pad": (1, 1)}
    first = s.BatchNorm(s.Convolution(s.Variable("data"), no_bias=True, name="c0", **same), fix_gamma=False, name="b0")
    first = s.Activation(first, act_type="relu", name="r0")
    second = s.Activation(s.BatchNorm(s.Convolution(first, name="c1", **same), name="b1"), act_type="relu", name="r1")
    third = s.BatchNorm(s.Convolution(second, name="c2", **same), name="b2")
    total = s.Activation(s.elemwise_add(third, first, name="add"), act_type="relu", name="r2")
    pooled = s.Pooling(s.concat(total, second, dim=1, name="cc"), global_pool=True, kernel=(1, 1), name="gp")
    return s.FullyConnected(pooled, num_hidden=10, name="fc")


def networks(s: Any) -> Iterator[tuple[str, Any]]:
    """Names and symbols; `s` is `mx.sym`."""
    yield "lenet", _lenet(s)
    yield "residual", _residual(s)
    x = s.Variable("data")
    c = s.Convolution(x, kernel=(1, 1), num_filter=4, name="c", no_bias=True)
    t = s.tanh(c, name="t")

    def dense(y: Any) -> Any:
        return s.FullyConnected(y, num_hidden=3, name="fc", no_bias=True)

    def pool(y: Any, name: str = "p") -> Any:
        return s.Pooling(y, kernel=(2, 2), name=name)

    yield "pool", pool(x)
    yield "relu", s.Activation(x, act_type="relu", name="r")
    yield "flat-dense", dense(s.Flatten(x, name="f"))
    yield "conv-pool", pool(c)
    yield "conv-tanh-pool", pool(t)
    yield "readers", s.Group([t, s.sin(c, name="s"), s.Activation(c, act_type="relu", name="r")])
    yield "add", s.elemwise_add(c, t, name="a")
    yield "broadcast", s.broadcast_add(c, t, name="a")
    yield "mul", s.elemwise_mul(c, t, name="a")
    yield "concat", s.concat(c, t, name="a")
    yield "other-relu", s.relu(c, name="r")
    yield "leaky", s.LeakyReLU(c, name="l")
    yield "norm", s.BatchNorm(x, name="b")
    yield "embedding", s.Embedding(x, input_dim=5, output_dim=3, name="e")
    yield "embedding-dense", dense(s.Embedding(x, input_dim=5, output_dim=3, name="e"))
    weight = s.Variable("w")
    both = [
        s.FullyConnected(y, weight, num_hidden=3, name=n, no_bias=True)
        for y, n in ((x, "f1"), (s.sin(x, name="si"), "f2"))
    ]
    yield "shared-weight", s.elemwise_add(*both, name="a")
    yield "split", s.Convolution(s.split(c, num_outputs=2, name="sp")[1], kernel=(1, 1), num_filter=4, name="c2")
    yield (
        "made-weight",
        s.Convolution(x, s.tanh(s.Variable("w"), name="tw"), kernel=(3, 3), num_filter=4, name="k", no_bias=True),
    )
    yield "outputs", s.Group([c, s.Convolution(c, kernel=(1, 1), num_filter=4, name="c2")])
    yield "twice", s.elemwise_add(c, c, name="a")
    yield "reshape", s.Convolution(s.reshape(c, shape=(0, 0, -1, 1), name="rs"), kernel=(1, 1), num_filter=4, name="c2")
    yield "dropout", dense(s.Dropout(c, name="d"))
    yield "between-1", dense(s.elemwise_add(c, t, name="a"))
    yield "between-2", dense(s.elemwise_add(c, x, name="a"))
    yield "between-3", s.Group([s.tanh(pool(c), name="u"), dense(pool(c, "q"))])
    yield "between-4", dense(pool(pool(c, "p1"), "p2"))
    yield "between-5", dense(pool(s.tanh(pool(c, "p1"), name="u"), "p2"))
    yield "between-6", dense(s.concat(pool(c, "p1"), pool(x, "p2"), name="cc"))
    yield "between-7", dense(s.concat(pool(x, "p1"), pool(x, "p2"), name="cc"))


#: What to quantize with: arguments of `_quantize_symbol`; the dtypes and modes of all come from these.
WAYS = [
    {"quantized_dtype": "int8", "quantize_mode": "smart"},
    {"quantized_dtype": "uint8", "quantize_mode": "full"},
    {"quantized_dtype": "auto", "quantize_mode": "full", "excluded_symbols": ["c", "relu1"]},
    {"quantized_dtype": "auto", "quantize_mode": "smart", "excluded_operators": ["Pooling", "elemwise_add"]},
    {"quantized_dtype": "int8", "quantize_mode": "full", "offline_params": []},
]


def nodes_of(graph: dict) -> list:
    """What counts of a symbol's file: its nodes without numbers of versions, and its outputs."""
    listed = [[n["op"], n["name"], [e[:2] for e in n["inputs"]], n.get("attrs", {})] for n in graph["nodes"]]
    return [listed, [e[:2] for e in graph["heads"]]]
