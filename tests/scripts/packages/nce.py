"""As the word vectors of MXNet's examples: a Module whose loss compares a word with drawn ones (NCE)."""

import mxnet as mx
import numpy as np
from common import Seeded

WORDS, SIZE, LABELS, BATCH = 30, 8, 6, 16


def nce_loss(data, label, label_weight, embed_weight):
    label_embed = mx.sym.Embedding(
        data=label, input_dim=WORDS, weight=embed_weight, output_dim=SIZE, name="label_embed"
    )
    data = mx.sym.Reshape(data=data, shape=(-1, 1, SIZE))
    pred = mx.sym.sum(data=mx.sym.broadcast_mul(data, label_embed), axis=2)
    return mx.sym.LogisticRegressionOutput(data=pred, label=label_weight, name="nce")


class Words(mx.io.DataIter):
    """Pairs of neighbours on a ring, each with drawn words."""

    def __init__(self, batches):
        super().__init__()
        self.batch_size, self.batches, self.at = BATCH, batches, 0
        self.provide_data = [("data", (BATCH, 2)), ("label", (BATCH, LABELS))]
        self.provide_label = [("label_weight", (BATCH, LABELS))]
        self.random = np.random.RandomState(1)

    def __iter__(self):
        for _ in range(self.batches):
            centre = self.random.randint(0, WORDS, BATCH)
            around = np.stack([centre - 1, centre + 1], axis=1) % WORDS
            drawn = self.random.randint(0, WORDS, (BATCH, LABELS))
            drawn[:, 0] = centre
            weight = np.zeros((BATCH, LABELS))
            weight[:, 0] = 1
            yield mx.io.DataBatch([mx.nd.array(around), mx.nd.array(drawn)], [mx.nd.array(weight)])

    def reset(self):
        pass


class NceAuc(mx.metric.EvalMetric):
    def __init__(self):
        super().__init__("nce-auc")

    def update(self, labels, preds):
        pred = preds[0].asnumpy()
        self.sum_metric += float((pred[:, :1] > pred[:, 1:]).mean())
        self.num_inst += 1


embed = mx.sym.Variable("embed_weight")
near = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=WORDS, weight=embed, output_dim=SIZE, name="data_embed")
network = nce_loss(mx.sym.mean(near, axis=1), mx.sym.Variable("label"), mx.sym.Variable("label_weight"), embed)
module = mx.mod.Module(network, data_names=["data", "label"], label_names=["label_weight"])
metric, seen = NceAuc(), []
module.fit(
    Words(12),
    num_epoch=3,
    optimizer="sgd",
    optimizer_params={"learning_rate": 0.3, "momentum": 0.9, "wd": 1e-4},
    initializer=Seeded(0.3),
    eval_metric=metric,
    batch_end_callback=lambda at: seen.append(at.eval_metric.get()[1]),
)
found = {
    "metric": seen[::6],
    "embedding": module.get_params()[0]["embed_weight"],
    "arguments": network.list_arguments(),
    "shapes": [list(each) for each in network.infer_shape(data=(4, 2), label=(4, LABELS))[0]],
}
