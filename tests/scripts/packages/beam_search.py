"""As sockeye and gluonnlp do: a decoder step by step, the best hypotheses kept by topk, states taken along by take."""

import mxnet as mx
import numpy as np
from common import Seeded
from mxnet import gluon
from mxnet.gluon import nn, rnn

WORDS, BEAM, LONGEST, BATCH, HIDDEN, END = 12, 3, 8, 2, 6, 1


class Decoder(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.embedding = nn.Embedding(WORDS, HIDDEN, prefix="words_")
            self.cell = rnn.LSTMCell(HIDDEN, input_size=HIDDEN, prefix="cell_")
            self.out = nn.Dense(WORDS, in_units=HIDDEN, prefix="out_")

    def hybrid_forward(self, F, word, hidden, memory):
        output, states = self.cell(self.embedding(word), [hidden, memory])
        return F.log_softmax(self.out(output), axis=-1), states[0], states[1]


class UpdateScores(gluon.HybridBlock):
    """Ended hypotheses keep their score: they go on with END alone."""

    def hybrid_forward(self, F, scores, totals, ended):
        only_end = F.broadcast_add(F.zeros_like(scores), F.one_hot(F.zeros(1) + END, WORDS) - 1) * 1e30
        scores = F.where(F.broadcast_axis(F.expand_dims(ended, 1), axis=1, size=WORDS), only_end * 0 + only_end, scores)
        return F.broadcast_add(scores, F.expand_dims(totals, 1))


decoder = Decoder(prefix="decoder_")
decoder.initialize(Seeded(1.0))
decoder.hybridize(static_alloc=True, static_shape=True)
update = UpdateScores()
update.hybridize()
rows = BATCH * BEAM
state = [mx.nd.array(np.repeat(np.random.RandomState(7).normal(0, 1, (BATCH, HIDDEN)), BEAM, axis=0)) for _ in range(2)]
words, ended = mx.nd.zeros(rows), mx.nd.zeros(rows)
totals = mx.nd.array(([0.0] + [-1e20] * (BEAM - 1)) * BATCH)
offset = mx.nd.repeat(mx.nd.arange(0, rows, BEAM), repeats=BEAM).astype("int32")
sequences, lengths = mx.nd.zeros((rows, 0 + 1)), mx.nd.zeros(rows)
for _ in range(LONGEST):
    scores, *state = decoder(words, *state)
    scores = update(scores, totals, ended).reshape((BATCH, -1))
    totals, places = mx.nd.topk(scores, k=BEAM, ret_typ="both", axis=1)
    totals, places = totals.reshape(-1), places.reshape(-1).astype("int32")
    beams, words = mx.nd.broadcast_add(places.astype("float32") / WORDS, mx.nd.zeros(1)).floor(), places % WORDS
    parents = beams.astype("int32") + offset
    state = [mx.nd.take(each, parents) for each in state]
    sequences = mx.nd.concat(sequences.take(parents), words.astype("float32").expand_dims(1), dim=1)
    ended = mx.nd.logical_or(ended.take(parents), words.astype("float32") == END)
    lengths = lengths.take(parents) + (1 - ended)
    if ended.min().asscalar() == 1:
        break
penalty = ((5 + lengths) / 6) ** 0.6
order = mx.nd.argsort((totals / penalty).reshape((BATCH, BEAM)), axis=1, is_ascend=False)
found = {
    "sequences": sequences,
    "totals": totals,
    "lengths": lengths,
    "order": order,
    "mask": mx.nd.topk(totals.reshape((BATCH, BEAM)), k=1, ret_typ="mask"),
    "best": mx.nd.pick(totals.reshape((BATCH, BEAM)), order[:, 0]),
    "chosen": [
        sequences[int(i)].asnumpy().astype(int).tolist() for i in (order[:, 0] + mx.nd.array([0, BEAM])).asnumpy()
    ],
}
