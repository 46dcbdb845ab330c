"""LeNet on made-up images, read and transformed by two worker processes."""

import mxnet as mx
import numpy as np
from common import Log, Seeded, squares
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data.vision import transforms

np.random.seed(1)
images, labels, _ = squares(3200, 28)
wrong = np.random.uniform(size=len(labels)) < 0.1  # so that the loss stays far from 0, where all numbers are subnormal
labels[wrong] = np.random.randint(0, 9, wrong.sum())
transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.3, 0.3)])
dataset = gluon.data.ArrayDataset(mx.nd.array(images, dtype="uint8"), labels).transform_first(transform)
data = gluon.data.DataLoader(dataset, batch_size=64, shuffle=True, num_workers=2)

net = nn.HybridSequential(prefix="lenet_")
with net.name_scope():
    net.add(nn.Conv2D(20, kernel_size=5, activation="relu"), nn.MaxPool2D(2, 2))
    net.add(nn.Conv2D(50, kernel_size=5, activation="relu"), nn.MaxPool2D(2, 2))
    net.add(nn.Flatten(), nn.Dense(500, activation="relu"), nn.Dense(9))
net.initialize(Seeded(0.05), ctx=mx.cpu())
net.hybridize(static_alloc=True)

loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.005, "momentum": 0.9})
log = Log()
for x, y in data:
    x, y = x.as_in_context(mx.cpu()), y.as_in_context(mx.cpu())
    with autograd.record():
        loss = loss_of(net(x), y)
    loss.backward()
    trainer.step(len(x))
    if not log.step(loss):
        break
log.done()
