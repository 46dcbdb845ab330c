"""A transformer that copies sequences: multi-head attention of a HybridBlock's own, layer normalisation, warm-up."""

import math

import mxnet as mx
import numpy as np
from common import Log, Seeded
from mxnet import autograd, gluon
from mxnet.gluon import nn

WORDS, LENGTH, BATCH, UNITS, HEADS = 30, 24, 16, 64, 4


class SelfAttention(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.qkv = nn.Dense(3 * UNITS, flatten=False, in_units=UNITS)
            self.out = nn.Dense(UNITS, flatten=False, in_units=UNITS)

    def hybrid_forward(self, F, x):
        parts = F.split(self.qkv(x), num_outputs=3, axis=-1)
        q, k, v = [
            F.transpose(p.reshape((0, 0, HEADS, -1)), (0, 2, 1, 3)).reshape((-1, 0, 0), reverse=True) for p in parts
        ]
        scores = F.batch_dot(q, k, transpose_b=True) / math.sqrt(UNITS // HEADS)
        mixed = F.batch_dot(F.softmax(scores, axis=-1), v)
        mixed = F.transpose(mixed.reshape((-4, -1, HEADS, 0, 0)), (0, 2, 1, 3)).reshape((0, 0, -1))
        return self.out(mixed)


class Layer(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.attention = SelfAttention()
            self.norm1, self.norm2 = nn.LayerNorm(), nn.LayerNorm()
            self.wide = nn.Dense(4 * UNITS, flatten=False, activation="relu")
            self.narrow = nn.Dense(UNITS, flatten=False)

    def hybrid_forward(self, F, x):
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.narrow(self.wide(x)))


class Transformer(gluon.HybridBlock):
    def __init__(self, layers, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(WORDS, UNITS)
            self.position = self.params.get("position", shape=(1, LENGTH, UNITS))
            self.layers = nn.HybridSequential()
            for _ in range(layers):
                self.layers.add(Layer())
            self.decoder = nn.Dense(WORDS, flatten=False)

    def hybrid_forward(self, F, x, position):
        return self.decoder(self.layers(F.broadcast_add(self.embedding(x) * math.sqrt(UNITS), position)))


random = np.random.RandomState(17)
net = Transformer(2)
net.initialize(Seeded(0.08))
net.hybridize()
schedule = mx.lr_scheduler.CosineScheduler(60, base_lr=0.002, warmup_steps=10)
trainer = gluon.Trainer(net.collect_params(), mx.optimizer.Adam(lr_scheduler=schedule, beta2=0.98))
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
log = Log()
going = True
while going:
    words = mx.nd.array(random.randint(0, WORDS, (BATCH, LENGTH)))
    with autograd.record():
        loss = loss_of(net(words), mx.nd.reverse(words, axis=1))
    loss.backward()
    trainer.step(BATCH)
    going = log.step(loss)
log.done()
