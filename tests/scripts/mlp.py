"""A multilayer perceptron on points in classes: DataLoader, hybridize, momentum, accuracy."""

import mxnet as mx
from common import Log, Seeded, blobs
from mxnet import autograd, gluon
from mxnet.gluon import nn

points, classes = blobs(6400, 784, 10)
data = gluon.data.DataLoader(gluon.data.ArrayDataset(points, classes), batch_size=128, last_batch="discard")

net = nn.HybridSequential()
with net.name_scope():
    net.add(nn.Dense(256, activation="relu"), nn.Dense(128, activation="relu"), nn.Dense(10))
net.initialize(Seeded(0.05))
net.hybridize()

loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9, "wd": 1e-4})
accuracy = mx.metric.Accuracy()
log = Log()
for x, y in data:
    with autograd.record():
        out = net(x)
        loss = loss_of(out, y)
    loss.backward()
    trainer.step(x.shape[0])
    accuracy.update([y], [out])
    if not log.step(loss):
        break
assert accuracy.get()[1] > 0.5
log.done()
