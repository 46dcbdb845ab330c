"""mx.gluon: trainers with every optimizer, parameters, files, exported networks, data, hooks."""

import os

from kit import area, array, check, each, fails, fill, mx, np, numbers
from mxnet.gluon import nn

area("gluon")

OPTIMIZERS = {
    "sgd": [{}, {"momentum": 0.9}, {"momentum": 0.9, "wd": 0.1, "clip_gradient": 0.01}, {"multi_precision": True}],
    "nag": [{"momentum": 0.9}],
    "signum": [{}, {"momentum": 0.9, "wd_lh": 0.1}],
    "adam": [{}, {"beta1": 0.5, "wd": 0.1}, {"lazy_update": False}],
    "adagrad": [{}],
    "rmsprop": [{}, {"centered": True}, {"clip_weights": 0.2}],
    "adadelta": [{}],
    "ftrl": [{}],
    "ftml": [{}],
    "adamax": [{}],
    "nadam": [{}],
    "dcasgd": [{}],
    "lbsgd": [{"momentum": 0.9}],
    "lars": [{"momentum": 0.9}],
    "lamb": [{}, {"bias_correction": False}],
    "ccsgd": [{}],
    "sgld": [{}],
    "adamw": [{}],
    "test": [{}],
    "no such": [{}],
}


def small(hybrid=True):
    net = nn.HybridSequential()
    net.add(nn.Dense(5, activation="tanh"), nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    if hybrid:
        net.hybridize()
    net(array(4, 6))
    fill(net.collect_params())
    return net


def steps(net, trainer, count=4, dtype="float32"):
    """The losses of some steps, and the parameters behind them."""
    x, label, loss, out = array(4, 6).astype(dtype), mx.nd.array([0, 1, 2, 1]), mx.gluon.loss.SoftmaxCELoss(), []
    for _ in range(count):
        with mx.autograd.record():
            y = loss(net(x), label)
        y.backward()
        trainer.step(4)
        out.append(y)
    return out, [p.data() for p in net.collect_params().values()]


def train(_, name, arguments, **settings):
    net = small()
    settings = {"kvstore": None, **settings}
    answers = steps(net, mx.gluon.Trainer(net.collect_params(), name, {"learning_rate": 0.05, **arguments}, **settings))
    return answers if name != "sgld" else [one.shape for one in answers[1]]


ROWS = [(f"{name} {arguments}", name, arguments) for name, rows in OPTIMIZERS.items() for arguments in rows]
each("trainer", ROWS, train, rtol=1e-3, atol=1e-4)
each("trainer with a store", ROWS[:8], lambda *row: train(*row, kvstore="device"), rtol=1e-3, atol=1e-4)
each(
    "trainer that updates in a store",
    ROWS[:8],
    lambda *row: train(*row, kvstore="local", update_on_kvstore=True),
    rtol=1e-3,
    atol=1e-4,
)


@check
def aggregated_updates():
    os.environ["MXNET_OPTIMIZER_AGGREGATION_SIZE"] = "4"
    answers = [train("", name, {"momentum": 0.9}) for name in ("sgd", "lars")]
    del os.environ["MXNET_OPTIMIZER_AGGREGATION_SIZE"]
    return answers


@check(rtol=1e-2, atol=1e-2)
def half_precision():
    net = small()
    net.cast("float16")
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "multi_precision": True})
    return steps(net, trainer, dtype="float16")


@check
def states_of_trainers():
    nets = [small() for _ in range(2)]
    trainers = [mx.gluon.Trainer(n.collect_params(), "adam", {"learning_rate": 0.1}) for n in nets]
    steps(nets[0], trainers[0])
    trainers[0].save_states("states")
    nets[0].save_parameters("p")
    nets[1].load_parameters("p")
    trainers[1].load_states("states")
    return steps(nets[1], trainers[1])


@check
def trainer_settings():
    net = small()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    trainer.set_learning_rate(0.5)
    schedule = mx.lr_scheduler.FactorScheduler(2, 0.5)
    scheduled = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "lr_scheduler": schedule})
    a = steps(net, scheduled)
    return trainer.learning_rate, scheduled.learning_rate, a, fails(lambda: scheduled.set_learning_rate(1))


@check
def stale_gradients():
    net = small()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    steps(net, trainer, 1)
    first = fails(lambda: trainer.step(1))
    return first, trainer.step(1, ignore_stale_grad=True)


@check
def gradients_add_up():
    net = small()
    net.collect_params().setattr("grad_req", "add")
    x = array(4, 6)
    for _ in range(3):
        with mx.autograd.record():
            net(x).sum().backward()
    grads = [p.grad().copy() for p in net.collect_params().values() if p.grad_req != "null"]
    net.collect_params().zero_grad()
    return grads, net[0].weight.grad()


