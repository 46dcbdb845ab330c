"""mx.mod, mx.model, mx.monitor: symbols that are trained."""

from __future__ import annotations

import os

import numpy as np
from _case import case


def _net(mx, hidden=3):
    data = mx.sym.var("data")
    body = mx.sym.FullyConnected(data, num_hidden=5, name="fc1")
    body = mx.sym.Activation(body, act_type="tanh", name="act1")
    body = mx.sym.FullyConnected(body, num_hidden=hidden, name="fc2")
    return mx.sym.SoftmaxOutput(body, name="softmax")


def _values():
    random = np.random.RandomState(3)
    shapes = {"fc1_weight": (5, 4), "fc1_bias": (5,), "fc2_weight": (3, 5), "fc2_bias": (3,)}
    return {name: random.uniform(-1, 1, shape).astype("float32") for name, shape in shapes.items()}


def _params(mx):
    return {name: mx.nd.array(each) for name, each in _values().items()}


def _iterator(mx, count=10, batch=4, **more):
    random = np.random.RandomState(4)
    data = random.uniform(-1, 1, (count, 4)).astype("float32")
    return mx.io.NDArrayIter(data, np.arange(count) % 3, batch, **more)


def _batch(mx, size=4):
    random = np.random.RandomState(5)
    return mx.io.DataBatch([mx.nd.array(random.rand(size, 4))], [mx.nd.array(np.arange(size) % 3)])


def _module(mx, **given):
    bound = {key: given.pop(key) for key in ("for_training", "inputs_need_grad", "grad_req") if key in given}
    module = mx.mod.Module(_net(mx), **given)
    module.bind([("data", (4, 4))], [("softmax_label", (4,))], **bound)
    module.init_params(arg_params=_params(mx), aux_params={})
    return module


def _tuples(shapes):
    return None if shapes is None else [(each[0], tuple(each[1])) for each in shapes]


_MADE = {
    "plain": {},
    "data": {"data_names": ["x"]},
    "labels": {"label_names": ["y"]},
    "no labels": {"label_names": None},
    "fixed": {"fixed_param_names": ["fc1_bias"]},
    "fixed unknown": {"fixed_param_names": ["nothing"]},
    "states unknown": {"state_names": ["nothing"]},
}


@case(what=list(_MADE))
def made(mx, what):
    module = mx.mod.Module(_net(mx), **_MADE[what])
    return module.data_names, module.label_names, module.output_names, module._param_names, module.binded


_EARLY = {
    "data_shapes": lambda module: module.data_shapes,
    "get_params": lambda module: module.get_params(),
    "init_params": lambda module: module.init_params(),
    "forward": lambda module: module.forward(None),
    "backward": lambda module: module.backward(),
    "update": lambda module: module.update(),
    "get_outputs": lambda module: module.get_outputs(),
    "init_optimizer": lambda module: module.init_optimizer(),
    "predict": lambda module: module.predict(None),
    "save_optimizer_states": lambda module: module.save_optimizer_states("x"),
}


@case(what=list(_EARLY))
def too_early(mx, what):
    return _EARLY[what](mx.mod.Module(_net(mx)))


@case(labels=[True, False], training=[True, False], described=[True, False])
def bound(mx, labels, training, described):
    module = mx.mod.Module(_net(mx))
    data, label = ("data", (4, 4)), ("softmax_label", (4,))
    if described:
        data, label = mx.io.DataDesc(*data), mx.io.DataDesc(*label)
    module.bind([data], [label] if labels else None, for_training=training)
    shapes = [_tuples(each) for each in (module.data_shapes, module.label_shapes, module.output_shapes)]
    return shapes, module.for_training, module.binded, module.params_initialized


@case(what=["other name", "too many", "twice", "gradients without training"])
def not_bound(mx, what):
    module = mx.mod.Module(_net(mx))
    if what == "gradients without training":
        return module.bind([("data", (4, 4))], for_training=False, inputs_need_grad=True)
    if what == "twice":
        module.bind([("data", (4, 4))])
        module.bind([("data", (2, 4))])
        return _tuples(module.data_shapes)
    return module.bind([("x", (4, 4))] if what == "other name" else [("data", (4, 4)), ("x", (4,))])


