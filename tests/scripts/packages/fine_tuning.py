"""As transfer learning does: a network exported, opened at an inner layer as a SymbolBlock, with a new head trained."""

import os
import tempfile

import mxnet as mx
import numpy as np
from common import Seeded, squares
from mxnet import autograd, gluon
from mxnet.gluon import nn

images, labels, _ = squares(24, 12, seed=15)
x = mx.nd.array(images.transpose(0, 3, 1, 2) / 255.0)
y = mx.nd.array(labels % 3)
base = nn.HybridSequential(prefix="base_")
with base.name_scope():
    base.add(
        nn.Conv2D(4, 3, in_channels=1, activation="relu"),
        nn.BatchNorm(in_channels=4),
        nn.MaxPool2D(),
        nn.Flatten(),
        nn.Dense(10, in_units=100, activation="tanh"),
        nn.Dense(9, in_units=10),
    )
base.initialize(Seeded(0.3))
base.hybridize()
base(x)
with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, "base")
    base.export(prefix, epoch=3)
    files = sorted(os.listdir(folder))
    whole = gluon.SymbolBlock.imports(prefix + "-symbol.json", ["data"], prefix + "-0003.params")
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 3)
    inner = [name for name in symbol.get_internals().list_outputs() if name.endswith("tanh_fwd_output")]
    features = gluon.SymbolBlock(symbol.get_internals()[inner[-1]], mx.sym.var("data"))
    features.collect_params().load(prefix + "-0003.params", ignore_extra=True)


class Tuned(gluon.HybridBlock):
    def __init__(self, features, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = features
            self.head = nn.Dense(3, in_units=10, prefix="head_")

    def hybrid_forward(self, F, x):
        return self.head(self.features(x))


net = Tuned(features, prefix="tuned_")
net.head.initialize(Seeded(0.3))
features.collect_params(".*conv.*").setattr("grad_req", "null")
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
losses = []
before = {name: value.data().copy() for name, value in features.collect_params().items()}
for _ in range(5):
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
    loss.backward()
    trainer.step(len(x))
    losses.append(loss.mean().asscalar())
moved = {
    name: float((value.data() - before[name]).abs().max().asscalar()) > 0
    for name, value in features.collect_params().items()
}
module = mx.mod.Module(symbol, data_names=["data"], label_names=None)
module.bind([("data", x.shape)], for_training=False)
module.set_params(arguments, states)
module.forward(mx.io.DataBatch([x]), is_train=False)
found = {
    "files": files,
    "inner": inner,
    "same": float(np.abs((whole(x) - base(x)).asnumpy()).max()),
    "module": float(np.abs((module.get_outputs()[0] - base(x)).asnumpy()).max()),
    "losses": losses,
    "moved": [moved[name] for name in sorted(moved)],
    "names": sorted(moved),
    "features": features(x)[0],
    "arguments": symbol.list_arguments(),
    "states": symbol.list_auxiliary_states(),
}