@check
def two_devices():
    net = nn.Dense(3, in_units=6)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    parts = mx.gluon.utils.split_and_load(array(4, 6), [mx.cpu(0), mx.cpu(1)])
    with mx.autograd.record():
        for y in [net(part).sum() for part in parts]:
            y.backward()
    trainer.step(4)
    return list(net.weight.list_data()), [str(c) for c in net.weight.list_ctx()], net.weight.data(mx.cpu(1))


@check
def parameters_on_their_own():
    p = mx.gluon.Parameter("w", shape=(2, 3))
    p.initialize("ones")
    p.set_data(mx.nd.zeros((2, 3)))
    p.grad_req = "null"
    return [
        p.data(), str(p), p.list_ctx(), p.var().name, fails(p.grad), fails(lambda: p.set_data(mx.nd.zeros((2, 4)))),
        fails(lambda: mx.gluon.Parameter("w", shape=(2, 0)).initialize()), p.cast("float16"), p.data().dtype,
        fails(lambda: p.reset_ctx(mx.cpu(1))), p.list_ctx(), fails(lambda: mx.gluon.Parameter("r", stype="csr").data()),
    ]  # fmt: skip


@check
def constants():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.c = self.params.get_constant("c", [[1, 2], [3, 4]])

        def hybrid_forward(self, F, x, c):
            return F.dot(x, c)

    net = Net()
    net.initialize()
    net.hybridize()
    return net(array(2, 2)), list(net.collect_params()), net.c.grad_req


@check
def parameter_dicts():
    shared = mx.gluon.ParameterDict("a_")
    w = shared.get("w", shape=(2, 2))
    shared.initialize(mx.init.One())
    shared.save("d.params", strip_prefix="a_")
    other = mx.gluon.ParameterDict("a_", shared)
    same = other.get("w") is w
    other.load("d.params", restore_prefix="a_")
    return [same, list(shared.keys()), str(shared), fails(lambda: shared.load("none")), len(shared.items())]


@check
def blocks_print_and_count():
    net = small()
    return str(net), [name.split("_", 1)[1] for name in net.collect_params()], len(net), net[0].name[:5]


@check
def selected_parameters():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(2, in_units=2), nn.Dense(3, in_units=2))
    return list(net.collect_params(".*weight")), list(net.collect_params()), list(net._collect_params_with_prefix())


@check
def saved_parameters():
    net, other = small(), small()
    net.save_parameters("net.params")
    other.load_parameters("net.params", ctx=mx.cpu(1))
    third = nn.HybridSequential()
    third.add(nn.Dense(5))
    return [
        list(mx.nd.load("net.params")),
        other[0].weight.data(mx.cpu(1)), fails(lambda: third.load_parameters("net.params")),
        third.load_parameters("net.params", ignore_extra=True), fails(lambda: net.load_parameters("none.params")),
        third[0].weight.shape,
    ]  # fmt: skip


@check
def exported_networks():
    net = small()
    x = array(4, 6)
    net.export("net", 7)
    with open("net-symbol.json") as file:
        text = file.read()
    again = mx.gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0007.params")
    again.hybridize()
    graph = mx.sym.load_json(text)
    inner = mx.gluon.SymbolBlock(graph.get_internals()[graph.list_arguments()[1]], mx.sym.var("data"))
    sizes = [len(graph.list_arguments()), len(graph.list_auxiliary_states()), len(mx.nd.load("net-0007.params"))]
    return net(x), again(x), sizes, type(inner).__name__, fails(lambda: small(False).export("x"))


@check
def networks_of_symbols_train():
    data = mx.sym.var("data")
    graph = mx.sym.FullyConnected(
        mx.sym.tanh(mx.sym.FullyConnected(data, num_hidden=5, name="a")), num_hidden=3, name="b"
    )
    net = mx.gluon.SymbolBlock(graph, data)
    net.initialize()
    net(array(4, 6))
    fill(net.collect_params())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    return steps(net, trainer)


@check
def hooks():
    net, seen = small(False), []
    handle = net[0].register_forward_hook(lambda block, x, y: seen.append(("after", x[0].shape, y.shape)))
    net[0].register_forward_pre_hook(lambda block, x: seen.append(("before", x[0].shape)))
    net(array(4, 6))
    handle.detach()
    net(array(2, 6))
    return seen


@check
def operator_hooks():
    net, seen = small(), []
    net.register_op_hook(lambda name, op, array: seen.append((name, op)), True)
    net(array(4, 6))
    names = [name.decode().split("_", 1)[1].replace("input0", "data") for name, _ in seen]
    return len(seen), [op for _, op in seen], names


@check
def summaries():
    import contextlib
    import io

    net, out = small(False), io.StringIO()
    with contextlib.redirect_stdout(out):
        net.summary(array(4, 6))
    return [line.split()[-1:] for line in out.getvalue().splitlines()]


