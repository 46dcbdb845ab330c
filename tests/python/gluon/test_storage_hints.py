"""The storage type row_sparse, which is a hint: everything works, with dense arrays."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd

pytestmark = pytest.mark.filterwarnings("ignore:.*is taken as a hint")


def _embedding(made: gluon.Block) -> Any:
    made.initialize("ones")
    with autograd.record():
        total = made(nd.array([1, 2, 1])).sum()
    total.backward()
    return made.weight.grad()


def _parameter(**kinds: str) -> Any:
    made = gluon.Parameter("p", shape=(4, 3), **kinds)
    made.initialize("ones")
    with autograd.record():
        total = nd.Embedding(nd.array([1, 2, 1]), made.data(), input_dim=4, output_dim=3, sparse_grad=True).sum()
    total.backward()
    return made.grad()


def _bound(**more: Any) -> Any:
    stype = more.pop("stype", None)
    net = mx.sym.Embedding(mx.sym.var("d"), mx.sym.var("w", stype=stype), input_dim=4, output_dim=3, sparse_grad=True)
    made = net.simple_bind(mx.cpu(), d=(3,), **more)
    made.forward(is_train=True, d=nd.array([1, 2, 1]))
    made.backward(nd.ones((3, 3)))
    return made.grad_dict["w"]


def _attached() -> Any:
    x = nd.ones((4, 3))
    x.attach_grad(stype="row_sparse")
    with autograd.record():
        total = nd.Embedding(nd.array([1, 2, 1]), x, input_dim=4, output_dim=3).sum()
    total.backward()
    return x.grad


WAYS: dict[str, Callable[[], Any]] = {
    "nn.Embedding": lambda: _embedding(gluon.nn.Embedding(4, 3, sparse_grad=True)),
    "SparseEmbedding": lambda: _embedding(gluon.contrib.nn.SparseEmbedding(4, 3)),
    "grad_stype": lambda: _parameter(grad_stype="row_sparse"),
    "both": lambda: _parameter(stype="row_sparse", grad_stype="row_sparse"),
    "attach_grad": _attached,
    "sym.var": lambda: _bound(stype="row_sparse"),
    "stype_dict": lambda: _bound(stype_dict={"w": "row_sparse"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_rows_are_a_hint(way: str) -> None:
    grad = WAYS[way]()
    assert grad.stype == "default" and grad.asnumpy().tolist() == [[0] * 3, [2] * 3, [1] * 3, [0] * 3]


@pytest.mark.parametrize("way", WAYS)
def test_the_hint_is_named_once(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mx.base, "_asked_for_sparse", [])
    with pytest.warns(UserWarning, match="'row_sparse' is taken as a hint: arrays and gradients are dense") as said:
        WAYS[way]()
        WAYS[way]()
    assert len(said) == 1 and said[0].filename == __file__


def test_rows_of_parameters_and_stores() -> None:
    made = gluon.Parameter("p", shape=(3, 2), stype="row_sparse")
    made.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
    rows = nd.array([0], ctx=mx.cpu(1))
    assert made.row_sparse_data(rows).context == mx.cpu(1) and len(made.list_row_sparse_data(rows)) == 2
    assert made.var().attr("__storage_type__") == "1"
    store, out = mx.kv.create("local"), nd.zeros((3, 2))
    store.init("a", nd.ones((3, 2)))
    store.row_sparse_pull("a", out=out, row_ids=rows)
    assert out.asnumpy().tolist() == [[1, 1]] * 3
    with pytest.raises(AssertionError, match="row_ids="):
        store.row_sparse_pull("a", out=out)


def test_a_network_with_hints_trains_and_is_exported(tmp_path: Any) -> None:
    nets = []
    for sparse in (False, True):
        net = gluon.nn.HybridSequential(prefix="net_")
        with net.name_scope():
            net.add(gluon.nn.Embedding(4, 3, sparse_grad=sparse), gluon.nn.Dense(2))
        net.initialize(mx.init.One())
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        for _ in range(3):
            with autograd.record():
                loss = (net(nd.array([[1, 2]])) ** 2).sum()
            loss.backward()
            trainer.step(1)
        nets.append(net)
    first, second = (net(nd.array([[1, 3]])).asnumpy() for net in nets)
    assert np.array_equal(first, second)
    nets[1].export(str(tmp_path / "net"))
    read = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    assert np.array_equal(read(nd.array([[1, 3]])).asnumpy(), second)


def test_what_needs_sparse_arrays_says_so() -> None:
    for use in (
        lambda: gluon.Parameter("p", shape=(2,), stype="csr"),
        lambda: nd.ones((2,)).attach_grad(stype="csr"),
        lambda: nd.zeros((2,), stype="row_sparse"),
        lambda: nd.ones((2, 2)).tostype("row_sparse"),
        lambda: mx.sym.var("x", stype="csr"),
        lambda: (mx.sym.var("x") * 2).simple_bind(mx.cpu(), stype_dict={"x": "csr"}, x=(2,)),
    ):
        with pytest.raises(NotImplementedError, match="sparse|storage type"):
            use()


def test_the_process_hears_it_once() -> None:
    code = "import mxlite as mx\nfor i in range(3): mx.gluon.nn.Embedding(2, 2, sparse_grad=True)\n"
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("taken as a hint") == 1 and "<string>:2: UserWarning: Parameter" in done.stderr