_PARAMS = {
    "all": {},
    "missing": {"drop": "fc2_bias"},
    "missing allowed": {"drop": "fc2_bias", "allow_missing": True},
    "extra": {"more": "nothing"},
    "extra allowed": {"more": "nothing", "allow_extra": True},
}


@case(what=list(_PARAMS), how=["init", "set"])
def parameters(mx, what, how):
    module = mx.mod.Module(_net(mx))
    module.bind([("data", (4, 4))], [("softmax_label", (4,))])
    given = dict(_PARAMS[what])
    params = _params(mx)
    params.pop(given.pop("drop", ""), None)
    more = given.pop("more", None)
    if more:
        params[more] = mx.nd.ones(2)
    if how == "init":
        module.init_params(initializer=mx.init.One(), arg_params=params, aux_params={}, **given)
    else:
        module.init_params(initializer=mx.init.One())
        module.set_params(params, {}, **given)
    return module.get_params()


@case
def initializers_by_attributes(mx):
    weight = mx.sym.var("w", init=mx.init.Constant(3))
    net = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, num_hidden=2, name="fc")
    module = mx.mod.Module(net, label_names=None)
    module.bind([("data", (4, 4))])
    module.init_params(mx.init.One())
    return module.get_params()


@case(training=[None, True, False])
def forward(mx, training):
    module = _module(mx)
    module.forward(_batch(mx), is_train=training)
    return module.get_outputs(), module.get_outputs(merge_multi_context=False)


@case(contexts=[1, 2, 3], request=["write", "add"])
def backward(mx, contexts, request):
    module = _module(mx, context=[mx.cpu(i) for i in range(contexts)], inputs_need_grad=True, grad_req=request)
    for _ in range(2):
        module.forward_backward(_batch(mx))
    grads = [sum(each.asnumpy() for each in copies) for copies in module._exec_group.grad_arrays]
    return module.get_input_grads(), grads, module.get_outputs()


@case(what=["not for training", "data have none", "heads"])
def backward_is_refused(mx, what):
    module = _module(mx, for_training=what != "not for training")
    module.forward(_batch(mx))
    if what == "data have none":
        return module.get_input_grads()
    return module.backward([mx.nd.ones((3, 3))] if what == "heads" else None)


_OPTIMIZERS = [
    ("sgd", {"learning_rate": 0.1}),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01}),
    ("adam", {"learning_rate": 0.05}),
    ("sgd", {"learning_rate": 0.1, "rescale_grad": 1.0}),
    ("rmsprop", (("learning_rate", 0.01),)),
]


@case(optimizer=_OPTIMIZERS, contexts=[1, 2], store=["local", "device", None])
def updates(mx, optimizer, contexts, store):
    if contexts == 2 and store is None:
        contexts = 1
    module = _module(mx, context=[mx.cpu(i) for i in range(contexts)])
    module.init_optimizer(kvstore=store, optimizer=optimizer[0], optimizer_params=optimizer[1])
    for _ in range(3):
        module.forward_backward(_batch(mx))
        module.update()
    return module.get_params(), module._optimizer.rescale_grad, module._update_on_kvstore


@case
def updates_skip_fixed_parameters(mx):
    module = _module(mx, fixed_param_names=["fc1_bias", "fc2_bias"])
    module.init_optimizer(optimizer_params={"learning_rate": 1})
    module.forward_backward(_batch(mx))
    module.update()
    return module.get_params()


@case
def multipliers_are_attributes(mx):
    weight = mx.sym.var("w", lr_mult=0, wd_mult=2)
    bias = mx.sym.var("b", lr_mult=3)
    net = mx.sym.FullyConnected(mx.sym.var("data"), weight=weight, bias=bias, num_hidden=2, name="fc")
    module = mx.mod.Module(mx.sym.MakeLoss(net.sum()), label_names=None)
    module.bind([("data", (4, 4))])
    module.init_params(mx.init.One(), arg_params={"b": mx.nd.ones(2)}, allow_missing=True)
    module.init_optimizer(optimizer_params={"learning_rate": 0.5, "wd": 0.1})
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((4, 4))], []))
    module.update()
    return module.get_params(), module._optimizer.lr_mult, sorted(module._optimizer.wd_mult.items())


