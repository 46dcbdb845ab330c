"""mx.executor: symbols bound to arrays, run forward and backward."""

from __future__ import annotations

import numpy as np
from _case import case


def _net(mx):
    return mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=2, name="fc")


def _arrays(mx):
    numbers = np.arange(6.0).reshape(2, 3)
    return {"a": mx.nd.array(numbers), "fc_weight": mx.nd.array(numbers / 4), "fc_bias": mx.nd.array([1, -1])}


def _bound(mx, **given):
    grads = {name: mx.nd.zeros(each.shape) for name, each in _arrays(mx).items()}
    return _net(mx).bind(mx.cpu(), _arrays(mx), args_grad=grads, **given)


def _lists(executor):
    return executor.arg_arrays, executor.grad_arrays, executor.aux_arrays, len(executor.outputs)


_BOUND = {
    "dict": lambda mx, net, a: net.bind(mx.cpu(), a),
    "list": lambda mx, net, a: net.bind(mx.cpu(), list(a.values())),
    "extra": lambda mx, net, a: net.bind(mx.cpu(), {**a, "more": a["a"]}),
    "missing": lambda mx, net, a: net.bind(mx.cpu(), {"a": a["a"]}),
    "short list": lambda mx, net, a: net.bind(mx.cpu(), [a["a"]]),
    "numbers": lambda mx, net, a: net.bind(mx.cpu(), [1, 2, 3]),
    "no context": lambda mx, net, a: net.bind("cpu", a),
    "gradients": lambda mx, net, a: net.bind(mx.cpu(), a, {"a": mx.nd.ones((2, 3))}),
    "gradients of all": lambda mx, net, a: net.bind(mx.cpu(), a, [each * 2 for each in a.values()]),
    "gradients of too few": lambda mx, net, a: net.bind(mx.cpu(), a, [a["a"]]),
    "request": lambda mx, net, a: net.bind(mx.cpu(), a, grad_req="none"),
    "states": lambda mx, net, a: net.bind(mx.cpu(), a, aux_states=[1]),
    "wrong shape": lambda mx, net, a: net.bind(mx.cpu(), {**a, "fc_bias": mx.nd.ones(3)}),
}


@case(what=list(_BOUND))
def bound(mx, what):
    return _lists(_BOUND[what](mx, _net(mx), _arrays(mx)))


@case(req=["write", "add", "null", {"a": "add", "fc_weight": "write"}, ["write", "write", "null"]])
def requests(mx, req):
    executor = _bound(mx, grad_req=req)
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.array([[1, 2], [3, 4]]))
    return executor.outputs, executor.grad_arrays, executor.grad_dict


_RUNS = {
    "plain": lambda mx, ex: ex.forward(),
    "training": lambda mx, ex: ex.forward(is_train=True),
    "array": lambda mx, ex: ex.forward(a=mx.nd.ones((2, 3))),
    "NumPy array": lambda mx, ex: ex.forward(a=np.ones((2, 3))),
    "wrong shape": lambda mx, ex: ex.forward(a=mx.nd.ones((3, 3))),
    "number": lambda mx, ex: ex.forward(a=3),
    "unknown": lambda mx, ex: ex.forward(b=mx.nd.ones((2, 3))),
}


@case(what=list(_RUNS))
def forward(mx, what):
    executor = _bound(mx)
    made = _RUNS[what](mx, executor)
    return made, made is executor.outputs, executor.output_dict, executor.arg_dict


@case(training=[True, False], heads=["array", "list", "dict", "wrong shape", "text"])
def backward(mx, training, heads):
    executor = _bound(mx)
    executor.forward(is_train=training)
    head = mx.nd.array([[1, 2], [3, 4]])
    given = {"array": head, "list": [head], "dict": {"fc_output": head}, "text": "x"}
    executor.backward(given.get(heads, mx.nd.ones((2, 3))))
    return executor.grad_arrays


@case
def backward_of_a_loss(mx):
    net = mx.sym.SoftmaxOutput(_net(mx), name="softmax")
    executor = net.simple_bind(mx.cpu(), a=(2, 3), softmax_label=(2,))
    executor.copy_params_from(_arrays(mx))
    executor.forward(is_train=True, softmax_label=mx.nd.array([0, 1]))
    executor.backward()
    return executor.outputs, executor.grad_dict


_COPIED = {
    "all": ({"fc_bias": (2,)}, None, False),
    "unknown": ({"q": (2,)}, None, False),
    "unknown allowed": ({"q": (2,), "fc_bias": (2,)}, None, True),
    "unknown state": ({"fc_bias": (2,)}, {"x": (2,)}, False),
    "unknown state allowed": ({"fc_bias": (2,)}, {"x": (2,)}, True),
    "wrong shape": ({"fc_bias": (3,)}, None, False),
}


@case(what=list(_COPIED))
def copied_parameters(mx, what):
    executor = _bound(mx)
    args, states, extra = _COPIED[what]
    made = [
        None if each is None else {name: mx.nd.ones(shape) * 7 for name, shape in each.items()}
        for each in (args, states)
    ]
    executor.copy_params_from(*made, allow_extra_params=extra)
    return executor.arg_dict


_RESHAPED = {
    "smaller": {"a": (1, 3)},
    "larger": {"a": (4, 3)},
    "larger allowed": {"a": (4, 3), "allow_up_sizing": True},
    "others change": {"a": (4, 4), "allow_up_sizing": True},
    "others change allowed": {"a": (4, 4), "allow_up_sizing": True, "partial_shaping": True},
    "unknown": {"q": (1, 3)},
}


