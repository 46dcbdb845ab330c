"""Arrays, variables and parameters of other storage types."""

import mxnet as mx
from mxnet import gluon, nd

print(nd.ones((2, 2)).tostype("csr"), nd.zeros((2, 2), stype="row_sparse"))
print(mx.nd.sparse.csr_matrix(([1.0], [0], [0, 1]), shape=(1, 1)))
features = mx.symbol.Variable("data", stype="csr")
print(mx.symbol.FullyConnected(features, num_hidden=3))
weight = gluon.Parameter("weight", shape=(3, 2), stype="row_sparse")
weight.initialize()
