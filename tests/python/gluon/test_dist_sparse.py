"""Arrays stored by rows in a store of several workers: the rows travel, and every worker has the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from _workers import answers, needs_mpi

pytestmark = [pytest.mark.one_binding, needs_mpi]


def test_pushed_rows_are_added_up(tmp_path: Path) -> None:
    source = """
    import numpy as np
    kv = mx.kv.create("dist_sync")
    def rows(shape, *at, dtype="float32"):
        return mx.nd.sparse.row_sparse_array(
            (np.full((len(at), *shape[1:]), kv.rank + 1, dtype), np.array(at, "int64")), shape=shape
        )
    shape = (100, 3)
    kv.init("a", rows(shape, *range(100)) * (kv.rank + 1))
    out, found = mx.nd.sparse.zeros("row_sparse", shape), []
    def pulled(key, *ids):
        kv.row_sparse_pull(key, out=out, row_ids=mx.nd.array(ids, dtype="int64"))
        found.append([out.stype, out.indices.asnumpy().tolist(), out.data.asnumpy()[:, 0].tolist()])
    pulled("a", 7, 3, 3, 99)  # worker 0's
    kv.push("a", rows(shape, *[[2, 50], [50, 99], []][kv.rank]))
    pulled("a", 2, 3, 50, 99)
    kv.push("a", [rows(shape, kv.rank), rows(shape, 5)])  # of two devices each
    pulled("a", 0, 1, 2, 5)
    kv.push("a", rows(shape))  # nobody has any
    pulled("a", 0, 5)
    kv.init("h", rows((4, 2), dtype="float16"))
    kv.push("h", rows((4, 2), 1, dtype="float16"))
    half = mx.nd.sparse.zeros("row_sparse", (4, 2), dtype="float16")
    kv.row_sparse_pull("h", out=half, row_ids=mx.nd.array([1]))
    found.append([half.dtype.__name__, half.data.asnumpy().tolist()])
    kv.push("a", rows(shape, *range(100)))  # an optimizer wants all rows
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    kv.push("a", rows(shape, 4))
    pulled("a", 4, 5)
    try:
        kv.push("a", rows(shape, 1) if kv.rank else mx.nd.ones(shape))
    except mx.MXNetError as error:
        found.append("storage types" in str(error))
    tell(kv.rank, found)
    """
    found, *others = answers(source, tmp_path, workers=3)
    kind = "row_sparse"
    assert found[0] == [kind, [3, 7, 99], [1.0, 1.0, 1.0]]
    assert found[1] == [kind, [2, 3, 50, 99], [1.0, 0.0, 3.0, 2.0]]
    assert found[2] == [kind, [0, 1, 2, 5], [1.0, 2.0, 3.0, 6.0]]
    assert found[3] == [kind, [], []]
    assert found[4] == ["float16", [[6.0, 6.0]]]
    assert found[5] == [kind, [4, 5], [3.0, 6.0]]
    assert found[6:] == [True]
    assert others == [found, found]


_TRAIN = """
import sys
import numpy as np
from mxnet import autograd, gluon
stype, alone = json.loads(sys.argv[1])
kv = None if alone else mx.kv.create("dist_sync")
rank, workers = (0, 1) if alone else (kv.rank, kv.num_workers)
random = np.random.RandomState(0)
words, labels = random.randint(0, 500, (6, 8, 5)), random.randint(0, 3, (6, 8))
class Net(gluon.Block):
    def __init__(self):
        super().__init__()
        self.embedding = gluon.nn.Embedding(500, 4, sparse_grad=True)
        self.dense = gluon.nn.Dense(3, in_units=20)
        self.table = self.params.get("table", shape=(500, 3), stype=stype, grad_stype="row_sparse", init="ones")
    def forward(self, x):
        rows = x.reshape((-1,))
        table = self.table.row_sparse_data(rows) if stype == "row_sparse" else self.table.data()
        side = mx.nd.Embedding(rows, table, 500, 3, sparse_grad=True).reshape((-1, 5, 3)).sum(axis=1)
        return self.dense(self.embedding(x).reshape((x.shape[0], -1))) + side
mx.random.seed(3)
net = Net()
net.initialize(mx.init.Normal(0.1))
settings = {"learning_rate": 0.1, "rescale_grad": 1 / 8}
trainer = gluon.Trainer(net.collect_params(), "adam", settings, kvstore=kv or "local")
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
for x, y in zip(words, labels):
    part = slice(rank * 8 // workers, (rank + 1) * 8 // workers)
    x, y = mx.nd.array(x[part]), mx.nd.array(y[part])
    with autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(1)
every = mx.nd.arange(500)
table = net.table.row_sparse_data(every).tostype("default") if stype == "row_sparse" else net.table.data()
tell(rank, [each.asnumpy().tolist() for each in (net.embedding.weight.data(), net.dense.weight.data(), table)])
"""


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_two_workers_train_the_numbers_of_one(stype: str, tmp_path: Path) -> None:
    first, second = answers(_TRAIN, tmp_path, json.dumps([stype, False]), workers=2)
    assert first == second
    alone = answers(_TRAIN, tmp_path, json.dumps([stype, True]), workers=0)[0]
    for one, both in zip(alone, first):
        np.testing.assert_allclose(both, one, rtol=2e-3, atol=2e-4)
        assert np.ptp(one) > 0.1
