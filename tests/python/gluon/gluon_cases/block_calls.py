"""mx.gluon.Block and HybridBlock: summaries, calls, hybridize, unknown shapes."""

from __future__ import annotations

import contextlib
import io

import numpy as np
from _case import case

from gluon_cases._parts import all_of, array, fill, net_of, ready, shared_net, trained, warned

# ---- summary ----


def _printed(call):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        call()
    return text.getvalue()


def _convnet(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(3, 3, in_channels=3), nn.BatchNorm(in_channels=3), nn.MaxPool2D(), nn.Flatten())
    net.add(nn.Dropout(0.1), nn.Dense(10, in_units=27, activation="relu"))
    return net


@case
def summary_of_layers(mx):
    net = _convnet(mx)
    net.initialize()
    return _printed(lambda: net.summary(mx.nd.ones((2, 3, 8, 8))))


@case
def summary_of_shared_and_own(mx):
    shared, own = shared_net(mx), net_of(mx)
    shared.initialize()
    own.initialize()
    x = mx.nd.ones((2, 3))
    return _printed(lambda: shared.summary(x)), _printed(lambda: own.summary(x))


@case
def summary_of_lists(mx):
    class Two(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, y):
            return [x + 1, (x, y)]

    x = mx.nd.ones((2, 3))
    return _printed(lambda: Two().summary(x, x)), _printed(lambda: Two().summary(x, 3))


@case
def summary_of_hybridized(mx):
    net = _convnet(mx)
    net.initialize()
    net.hybridize()
    net.summary(mx.nd.ones((2, 3, 8, 8)))


@case
def summary_before_initialize(mx):
    mx.gluon.nn.Dense(2).summary(mx.nd.ones((2, 3)))


@case
def summary_leaves_no_hooks(mx):
    net = _convnet(mx)
    net.initialize()
    _printed(lambda: net.summary(mx.nd.ones((2, 3, 8, 8))))
    return [len(each._forward_hooks) for each in net]


# ---- calls ----


@case(given=["numpy", "number", "nothing", "two", "none", "other shape"])
def call_with(mx, given):
    block = mx.gluon.nn.Dense(2, in_units=2)
    block.initialize("ones")
    x = mx.nd.ones((1, 2))
    args = {
        "numpy": (np.ones((1, 2)),),
        "number": (3,),
        "nothing": (),
        "two": (x, x),
        "none": (None,),
        "other shape": (mx.nd.ones((1, 3)),),
    }
    return block(*args[given])


@case
def call_with_keyword(mx):
    mx.gluon.nn.Activation("relu")(x=mx.nd.ones(1))


@case(kind=["Block", "HybridBlock"])
def call_without_forward(mx, kind):
    getattr(mx.gluon, kind)()(mx.nd.ones(1))


@case(in_units=[0, 2])
def call_before_initialize(mx, in_units):
    mx.gluon.nn.Dense(2, in_units=in_units)(mx.nd.ones((1, 2)))


@case(given=["x", "xy", "x none", "x number", "x none y", "x list"])
def call_with_several_inputs(mx, given):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x, y=None, *more, **kwargs):
            return F.identity(x), [type(y).__name__, len(more), sorted(kwargs)]

    x = mx.nd.ones(1)
    args = {
        "x": (x,),
        "xy": (x, x),
        "x none": (x, None),
        "x number": (x, 3),
        "x none y": (x, None, x),
        "x list": (x, [x, x]),
    }
    return Net()(*args[given])


@case
def call_with_a_list_first(mx):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = self.params.get("w", shape=(1,), init="ones")

        def hybrid_forward(self, F, states, x, w):
            return states[0] + x * w

    net = Net()
    net.initialize()
    return net([mx.nd.ones(1)], mx.nd.ones(1)), net([[None, mx.nd.ones(1)][1]], mx.nd.ones(1))


@case
def parameters_arrive_by_name(mx):
    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.scale = self.params.get("other_name", shape=(2,), init="ones")
                self.shift = self.params.get_constant("c", mx.nd.array([1, 2]))

        def hybrid_forward(self, F, x, **params):
            return F.broadcast_add(F.broadcast_mul(x, params["scale"]), params["shift"]), sorted(params)

    net = Net()
    net.initialize()
    return net(mx.nd.ones((3, 2)))


@case
def f_is_mx_nd(mx):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F is mx.nd, F is mx.ndarray

    return Net()(mx.nd.ones(1))


