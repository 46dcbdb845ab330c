"""As Apache's bucketing examples do: mx.rnn's sentences, cells and checkpoints with a BucketingModule, perplexity."""

import os
import random
import tempfile

import mxnet as mx
import numpy as np
from common import Seeded

HIDDEN, EMBED, BATCH, BUCKETS = 8, 6, 4, [4, 6, 9]

draw = np.random.RandomState(8)
text = [list(("abcdefghi" * 3)[start : start + length]) for start, length in draw.randint((0, 2), (9, 10), (70, 2))]
train, vocabulary = mx.rnn.encode_sentences(text[:50], start_label=1, invalid_label=0)
test, _ = mx.rnn.encode_sentences(text[50:], vocab=vocabulary)
words = len(vocabulary)


def stack_of(kind):
    """Two layers, fused or not."""
    if kind == "fused":
        return mx.rnn.FusedRNNCell(HIDDEN, num_layers=2, mode="lstm", prefix="lstm_")
    stack = mx.rnn.SequentialRNNCell()
    for layer in range(2):
        stack.add(mx.rnn.LSTMCell(HIDDEN, prefix=f"lstm_l{layer}_"))
    return stack


def network_of(kind, stack):
    """A network for each length."""
    layout = "TNC" if kind == "fused" else "NTC"

    def network(length):
        embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=words, output_dim=EMBED, name="embed")
        stack.reset()
        outputs, _ = stack.unroll(length, inputs=embed, layout=layout, merge_outputs=True)
        pred = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, HIDDEN)), num_hidden=words, name="pred")
        label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
        loss = mx.sym.SoftmaxOutput(pred, label, name="softmax", use_ignore=True, ignore_label=0)
        return loss, ("data",), ("softmax_label",)

    return network


def fitted(kind, folder):
    """Trains, and returns what was found on the way."""
    random.seed(5)
    np.random.seed(5)
    layout = "TN" if kind == "fused" else "NT"
    batches, held_out = (
        mx.rnn.BucketSentenceIter(each, BATCH, buckets=BUCKETS, invalid_label=0, layout=layout)
        for each in (train, test)
    )
    stack, where = stack_of(kind), os.path.join(folder, kind)
    model = mx.mod.BucketingModule(
        network_of(kind, stack), default_bucket_key=batches.default_bucket_key, context=mx.cpu()
    )
    perplexities = []
    model.fit(
        batches,
        eval_data=held_out,
        eval_metric=mx.metric.Perplexity(0),
        num_epoch=3,
        optimizer="sgd",
        initializer=Seeded(0.3),
        optimizer_params={"learning_rate": 0.2, "momentum": 0.9, "wd": 1e-5, "rescale_grad": 1.0 / BATCH},
        eval_end_callback=lambda at: perplexities.append(at.eval_metric.get()[1]),
        epoch_end_callback=mx.rnn.do_rnn_checkpoint(stack, where, 2),
    )
    _, arguments, _ = mx.rnn.load_rnn_checkpoint(stack, where, 2)
    return {
        "perplexities": perplexities,
        "score": model.score(held_out, mx.metric.Perplexity(0))[0][1],
        "buckets": sorted(model._buckets),
        "names": sorted(arguments),
        "shapes": [arguments[name].shape for name in sorted(arguments)],
        "files": sorted(os.listdir(folder)),
        "gate": stack.unpack_weights(arguments)["lstm_l1_h2h_o_weight"],
    }


found = {"words": list(vocabulary), "numbers": list(vocabulary.values()), "first": train[0]}
for how in ("fused", "loose"):
    with tempfile.TemporaryDirectory() as path:
        found.update({f"{how}: {what}": value for what, value in fitted(how, path).items()})
