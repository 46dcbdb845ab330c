"""Gluon blocks as symbols: called with them, exported, and made of them."""

from __future__ import annotations

import contextlib
import io
import json
import os

import numpy as np
from _case import case


def _layers(nn):
    return {
        "dense": lambda: nn.Dense(3, activation="relu"),
        "dense without bias": lambda: nn.Dense(3, use_bias=False, flatten=False),
        "conv": lambda: nn.Conv2D(2, 3, strides=2, padding=1, activation="relu"),
        "conv transposed": lambda: nn.Conv2DTranspose(2, 3, groups=1, use_bias=False),
        "max pooling": lambda: nn.MaxPool2D(),
        "average pooling": lambda: nn.AvgPool2D(3, 1, 1),
        "global pooling": lambda: nn.GlobalMaxPool2D(),
        "batch norm": lambda: nn.BatchNorm(epsilon=1e-3),
        "layer norm": lambda: nn.LayerNorm(),
        "instance norm": lambda: nn.InstanceNorm(),
        "group norm": lambda: nn.GroupNorm(1),
        "leaky relu": lambda: nn.LeakyReLU(0.1),
        "prelu": lambda: nn.PReLU(),
        "elu": lambda: nn.ELU(),
        "selu": lambda: nn.SELU(),
        "gelu": lambda: nn.GELU(),
        "swish": lambda: nn.Swish(),
        "sigmoid": lambda: nn.Activation("sigmoid"),
        "flatten": lambda: nn.Flatten(),
        "lambda": lambda: nn.HybridLambda("exp"),
        "function": lambda: nn.HybridLambda(lambda F, x: F.sin(x) + 1),
        "reflection": lambda: nn.ReflectionPad2D(1),
    }


#: What 1.9.1 writes and mxlite does not, or otherwise: shapes are known here when a block is exported.
_LEFT_OUT = ("__shape__", "cudnn_off")


def _graph_of(text):
    """The nodes of a graph without what may differ."""
    graph = json.loads(text)
    for node in graph["nodes"]:
        attributes = {key: value for key, value in node.get("attrs", {}).items() if key not in _LEFT_OUT}
        node["attrs"] = sorted(each for each in attributes.items() if not each[1].startswith("Constant_"))
    return [(node["op"], node["name"], node["attrs"], node["inputs"]) for node in graph["nodes"]], graph["heads"]


_NAMES = ["dense", "dense without bias", "conv", "conv transposed", "max pooling", "average pooling", "global pooling"]
_NAMES += ["batch norm", "layer norm", "instance norm", "group norm", "leaky relu", "prelu", "elu", "selu", "gelu"]
_NAMES += ["swish", "sigmoid", "flatten", "lambda", "function", "reflection"]


@case(name=_NAMES)
def layers_of_symbols(mx, name):
    layer = _layers(mx.gluon.nn)[name]()
    made = layer(mx.sym.var("x"))
    return made.name, made.list_arguments(), made.list_auxiliary_states(), _graph_of(made.tojson())


@case(name=_NAMES)
def layers_in_files(mx, folder, name):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(_layers(mx.gluon.nn)[name]())
    net.initialize(mx.init.One())
    net.hybridize()
    data = mx.nd.array(np.random.rand(2, 3, 6, 6))
    out = net(data)
    path = os.path.join(folder, "net")
    net.export(path, epoch=7)
    with open(f"{path}-symbol.json") as file:
        text = file.read()
    other = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0007.params")
    return out, other(data), _graph_of(text), sorted(os.listdir(folder)), mx.nd.load(f"{path}-0007.params")


_LOSSES = ["L2Loss", "L1Loss", "SigmoidBinaryCrossEntropyLoss", "SoftmaxCrossEntropyLoss", "KLDivLoss", "HuberLoss"]
_LOSSES += ["HingeLoss", "SquaredHingeLoss", "LogisticLoss"]


@case(name=_LOSSES)
def losses_of_symbols(mx, name):
    made = getattr(mx.gluon.loss, name)()(mx.sym.var("pred"), mx.sym.var("label"))
    random = np.random.RandomState(1)
    label = np.array([0.0, 1.0]) if name == "SoftmaxCrossEntropyLoss" else random.rand(2, 3)
    arrays = {"pred": mx.nd.array(random.rand(2, 3)), "label": mx.nd.array(label)}
    return made.list_arguments(), made.eval(**arrays)


@case(name=["RNNCell", "LSTMCell", "GRUCell"], layout=["NTC", "TNC"], merge=[True, False])
def cells_unrolled_over_symbols(mx, name, layout, merge):
    cell = getattr(mx.gluon.rnn, name)(3, prefix="cell_")
    outputs, states = cell.unroll(3, mx.sym.var("x"), layout=layout, merge_outputs=merge)
    group = mx.sym.Group([outputs, *states] if merge else outputs)
    shape = (2, 3, 4) if layout == "NTC" else (3, 2, 4)
    executor = group.simple_bind(mx.cpu(), x=shape)
    for number, array in enumerate(executor.arg_arrays):
        array[:] = np.random.RandomState(number).uniform(-1, 1, array.shape)
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(each.shape) for each in executor.outputs])
    return group.list_arguments(), group.infer_shape(x=shape), executor.outputs, executor.grad_arrays