@case(active=[False, True])
def hybridized_blocks_compute_the_same(mx, active):
    net = _convnet(mx)
    net.initialize()
    fill(mx, net)
    net.hybridize(active)
    x = array(mx, (2, 3, 8, 8))
    return net(x), net(x * 2), trained(mx, net[0], x)


@case(
    kwargs=[
        {},
        {"active": False},
        {"static_alloc": True, "static_shape": True},
        {"forward_bulk_size": 2, "backward_bulk_size": 3},
        {"inline_limit": 5},
        {"own": 1},
        {"backend": "q", "clear": False},
    ]
)
def hybridize_keeps_flags(mx, kwargs):
    net = shared_net(mx)
    done = net.hybridize(**kwargs)
    return [done, net._active, net._flags, [[each._active, each._flags] for each in net]]


@case(kind=["Sequential", "HybridSequential"], kwargs=[{}, {"static_alloc": True}, {"backend": "q", "own": 1}])
def hybridize_passes_flags_on(mx, kind, kwargs):
    seen = []

    class Child(mx.gluon.HybridBlock):
        def hybridize(self, *args, **kwargs):
            seen.append([list(args), sorted(kwargs.items())])

    net = getattr(mx.gluon.nn, kind)()
    net.add(Child())
    net.hybridize(**kwargs)
    net.hybridize(False, **kwargs)
    return seen


@case(kind=["hybrid", "mixed", "empty"])
def hybridize_of_sequential_warns(mx, kind):
    nn = mx.gluon.nn
    net = nn.Sequential()
    if kind != "empty":
        net.add(nn.Dense(2))
    if kind == "mixed":
        net.add(nn.Lambda("relu"))
    return [each[0] for each in warned(net.hybridize)]


@case
def optimize_for_nothing(mx):
    net = mx.gluon.nn.Dense(2, in_units=1)
    net.initialize()
    net.optimize_for(mx.nd.ones((1, 1)))


@case
def export_before_hybridize(mx, folder):
    mx.gluon.nn.Dense(2).export(folder + "/a")


