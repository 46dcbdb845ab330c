"""Ratings as products of what users and items are: embeddings, biases, AdaGrad."""

import mxnet as mx
import numpy as np
from common import Log, Seeded
from mxnet import autograd, gluon, nd

USERS, ITEMS = 500, 300
random = np.random.RandomState(3)
tastes, kinds = random.normal(0, 1, (USERS, 4)), random.normal(0, 1, (ITEMS, 4))
users, items = random.randint(0, USERS, 12800), random.randint(0, ITEMS, 12800)
ratings = (tastes[users] * kinds[items]).sum(1) + random.normal(0, 0.1, 12800)


class Factors(gluon.HybridBlock):
    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.user = gluon.nn.Embedding(USERS, size)
            self.item = gluon.nn.Embedding(ITEMS, size)
            self.user_bias = gluon.nn.Embedding(USERS, 1)
            self.item_bias = gluon.nn.Embedding(ITEMS, 1)

    def hybrid_forward(self, F, user, item):
        product = (self.user(user) * self.item(item)).sum(axis=1)
        return product + self.user_bias(user).reshape((-1,)) + self.item_bias(item).reshape((-1,))


net = Factors(16)
net.initialize(Seeded(0.3))
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "adagrad", {"learning_rate": 0.3})
loss_of = gluon.loss.L2Loss()
error = mx.metric.RMSE()
batches = mx.io.NDArrayIter({"user": users, "item": items}, {"rating": ratings}, batch_size=256)
log = Log()
for batch in batches:
    item, user = batch.data if batches.provide_data[0].name == "item" else batch.data[::-1]
    with autograd.record():
        predicted = net(user, item)
        loss = loss_of(predicted, batch.label[0])
    loss.backward()
    trainer.step(256)
    error.update(batch.label, [predicted])
    if not log.step(loss):
        break
assert np.isfinite(error.get()[1]) and nd.sum(net.user.weight.data()).asscalar() != 0
log.done()
