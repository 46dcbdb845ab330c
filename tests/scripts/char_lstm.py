"""A language model of characters: an LSTM of two layers whose hidden state is carried over from batch to batch."""

import mxnet as mx
import numpy as np
from common import Log, Seeded
from mxnet import autograd, gluon
from mxnet.gluon import nn, rnn

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the small red house by the sea " * 120
letters = sorted(set(TEXT))
corpus = np.array([letters.index(each) for each in TEXT], "float32")
BATCH, LENGTH = 16, 32


class Model(gluon.Block):
    def __init__(self, vocabulary, hidden, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(vocabulary, 64)
            self.lstm = rnn.LSTM(hidden, 2, input_size=64)
            self.decoder = nn.Dense(vocabulary, flatten=False)

    def forward(self, inputs, state):
        output, state = self.lstm(self.embedding(inputs), state)
        return self.decoder(output), state


columns = len(corpus) // BATCH
stream = mx.nd.array(corpus[: columns * BATCH].reshape(BATCH, columns).T)
model = Model(len(letters), 128)
model.initialize(Seeded(0.1))
trainer = gluon.Trainer(model.collect_params(), "adam", {"learning_rate": 0.003})
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
state = model.lstm.begin_state(batch_size=BATCH)
log = Log()
going, at = True, 0
while going:
    if at + LENGTH + 1 >= stream.shape[0]:
        at = 0
    x, y = stream[at : at + LENGTH], stream[at + 1 : at + LENGTH + 1]
    state = [each.detach() for each in state]
    with autograd.record():
        out, state = model(x, state)
        loss = loss_of(out.reshape((-1, len(letters))), y.reshape((-1,)))
    loss.backward()
    gluon.utils.clip_global_norm([p.grad() for p in model.collect_params().values()], 5.0 * LENGTH * BATCH)
    trainer.step(BATCH * LENGTH)
    at += LENGTH
    going = log.step(loss)
log.done()
