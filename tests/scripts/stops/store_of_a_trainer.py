"""A Trainer's store, which it makes at its first step."""

from mxnet import autograd, gluon, nd

net = gluon.nn.Dense(1, in_units=2)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore="dist_async")  # told
with autograd.record():
    loss = net(nd.ones((1, 2)))
loss.backward()
trainer.step(1)  # raised