@case(what=["number", "own", "store"])
def optimizers(mx, what):
    module = _module(mx)
    if what == "number":
        return module.init_optimizer(optimizer=3)
    if what == "store":
        return module.init_optimizer(kvstore=3)
    module.init_optimizer(optimizer=mx.optimizer.SGD(learning_rate=0.1))
    return module._optimizer.idx2name, module._optimizer.rescale_grad


@case(size=[1, 4, 7])
def batches_of_other_sizes(mx, size):
    module = _module(mx)
    module.forward(_batch(mx, size), is_train=False)
    return module.get_outputs()


@case
def batches_without_labels(mx):
    module = _module(mx)
    batch = _batch(mx)
    batch.label = None
    module.forward(batch, is_train=False)
    return module.get_outputs()


@case(size=[1, 7], differs="1.9.1 raises, since the labels' shape follows from the data's and changes")
def smaller_batches_without_labels(mx, size):
    module = _module(mx)
    batch = _batch(mx, size)
    batch.label = None
    module.forward(batch, is_train=False)
    return module.get_outputs()


@case
def batches_of_other_widths(mx):
    module = _module(mx)
    module.forward(mx.io.DataBatch([mx.nd.ones((4, 5))], [mx.nd.ones(4)]))
    return module.get_outputs()


@case
def reshaped(mx):
    module = _module(mx)
    module.reshape([("data", (8, 4))], [("softmax_label", (8,))])
    return _tuples(module.data_shapes), _tuples(module.output_shapes), module.get_params()


@case(what=["plain", "not merged", "list", "one batch", "array", "number"])
def predictions(mx, what):
    module = _module(mx)
    iterator = _iterator(mx)
    if what == "array":
        return module.predict(mx.nd.ones((4, 4)))
    if what == "number":
        return module.predict(3)
    given = {
        "not merged": {"merge_batches": False},
        "list": {"always_output_list": True},
        "one batch": {"num_batch": 1},
    }
    return module.predict(iterator, **given.get(what, {}))


@case
def predictions_one_by_one(mx):
    module = _module(mx)
    return [(outputs[0].copy(), number, batch.pad) for outputs, number, batch in module.iter_predict(_iterator(mx))]


@case(metric=["acc", ["acc", "ce"]], batches=[None, 2])
def scores(mx, metric, batches):
    module = _module(mx)
    seen = []
    made = module.score(
        _iterator(mx),
        metric,
        num_batch=batches,
        batch_end_callback=lambda given: seen.append((given.epoch, given.nbatch)),
        score_end_callback=[lambda given: seen.append(given.nbatch)],
        epoch=5,
    )
    return made, seen


@case(shuffled=[False], metric=["acc", "ce"], epochs=[1, 3], contexts=[1, 2])
def fit(mx, shuffled, metric, epochs, contexts):
    seen = []
    module = mx.mod.Module(_net(mx), context=[mx.cpu(i) for i in range(contexts)])
    module.fit(
        _iterator(mx),
        eval_data=_iterator(mx, 8),
        eval_metric=metric,
        optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
        arg_params=_params(mx),
        num_epoch=epochs,
        batch_end_callback=lambda given: seen.append((given.epoch, given.nbatch, given.eval_metric.get()[1])),
        epoch_end_callback=lambda epoch, symbol, args, auxs: seen.append((epoch, symbol.name, sorted(args), auxs)),
    )
    return seen, module.get_params()


@case
def fit_without_epochs(mx):
    return mx.mod.Module(_net(mx)).fit(_iterator(mx))


@case
def fit_goes_on(mx, folder):
    prefix = os.path.join(folder, "net")
    module = mx.mod.Module(_net(mx))
    callback = mx.callback.do_checkpoint(prefix, 2)
    given = {"optimizer_params": {"learning_rate": 0.5}, "arg_params": _params(mx)}
    module.fit(_iterator(mx), num_epoch=2, epoch_end_callback=callback, **given)
    symbol, args, auxs = mx.model.load_checkpoint(prefix, 2)
    other = mx.mod.Module(symbol)
    other.fit(_iterator(mx), begin_epoch=2, num_epoch=3, arg_params=args, aux_params=auxs)
    return sorted(os.listdir(folder)), other.get_params()


