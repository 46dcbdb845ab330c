"""As language models do: sentences in buckets, cells unrolled as symbols, a BucketingModule, perplexity."""

import mxnet as mx
import numpy as np
from common import Seeded
from mxnet.gluon import rnn

WORDS, HIDDEN, BATCH = 10, 8, 4


class Sentences(mx.io.DataIter):
    def __init__(self, sentences, buckets):
        super().__init__()
        self.batch_size, self.buckets = BATCH, sorted(buckets)
        self.default_bucket_key = max(buckets)
        self.rows = {size: [] for size in buckets}
        for sentence in sentences:
            size = min(each for each in self.buckets if each >= len(sentence))
            self.rows[size].append(np.pad(sentence, (0, size - len(sentence)), "constant"))
        self.provide_data = [mx.io.DataDesc("data", (BATCH, self.default_bucket_key), layout="NT")]
        self.provide_label = [mx.io.DataDesc("softmax_label", (BATCH, self.default_bucket_key), layout="NT")]
        self.reset()

    def reset(self):
        self.left = [(size, at) for size in self.buckets for at in range(0, len(self.rows[size]) - BATCH + 1, BATCH)]

    def next(self):
        if not self.left:
            raise StopIteration
        size, at = self.left.pop(0)
        x = np.array(self.rows[size][at : at + BATCH])
        label = np.zeros_like(x)
        label[:, :-1] = x[:, 1:]
        return mx.io.DataBatch(
            [mx.nd.array(x)],
            [mx.nd.array(label)],
            pad=0,
            bucket_key=size,
            provide_data=[mx.io.DataDesc("data", x.shape, layout="NT")],
            provide_label=[mx.io.DataDesc("softmax_label", label.shape, layout="NT")],
        )


stack = rnn.HybridSequentialRNNCell(prefix="")
for layer in range(2):
    stack.add(rnn.LSTMCell(HIDDEN, input_size=HIDDEN, prefix=f"lstm_l{layer}_"))


def network(length):
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=WORDS, output_dim=HIDDEN, name="embed")
    stack.reset()
    states = [mx.sym.zeros((BATCH, HIDDEN)) for _ in range(4)]
    outputs, _ = stack.unroll(length, inputs=embed, begin_state=states, layout="NTC", merge_outputs=True)
    pred = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, HIDDEN)), num_hidden=WORDS, name="pred")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    loss = mx.sym.SoftmaxOutput(pred, label, name="softmax", use_ignore=True, ignore_label=0)
    return loss, ("data",), ("softmax_label",)


random = np.random.RandomState(8)
sentences = [(random.randint(1, 9) + np.arange(random.randint(3, 9))) % 9 + 1 for _ in range(60)]
batches = Sentences(sentences, [4, 6, 8])
model = mx.mod.BucketingModule(network, default_bucket_key=batches.default_bucket_key, context=mx.cpu())
perplexities = []
model.fit(
    batches,
    eval_metric=mx.metric.Perplexity(0),
    num_epoch=3,
    optimizer="sgd",
    initializer=Seeded(0.3),
    optimizer_params={"learning_rate": 0.2, "momentum": 0.9, "wd": 1e-5, "rescale_grad": 1.0 / BATCH},
    batch_end_callback=lambda at: perplexities.append(at.eval_metric.get()[1]),
)
arguments, _ = model.get_params()
found = {
    "perplexities": perplexities[::4],
    "score": model.score(batches, mx.metric.Perplexity(0))[0][1],
    "names": sorted(arguments),
    "gate": arguments["lstm_l0_i2h_weight"][HIDDEN],
    "buckets": sorted(model._buckets),
}
