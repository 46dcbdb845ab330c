"""mx.operator.NumpyOp and NDArrayOp, the operators before CustomOp, in executors and modules."""

from __future__ import annotations

import warnings

import numpy as np
from _case import case

from gluon_cases._parts import array, signature

_KINDS = ["NumpyOp", "NDArrayOp"]


def _softmax(mx, kind, need_top_grad=False):
    """The loss of MXNet's own examples of such operators, in the arrays of the kind; 1.9.1 hangs where an operator
    reads an NDArray.
    """

    class Softmax(getattr(mx.operator, kind)):
        def __init__(self):
            super().__init__(need_top_grad)

        def list_arguments(self):
            return ["data", "label"]

        def list_outputs(self):
            return ["output"]

        def infer_shape(self, in_shape):
            return [in_shape[0], [in_shape[0][0]]], [in_shape[0]]

        def forward(self, in_data, out_data):
            if kind == "NDArrayOp":
                out_data[0][:] = mx.nd.softmax(in_data[0])
            else:
                powers = np.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
                out_data[0][:] = powers / powers.sum(axis=1, keepdims=True)

        def backward(self, out_grad, in_data, out_data, in_grad):
            if kind == "NDArrayOp":
                found = out_data[0] - mx.nd.one_hot(in_data[1], 3)
            else:
                found = out_data[0] - np.eye(3, dtype="float32")[in_data[1].astype("int64")]
            in_grad[0][:] = found * out_grad[0] if need_top_grad else found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Softmax()


@case(kind=["PythonOp", *_KINDS])
def signatures(mx, kind):
    owner = getattr(mx.operator, kind)
    methods = "forward backward infer_shape list_outputs list_arguments need_top_grad get_symbol".split()
    return signature(owner), [signature(getattr(owner, name)) for name in methods]


@case(kind=_KINDS)
def names(mx, kind):
    op, x, y = _softmax(mx, kind), mx.sym.var("x"), mx.sym.var("y")
    made = [op(x, name="s"), op(x, y), op.get_symbol(data=x, label=y), op(x), op()]
    with mx.name.Prefix("p_"):
        made += [op(x), op(x, name="s")]
    return [(each.name, each.list_arguments(), each.list_outputs()) for each in made]


@case(kind=_KINDS)
def shapes(mx, kind):
    out = _softmax(mx, kind)(mx.sym.var("x"), name="s")
    return out.infer_shape(x=(2, 3), s_label=(2,))


@case(request=["write", "add", "null"])
def losses(mx, request):
    return _losses(mx, "NumpyOp", request)


@case(request=["write"], differs="1.9.1 fails in the backward of an NDArrayOp that needs no gradient of its outputs")
def losses_of_ndarrays(mx, request):
    return _losses(mx, "NDArrayOp", request)


def _losses(mx, kind, request):
    out = _softmax(mx, kind)(mx.sym.var("x") * 2, name="s")
    one = out.simple_bind(mx.cpu(), x=(4, 3), s_label=(4,), grad_req={"x": request, "s_label": "null"})
    one.arg_dict["x"][:] = array(mx, (4, 3), 1)
    one.arg_dict["s_label"][:] = mx.nd.array([0, 2, 1, 1])
    found = []
    for _ in range(2):
        found.append(one.forward(is_train=True)[0].asnumpy())
        one.backward()
    return found, one.grad_dict["x"]


@case(kind=_KINDS)
def heads(mx, kind):
    out = _softmax(mx, kind, True)(mx.sym.var("x"), name="s")
    one = out.simple_bind(mx.cpu(), x=(2, 3), s_label=(2,))
    one.arg_dict["x"][:] = array(mx, (2, 3), 1)
    one.arg_dict["s_label"][:] = mx.nd.array([0, 2])
    one.forward(is_train=True)[0].wait_to_read()
    one.backward(array(mx, (2, 3), 2))
    return one.grad_dict["x"]


@case(kind=_KINDS)
def defaults(mx, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        op = getattr(mx.operator, kind)()
    one = op(mx.sym.var("x"), name="d").bind(mx.cpu(), [array(mx, (2, 3), 1)], [mx.nd.zeros((2, 3))])
    found = one.forward(is_train=True)[0].asnumpy()
    one.backward(mx.nd.full((2, 3), 5))
    facts = op.list_arguments(), op.list_outputs(), op.need_top_grad(), op.infer_shape([[2, 3]])
    return found, one.grad_arrays, facts


@case
def training(mx):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="f")
    net = _softmax(mx, "NumpyOp")(net, name="softmax")
    labels = np.arange(12) % 3
    data = mx.io.NDArrayIter(np.eye(3, 5, dtype="float32")[labels], labels.astype("float32"), 4)
    module = mx.mod.Module(net)
    module.fit(data, num_epoch=3, initializer=mx.init.Constant(0.1), optimizer_params={"learning_rate": 0.5})
    return module.get_params()[0], module.score(data, "acc")