@case
def checkpoints(mx, folder):
    prefix = os.path.join(folder, "net")
    module = _module(mx)
    module.init_optimizer(optimizer="adam")
    for _ in range(2):
        module.forward_backward(_batch(mx))
        module.update()
    module.save_checkpoint(prefix, 3, True)
    other = mx.mod.Module.load(prefix, 3, True)
    other.bind([("data", (4, 4))], [("softmax_label", (4,))])
    other.init_optimizer(optimizer="adam")
    other.forward_backward(_batch(mx))
    other.update()
    with open(f"{prefix}-symbol.json") as file:
        text = file.read()
    return sorted(os.listdir(folder)), text, other.get_params(), mx.nd.load(f"{prefix}-0003.params")


@case
def files_of_parameters(mx, folder):
    path = os.path.join(folder, "net.params")
    module = _module(mx)
    module.save_params(path)
    module.set_params({name: each * 0 for name, each in _params(mx).items()}, {})
    module.load_params(path)
    return module.get_params(), sorted(mx.nd.load(path))


@case(what=["checkpoint", "params", "symbol"])
def missing_files(mx, folder, what):
    if what == "params":
        return mx.model.load_params(os.path.join(folder, "net"), 1)
    if what == "symbol":
        return mx.mod.Module.load(os.path.join(folder, "net"), 1)
    return mx.model.load_checkpoint(os.path.join(folder, "net"), 1)


def _by_length(mx):
    def generate(key):
        data, label = mx.sym.var("data"), mx.sym.var("softmax_label")
        table = mx.sym.Embedding(data, input_dim=7, output_dim=4, name="embed")
        mean = mx.sym.mean(table, axis=1)
        return (
            mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mean, num_hidden=3, name="fc"), label, name="softmax"),
            ("data",),
            ("softmax_label",),
        )

    return generate


def _bucket(mx, key):
    random = np.random.RandomState(key)
    data = mx.nd.array(random.randint(0, 7, (2, key)))
    return mx.io.DataBatch(
        [data],
        [mx.nd.array([0, 2])],
        bucket_key=key,
        provide_data=[mx.io.DataDesc("data", (2, key))],
        provide_label=[mx.io.DataDesc("softmax_label", (2,))],
    )


@case(keys=[[5], [5, 3], [3, 5, 4, 3, 5]], optimizer=["sgd", "adam"])
def buckets(mx, keys, optimizer):
    module = mx.mod.BucketingModule(_by_length(mx), default_bucket_key=5)
    module.bind([("data", (2, 5))], [("softmax_label", (2,))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer=optimizer, optimizer_params={"learning_rate": 0.3})
    found = []
    for key in keys:
        batch = _bucket(mx, key)
        module.prepare(batch)
        module.forward(batch, is_train=True)
        module.backward()
        module.update()
        found.append((module.get_outputs()[0].copy(), _tuples(module.data_shapes), _tuples(module.output_shapes)))
    return found, module.get_params(), module.symbol.list_arguments()


@case
def buckets_have_files(mx, folder):
    prefix = os.path.join(folder, "net")
    module = mx.mod.BucketingModule(_by_length(mx), default_bucket_key=5)
    module.bind([("data", (2, 5))], [("softmax_label", (2,))])
    module.init_params(mx.init.One())
    module.save_checkpoint(prefix, 1)
    other = mx.mod.BucketingModule.load(prefix, 1, _by_length(mx), 5)
    other.bind([("data", (2, 5))], [("softmax_label", (2,))])
    return "net-0001.params" in os.listdir(folder), other.get_params()


@case(what=["no key", "load without symbols", "load without key", "early", "shared"])
def buckets_are_refused(mx, what):
    if what == "no key":
        return mx.mod.BucketingModule(_by_length(mx))
    if what.startswith("load"):
        given = {} if what == "load without symbols" else {"sym_gen": _by_length(mx)}
        return mx.mod.BucketingModule.load("net", 1, **given)
    module = mx.mod.BucketingModule(_by_length(mx), default_bucket_key=5)
    return module.forward(None) if what == "early" else module.bind([("data", (2, 5))], shared_module=module)


def _chain(mx, loss):
    data = mx.sym.var("data")
    features = mx.mod.Module(mx.sym.FullyConnected(data, num_hidden=3, name="fc1"), label_names=None)
    chain = mx.mod.SequentialModule().add(features)
    if loss == "python":
        last = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores - 1)
    else:
        last = mx.mod.Module(
            mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc2"), name="softmax")
        )
    chain.add(last, take_labels=True, auto_wiring=True)
    return chain


