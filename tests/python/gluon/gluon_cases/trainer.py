"""gluon.Trainer: steps, stale gradients, several contexts, stores, states."""

from __future__ import annotations

import numpy as np
from _case import case


def _net(mx, contexts=1, units=(3, 2)):
    net = mx.gluon.nn.Sequential(prefix="net_")
    with net.name_scope():
        for i, count in enumerate(units):
            net.add(mx.gluon.nn.Dense(count, in_units=(4, *units)[i]))
    net.initialize(ctx=[mx.cpu(i) for i in range(contexts)])
    for each in net.collect_params().values():
        each.set_data(mx.nd.array(np.random.normal(0, 1, each.shape)))
    return net


def _backward(mx, net):
    contexts = net.collect_params().values().__iter__().__next__().list_ctx()
    with mx.autograd.record():
        losses = [(net(mx.nd.array(np.random.normal(0, 1, (5, 4)), ctx=ctx)) ** 2).sum() for ctx in contexts]
    mx.autograd.backward(losses)


def _values(net):
    return [[each.copyto(each.context) for each in p.list_data()] for p in net.collect_params().values()]


_OPTIMIZERS = {
    "sgd": {"learning_rate": 0.1},
    "sgd momentum": {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
    "adam": {"learning_rate": 0.1, "wd": 0.01},
    "adam clip": {"clip_gradient": 0.1},
    "nag": {"momentum": 0.9},
    "rmsprop": {"learning_rate": 0.01},
    "adagrad": {},
    "lamb": {"learning_rate": 0.1},
    "lars": {"learning_rate": 0.1, "momentum": 0.9},
    "ftrl": {},
    "signum": {},
    "sgd rescaled": {"rescale_grad": 0.5},
}


@case(optimizer=list(_OPTIMIZERS))
def steps(mx, optimizer):
    net = _net(mx)
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer.split()[0], dict(_OPTIMIZERS[optimizer]))
    for i in range(4):
        _backward(mx, net)
        trainer.step(5 + i)
    return _values(net), trainer.learning_rate, trainer._optimizer.rescale_grad, trainer._optimizer.num_update


@case(kvstore=["device", "local", None], on_store=[None, False, True], optimizer=["sgd", "adam"])
def two_contexts(mx, kvstore, on_store, optimizer):
    net = _net(mx, 2)
    trainer = mx.gluon.Trainer(
        net.collect_params(), optimizer, {"learning_rate": 0.1}, kvstore=kvstore, update_on_kvstore=on_store
    )
    for _ in range(3):
        _backward(mx, net)
        trainer.step(10)
    return _values(net), trainer._update_on_kvstore, type(trainer._kvstore).__name__


@case(method=["update", "allreduce_grads"], kvstore=["device", None], on_store=[None, False], contexts=[1, 2])
def halves_of_a_step(mx, method, kvstore, on_store, contexts):
    net = _net(mx, contexts)
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=kvstore, update_on_kvstore=on_store
    )
    _backward(mx, net)
    if method == "update":
        trainer.update(5)
        return _values(net)
    trainer.allreduce_grads()
    return [each.list_grad() for each in net.collect_params().values()]


@case(store=["KVStore", "own", "teststore"])
def store_given(mx, store):
    @mx.kv.KVStoreBase.register
    class Doubling(mx.kv.KVStoreBase):
        def broadcast(self, key, value, out, priority=0):
            for each in out if isinstance(out, list) else [out]:
                each[:] = value

        def pushpull(self, key, value, out=None, priority=0):
            for each in out if out is not None else value:
                each[:] = each * 2

        @staticmethod
        def is_capable(capability):
            return False

        type, rank, num_workers = "doubling", 0, 1

    kvstore = {"KVStore": lambda: mx.kv.create("local"), "own": lambda: "doubling"}.get(store, lambda: store)()
    net = _net(mx, 2)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=kvstore)
    _backward(mx, net)
    trainer.step(5)
    return _values(net), trainer._update_on_kvstore


@case(store=[3, [], "dist_async_x"])
def no_store(mx, store):
    net = _net(mx, 2)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=store)
    _backward(mx, net)
    trainer.step(5)
    return trainer._kvstore is None


def _wrong(mx, wrong):
    net = _net(mx)
    params = net.collect_params()
    other = mx.gluon.nn.Dense(2, in_units=1)
    if wrong == "contexts":
        other.initialize(ctx=mx.cpu(1))
    return {
        "not a list": lambda: mx.gluon.Trainer(3, "sgd"),
        "numbers": lambda: mx.gluon.Trainer([1], "sgd"),
        "empty": lambda: mx.gluon.Trainer([], "sgd").step(1),
        "not initialized": lambda: mx.gluon.Trainer(other.collect_params(), "sgd"),
        "contexts": lambda: mx.gluon.Trainer([*params.values(), *other.collect_params().values()], "sgd"),
        "optimizer": lambda: mx.gluon.Trainer(params, "none"),
        "kind of optimizer": lambda: mx.gluon.Trainer(params, 3),
        "argument": lambda: mx.gluon.Trainer(params, "sgd", {"foo": 1}),
        "arguments of an optimizer": lambda: mx.gluon.Trainer(params, mx.optimizer.SGD(), {"wd": 1}),
        "learning rate": lambda: setattr(mx.gluon.Trainer(params, "sgd"), "learning_rate", 3),
        "stale": lambda: mx.gluon.Trainer(params, "sgd").step(1),
        "file": lambda: mx.gluon.Trainer(params, "sgd").load_states("/none/states"),
    }[wrong]()


