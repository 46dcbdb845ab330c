"""Symbols: a network as a graph, its shapes, its file, and one step of gradient descent with an executor."""

from __future__ import annotations

from typing import Optional

from typing_extensions import assert_type

import mxlite as mx
from mxlite import nd, sym


def network(hidden: int, classes: int) -> sym.Symbol:
    """Two dense layers and a softmax."""
    data = sym.Variable("data")
    first = sym.FullyConnected(data, num_hidden=hidden, name="first")
    active = sym.Activation(first, act_type="tanh")
    scores = sym.FullyConnected(active, num_hidden=classes, name="second", attr={"__lr_mult__": "2"})
    return sym.SoftmaxOutput(scores * 2 - 1, sym.var("label"), name="softmax")


def main() -> None:
    net = network(8, 3)
    assert_type(net.list_arguments(), list[str])
    assert_type(net.name, Optional[str])
    shapes, outputs, _ = net.infer_shape(data=(4, 5))
    assert shapes is not None and outputs == [(4, 3)]
    again = sym.load_json(net.tojson())
    assert again.list_outputs() == net.list_outputs()
    inner = net.get_internals()["first_output"]
    assert_type(inner, sym.Symbol)
    both = sym.Group([inner, net])
    assert len(both) == 2 and [each.name for each in both] == ["first", "softmax"]
    run = net.simple_bind(mx.cpu(), data=(4, 5), label=(4,))
    for name, array in run.arg_dict.items():
        array[:] = nd.random.uniform(-0.5, 0.5, shape=array.shape) if name != "label" else 1
    (before,) = run.forward(is_train=True)
    run.backward()
    for name, gradient in run.grad_dict.items():
        if gradient is not None and name not in ("data", "label"):
            run.arg_dict[name] -= 0.1 * gradient
    chances = before.asnumpy()
    assert (run.forward()[0].asnumpy()[:, 1] > chances[:, 1]).all()


if __name__ == "__main__":
    main()