@case(loss=["python", "symbol"])
def chains(mx, loss):
    chain = _chain(mx, loss)
    chain.bind([("data", (4, 4))], [("softmax_label", (4,))])
    chain.init_params(mx.init.One())
    chain.init_optimizer(optimizer_params={"learning_rate": 0.1})
    for _ in range(2):
        chain.forward_backward(_batch(mx))
        chain.update()
    metric = mx.metric.create("acc")
    chain.update_metric(metric, _batch(mx).label)
    return (
        chain.get_params(),
        chain.get_outputs(),
        chain.data_names,
        chain.output_names,
        _tuples(chain.output_shapes),
        metric.get(),
    )


@case(what=["meta", "empty", "early", "same names"])
def chains_are_refused(mx, what):
    chain = mx.mod.SequentialModule()
    if what == "meta":
        return chain.add(mx.mod.Module(_net(mx)), nothing=1)
    if what == "same names":
        part = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc")
        for _ in range(2):
            chain.add(mx.mod.Module(part, label_names=None), auto_wiring=True)
        chain.bind([("data", (4, 4))])
        return chain.init_params()
    return chain.bind([("data", (4, 4))]) if what == "empty" else chain.get_outputs()


@case
def python_losses(mx):
    loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores.asnumpy() - 1)
    loss.bind([("data", (2, 3))], [("softmax_label", (2,))])
    loss.init_params()
    loss.forward(mx.io.DataBatch([mx.nd.ones((2, 3)) * 3], [mx.nd.ones(2)]))
    loss.backward()
    return loss.get_outputs(), loss.get_input_grads(), loss.output_names, loss.get_params()


@case(what=["heads", "monitor", "names", "bind", "forward"])
def python_modules_are_refused(mx, what):
    if what in ("bind", "forward"):
        module = mx.mod.PythonModule(["data"], ["label"], ["out"])
        return module.bind([("data", (2, 3))], [("label", (2,))]) if what == "bind" else module.forward(None)
    loss = mx.mod.PythonLossModule(grad_func=lambda scores, labels: scores)
    loss.bind([("x" if what == "names" else "data", (2, 3))], [("softmax_label", (2,))])
    return loss.backward(mx.nd.ones(1)) if what == "heads" else loss.install_monitor(None)


@case(pattern=[".*", ".*weight", "data"], interval=[1, 2], everything=[False])
def monitors(mx, pattern, interval, everything):
    module = _module(mx)
    monitor = mx.mon.Monitor(interval, lambda array: array.sum(), pattern, sort=True, monitor_all=everything)
    module.install_monitor(monitor)
    found = []
    for _ in range(2):
        monitor.tic()
        module.forward(_batch(mx), is_train=False)
        found.append(
            [(step, name, round(float(value), 4)) for step, name, value in monitor.toc() if "output" not in name]
        )
    return found


@case
def states(mx):
    data, state = mx.sym.var("data"), mx.sym.var("state")
    module = mx.mod.Module(mx.sym.Group([data + state, state * 2]), label_names=None, state_names=["state"])
    module.bind([("data", (2, 3)), ("state", (2, 3))][:1], for_training=False)
    module.init_params()
    module.set_states(value=3)
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 3))], None))
    module.set_states([module.get_outputs(merge_multi_context=False)[1]])
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 3))], None))
    return module.get_outputs(), module.get_states(merge_multi_context=False)
