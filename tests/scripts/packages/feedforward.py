"""As the first programs for MXNet: mx.model.FeedForward, a checkpoint, a metric and an initialiser of one's own."""

import os
import tempfile

import mxnet as mx
import numpy as np
from common import Seeded, blobs

x, y = blobs(120, 6, 3, seed=9)
net = mx.symbol.Variable("data")
net = mx.symbol.FullyConnected(data=net, name="fc1", num_hidden=16)
net = mx.symbol.Activation(data=net, name="relu1", act_type="relu")
net = mx.symbol.FullyConnected(data=net, name="fc2", num_hidden=3)
net = mx.symbol.SoftmaxOutput(data=net, name="softmax")


def wrong(label, pred):
    return float((pred.argmax(axis=1) != label).mean())


seen = []
model = mx.model.FeedForward(
    ctx=mx.cpu(),
    symbol=net,
    num_epoch=4,
    learning_rate=0.1,
    momentum=0.9,
    wd=0.0001,
    initializer=Seeded(0.3),
    numpy_batch_size=20,
)
model.fit(
    X=mx.io.NDArrayIter(x[:100], y[:100], batch_size=20),
    eval_data=mx.io.NDArrayIter(x[100:], y[100:], batch_size=20),
    eval_metric=mx.metric.np(wrong),
    batch_end_callback=lambda at: seen.append(at.eval_metric.get()[1]),
)
with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, "model")
    model.save(prefix)
    saved = sorted(os.listdir(folder))
    loaded = mx.model.FeedForward.load(prefix, 4, ctx=mx.cpu())
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 4)
outputs = loaded.predict(mx.io.NDArrayIter(x[100:], batch_size=20))
found = {
    "seen": seen,
    "saved": saved,
    "score": model.score(mx.io.NDArrayIter(x[100:], y[100:], batch_size=20)),
    "predicted": outputs[:4].tolist(),
    "same": float(np.abs(outputs - model.predict(mx.io.NDArrayIter(x[100:], batch_size=20))).max()),
    "weights": arguments["fc2_weight"][0],
    "states": states,
    "symbol": symbol.list_arguments(),
    "epoch": loaded.begin_epoch,
}
