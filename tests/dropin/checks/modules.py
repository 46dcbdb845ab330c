"""mx.mod, mx.model, mx.callback: training with every optimizer, buckets, sequences, checkpoints."""

import logging

from kit import area, array, check, each, expressions, fails, mx, np, numbers

area("mod")
logging.getLogger().setLevel(logging.ERROR)


def network():
    hidden = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc1"), act_type="tanh")
    hidden = mx.sym.BatchNorm(hidden, name="bn", fix_gamma=False)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


class Numbers(mx.init.Initializer):
    """The same parameters in both processes."""

    def _init_weight(self, _, arr):
        arr[:] = mx.nd.array(numbers(*arr.shape, low=-0.4, high=0.4))


def batches(count=24, size=8):
    labels = np.arange(count) % 3
    return mx.io.NDArrayIter(numbers(count, 6) + labels[:, None], labels.astype("float32"), size)


def fitted(context=None, **settings):
    module = mx.mod.Module(network(), context=context or mx.cpu())
    module.fit(batches(), num_epoch=2, initializer=Numbers(), **{"kvstore": None, **settings})
    return module


def answers(module):
    args, aux = module.get_params()
    return dict(sorted(args.items())), aux, module.score(batches(), "acc"), module.predict(batches())


OPTIMIZERS = [("sgd", {}), ("sgd", {"momentum": 0.9, "wd": 0.01}), ("nag", {"momentum": 0.9}), ("adam", {}),
              ("rmsprop", {"gamma1": 0.8}), ("rmsprop", {"centered": True}), ("adagrad", {}), ("adadelta", {}),
              ("ftrl", {}), ("ftml", {}), ("adamax", {}), ("nadam", {}), ("signum", {}), ("dcasgd", {}),
              ("lamb", {}), ("lars", {})]  # fmt: skip


def fit_with(_, name, arguments, store):
    settings = {"learning_rate": 0.05, **arguments}
    if name == "adadelta":
        settings.pop("learning_rate")
    return answers(fitted(optimizer=name, optimizer_params=settings, kvstore=store))


for store in (None, "local"):
    rows = OPTIMIZERS if store is None else OPTIMIZERS[:5]
    each(f"fit, store {store},", [(f"{n} {a}", n, a, store) for n, a in rows], fit_with, rtol=1e-3, atol=1e-3)
each("fit on two devices,", [("sgd", "local"), ("adam", "device")],
     lambda name, store: answers(fitted([mx.cpu(0), mx.cpu(1)], optimizer=name, kvstore=store)),
     rtol=1e-3, atol=1e-3)  # fmt: skip


@check
def monitored_fit():
    seen = []
    monitor = mx.mon.Monitor(1, lambda x: x.sum(), sort=True)
    monitor.toc_print = lambda: seen.append(sorted(name for _, name, _ in monitor.toc()))
    fitted(monitor=monitor)
    return seen


@check
def monitored_backward():
    monitor = mx.mon.Monitor(1, lambda x: mx.nd.norm(x), sort=True)
    net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc1"), "relu", name="act")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=2, name="fc2"), name="softmax")
    module = mx.mod.Module(net)
    module.bind([("data", (2, 4))], [("softmax_label", (2,))], inputs_need_grad=True)
    module.init_params(mx.init.Constant(0.1))
    module.install_monitor(monitor)
    monitor.tic()
    batch = mx.io.DataBatch([mx.nd.arange(8).reshape((2, 4))], [mx.nd.array([0, 1])])
    module.forward_backward(batch)
    seen = monitor.toc()  # 1.9.1 shows what was in memory for the label
    return [(name, name == "softmax_backward_output1" or round(float(value), 3)) for _, name, value in seen]


@check
def callbacks():
    seen = []
    fitted(
        batch_end_callback=[lambda p: seen.append((p.epoch, p.nbatch)), mx.callback.Speedometer(8, 1)],
        epoch_end_callback=[lambda epoch, net, args, aux: seen.append((epoch, sorted(args)))],
        eval_data=batches(),
        eval_end_callback=lambda p: seen.append(p.eval_metric.get()[0]),
    )
    return seen


@check
def a_module_step_by_step():
    module = mx.mod.Module(network(), label_names=["softmax_label"])
    out = [fails(lambda: module.init_params()), module.binded, module.data_names, module.output_names]
    module.bind([("data", (8, 6))], [("softmax_label", (8,))], inputs_need_grad=True)
    out += [module.data_shapes, module.label_shapes, module.output_shapes, fails(lambda: module.forward(None))]
    module.init_params(Numbers())
    module.init_optimizer(kvstore=None, optimizer_params={"learning_rate": 0.1})
    batch = next(batches())
    for _ in range(3):
        module.forward(batch, is_train=True)
        module.backward()
        module.update()
    out += [module.get_outputs(), module.get_input_grads(), module.get_params()[0]["fc1_weight"]]
    metric = mx.metric.Accuracy()
    module.update_metric(metric, batch.label)
    return out, metric.get(), module.get_outputs(merge_multi_context=False)


