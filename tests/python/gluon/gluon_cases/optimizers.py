"""mx.optimizer: several steps of each optimizer from the same numbers, rates, decays, states."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
from _case import case

_ALL = [
    "AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl", "LAMB", "LARS", "LBSGD", "NAG", "Nadam",
    "RMSProp", "SGD", "SGLD", "Signum", "Test", "ccSGD",
]  # fmt: skip
_OPTIONS = {
    "plain": {},
    "rate": {"learning_rate": 0.3},
    "decay": {"wd": 0.1, "learning_rate": 0.05},
    "clip": {"clip_gradient": 0.2, "rescale_grad": 0.5, "learning_rate": 0.05},
    "all": {"clip_gradient": 0.5, "rescale_grad": 2.0, "wd": 0.01, "learning_rate": 0.02},
}
_OWN = {
    "sgd momentum": ("SGD", {"momentum": 0.9, "wd": 0.01}),
    "sgd momentum clip": ("SGD", {"momentum": 0.5, "clip_gradient": 0.1}),
    "nag": ("NAG", {"momentum": 0.9}),
    "nag clip": ("NAG", {"momentum": 0.9, "clip_gradient": 0.1}),
    "lars": ("LARS", {"momentum": 0.9, "eta": 0.1, "wd": 0.01}),
    "lars plain momentum": ("LARS", {"momentum": 0.9, "momentum_correction": False, "eps": 0.1}),
    "lbsgd": ("LBSGD", {"batch_scale": 2, "momentum": 0.9}),
    "lbsgd linear": ("LBSGD", {"batch_scale": 2, "warmup_epochs": 1, "updates_per_epoch": 4}),
    "lbsgd power2": ("LBSGD", {"batch_scale": 2, "warmup_strategy": "power2", "updates_per_epoch": 2}),
    "lbsgd sqrt": ("LBSGD", {"batch_scale": 3, "warmup_strategy": "sqrt", "updates_per_epoch": 2, "begin_epoch": 1}),
    "lbsgd lars": ("LBSGD", {"batch_scale": 1, "warmup_strategy": "lars", "wd": 0.1}),
    "lbsgd other": ("LBSGD", {"batch_scale": 4, "warmup_strategy": "other", "updates_per_epoch": 2}),
    "lamb bounds": ("LAMB", {"lower_bound": 0.5, "upper_bound": 1.0, "learning_rate": 0.1}),
    "lamb no correction": ("LAMB", {"bias_correction": False, "wd": 0.1, "learning_rate": 0.1}),
    "signum": ("Signum", {"momentum": 0.5, "wd_lh": 0.1, "wd": 0.1}),
    "signsgd": ("Signum", {"momentum": 0, "wd": 0.1}),
    "dcasgd": ("DCASGD", {"lamda": 0.5, "wd": 0.1}),
    "adam betas": ("Adam", {"beta1": 0.5, "beta2": 0.9, "epsilon": 0.1, "wd": 0.1}),
    "ftml": ("FTML", {"beta1": 0.3, "beta2": 0.9, "epsilon": 0.01, "wd": 0.1, "clip_gradient": 0.1}),
    "ftrl": ("Ftrl", {"lamda1": 0.1, "beta": 0.5, "wd": 0.1, "clip_gradient": 0.3}),
    "rmsprop centered": ("RMSProp", {"centered": True, "gamma1": 0.8, "gamma2": 0.7, "wd": 0.1}),
    "rmsprop clip": ("RMSProp", {"clip_weights": 0.3, "clip_gradient": 0.2}),
    "rmsprop centered clip": ("RMSProp", {"centered": True, "clip_weights": 0.3}),
    "adagrad": ("AdaGrad", {"eps": 0.1, "wd": 0.1}),
    "adadelta": ("AdaDelta", {"rho": 0.5, "epsilon": 0.1, "wd": 0.1}),
    "adamax": ("Adamax", {"beta1": 0.5, "beta2": 0.9, "wd": 0.1}),
    "nadam": ("Nadam", {"schedule_decay": 0.1, "beta1": 0.5, "wd": 0.1}),
}


def _trained(mx, optimizer, steps=4, dtype="float32", shapes=((3, 4), (5,))):
    """The parameters and their states after steps of gradients of NumPy's."""
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.nd.array(np.random.normal(0, 1, shape), dtype=dtype) for shape in shapes]
    for _ in range(steps):
        grads = [mx.nd.array(np.random.normal(0, 1, shape), dtype=dtype) for shape in shapes]
        for index, (weight, grad) in enumerate(zip(weights, grads)):
            updater(index, grad, weight)
    return [weights, [_plain(updater.states[index]) for index in range(len(shapes))], optimizer.num_update]