@case(what=list(_RESHAPED))
def reshaped(mx, what):
    executor = _bound(mx)
    made = executor.reshape(**_RESHAPED[what])
    made.arg_dict["fc_bias"][:] = 5
    return [each.shape for each in made.arg_arrays], [each.shape for each in made.outputs], executor.arg_dict["fc_bias"]


@case(what=["smaller", "larger allowed"])
def memory_of_reshaped(mx, what):
    """What one executor writes, the other sees, where it has no more elements."""
    executor = _bound(mx)
    made = executor.reshape(**_RESHAPED[what])
    seen = [made.arg_dict["a"].asnumpy()] if what == "smaller" else []
    made.arg_dict["a"][:] = 2
    seen.append(executor.arg_dict["a"].asnumpy())
    for each in executor.grad_arrays:
        each[:] = 0
    made.forward(is_train=True)
    made.backward(mx.nd.ones(made.outputs[0].shape))
    if what == "smaller":
        seen += [executor.outputs[0].asnumpy()[:1], executor.grad_dict["a"].asnumpy()[:1], made.outputs[0].asnumpy()]
    made.arg_dict["a"][:] = 4
    return seen, executor.arg_dict["a"].asnumpy(), executor.grad_dict["fc_weight"].asnumpy()


@case
def monitored_backward(mx):
    data = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=3, name="fc1"), "tanh", name="act")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=2, name="fc2"), name="softmax")
    executor = net.simple_bind(mx.cpu(), a=(2, 3))
    for i, each in enumerate(executor.arg_arrays):
        each[:] = mx.nd.arange(each.size).reshape(each.shape) * 0.1 * (i + 1)
    seen = []

    def callback(name, handle):
        seen.append((bytes(name), mx.nd.NDArray(mx.base.NDArrayHandle(handle)).asnumpy()))

    executor.set_monitor_callback(callback)
    executor.forward(is_train=True)
    executor.backward()
    return seen


_SIMPLE = {
    "shape": {"a": (2, 3)},
    "no shape": {},
    "number": {"a": 3},
    "unknown": {"q": (2, 3)},
    "null": {"a": (2, 3), "grad_req": "null"},
    "one request": {"a": (2, 3), "grad_req": {"a": "write"}},
    "list of requests": {"a": (2, 3), "grad_req": ["write", "null", "add"]},
    "wrong request": {"a": (2, 3), "grad_req": "x"},
    "dtype": {"a": (2, 3), "type_dict": {"a": "float64"}},
    "weight": {"a": (2, 3), "fc_weight": (2, 3)},
    "wrong weight": {"a": (2, 3), "fc_weight": (2, 4)},
}


@case(what=list(_SIMPLE))
def simply_bound(mx, what):
    executor = _net(mx).simple_bind(mx.cpu(), **_SIMPLE[what])
    executor.forward()
    return executor.arg_arrays, executor.grad_arrays, executor.outputs


@case
def shared_arguments(mx):
    net = _net(mx)
    buffer = {}
    first = net.simple_bind(mx.cpu(), a=(2, 3), shared_buffer=buffer)
    more = {"shared_exec": first, "shared_arg_names": ["fc_weight"], "shared_buffer": buffer}
    second = net.simple_bind(mx.cpu(), a=(1, 3), **more)
    first.arg_dict["fc_weight"][:] = 7
    return second.arg_dict["fc_weight"]


@case
def auxiliary_states(mx):
    net = mx.sym.BatchNorm(mx.sym.var("data"), fix_gamma=False, name="bn")
    executor = net.simple_bind(mx.cpu(), data=(4, 2))
    executor.aux_dict["bn_moving_var"][:] = 1
    executor.arg_dict["bn_gamma"][:] = 1
    executor.forward(is_train=True, data=mx.nd.array(np.random.rand(4, 2)))
    executor.backward(mx.nd.array(np.random.rand(4, 2)))
    return executor.outputs, executor.aux_dict, executor.grad_dict, executor.aux_arrays


@case
def monitored(mx):
    net = mx.sym.sin(mx.sym.exp(mx.sym.var("a"), name="one") + mx.sym.var("b"), name="two")
    executor = net.bind(mx.cpu(), [mx.nd.ones(2), mx.nd.ones(2)])
    seen = []

    def callback(name, handle):
        seen.append((bytes(name), mx.nd.NDArray(mx.base.NDArrayHandle(handle)).asnumpy()))

    executor.set_monitor_callback(callback)
    executor.forward()
    return seen


@case
def evaluated(mx):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    return (a + b).eval(a=mx.nd.ones(2), b=mx.nd.ones(2)), (a * 2).eval(ctx=mx.cpu(), a=mx.nd.ones((2, 2)))


@case(what=["missing", "number", "shapes"])
def not_evaluated(mx, what):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    given = {"missing": {}, "number": {"a": 3, "b": 4}, "shapes": {"a": mx.nd.ones(2), "b": mx.nd.ones(3)}}
    return (a + b).eval(**given[what])


@case
def several_outputs(mx):
    a = mx.sym.var("a")
    parts = mx.sym.split(a, num_outputs=2, axis=1, name="sp")
    executor = mx.sym.Group([parts[1], a * 3, parts[0]]).simple_bind(mx.cpu(), a=(2, 4))
    executor.forward(is_train=True, a=np.arange(8.0).reshape(2, 4))
    executor.backward([mx.nd.ones((2, 2)), mx.nd.ones((2, 4)), mx.nd.ones((2, 2)) * 5])
    return executor.output_dict, executor.grad_dict


@case
def optimized_symbol(mx):
    return _bound(mx).get_optimized_symbol().list_arguments()
