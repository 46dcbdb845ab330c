"""mx.contrib.amp: loss scales; the target is bfloat16, as 1.9.1 has no float16 layers on the processor."""

from __future__ import annotations

import importlib
import json

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


def _target(mx, name):
    """1.9.1's lists take bfloat16 as a dtype alone."""
    return _amp(mx).amp.bfloat16 if name == "bfloat16" else name


def _dtype(array):
    name = str(np.dtype(array.dtype))
    return "bfloat16" if "bfloat16" in name else name


def _net(mx):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Conv2D(4, 3, in_channels=3), mx.gluon.nn.BatchNorm(in_channels=4))
        net.add(mx.gluon.nn.Activation("relu"), mx.gluon.nn.Dense(5, in_units=4 * 16))
    net.initialize()
    rng = np.random.default_rng(3)
    for name, each in sorted(net.collect_params().items()):
        if name.endswith("weight"):
            each.set_data(mx.nd.array(rng.normal(size=each.shape)))
    net.hybridize()
    return net, mx.nd.array(rng.normal(size=(2, 3, 6, 6)))


@case(optional=[False, True], rtol=0.02, atol=0.05)
def convert_hybrid_block(mx, optional):
    net, x = _net(mx)
    net(x)
    made = _amp(mx).convert_hybrid_block(net, "bfloat16", ctx=mx.cpu(), cast_optional_params=optional)
    y = made(x)
    dtypes = {name: _dtype(each.data()) for name, each in sorted(made.collect_params().items())}
    return [type(made).__name__, dtypes, y.asnumpy()]


@case
def convert_before_a_run(mx):
    return _amp(mx).convert_hybrid_block(_net(mx)[0], "bfloat16", ctx=mx.cpu())


@case(
    target=["float16", "bfloat16"],
    name=[
        *("lp16_ops", "fp32_ops", "lp16_fp32_ops", "widest_type_cast", "conditional_fp32_ops"),
        *("lp16_use_fp32_params", "loss_output_functions"),
    ],
)
def lists_of_operators(mx, target, name):
    return "list", getattr(_amp(mx), f"list_{name}")(_target(mx, target))


@case(optional=[False, True], target=["float16", "bfloat16"])
def convert_model(mx, optional, target):
    layer = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=2, name="c")
    symbol = mx.sym.SoftmaxOutput(mx.sym.Flatten(mx.sym.BatchNorm(layer, name="bn"), name="flat"), name="softmax")
    arguments = {"c_weight": (2, 3, 3, 3), "c_bias": (2,), "bn_gamma": (2,), "bn_beta": (2,)}
    states = {"bn_moving_mean": (2,), "bn_moving_var": (2,)}
    made, args, aux = _amp(mx).convert_model(
        symbol,
        {name: mx.nd.ones(shape) for name, shape in arguments.items()},
        {name: mx.nd.ones(shape) for name, shape in states.items()},
        target,
        cast_optional_params=optional,
    )
    return [made.tojson(remove_amp_cast=False).count("amp_cast"), {n: _dtype(a) for n, a in {**args, **aux}.items()}]


@case(cast_optional_params=[False, True])
def convert_bucketing_module(mx, cast_optional_params):
    def generate(key):
        symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="f")
        return mx.sym.SoftmaxOutput(symbol, name="softmax"), ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(generate, default_bucket_key=4, context=mx.cpu())
    shapes = {"data_shapes": [("data", (2, 4))], "label_shapes": [("softmax_label", (2,))]}
    module.bind(**shapes)
    module.init_params()
    made = _amp(mx).amp.convert_bucketing_module(module, cast_optional_params=cast_optional_params)
    before = [made.binded, made.params_initialized]
    made.bind(**shapes, for_training=False)
    return [before, {name: _dtype(array) for name, array in made.get_params()[0].items()}]