def _plain(state):
    return [_plain(each) for each in state] if isinstance(state, (list, tuple)) else state


@case(name=[each for each in _ALL if each != "SGLD"], options=list(_OPTIONS))
def steps(mx, name, options):
    return _trained(mx, getattr(mx.optimizer, name)(**_OPTIONS[options]))


@case(own=list(_OWN))
def own_options(mx, own):
    name, kwargs = _OWN[own]
    return _trained(mx, getattr(mx.optimizer, name)(**kwargs), steps=6)


@case
def nag_with_decay(mx):
    return _trained(mx, mx.optimizer.NAG(momentum=0.9, wd=0.1, learning_rate=0.3))


@case(differs="there an error about the truth of an array")
def dcasgd_with_momentum(mx):
    return _trained(mx, mx.optimizer.DCASGD(momentum=0.9))


@case(name=["RMSProp", "AdaGrad"], differs="there states are of float32 whatever the parameter")
def states_have_the_dtype_of_the_parameter(mx, name):
    return _trained(mx, getattr(mx.optimizer, name)(), dtype="float64" if name == "AdaGrad" else "float16")


@case(name=[each for each in _ALL if each not in ("SGLD", "LBSGD")], rtol=2e-2, atol=2e-3)
def half_precision_with_a_master_copy(mx, name):
    more = {"momentum": 0.9} if name in ("SGD", "NAG", "LARS") else {}
    return _trained(mx, getattr(mx.optimizer, name)(multi_precision=True, **more), dtype="float16")


@case(name=["SGD", "Adam", "NAG", "LAMB"], rtol=2e-2, atol=2e-3)
def half_precision_alone(mx, name):
    return _trained(mx, getattr(mx.optimizer, name)(), dtype="float16")


@case(name=["SGD", "Adam", "FTML", "LAMB"])
def double_precision(mx, name):
    return _trained(mx, getattr(mx.optimizer, name)(), dtype="float64")


@case
def langevin_without_noise(mx):
    optimizer = mx.optimizer.SGLD(learning_rate=1e-12, wd=0.1)
    return [each.asnumpy().round(3) for each in _trained(mx, optimizer)[0]]


@case(name=["SGD", "LARS", "LAMB", "Adam"], momentum=[0, 0.9], precision=["float32", "float16"], rtol=1e-3, atol=1e-3)
def many_in_one_call(mx, name, momentum, precision):
    more = {"momentum": momentum} if name in ("SGD", "LARS") else {}
    names = {0: "a_weight", 1: "a_bias", 2: "b_gamma", 3: "b_weight", 4: "c_weight", 5: "c_beta"}
    optimizer = getattr(mx.optimizer, name)(
        learning_rate=0.1, wd=0.1, multi_precision=True, param_idx2name=names, **more
    )
    updater = mx.optimizer.get_updater(optimizer)
    weights = [mx.nd.array(np.random.normal(0, 1, (i + 1, 3)), dtype=precision) for i in range(6)]
    for _ in range(3):
        grads = [mx.nd.array(np.random.normal(0, 1, (i + 1, 3)), dtype=precision) for i in range(6)]
        updater(list(range(6)), grads, weights)
    return weights, optimizer.num_update, optimizer._index_update_count


@case(name=[*_ALL, "Optimizer", "Updater", "create", "register", "get_updater"])
def signature(mx, name):
    parameters = inspect.signature(getattr(mx.optimizer, name)).parameters.values()
    return [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in parameters]


@case(name=[*_ALL, "GroupAdaGrad", "none", "Optimizer"])
def created_by_name(mx, name):
    return type(mx.optimizer.create(name)).__name__, type(mx.optimizer.create(name.upper())).__name__


@case(name=[each for each in _ALL if each not in ("SGLD",)])
def attributes(mx, name):
    known = dict(vars(getattr(mx.optimizer, name)()))
    for each in ("sym_info", "aggregate_num", "allow_np_array"):  # 1.9.1 updates 4 parameters in a call
        known.pop(each, None)
    return {key: known[key] for key in sorted(known)}


@case
def multipliers(mx):
    names = {0: "a_weight", 1: "a_bias", 2: "b_gamma", 3: "b_beta", 4: "c"}
    optimizer = mx.optimizer.create("sgd", learning_rate=0.1, param_idx2name=names, wd=0.5)
    first = optimizer._get_wds([0, 1, 2, 3, 4, 5]), optimizer._get_lrs([0, 1]), dict(optimizer.wd_mult)
    optimizer.set_lr_mult({"a_weight": 2.0, 1: 3.0})
    optimizer.set_wd_mult({"a_weight": 0.5})
    return first, optimizer.wd_mult, optimizer.lr_mult, optimizer._get_lrs([0, 1, 2]), optimizer._get_wds([0, 1, 2])


