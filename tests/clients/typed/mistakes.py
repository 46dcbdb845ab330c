"""Mistakes that `mypy --strict` must find: each line with a comment gets that error, no other line gets one."""

# ruff: noqa: B018

from __future__ import annotations

import mxlite as mx
from mxlite import autograd, nd

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
