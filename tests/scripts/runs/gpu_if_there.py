"""A GPU where there is one: the ways in which programs ask."""

import mxnet as mx
from mxnet import gluon, nd


def try_gpu():
    try:
        context = mx.gpu()
        nd.array([0], ctx=context)
    except mx.base.MXNetError:
        context = mx.cpu()
    return context


first = mx.gpu() if mx.context.num_gpus() > 0 else mx.cpu()
second = [mx.gpu(i) for i in range(mx.context.num_gpus())] or [mx.cpu()]
count = mx.context.num_gpus()
if count:
    third = mx.gpu(0)
else:
    third = mx.cpu(0)
if first == mx.gpu(0):
    print("on a GPU")
net = gluon.nn.Dense(2, in_units=2)
net.initialize(ctx=second)
for context in (first, third, try_gpu()):
    nd.ones((2,), ctx=context).wait_to_read()
