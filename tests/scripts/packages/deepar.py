"""As DeepAR does: an LSTM unrolled over a series, the likelihood of a Student's t or a normal, then a forecast."""

import math

import mxnet as mx
import numpy as np
from common import Seeded
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

HISTORY, AHEAD, CELLS = 12, 4, 10


class Normal:
    def __init__(self, mu, sigma, F):
        self.mu, self.sigma, self.F = mu, sigma, F

    def loss(self, x):
        F = self.F
        z = F.broadcast_div(F.broadcast_minus(x, self.mu), self.sigma)
        return 0.5 * z**2 + F.log(self.sigma) + 0.5 * math.log(2 * math.pi)


class StudentT(Normal):
    def loss(self, x):
        F, nu = self.F, 4.0
        z = F.broadcast_div(F.broadcast_minus(x, self.mu), self.sigma)
        part = F.gammaln(F.ones_like(z) * (nu + 1) / 2) - F.gammaln(F.ones_like(z) * nu / 2)
        return (nu + 1) / 2 * F.log1p(z**2 / nu) + F.log(self.sigma) + 0.5 * math.log(math.pi * nu) - part


class DeepAR(gluon.HybridBlock):
    def __init__(self, distribution, **kwargs):
        super().__init__(**kwargs)
        self.distribution = distribution
        with self.name_scope():
            self.rnn = rnn.HybridSequentialRNNCell(prefix="rnn_")
            for layer in range(2):
                cell = rnn.LSTMCell(CELLS, input_size=4 if layer == 0 else CELLS, prefix=f"l{layer}_")
                self.rnn.add(rnn.ResidualCell(cell) if layer else cell)
                self.rnn.add(rnn.ZoneoutCell(rnn.RNNCell(CELLS, input_size=CELLS, prefix=f"zone{layer}_")))
            self.embedding = nn.Embedding(3, 2, prefix="kind_")
            self.args = nn.Dense(2, flatten=False, in_units=CELLS, prefix="args_")

    def hybrid_forward(self, F, past, kinds, age):
        scale = F.mean(F.abs(past), axis=1, keepdims=True) + 1e-3
        series = F.expand_dims(F.broadcast_div(past, scale), axis=2)
        repeated = F.repeat(F.expand_dims(self.embedding(kinds), axis=1), repeats=HISTORY, axis=1)
        inputs = F.concat(
            F.slice_axis(series, axis=1, begin=0, end=-1),
            F.expand_dims(age, axis=2).slice_axis(axis=1, begin=0, end=-1),
            F.slice_axis(repeated, axis=1, begin=0, end=-1),
            dim=2,
        )
        outputs, states = self.rnn.unroll(HISTORY - 1, inputs, layout="NTC", merge_outputs=True)
        mu, sigma = F.split(self.args(outputs), num_outputs=2, axis=2, squeeze_axis=True)
        distribution = self.distribution(mu, F.Activation(sigma, act_type="softrelu") + 1e-3, F)
        return distribution.loss(F.squeeze(F.slice_axis(series, axis=1, begin=1, end=None), axis=2)), mu, scale


random = np.random.RandomState(6)
starts = random.uniform(0, 6, (6, 1))
series = mx.nd.array(3 + np.sin(starts + np.arange(HISTORY) * 0.7) + random.normal(0, 0.1, (6, HISTORY)))
kinds, age = mx.nd.array([0, 1, 2, 0, 1, 2]), mx.nd.log1p(mx.nd.tile(mx.nd.arange(HISTORY), (6, 1)))
found = {}
for distribution in (Normal, StudentT):
    net = DeepAR(distribution, prefix="deepar_")
    net.initialize(Seeded(0.2))
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02, "clip_gradient": 10.0, "wd": 1e-8})
    losses = []
    for _ in range(8):
        with autograd.record():
            loss, mu, scale = net(series, kinds, age)
        loss.backward()
        trainer.step(len(series))
        losses.append(loss.mean().asscalar())
    assert np.isfinite(losses).all()
    found[distribution.__name__] = losses
    found[f"forecast of {distribution.__name__}"] = (mu[:, -AHEAD:] * scale)[0]
states = net.rnn.begin_state(batch_size=2, func=mx.nd.zeros)
found["states"] = [list(each.shape) for each in states]
draws = mx.nd.random.normal(mx.nd.array([0.0, 10.0]), mx.nd.array([1.0, 0.1]), shape=5)
found["drawn"] = [list(draws.shape), bool((draws[1] > 8).asnumpy().all())]
