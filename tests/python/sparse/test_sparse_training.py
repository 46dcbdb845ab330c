"""Training with sparse arrays gives what training with dense ones gives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd
from mxlite.test_utils import rand_sparse_ndarray, shuffle_csr_column_indices


def _trained(block: gluon.Block, optimizer: str, contexts: list, **kwargs: Any) -> np.ndarray:
    block.initialize(mx.init.One(), ctx=contexts)
    trainer = gluon.Trainer(block.collect_params(), optimizer, {"learning_rate": 0.1}, **kwargs)
    for batch in ([[1, 2]], [[2, 3]], [[1, 1]]):
        with autograd.record():
            losses = [(block(nd.array(batch, ctx=each)) ** 2).sum() for each in contexts]
        autograd.backward(losses)
        trainer.step(len(contexts))
    return block.weight._reduce().asnumpy()


CPUS = [mx.cpu(0), mx.cpu(1)]


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad", "adam"])
@pytest.mark.parametrize("contexts", [CPUS[:1], CPUS], ids=["one", "two"])
def test_embeddings_train_as_dense_ones(optimizer: str, contexts: list) -> None:
    """Rows that no batch has stay: Adam's and AdaGrad's steps of a dense gradient leave them too, of zeros."""
    rows = [1, 2, 3]
    dense = _trained(gluon.nn.Embedding(6, 3), optimizer, contexts)
    sparse = _trained(gluon.nn.Embedding(6, 3, sparse_grad=True), optimizer, contexts)
    stored = _trained(gluon.contrib.nn.SparseEmbedding(6, 3), optimizer, contexts)
    np.testing.assert_allclose(stored, sparse, rtol=1e-6)
    if optimizer in ("sgd", "adagrad"):
        np.testing.assert_allclose(sparse[rows], dense[rows], rtol=1e-5)
    assert (sparse[[0, 4, 5]] == 1).all() and (stored[[0, 4, 5]] == 1).all()


def test_a_network_trains_hybridized_and_is_exported(tmp_path: Any) -> None:
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
    assert nets[1][0].weight.grad().stype == "row_sparse"
    first, second = (net(nd.array([[1, 3]])).asnumpy() for net in nets)
    np.testing.assert_allclose(first, second, rtol=1e-6)
    nets[1].export(str(tmp_path / "net"))
    read = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"))
    assert np.array_equal(read(nd.array([[1, 3]])).asnumpy(), second)


def test_parameters_stored_by_rows(tmp_path: Any) -> None:
    layer = gluon.contrib.nn.SparseEmbedding(4, 3)
    layer.initialize("ones")
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 1.0})
    first = layer.weight.row_sparse_data(nd.array([1, 3, 1]))
    assert first.stype == "row_sparse" and first.indices.asnumpy().tolist() == [1, 3]
    assert layer.weight.row_sparse_data(nd.array([0])).indices.asnumpy().tolist() == [0]
    layer.save_parameters(str(tmp_path / "layer"))  # with all rows
    other = gluon.contrib.nn.SparseEmbedding(4, 3)
    other.load_parameters(str(tmp_path / "layer"))
    assert other.weight._reduce().asnumpy().tolist() == [[1] * 3] * 4
    layer.weight.set_data(nd.full((4, 3), 5))
    assert layer.weight.row_sparse_data(nd.array([2])).asnumpy().tolist() == [[0] * 3] * 2 + [[5] * 3, [0] * 3]
    with pytest.raises(RuntimeError, match="another Trainer"):
        gluon.Trainer(layer.collect_params(), "sgd")
    trainer.save_states(str(tmp_path / "states"))
    trainer.load_states(str(tmp_path / "states"))


def test_rows_that_are_first_asked_for_while_recording() -> None:
    """What a store keeps and gives is not recorded: the arrays have gradients, and the Trainer's store begins here."""
    params = gluon.ParameterDict()
    kinds = {"stype": "row_sparse", "grad_stype": "row_sparse"}
    weight, bias = params.get("weight", shape=(4, 2), init="ones", **kinds), params.get("bias", shape=(2,), init="ones")
    params.initialize()
    trainer = gluon.Trainer(params, "sgd", {"learning_rate": 1.0})
    x = nd.array([[0, 2, 0, 0]]).tostype("csr")
    for step in range(2):
        with autograd.record():
            loss = nd.sparse.dot(x, weight.row_sparse_data(x.indices)) + bias.data()
        assert loss.asnumpy().tolist() == [[3 - 5 * step] * 2]
        loss.backward()
        trainer.step(1)
    rows = weight.row_sparse_data(nd.arange(4))
    assert rows.asnumpy().tolist() == [[1, 1], [-3, -3], [1, 1], [1, 1]] and bias.data().asnumpy().tolist() == [-1, -1]
    store, array, given = mx.kv.create(), nd.ones(2), nd.zeros(2)
    for each in (array, given):
        each.attach_grad()
    with autograd.record():
        store.init(0, array)
        store.push(0, array)
        store.pull(0, out=given)
        store.broadcast(1, array, given)
        loss = (given * 3).sum()
    loss.backward()
    assert given.grad.asnumpy().tolist() == [3, 3] and array.grad.asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("store", [None, "local", "new"])
