"""Hybridized blocks: what runs as a graph, and what the first call decides."""

from __future__ import annotations

import copy
import ctypes
import os
import pickle
import warnings

import numpy as np
from _case import case


def _block(mx, function, **flags):
    """A hybridized block of `hybrid_forward(F, *inputs)`."""

    class Made(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, *inputs):
            return function(F, *inputs)

    made = Made(prefix="made_")
    made.hybridize(**flags)
    return made


def _ones(net, *sizes, mx):
    net.initialize(mx.init.One())
    net.hybridize()
    return net(mx.nd.ones(sizes))


def _network(mx, **flags):
    """Layers of each kind that differ in training, with numbers that do not depend on either package's generator."""
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(), nn.Flatten())
        net.add(nn.Dense(5, activation="tanh"), nn.Dense(2))
    net.initialize()
    net(mx.nd.zeros((1, 2, 6, 6)))
    random = np.random.RandomState(3)
    for each in net.collect_params().values():
        each.set_data(mx.nd.array(random.uniform(0.1, 0.5, each.shape)))
    net.hybridize(**flags)
    return net


_FLAGS = {
    "none": {},
    "static_alloc": {"static_alloc": True},
    "static": {"static_alloc": True, "static_shape": True},
    "inline": {"inline_limit": 0},
    "bulk": {"forward_bulk_size": 3, "backward_bulk_size": 5},
    "not active": {"active": False},
}


@case(flags=list(_FLAGS))
def trained(mx, flags):
    net = _network(mx, **_FLAGS[flags])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize()
    random = np.random.RandomState(1)
    losses, labels = [], mx.nd.array([0, 1, 1])
    for size in (3, 3, 2, 3):  # batches of several sizes
        data = mx.nd.array(random.rand(size, 2, 6, 6))
        with mx.autograd.record():
            loss = loss_of(net(data), labels[:size])
        loss.backward()
        trainer.step(size)
        losses.append(loss)
        losses.append(net(data))
    return losses, [each.data() for each in net.collect_params().values()]


@case
def gradients_of_inputs(mx):
    net = _network(mx)
    data = mx.nd.array(np.random.RandomState(2).rand(2, 2, 6, 6))
    data.attach_grad()
    for training in (True, False):
        with mx.autograd.record(train_mode=training):
            out = net(data)
        out.backward()
    again = data.grad.copy()
    with mx.autograd.record():
        out = net(data * 2).sum() + (data * data).sum()
    out.backward()
    return again, data.grad, [each.data() for name, each in net.collect_params().items() if "running" in name]


@case
def dropout(mx):
    block = mx.gluon.nn.Dropout(0.5)
    block.hybridize()
    data = mx.nd.ones((1000,))
    with mx.autograd.record():
        kept = block(data)
    outside = block(data)
    with mx.autograd.train_mode():
        training = block(data)
    counts = [int((each == 0).sum().asscalar()) for each in (kept, outside, training)]
    return [0 < count < 1000 for count in counts]


_FORMS = {
    "list": lambda mx, x: _block(mx, lambda F, a, b: [a + b[0], [b[1] * 2, a - 1]])(x, [x, x * 3]),
    "tuple": lambda mx, x: _block(mx, lambda F, a: (a * 2, a + 1))(x),
    "tuple of one": lambda mx, x: _block(mx, lambda F, a: (a * 2,))(x),
    "several of an operator": lambda mx, x: _block(mx, lambda F, a: F.split(a, 3, axis=1))(x),
    "the input": lambda mx, x: _block(mx, lambda F, a: a)(x),
    "one twice": lambda mx, x: (lambda a: _block(mx, lambda F, a: [a * 2] * 2)(a))(x),
    "None first": lambda mx, x: _block(mx, lambda F, a, b: b * 2)(None, x),
    "None last": lambda mx, x: _block(mx, lambda F, a, b: a * 2 if b is None else a + b)(x, None),
    "None in a list": lambda mx, x: _block(mx, lambda F, a, b: a + b[1])(x, [None, x]),
    "default": lambda mx, x: _block(mx, lambda F, a, b=None: a * 2 if b is None else a + b)(x),
    "nothing used": lambda mx, x: _block(mx, lambda F, a, b: b * 2)(x, x + 1),
    "number": lambda mx, x: _block(mx, lambda F, a, b: a * b)(x, 3),
    "text": lambda mx, x: _block(mx, lambda F, a, b: a)(x, "b"),
    "NumPy": lambda mx, x: _block(mx, lambda F, a, b: a)(x, np.ones(2)),
    "no array": lambda mx, x: _block(mx, lambda F, a: a)(3),
    "None alone": lambda mx, x: _block(mx, lambda F, a: a)(None),
    "mixed": lambda mx, x: _block(mx, lambda F, a, b: a + b)(x, mx.sym.var("b")),
    "contexts": lambda mx, x: _block(mx, lambda F, a, b: a + b)(x, x.as_in_context(mx.cpu(1))),
    "output a number": lambda mx, x: _block(mx, lambda F, a: 3)(x),
}