@check
def applied_functions():
    net, seen = small(), []
    net.apply(lambda block: seen.append(type(block).__name__))
    return seen, net.infer_shape(array(4, 6)), net.cast("float64"), net(array(4, 6).astype("float64")).dtype


@check
def nested_blocks_and_several_outputs():
    class Net(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.a = nn.Dense(3, in_units=4)

        def hybrid_forward(self, F, x, pair):
            y = self.a(x)
            return y, [F.tanh(y), pair[0] + pair[1]]

    out = []
    for hybrid in (False, True):
        net = Net()
        net.initialize()
        fill(net.collect_params())
        if hybrid:
            net.hybridize()
        out.append(net(array(2, 4), [array(2, 2), array(2, 2, seed=1)]))
    return out


@check
def utilities():
    x = [array(3, 4), array(2)]
    norm = mx.gluon.utils.clip_global_norm(x, 0.5)
    return [
        norm, x, mx.gluon.utils.split_data(array(5, 2), 2, even_split=False),
        fails(lambda: mx.gluon.utils.split_data(array(5, 2), 2)),
        mx.gluon.utils.split_data(array(2, 4), 2, batch_axis=1),
    ]  # fmt: skip


@check
def data_loaders():
    data = mx.gluon.data
    pairs = data.ArrayDataset(array(7, 2), list(range(7)))
    small_part = data.SimpleDataset(list(range(5))).transform(lambda v: v * 2)
    loaders = [
        data.DataLoader(pairs, 3),
        data.DataLoader(pairs, 3, last_batch="discard"),
        data.DataLoader(pairs, batch_sampler=data.BatchSampler(data.SequentialSampler(7), 4, "rollover")),
        data.DataLoader(small_part, 2, thread_pool=True, num_workers=2),
    ]
    return [list(loader) for loader in loaders], [len(loader) for loader in loaders]


@check
def data_loaders_with_processes():
    pairs = mx.gluon.data.ArrayDataset(numbers(8, 2), numbers(8))
    return list(mx.gluon.data.DataLoader(pairs, 4, num_workers=2))


@check
def data_sets():
    data = mx.gluon.data
    one = data.SimpleDataset(list(range(10)))
    return [
        list(one.take(3)), list(one.shard(3, 1)), list(one.filter(lambda v: v % 2)), len(one),
        list(one.sample(data.SequentialSampler(4))), list(one.transform_first(str)),
        list(data.FilterSampler(lambda v: v > 5, one)), sorted(data.RandomSampler(5)),
    ]  # fmt: skip


TRANSFORMS = [
    ("ToTensor", {}), ("Cast", {"dtype": "float32"}), ("Resize", {"size": (4, 6)}), ("CenterCrop", {"size": 4}),
    ("CropResize", {"x": 1, "y": 1, "width": 3, "height": 4}), ("RandomCrop", {"size": (8, 9)}),
    ("RandomFlipLeftRight", {"p": 0}), ("RandomFlipTopBottom", {"p": 0}), ("RandomBrightness", {"brightness": 0}),
    ("RandomContrast", {"contrast": 0}), ("RandomSaturation", {"saturation": 0}), ("RandomHue", {"hue": 0}),
    ("RandomColorJitter", {}), ("RandomLighting", {"alpha": 0}), ("RandomGray", {"p": 0}),
]  # fmt: skip


def transformed(_, name, arguments):
    x = mx.nd.array(np.random.RandomState(1).randint(0, 255, (8, 9, 3)), dtype="uint8")
    return getattr(mx.gluon.data.vision.transforms, name)(**arguments)(x)


each("transform", [(name, name, arguments) for name, arguments in TRANSFORMS], transformed, atol=1.5)


@check(atol=1e-4)
def composed_transforms():
    t = mx.gluon.data.vision.transforms
    x = mx.nd.array(np.random.RandomState(1).randint(0, 255, (8, 9, 3)), dtype="uint8")
    return t.Compose([t.ToTensor(), t.Normalize((0.5, 0.4, 0.3), (0.1, 0.2, 0.3))])(x)


@check
def estimators():
    net, estimator = small(), mx.gluon.contrib.estimator
    data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(array(8, 6), mx.nd.array([0, 1, 2, 1] * 2)), 4)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    fit = estimator.Estimator(net, mx.gluon.loss.SoftmaxCELoss(), train_metrics=mx.metric.Accuracy(), trainer=trainer)
    import logging

    fit.logger.setLevel(logging.ERROR)
    fit.fit(data, epochs=2)
    return fit.train_metrics[0].get(), net(array(4, 6))


@check
def optimized_for_a_backend():
    return fails(lambda: small().optimize_for(array(4, 6), "no such backend"))


@check
def parameters_before_hybridize():
    net = small()
    before = net(array(4, 6))
    net[0].weight.set_data(net[0].weight.data() * 2)
    return before, net(array(4, 6))
