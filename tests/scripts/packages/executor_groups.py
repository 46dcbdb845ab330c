"""As mx-rcnn and old trainers do: batches split by mx.executor_manager, an executor for each part, gradients added."""

import mxnet as mx
from common import Seeded, blobs
from mxnet.executor_manager import _check_arguments, _load_general, _split_input_slice

DEVICES, BATCH = 3, 12


def load(batch, targets):
    _load_general(batch, targets)


x, y = blobs(36, 5, 2, seed=10)
hidden = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=6, name="fc1")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.tanh(hidden), num_hidden=2, name="fc2"), name="softmax")
_check_arguments(net)
slices = _split_input_slice(BATCH, [2] + [1] * (DEVICES - 1))
shapes = net.infer_shape(data=(1, 5))[0]
parameters = {
    name: mx.nd.zeros(shape)
    for name, shape in zip(net.list_arguments(), shapes)
    if name not in ("data", "softmax_label")
}
for name, value in parameters.items():
    Seeded(0.4)(mx.init.InitDesc(name), value)
executors = []
for part in slices:
    size = part.stop - part.start
    executors.append(net.simple_bind(mx.cpu(), grad_req="write", data=(size, 5), softmax_label=(size,)))
updater = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=0.3, rescale_grad=1.0 / BATCH))
metric, accuracy = mx.metric.create(["acc", "ce"]), []
batches = mx.io.NDArrayIter(x, y, BATCH)
for _ in range(3):
    batches.reset()
    metric.reset()
    for batch in batches:
        for each in executors:
            each.copy_params_from(parameters)
        load(batch.data, [[(part, each.arg_dict["data"]) for part, each in zip(slices, executors)]])
        load(batch.label, [[(part, each.arg_dict["softmax_label"]) for part, each in zip(slices, executors)]])
        for part, each in zip(slices, executors):
            each.forward(is_train=True)
            each.backward()
            metric.update([batch.label[0][part]], each.outputs)
        for index, name in enumerate(sorted(parameters)):
            updater(index, mx.nd.add_n(*[each.grad_dict[name] for each in executors]), parameters[name])
    accuracy.append([value for _, value in metric.get_name_value()])
problems = []
twice = mx.sym.Variable("w")
for bad in (
    lambda: _split_input_slice(2, [1, 1, 1]),
    lambda: _check_arguments(mx.sym.FullyConnected(twice, mx.sym.Variable("w"), num_hidden=2, name="fc")),
):
    try:
        bad()
        problems.append(None)
    except ValueError:
        problems.append("ValueError")
found = {
    "slices": [[each.start, each.stop] for each in slices],
    "accuracy": accuracy,
    "weights": [parameters[name] for name in sorted(parameters)],
    "problems": problems,
    "outputs": mx.nd.concat(*[each.outputs[0] for each in executors], dim=0)[:, 0],
}