@check
def other_batch_sizes():
    module = mx.mod.Module(network())
    module.bind([("data", (8, 6))], [("softmax_label", (8,))])
    module.init_params(Numbers())
    module.forward(mx.io.DataBatch([array(5, 6)], [mx.nd.zeros(5)]))
    first = module.get_outputs()[0].shape
    module.reshape([("data", (3, 6))], [("softmax_label", (3,))])
    module.forward(mx.io.DataBatch([array(3, 6)], [mx.nd.zeros(3)]), is_train=False)
    return first, module.get_outputs()


@check
def checkpoints():
    module = fitted()
    module.save_checkpoint("net", 3, save_optimizer_states=True)
    other = mx.mod.Module.load("net", 3, load_optimizer_states=True)
    other.bind([("data", (8, 6))], [("softmax_label", (8,))])
    other.init_params()
    net, args, aux = mx.model.load_checkpoint("net", 3)
    mx.model.save_checkpoint("again", 1, net, args, aux)
    return other.predict(batches()), net.tojson() == network().tojson(), sorted(args), sorted(aux), fails(
        lambda: mx.model.load_checkpoint("none", 1)
    ), fails(lambda: mx.mod.Module.load("net", 9))  # fmt: skip


@check
def states_of_optimizers():
    module = fitted(optimizer="adam")
    module.save_optimizer_states("states")
    other = fitted(optimizer="adam")
    other.load_optimizer_states("states")
    module.fit(batches(), num_epoch=3, begin_epoch=2)
    return answers(module)


@check
def parameters_that_are_given():
    args, aux = fitted().get_params()
    module = mx.mod.Module(network())
    module.bind([("data", (8, 6))], [("softmax_label", (8,))])
    bad = dict(args)
    bad.pop("fc1_bias")
    out = [fails(lambda: module.set_params(bad, aux)), fails(lambda: module.set_params({**args, "no": array(2)}, aux))]
    module.set_params(bad, aux, allow_missing=True)
    module.set_params(args, aux, force_init=True)
    return (
        out,
        module.predict(batches()),
        fails(lambda: module.init_params(arg_params={"fc1_bias": array(9)}, force_init=True)),
    )


@check
def fixed_parameters():
    module = mx.mod.Module(network(), fixed_param_names=["fc1_weight"])
    module.fit(batches(), num_epoch=1, initializer=Numbers(), kvstore=None)
    return module.get_params()[0]["fc1_weight"], module.get_params()[0]["fc2_weight"]


@check
def buckets():
    def make(size):
        net = mx.sym.FullyConnected(mx.sym.mean(mx.sym.var("data"), axis=1, keepdims=True), num_hidden=3, name="fc")
        return mx.sym.SoftmaxOutput(net, name="softmax"), ("data",), ("softmax_label",)

    module, out = mx.mod.BucketingModule(make, default_bucket_key=6), []
    module.bind([("data", (4, 6))], [("softmax_label", (4,))])
    module.init_params(Numbers())
    module.init_optimizer(kvstore=None)
    for size in (6, 3, 5, 3):
        batch = mx.io.DataBatch(
            [array(4, size)], [mx.nd.array([0, 1, 2, 0])], bucket_key=size,
            provide_data=[("data", (4, size))], provide_label=[("softmax_label", (4,))],
        )  # fmt: skip
        module.forward(batch)
        module.backward()
        module.update()
        out.append([one.copy() for one in module.get_outputs()])
    return out, module.get_params()[0]


@check
def sequences():
    first = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc1"), act_type="relu")
    second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc2"), name="softmax")
    module = mx.mod.SequentialModule()
    module.add(mx.mod.Module(first, label_names=[])).add(mx.mod.Module(second), take_labels=True, auto_wiring=True)
    module.fit(batches(), num_epoch=2, initializer=Numbers(), kvstore=None)
    return module.predict(batches()), module.get_params()[0]


@check
def modules_of_python():
    module = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - 1)
    module.bind([("data", (2, 3))], [("softmax_label", (2,))], for_training=True)
    module.forward(mx.io.DataBatch([array(2, 3)], [array(2)]))
    module.backward()
    return module.get_input_grads(), module.get_outputs()


@check
def states():
    data, state = mx.sym.var("data"), mx.sym.var("state")
    net = mx.sym.Group([data + state, mx.sym.BlockGrad(data * 2)])
    module = mx.mod.Module(net, label_names=None, state_names=["state"])
    module.bind([("data", (2, 3))], for_training=False)
    module.init_params()
    module.set_states(value=3)
    module.forward(mx.io.DataBatch([array(2, 3)]))
    return module.get_outputs(), module.get_states()


