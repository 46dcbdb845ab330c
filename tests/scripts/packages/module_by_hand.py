"""As fine-grained users of Module do: forward, backward and update in a loop of one's own; a monitor, a checkpoint."""

import os
import tempfile

import mxnet as mx
from common import Seeded, blobs

x, y = blobs(60, 5, 3, seed=16)
net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
net = mx.sym.Activation(mx.sym.BatchNorm(net, name="bn", fix_gamma=False), act_type="relu", name="relu")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")
batches = mx.io.NDArrayIter({"data": x}, {"softmax_label": y}, batch_size=16, last_batch_handle="pad")
module = mx.mod.Module(net, fixed_param_names=["fc1_bias"])
module.bind(batches.provide_data, batches.provide_label, inputs_need_grad=True)
module.init_params(Seeded(0.3))
module.init_optimizer(kvstore=None, optimizer="nag", optimizer_params=(("learning_rate", 0.1), ("momentum", 0.8)))
metric = mx.metric.CompositeEvalMetric(["acc", mx.metric.TopKAccuracy(2), "ce"])
history = []
for _ in range(3):
    batches.reset()
    metric.reset()
    for batch in batches:
        module.forward(batch, is_train=True)
        module.backward()
        module.update()
        module.update_metric(metric, batch.label)
    history.append(metric.get()[1])
gradient = module.get_input_grads()[0]
seen = []
monitor = mx.mon.Monitor(1, stat_func=lambda a: a.abs().mean(), pattern=".*fc.*output", sort=True)
watched = mx.mod.Module(net)
watched.bind(batches.provide_data, batches.provide_label)
watched.set_params(*module.get_params())
watched.install_monitor(monitor)
monitor.tic()
batches.reset()
watched.forward(batches.next(), is_train=False)
seen = [[name, round(float(value.strip()), 5)] for _, name, value in monitor.toc()]
with tempfile.TemporaryDirectory() as folder:
    prefix = os.path.join(folder, "mod")
    module.save_checkpoint(prefix, 2, save_optimizer_states=True)
    files = sorted(os.listdir(folder))
    loaded = mx.mod.Module.load(prefix, 2, load_optimizer_states=True)
    loaded.bind(batches.provide_data, batches.provide_label)
    loaded.init_optimizer(kvstore=None, optimizer="nag", optimizer_params=(("learning_rate", 0.1), ("momentum", 0.8)))
batches.reset()
loaded.forward_backward(batches.next())
loaded.update()
batches.reset()
predicted = module.predict(batches)
found = {
    "history": history,
    "gradient": gradient[0],
    "monitored": seen,
    "files": files,
    "score": [[name, value] for name, value in module.score(batches, "acc")],
    "predicted": [list(predicted.shape), predicted[:3]],
    "after": loaded.get_params()[0]["fc2_weight"][0],
    "states": module.get_params()[1]["bn_moving_mean"],
    "shapes": [[name, list(shape)] for name, shape in module.output_shapes],
}
