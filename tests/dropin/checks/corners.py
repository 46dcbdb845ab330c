"""Corners of operators and graphs that single programs found to differ: arrays without axes or elements, partly known
shapes, names that monitors see, files of NumPy-shape mode."""

import json
import os

from kit import area, array, check, each, expressions, mx, np, numbers

area("corners")


def in_numpy_mode(text, names):
    """The value of an expression over NumPy arrays."""
    mx.npx.set_np()
    try:
        made = {name: value() if callable(value) else value for name, value in names.items()}
        answer = eval(text, {"mx": mx, "np": mx.np, "npx": mx.npx, "gradient": gradient, **made})
        return [one.asnumpy() if hasattr(one, "asnumpy") else one for one in answer]
    finally:
        mx.npx.reset_np()


def gradient(function, *inputs):
    """The result of a function and the gradients of its inputs."""
    for one in inputs:
        one.attach_grad()
    with mx.autograd.record():
        answer = function(*inputs)
    answer.backward()
    return [answer, *[one.grad for one in inputs]]


NUMPY_NAMES = {
    "number": lambda: mx.np.array(3.0),
    "zero": lambda: mx.np.array(0.0),
    "none": lambda: mx.np.zeros((0,)),
    "x": lambda: mx.np.array(numbers(2, 3)),
    "whole": lambda: mx.np.array([[6, 3], [5, 12]], dtype="int32"),
}
NUMPY_ROWS = """
[getattr(mx.np, name)(number, axis=axis) for name in ('sum', 'mean', 'prod', 'var', 'std') for axis in (0, -1, (0,))]
[mx.np.any(number, axis=0), mx.np.all(zero, axis=-1), mx.np.max(number, axis=-1), mx.np.argmax(number, axis=0)]
[mx.np.squeeze(number, axis=0), number.squeeze(-1), mx.np.sum(number, axis=0, keepdims=True)]
[*mx.np.nonzero(number), *mx.np.nonzero(zero), npx.nonzero(number)]
[mx.np.dot(number, x), mx.np.dot(x, number), mx.np.dot(number, number)]
gradient(mx.np.dot, number, x)
[mx.np.arange(0), mx.np.arange(5, 1), mx.np.arange(0, 3, -1, dtype='int32'), mx.np.arange(3, 0, -1)]
gradient(lambda a: mx.np.diff(a), none)
gradient(lambda a: mx.np.diag(a, 5), x)
gradient(lambda a: mx.np.trace(a, 1), mx.np.zeros((2, 0, 3)))
gradient(lambda a: mx.np.ediff1d(a, to_end=1), number)
gradient(lambda a: mx.np.bitwise_and(a, 6), whole)
gradient(lambda a: mx.np.bitwise_not(a), whole)
gradient(lambda a: mx.np.lcm(a, whole), whole)
[mx.np.isnan(x, out=mx.np.zeros((2, 3)))]
[mx.np.logical_not(x, out=mx.np.zeros((2, 3)))]
[mx.np.transpose(x, (0, 0))]
[mx.np.diag_indices_from(x)]
[mx.np.polyval(x, x)]
[mx.np.random.normal(0, -1, size=(2,))]
[mx.np.random.exponential(-1)]
[mx.np.random.pareto(0)]
[npx.random.bernoulli(2.0)]
gradient(lambda a: npx.nonzero(a), x)
""".strip().splitlines()
each("np", NUMPY_ROWS, lambda text: in_numpy_mode(text, NUMPY_NAMES))


@check
def layers_of_recurrent_cells():
    mx.npx.set_np()
    try:
        answers = []
        for layer in (mx.gluon.rnn.RNN(3, 2), mx.gluon.rnn.LSTM(3, bidirectional=True), mx.gluon.rnn.GRU(3)):
            layer.initialize(mx.init.One())
            answers.append(layer(mx.np.array(numbers(4, 2, 5))).asnumpy())
            answers.append([parameter.shape for parameter in layer.collect_params().values()])
        return answers
    finally:
        mx.npx.reset_np()


@check
def files_of_numpy_shape_mode():
    mx.npx.set_np()
    try:
        x = mx.sym.var("x").as_np_ndarray()
        return json.loads(mx.sym.np.sum(x[0:1], axis=0).tojson())
    finally:
        mx.npx.reset_np()


# ---- graphs ----