@check
def feed_forward():
    model = mx.model.FeedForward(network(), num_epoch=2, initializer=Numbers(), learning_rate=0.1)
    model.fit(batches(), kvstore=None)
    model.save("ff", 2)
    again = mx.model.FeedForward.load("ff", 2)
    return model.predict(batches()), again.predict(batches()), model.score(batches())


@check
def predictions():
    module = fitted()
    one = [outputs for outputs, _, _ in module.iter_predict(batches())]
    return (
        one,
        module.predict(batches(20), num_batch=2),
        module.predict(numbers(8, 6)),
        fails(lambda: module.predict(3)),
    )


@check
def wrong_shapes():
    module = mx.mod.Module(network())
    return [
        fails(lambda: module.bind([("data", (8, 6, 2))], [("softmax_label", (9,))])),
        fails(lambda: module.bind([("date", (8, 6))])),
        fails(lambda: mx.mod.Module(network(), data_names=["no"])),
        fails(lambda: mx.mod.Module(network(), label_names=["no"])),
        fails(lambda: fitted(optimizer="no such")),
        fails(lambda: fitted(eval_metric="no such")),
    ]


@check(rtol=1e-3, atol=1e-3)
def recurrent_networks():
    net, count = mx.sym.var("data"), 5
    cells = mx.rnn.SequentialRNNCell()
    cells.add(mx.rnn.LSTMCell(4, prefix="a_"))
    cells.add(mx.rnn.GRUCell(3, prefix="b_"))
    out, _ = cells.unroll(count, net, layout="NTC", merge_outputs=True)
    out = mx.sym.SoftmaxOutput(mx.sym.mean(out, axis=1), name="softmax")
    module = mx.mod.Module(out)
    data = mx.io.NDArrayIter(numbers(12, count, 6), np.arange(12.0) % 3, 4)
    module.fit(data, num_epoch=2, initializer=Numbers(), kvstore=None)
    return module.predict(data), dict(module.get_params()[0].items())


CELLS = """
mx.rnn.RNNCell(4, prefix='r_')
mx.rnn.LSTMCell(4, prefix='r_')
mx.rnn.GRUCell(4, prefix='r_')
mx.rnn.FusedRNNCell(4, num_layers=2, mode='lstm', prefix='r_')
mx.rnn.FusedRNNCell(4, mode='gru', bidirectional=True, prefix='r_')
mx.rnn.FusedRNNCell(4, num_layers=2, mode='lstm', prefix='r_').unfuse()
mx.rnn.BidirectionalCell(mx.rnn.LSTMCell(4, prefix='l_'), mx.rnn.GRUCell(4, prefix='r_'))
mx.rnn.ResidualCell(mx.rnn.GRUCell(6, prefix='r_'))
mx.rnn.ZoneoutCell(mx.rnn.GRUCell(6, prefix='r_'))
mx.rnn.DropoutCell(0)
""".strip().splitlines()


def unrolled(text):
    cell = eval(text, {"mx": mx})
    out, _ = cell.unroll(3, mx.sym.var("data"), layout="NTC", merge_outputs=True)
    one = out.simple_bind(mx.cpu(), data=(2, 3, 6))
    for i, (_, value) in enumerate(sorted(one.arg_dict.items())):
        value[:] = mx.nd.array(numbers(*value.shape, seed=i))
    y = one.forward(True)
    one.backward(y)
    return y, sorted(one.arg_dict), one.grad_dict["data"], out.list_arguments()


each("cell", CELLS, unrolled)


@check
def weights_of_fused_cells():
    cell = mx.rnn.FusedRNNCell(4, num_layers=2, mode="lstm", prefix="r_")
    size = 4 * 4 * (6 + 4 + 2) + 4 * 4 * (4 + 4 + 2)
    packed = {"r_parameters": array(size)}
    parts = cell.unpack_weights(packed)
    return parts, cell.pack_weights(parts)


@check
def bucketed_sentences():
    words, _ = mx.rnn.encode_sentences([["a", "b", "c"], ["b", "a"], ["c", "c", "a"]], start_label=1, invalid_label=0)
    data = mx.rnn.BucketSentenceIter(words * 4, 2, buckets=[2, 3], invalid_label=0)
    return sorted((batch.bucket_key, batch.data[0].shape) for batch in data), words


expressions(
    "model",
    {"fails": fails},
    ["mx.model.BatchEndParam(1, 2, 3, 4)", "mx.callback.do_checkpoint('x')", "mx.callback.log_train_metric(1)"][:1],
)
