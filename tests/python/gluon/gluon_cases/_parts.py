"""What cases of blocks share: parameters set to given numbers, descriptions of blocks and parameters."""

from __future__ import annotations

import inspect
import warnings

import numpy as np


def numbers(shape, seed=0, low=-1.0, high=1.0, dtype="float32"):
    """Numbers that do not depend on the package."""
    return np.random.RandomState(seed + 7).uniform(low, high, shape).astype(dtype)


def array(mx, shape, seed=0, low=-1.0, high=1.0):
    return mx.nd.array(numbers(shape, seed, low, high))


def fill(mx, block, low=-1.0):
    """Sets the parameters of a block to given numbers; they must be initialized, and have shapes."""
    for number, param in enumerate(block.collect_params().values()):
        positive = param.name.endswith("_var")
        param.set_data(array(mx, param.shape, number, 0.5 if positive else low))
    return block


def ready(mx, block, *inputs):
    """A block that is initialized, has its shapes from a run on inputs, and given numbers as parameters."""
    block.initialize()
    block(*inputs)
    return fill(mx, block)


def described(param):
    """A parameter's attributes."""
    return [param.name, str(param.shape), np.dtype(param.dtype).name, param.grad_req, param.lr_mult, param.wd_mult]


def all_of(params):
    """The parameters of a dictionary."""
    return [described(each) for each in params.values()]


def trained(mx, block, x, weight=None):
    """Outputs of a block in training, and the gradients of its parameters and its input."""
    x.attach_grad()
    with mx.autograd.record():
        out = block(x)
        loss = (out * out).sum() if weight is None else (out * weight).sum()
    loss.backward()
    grads = [each.grad() for each in block.collect_params().values() if each.grad_req != "null"]
    return out, x.grad, grads


def signature(thing):
    """The parameters of a callable: names, kinds, defaults; of a default that is no plain value, its class."""
    found = []
    for each in inspect.signature(thing).parameters.values():
        default = each.default
        if isinstance(default, type):
            default = default.__name__
        elif not isinstance(default, (int, float, str, tuple, type(None))):
            default = type(default).__name__
        found.append([each.name, each.kind.name, default])
    return found


def net_of(mx, **kwargs):
    nn = mx.gluon.nn

    class Net(mx.gluon.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.a = nn.Dense(2, in_units=3)
                self.seq = nn.Sequential()
                self.seq.add(nn.Dense(4, in_units=2, activation="relu"))
                with self.seq.name_scope():
                    self.seq.add(nn.BatchNorm(in_channels=4), nn.Dropout(0.5))
                self.w = self.params.get("w", shape=(2,), init="ones")
                self.c = self.params.get_constant("c", mx.nd.array([1, 2]))
            self.out = nn.Dense(3, in_units=4)

        def forward(self, x):
            return self.out(self.seq(self.a(x) * self.w.data() + self.c.data()))

    return Net(**kwargs)


def shared_net(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    with net.name_scope():
        first = nn.Dense(3, in_units=3)
        net.add(first, nn.Dense(3, in_units=3, params=first.params), nn.Dense(3, in_units=3))
    return net


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [[each.category.__name__, str(each.message)] for each in found if each.category is UserWarning]