NAMES = {"a": lambda: mx.sym.var("a"), "b": lambda: mx.sym.var("b"), "c": lambda: mx.sym.var("c")}
ROWS = """
mx.sym.cumsum(a).infer_shape(a=(2, 3))
mx.sym.cumsum(a, axis=0).infer_shape(a=(2, 3))
mx.sym.LeakyReLU(a, b, act_type='prelu').infer_shape(a=(2, 3), b=(1,))
mx.sym.LeakyReLU(a, b, act_type='prelu').infer_shape(a=(2, 3))
mx.sym.norm(a, ord=1, out_dtype='float64').infer_shape(a=(2, 3))
mx.sym.SoftmaxOutput(a, name='softmax').infer_shape(a=(2, 4, 5))
mx.sym.broadcast_add(a, b).infer_shape_partial(a=(2, 0), b=(1, 3))
mx.sym.broadcast_mul(a, b).infer_shape_partial(a=(2, 3), b=(0,))
mx.sym.where(a, b, c).infer_shape_partial(a=(0, 2), b=(2, 2), c=(2, 2))
mx.sym.where(a, b, c).infer_shape_partial(b=(2, 2))
mx.sym.where(a, b, c).infer_shape_partial(a=(2, 2), b=(2, 2))
mx.sym.where(a, b, c).infer_shape_partial(a=(2,), b=(2, 3))
mx.sym.Flatten(a).infer_shape_partial(a=(4, 0, 3))
mx.sym.slice(a, begin=(0,), end=(1,), step=None).infer_shape(a=(2, 3))
mx.sym.slice(a, begin=(0, 1), end=(4, None)).infer_shape_partial(a=(5, 0))
mx.sym.slice(a, begin=(-2,), end=(None,)).infer_shape_partial(a=(0, 3))
mx.sym.slice_axis(a, axis=0, begin=0, end=2).infer_shape_partial(a=(0, 3))
mx.sym.slice_axis(a, axis=1, begin=-1, end=None).infer_shape_partial(a=(2, 0))
mx.sym.slice_axis(a, axis=1, begin=0, end=None).infer_shape_partial(a=(2, 0))
mx.sym.slice_like(a, b).infer_shape_partial(a=(4, 5), b=(2, 0))
mx.sym.random.poisson().infer_shape(), mx.sym.random.gamma(2, 3, shape=(2, 0)).infer_shape()
mx.sym.random.exponential().infer_type(), mx.sym.random.randint(0, 5).infer_type(), mx.sym.random.uniform().infer_type()
mx.sym.elemwise_add(mx.sym.random.randint(0, 5, shape=(2, 0), dtype='int64'), a).infer_shape(a=(2, 3))
mx.sym.sin(mx.sym.amp_cast(a, dtype='float16')).tojson()
mx.sym.amp_cast(mx.sym.sin(a), dtype='float16').tojson()
mx.sym.amp_cast(mx.sym.amp_cast(a, dtype='float16'), dtype='float32').tojson()
mx.sym.FullyConnected(a, num_hidden=2).simple_bind(mx.cpu(), a=(2, 3), grad_req='null').debug_str().splitlines()[0]
"""
expressions("", NAMES, [row for row in ROWS.splitlines() if row])

OPERATORS = """
Activation(x, act_type='relu', name='o')
Convolution(x, kernel=(3, 3), num_filter=2, name='o')
FullyConnected(x, num_hidden=2, name='o')
Pooling(x, kernel=(2, 2), pool_type='max', name='o')
Pooling(x, kernel=(2, 2), pool_type='avg', name='o')
LRN(x, nsize=1, name='o')
BatchNorm(x, name='o')
LayerNorm(x, name='o')
L2Normalization(x, name='o')
Flatten(x, name='o')
Reshape(x, shape=(-1,), name='o')
Concat(x, x, dim=1, name='o')
elemwise_add(x, x, name='o')
softmax(x, name='o')
sum(x, axis=1, name='o')
transpose(x, name='o')
sort(x, name='o')
topk(x, ret_typ='both', name='o')
SequenceLast(x, name='o')
SliceChannel(x, num_outputs=2, name='o')
GridGenerator(mx.sym.Reshape(x, shape=(-1, 6), name='r'), transform_type='affine', target_shape=(2, 2), name='o')
linalg_slogdet(x, name='o')
clip(x, 0, 1, name='o')
""".strip().splitlines()


def monitored(text):
    """The names that a monitor of an executor is called with, of outputs alone and of inputs too."""
    os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
    symbol = eval(f"mx.sym.{text}", {"mx": mx, "x": mx.sym.var("x")})
    answers = []
    for everything in (False, True):
        seen = []
        executor = symbol.simple_bind(mx.cpu(), x=(2, 6, 6, 6), grad_req="null")
        executor.set_monitor_callback(lambda name, _, seen=seen: seen.append(name), monitor_all=everything)
        executor.forward()
        mx.nd.waitall()
        answers.append(seen)
    del os.environ["MXNET_SUBGRAPH_BACKEND"]
    return answers


each("names for monitors", OPERATORS, monitored)


# ---- steps and draws ----


@check
def nesterov_in_place():
    answers = []
    for prefix, rest in (("nag_mom", []), ("mp_nag_mom", [array(4, seed=3)])):
        weight, state = array(4), array(4, seed=2)
        step = getattr(mx.nd, f"{prefix}_update")
        step(weight, array(4, seed=1), state, *rest, out=weight, lr=0.3, momentum=0.9, wd=0.1, clip_gradient=0.2)
        answers.append([weight, state, *rest])
    return answers


@check
def everything_is_dropped():
    x = array(2, 3)
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Dropout(x, p=1)
    y.backward()
    return [y, x.grad]


@check
def labels_of_several_axes():
    x, label = array(2, 3, 4), mx.nd.array([[0, 1, 2], [3, 4, 5]])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.SoftmaxOutput(x, label)
    y.backward()
    return [y, x.grad, np.float32(0)]


def old_file(shape, writes, infers):
    """The shapes of a dense layer whose file says the weight's, read and inferred in or outside of NumPy-shape mode."""
    dense = {"num_hidden": "128", "no_bias": "True"}
    nodes = [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "null", "name": "w", "attr": {"__shape__": shape}, "inputs": []},
        {"op": "FullyConnected", "name": "fc", "attr": dense, "inputs": [[0, 0], [1, 0]]},
    ]
    with mx.util.np_shape(writes):
        net = mx.sym.load_json(json.dumps({"nodes": nodes, "arg_nodes": [0, 1], "heads": [[2, 0]]}))
    with mx.util.np_shape(infers):
        return [net.attr_dict()["w"], net.infer_shape(data=(2, 3))]


each(
    "a weight of an old file",
    [
        (f"{shape} {writes} {infers}", shape, writes, infers)
        for shape in ("(128,0)", "(0, 0)", "()", "[128,-1]", "(128,3)", "(3,4)")
        for writes in (False, True)
        for infers in (False, True)
    ],
    lambda name, *given: old_file(*given),
)
