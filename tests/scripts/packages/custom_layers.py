"""As Faster R-CNN and capsule networks do: operators in Python with parameters and a state, in a Module and called."""

import mxnet as mx
import numpy as np
from common import Seeded
from mxnet import autograd, gluon
from mxnet.gluon import nn


class Focal(mx.operator.CustomOp):
    def __init__(self, gamma):
        super().__init__()
        self.gamma, self.calls = gamma, 0

    def forward(self, is_train, req, in_data, out_data, aux):
        self.calls += 1
        self.assign(out_data[0], req[0], mx.nd.softmax(in_data[0]))
        if is_train:
            aux[0][:] = 0.9 * aux[0] + 0.1 * out_data[0].mean(axis=0)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        labels = in_data[1].asnumpy().astype("int64")
        p = out_data[0].asnumpy()
        picked = p[np.arange(len(labels)), labels][:, np.newaxis]
        direction = p - np.eye(p.shape[1])[labels]
        weight = (1 - picked) ** self.gamma - self.gamma * (1 - picked) ** (self.gamma - 1) * picked * np.log(picked)
        self.assign(in_grad[0], req[0], mx.nd.array(weight * direction / len(labels)))
        self.assign(in_grad[1], req[1], 0)


@mx.operator.register("focal_of_packages")
class FocalProp(mx.operator.CustomOpProp):
    def __init__(self, gamma="2.0"):
        super().__init__(need_top_grad=False)
        self.gamma = float(gamma)

    def list_arguments(self):
        return ["data", "label"]

    def list_outputs(self):
        return ["prob"]

    def list_auxiliary_states(self):
        return ["mean"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]], [[in_shape[0][1]]]

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0]], [in_type[0]]

    def create_operator(self, ctx, shapes, dtypes):
        return Focal(self.gamma)


random = np.random.RandomState(4)
x = random.normal(0, 1, (20, 5)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0).astype("float32")
hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
network = mx.sym.Custom(
    hidden,
    mx.sym.Variable("label"),
    mx.sym.Variable("focal_mean", init=mx.init.Zero()),
    name="focal",
    op_type="focal_of_packages",
    gamma=1.5,
)
module = mx.mod.Module(network, label_names=["label"])
batches = mx.io.NDArrayIter(x, y, batch_size=5, label_name="label")
accuracy = []
module.fit(
    batches,
    num_epoch=3,
    initializer=Seeded(0.3),
    optimizer_params={"learning_rate": 0.5},
    epoch_end_callback=lambda *_: accuracy.append(module.score(batches, "acc")[0][1]),
)


class Straight(autograd.Function):
    """Rounds, and lets the gradient through."""

    def forward(self, x):
        return mx.nd.round(x * 4) / 4

    def backward(self, dy):
        return dy


net = nn.Dense(2, in_units=5, prefix="straight_")
net.initialize(Seeded(0.3))
trainer, losses = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2}), []
for _ in range(4):
    with autograd.record():
        loss = gluon.loss.SoftmaxCrossEntropyLoss()(Straight()(net(mx.nd.array(x))), mx.nd.array(y))
    loss.backward()
    trainer.step(len(x))
    losses.append(loss.mean().asscalar())
arguments, states = module.get_params()
found = {
    "accuracy": accuracy,
    "weight": arguments["fc_weight"],
    "states": sorted(states),
    "mean": states["focal_mean"],
    "outputs": network.list_outputs(),
    "arguments": network.list_arguments(),
    "straight": losses,
    "called": mx.nd.Custom(mx.nd.array(x[:2]), mx.nd.array(y[:2]), mx.nd.zeros(5), op_type="focal_of_packages"),
}
