"""Mistakes that checkers must find: each line with a comment gets mypy's error of that name, no other line gets one.

pyright must find one in each of these lines too.
"""

# ruff: noqa: B018

from __future__ import annotations

from typing import Any

import mxlite as mx
from mxlite import autograd, gluon, nd, sym
from mxlite.autograd import graph
from mxlite.gluon import nn, rnn

x = nd.array([1, 2])

nd.exp("x")  # E: arg-type
nd.exp(x, y=1)  # E: call-arg
nd.exp()  # E: call-arg
nd.expp(x)  # E: attr-defined
nd.Activation(x, act_type="rleu")  # E: arg-type
nd.clip(x, 0)  # E: call-arg
nd.transpose(x, axes="0")  # E: arg-type
nd.split(x)  # E: call-overload
nd.sum(x, keepdims=3)  # E: arg-type
nd.moments(x).shape  # E: attr-defined
x.expp()  # E: attr-defined
x.shap  # E: attr-defined
x + "1"  # E: operator
x.sum(axis=0.5)  # E: arg-type
x.attach_grad(req="add")  # E: call-arg
autograd.recrod()  # E: attr-defined
mx.gloun  # E: attr-defined
x.any().sum()  # E: attr-defined
nd.sgd_update(x, None, lr=0.1)  # E: arg-type

# Symbols.
s = sym.var("s")
sym.FullyConnected(s, num_hidden="3")  # E: arg-type
sym.FullyConnected(s, num_hiden=3)  # E: call-arg
sym.FullyConnected(x, num_hidden=3)  # E: arg-type
sym.Activation(s, act_type="rleu")  # E: arg-type
sym.expp(s)  # E: attr-defined
sym.concat([s, s])  # E: arg-type
s.asnumpy()  # E: attr-defined
s + "1"  # E: operator
s += 1  # E: arg-type, of mypy alone
sym.exp(s).shape  # E: attr-defined
nd.exp(s)  # E: arg-type

# Gluon.
nn.Dense("10")  # E: arg-type
nn.Dense(10, activaton="relu")  # E: call-arg
nn.Dense(10, prefix=3)  # E: arg-type
nn.Conv2D(3)  # E: call-arg
nn.Conv2D(3, kernel_size="3")  # E: arg-type
nn.Conv2D(3, 3, stride=2)  # E: call-arg
nn.Dense(10)("x")  # E: call-overload
nn.Dense(10)()  # E: call-overload
nn.Dense(10)(x).shap  # E: attr-defined
nn.HybridSequential()(x).shap  # E: attr-defined
gluon.loss.L2Loss()(x, "y")  # E: call-overload
gluon.loss.L2Loss()(x, x).shap  # E: attr-defined
rnn.LSTM(4)(x).shap  # E: attr-defined
rnn.LSTM(4)(x, [x])[1].shape  # E: attr-defined
gluon.Trainer({})  # E: call-arg
gluon.trainer.Trainr  # E: attr-defined


class Pair(gluon.Block):
    """Two arrays of two."""

    def forward(self, left: nd.NDArray, right: nd.NDArray) -> tuple[nd.NDArray, nd.NDArray]:
        return right, left


class Twice(gluon.HybridBlock):
    """2 * x"""

    def hybrid_forward(self, F: Any, x: nd.NDArray) -> nd.NDArray:  # noqa: N803
        return 2 * x


Pair()(x)  # E: call-arg
Pair()(x, "y")  # E: arg-type
Pair()(x, x).shape  # E: attr-defined
Twice()(1)  # E: call-overload
Twice()(x)[0].shap  # E: attr-defined
for name, parameter in Pair().collect_params().items():
    parameter.dat()  # E: attr-defined
    name.data()  # E: attr-defined

# The graph.
graph.draw(x, engin="own")  # E: call-overload
graph.summary(x, 3)  # E: arg-type
graph.Edge(1, 0)  # E: arg-type
graph.to_dot(x).shape  # E: attr-defined