@case(name=["RNN", "LSTM", "GRU"], bidirectional=[False, True])
def recurrent_layers_in_files(mx, folder, name, bidirectional):
    net = getattr(mx.gluon.rnn, name)(3, 2, bidirectional=bidirectional, prefix="rnn_")
    net.initialize(mx.init.Constant(0.1))
    net.hybridize()
    data = mx.nd.array(np.random.rand(4, 2, 5))
    states = net.begin_state(2)
    out, following = net(data, states)
    path = os.path.join(folder, "net")
    net.export(path)
    names = [f"data{number}" for number in range(1 + len(states))]
    other = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", names, f"{path}-0000.params")
    found = other(data, *states)
    return [out, *following], [*found], sorted(mx.nd.load(f"{path}-0000.params"))


def _two(mx):
    class Two(mx.gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.dense = mx.gluon.nn.Dense(2, flatten=False, in_units=2)
                self.weight = self.params.get("weight", shape=(2, 2), init="ones")
                self.constant = self.params.get_constant("constant", mx.nd.array([1, 2]))

        def hybrid_forward(self, F, x, y, weight, constant):
            return self.dense(x) + weight * y, [F.concat(constant.expand_dims(0), x, dim=0), x]

    return Two(prefix="two_")


@case
def blocks_of_two_inputs(mx, folder):
    net = _two(mx)
    net.initialize(mx.init.One())
    net.hybridize()
    x, y = mx.nd.ones((2, 2)), mx.nd.ones((2, 2)) * 3
    first, second = net(x, y)
    path = os.path.join(folder, "net")
    net.export(path)
    with open(f"{path}-symbol.json") as file:
        text = file.read()
    other = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data0", "data1"], f"{path}-0000.params")
    return [first, *second], other(x, y), _graph_of(text), sorted(mx.nd.load(f"{path}-0000.params"))


@case(what=["not hybridized", "not run", "no folder"])
def exports(mx, folder, what):
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    if what != "not hybridized":
        net.hybridize()
    if what != "not run":
        net(mx.nd.ones((1, 2)))
    net.export(os.path.join(folder, "nothing" if what == "no folder" else "", "net"))
    return sorted(os.listdir(folder))


@case
def variables_of_parameters(mx):
    param = mx.gluon.Parameter("w", shape=(2, 3), lr_mult=2, wd_mult=0.5, init=mx.init.One())
    made = param.var()
    return made.name, sorted(made.list_attr().items()), param.var().name


@case
def parameters_by_attribute(mx):
    net = _two(mx)
    made = net(mx.sym.var("a"), mx.sym.var("b"))
    return [made[0].list_arguments(), [each.list_arguments() for each in made[1]], made[0].list_outputs()]


def _symbol(mx):
    data = mx.sym.var("data")
    body = mx.sym.FullyConnected(data, num_hidden=3, name="fc")
    body = mx.sym.BatchNorm(body, name="bn")
    return data, body, mx.sym.relu(body, name="act")


_SYMBOL_BLOCKS = {
    "one": lambda mx, data, body, act: mx.gluon.SymbolBlock(act, data),
    "list": lambda mx, data, body, act: mx.gluon.SymbolBlock([body, act], [data]),
    "group": lambda mx, data, body, act: mx.gluon.SymbolBlock(mx.sym.Group([body, act]), data),
    "inside": lambda mx, data, body, act: mx.gluon.SymbolBlock(act.get_internals()["fc_output"], data),
    "number": lambda mx, data, body, act: mx.gluon.SymbolBlock(3, data),
    "number as input": lambda mx, data, body, act: mx.gluon.SymbolBlock(act, 3),
    "operator as input": lambda mx, data, body, act: mx.gluon.SymbolBlock(act, body),
}


@case(what=list(_SYMBOL_BLOCKS), hybrid=[False, True])
def symbol_blocks(mx, what, hybrid):
    block = _SYMBOL_BLOCKS[what](mx, *_symbol(mx))
    block.initialize(mx.init.One())
    block.hybridize(hybrid)
    data = mx.nd.array(np.random.rand(4, 2))
    with mx.autograd.record():
        out = block(data)
        total = sum(each.sum() for each in (out if isinstance(out, list) else [out]))
    total.backward()
    grads = {name: each.grad() for name, each in block.collect_params().items() if each.grad_req != "null"}
    return out, repr(block), sorted(block.collect_params().keys()), sorted(block._reg_params), grads, block.prefix


@case
def symbol_blocks_share_parameters(mx):
    data, body, act = _symbol(mx)
    first = mx.gluon.SymbolBlock(act, data)
    first.initialize(mx.init.One())
    second = mx.gluon.SymbolBlock(body, data, params=first.collect_params())
    first(mx.nd.ones((2, 2)))
    return second(mx.nd.ones((2, 2))), sorted(second.collect_params().keys())


@case
def symbol_blocks_of_symbols(mx):
    data, _, act = _symbol(mx)
    block = mx.gluon.SymbolBlock(act, data)
    return block(mx.sym.var("other")).list_arguments()


@case
def symbol_blocks_in_networks(mx):
    data, _, act = _symbol(mx)
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.SymbolBlock(act, data), mx.gluon.nn.Dense(2))
    net.initialize(mx.init.One())
    net.hybridize()
    out = net(mx.nd.ones((2, 2)))
    return out, sorted(net.collect_params().keys()), net(mx.sym.var("x")).list_arguments()


