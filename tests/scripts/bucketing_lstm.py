"""A language model of words in buckets: LSTM cells of mx.rnn, a BucketingModule, the perplexity of each batch."""

import itertools
import random

import mxnet as mx
import numpy as np
from common import Log, Seeded

TEXT = "the quick brown fox jumps over the lazy dog and runs away from the small red house by the sea".split()
BATCH, HIDDEN = 16, 64

draw = np.random.RandomState(4)
starts = draw.randint(0, len(TEXT), 1200)
sentences = [
    list(itertools.islice(itertools.cycle(TEXT), int(start), int(start + draw.randint(3, 20)))) for start in starts
]
numbers, vocabulary = mx.rnn.encode_sentences(sentences, start_label=1, invalid_label=0)
random.seed(1)
np.random.seed(1)
batches = mx.rnn.BucketSentenceIter(numbers, BATCH, buckets=[5, 10, 15, 20], invalid_label=0)
stack = mx.rnn.SequentialRNNCell()
for layer in range(2):
    stack.add(mx.rnn.LSTMCell(HIDDEN, prefix=f"lstm_l{layer}_"))


def network(length):
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=len(vocabulary), output_dim=HIDDEN, name="embed")
    outputs, _ = stack.unroll(length, inputs=embed, merge_outputs=True)
    pred = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, HIDDEN)), num_hidden=len(vocabulary), name="pred")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(pred, label, name="softmax", use_ignore=True), ("data",), ("softmax_label",)


class Done(Exception):
    """The steps are done."""


def noted(at):
    going = log.step(at.eval_metric.get()[1])
    at.eval_metric.reset()
    if not going:
        raise Done


log = Log()
model = mx.mod.BucketingModule(network, default_bucket_key=batches.default_bucket_key, context=mx.cpu())
try:
    model.fit(
        batches,
        eval_metric=mx.metric.Perplexity(0),
        num_epoch=5,
        optimizer="adam",
        initializer=Seeded(0.1),
        optimizer_params={"learning_rate": 0.005, "rescale_grad": 1.0 / BATCH},
        batch_end_callback=noted,
    )
except Done:
    log.done()