@case
def multipliers_of_lars(mx):
    names = {0: "a_weight", 1: "a_bias", 2: "b_gamma", 3: "b_beta", 4: "c"}
    return mx.optimizer.LARS(param_idx2name=names, wd=0.5)._get_wds([0, 1, 2, 3, 4, 5])


@case
def multipliers_of_parameters(mx):
    class Parameter:
        lr_mult, wd_mult = 3.0, 0.5

    optimizer = mx.optimizer.SGD(learning_rate=0.1, wd=1.0, param_dict={0: Parameter()})
    optimizer.set_lr_mult({0: 7.0})
    return optimizer._get_lrs([0, 1]), optimizer._get_wds([0, 1])


@case
def learning_rate(mx):
    optimizer = mx.optimizer.SGD(learning_rate=0.3)
    optimizer.set_learning_rate(0.2)
    default = mx.optimizer.SGD()
    return optimizer.learning_rate, optimizer.lr, default.lr, mx.optimizer.Ftrl(learning_rate=0.7).lr


@case(given=[None, 0.4])
def learning_rate_of_a_scheduler(mx, given):
    schedule = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.8)
    optimizer = mx.optimizer.SGD(lr_scheduler=schedule, learning_rate=given)
    first = optimizer.lr, optimizer.learning_rate, schedule.base_lr
    weight = mx.nd.ones((2,))
    for _ in range(4):
        optimizer.update(0, weight, mx.nd.ones((2,)), None)
    return first, optimizer.learning_rate, weight


@case
def learning_rate_is_the_schedulers(mx):
    mx.optimizer.SGD(lr_scheduler=mx.lr_scheduler.FactorScheduler(1)).set_learning_rate(0.1)


@case
def learning_rate_is_read(mx):
    mx.optimizer.SGD().learning_rate = 0.1


_WRONG = {
    "argument": {"foo": 1},
    "names": {"param_idx2name": ["a"]},
}


@case(wrong=list(_WRONG))
def wrong_arguments(mx, wrong):
    mx.optimizer.SGD(**_WRONG[wrong])


@case
def lr_scale_is_gone(mx):
    mx.optimizer.SGD().set_lr_scale({})


@case
def base_class(mx):
    optimizer = mx.optimizer.Optimizer()
    state = optimizer.create_state(0, mx.nd.ones((2,)))
    optimizer.update(0, mx.nd.ones((2,)), mx.nd.ones((2,)), state)


@case
def counts_of_two_devices(mx):
    optimizer = mx.optimizer.SGD(begin_num_update=3)
    optimizer._update_count([0, 1])
    optimizer._set_current_context(1)
    optimizer._update_count(0)
    optimizer._update_count(0)
    optimizer._set_current_context(0)
    optimizer._update_count(1)
    return optimizer._all_index_update_counts, optimizer.num_update, optimizer._index_update_count


@case
def own_optimizer(mx):
    @mx.optimizer.register
    class Halving(mx.optimizer.Optimizer):
        def create_state(self, index, weight):
            return mx.nd.zeros(weight.shape)

        def update(self, index, weight, grad, state):
            self._update_count(index)
            state[:] = state + 1
            weight[:] = weight - self._get_lr(index) * grad * self.rescale_grad

    return _trained(mx, mx.optimizer.create("halving", learning_rate=0.5, rescale_grad=0.5))


@case(name=["SGD", "Adam", "RMSProp", "LAMB"], dumped=[False, True])
def states_go_on(mx, name, dumped):
    more = {"momentum": 0.9} if name == "SGD" else {}
    make = lambda: getattr(mx.optimizer, name)(learning_rate=0.1, **more)  # noqa: E731
    updater = mx.optimizer.get_updater(make())
    weight = mx.nd.array([1, 2, 3])
    for i in range(3):
        updater(0, mx.nd.array([i, 1, -i]), weight)
    again = mx.optimizer.get_updater(make())
    again.set_states(updater.get_states(dump_optimizer=dumped))
    synced = dict(again.states_synced)
    again(0, mx.nd.array([3, 1, 2]), weight)
    return weight, synced, again.optimizer.num_update, type(again.optimizer).__name__


@case
def pickled(mx):
    optimizer = pickle.loads(pickle.dumps(mx.optimizer.Adam(learning_rate=0.3, wd=0.2)))
    return optimizer.lr, optimizer.wd, optimizer.beta1, _trained(mx, optimizer)


@case(shape=[(4, 3), (4,)], wd=[0.0, 0.1])
def group_adagrad(mx, shape, wd):
    optimizer = mx.optimizer.contrib.GroupAdaGrad(learning_rate=0.1, wd=wd)
    return _trained(mx, optimizer, shapes=(shape,))