@case(form=list(_FORMS))
def forms(mx, form):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _FORMS[form](mx, mx.nd.array(np.arange(6).reshape((2, 3))))
    return type(found).__name__, found


@case(differs="1.9.1 refuses None among the outputs")
def an_output_that_is_none(mx):
    return _block(mx, lambda F, a: (a, None))(mx.nd.ones((2, 3)))


def _other_form(mx, first, then):
    given = {"array": mx.nd.ones((2,)), "None": None, "list": [mx.nd.ones((2,))]}
    block = _block(mx, lambda F, a, b: a * 2 if b is None else a + (b[0] if isinstance(b, list) else b))
    block(mx.nd.ones((2,)), given[first])
    return block(mx.nd.ones((2,)), given[then])


@case(form=["array", "None", "list"])
def same_forms(mx, form):
    return _other_form(mx, form, form)


@case(
    differs="1.9.1 refuses a form of inputs that is not the first one's",
    forms=["array list", "array None", "None array", "None list", "list array", "list None"],
)
def other_forms(mx, forms):
    return _other_form(mx, *forms.split())


_UNTRACED = {
    "shape": lambda F, a: F.reshape(a, (a.shape[0], -1)),
    "dtype": lambda F, a: F.cast(a, a.dtype),
    "context": lambda F, a: F.zeros((2,), ctx=a.context) + a,
    "condition": lambda F, a: a if F.sum(a) > 0 else -a,
    "asnumpy": lambda F, a: a * a.asnumpy(),
    "asscalar": lambda F, a: a * F.sum(a).asscalar(),
    "length": lambda F, a: a * len(a),
    "key": lambda F, a: a[0:1],
    "assigned": lambda F, a: a.__setitem__(0, 3),
}


@case(what=list(_UNTRACED))
def blocks_that_symbols_cannot_do(mx, what):
    return _block(mx, _UNTRACED[what])(mx.nd.ones((2, 3)))


@case(what=["unused input", "unused parameter"])
def warned(mx, what):
    block = _block(mx, (lambda F, a, b: a * 2) if what == "unused input" else (lambda F, a: a * 2))
    if what == "unused parameter":
        block = mx.gluon.nn.HybridSequential(prefix="net_")
        block.add(_block(mx, lambda F, a: a * 2))
        block.params.get("more", shape=(2,))
        block.initialize()
        block.hybridize()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        block(*[mx.nd.ones((2,))] * (1 + (what == "unused input")))
    of_graphs = ("used by any", "graph of this block does not use")  # 1.9.1, mxlite
    return [each.category.__name__ for each in found if any(text in str(each.message) for text in of_graphs)]


@case
def parameters_of_others(mx):
    other = mx.gluon.Parameter("other", shape=(2,))
    other.initialize()
    return _block(mx, lambda F, a: a + other.var())(mx.nd.ones((2,)))


_CHANGES = {
    "set_data": lambda mx, net: net[0].weight.set_data(mx.nd.zeros((2, 3))),
    "in place": lambda mx, net: net[0].weight.data().__setitem__(slice(None), 4),
    "initialize": lambda mx, net: net.initialize(mx.init.Constant(2), force_reinit=True),
    "child": lambda mx, net: (net.add(mx.gluon.nn.Dense(5, prefix="more_")), net[1].initialize(mx.init.One())),
    "plain": lambda mx, net: net.hybridize(False),
    "again": lambda mx, net: net.hybridize(static_alloc=True),
    "child plain": lambda mx, net: net[0].hybridize(False),
    "grad_req": lambda mx, net: net.collect_params().setattr("grad_req", "null"),
    "context": lambda mx, net: net.collect_params().reset_ctx(mx.cpu(0)),
}


