"""As gluonnlp's BERT does: attention over sequences of several lengths, masked in three ways, hybridized, trained."""

import mxnet as mx
import numpy as np
from common import Seeded
from mxnet import autograd, gluon
from mxnet.gluon import nn

BATCH, LENGTH, UNITS, HEADS = 3, 6, 8, 2


class SelfAttention(gluon.HybridBlock):
    def __init__(self, units, heads, **kwargs):
        super().__init__(**kwargs)
        self._heads, self._scale = heads, (units // heads) ** -0.5
        with self.name_scope():
            self.qkv = nn.Dense(3 * units, flatten=False, in_units=units, prefix="qkv_")
            self.out = nn.Dense(units, flatten=False, in_units=units, prefix="out_")

    def _split(self, F, x):
        x = F.reshape(x, shape=(0, 0, self._heads, -1))
        return F.reshape(F.transpose(x, axes=(0, 2, 1, 3)), shape=(-1, 0, 0), reverse=True)

    def hybrid_forward(self, F, x, valid_length):
        query, key, value = (self._split(F, each) for each in F.split(self.qkv(x), num_outputs=3, axis=-1))
        scores = F.batch_dot(query * self._scale, key, transpose_b=True)
        lengths = F.broadcast_like(
            F.expand_dims(valid_length, axis=1), F.slice_axis(x, axis=-1, begin=0, end=1), lhs_axes=(1,), rhs_axes=(1,)
        )
        lengths = F.repeat(lengths, repeats=self._heads, axis=0).astype("int32")
        weights = F.softmax(scores, lengths, use_length=True, axis=-1)
        context = F.reshape(F.batch_dot(weights, value), shape=(-1, self._heads, 0, 0), reverse=True)
        context = F.reshape(F.transpose(context, axes=(0, 2, 1, 3)), shape=(0, 0, -1))
        masked = F.SequenceMask(self.out(context), valid_length, use_sequence_length=True, axis=1)
        return masked, F.reshape(weights, shape=(-1, self._heads, 0, 0), reverse=True)


def mask_of(lengths):
    steps = mx.nd.arange(LENGTH)
    return mx.nd.broadcast_lesser(steps.reshape((1, -1)), lengths.reshape((-1, 1)))


random = np.random.RandomState(3)
x = mx.nd.array(random.normal(0, 1, (BATCH, LENGTH, UNITS)))
lengths = mx.nd.array([6, 2, 4])
losses, weights = {}, {}
for hybridized in (False, True):
    net = SelfAttention(UNITS, HEADS, prefix="attention_")
    net.initialize(Seeded(0.3))
    if hybridized:
        net.hybridize(static_alloc=True)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    found_losses = []
    for _ in range(6):
        with autograd.record():
            out, weights[hybridized] = net(x, lengths)
            loss = (gluon.loss.L2Loss()(out, mx.nd.flip(x, axis=1), mask_of(lengths).expand_dims(2))).mean()
        loss.backward()
        trainer.step(1)
        found_losses.append(loss.asscalar())
    losses[str(hybridized)] = found_losses
found = {
    "losses": losses["False"],
    "losses hybridized": losses["True"],
    "weights": weights[True][1],
    "outside is zero": out[1, 2:].abs().sum().asscalar(),
    "mask": mask_of(lengths),
    "last": mx.nd.SequenceLast(x.transpose((1, 0, 2)), lengths, use_sequence_length=True),
}
