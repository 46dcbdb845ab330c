"""Reversing sequences: a GRU reads, a GRU cell with attention writes."""

import mxnet as mx
import numpy as np
from common import Log, Seeded
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

WORDS, LENGTH, BATCH, HIDDEN = 20, 8, 32, 64


class Attention(gluon.HybridBlock):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.query = nn.Dense(units, use_bias=False, flatten=False)
            self.score = nn.Dense(1, use_bias=False, flatten=False)

    def hybrid_forward(self, F, hidden, memory):
        scores = self.score(F.tanh(F.broadcast_add(F.expand_dims(self.query(hidden), axis=1), memory)))
        weights = F.softmax(scores, axis=1)
        return F.sum(F.broadcast_mul(weights, memory), axis=1)


class Seq2Seq(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(WORDS + 1, 32)
            self.encoder = rnn.GRU(HIDDEN, layout="NTC", input_size=32)
            self.attention = Attention(HIDDEN)
            self.cell = rnn.GRUCell(HIDDEN, input_size=32 + HIDDEN)
            self.out = nn.Dense(WORDS)

    def forward(self, source, target):
        states = self.encoder.begin_state(source.shape[0])
        memory, states = self.encoder(self.embedding(source), states)
        hidden = [states[0][0]]
        outputs = []
        for t in range(target.shape[1]):
            context = self.attention(hidden[0], memory)
            step = mx.nd.concat(self.embedding(target[:, t]), context, dim=1)
            output, hidden = self.cell(step, hidden)
            outputs.append(self.out(output))
        return mx.nd.stack(*outputs, axis=1)


random = np.random.RandomState(0)
model = Seq2Seq(prefix="seq2seq_")
model.initialize(Seeded(0.1))
trainer = gluon.Trainer(model.collect_params(), "adam", {"learning_rate": 0.005})
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
log = Log()
going = True
while going:
    words = random.randint(0, WORDS, (BATCH, LENGTH)).astype("float32")
    answer = words[:, ::-1].copy()
    shifted = np.concatenate([np.full((BATCH, 1), WORDS, "float32"), answer[:, :-1]], axis=1)
    with autograd.record():
        loss = loss_of(model(mx.nd.array(words), mx.nd.array(shifted)), mx.nd.array(answer))
    loss.backward()
    trainer.step(BATCH)
    going = log.step(loss)
log.done()