_WRONG = ["not a list", "numbers", "empty", "not initialized", "contexts", "optimizer", "kind of optimizer", "argument"]
_WRONG += ["arguments of an optimizer", "learning rate", "stale", "file"]


@case(wrong=_WRONG)
def wrong_use(mx, wrong):
    _wrong(mx, wrong)


@case(ignore=[False, True])
def second_step_without_backward(mx, ignore):
    net = _net(mx)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    _backward(mx, net)
    trainer.step(1)
    trainer.step(1, ignore_stale_grad=ignore)
    return _values(net)


@case
def part_of_the_parameters_is_stale(mx):
    net = _net(mx)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with mx.autograd.record():
        loss = net[0](mx.nd.ones((2, 4))).sum()
    loss.backward()
    trainer.step(1, ignore_stale_grad=True)
    values = _values(net)
    return values, [p.data()._fresh_grad for p in net.collect_params().values()]


@case
def frozen_parameters(mx):
    net = _net(mx)
    net[0].collect_params().setattr("grad_req", "null")
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    _backward(mx, net)
    trainer.step(1)
    return _values(net)


@case
def added_gradients(mx):
    net = _net(mx)
    net.collect_params().setattr("grad_req", "add")
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for _ in range(2):
        _backward(mx, net)
        _backward(mx, net)
        trainer.step(10)
        net.collect_params().zero_grad()
    return _values(net)


@case
def multipliers(mx):
    net = _net(mx)
    net.collect_params(".*bias").setattr("lr_mult", 0.0)
    net[1].weight.wd_mult = 3.0
    net[0].weight.lr_mult = 2.0
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 0.1})
    _backward(mx, net)
    trainer.step(5)
    return _values(net)


@case
def schedule(mx):
    net = _net(mx)
    rates = mx.lr_scheduler.MultiFactorScheduler([2, 4], 0.1, base_lr=1.0)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": rates})
    found = []
    for _ in range(5):
        _backward(mx, net)
        trainer.step(100)
        found.append(trainer.learning_rate)
    return found, _values(net)


@case
def learning_rate(mx):
    trainer = mx.gluon.Trainer(_net(mx).collect_params(), "sgd", {"learning_rate": 0.3})
    first = trainer.learning_rate
    trainer.set_learning_rate(0.2)
    return first, trainer.learning_rate, trainer.optimizer.learning_rate, type(trainer.optimizer).__name__


@case
def learning_rate_of_a_schedule_is_not_set(mx):
    schedule = {"lr_scheduler": mx.lr_scheduler.FactorScheduler(1)}
    mx.gluon.Trainer(_net(mx).collect_params(), "sgd", schedule).set_learning_rate(0.1)


@case(given=["dict", "list", "ParameterDict", "reversed"])
def order_of_parameters(mx, given):
    params = _net(mx).collect_params()
    arrays = list(params.values())
    made = {
        "dict": dict(zip("dcba", arrays)),
        "list": arrays,
        "ParameterDict": params,
        "reversed": tuple(arrays[::-1]),
    }[given]
    trainer = mx.gluon.Trainer(made, "sgd")
    return [each.name for each in trainer._params], trainer._param2idx


@case(optimizer=["sgd momentum", "adam", "lamb"], contexts=[1, 2])
def states_go_on(mx, folder, optimizer, contexts):
    net = _net(mx, contexts)
    make = lambda: mx.gluon.Trainer(  # noqa: E731
        net.collect_params(), optimizer.split()[0], dict(_OPTIMIZERS[optimizer])
    )
    trainer = make()
    for _ in range(2):
        _backward(mx, net)
        trainer.step(5)
    trainer.save_states(f"{folder}/states")
    again = make()
    again.load_states(f"{folder}/states")
    _backward(mx, net)
    again.step(5)
    return _values(net), again.optimizer.num_update


@case
def deferred_parameters(mx):
    net = mx.gluon.nn.Dense(2)
    net.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    waiting = len(trainer._params_to_init)
    with mx.autograd.record():
        loss = net(mx.nd.ones((2, 3))).sum()
    loss.backward()
    trainer.step(2)
    return waiting, len(trainer._params_to_init), net.weight.data()


@case
def deferred_parameters_are_refused(mx):
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    mx.gluon.Trainer(net.collect_params(), "sgd").step(1)


@case
def attributes(mx):
    trainer = mx.gluon.Trainer(_net(mx).collect_params(), "sgd", {"rescale_grad": 2.0})
    return [
        trainer._scale, trainer._kv_initialized, trainer._kvstore, trainer._distributed, trainer._compression_params,
        trainer._kvstore_params, len(trainer._updaters), str(trainer._contexts),
    ]  # fmt: skip


@case(update=[True, False, None], instance=[False, True], momentum=[0, 0.9], contexts=[1, 2])
def set_data_after_steps(mx, update, instance, momentum, contexts):
    where = [mx.cpu(i) for i in range(contexts)]
    parameter = mx.gluon.Parameter("w", shape=(2,))
    parameter.initialize(mx.init.One(), ctx=where)
    store = mx.kv.create("local") if instance else "local"
    options = {"learning_rate": 0.5, "momentum": momentum}
    trainer = mx.gluon.Trainer([parameter], "sgd", options, kvstore=store, update_on_kvstore=update)
    found = []
    for step in range(4):
        if step == 2:
            parameter.set_data(mx.nd.zeros((2,)))
        with mx.autograd.record():
            losses = [parameter.data(each).sum() for each in where]
        mx.autograd.backward(losses)
        trainer.step(1)
        found.append([each.asnumpy().tolist() for each in parameter.list_data()])
    return found