def test_a_module_trains_by_the_rows_of_its_batches(store: Any) -> None:
    """As with dense data and a dense weight."""
    found = []
    data = rand_sparse_ndarray((16, 10), "csr", density=0.3)[0]
    labels = nd.array((data.asnumpy().sum(1) > 0.8).astype("float32"))
    for stypes in (("default", "default"), ("csr", "row_sparse")):
        x, w = mx.sym.var("data", stype=stypes[0]), mx.sym.var("w", stype=stypes[1], shape=(10, 2), init=mx.init.One())
        scores = mx.sym.sparse.dot(x, w)
        module = mx.mod.Module(mx.sym.SoftmaxOutput(scores, mx.sym.var("softmax_label"), name="softmax"))
        module.bind([("data", (8, 10))], [("softmax_label", (8,))])
        module.init_params()
        module.init_optimizer(mx.kv.create("local") if store == "new" else store, "sgd", {"learning_rate": 0.5})
        for begin in (0, 8):
            part = data[begin : begin + 8]
            batch = mx.io.DataBatch(
                [part if stypes[0] == "csr" else part.tostype("default")], [labels[begin : begin + 8]]
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module.prepare(batch, sparse_row_id_fn=lambda _, part=part: {"w": part.indices})
            module.forward(batch)
            module.backward()
            module.update()
        found.append(module.get_params()[0]["w"])
    assert found[1].stype == "row_sparse"
    np.testing.assert_allclose(found[0].asnumpy(), found[1].asnumpy(), rtol=1e-5)


def test_batches_of_shuffled_rows() -> None:
    data = rand_sparse_ndarray((70, 9), "csr", density=0.2)[0]
    batches = mx.io.NDArrayIter(data, nd.arange(70), batch_size=16, shuffle=True, last_batch_handle="discard")
    for _ in range(2):
        for batch in batches:
            numbers = batch.label[0].asnumpy().astype(int)
            assert np.array_equal(batch.data[0].asnumpy(), data.asnumpy()[numbers])
        batches.reset()


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
def test_random_arrays(stype: str) -> None:
    array, parts = rand_sparse_ndarray((50, 40), stype, density=0.25, dtype="float64", modifier_func=lambda v: v + 1)
    array.check_format()
    assert array.dtype is np.float64 and len(parts) == {"csr": 3, "row_sparse": 2}[stype]
    share = (array.asnumpy() != 0).mean()
    assert 0.05 < share < 0.5 and array.data.asnumpy().min() >= 1


def test_columns_in_random_order() -> None:
    array = rand_sparse_ndarray((5, 40), "csr", density=0.5)[0]
    before, columns = array.asnumpy(), array.indices.asnumpy().tolist()
    shuffle_csr_column_indices(array)
    assert array.indices.asnumpy().tolist() != columns
    assert sorted(array.data.asnumpy()) == sorted(before[before != 0])


def test_symbols_are_checked_with_sparse_gradients() -> None:
    data = rand_sparse_ndarray((4, 3), "csr", density=0.6)[0]
    weight = nd.array(np.random.default_rng(2).random((3, 2)))
    dot = mx.sym.sparse.dot(mx.sym.var("x"), mx.sym.var("w"))
    head = np.ones((4, 2), np.float32)
    mx.test_utils.check_symbolic_forward(dot, {"x": data, "w": weight}, [data.asnumpy() @ weight.asnumpy()])
    grads = mx.test_utils.check_symbolic_backward(
        dot, {"x": data, "w": weight}, [head], {"w": data.asnumpy().T @ head}, grad_stypes={"w": "row_sparse"}
    )
    assert grads["w"].stype == "row_sparse"
    mx.test_utils.check_numeric_gradient(
        dot, {"x": data, "w": weight}, grad_nodes=["w"], grad_stype_dict={"w": "row_sparse"}, rtol=1e-2, atol=1e-3
    )
