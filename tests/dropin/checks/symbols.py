"""mx.sym: composition, lists, inference, attributes, JSON, evaluation; executors."""

import json
import pickle

from kit import area, array, check, each, expressions, fails, mx, np, numbers

area("sym")


def network():
    data = mx.sym.var("data")
    hidden = mx.sym.FullyConnected(data, num_hidden=5, name="fc1")
    hidden = mx.sym.BatchNorm(mx.sym.Activation(hidden, act_type="relu", name="act"), name="bn", fix_gamma=False)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


def convolution():
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    return mx.sym.Flatten(mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool"), name="flat")


NAMES = {
    "a": lambda: mx.sym.var("a"),
    "b": lambda: mx.sym.var("b"),
    "net": network,
    "conv": convolution,
    "fails": 0,
}
ROWS = """
net.list_arguments(), net.list_outputs(), net.list_auxiliary_states(), net.list_inputs(), net.name
net.get_internals().list_outputs()
net.get_children().list_outputs()
net.get_internals()['fc1_output'].list_arguments()
net.get_internals()['no_such_output']
net[0].name, len(net), net.num_outputs
net[1]
net['softmax_output'].name
[one.name for one in net]
net.infer_shape(data=(2, 6))
net.infer_shape((2, 6))
net.infer_shape(data=(2, 6), no_such=(1,))
net.infer_shape(data=(2,))
net.infer_shape(data=(2, 6), fc1_weight=(3, 3))
net.infer_shape_partial(data=(0, 6))
net.infer_shape_partial()
net.infer_shape()
net.infer_type(data='float32')
net.infer_type(data='float64')
net.infer_type_partial()
net.infer_type(data='float16')
net.infer_shape_partial(data=(0, 0))
conv.infer_shape(data=(1, 3, 8, 8))
conv.infer_shape(data=(1, 3, 1, 1))
conv.infer_shape_partial(data=(0, 3, 8, 8))
(a + b).infer_shape(a=(2, 3))
(a + b).infer_shape(a=(2, 3), b=(3, 2))
mx.sym.dot(a, b).infer_shape(a=(2, 3), b=(3, 4))
mx.sym.concat(a, b, dim=1).infer_shape(a=(2, 3), b=(2, 5))
mx.sym.reshape(a, (-1, 2)).infer_shape(a=(4, 3))
mx.sym.broadcast_add(a, b).infer_shape_partial(a=(1, 3), b=(0, 3))
mx.sym.Embedding(a, input_dim=5, output_dim=3).infer_shape(a=(2,))
mx.sym.pick(a, b).infer_shape(a=(2, 3)), mx.sym.pick(a, b, axis=0, keepdims=True).infer_shape(a=(2, 3, 4))
mx.sym.pick(a, b).infer_shape(a=(3,)), mx.sym.pick(a, b).infer_shape(a=(2, 3), b=(2, 1))
mx.sym.pick(a, b).infer_shape(a=(2, 3), b=(3,)), mx.sym.pick(a, b).infer_shape_partial(a=(0, 3))
(mx.sym.var('x', shape=(2, 3)) + b).infer_shape(), (mx.sym.var('x', shape=(2, 3)) + b).infer_shape(x=(4, 3))
(mx.sym.var('x', shape=(2, 3)) + b).infer_shape(b=(4, 3)), mx.sym.var('x', shape=(0, 3)).infer_shape(x=(2, 4))
(mx.sym.var('x', dtype='float64') + b).infer_type(x='float32'), mx.sym.var('x', dtype='float64').infer_type()
mx.sym.var('x', shape=(2, 3)).simple_bind(mx.cpu(), x=(4, 3)).forward()[0].shape
mx.sym.exp(mx.sym.var('x', shape=(2, 3))).bind(mx.cpu(), [mx.nd.zeros(2)]).forward()
mx.sym.RNN(a, state_size=4, num_layers=2, mode='lstm', state_outputs=True).infer_shape(a=(5, 2, 3))
mx.sym.split(a, num_outputs=2).list_outputs(), mx.sym.split(a, num_outputs=2, name='s')[1].name
mx.sym.Group([a, b + 1]).list_outputs(), len(mx.sym.Group([a, b]))
mx.sym.Group([])
net.tojson()
(a + 1).tojson()
mx.sym.load_json(net.tojson()).tojson() == net.tojson()
mx.sym.load_json('{}')
mx.sym.load_json('no json')
mx.sym.load_json('{"nodes": [{"op": "no such", "name": "x", "inputs": []}], "arg_nodes": [], "heads": [[0, 0, 0]]}')
mx.sym.load('no such file')
net.debug_str()
net.attr_dict()
net.list_attr()
net.attr('no such')
mx.sym.var('x', shape=(2, 3), lr_mult=2, wd_mult=3, dtype='float16', init=mx.init.One(), stype='default').attr_dict()
mx.sym.var('x', attr={'mood': 'angry'}).attr('mood')
mx.sym.var('x', attr={'__mood__': 'angry'}).list_attr()
mx.sym.var('x', mood='angry').list_attr()
mx.sym.var(3)
mx.sym.exp(a, attr={'__mood__': 'so'}).attr_dict()
mx.sym.exp(a, no_such=3)
mx.sym.exp(3)
mx.sym.exp(a, b)
mx.sym.exp()
mx.sym.no_such(a)
mx.sym.exp(a, name='e').name, mx.sym.exp(data=a).list_arguments()
mx.sym.FullyConnected(num_hidden=3, name='f').list_arguments()
mx.sym.FullyConnected(a, weight=b, num_hidden=3, no_bias=True, name='f').list_arguments()
mx.sym.FullyConnected(a, num_hidden=3, name='f')(f_weight=b).list_arguments()
net(data=mx.sym.exp(a)).list_arguments()
net(a).list_arguments()
net(no_such=a)
str(net), repr(net), str(mx.sym.Group([a, b])), str(a)
a + b, a - b, a * b, a / b, a % b, a ** b, -a, abs(a), a + 1, 1 - a, 2 / a, 2 % a, 2 ** a if False else a
(a == b).tojson(), (a != 1).tojson(), (a > b).tojson(), (a <= 2).tojson()
a + 'text'
bool(a)
a.exp().sum(axis=1).name, a.reshape((2, 3)).list_arguments(), a.no_such
a.asnumpy()
a.wait_to_read()
a.shape
a.astype('int32').eval(a=mx.nd.ones(2))
a.as_np_ndarray().as_nd_ndarray().name
a.slice_axis(axis=0, begin=0, end=1).eval(a=mx.nd.ones((2, 3)))
mx.sym.zeros((2, 3)).eval(), mx.sym.ones((2,)).eval(), mx.sym.full((2,), 3).eval(), mx.sym.arange(5).eval()
mx.sym.eye(3).eval(), mx.sym.linspace(0, 1, 3).eval(), mx.sym.zeros((2,), dtype='int32').eval()
mx.sym.maximum(a, b).eval(a=mx.nd.array([1, 5]), b=mx.nd.array([3, 2])), mx.sym.pow(a, 2).eval(a=mx.nd.ones(2))
mx.sym.hypot(a, 3).eval(a=mx.nd.ones(2)), mx.sym.minimum(2, a).eval(a=mx.nd.ones(2) * 4)
mx.sym.histogram(a, bins=3, range=(0, 1)).eval(a=mx.nd.array([0.1, 0.9]))
mx.sym.split_v2(a, (1,)).eval(a=mx.nd.ones((3, 2)))
a.eval()
(a + b).eval(a=mx.nd.ones(2))
(a + b).eval(a=mx.nd.ones(2), b=mx.nd.ones(3))
a.gradient(['a'])
mx.sym.linalg.gemm2(a, b).list_arguments(), mx.sym.contrib.quadratic(a, a=1).eval(a=mx.nd.ones(2))
mx.sym.random.uniform(0, 1, shape=(3,)).infer_shape(), mx.sym.random.normal(shape=(2, 3)).eval()[0].shape
mx.sym.image.to_tensor(a).infer_shape(a=(4, 5, 3))
mx.sym.sparse.dot(a, b).list_arguments()
mx.sym.Custom(a, op_type='no such')
mx.sym.SequenceLast(a, b, use_sequence_length=True).list_outputs()
mx.sym.make_loss(a).list_outputs(), mx.sym.linalg.det(a).list_outputs(), mx.sym.linalg.slogdet(a).list_outputs()
mx.sym.RNN(a, state_size=4, num_layers=2, mode='lstm', state_outputs=True).list_outputs()
mx.sym.contrib.boolean_mask(a, b).bind(mx.cpu(), [mx.nd.ones((3, 2)), mx.nd.array([1, 0, 1])]).forward()
mx.sym.contrib.boolean_mask(a, b).eval(a=mx.nd.ones((3, 2)), b=mx.nd.array([1, 0, 1]))
net.get_backend_symbol('no such')
net.optimize_for('no such')
net.list_inputs(), net.get_inputs() if hasattr(net, 'get_inputs') else 0
net.simple_bind(mx.cpu(), data=(2, 6)).output_dict.keys()
net.simple_bind(mx.cpu(), data=(2, 6), no_such=(2,))
net.simple_bind(mx.cpu())
net.simple_bind(mx.cpu(), data=(2, 6), grad_req='no such')
(a + b).simple_bind(mx.cpu(), a=(2,), grad_req=['add']), (a + b).simple_bind(mx.cpu(), a=(2,), grad_req=['add'] * 3)
(a + b).simple_bind(mx.cpu(), a=(2,), grad_req=['null', 'write']).grad_dict
net.simple_bind(mx.cpu(), data=(2, 6), stype_dict={'data': 'csr'})
(a + b).bind(mx.cpu(), {'a': mx.nd.ones(2)})
(a + b).bind(mx.cpu(), [mx.nd.ones(2)])
(a + b).bind(mx.cpu(), [mx.nd.ones(2), mx.nd.ones(2)], args_grad={'c': mx.nd.ones(2)})
(a + b).bind(mx.cpu(), [mx.nd.ones(2), mx.nd.ones(2)]).forward()
(a + a).bind(mx.cpu(), {'a': mx.nd.ones(2), 'zzz': mx.nd.ones(2)}).forward()
""".strip().splitlines()
expressions("", NAMES, ROWS)


TYPES = """
mx.sym.broadcast_equal(a, b).infer_type(a='float16')
mx.sym.contrib.hawkesll(*[mx.sym.var(c) for c in 'abcdefgh']).infer_type(a='float16')
mx.sym.all_finite(a).infer_type(a='float16')
mx.sym.random.uniform(shape=(2,)).infer_type()
mx.sym.random.randint(0, 5, shape=(2,)).infer_type()
mx.sym.image.to_tensor(a).infer_type(a='uint8')
mx.sym.histogram(a, bins=3, range=(0, 1)).infer_type(a='float64')
mx.sym.argsort(a, dtype='int32').infer_type(a='float64')
mx.sym.np.equal(a.as_np_ndarray(), b.as_np_ndarray()).infer_type(a='float32')
mx.sym.np.argmax(a.as_np_ndarray()).infer_type(a='float32')
mx.sym.cast(a, dtype='int8').infer_type(a='float64')
mx.sym.one_hot(a, depth=2, dtype='int32').infer_type(a='int64')
mx.sym.where(a, b, b).infer_type(b='float64')
mx.sym.contrib.index_array(a).infer_type(a='float64')
mx.sym.contrib.box_nms(a).infer_type(a='float16')
""".strip().splitlines()
expressions("dtypes of", NAMES, TYPES)


def bound(request="write", train=True, heads=None):
    """Outputs, gradients and auxiliary states after one run."""
    one = network().simple_bind(mx.cpu(), grad_req=request, data=(4, 6), softmax_label=(4,))
    for i, (name, value) in enumerate(one.arg_dict.items()):
        value[:] = mx.nd.array(numbers(*value.shape, seed=i)) if name != "softmax_label" else mx.nd.array([0, 1, 2, 1])
    outputs = one.forward(is_train=train)
    gradients = None
    if request != "null" and train:
        one.backward(heads)
        one.forward(is_train=train)
        one.backward(heads)
        gradients = one.grad_dict
    return outputs, gradients, one.aux_dict


each("executor", [("write",), ("add",), ("null",)], bound)
each("executor with heads", [("write",)], lambda request: bound(request, heads=mx.nd.ones((4, 3))))
each("executor at rest", [("write",)], lambda request: bound(request, False))
each("executor with requests", [(str(r), r) for r in ({"fc1_weight": "write"}, {"data": "add", "fc2_bias": "write"})],
     lambda _, r: fails(lambda: bound(r)))  # fmt: skip


@check
def executors_of_other_shapes():
    one = convolution().simple_bind(mx.cpu(), data=(2, 3, 8, 8))
    one.arg_dict["conv_weight"][:] = array(4, 3, 3, 3)
    two = one.reshape(data=(1, 3, 8, 8))
    two.arg_dict["data"][:] = array(1, 3, 8, 8)
    return [
        two.forward(), fails(lambda: one.reshape(data=(3, 3, 10, 10))),
        one.reshape(allow_up_sizing=True, data=(3, 3, 8, 8)).forward()[0].shape,
    ]  # fmt: skip


@check
def executors_share_arrays():
    x, w = array(2, 3), array(4, 3)
    grads = [mx.nd.zeros((2, 3)), mx.nd.zeros((4, 3))]
    net = mx.sym.FullyConnected(mx.sym.var("x"), mx.sym.var("w"), num_hidden=4, no_bias=True)
    one = net.bind(mx.cpu(), [x, w], args_grad=grads, grad_req=["add", "write"])
    for _ in range(2):
        one.forward(True)
        one.backward(mx.nd.ones((2, 4)))
    x[:] = 1
    return grads, one.forward()[0], one.outputs, one.arg_arrays[0], fails(lambda: one.backward(mx.nd.ones((9, 4))))


@check
def copied_parameters():
    one = convolution().simple_bind(mx.cpu(), data=(2, 3, 8, 8))
    one.copy_params_from({"conv_weight": array(4, 3, 3, 3)})
    return one.arg_dict, fails(lambda: one.copy_params_from({"no": array(2)})), one.copy_params_from(
        {"no": array(2)}, allow_extra_params=True
    ), fails(lambda: one.forward(no=array(2)))  # fmt: skip


def monitored(every, train):
    seen = []
    one = network().simple_bind(mx.cpu(), data=(4, 6), softmax_label=(4,))
    one.set_monitor_callback(
        lambda name, value: seen.append(mx.base.py_str(name) if isinstance(name, bytes) else name), every
    )
    one.forward(is_train=train)
    return [name.replace("input0", "data") for name in seen]


each("monitor", [("outputs", False, False), ("all", True, False), ("outputs, training", False, True),
                 ("all, training", True, True)],
     lambda _, *settings: monitored(*settings))  # fmt: skip


@check
def monitors():
    monitor = mx.monitor.Monitor(1, lambda x: x.abs().mean(), pattern=".*fc.*", sort=True)
    one = network().simple_bind(mx.cpu(), data=(4, 6), softmax_label=(4,))
    monitor.install(one)
    monitor.tic()
    one.forward(is_train=True)
    return [(step, name) for step, name, _ in monitor.toc()]


@check
def copies():
    import copy

    net = network()
    other = copy.deepcopy(net)
    third = pickle.loads(pickle.dumps(net))
    net.save("net.json")
    return other.tojson() == net.tojson(), third.tojson() == net.tojson(), mx.sym.load("net.json").list_arguments()


@check
def attributes_in_scopes():
    with mx.AttrScope(group="4", data="great"):
        a = mx.sym.var("a", attr={"dtype": "data", "group": "1"})
        with mx.AttrScope(x="y"):
            b = mx.sym.exp(a)
    return a.list_attr(), b.list_attr(), b.attr_dict(), fails(lambda: mx.AttrScope(group=4))


@check
def names_in_scopes():
    with mx.name.NameManager():
        one = mx.sym.exp(mx.sym.exp(mx.sym.var("a")))
    with mx.name.Prefix("mine_"):
        two = mx.sym.exp(mx.sym.var("a"))
    return one.name, two.name, two.list_arguments()


@check
def set_attributes():
    a = mx.sym.var("a")
    a._set_attr(mood="happy")
    return a.list_attr(), fails(lambda: a._set_attr(mood=3)), a.attr("mood")


@check
def control_flow():
    contrib = mx.sym.contrib
    data, state = mx.sym.var("data"), mx.sym.var("state")
    out, last = contrib.foreach(lambda x, s: (x + s, x * s), data, state)
    one = mx.sym.Group([out, last]).bind(mx.cpu(), {"data": array(3, 2), "state": mx.nd.ones(2)})
    return one.forward()


@check
def while_loops():
    out, last = mx.sym.contrib.while_loop(
        lambda i, s: i <= 3, lambda i, s: (s + i, [i + 1, s + i]), [mx.sym.var("i"), mx.sym.var("s")], 5
    )
    one = mx.sym.Group([last[0], last[1]])
    return one.eval(i=mx.nd.array([1]), s=mx.nd.array([0]))


@check
def conditions():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    one = mx.sym.contrib.cond(a * b < 5, lambda: a + b, lambda: a - b)
    return one.eval(a=mx.nd.array([1]), b=mx.nd.array([2])), one.eval(a=mx.nd.array([4]), b=mx.nd.array([2]))


@check
def imperative_control_flow():
    contrib = mx.nd.contrib
    a = contrib.foreach(lambda x, s: (x + s, x * s), array(3, 2), mx.nd.ones(2))
    b = contrib.while_loop(
        lambda i, s: i <= 3, lambda i, s: (s + i, [i + 1, s + i]), [mx.nd.ones(1), mx.nd.zeros(1)], 5
    )
    c = contrib.cond(mx.nd.ones(1) < 5, lambda: mx.nd.ones(2), lambda: mx.nd.zeros(2))
    return a, [b[0][0].shape, b[1]], c


@check
def drawings():
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        mx.viz.print_summary(network(), shape={"data": (2, 6)})
    dot = mx.viz.plot_network(network(), shape={"data": (2, 6)})
    return out.getvalue(), dot.source


OLD = {
    "0.8": {"nodes": [{"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
                      {"op": "null", "param": {}, "name": "w", "inputs": [], "backward_source_id": -1,
                       "attr": {"lr_mult": "2"}},
                      {"op": "FullyConnected", "param": {"no_bias": "True", "num_hidden": "3"}, "name": "fc",
                       "inputs": [[0, 0], [1, 0]], "backward_source_id": -1, "attr": {"weight_lr_mult": "3"}}],
            "arg_nodes": [0, 1], "heads": [[2, 0]]},
    "1.0": {"nodes": [{"op": "null", "name": "data", "attr": {"__lr_mult__": "2"}, "inputs": []},
                      {"op": "exp", "name": "e", "inputs": [[0, 0, 0]]}],
            "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]],
            "attrs": {"mxnet_version": ["int", 10000]}},
    "cycle": {"nodes": [{"op": "exp", "name": "e", "inputs": [[0, 0, 0]]}], "arg_nodes": [], "heads": [[0, 0, 0]]},
}  # fmt: skip


def old(version):
    net = mx.sym.load_json(json.dumps(OLD[version]))
    return net.list_arguments(), net.attr_dict(), net.tojson()


each("file of version", ["0.8", "1.0"], old)


@check
def gradients_without_a_loss():
    x = mx.sym.var("x")
    one = mx.sym.Group([mx.sym.exp(x), mx.sym.BlockGrad(x * 2)]).simple_bind(mx.cpu(), x=(3,))
    one.arg_dict["x"][:] = array(3)
    one.forward(is_train=True)
    one.backward([mx.nd.ones(3), mx.nd.ones(3)])
    return one.grad_dict, np.int32(0)


def outputs_that_need_no_gradients(requests, *heads):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    made = {"x": mx.sym.exp(x), "y": y * y, "stop": mx.sym.BlockGrad(y), "ones": mx.sym.ones((3,)), "var": x}
    one = mx.sym.Group([made[name] for name in heads]).simple_bind(mx.cpu(), grad_req=requests, x=(3,), y=(3,))
    for name, value in one.arg_dict.items():
        value[:] = array(3)
        if one.grad_dict[name] is not None:
            one.grad_dict[name][:] = 5
    one.forward(is_train=True)
    one.backward([mx.nd.ones(3)] * len(heads))
    return one.grad_dict


@check
def gradients_of_outputs_that_need_none():
    of = outputs_that_need_no_gradients
    return [
        of({"x": "null", "y": "write"}, "x", "y"), of({"x": "write", "y": "null"}, "x", "y"),
        of({"x": "null", "y": "add"}, "y", "x"), of("write", "x", "stop"), of("write", "stop", "x"),
        of("write", "ones", "x", "y"), of({"x": "null", "y": "write"}, "x", "stop"),
        of({"x": "null", "y": "write"}, "var", "y"), of({"x": "add", "y": "write"}, "ones", "stop", "var"),
    ]  # fmt: skip


def moving_mean(requests, *heads):
    """After two backwards in training mode."""
    bn, w = mx.sym.BatchNorm(mx.sym.var("x"), name="bn"), mx.sym.var("w", shape=(4, 3))
    made = {"stop": mx.sym.BlockGrad(bn), "relu": mx.sym.BlockGrad(mx.sym.relu(bn)) * w, "bn": bn, "w": w * 2}
    one = mx.sym.Group([made[name] for name in heads]).simple_bind(mx.cpu(), grad_req=requests, x=(4, 3))
    one.arg_dict["x"][:] = array(4, 3)
    for _ in range(2):
        one.forward(is_train=True)
        one.backward([mx.nd.ones((4, 3))] * len(heads))
        mx.nd.waitall()
    return one.aux_dict["bn_moving_mean"], one.grad_dict


each("moving mean", [(f"{heads} {requests}", requests, *heads)
                     for heads in (("stop",), ("relu",), ("w", "stop"), ("bn", "stop"))
                     for requests in ("write", {"w": "write"}, {"x": "write"})],
     lambda _, requests, *heads: moving_mean(requests, *heads))  # fmt: skip


@check
def memory_of_a_reshaped_executor():
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=4, name="fc")
    one = net.simple_bind(mx.cpu(), x=(5, 4))
    for each_array in one.arg_arrays:
        each_array[:] = 1
    other = one.reshape(x=(3, 4))
    other.forward(is_train=True)
    other.backward([mx.nd.ones((3, 4))])
    seen = [one.outputs[0].asnumpy()[:3], one.grad_dict["x"].asnumpy()[:3], one.grad_dict["fc_weight"].asnumpy()]
    other.arg_arrays[0][:] = 7
    return seen, one.arg_arrays[0].asnumpy()