_WRONG = {
    "number": lambda mx, block: block(3),
    "two arrays": lambda mx, block: block(mx.nd.ones((2, 2)), mx.nd.ones(2)),
    "not initialized": lambda mx, block: block(mx.nd.ones((2, 2))),
}


@case(what=list(_WRONG))
def symbol_blocks_are_refused(mx, what):
    data, _, act = _symbol(mx)
    block = mx.gluon.SymbolBlock(act, data)
    if what != "not initialized":
        block.initialize()
    return _WRONG[what](mx, block)


@case(what=["no file", "no input", "extra", "extra ignored", "missing", "missing allowed", "no parameters"])
def imports(mx, folder, what):
    data, body, act = _symbol(mx)
    path = os.path.join(folder, "net")
    act.save(f"{path}-symbol.json")
    shapes = {"arg:fc_weight": (3, 2), "arg:fc_bias": (3,), "arg:bn_gamma": (3,), "arg:bn_beta": (3,)}
    shapes.update({"aux:bn_moving_mean": (3,), "aux:bn_moving_var": (3,)})
    if what.startswith("extra"):
        shapes["arg:more"] = (1,)
    if what.startswith("missing"):
        del shapes["arg:fc_bias"]
    mx.nd.save(f"{path}-0000.params", {name: mx.nd.ones(shape) for name, shape in shapes.items()})
    given = {"ignore_extra": what == "extra ignored", "allow_missing": what == "missing allowed"}
    file = f"{path}-none.json" if what == "no file" else f"{path}-symbol.json"
    params = None if what == "no parameters" else f"{path}-0000.params"
    block = mx.gluon.SymbolBlock.imports(file, "none" if what == "no input" else "data", params, mx.cpu(), **given)
    if what in ("missing allowed", "no parameters"):
        block.initialize(mx.init.One())
    return block(mx.nd.ones((2, 2)))


@case(given=["shapes", "short lines"])
def printed_summaries(mx, given):
    _, _, act = _symbol(mx)
    out = mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(act * 2 + act, num_hidden=2, no_bias=True, name="last"), name="softmax"
    )
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        if given == "shapes":
            mx.viz.print_summary(out, shape={"data": (4, 5)})
        else:
            mx.viz.print_summary(out, {"data": (4, 5)}, 70, [0.4, 0.6, 0.8, 1.0])
    return text.getvalue()


@case(what=["number", "unknown input"])
def summaries_are_refused(mx, what):
    _, _, act = _symbol(mx)
    if what == "number":
        return mx.viz.print_summary(3)
    return mx.viz.print_summary(act, shape={"q": (2,)})


def _residual(mx, prefix):
    """A block that names none of its nodes, around layers that name theirs."""

    class Residual(mx.gluon.HybridBlock):
        def __init__(self, **given):
            super().__init__(**given)
            with self.name_scope():
                self.body = mx.gluon.nn.HybridSequential(prefix="")
                self.body.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Activation("relu"))

        def hybrid_forward(self, F, x):  # noqa: N803
            return F.Activation(F.broadcast_add(x, self.body(x)) + F.Dropout(x), act_type="relu")

    return Residual(prefix=prefix)


@case(prefix=["", None, "own_"])
def names_of_nodes(mx, prefix):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        stage = mx.gluon.nn.HybridSequential(prefix="stage_")
        with stage.name_scope():
            for _ in range(2):
                stage.add(_residual(mx, prefix))
            stage.add(mx.gluon.nn.HybridLambda(lambda F, x: F.Activation(x, act_type="tanh")))  # noqa: N803
        net.add(stage)
    return net(mx.sym.var("data")).get_internals().list_outputs()


_CELLS = {
    "rnn": lambda rnn: rnn.RNNCell(2, prefix="c_"),
    "rnn relu": lambda rnn: rnn.RNNCell(2, "relu", prefix="c_"),
    "lstm": lambda rnn: rnn.LSTMCell(2, prefix="c_"),
    "dropout": lambda rnn: rnn.DropoutCell(0.5, prefix="c_"),
    "both ways": lambda rnn: rnn.BidirectionalCell(rnn.RNNCell(2, prefix="l_"), rnn.LSTMCell(2, prefix="r_")),
}


@case(what=list(_CELLS))
def names_of_steps(mx, what):
    outputs, states = _CELLS[what](mx.gluon.rnn).unroll(2, mx.sym.var("x"), merge_outputs=False)
    return mx.sym.Group([*outputs, *states]).get_internals().list_outputs()
