"""As tutorials begin: stars from gluon and its parts, then a network of what they gave."""

from common import Seeded
from mxnet import *
from mxnet.gluon import *
from mxnet.gluon.loss import *
from mxnet.gluon.nn import *
from numpy.random import RandomState

net = HybridSequential(prefix="star_")
with net.name_scope():
    net.add(Dense(8, activation="tanh", in_units=4), LayerNorm(in_channels=8), Dense(3, in_units=8))
net.initialize(Seeded(0.4), ctx=context.cpu())
net.hybridize()
random = RandomState(2)
x, y = nd.array(random.normal(0, 1, (12, 4))), nd.array(random.randint(0, 3, 12))
criterion, losses = SoftmaxCrossEntropyLoss(), []
trainer = Trainer(net.collect_params(), optimizer.Adam(learning_rate=0.02))
right = metric.Accuracy()
batches = data.DataLoader(data.ArrayDataset(x, y), batch_size=5, last_batch="keep")
for _ in range(3):
    for features, labels in batches:
        with autograd.record():
            out = net(features)
            loss = criterion(out, labels)
        loss.backward()
        trainer.step(len(labels))
        losses.append(loss.mean().asscalar())
        right.update([labels], [out])
found = {
    "losses": losses,
    "accuracy": right.get()[1],
    "norms": [p.data().norm().asscalar() for p in net.collect_params().values()],
    "names": list(net.collect_params()),
    "scalars": utils.split_data(x, 3)[1],
    "clipped": float(utils.clip_global_norm([nd.ones((2, 2)) * 3], 1.0)),
    "blocks": [each.__name__ for each in (Block, HybridBlock, SymbolBlock, Parameter, ParameterDict, Constant)],
}
