"""A Module's store, which `fit` makes."""

import mxnet as mx

data = mx.io.NDArrayIter(mx.nd.ones((4, 3)), mx.nd.zeros((4,)), 2)
out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
mx.mod.Module(out).fit(data, num_epoch=1, kvstore="dist_async")  # stops
