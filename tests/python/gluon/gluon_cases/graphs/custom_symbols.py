"""mx.sym.Custom: names, states, inference and runs of operators that Python defines."""

from __future__ import annotations

import numpy as np
from _case import case


def _registered(mx):
    """Operators "pair" (two arguments, two outputs, a state that counts calls) and "plain" (nothing is said of it)."""

    class Pair(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] + in_data[1])
            self.assign(out_data[1], req[1], in_data[0] * in_data[1])
            if aux:
                aux[0][:] = aux[0] + 1

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] + out_grad[1] * in_data[1])
            self.assign(in_grad[1], req[1], out_grad[0] + out_grad[1] * in_data[0])

    class PairProp(mx.operator.CustomOpProp):
        def __init__(self, counts="1"):
            super().__init__(need_top_grad=True)
            self.states = ["count"] if int(counts) else []

        def list_arguments(self):
            return ["left", "right"]

        def list_outputs(self):
            return ["sum", "product"]

        def list_auxiliary_states(self):
            return self.states

        def infer_shape(self, shapes):
            return [shapes[0]] * 2, [shapes[0]] * 2, [(1,) for _ in self.states]

        def infer_type(self, dtypes):
            return [dtypes[0]] * 2, [dtypes[0]] * 2, [np.float32 for _ in self.states]

        def create_operator(self, context, shapes, dtypes):
            return Pair()

    class PlainProp(mx.operator.CustomOpProp):
        def create_operator(self, context, shapes, dtypes):
            return Pair()

    mx.operator.register("pair_in_symbols")(PairProp)
    mx.operator.register("plain_in_symbols")(PlainProp)
    return mx.sym.var("a"), mx.sym.var("b")


def _pair(mx, *inputs, **given):
    return mx.sym.Custom(*inputs, op_type="pair_in_symbols", **given)


_MADE = {
    "by position": lambda mx, a, b: _pair(mx, a, b, name="it"),
    "with a state": lambda mx, a, b: _pair(mx, a, b, mx.sym.var("z"), name="it"),
    "a state by name": lambda mx, a, b: _pair(mx, count=mx.sym.var("z"), name="it"),
    "one missing": lambda mx, a, b: _pair(mx, a, name="it"),
    "by name": lambda mx, a, b: _pair(mx, right=a, name="it"),
    "nothing": lambda mx, a, b: _pair(mx),
    "without states": lambda mx, a, b: _pair(mx, a, b, counts=0, name="it"),
    "one output": lambda mx, a, b: _pair(mx, a, b, name="it")[1],
    "output by name": lambda mx, a, b: _pair(mx, a, b, name="it")["it_sum"],
    "of another": lambda mx, a, b: _pair(mx, *_pair(mx, a, b, name="it"), name="that"),
    "plain": lambda mx, a, b: mx.sym.Custom(a, op_type="plain_in_symbols", name="it"),
    "plain, nothing": lambda mx, a, b: mx.sym.Custom(op_type="plain_in_symbols", name="it"),
    "too many": lambda mx, a, b: _pair(mx, a, b, a, b, name="it"),
    "another name": lambda mx, a, b: _pair(mx, nosuch=a, name="it"),
}


@case(what=list(_MADE))
def made(mx, what):
    symbol = _MADE[what](mx, *_registered(mx))
    return {
        "name": symbol.name,
        "arguments": symbol.list_arguments(),
        "outputs": symbol.list_outputs(),
        "states": symbol.list_auxiliary_states(),
        "internals": symbol.get_internals().list_outputs(),
        "json": symbol.tojson(),
        "again": mx.sym.load_json(symbol.tojson()).tojson() == symbol.tojson(),
    }


@case(known=[{"a": (2, 3)}, {"a": (2, 3), "b": (2, 3)}, {"a": (2, 3), "b": (3,)}, {}])
def shapes(mx, known):
    return _pair(mx, *_registered(mx)).infer_shape_partial(**known)


@case(known=[{"a": "float64"}, {"b": "float64"}, {}, {"a": "float64", "b": "float32"}])
def dtypes(mx, known):
    found = _pair(mx, *_registered(mx)).infer_type(**known)
    return [None if each is None else [np.dtype(one).name for one in each] for each in found]


@case(counts=[0, 1])
def runs(mx, counts):
    executor = _pair(mx, *_registered(mx), counts=counts, name="it").simple_bind(mx.cpu(), a=(2,), b=(2,))
    for _ in range(2):
        results = executor.forward(is_train=True, a=mx.nd.array([1, 2]), b=mx.nd.array([3, 4]))
    executor.backward([mx.nd.ones(2), mx.nd.ones(2)])
    gradients = {name: executor.grad_dict[name] for name in ("a", "b")}
    return results, gradients, dict(executor.aux_dict.items())