_CALLS = {
    "convolution": lambda nd, x, low: nd.Convolution(
        x.reshape((1, 2, 2, 1)), nd.ones((3, 2, 1, 1)), num_filter=3, kernel=(1, 1), no_bias=True
    ),
    "dense": lambda nd, x, low: nd.FullyConnected(x, x, num_hidden=2, no_bias=True),
    "dense_float64": lambda nd, x, low: nd.FullyConnected(
        x.astype("float64"), x.astype("float64"), num_hidden=2, no_bias=True
    ),
    "exp": lambda nd, x, low: nd.exp(low),
    "exp_float64": lambda nd, x, low: nd.exp(x.astype("float64")),
    "exp_method": lambda nd, x, low: low.exp(),
    "sum_method": lambda nd, x, low: low.sum(),
    "relu": lambda nd, x, low: nd.relu(low),
    "tanh": lambda nd, x, low: nd.tanh(low),
    "square": lambda nd, x, low: nd.square(low),
    "softmax": lambda nd, x, low: nd.softmax(low),
    "relu_activation": lambda nd, x, low: nd.Activation(low, act_type="relu"),
    "softrelu_activation": lambda nd, x, low: nd.Activation(low, act_type="softrelu"),
    "elu": lambda nd, x, low: nd.LeakyReLU(low, act_type="elu"),
    "add": lambda nd, x, low: low + x,
    "add_reversed": lambda nd, x, low: x + low,
    "add_low": lambda nd, x, low: low + low,
    "times_number": lambda nd, x, low: low * 2,
    "power": lambda nd, x, low: low**2,
    "add_n": lambda nd, x, low: nd.add_n(low, x, low),
    "dot": lambda nd, x, low: nd.dot(low, x),
    "batch_norm": lambda nd, x, low: nd.BatchNorm(low, *[nd.ones((2,)) for _ in range(4)]),
    "layer_norm": lambda nd, x, low: nd.LayerNorm(low, nd.ones((2,)), nd.ones((2,))),
    "copy": lambda nd, x, low: low.copy(),
    "transpose": lambda nd, x, low: low.T,
    "slice": lambda nd, x, low: low[0:1],
    "reshape": lambda nd, x, low: low.reshape((4,)),
    "negative": lambda nd, x, low: -low,
    "maximum": lambda nd, x, low: nd.maximum(low, x),
    "less": lambda nd, x, low: low < x,
}


@case(name=list(_CALLS))
def dtypes_after_init(mx, name):
    amp = _amp(mx)
    x = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])
    low = mx.nd.amp_cast(x, dtype=amp.amp.bfloat16)
    amp.init(amp.amp.bfloat16)
    return _dtype(_CALLS[name](mx.nd, x, low))


@case(hybrid=[False, True], rtol=0.02, atol=0.05)
def network_after_init(mx, hybrid):
    _amp(mx).init(_amp(mx).amp.bfloat16)
    net, x = _net(mx)
    net.hybridize(hybrid)
    with mx.autograd.record():
        y = net(x)
        loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()(y, mx.nd.array([1, 3]))
    loss.backward()
    params = net.collect_params()
    grads = {name: _dtype(each.grad()) for name, each in sorted(params.items()) if each.grad_req != "null"}
    return [_dtype(y), _dtype(loss), loss.asnumpy(), grads, params["net_dense0_weight"].grad().asnumpy()]


@case
def symbols_after_init(mx):
    _amp(mx).init(_amp(mx).amp.bfloat16)
    with mx.name.NameManager():
        layer = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=2, kernel=(3, 3), name="c")
        both = mx.sym.Activation(mx.sym.BatchNorm(mx.sym.exp(layer) + layer), act_type="softrelu")
        symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(both, num_hidden=3), name="softmax")
    nodes = json.loads(symbol.tojson(remove_amp_cast=False))["nodes"]
    return [[node["op"], node["name"], node.get("attrs", {}), node["inputs"]] for node in nodes]


@case(scale=[1.0, 2.0])
def losses_after_init(mx, scale):
    _amp(mx).init(_amp(mx).amp.bfloat16)
    x = mx.nd.array([[1.0, 2.0, 3.0]])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.SoftmaxOutput(x, mx.nd.array([0]), grad_scale=scale)
    y.backward()
    return x.grad


@case(
    name=["lp16_ops", "fp32_ops", "lp16_fp32_ops", "conditional_fp32_ops", "widest_type_cast", "lp16_use_fp32_params"]
)
def lists_for_others(mx, name):
    return getattr(_amp(mx), f"list_{name}")("float32")
