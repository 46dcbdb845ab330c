"""A Module on a GPU: it is bound where it is trained."""

import mxnet as mx

data = mx.io.NDArrayIter(mx.nd.ones((4, 3)), mx.nd.zeros((4,)), 2)
out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
context = mx.gpu(0)  # told
model = mx.mod.Module(out, context=context)
model.fit(data, num_epoch=1)  # raised