@case(what=list(_CHANGES))
def changed_after_a_call(mx, what):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(2))
    before = _ones(net, 2, 3, mx=mx)
    _CHANGES[what](mx, net)
    with mx.autograd.record():
        after = net(mx.nd.ones((2, 3)))
    if what != "grad_req":
        after.backward()
    return before, after


@case
def casts(mx):
    net = mx.gluon.nn.Dense(2)
    before = _ones(net, 2, 3, mx=mx)
    net.cast("float64")
    return before, net(mx.nd.ones((2, 3), dtype="float64")), net.weight.data()


@case
def other_dtypes_are_refused(mx):
    net = mx.gluon.nn.Dense(2)
    _ones(net, 2, 3, mx=mx)
    return net(mx.nd.ones((2, 3), dtype="float64"))


@case
def contexts(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    net.hybridize()
    found = [net(mx.nd.ones((2, 3), ctx=mx.cpu(number))) for number in (1, 0, 1)]
    return [str(each.context) for each in found], found


@case(copied=["pickle of parameters", "deepcopy", "load_parameters"])
def copies(mx, folder, copied):
    net = _network(mx)
    data = mx.nd.array(np.random.RandomState(4).rand(2, 2, 6, 6))
    out = net(data)
    if copied == "deepcopy":
        other = copy.deepcopy(mx.gluon.nn.Dense(3, in_units=2, prefix="d_"))
        other.initialize(mx.init.One())
        other.hybridize()
        return other(mx.nd.ones((1, 2)))
    path = os.path.join(folder, "net.params")
    net.save_parameters(path)
    other = _network(mx)
    for each in other.collect_params().values():
        each.set_data(each.data() * 0)
    zero = other(data)
    if copied == "load_parameters":
        other.load_parameters(path)
    else:
        for each, from_other in zip(other.collect_params().values(), net.collect_params().values()):
            each.set_data(mx.nd.array(pickle.loads(pickle.dumps(from_other.data().asnumpy()))))
    return out, zero, other(data)


@case
def shared_parameters(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        first = nn.Dense(3, in_units=3)
        net.add(first, nn.Dense(3, in_units=3, params=first.params))
    _ones(net, 1, 3, mx=mx)
    with mx.autograd.record():
        out = net(mx.nd.ones((1, 3)))
    out.backward()
    return out, first.weight.grad(), len(net.collect_params().keys())


@case
def hybridized_in_a_plain_block(mx):
    class Outer(mx.gluon.Block):
        def __init__(self):
            super().__init__(prefix="outer_")
            with self.name_scope():
                self.first, self.second = mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(3)

        def forward(self, x):
            return self.second(self.first(x) * x.shape[0])

    return _ones(Outer(), 4, 3, mx=mx)


@case(monitor_all=[False, True])
def operator_hooks(mx, monitor_all):
    seen = []
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(3))

    def hook(name, operator, handle):
        seen.append((name, operator, mx.nd.NDArray(ctypes.c_void_p(handle)).shape))

    net.register_op_hook(hook, monitor_all)
    net.initialize(mx.init.One())
    net(mx.nd.ones((1, 2)))
    plain = len(seen)
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    return plain, seen


@case
def hooks_of_forward(mx):
    seen = []
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    net.add(mx.gluon.nn.Dense(2))
    net.register_forward_hook(lambda block, inputs, out: seen.append(f"outer {type(out).__name__}"))
    net[0].register_forward_hook(lambda block, inputs, out: seen.append(f"inner {type(out).__name__}"))
    for _ in range(2):
        _ones(net, 1, 2, mx=mx)
    net(mx.nd.ones((1, 2)))
    return seen


@case(what=["summary", "optimize_for without a name"])
def refused(mx, what):
    net = mx.gluon.nn.Dense(2)
    _ones(net, 1, 2, mx=mx)
    return net.summary(mx.nd.ones((1, 2))) if what == "summary" else net.optimize_for(mx.nd.ones((1, 2)))


@case(state=["exported again", "cleared", "kept", "plain"])
def exported_when(mx, folder, state):
    net = mx.gluon.nn.Dense(2)
    _ones(net, 1, 2, mx=mx)
    if state == "plain":
        net.hybridize(False)
    elif state != "exported again":
        net.hybridize(clear=state == "cleared")
    for _ in range(2):
        net.export(os.path.join(folder, "net"))
    return sorted(os.listdir(folder))


@case(alone=[True, False], kind=["RNN", "LSTM", "GRU"])
def recurrent_layers_of_unknown_size(mx, alone, kind):
    layer = getattr(mx.gluon.rnn, kind)(4, 2, prefix="layer_")
    net = layer
    if not alone:
        net = mx.gluon.nn.HybridSequential(prefix="net_")
        net.add(layer)
    net.initialize(mx.init.Constant(0.1))
    net.hybridize()
    found = [net(mx.nd.ones((3, size, 2))) for size in (2, 5)]
    return found, [each.shape for each in net.collect_params().values()]


@case(value=["zeros", "random"])
def arrays_that_graphs_make(mx, value):
    made = (
        (lambda F, a: a + F.zeros((2, 3)))
        if value == "zeros"
        else (lambda F, a: a + 0 * F.random.uniform(shape=(2, 3)))
    )
    return _block(mx, made)(mx.nd.ones((2, 3)))


@case
def unknown_parameters(mx):
    class Scale(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__(prefix="scale_")
            self.scale = self.params.get("scale", shape=(0, 3), init="ones", allow_deferred_init=True)

        def hybrid_forward(self, F, x, scale):
            return x * scale

    net = Scale()
    out = _ones(net, 2, 3, mx=mx)
    return out, net.scale.shape


#: Operators between an array of unknown size and the sum from which its shape is inferred.
_BETWEEN = {
    "where": lambda F, a: F.where(F.ones((2, 3)), a, 2 * a),
    "scalar": lambda F, a: 2 / (a * 2 + 1),
    "comparison": lambda F, a: a > 1,
    "identity": lambda F, a: F.identity(a),
    "expand_dims": lambda F, a: F.squeeze(F.expand_dims(a, axis=1) + F.ones((2, 1, 3)), axis=1),
    "expand_dims back": lambda F, a: F.sum(F.expand_dims(a, axis=-1) + F.ones((2, 3, 1)), axis=2),
    "transpose": lambda F, a: F.transpose(F.transpose(a) + F.ones((3, 2))),
    "transpose axes": lambda F, a: F.transpose(F.transpose(a, axes=(1, 0)) + F.ones((3, 2)), axes=(1, 0)),
    "split": lambda F, a: F.concat(F.ones((2, 1)) + F.split(a, num_outputs=3, axis=1)[1], F.ones((2, 2)), dim=1),
    "split squeezed": lambda F, a: F.expand_dims(
        F.ones((2,)) + F.split(a, num_outputs=3, axis=1, squeeze_axis=True)[2], axis=1
    ),
    "reverse": lambda F, a: F.reverse(a, axis=1),
    "cumsum": lambda F, a: F.cumsum(a, axis=1),
    "divided": lambda F, a: F.contrib.div_sqrt_dim(a),
    "activation": lambda F, a: F.tanh(F.Activation(a, act_type="relu")),
}


@case(between=list(_BETWEEN))
def states_of_unknown_size(mx, between):
    def made(F, x):
        out = _BETWEEN[between](F, F.ones((0, 3)))
        return F.broadcast_add(out, x) if "split squeezed" in between else F.elemwise_add(out, x)

    block = _block(mx, made)
    return block(mx.nd.array(np.arange(6).reshape((2, 3))))


@case
def formats(mx, folder):
    block = _block(mx, lambda F, x, ys: (x + ys[0], [ys[1], [x * 2]]))
    x, y = mx.nd.ones((2,)), mx.nd.arange(2)
    block(x, [x, y])
    block.export(os.path.join(folder, "made"))
    files = [os.path.join(folder, name) for name in ("made-symbol.json", "made-0000.params")]
    other = mx.gluon.SymbolBlock.imports(files[0], ["data0", "data1", "data2"])
    before = other._in_format
    other._in_format, other._out_format = block._in_format, block._out_format
    return block._in_format, block._out_format, before, other(x, [x, y])
