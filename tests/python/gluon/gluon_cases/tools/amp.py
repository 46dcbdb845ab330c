"""mx.contrib.amp: loss scales; the target is bfloat16, as 1.9.1 has no float16 layers on the processor."""

from __future__ import annotations

import importlib

import numpy as np
from _case import case


def _amp(mx):
    return importlib.import_module(f"{mx.__name__}.contrib.amp")


def _scaler(mx):
    return importlib.import_module(f"{mx.__name__}.contrib.amp.loss_scaler").LossScaler()


def _trained(mx, start=True, kind="sgd", **settings):
    """A parameter, and a trainer with a loss scale."""
    parameter = mx.gluon.Parameter("weight", shape=(3,))
    parameter.initialize(mx.init.One())
    trainer = mx.gluon.Trainer([parameter], kind, {"learning_rate": 0.1, **settings}, kvstore=None)
    if start:
        _amp(mx).init("bfloat16")
        _amp(mx).init_trainer(trainer)
    return parameter, trainer


def _backward(mx, parameter, trainer, factor=1.0):
    with mx.autograd.record():
        loss = (parameter.data() * parameter.data()).sum() * factor
        with _amp(mx).scale_loss(loss, trainer) as scaled:
            mx.autograd.backward(scaled)


def _numbers(scaler):
    return [scaler.loss_scale, scaler._next_loss_scale, scaler._unskipped]


@case(target=["float32", "int8", "half", None])
def bad_targets(mx, target):
    return _amp(mx).init(target)


@case(times=[1, 2])
def init(mx, times):
    for _ in range(times):
        answer = _amp(mx).init("bfloat16")
    return str(answer)


@case
def first_scale(mx):
    parameter, trainer = _trained(mx)
    return [trainer._amp_loss_scaler.loss_scale, trainer._amp_original_scale, trainer._scale]


@case(kind=["optimizer", "text", "none"])
def init_trainer_of_others(mx, kind):
    _amp(mx).init("bfloat16")
    _amp(mx).init_trainer({"optimizer": mx.optimizer.SGD(), "text": "sgd", "none": None}[kind])


@case(call=["scale_loss", "unscale"])
def before_init_trainer(mx, call):
    trainer = _trained(mx, start=False)[1]
    if call == "unscale":
        return str(_amp(mx).unscale(trainer))
    with _amp(mx).scale_loss(mx.nd.ones((2,)), trainer):
        pass


@case(kind=["array", "list", "tuple", "number"])
def scale_loss(mx, kind):
    trainer = _trained(mx)[1]
    loss = mx.nd.array([1.5])
    given = {"array": loss, "list": [loss, loss * 2], "tuple": (loss,), "number": 2.0}[kind]
    with _amp(mx).scale_loss(given, trainer) as scaled:
        return [scaled, trainer._scale]


@case(rescale=[1.0, 0.5], batch=[1, 4], kind=["sgd", "adam"])
def steps(mx, rescale, batch, kind):
    parameter, trainer = _trained(mx, kind=kind, rescale_grad=rescale)
    found = []
    for _ in range(3):
        _backward(mx, parameter, trainer)
        trainer.step(batch)
        found.append([parameter.data(), *_numbers(trainer._amp_loss_scaler), trainer._scale])
    return found


@case(rescale=[1.0, 0.5])
def unscale(mx, rescale):
    parameter, trainer = _trained(mx, rescale_grad=rescale)
    _backward(mx, parameter, trainer)
    before = parameter.grad().copy()
    _amp(mx).unscale(trainer)
    after = parameter.grad().copy()
    scale = trainer._scale
    trainer.step(1)
    return [before, after, scale, parameter.data()]


@case(half=["step", "update"], factor=[1e38, np.inf, np.nan])
def overflows(mx, half, factor):
    parameter, trainer = _trained(mx)
    found = []
    for each in (1.0, factor, 1.0, 1.0):
        _backward(mx, parameter, trainer, each)
        if half == "update":
            trainer.allreduce_grads()
        getattr(trainer, half)(1)
        found.append([parameter.data(), *_numbers(trainer._amp_loss_scaler), trainer._scale])
    return found


@case(value=[np.inf, -np.inf, np.nan, 1.0, 3e38], place=[0, 2])
def has_overflow(mx, value, place):
    parameter = _trained(mx, start=False)[0]
    grad = np.ones(3, "float32")
    grad[place] = value
    parameter.grad()[:] = mx.nd.array(grad)
    scaler = _scaler(mx)
    return [scaler.has_overflow([parameter]), *_numbers(scaler)]


@case(good=[0, 1, 1999, 2000, 2001, 4000], bad=[0, 1, 3])
def scale_changes(mx, good, bad):
    parameter = _trained(mx, start=False)[0]
    scaler = _scaler(mx)
    parameter.grad()[:] = np.inf
    for _ in range(bad):
        scaler.has_overflow([parameter])
    parameter.grad()[:] = 1
    scaler._unskipped = max(0, good - 3)
    for _ in range(min(good, 3)):
        scaler.has_overflow([parameter])
    return _numbers(scaler)


@case
def most_scale(mx):
    parameter = _trained(mx, start=False)[0]
    parameter.grad()[:] = 1
    scaler = _scaler(mx)
    for _ in range(12):
        scaler._unskipped = 1999
        scaler.has_overflow([parameter])
    return _numbers(scaler)


@case
def overflow_of_nothing(mx):
    return _scaler(mx).has_overflow([])


@case(block=["number", "function", "block"])
def convert_others(mx, block):
    given = {"number": 3, "function": len, "block": mx.gluon.nn.Sequential()}[block]
    return _amp(mx).convert_hybrid_block(given, "bfloat16", ctx=mx.cpu())


@case(target=["float32", "float64", "int8"])
def convert_to_others(mx, target):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Activation("relu"))
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    return _amp(mx).convert_hybrid_block(net, target, ctx=mx.cpu())


@case(differs="The block itself, in float32; 1.9.1 makes a graph that casts.")
def convert_hybrid_block(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    return type(_amp(mx).convert_hybrid_block(net, "bfloat16", ctx=mx.cpu())).__name__


@case(differs="Nothing: no operator is cast.", name=["lp16_ops", "fp32_ops", "lp16_fp32_ops", "widest_type_cast"])
def lists_of_operators(mx, name):
    return len(getattr(_amp(mx), f"list_{name}")("float16"))


@case(
    name=["lp16_ops", "fp32_ops", "lp16_fp32_ops", "conditional_fp32_ops", "widest_type_cast", "lp16_use_fp32_params"]
)
def lists_for_others(mx, name):
    return getattr(_amp(mx), f"list_{name}")("float32")
