"""Stores that run in one process, and arguments that mean nothing then."""

import mxnet as mx
from mxnet import autograd, gluon, nd

for kind in ("local", "device", "local_allreduce_cpu", "local_allreduce_device"):
    mx.kv.create(kind)
net = gluon.nn.Dense(1, in_units=2)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore="device")
with autograd.record():
    loss = net(nd.ones((1, 2)))
loss.backward()
trainer.step(1)