@case
def parameters_are_followed(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    x = array(mx, (1, 3))
    net.initialize("ones")
    outs = [net(x).asnumpy()]
    net.weight.set_data(array(mx, (2, 3), 1))
    outs.append(net(x).asnumpy())
    net.initialize("zeros", force_reinit=True)
    outs.append(net(x).asnumpy())
    net.weight.data()[:] = 3
    outs.append(net(x).asnumpy())
    net.cast("float64")
    outs.append(net(x.astype("float64")).asnumpy())
    net.collect_params().reset_ctx(mx.cpu(1))
    outs.append(net(x.astype("float64").as_in_context(mx.cpu(1))).asnumpy())
    return outs


@case(req=["write", "add", "null"])
def gradients_of_parameters(mx, req):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    fill(mx, net)
    net.collect_params().setattr("grad_req", req)
    x = array(mx, (4, 3))
    first = trained(mx, net, x)
    second = trained(mx, net, x)
    return first[2], second[2], second[1]


# ---- unknown shapes ----


def _custom(mx, shape, compute):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = self.params.get("w", shape=shape, allow_deferred_init=True)

        def hybrid_forward(self, F, x, w):
            return compute(F, x, w)

    net = Net()
    net.initialize("ones")
    return net


COMPUTE = {
    "mul": lambda F, x, w: x * w,
    "rmul": lambda F, x, w: w * x,
    "add": lambda F, x, w: x + w,
    "sub": lambda F, x, w: x - w,
    "rsub": lambda F, x, w: w - x,
    "div": lambda F, x, w: x / w,
    "elemwise_mul": lambda F, x, w: F.elemwise_mul(x, w),
    "elemwise_add": lambda F, x, w: F.elemwise_add(lhs=x, rhs=w),
    "add_n": lambda F, x, w: F.add_n(x, w),
    "maximum": lambda F, x, w: F.maximum(x, w),
    "where": lambda F, x, w: F.where(x, x, w),
    "FullyConnected": lambda F, x, w: F.FullyConnected(x, w, num_hidden=4, no_bias=True),
    "FullyConnected of twice": lambda F, x, w: F.FullyConnected(x, w * 2, num_hidden=4, no_bias=True),
    "FullyConnected of exp": lambda F, x, w: F.FullyConnected(x, F.exp(w) - 1, num_hidden=4, no_bias=True),
    "abs": lambda F, x, w: F.FullyConnected(x, w.abs(), num_hidden=4, no_bias=True),
    "neg": lambda F, x, w: F.FullyConnected(data=x, weight=-w, num_hidden=4, no_bias=True),
    "Activation": lambda F, x, w: F.FullyConnected(x, F.tanh(w), num_hidden=4, no_bias=True),
    "cast": lambda F, x, w: F.FullyConnected(x, w.astype("float32"), num_hidden=4, no_bias=True),
    "clip": lambda F, x, w: F.FullyConnected(x, F.clip(w, 0, 2), num_hidden=4, no_bias=True),
    "minimum": lambda F, x, w: F.FullyConnected(x, F.minimum(w, 0.5), num_hidden=4, no_bias=True),
    "power": lambda F, x, w: x * (2 - w**2 / 4 + 1),
}


@case(compute=list(COMPUTE), shape=[None, (0, 0), (4, 0), (0,)])
def shape_is_found(mx, compute, shape):
    net = _custom(mx, shape, COMPUTE[compute])
    x = array(mx, (2, 3), low=0.1)
    out, grad, grads = trained(mx, net, x)
    return out, grad, grads, net.w.shape, net(x)


@case(shape=[None, (0, 0), (5, 0), (4, 0)])
def shape_of_embedding(mx, shape):
    net = _custom(mx, shape, lambda F, x, w: F.Embedding(x, w, input_dim=5, output_dim=4))
    return net(mx.nd.array([[0, 1, 4]])), net.w.shape


@case(shape=[None, (0, 0), (4, 0)])
def shape_of_prelu(mx, shape):
    net = _custom(mx, shape, lambda F, x, w: F.LeakyReLU(x, w, act_type="prelu"))
    return net(array(mx, (2, 3))), net.w.shape


NOT_FOUND = {
    "broadcast_mul": lambda F, x, w: F.broadcast_add(x, F.sum(w)),
    "take": lambda F, x, w: F.take(w, x),
    "broadcast_like": lambda F, x, w: F.broadcast_like(w, x),
}


@case(compute=["take", "broadcast_mul", "broadcast_like"], shape=[(0, 0), (0, 4)])
def shape_is_not_found(mx, compute, shape):
    return _custom(mx, shape, NOT_FOUND[compute])(array(mx, (2, 3)))


@case(shape=[(4, 0), (0, 3), (0, 0)])
def shape_of_concat(mx, shape):
    net = _custom(mx, shape, lambda F, x, w: F.concat(x, w, dim=0))
    return net(array(mx, (2, 3))), net.w.shape


def _two(mx):
    class Net(mx.gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                self.a = mx.gluon.nn.Dense(3, activation="tanh")
                self.b = mx.gluon.nn.Dense(2)
                self.w = self.params.get("w", shape=(4, 0), allow_deferred_init=True)
                self.s = self.params.get("s", shape=None, allow_deferred_init=True)

        def hybrid_forward(self, F, x, w, s):
            x = self.b(self.a(x)) * s
            return F.FullyConnected(x, w, None, num_hidden=4, no_bias=True)

    return Net()


@case
def shapes_of_a_network(mx):
    net = _two(mx)
    net.initialize("ones")
    x = array(mx, (2, 5))
    before = all_of(net.collect_params())
    out = net(x)
    return before, all_of(net.collect_params()), out, net(x)


@case(initialized=[False, True])
def infer_shape(mx, initialized):
    net = _two(mx)
    if initialized:
        net.initialize("ones")
    done = net.infer_shape(mx.nd.ones((2, 5)))
    return [done], all_of(net.collect_params())


@case
def infer_shape_then_run(mx):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3), mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(2))
    net.initialize("ones")
    net.infer_shape(mx.nd.ones((2, 5)))
    return all_of(net.collect_params()), net(mx.nd.ones((2, 5)))


@case(in_train=[False, True])
def statistics_move_once(mx, in_train):
    net = mx.gluon.nn.BatchNorm()
    net.initialize()
    x = array(mx, (4, 3))
    if in_train:
        with mx.autograd.record():
            out = net(x)
        out.backward()
    else:
        net(x)
    return net.running_mean.data(), net.running_var.data()


@case
def set_data_before_the_first_batch(mx):
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    net.weight.set_data(array(mx, (2, 3)))
    return net(array(mx, (1, 3), 1)), net.weight.data()


@case
def batches_of_another_width(mx):
    net = ready(mx, mx.gluon.nn.Dense(2), mx.nd.ones((1, 3)))
    net(mx.nd.ones((1, 4)))
